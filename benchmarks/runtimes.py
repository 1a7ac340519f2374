"""The embedded network under ONNX Runtime and under OpenVINO (extra `openvino`): how fast, and how far apart.

    python -m benchmarks.runtimes [--model DIR] [--runs 30] [--tokens 64,128,256] [--rows 300] [FILE ...]

Speed: one pair at a time on one thread, the two run in turn in one process; processor time of that thread, so that
other jobs on the machine count little. FILE is a row file as `assay eval` reads them (`.jsonl.gz`): of each, the
given number of rows drawn by a fixed seed is judged by both, and the table says what that changes.
"""

from __future__ import annotations

import argparse
import platform
import random
import statistics
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from train.agreement import by_set, summary, table
from train.premises import premise
from train.rows import Row, detokenise, read_rows

from assay.models.cross_encoder import find_graph
from assay.models.load import load_scorer
from assay.models.manifest import EMBEDDED
from assay.models.runtime import RUNTIMES, NetworkSession, start_session

PREMISE_WORDS = 100
"""As in training."""


def feed_of(session: NetworkSession, tokens: int) -> dict[str, NDArray[np.int64]]:
    """One pair of random tokens, the last twenty of them the claim."""
    given = {
        "input_ids": np.random.default_rng(tokens).integers(1_000, 30_000, (1, tokens)),
        "token_type_ids": (np.arange(tokens) >= tokens - 20).astype(np.int64)[None],
        "attention_mask": np.ones((1, tokens), np.int64),
    }
    return {name: given[name] for name in session.inputs}


def speed(graph: Path, lengths: list[int], runs: int) -> None:
    """Print a row for each length: the medians, the least, and how many times as fast OpenVINO is."""
    sessions = {}
    for runtime in RUNTIMES:
        begin = time.process_time()
        sessions[runtime] = start_session(graph, runtime, 1)
        print(f"{runtime}: loaded in {time.process_time() - begin:.2f} s of processor time")
    print("\n| tokens | ONNX Runtime, median ms (least) | OpenVINO | OpenVINO is times as fast (by the least) |")
    print("|---|---|---|---|")
    for tokens in lengths:
        spent: dict[str, list[float]] = {runtime: [] for runtime in RUNTIMES}
        for turn in range(runs + 3):
            for runtime, session in sessions.items():
                feed = feed_of(session, tokens)
                begin = time.thread_time()
                session.run(feed)
                if turn >= 3:  # the first runs prepare for the length
                    spent[runtime].append((time.thread_time() - begin) * 1_000)
        one, other = (spent[runtime] for runtime in ("onnxruntime", "openvino"))
        middle, other_middle = statistics.median(one), statistics.median(other)
        print(
            f"| {tokens} | {middle:.2f} ({min(one):.2f}) | {other_middle:.2f} ({min(other):.2f}) | "
            f"{middle / other_middle:.2f} ({min(one) / min(other):.2f}) |",
            flush=True,
        )


def pair_of(row: Row) -> tuple[str, str]:
    """Premise and claim as the network reads them in training."""
    claim = f"{row.question} {row.claim}" if row.question else row.claim
    return detokenise(premise(row.evidence, claim, PREMISE_WORDS)), detokenise(claim)


def agreement(model: Path, files: list[Path], count: int) -> None:
    """Print how far apart the two lie on rows of each file."""
    rows = []
    for file in files:
        found = list(read_rows(file))
        rows += random.Random(file.name).sample(found, min(count, len(found)))
    pairs = [pair_of(row) for row in rows]
    one, other = (
        np.asarray(load_scorer(model, threads=1, runtime=runtime).score(pairs), dtype=np.float64)
        for runtime in ("onnxruntime", "openvino")
    )
    print()
    print("\n".join(summary(one, other)), end="\n\n")
    print("\n".join(table(by_set(one, other, rows), "by ONNX Runtime", "by OpenVINO")))


def main() -> None:
    """Read arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="row files that both judge")
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="another network's folder")
    parser.add_argument("--tokens", default="64,128,256", help="lengths of the pairs, in tokens")
    parser.add_argument("--runs", type=int, default=30, help="runs of each runtime at each length")
    parser.add_argument("--rows", type=int, default=300, help="rows of each file")
    arguments = parser.parse_args()
    graph = find_graph(arguments.model)
    if graph is None:
        raise SystemExit(f"{arguments.model}: no ONNX graph there.")
    print(f"{platform.machine()}, {platform.system()}")
    if arguments.runs:
        speed(graph, [int(tokens) for tokens in arguments.tokens.split(",")], arguments.runs)
    if arguments.files:
        agreement(arguments.model, arguments.files, arguments.rows)


if __name__ == "__main__":
    main()
