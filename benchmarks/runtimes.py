"""The embedded network under ONNX Runtime and under OpenVINO (extra `openvino`): how fast, and how far apart.

    python -m benchmarks.runtimes [--model DIR] [--runs 30] [--tokens 64,128,256] [--rows 300] [FILE ...]

Speed: one pair at a time on one thread, the two run in turn in one process; processor time of that thread, so that
other jobs on the machine count little. FILE is a row file as `assay eval` reads them (`.jsonl.gz`): of each, the
given number of rows drawn by a fixed seed is judged by both, and by the same weights with activations in float
(OpenVINO's own translation without dynamic quantisation), so that one sees whether the two are equally near to it.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import random
import statistics
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from train.agreement import by_set, right_where_apart, summary, table
from train.premises import premise
from train.rows import Row, detokenise, read_rows

from assay.models.cross_encoder import find_graph
from assay.models.labels import read_labels
from assay.models.load import load_scorer
from assay.models.manifest import EMBEDDED, read_json
from assay.models.openvino_session import OpenVinoSession
from assay.models.pair_tokens import load_tokenizer
from assay.models.runtime import GRAPH_RUNTIMES, NetworkSession, start_session

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
    for runtime in GRAPH_RUNTIMES:
        begin = time.process_time()
        sessions[runtime] = start_session(graph, runtime, 1)
        print(f"{runtime}: loaded in {time.process_time() - begin:.2f} s of processor time")
    print("\n| tokens | ONNX Runtime, median ms (least) | OpenVINO | OpenVINO is times as fast (by the least) |")
    print("|---|---|---|---|")
    for tokens in lengths:
        spent: dict[str, list[float]] = {runtime: [] for runtime in GRAPH_RUNTIMES}
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


def unquantised(model: Path, graph: Path, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
    """Probabilities by the stored int8 weights and activations in float, of shape (pairs, 3)."""
    import openvino  # its telemetry is off: the runtime was loaded before

    core = openvino.Core()
    found = core.read_model(str(graph))
    settings = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}
    session = OpenVinoSession(core.compile_model(found, "CPU", settings), graph)
    rows = []
    for tokens in load_tokenizer(model / "tokenizer.json").encode(pairs):
        given = {"input_ids": tokens.ids, "token_type_ids": tokens.types, "attention_mask": [1] * len(tokens.ids)}
        rows.append(session.run({name: np.array([given[name]], np.int64) for name in session.inputs})[0][0])
    logits = np.stack(rows)
    labels = read_labels(read_json(model / "config.json"), model / "config.json", logits.shape[1])
    return np.asarray(labels.probabilities(logits), dtype=np.float64)


def agreement(model: Path, graph: Path, files: list[Path], count: int) -> None:
    """Print how far apart the ways lie on rows of each file."""
    rows = []
    for file in files:
        found = list(read_rows(file))
        rows += random.Random(file.name).sample(found, min(count, len(found)))
    pairs = [pair_of(row) for row in rows]
    one, other = (
        np.asarray(load_scorer(model, threads=1, runtime=runtime).score(pairs), dtype=np.float64)
        for runtime in ("onnxruntime", "openvino")
    )
    exact = unquantised(model, graph, pairs)
    ways = {"with activations in float": exact, "by ONNX Runtime": one, "by OpenVINO": other}
    for first, second in itertools.combinations(ways, 2):
        print(f"\n## {first} and {second}\n")
        print("\n".join(summary(ways[first], ways[second])))
        right = right_where_apart(ways[first], ways[second], rows)
        print(f"where they lie on two sides of 0.5, {right[0]} are right {first}, {right[1]} {second}\n")
        print("\n".join(table(by_set(ways[first], ways[second], rows), first, second)), flush=True)


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
        agreement(arguments.model, graph, arguments.files, arguments.rows)


if __name__ == "__main__":
    main()
