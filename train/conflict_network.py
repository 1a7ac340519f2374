"""Trains the network that tells whether two passages of two documents cannot both be right.

    python -m train.conflict_network --base .work/shipped/model --out .work/conflicts [--passes 3] [--scenarios 8000]

It begins with the verifier's weights (`train.shipped`) and one new output, and reads pairs in both directions over the
passes: those of the written items (`train.conflict_pairs`), all or a sample beside all of the files that `--fresh`
names, a balanced sample of those of the scenarios, and some that the retrieval gate would read; with `--data` also
statements beside real documents, a balanced sample of labelled rows (`train.document_pairs`) and pairs of sentences of
one document. Embeddings stay as they are, so that both networks share one table of words (`train.export_conflicts`).
Layers towards the input learn more slowly by `LAYER_DECAY` each. `--resume` goes on from what an earlier run left in
`--out`. After each pass the held-out items and pairs of held-out scenarios are judged.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from train.conflict_pairs import (
    FOLDER,
    HELD_OUT,
    PassagePair,
    balanced,
    of_documents,
    of_scenarios,
    of_screening,
    read_items,
    titles_of,
    with_titles,
)
from train.document_pairs import held_out_runs, of_labelled, of_statements, shares_text
from train.network import Halved, has_bfloat16, precision
from train.scenario_rows import WEIGHTS
from train.two_heads import TwoHeads, load_two_heads, save_two_heads

MOST_TOKENS = 160
"""Tokens of a pair; both passages of a longer one are cut to half of it."""
BATCH_TOKENS = 3_072
WARM_SHARE = 0.06
"""The share of the steps over which the rate rises."""
LAYER_DECAY = 0.95
HEAD_RATE = 1e-3
"""The rate of a new output."""
TITLED = 0.4
"""The share of pairs that get titles of sources, as the pairs of the gate have."""
FALSE_ALARMS = 0.05
"""The share of compatible pairs at which found conflicts are reported."""


@dataclass(frozen=True)
class Batch:
    """Pairs of about one length, padded."""

    places: list[int]
    ids: torch.Tensor
    types: torch.Tensor
    mask: torch.Tensor


class Encoder:
    """Pairs as the numbers of their tokens."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._begin, self._end = (self._tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))

    def encode(self, first: str, second: str) -> tuple[list[int], list[int]]:
        """Numbers and types of the tokens of a pair."""
        own, other = (self._tokenizer.encode(text, add_special_tokens=False).ids for text in (first, second))
        if len(own) + len(other) + 3 > MOST_TOKENS:
            own, other = own[: MOST_TOKENS // 2 - 2], other[: MOST_TOKENS // 2 - 1]
        ids = [self._begin, *own, self._end, *other, self._end]
        return ids, [0] * (len(own) + 2) + [1] * (len(other) + 1)

    def batches(self, pairs: Sequence[tuple[str, str]], rng: random.Random | None = None) -> Iterator[Batch]:
        """Batches of like length, in a random order where a generator is given."""
        encoded = [self.encode(*pair) for pair in pairs]
        length = [len(ids) + (6 * rng.random() if rng else 0.0) for ids, _ in encoded]
        groups: list[list[int]] = [[]]
        for place in sorted(range(len(pairs)), key=length.__getitem__):
            if groups[-1] and (len(groups[-1]) + 1) * (len(encoded[place][0]) + 6) > BATCH_TOKENS:
                groups.append([])
            groups[-1].append(place)
        if rng is not None:
            rng.shuffle(groups)
        for group in groups:
            size = max(len(encoded[place][0]) for place in group)
            ids, types, mask = (torch.zeros(len(group), size, dtype=torch.long) for _ in range(3))
            for row, place in enumerate(group):
                tokens = len(encoded[place][0])
                ids[row, :tokens] = torch.tensor(encoded[place][0])
                types[row, :tokens] = torch.tensor(encoded[place][1])
                mask[row, :tokens] = 1
            yield Batch(group, ids, types, mask)


def with_one_output(network: TwoHeads) -> TwoHeads:
    """The encoder of a verifier with one new output in place of its heads."""
    classifier = network.network
    classifier.classifier = torch.nn.Linear(classifier.config.hidden_size, 1)
    classifier.num_labels = classifier.config.num_labels = 1
    classifier.config.id2label, classifier.config.label2id = {0: "conflict"}, {"conflict": 0}
    changed: TwoHeads = TwoHeads(classifier).eval()
    return changed


def auroc(conflicts: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """The share of pairs of a conflict and another pair in which the conflict has the higher score."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    few = int(conflicts.sum())
    return float((ranks[conflicts].sum() - few * (few + 1) / 2) / (few * (len(scores) - few)))


def scores_of(network: TwoHeads, encoder: Encoder, pairs: Sequence[PassagePair]) -> NDArray[np.float64]:
    """The log odds of a conflict of each pair, the mean of both directions."""
    total = np.zeros(len(pairs))
    for texts in ([(one.first, one.second) for one in pairs], [(one.second, one.first) for one in pairs]):
        for batch in encoder.batches(texts):
            with torch.no_grad(), precision():
                total[batch.places] += network(batch.ids, batch.mask, batch.types)[0][:, 0].float().numpy() / 2
    return total


def report(network: TwoHeads, encoder: Encoder, pairs: Sequence[PassagePair], name: str) -> dict[str, float]:
    """Judge pairs, print and return the figures."""
    scores = scores_of(network, encoder, pairs)
    conflicts = np.array([one.conflict for one in pairs])
    bound = np.sort(scores[~conflicts])[int((1 - FALSE_ALARMS) * (~conflicts).sum())]
    found = {
        "auroc": round(auroc(conflicts, scores), 4),
        "found": round(float((scores[conflicts] > bound).mean()), 4),
        "accuracy": round(float(((scores > 0) == conflicts).mean()), 4),
    }
    print(f"{name}: {found}", flush=True)
    return found


def groups_of(network: TwoHeads, rate: float, head_rate: float) -> list[dict[str, object]]:
    """The weights that learn, each with its rate."""
    bert = network.network.bert
    layers = list(bert.encoder.layer)
    chosen = [
        (list(layer.parameters()), rate * LAYER_DECAY ** (len(layers) - 1 - at)) for at, layer in enumerate(layers)
    ]
    chosen += [(list(bert.pooler.parameters()), rate), (list(network.network.classifier.parameters()), head_rate)]
    for weight in network.parameters():
        weight.requires_grad_(False)
    for weights, _ in chosen:
        for weight in weights:
            weight.requires_grad_(True)
    return [{"params": weights, "lr": 0.0, "peak": peak} for weights, peak in chosen]


def main() -> None:
    """Read arguments, train, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--base", type=Path, required=True, help="a checkpoint of the verifier, as train.shipped writes"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--scenarios", type=int, default=8_000, help="pairs of scenarios in a pass")
    parser.add_argument("--data", type=Path, help="the labelled data, for pairs of sentences of one document")
    parser.add_argument("--documents", type=int, default=4_000, help="such pairs in all")
    parser.add_argument("--written", type=int, help="pairs of written items in a pass; all by default")
    parser.add_argument("--fresh", default="", help="files of items all of whose pairs are in each pass, with commas")
    parser.add_argument("--screened", type=int, default=6_000, help="pairs of the gate in a pass")
    parser.add_argument("--beside", type=int, help="pairs of statements beside documents in a pass; all by default")
    parser.add_argument("--labelled", type=int, default=8_000, help="pairs of labelled rows in a pass")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument(
        "--decay-share", type=float, default=0.6, help="the share of the steps over which the rate falls"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="go on from what stands in --out")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    rng = random.Random(given.seed)
    encoder = Encoder(WEIGHTS)
    checkpoint = given.out / "model"
    resumed = given.resume and checkpoint.exists()
    network = load_two_heads(checkpoint) if resumed else with_one_output(load_two_heads(given.base))
    network.eval()  # no dropout, as in all stages of the verifier
    anew = frozenset(name for name in given.fresh.split(",") if name)
    if unknown := anew - {path.stem for path in FOLDER.glob("*.jsonl")} | anew & HELD_OUT:
        raise SystemExit(f"--fresh: expected files of {FOLDER.name} that are not held out, got {', '.join(unknown)}")
    fresh = [pair for item in read_items(only=anew) for pair in item.pairs()] if anew else []
    known = set(fresh)
    written = [pair for item in read_items() for pair in item.pairs() if pair not in known]
    told = list(of_scenarios("train", rng))
    screened = list(of_screening("train"))
    near, labelled, beside = list[PassagePair](), list[PassagePair](), list[PassagePair]()
    if given.data is not None:
        runs = held_out_runs(given.data)
        near = of_documents(given.data, given.documents, rng, lambda text: shares_text(text, runs))
        labelled, beside = list(of_labelled(given.data, rng, runs)), of_statements(given.data)
    held = {
        name: [pair for item in read_items(only=frozenset({name})) for pair in item.pairs(derived=False)]
        for name in sorted(HELD_OUT)
    }
    for name in sorted(HELD_OUT - {"held_titles"}):
        held[f"{name} under titles"] = with_titles(held[name], titles_of("test"), 1.0, random.Random(5))
    held["scenarios"] = balanced(list(of_scenarios("test", random.Random(3))), 1_200, random.Random(4))
    groups = groups_of(network, given.rate, given.rate if resumed else HEAD_RATE)
    weights = [weight for group in groups for weight in group["params"]]  # type: ignore[attr-defined]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    some = min(given.written or len(written), len(written))
    titles = titles_of("train")
    passes = [
        [
            *with_titles(
                [
                    *fresh,
                    *rng.sample(written, some),
                    *rng.sample(beside, min(given.beside or len(beside), len(beside))),
                    *balanced(told, given.scenarios, rng),
                    *balanced(labelled, given.labelled, rng),
                    *near,
                ],
                titles,
                TITLED,
                rng,
            ),
            *rng.sample(screened, min(given.screened, len(screened))),
        ]
        for _ in range(given.passes)
    ]
    print(
        f"{len(fresh) + len(written)} pairs of items, {len(beside)} of statements beside documents, "
        f"{len(told)} of scenarios, {len(screened)} of the gate, {len(labelled)} of labelled rows, "
        f"{len(near)} of documents, {len(passes[0])} in a pass",
        flush=True,
    )
    halved = Halved(network) if has_bfloat16() else None
    passing = network if halved is None else halved.passes.eval()
    total, step, tokens, begun, figures = 0, 0, 0, time.monotonic(), {}
    for number, pairs in enumerate(passes, 1):
        texts = [(one.first, one.second) if rng.random() < 0.5 else (one.second, one.first) for one in pairs]
        labels = torch.tensor([float(one.conflict) for one in pairs])
        made = list(encoder.batches(texts, rng))
        total = total or len(made) * given.passes
        for batch in made:
            pace = min(1.0, (step + 1) / (WARM_SHARE * total), max(0.02, (total - step) / (given.decay_share * total)))
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * pace
            logits = passing(batch.ids, batch.mask, batch.types)[0][:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits.float(), labels[batch.places])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            if halved is not None:
                halved.give_gradients()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            if halved is not None:
                halved.take_weights()
            step, tokens = step + 1, tokens + int(batch.mask.sum())
            if step % 50 == 0:
                pace_now = tokens / (time.monotonic() - begun)
                print(f"step {step} of {total}: loss {loss.item():.3f}, {pace_now:.0f} tokens/s", flush=True)
        checkpoint.mkdir(parents=True, exist_ok=True)
        save_two_heads(network, checkpoint)
        figures = {name: report(network, encoder, some, f"pass {number}, {name}") for name, some in held.items()}
    settings = {name: value for name, value in vars(given).items() if not isinstance(value, Path)}
    record = {"settings": settings, "steps": step, "tokens": tokens, "pairs": len(passes[0]), "held_out": figures}
    earlier = json.loads((given.out / "run.json").read_text()) if resumed and (given.out / "run.json").exists() else []
    (given.out / "run.json").write_text(json.dumps([*earlier, record], indent=2) + "\n")


if __name__ == "__main__":
    main()
