"""What int8 costs: the float checkpoint and its export on the same held-out pairs.

    python -m train.compare_export --run .work/run --weights src/assay/models/weights --data ../shared/data \
        [--runtime openvino]

Prints three-way accuracy, balanced accuracy of supported against the rest, how far the probabilities move, and the
same for each set. Two runtimes of one export are held against each other by `benchmarks/runtimes.py`.
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
from assay.models.runtime import DEFAULT_RUNTIME, GRAPH_RUNTIMES
from train.agreement import balanced, by_set, summary, table
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


def main() -> None:
    """Read arguments, score twice, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="the folder that training wrote")
    parser.add_argument("--weights", type=Path, required=True, help="the folder of the export")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2_000, help="held-out rows, of all sets as they are mixed")
    parser.add_argument("--runtime", choices=GRAPH_RUNTIMES, default=DEFAULT_RUNTIME, help="what runs the export")
    arguments = parser.parse_args()
    rows = mix([row for row in load_training_sets(arguments.data) if part_of(row) == "test"], 3)[: arguments.rows]
    pairs = [pair(row, Settings().premise_words, None) for row in rows]
    exact = float_scores(arguments.run / "model", pairs)
    int8 = np.asarray(load_scorer(arguments.weights, runtime=arguments.runtime).score(pairs), dtype=np.float64)
    for name, scores in (("float32", exact), ("int8", int8)):
        accuracy, share = figures(scores, rows)
        print(f"{name:8} accuracy {accuracy:.4f}  balanced accuracy {share:.4f}")
    print("\n".join(summary(exact, int8)), end="\n\n")
    print("\n".join(table(by_set(exact, int8, rows), "in float", "in int8")))


if __name__ == "__main__":
    main()
