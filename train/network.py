"""Fine-tune a BERT-shaped cross-encoder into the verifier network with its two heads.

    python -m train.network --base DIR --data ../shared/data --out DIR --minutes 80

One head gives entailment, neutral and contradiction for (premise, claim). Rows whose source does not tell
contradicted from unsupported train the sum of the two (a masked loss). The other says of every token of the claim
whether it is wrong: it learns from supported claims, where none is, and from claims whose wrong characters are known;
other rows leave it alone. The rate warms up, stays, and decays
linearly over the last fifth of the time or steps; `--steps` with the number that the log of a timed run reports
repeats that run exactly on one machine. Checkpoints are written every few minutes and `--resume` goes on from one,
with the same arguments: a checkpoint of other settings or other rows is refused.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import difflib
import functools
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax, nll_loss, softplus
from transformers import AutoTokenizer, BertForSequenceClassification, PreTrainedTokenizerBase

from train.data import EDITS, REPOSITORY, SEED, STRANGER, STRANGERS, training_rows
from train.edits import EDITABLE, make_rows
from train.premises import premise
from train.provenance import commit_of, record_of_made, versions_of
from train.read import ASSEMBLED
from train.rows import QUOTAS, REVIEWS, Row, detokenise, load_training_sets, mix, part_of, report
from train.two_heads import TOKEN_HEAD, TwoHeads, load_two_heads, save_two_heads
from train.written import digest_of, read_made

LABELS = ("entailment", "neutral", "contradiction")
CHECKPOINT_SECONDS = 240.0
WHOLE = ("scenario:", ASSEMBLED)
"""What the set of a row begins with whose evidence was assembled already."""
TARGETS = {"supported": 0, "unsupported": 1, "contradicted": 2, "not_supported": 3}


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a run depends on, written beside its result."""

    rows_of_edits: int = EDITS
    rows_of_strangers: int = STRANGERS
    token_weight: float = 0.5
    premise_words: int = 100
    long_words: int = 210
    long_share: float = 0.3
    """This share of the rows shows premises up to `long_words`, where the evidence is so long."""
    whole_words: int = 320
    """Rows of scenarios show evidence that was assembled already, as in use, up to so many words."""
    max_tokens: int = 480
    batch_tokens: int = 2_304
    rate: float = 7e-5
    layer_decay: float = 0.95
    weight_decay: float = 0.01
    warm_share: float = 0.04
    decay_share: float = 0.25
    dropout: float = 0.0
    smoothing: float = 0.0
    """Share of the loss that asks for all three labels alike, so that no probability is driven to 1 (label smoothing,
    Szegedy et al. 2016, "Rethinking the Inception architecture for computer vision", section 7)."""
    margin_weight: float = 0.0
    """Of the distance that right and wrong claims of one group lack, beside the loss of the labels."""
    margin: float = 2.0
    """The distance wanted, in log odds."""
    teacher_weight: float = 0.0
    """Share of the loss that is the distance from the teachers' probabilities."""
    seed: int = SEED


@functools.cache
def has_bfloat16(flags: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor multiplies bfloat16 itself; where it does not, PyTorch takes five times as long with it."""
    try:
        known = flags.read_text()
    except OSError:
        return False
    return re.search(r"\b(avx512_bf16|amx_bf16|bf16)\b", known) is not None


class Halved:
    """A network whose passes run wholly in bfloat16, beside the float32 weights that the optimizer moves.

    Automatic casting turns weights and states back and forth in each layer; with the whole network in bfloat16 a step
    takes two thirds of the time. Its weights alone would not do: steps smaller than 1/256 of a weight would be lost.
    Micikevicius et al. 2018, "Mixed precision training", section 3.1.

    Args:
        model: the network in float32, whose parameters the optimizer has.
    """

    def __init__(self, model: TwoHeads) -> None:
        self.passes = copy.deepcopy(model).to(torch.bfloat16).train()
        pairs = zip(model.parameters(), self.passes.parameters(), strict=True)
        self._pairs = [(kept, half) for kept, half in pairs if kept.requires_grad]

    def give_gradients(self) -> None:
        """Hand the gradients of the passes to the float32 weights."""
        for kept, half in self._pairs:
            kept.grad = None if half.grad is None else half.grad.float()
            half.grad = None

    @torch.no_grad()
    def take_weights(self) -> None:
        """Round the float32 weights for the next pass."""
        torch._foreach_copy_([half.data for _, half in self._pairs], [kept.data for kept, _ in self._pairs])


def precision() -> contextlib.AbstractContextManager[object]:
    """bfloat16 where the processor has it, else float32."""
    return torch.autocast("cpu", dtype=torch.bfloat16) if has_bfloat16() else contextlib.nullcontext()


def pair(row: Row, words: int, rng: random.Random | None) -> tuple[str, str]:
    """Premise and claim as the network reads them; a short answer is read together with its question."""
    claim = f"{row.question} {row.claim}" if row.question else row.claim
    return detokenise(premise(row.evidence, claim, words, rng)), detokenise(claim)


def wrong_characters(row: Row, shown: str) -> list[bool] | None:
    """For each character of the claim as it is shown, whether it is known to be wrong; None where it is not known.

    A supported claim has no wrong character. A claim that is wrong in places that nobody marked teaches nothing here.
    """
    if row.label == "supported":
        return [False] * len(shown)
    if not row.spans:
        return None
    marked = [any(start <= i < end for start, end in row.spans) for i in range(len(row.claim))]
    if shown == row.claim:
        return marked
    wrong = [False] * len(shown)
    for block in difflib.SequenceMatcher(None, row.claim, shown, autojunk=False).get_matching_blocks():
        wrong[block.b : block.b + block.size] = marked[block.a : block.a + block.size]
    return wrong


@dataclasses.dataclass(frozen=True)
class Encoded:
    """A pair in tokens."""

    ids: list[int]
    types: list[int]
    target: int
    wrong: list[int]
    """For each token 1 where it is wrong, 0 where it is right, -1 where it is not of the claim or not known."""
    group: str | None = None
    """Pairs of one group are read in one batch, so that right and wrong ones can be held apart."""


def encode(
    tokenizer: PreTrainedTokenizerBase, rows: Sequence[Row], settings: Settings, rng: random.Random | None
) -> list[Encoded]:
    """Tokenise all pairs; the longer text is cut first where a pair is too long."""

    def words(row: Row) -> int:
        if row.source.startswith(WHOLE):
            return settings.whole_words
        return settings.long_words if rng is not None and rng.random() < settings.long_share else settings.premise_words

    pairs = [pair(row, words(row), rng) for row in rows]
    result: list[Encoded] = []
    for begin in range(0, len(rows), 2_000):
        some = pairs[begin : begin + 2_000]
        batch = tokenizer(
            [p for p, _ in some],
            [c for _, c in some],
            truncation="longest_first",
            max_length=settings.max_tokens,
            return_offsets_mapping=True,
        )
        for i, ids in enumerate(batch["input_ids"]):
            row = rows[begin + i]
            characters = wrong_characters(row, some[i][1])
            wrong = [-1] * len(ids)
            if characters is not None:
                for t, (place, (start, end)) in enumerate(
                    zip(batch.sequence_ids(i), batch["offset_mapping"][i], strict=True)
                ):
                    if place == 1:
                        wrong[t] = int(any(characters[start:end]))
            result.append(Encoded(ids, batch["token_type_ids"][i], TARGETS[row.label], wrong, row.group))
    return result


def batches(items: Sequence[Encoded], budget: int, rng: random.Random | None) -> Iterator[list[Encoded]]:
    """Batches of similar length whose padded size stays within the token budget, in random order.

    What is of one group stays together, as far as the budget allows.
    """
    units: dict[object, list[int]] = {}
    for i, item in enumerate(items):
        units.setdefault(i if item.group is None else item.group, []).append(i)
    groups = list(units.values())
    if rng is not None:
        rng.shuffle(groups)
    order = [i for group in groups for i in group]
    longest = {i: (max(len(items[j].ids) for j in group), group[0]) for group in groups for i in group}
    chunk = 3_000 if rng is not None else len(order)
    for begin in range(0, len(order), chunk):
        some = sorted(order[begin : begin + chunk], key=lambda i: longest[i])
        made: list[list[Encoded]] = []
        current: list[Encoded] = []
        width = 0
        for i in some:
            width = max(width, len(items[i].ids))
            if current and width * (len(current) + 1) > budget:
                made.append(current)
                current, width = [], len(items[i].ids)
            current.append(items[i])
        made.append(current)
        if rng is not None:
            rng.shuffle(made)
        yield from made


def tensors(batch: Sequence[Encoded]) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor]:
    """Padded inputs of one batch: token ids, mask (none where nothing is padded), types."""
    width = max(len(e.ids) for e in batch)
    ids = torch.tensor([e.ids + [0] * (width - len(e.ids)) for e in batch])
    types = torch.tensor([e.types + [0] * (width - len(e.types)) for e in batch])
    if all(len(e.ids) == width for e in batch):
        return ids, None, types
    return ids, torch.tensor([[1] * len(e.ids) + [0] * (width - len(e.ids)) for e in batch]), types


def token_loss(logits: torch.Tensor, batch: Sequence[Encoded]) -> torch.Tensor:
    """Binary cross-entropy over the claims' tokens that are known to be right or wrong, 0 where a batch has none."""
    width = logits.shape[1]
    targets = torch.tensor([e.wrong + [-1] * (width - len(e.wrong)) for e in batch])
    known = targets >= 0
    if not bool(known.any()):
        return logits.new_zeros(())
    return binary_cross_entropy_with_logits(logits.float()[known], targets[known].float())


def loss_of(logits: torch.Tensor, targets: torch.Tensor, smoothing: float = 0.0) -> torch.Tensor:
    """Cross-entropy over three labels; target 3 stands for "neutral or contradiction" and is trained on their sum.

    logits: (batch, 3). targets: (batch,) in 0..3. smoothing: in [0, 1), the share that every label has alike. Returns
    the mean over the batch.
    """
    logs = log_softmax(logits.float(), dim=-1)
    merged = torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)
    loss = nll_loss(torch.cat([logs, merged], dim=-1), targets)
    return (1 - smoothing) * loss - smoothing * logs.mean() if smoothing else loss


def margin_loss(logits: torch.Tensor, batch: Sequence[Encoded], margin: float) -> torch.Tensor:
    """How far right claims fall short of lying `margin` above the wrong ones of their group (RankNet with a margin).

    logits: (batch, 3). margin: in units of the log odds of being supported, at least 0. The mean of
    log(1 + exp(margin - difference)) over all pairs of a right and a wrong claim of one group, 0 where there is none.
    Burges et al. 2005, "Learning to rank using gradient descent", section 3.
    """
    scores = logits.float()
    odds = scores[:, 0] - torch.logsumexp(scores[:, 1:], dim=-1)
    right = [i for i, item in enumerate(batch) if item.group is not None and item.target == 0]
    pairs = [(i, j) for i in right for j, item in enumerate(batch) if item.target and item.group == batch[i].group]
    if not pairs:
        return logits.new_zeros(())
    first, second = torch.tensor(pairs).T
    return softplus(margin - (odds[first] - odds[second])).mean()


@torch.no_grad()
def teaching(teachers: Sequence[TwoHeads], batch: Sequence[Encoded]) -> tuple[torch.Tensor, torch.Tensor]:
    """What several networks say of a batch, on average: probabilities of labels (batch, 3) and of being wrong for each
    token (batch, width)."""
    labels, wrong = [], []
    for teacher in teachers:
        with precision():
            logits, tokens = teacher(*tensors(batch))
        assert tokens is not None  # a teacher has both heads
        labels.append(logits.float().softmax(-1))
        wrong.append(tokens.float().sigmoid())
    return torch.stack(labels).mean(0), torch.stack(wrong).mean(0)


def teacher_loss(
    made: tuple[torch.Tensor, torch.Tensor], wanted: tuple[torch.Tensor, torch.Tensor], batch: Sequence[Encoded]
) -> tuple[torch.Tensor, torch.Tensor]:
    """How far a network is from what it is taught: cross-entropy over labels, and over the claims' known tokens.

    made: logits of the pair (batch, 3) and of the tokens (batch, width). wanted: probabilities of the same shapes.
    """
    pair = -(wanted[0] * log_softmax(made[0].float(), -1)).sum(-1).mean()
    width = made[1].shape[1]
    known = torch.tensor([e.wrong + [-1] * (width - len(e.wrong)) for e in batch]) >= 0
    if not bool(known.any()):
        return pair, pair.new_zeros(())
    return pair, binary_cross_entropy_with_logits(made[1].float()[known], wanted[1][known])


def parameter_groups(model: TwoHeads, settings: Settings) -> list[dict[str, object]]:
    """Layer-wise rates, lower towards the input; the embeddings of words and places stay as they are.

    Those of the two texts learn: a base that only ever read one text at a time has none for the second.
    """
    depth = model.network.config.num_hidden_layers
    groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if "word_embeddings" in name or "position_embeddings" in name:
            parameter.requires_grad_(False)
            continue
        found = re.search(r"layer\.(\d+)\.", name)
        rate = settings.rate * settings.layer_decay ** (depth - 1 - int(found.group(1)) if found else 0)
        decay = 0.0 if parameter.ndim == 1 else settings.weight_decay
        groups.setdefault((rate, decay), []).append(parameter)
    return [{"params": p, "lr": rate, "weight_decay": decay, "base": rate} for (rate, decay), p in groups.items()]


@torch.no_grad()
def evaluate(model: TwoHeads, items: Sequence[Encoded]) -> dict[str, float]:
    """Accuracy on three-way rows, balanced accuracy of supported against the rest, and F1 over the claims' tokens."""
    model.eval()
    hits = three = 0
    right = {True: 0, False: 0}
    seen = {True: 0, False: 0}
    found = flagged = wrong = 0
    for batch in batches(items, 4_096, None):
        with precision():
            logits, tokens = model(*tensors(batch))
        assert tokens is not None  # training always has both heads
        for e, row, scores in zip(batch, logits.float().softmax(-1), tokens.float().tolist(), strict=True):
            if e.target < 3:
                three += 1
                hits += int(row.argmax().item() == e.target)
            supported = e.target == 0
            seen[supported] += 1
            right[supported] += int((row[0].item() >= 0.5) == supported)
            for target, score in zip(e.wrong, scores, strict=False):
                if target >= 0:
                    found += int(target == 1 and score > 0)
                    flagged += int(score > 0)
                    wrong += target
    model.train()
    return {
        "accuracy": hits / max(three, 1),
        "balanced": sum(right[k] / max(seen[k], 1) for k in right) / 2,
        "token_f1": 2 * found / max(flagged + wrong, 1),
    }


def save_checkpoint(
    folder: Path,
    run: dict[str, object],
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    step: int,
    tokens: int,
    elapsed: float,
) -> None:
    """Write what `--resume` needs; the old checkpoint stays whole until the new one is.

    run: what the batches and the steps depend on, plain values only, for `same_run`.
    """
    state = {
        "run": run,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": step,
        "tokens": tokens,
        "elapsed": elapsed,
    }
    torch.save(state, folder / "checkpoint.pt.part")
    (folder / "checkpoint.pt.part").replace(folder / "checkpoint.pt")


def same_run(found: object, wanted: dict[str, object]) -> None:
    """See that a checkpoint is of this run: with others the batches it has had are not those that would be left out.

    Args:
        found: `run` of the checkpoint; None in those that were written before it was kept.
        wanted: what this run would write.

    Raises:
        SystemExit: they differ, or the checkpoint does not say.
    """
    if not isinstance(found, dict):
        raise SystemExit(
            "The checkpoint does not say which settings and rows it is of, so that nothing can go on from it; "
            "begin anew with --base."
        )
    told = [
        f"{name} is {wanted.get(name)!r} and was {found.get(name)!r}"
        for name in sorted({*found, *wanted})
        if found.get(name) != wanted.get(name)
    ]
    if told:
        raise SystemExit(f"The checkpoint is of another run ({'; '.join(told)}); --resume takes the same arguments.")


def factor(progress: float, settings: Settings) -> float:
    """The rate's factor at a progress in [0, 1]: warm-up, plateau, linear decay to nothing."""
    if progress < settings.warm_share:
        return progress / settings.warm_share
    return min(1.0, max(0.0, (1 - progress) / settings.decay_share)) if settings.decay_share else 1.0


def start(base: Path, settings: Settings) -> TwoHeads:
    """The base with both heads; a head that the folder does not have begins at random, the token head at nothing."""
    if (base / TOKEN_HEAD).exists():
        return load_two_heads(base)
    labels = dict(enumerate(LABELS))
    network = BertForSequenceClassification.from_pretrained(
        base,
        num_labels=3,
        id2label=labels,
        label2id={v: k for k, v in labels.items()},
        ignore_mismatched_sizes=True,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
        attn_implementation="eager",  # the fused kernel's backward pass is four times slower on this processor
    )
    head = torch.nn.Linear(network.config.hidden_size, 1)
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.constant_(head.bias, -2.0)  # about one token in eight of the claims that teach it is wrong
    return TwoHeads(network, head)


def keep_layers(model: TwoHeads, count: int) -> None:
    """Leave only `count` of the encoder's layers, evenly chosen, the last among them."""
    layers = model.network.bert.encoder.layer
    kept = [len(layers) * (i + 1) // count - 1 for i in range(count)]
    model.network.bert.encoder.layer = torch.nn.ModuleList(layers[i] for i in kept)
    model.network.config.num_hidden_layers = count


def main() -> None:
    """Read arguments, build rows, train, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True, help="a transformers checkpoint to start from")
    parser.add_argument("--data", type=Path, required=True, help="the folder of labelled data")
    parser.add_argument("--out", type=Path, required=True, help="where checkpoints and the result are written")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--minutes", type=float, help="train for so long")
    length.add_argument("--cpu-minutes", type=float, help="train for so much time of the processor, all threads summed")
    length.add_argument("--steps", type=int, help="train for so many steps")
    parser.add_argument("--resume", type=Path, help="a checkpoint file to go on from")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rate", type=float, default=Settings.rate, help="the highest learning rate")
    parser.add_argument("--decay-share", type=float, default=Settings.decay_share, help="0 stays on the plateau")
    parser.add_argument("--rows-of-edits", type=int, default=Settings.rows_of_edits)
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--rows", type=Path, help="all rows, as train.data wrote them; the other arguments of rows idle")
    given.add_argument("--edits", type=Path, help="rows that train.mining wrote, in place of --rows-of-edits")
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument(
        "--teacher", type=Path, nargs="+", help="networks with both heads to learn from beside the labels, on average"
    )
    parser.add_argument("--smoothing", type=float, default=Settings.smoothing, help="of labels, in [0, 1)")
    parser.add_argument("--margin-weight", type=float, default=Settings.margin_weight, help="of groups' margins")
    parser.add_argument("--batch-tokens", type=int, default=Settings.batch_tokens, help="padded, of one step")
    parser.add_argument("--layers", type=int, help="begin with so many of the base's layers, evenly chosen")
    arguments = parser.parse_args()
    settings = Settings(
        rate=arguments.rate,
        decay_share=arguments.decay_share,
        rows_of_edits=arguments.rows_of_edits,
        seed=arguments.seed,
        smoothing=arguments.smoothing,
        margin_weight=arguments.margin_weight,
        batch_tokens=arguments.batch_tokens,
        teacher_weight=0.5 if arguments.teacher else 0.0,
    )
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(settings.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    commit = commit_of(REPOSITORY)  # now: the tree may have moved on by the end of a run

    rows = load_training_sets(arguments.data)
    tokenizer = AutoTokenizer.from_pretrained(arguments.base)
    if arguments.rows:
        mixed = read_made(arguments.rows)
        strangers = sum(row.source == STRANGER for row in mixed)
        read = sum(row.source in QUOTAS or row.source == REVIEWS or row.source.startswith(WHOLE) for row in mixed)
        edits = len(mixed) - strangers - read
    else:
        made = read_made(arguments.edits) if arguments.edits else None
        edits, strangers = settings.rows_of_edits if made is None else len(made), settings.rows_of_strangers
        mixed = training_rows(rows, made, edits=edits, of_strangers=strangers, seed=settings.seed)
    settings = dataclasses.replace(settings, rows_of_edits=edits, rows_of_strangers=strangers)
    print(report(mixed), flush=True)
    items = encode(tokenizer, mixed, settings, random.Random(settings.seed))
    run: dict[str, object] = {
        **dataclasses.asdict(settings),
        "rows": digest_of(mixed),
        "layers": arguments.layers,
        "teachers": len(arguments.teacher or ()),
    }
    held = [row for row in rows if part_of(row) == "fit"]
    held_items = encode(tokenizer, mix(held, settings.seed)[:1_200], settings, None)
    edited = make_rows([row for row in held if row.source in EDITABLE], 600, settings.seed)
    held_edits = encode(tokenizer, edited, settings, None)
    print(f"{len(items)} pairs, {sum(len(e.ids) for e in items):,} tokens", flush=True)

    model = start(arguments.base, settings)
    if arguments.layers:
        keep_layers(model, arguments.layers)
    model.train()
    teachers = [load_two_heads(folder).eval() for folder in arguments.teacher or ()]
    optimizer = torch.optim.AdamW(parameter_groups(model, settings), betas=(0.9, 0.98), fused=True)
    halved = Halved(model) if has_bfloat16() else None
    step, trained_tokens, elapsed_before = 0, 0, 0.0
    if arguments.resume:
        state = torch.load(arguments.resume, weights_only=True)
        same_run(state.get("run"), run)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, trained_tokens, elapsed_before = state["step"], state["tokens"], state["elapsed"]
        if halved:
            halved.take_weights()
    clock = time.process_time if arguments.cpu_minutes else time.monotonic
    minutes = arguments.minutes or arguments.cpu_minutes
    begun, last_saved = clock(), time.monotonic()
    running, running_tokens, skip, passes = 0.0, 0.0, step, 0
    while True:
        rng = random.Random(settings.seed + passes)
        passes += 1
        for batch in batches(items, settings.batch_tokens, rng):
            if skip:
                skip -= 1
                continue
            elapsed = elapsed_before + clock() - begun
            progress = elapsed / (minutes * 60) if minutes else step / arguments.steps
            if progress >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = group["base"] * factor(progress, settings)
            logits, tokens = (halved.passes if halved else model)(*tensors(batch))
            loss = loss_of(logits, torch.tensor([e.target for e in batch]), settings.smoothing)
            if settings.margin_weight:
                loss = loss + settings.margin_weight * margin_loss(logits, batch, settings.margin)
            by_token = token_loss(tokens, batch)
            if teachers:
                share = settings.teacher_weight
                pair_distance, token_distance = teacher_loss((logits, tokens), teaching(teachers, batch), batch)
                loss = (1 - share) * loss + share * pair_distance
                by_token = (1 - share) * by_token + share * token_distance
            (loss + settings.token_weight * by_token).backward()
            if halved:
                halved.give_gradients()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if halved:
                halved.take_weights()
            step += 1
            trained_tokens += sum(len(e.ids) for e in batch)
            running = loss.item() if not running else 0.98 * running + 0.02 * loss.item()
            running_tokens = by_token.item() if not running_tokens else 0.98 * running_tokens + 0.02 * by_token.item()
            if step % 50 == 0:
                speed = trained_tokens / elapsed if elapsed else 0.0
                print(
                    f"step {step}  {progress:5.1%}  loss {running:.3f} {running_tokens:.3f}  {speed:.0f} tokens/s",
                    flush=True,
                )
            if step % 500 == 0:
                print("held out", json.dumps(evaluate(model, held_items)), flush=True)
                print("held-out edits", json.dumps(evaluate(model, held_edits)), flush=True)
            if time.monotonic() - last_saved > CHECKPOINT_SECONDS:
                save_checkpoint(arguments.out, run, model, optimizer, step, trained_tokens, elapsed)
                last_saved = time.monotonic()
        else:
            continue
        break
    figures = {"sets": evaluate(model, held_items), "edits": evaluate(model, held_edits)}
    print("final", json.dumps(figures), f"after {step} steps, {trained_tokens:,} tokens, {passes} passes", flush=True)
    save_two_heads(model, arguments.out / "model")
    tokenizer.save_pretrained(arguments.out / "model")
    record: dict[str, object] = {
        "settings": dataclasses.asdict(settings),
        "steps": step,
        "tokens": trained_tokens,
        "passes": passes,
        "threads": arguments.threads,
        "commit": commit,
        "versions": versions_of(("torch", "transformers", "tokenizers", "numpy")),
        "rows": {"count": len(mixed), "digest": run["rows"]},
        "held_out": figures,
    }
    if arguments.rows or arguments.edits:
        record["made"] = record_of_made(arguments.rows or arguments.edits)
    before = arguments.base.parent / "run.json"
    if before.exists():
        record["before"] = json.loads(before.read_text())
    (arguments.out / "run.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
