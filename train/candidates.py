"""Checkpoints side by side, the network alone: what one chooses among averages and stages by.

    python -m train.candidates --data ../shared/data --part fit .work/shipped .work/s12 .work/mean

Four kinds of rows of one side of the split: labelled sets (accuracy of three labels, balanced accuracy), planted edits
of their evidence, claims of scenarios beside evidence as it is assembled in use (AUROC by batch), and sentences of
models' answers that people labelled (AUROC). Beside the last two stands the AUROC of the share of a claim's words that
stand in its evidence. A choice is made on `fit`; `test` is for telling.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoTokenizer

from assay.models.cross_encoder import OnnxCrossEncoder
from assay.stats.classification import auroc
from train.edits import EDITABLE, make_rows
from train.network import Encoded, Settings, batches, encode, evaluate, precision, tensors
from train.read import ASSEMBLED, as_read
from train.rows import ANSWERS, Part, Row, fold, load_training_sets, mix, part_of
from train.scenario_rows import WEIGHTS, rows_of
from train.scenario_rows import batches as scenario_batches
from train.two_heads import TwoHeads, load_two_heads

TOKENS = 224
"""What evidence is assembled to, as in use."""


@torch.no_grad()
def support(model: TwoHeads, items: Sequence[Encoded]) -> NDArray[np.float64]:
    """The log odds of being supported, in the order of the items."""
    model.eval()
    places = {id(item): place for place, item in enumerate(items)}
    found = np.zeros(len(items))
    for batch in batches(items, 4_096, None):
        with precision():
            logits, _ = model(*tensors(batch))
        scores = logits.float()
        odds = scores[:, 0] - torch.logsumexp(scores[:, 1:], dim=-1)
        for item, value in zip(batch, odds.tolist(), strict=True):
            found[places[id(item)]] = value
    return found


def overlap(row: Row) -> float:
    """The share of a claim's words that stand in its evidence."""
    words, known = fold(row.claim).split(), set(row.document.split())
    return sum(word in known for word in words) / max(1, len(words))


def ranked(rows: Sequence[Row], scores: Sequence[float]) -> float:
    """AUROC of supported against the rest; not a number where one side is missing."""
    value = auroc(np.array([row.label == "supported" for row in rows]), np.array(scores)).value
    return float("nan") if value is None else value


def rows_to_judge(data: Path, part: Part, seed: int = 5) -> dict[str, list[Row]]:
    """The rows of one side by kind: `sets`, `edits`, one entry a batch of scenarios, one a set of answers."""
    rows = [row for row in load_training_sets(data) if part_of(row) == part]
    plain = [row for row in rows if row.source not in ANSWERS]
    found = {
        "sets": mix(plain, seed)[:1_200],
        "edits": make_rows([row for row in plain if row.source in EDITABLE], 600, seed),
    }
    count = OnnxCrossEncoder.load(WEIGHTS).count_tokens
    for batch, scenarios in scenario_batches("fit" if part == "fit" else "test").items():
        found[f"scenario:{batch}"] = [
            row for row, _ in rows_of(scenarios, batch, count, (TOKENS,), random.Random(seed))
        ]
    for row in as_read([row for row in rows if row.source in ANSWERS], (TOKENS,), seed):
        found.setdefault(row.source, []).append(row)
    return found


def main() -> None:
    """Read arguments, judge, print a line for each kind of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=("fit", "test"), default="fit")
    parser.add_argument("checkpoints", type=Path, nargs="+", help="folders with model/, as train.network writes them")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    rows = rows_to_judge(given.data, given.part)
    tokenizer = AutoTokenizer.from_pretrained(given.checkpoints[0] / "model")
    items = {name: encode(tokenizer, some, Settings(), None) for name, some in rows.items()}
    for kind in ("scenario:", ASSEMBLED):
        rows[kind + "all"] = [row for name, some in rows.items() if name.startswith(kind) for row in some]
        items[kind + "all"] = [item for name, some in items.items() if name.startswith(kind) for item in some]
    table: dict[str, list[str]] = {
        name: [f"{len(some):6}", f"{ranked(some, [overlap(row) for row in some]):8.3f}"]
        for name, some in rows.items()
        if name not in ("sets", "edits")
    }
    for folder in given.checkpoints:
        model = load_two_heads(folder / "model")
        figures = {name: evaluate(model, items[name]) for name in ("sets", "edits")}
        print(
            folder.name, {name: {k: round(v, 3) for k, v in one.items()} for name, one in figures.items()}, flush=True
        )
        for name, line in table.items():
            line.append(f"{ranked(rows[name], support(model, items[name]).tolist()):14.3f}")
    print(f"{'AUROC':40}  rows  overlap" + "".join(f"{folder.name:>14}" for folder in given.checkpoints))
    for name, line in table.items():
        print(f"{name:40}" + "".join(line))


if __name__ == "__main__":
    main()
