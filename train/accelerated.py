"""Train the verifier network on an accelerator, from packed rows (`train.pack`) and weights in one file.

    python -m train.accelerated --weights START.safetensors --rows ROWS.npz.xz --out DIR --seconds 240

What `train.network` does on a processor in hours, with the same losses, heads and frozen embeddings: a network of
12 layers of 384 reads some hundred thousand tokens a second and more. It needs PyTorch and NumPy alone, so that it
runs on a machine that nothing can be installed on; tokens were made where the data are. All rows lie in the
accelerator's memory, batches are gathered there, and nothing waits for the processor. With `--teacher` the labels are
mixed with what other networks say of each pair, on average (Hinton et al. 2015, "Distilling the knowledge in a neural
network"). `--device cpu` runs the same steps for tests.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import lzma
import math
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

CHUNK = 6_000
"""Rows whose batches are formed together, of similar length in each."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a run depends on, written beside its result."""

    seconds: float
    rate: float = 2e-4
    batch_tokens: int = 24_576
    layer_decay: float = 0.95
    weight_decay: float = 0.01
    dropout: float = 0.1
    warm_share: float = 0.04
    decay_share: float = 0.4
    margin: float = 2.0
    margin_weight: float = 0.3
    token_weight: float = 0.5
    smoothing: float = 0.0
    teacher_weight: float = 0.0
    seed: int = 7


@dataclasses.dataclass(frozen=True)
class Packed:
    """Encoded rows, one behind the other.

    Attributes:
        ids: (tokens,) of all rows.
        wrong: (tokens,) 1 where a token is wrong, 0 where it is right, -1 where that is not known.
        starts: (rows,) where a row begins in `ids`.
        lengths: (rows,) tokens of a row.
        firsts: (rows,) tokens of its premise, with the marks around it.
        targets: (rows,) 0 entailment, 1 neutral, 2 contradiction, 3 one of the latter two.
        groups: (rows,) the same number for rows between which a margin is asked, -1 for none.
        parts: (rows,) place of a row's part in `names`.
        sets: (rows,) place of its set in `set_names`.
    """

    ids: NDArray[np.uint16]
    wrong: NDArray[np.int8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    firsts: NDArray[np.int32]
    targets: NDArray[np.int64]
    groups: NDArray[np.int64]
    parts: NDArray[np.int32]
    sets: NDArray[np.int32]
    names: list[str]
    set_names: list[str]

    def part(self, name: str) -> NDArray[np.int64]:
        """Places of the rows of a part."""
        return np.flatnonzero(self.parts == self.names.index(name))


def read_packed(path: Path) -> Packed:
    """What `train.pack` wrote."""
    with lzma.open(path) as file:
        stored = np.load(io.BytesIO(file.read()))
        lengths = stored["lengths"].astype(np.int32)
        claims = stored["claim_lengths"].astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        wrong = np.full(int(lengths.sum()), -1, np.int8)
        told, at = stored["wrong"], 0
        for start, length, claim in zip(starts, lengths, claims, strict=True):
            wrong[start + length - claim : start + length] = told[at : at + claim]
            at += claim
        return Packed(
            stored["ids"],
            wrong,
            starts,
            lengths,
            lengths - claims,
            stored["targets"].astype(np.int64),
            stored["groups"].astype(np.int64),
            stored["parts"].astype(np.int32),
            stored["sets"].astype(np.int32),
            json.loads(str(stored["names"])),
            json.loads(str(stored["set_names"])),
        )


class Layer(torch.nn.Module):
    """One encoder layer of BERT (Devlin et al. 2019) with queries, keys and values in one product."""

    def __init__(self, width: int, inner: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.merged = torch.nn.Linear(width, 3 * width)
        self.mixed = torch.nn.Linear(width, width)
        self.norm = torch.nn.LayerNorm(width, eps=1e-12)
        self.inner = torch.nn.Linear(width, inner)
        self.outer = torch.nn.Linear(inner, width)
        self.last_norm = torch.nn.LayerNorm(width, eps=1e-12)

    def _dropped(self, states: Tensor) -> Tensor:
        return functional.dropout(states, self.dropout, self.training)

    def forward(self, states: Tensor, mask: Tensor, *, first: bool = False) -> Tensor:
        """(batch, tokens, width) from (batch, tokens, width); of the first token alone with `first`."""
        batch, tokens, width = states.shape
        query, key, value = self.merged(states).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if first:
            query, states = query[:, :, :1], states[:, :1]
        share = self.dropout if self.training else 0.0
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=share)
        seen = seen.transpose(1, 2).reshape(batch, -1, width)
        states = self.norm(states + self._dropped(self.mixed(seen)))
        return self.last_norm(states + self._dropped(self.outer(functional.gelu(self.inner(states)))))


class Network(torch.nn.Module):
    """The verifier network with both heads, as `train.two_heads` has it, for accelerators."""

    def __init__(self, weights: dict[str, Tensor], heads: int, dropout: float) -> None:
        super().__init__()
        words = weights["bert.embeddings.word_embeddings.weight"]
        depth = 1 + max(int(name.split(".")[3]) for name in weights if name.startswith("bert.encoder.layer."))
        inner = weights["bert.encoder.layer.0.intermediate.dense.bias"].shape[0]
        width = words.shape[1]
        self.dropout = dropout
        self.words = torch.nn.Embedding(*words.shape)
        self.places = torch.nn.Embedding(*weights["bert.embeddings.position_embeddings.weight"].shape)
        self.texts = torch.nn.Embedding(*weights["bert.embeddings.token_type_embeddings.weight"].shape)
        self.norm = torch.nn.LayerNorm(width, eps=1e-12)
        self.layers = torch.nn.ModuleList(Layer(width, inner, heads, dropout) for _ in range(depth))
        self.pooler = torch.nn.Linear(width, width)
        self.classifier = torch.nn.Linear(width, 3)
        self.token_head = torch.nn.Linear(width, 1)
        self.load_state_dict(to_ours(weights, depth))
        self.words.weight.requires_grad_(False)
        self.places.weight.requires_grad_(False)

    def forward(self, ids: Tensor, types: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the pair (batch, 3) and of being wrong for each token (batch, tokens)."""
        places = torch.arange(ids.shape[1], device=ids.device)
        states = self.norm(self.words(ids) + self.places(places) + self.texts(types))
        states = functional.dropout(states, self.dropout, self.training)
        mask = torch.zeros(present.shape, dtype=states.dtype, device=ids.device).masked_fill_(~present, -torch.inf)
        mask = mask[:, None, None, :].expand(-1, self.layers[0].heads, ids.shape[1], -1)
        *lower, last = self.layers
        for layer in lower:
            states = layer(states, mask)
        tokens = self.token_head(states).squeeze(-1)
        pooled = torch.tanh(self.pooler(last(states, mask[:, :, :1], first=True)[:, 0]))
        pooled = functional.dropout(pooled, self.dropout, self.training)
        return self.classifier(pooled), tokens


_PLAIN = {
    "words.weight": "bert.embeddings.word_embeddings.weight",
    "places.weight": "bert.embeddings.position_embeddings.weight",
    "texts.weight": "bert.embeddings.token_type_embeddings.weight",
    "norm.weight": "bert.embeddings.LayerNorm.weight",
    "norm.bias": "bert.embeddings.LayerNorm.bias",
    "pooler.weight": "bert.pooler.dense.weight",
    "pooler.bias": "bert.pooler.dense.bias",
    "classifier.weight": "classifier.weight",
    "classifier.bias": "classifier.bias",
    "token_head.weight": "token_head.weight",
    "token_head.bias": "token_head.bias",
}
_OF_LAYER = {
    "mixed": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "last_norm": "output.LayerNorm",
}


def to_ours(weights: dict[str, Tensor], depth: int) -> dict[str, Tensor]:
    """Weights by the names of `Network`, from those of a transformers checkpoint."""
    made = {ours: weights[theirs].float() for ours, theirs in _PLAIN.items()}
    for number in range(depth):
        mine, theirs = f"layers.{number}", f"bert.encoder.layer.{number}"
        for kind in ("weight", "bias"):
            parts = [weights[f"{theirs}.attention.self.{part}.{kind}"].float() for part in ("query", "key", "value")]
            made[f"{mine}.merged.{kind}"] = torch.cat(parts)
            for ours, name in _OF_LAYER.items():
                made[f"{mine}.{ours}.{kind}"] = weights[f"{theirs}.{name}.{kind}"].float()
    return made


def to_theirs(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights by the names of a transformers checkpoint, from those of `Network`."""
    made = {theirs: weights[ours] for ours, theirs in _PLAIN.items() if ours in weights}
    for name, value in weights.items():
        if not name.startswith("layers."):
            continue
        _, number, part, kind = name.split(".")
        theirs = f"bert.encoder.layer.{number}"
        if part == "merged":
            for one, piece in zip(("query", "key", "value"), value.chunk(3), strict=True):
                made[f"{theirs}.attention.self.{one}.{kind}"] = piece.clone()
        else:
            made[f"{theirs}.{_OF_LAYER[part]}.{kind}"] = value
    return made


@dataclasses.dataclass(frozen=True)
class Trained:
    """A network and what it was trained on: steps, and tokens without padding."""

    network: Network
    steps: int
    tokens: int


class Rows:
    """Packed rows in the memory of a device."""

    def __init__(self, packed: Packed, device: torch.device) -> None:
        self.ids = torch.from_numpy(packed.ids.astype(np.int32)).to(device)
        self.wrong = torch.from_numpy(packed.wrong).to(device)
        self.starts = torch.from_numpy(packed.starts).to(device)
        self.lengths = torch.from_numpy(packed.lengths.astype(np.int64)).to(device)
        self.firsts = torch.from_numpy(packed.firsts.astype(np.int64)).to(device)
        self.targets = torch.from_numpy(packed.targets).to(device)
        self.groups = torch.from_numpy(packed.groups).to(device)

    def gather(self, chosen: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Ids, types, which tokens are present, and what is known of them, each (rows, width)."""
        places = torch.arange(width, device=chosen.device)
        present = places < self.lengths[chosen, None]
        at = (self.starts[chosen, None] + places).clamp_(max=self.ids.shape[0] - 1)
        ids = self.ids[at].long() * present
        types = ((places >= self.firsts[chosen, None]) & present).long()
        wrong = torch.where(present, self.wrong[at], -1)
        return ids, types, present, wrong


def formed(packed: Packed, chosen: NDArray[np.int64], budget: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Batches of similar length within the budget of padded tokens, groups whole, in random order within a chunk."""
    keys = np.where(packed.groups[chosen] >= 0, packed.groups[chosen], -2 - np.arange(len(chosen)))
    order = np.argsort(keys, kind="stable")
    bounds = np.flatnonzero(np.diff(keys[order], prepend=keys[order[0]] - 1))
    units = np.split(chosen[order], bounds[1:])
    rng.shuffle(units)
    at = 0
    while at < len(units):
        some, count = [], 0
        while at < len(units) and count < CHUNK:
            some.append(units[at])
            count += len(units[at])
            at += 1
        some.sort(key=lambda unit: int(packed.lengths[unit].max()))
        made: list[list[int]] = []
        current: list[int] = []
        width = 0
        for unit in some:
            wider = max(width, int(packed.lengths[unit].max()))
            if current and wider * (len(current) + len(unit)) > budget:
                made.append(current)
                current, wider = [], int(packed.lengths[unit].max())
            current.extend(int(one) for one in unit)
            width = wider
        if current:
            made.append(current)
        rng.shuffle(made)
        yield from made


def endless(packed: Packed, shares: dict[str, float], rows: int, budget: int, seed: int) -> Iterator[list[int]]:
    """Batches without end: pass after pass of about `rows` rows, of each part its share, each row of a part once
    before any comes again. A pass is shorter where a part has too few rows for its share of it."""
    rng = np.random.default_rng(seed)
    pools = {name: _units(packed, name) for name in shares}
    rows = min([rows, *(int(sum(map(len, pools[name])) / share) for name, share in shares.items() if share)])
    turns: dict[str, list[NDArray[np.int64]]] = {name: [] for name in shares}
    while True:
        chosen: list[NDArray[np.int64]] = []
        for name, share in shares.items():
            wanted = round(rows * share)
            while wanted > 0:
                if not turns[name]:
                    turns[name] = [pools[name][i] for i in rng.permutation(len(pools[name]))]
                unit = turns[name].pop()
                chosen.append(unit)
                wanted -= len(unit)
        yield from formed(packed, np.concatenate(chosen), budget, rng)


def _units(packed: Packed, name: str) -> list[NDArray[np.int64]]:
    """The rows of a part, those of a group together."""
    places = packed.part(name)
    keys = np.where(packed.groups[places] >= 0, packed.groups[places], -2 - np.arange(len(places)))
    order = np.argsort(keys, kind="stable")
    bounds = np.flatnonzero(np.diff(keys[order], prepend=keys[order[0]] - 1))
    return list(np.split(places[order], bounds[1:]))


def ahead(batches: Iterator[list[int]], depth: int = 64) -> Iterator[list[int]]:
    """The same batches, formed by a thread that is ahead of the one that trains."""
    waiting: queue.Queue[list[int]] = queue.Queue(depth)

    def fill() -> None:
        for batch in batches:
            waiting.put(batch)

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield waiting.get()


def odds_of(logits: Tensor) -> Tensor:
    """Log odds of being supported, (batch,)."""
    return logits[:, 0] - torch.logsumexp(logits[:, 1:], dim=-1)


def pair_loss(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy over three labels; target 3 is trained on the sum of neutral and contradiction."""
    logs = functional.log_softmax(logits, dim=-1)
    merged = torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)
    loss = functional.nll_loss(torch.cat([logs, merged], dim=-1), targets)
    return (1 - smoothing) * loss - smoothing * logs.mean() if smoothing else loss


def margin_loss(logits: Tensor, targets: Tensor, groups: Tensor, margin: float) -> Tensor:
    """How far right claims fall short of lying `margin` above the wrong ones of their group (`train.network`)."""
    odds = odds_of(logits)
    right = ((targets == 0) & (groups >= 0))[:, None]
    pairs = right & (targets > 0)[None, :] & (groups[:, None] == groups[None, :])
    distance = functional.softplus(margin - (odds[:, None] - odds[None, :]))
    return (distance * pairs).sum() / pairs.sum().clamp(min=1)


def token_loss(tokens: Tensor, wrong: Tensor, wanted: Tensor | None = None) -> Tensor:
    """Binary cross-entropy over tokens that are known to be right or wrong, towards `wanted` where it is given."""
    known = (wrong >= 0).float()
    loss = functional.binary_cross_entropy_with_logits(
        tokens, wrong.clamp(min=0).float() if wanted is None else wanted, reduction="none"
    )
    return (loss * known).sum() / known.sum().clamp(min=1)


def groups_of(network: Network, settings: Settings) -> list[dict[str, object]]:
    """Parameters by rate, lower towards the input (as `train.network`)."""
    depth = len(network.layers)
    found: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for name, parameter in network.named_parameters():
        if not parameter.requires_grad:
            continue
        number = int(name.split(".")[1]) if name.startswith("layers.") else None
        below = depth if name.startswith(("texts", "norm")) else 0 if number is None else depth - 1 - number
        rate = settings.rate * settings.layer_decay**below
        found.setdefault((rate, 0.0 if parameter.ndim == 1 else settings.weight_decay), []).append(parameter)
    return [{"params": ps, "lr": rate, "weight_decay": decay, "base": rate} for (rate, decay), ps in found.items()]


def factor(progress: float, settings: Settings) -> float:
    """The rate's factor at a progress in [0, 1]: warm-up, plateau, linear decay."""
    if progress < settings.warm_share:
        return progress / settings.warm_share
    return min(1.0, max(0.0, 1 - progress) / settings.decay_share)


@torch.no_grad()
def scores_of(network: Network, rows: Rows, packed: Packed, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log odds of being supported for the rows at `places`."""
    network.eval()
    device = rows.ids.device
    order = places[np.argsort(packed.lengths[places], kind="stable")]
    found = np.zeros(len(packed.lengths))
    for at in range(0, len(order), 256):
        some = order[at : at + 256]
        chosen = torch.from_numpy(some).to(device)
        ids, types, present, _ = rows.gather(chosen, -(-int(packed.lengths[some].max()) // 8) * 8)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits = network(ids, types, present)[0]
        found[some] = odds_of(logits.float()).double().cpu().numpy()
    network.train()
    return found[places]


def auroc(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Area under the ROC curve; ties count half. Fawcett 2006, "An introduction to ROC analysis"."""
    count = int(right.sum()), int((~right).sum())
    if not all(count):
        return math.nan
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(many) - (many - 1) / 2)[place]
    return float((ranks[right].sum() - count[0] * (count[0] + 1) / 2) / (count[0] * count[1]))


def figures(network: Network, rows: Rows, packed: Packed, parts: Sequence[str]) -> dict[str, float]:
    """For each part: AUROC over all rows, the mean AUROC over its sets, and balanced accuracy at a probability of
    one half."""
    made = {}
    for name in parts:
        places = packed.part(name)
        scores, right = scores_of(network, rows, packed, places), packed.targets[places] == 0
        made[name] = auroc(scores, right)
        sets = [packed.sets[places] == one for one in np.unique(packed.sets[places])]
        each = [auroc(scores[here], right[here]) for here in sets if here.sum() >= 40]
        made[f"{name}, mean of sets"] = float(np.nanmean(each)) if each else math.nan
        made[f"{name}, balanced"] = float(((scores >= 0)[right].mean() + (scores < 0)[~right].mean()) / 2)
    return {name: round(value, 4) for name, value in made.items()}


def train(
    start: dict[str, Tensor],
    packed: Packed,
    rows: Rows,
    shares: dict[str, float],
    settings: Settings,
    *,
    heads: int,
    teachers: Sequence[Network] = (),
    steps: int | None = None,
) -> Trained:
    """A network trained for the seconds of its settings, or for so many steps.

    The passes run in bfloat16 on an accelerator, the optimizer moves float32 weights (`train.network.Halved`).
    """
    device = rows.ids.device
    half = torch.bfloat16 if device.type == "cuda" else torch.float32
    torch.manual_seed(settings.seed)
    kept = Network(start, heads, settings.dropout).to(device).train()
    passes = Network(start, heads, settings.dropout).to(device, half).train()
    pairs = [(a, b) for a, b in zip(kept.parameters(), passes.parameters(), strict=True) if a.requires_grad]
    optimizer = torch.optim.AdamW(groups_of(kept, settings), betas=(0.9, 0.98), fused=device.type == "cuda")
    begun, step, tokens, running = time.monotonic(), 0, 0, torch.zeros(2, device=device)
    for batch in ahead(endless(packed, shares, 60_000, settings.batch_tokens, settings.seed)):
        progress = step / steps if steps else (time.monotonic() - begun) / settings.seconds
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = group["base"] * factor(progress, settings)
        chosen = torch.tensor(batch, device=device)
        width = -(-int(packed.lengths[batch].max()) // 8) * 8
        ids, types, present, wrong = rows.gather(chosen, width)
        logits, by_token = passes(ids, types, present)
        logits, by_token = logits.float(), by_token.float()
        targets = rows.targets[chosen]
        loss = pair_loss(logits, targets, settings.smoothing)
        marked = token_loss(by_token, wrong)
        if teachers:
            with torch.no_grad():
                said = [teacher(ids, types, present) for teacher in teachers]
                labels = torch.stack([one.float().softmax(-1) for one, _ in said]).mean(0)
                spans = torch.stack([one.float().sigmoid() for _, one in said]).mean(0)
            share = settings.teacher_weight
            loss = (1 - share) * loss - share * (labels * functional.log_softmax(logits, -1)).sum(-1).mean()
            marked = (1 - share) * marked + share * token_loss(by_token, wrong, spans)
        asked = margin_loss(logits, targets, rows.groups[chosen], settings.margin)
        (loss + settings.margin_weight * asked + settings.token_weight * marked).backward()
        for a, b in pairs:
            a.grad = None if b.grad is None else b.grad.float()
            b.grad = None
        torch.nn.utils.clip_grad_norm_([a for a, _ in pairs], 1.0)
        optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_([b for _, b in pairs], [a for a, _ in pairs])
        step += 1
        tokens += int(packed.lengths[batch].sum())
        running = running.lerp(torch.stack([loss.detach(), marked.detach()]), 0.02 if step > 50 else 0.2)
        if step % 25 == 0 and device.type == "cuda":
            torch.cuda.synchronize()
        if step % 400 == 0:
            passed = time.monotonic() - begun
            shown = " ".join(f"{one:.3f}" for one in running.tolist())
            print(f"step {step}  {progress:5.1%}  loss {shown}  {tokens / passed:,.0f} tokens/s", flush=True)
    passed = time.monotonic() - begun
    print(f"{step} steps, {tokens:,} tokens in {passed:.0f} s, loss {running.tolist()}", flush=True)
    return Trained(kept, step, tokens)


def stored(network: Network) -> dict[str, Tensor]:
    """What training moved, in half precision, by the names of a checkpoint."""
    weights = {name: p.detach().cpu() for name, p in network.named_parameters() if p.requires_grad}
    return {name: value.to(torch.float16).contiguous() for name, value in to_theirs(weights).items()}


def main() -> None:
    """Read arguments, train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="a .safetensors with both heads (`train.pack`)")
    parser.add_argument("--rows", type=Path, required=True, help="a .npz.xz that `train.pack` wrote")
    parser.add_argument("--out", type=Path, required=True, help="a .safetensors for what training moved")
    parser.add_argument("--shares", type=json.loads, required=True, help='of each pass, as {"scenarios": 0.5, ...}')
    parser.add_argument("--measure", default="", help="parts to measure on, as fit,edits")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--steps", type=int, help="in place of the seconds")
    parser.add_argument("--teacher", type=Path, nargs="*", default=[], help="networks whose answers are learnt too")
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--device", default="cuda")
    for field in dataclasses.fields(Settings):
        if field.name != "seconds":
            kind = int if field.name in {"seed", "batch_tokens"} else float
            parser.add_argument("--" + field.name.replace("_", "-"), type=kind, default=field.default)
    given = parser.parse_args()
    settings = Settings(**{field.name: getattr(given, field.name) for field in dataclasses.fields(Settings)})
    device = torch.device(given.device)
    # its plans are made anew for each shape of a batch: the first minutes ran at a third of the later speed
    torch.backends.cuda.enable_cudnn_sdp(False)
    packed = read_packed(given.rows)
    rows = Rows(packed, device)
    start = load_file(given.weights)
    half = torch.bfloat16 if device.type == "cuda" else torch.float32
    teachers = [
        Network({**start, **load_file(path)}, given.heads, 0.0).to(device, half).eval() for path in given.teacher
    ]
    trained = train(
        start, packed, rows, given.shares, settings, heads=given.heads, teachers=teachers, steps=given.steps
    )
    measured = figures(trained.network, rows, packed, [one for one in given.measure.split(",") if one])
    print(json.dumps(measured), flush=True)
    save_file(stored(trained.network), given.out)
    record = {
        "settings": dataclasses.asdict(settings),
        "shares": given.shares,
        "steps": trained.steps,
        "tokens": trained.tokens,
        "measured": measured,
    }
    given.out.with_suffix(".json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
