"""What int8 costs: the float checkpoint and its export on the same held-out pairs.

    python -m train.compare_export --run .work/run --weights src/assay/models/weights --data ../shared/data

Prints three-way accuracy, balanced accuracy of supported against the rest, how far the probabilities move, and the
same for each set.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoTokenizer

from assay.models.load import load_scorer
from train.network import TARGETS, Settings, pair
from train.rows import Row, load_training_sets, mix, part_of
from train.two_heads import load_two_heads

BATCH = 16
"""Pairs of about the same length that torch judges at once."""


def float_scores(checkpoint: Path, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Probabilities of the float network, of shape (pairs, 3)."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = load_two_heads(checkpoint).eval()
    encoded = tokenizer([p for p, _ in pairs], [c for _, c in pairs], truncation="longest_first", max_length=512)
    order = sorted(range(len(pairs)), key=lambda i: len(encoded["input_ids"][i]))
    scores = np.zeros((len(pairs), 3))
    for begin in range(0, len(order), BATCH):
        chosen = order[begin : begin + BATCH]
        batch = tokenizer.pad({name: [encoded[name][i] for i in chosen] for name in encoded}, return_tensors="pt")
        with torch.no_grad():
            logits, _ = model(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
        scores[chosen] = logits.softmax(-1).numpy()
    return scores


def figures(scores: NDArray[np.float64], rows: Sequence[Row]) -> tuple[float, float]:
    """Three-way accuracy over rows of three-way labels, and balanced accuracy of supported against the rest."""
    targets = np.array([TARGETS[row.label] for row in rows])
    three = targets < 3
    accuracy = float((scores[three].argmax(1) == targets[three]).mean())
    supported, said = targets == 0, scores[:, 0] >= 0.5
    return accuracy, balanced(said, supported)


def balanced(said: NDArray[np.bool_], supported: NDArray[np.bool_]) -> float:
    """Balanced accuracy of "supported"; where only one class is there, the share of it that is found."""
    parts = [part.mean() for part in (said[supported], ~said[~supported]) if part.size]
    return float(np.mean(parts)) if parts else float("nan")


def by_set(
    exact: NDArray[np.float64], int8: NDArray[np.float64], rows: Sequence[Row]
) -> list[tuple[str, int, float, float, float, float]]:
    """For each set: rows, balanced accuracy in float and in int8, pairs on another side of 0.5, mean move.

    A difference of a few rows is chance: the fourth column says how many pairs it can come from at all.
    """
    lines = []
    for name in sorted({row.source for row in rows}):
        chosen = np.array([row.source == name for row in rows])
        supported = np.array([TARGETS[row.label] == 0 for row in rows])[chosen]
        before, after = exact[chosen, 0] >= 0.5, int8[chosen, 0] >= 0.5
        moved = float(np.abs(exact[chosen] - int8[chosen]).max(axis=1).mean())
        flipped = float((before != after).mean())
        lines.append((name, len(before), balanced(before, supported), balanced(after, supported), flipped, moved))
    return lines


def main() -> None:
    """Read arguments, score twice, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="the folder that training wrote")
    parser.add_argument("--weights", type=Path, required=True, help="the folder of the export")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2_000, help="held-out rows, of all sets as they are mixed")
    arguments = parser.parse_args()
    rows = mix([row for row in load_training_sets(arguments.data) if part_of(row) == "test"], 3)[: arguments.rows]
    pairs = [pair(row, Settings().premise_words, None) for row in rows]
    exact = float_scores(arguments.run / "model", pairs)
    int8 = np.asarray(load_scorer(arguments.weights).score(pairs), dtype=np.float64)
    for name, scores in (("float32", exact), ("int8", int8)):
        accuracy, balanced = figures(scores, rows)
        print(f"{name:8} accuracy {accuracy:.4f}  balanced accuracy {balanced:.4f}")
    moved = np.abs(exact - int8).max(axis=1)
    agree = float((exact.argmax(1) == int8.argmax(1)).mean())
    print(f"{len(rows)} pairs: labels agree on {agree:.2%}")
    print(f"probabilities move by {moved.mean():.4f} on average, {moved.max():.3f} at most")
    print("\n| set | rows | balanced in float | in int8 | lost | other side of 0.5 | mean move |")
    print("|---|---|---|---|---|---|---|")
    for name, number, before, after, flipped, mean in by_set(exact, int8, rows):
        print(
            f"| {name} | {number} | {before:.3f} | {after:.3f} | {before - after:+.3f} | {flipped:.1%} | {mean:.4f} |"
        )


if __name__ == "__main__":
    main()
