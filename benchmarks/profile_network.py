"""Where the time of one pair goes in the network, and what share of the processor's int8 peak it reaches.

    nice python benchmarks/profile_network.py [--model DIR] [--tokens 64,128,256] [--runs 40]

One pair at a time on one thread, as in use. Times are processor time of that thread, the quartile of several runs:
other jobs slow it by shared caches and clock, but do not count otherwise. The peak is measured in the same run by a
compiled loop of VNNI instructions that touches no memory, interleaved with the runs of the network; without a C
compiler or such instructions the share is left out. Multiply-adds are counted from the shapes that the runtime reports,
those of attention in float included; what the graph leaves out (rows of the last layer) is not counted.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from assay.models.cross_encoder import find_graph
from assay.models.manifest import EMBEDDED

LOOP = r"""
#include <immintrin.h>
#include <stdio.h>
#include <time.h>
int main(void) {
  __m512i sums[12], x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(2);
  for (int i = 0; i < 12; i++) sums[i] = _mm512_setzero_si512();
  double best = 0;
  for (int round = 0; round < 8; round++) {
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (long k = 0; k < 1000000; k++) {
      for (int i = 0; i < 12; i++) sums[i] = _mm512_dpbusd_epi32(sums[i], x, y);
      __asm__ volatile("" ::"x"(x));
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    double spent = (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);
    if (12e6 * 64 / spent / 1e9 > best) best = 12e6 * 64 / spent / 1e9;
  }
  int sum = 0;
  for (int i = 0; i < 12; i++) sum += _mm512_reduce_add_epi32(sums[i]);
  printf("%.1f %d\n", best, sum);
  return 0;
}
"""


class Peak:
    """The most int8 multiply-adds a second of one core, by a loop compiled once."""

    def __init__(self, folder: Path) -> None:
        self.program: Path | None = None
        self.best = 0.0
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            print("No C compiler: the peak is not measured.")
            return
        source, program = folder / "peak.c", folder / "peak"
        source.write_text(LOOP, encoding="utf-8")
        command = [compiler, "-O3", "-mavx512f", "-mavx512vnni", str(source), "-o", str(program)]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode == 0 and subprocess.run([program], capture_output=True, check=False).returncode == 0:
            self.program = program
        else:
            print("The loop of VNNI instructions does not run here: the peak is not measured.")

    def measure(self) -> None:
        """Run the loop once more and keep the best."""
        if self.program is not None:
            done = subprocess.run([self.program], capture_output=True, text=True, check=True)
            self.best = max(self.best, float(done.stdout.split()[0]))


def session_of(graph: Path, *, profile: Path | None = None) -> Any:
    """The graph as `assay.models.onnx_session` loads it, with a trace on demand."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 4
    if profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def feed_of(session: Any, tokens: int) -> dict[str, NDArray[np.int64]]:
    """One pair of random tokens, the last twenty of them the claim."""
    rng = np.random.default_rng(tokens)
    given = {
        "input_ids": rng.integers(1_000, 30_000, (1, tokens)),
        "token_type_ids": (np.arange(tokens) >= tokens - 20).astype(np.int64)[None],
        "attention_mask": np.ones((1, tokens), np.int64),
    }
    return {i.name: given[i.name] for i in session.get_inputs()}


def multiply_adds(kind: str, first: Sequence[int], made: Sequence[int]) -> int:
    """What an operator multiplies; 0 for one that is no product.

    Args:
        kind: the operator.
        first: the shape of its first input; those of packed weights are not reported.
        made: the shape of its first output.
    """
    size = int(np.prod(made))
    if kind == "MultiHeadAttention":
        return 2 * size * first[1]
    if kind in ("QAttention", "Attention"):
        return 3 * size * first[-1] + 2 * size * first[1]
    return size * first[-1] if "MatMul" in kind or kind == "Gemm" else 0


def guess_shape(event: Mapping[str, Any], side: str) -> list[int]:
    """The first shape that a trace reports for the inputs or outputs of a node."""
    reported = event["args"].get(f"{side}_type_shape") or [{"": []}]
    return list(next(iter(reported[0].values())))


def trace(graph: Path, tokens: int, runs: int, folder: Path) -> tuple[dict[str, list[float]], int]:
    """By operator kind: how many there are, microseconds of all, multiply-adds of all."""
    session = session_of(graph, profile=folder / "trace")
    feed = feed_of(session, tokens)
    for _ in range(runs):
        session.run(["logits"], feed)
    events: list[Mapping[str, Any]] = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    spent: dict[tuple[str, str], list[float]] = defaultdict(list)
    work: dict[tuple[str, str], int] = {}
    for event in events:
        if event.get("cat") == "Node" and str(event["name"]).endswith("_kernel_time"):
            key = (str(event["args"]["op_name"]), str(event["name"]))
            spent[key].append(float(event["dur"]))
            work[key] = multiply_adds(key[0], guess_shape(event, "input") or [0], guess_shape(event, "output"))
    table: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for key, times in spent.items():
        row = table[key[0]]
        row[0] += 1
        row[1] += float(np.percentile(times[len(times) // 5 :], 25))
        row[2] += work[key]
    return dict(table), sum(work.values())


def milliseconds(graph: Path, tokens: int, runs: int, peak: Peak) -> float:
    """Processor time of one pair without a trace, the peak measured in between."""
    session = session_of(graph)
    feed = feed_of(session, tokens)
    session.run(["logits"], feed)
    times = []
    for number in range(runs):
        if number % 10 == 0:
            peak.measure()
        begin = time.thread_time()
        session.run(["logits"], feed)
        times.append(1e3 * (time.thread_time() - begin))
    return float(np.percentile(times, 25))


def main() -> None:
    """Print a table for every length, then the shares of the peak."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="directory of the network; the embedded one else")
    parser.add_argument("--tokens", default="64,128,256", help="lengths of the pair, comma-separated")
    parser.add_argument("--runs", type=int, default=40)
    args = parser.parse_args()
    graph = find_graph(args.model)
    if graph is None:
        parser.error(f"{args.model}: no ONNX graph in it")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        peak = Peak(Path(folder))
        for tokens in map(int, args.tokens.split(",")):
            table, work = trace(graph, tokens, args.runs, Path(folder))
            whole = sum(row[1] for row in table.values())
            print(
                f"\n## {tokens} tokens\n\n| operator | number | microseconds | share | GMAC/s |\n|---|---|---|---|---|"
            )
            for kind, (number, spent, macs) in sorted(table.items(), key=lambda item: -item[1][1]):
                speed = f"{macs / spent / 1e3:.0f}" if macs else ""
                if spent > whole / 500:
                    print(f"| {kind} | {number:.0f} | {spent:.0f} | {spent / whole:.1%} | {speed} |")
            lines.append((tokens, milliseconds(graph, tokens, args.runs, peak), work))
    print(f"\n## One pair on one core ({platform.machine()}), peak {peak.best:.0f} GMAC/s in int8\n")
    print("| tokens | processor ms | GMAC | GMAC/s | share of the peak |\n|---|---|---|---|---|")
    for tokens, taken, work in lines:
        rate = work / taken / 1e6
        share = f"{rate / peak.best:.0%}" if peak.best else "-"
        print(f"| {tokens} | {taken:.2f} | {work / 1e9:.2f} | {rate:.0f} | {share} |")


if __name__ == "__main__":
    main()
