"""How fast the network tier is, beside the loops that people use instead, on the machine at hand.

    python -m benchmarks.speed [--model DIR] [--torch-python PYTHON --checkpoint DIR] [--sections NAMES] [--json FILE]

Sections: `pairs` (the same pairs by the same weights: pipeline one by one, sentence-transformers, assay), `lengths`
(the same loops at premises of about 48 and 256 tokens), `batching` (why one pair a run; for graphs with an attention
mask), `typical` (6 claims, 5 passages of 200 words), `start` (import, first check, memory) and `scaling`
(to 500 claims and 1 MB of evidence). Without `--torch-python`, an interpreter with torch, transformers and
sentence-transformers, and `--checkpoint`, a float checkpoint of the same network, the loops are skipped. Run it on an
idle machine; ratios within one run are what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.speed_texts import passage, sentence, typical

from assay.models.cross_encoder import OnnxCrossEncoder, usable_cpus
from assay.models.labels import read_labels
from assay.models.manifest import EMBEDDED, read_json
from assay.models.pair_tokens import Tokens, load_tokenizer
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.schema import Evidence
from assay.verify.network.entailment import judge

HERE = Path(__file__).parent
SECTIONS = ("pairs", "lengths", "batching", "typical", "start", "scaling")


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(f"{c:.3g}" if isinstance(c, float) else str(c) for c in row) + " |")
    sys.stdout.flush()


def seconds_of(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def evidence_of(texts: Sequence[str]) -> list[Evidence]:
    """Texts as numbered evidence."""
    return [Evidence(id=f"e{i:05}", text=text) for i, text in enumerate(texts)]


def time_pairs(args: argparse.Namespace, scorer: OnnxCrossEncoder) -> dict[str, Any]:
    """All claims times all chunks, by every loop; then assay with its ranking over the same texts."""
    claims, texts = typical(1, claims=args.claims, passages=5, words=200)
    index = EvidenceIndex(evidence_of(texts), scorer.count_tokens)
    chunks = [window.text for window in index.windows]
    pairs = [(chunk, claim) for claim in claims for chunk in chunks]
    scorer.score(pairs[:4])
    took = seconds_of(lambda: scorer.score(pairs))
    ours = scorer.score(pairs)

    def ranked() -> None:
        fresh = EvidenceIndex(evidence_of(texts), scorer.count_tokens)
        judge([fresh.candidates(claim) for claim in claims], scorer)

    loops = _torch_loops(args, pairs)
    times = {name: loop["seconds"] for name, loop in loops.items()}
    times["assay, same pairs"] = took
    times["assay, ranked windows"] = seconds_of(ranked)
    base = times.get("pipeline")
    rows = []
    for name, spent in times.items():
        count = (
            len(pairs) if name != "assay, ranked windows" else len(claims) * len(index.candidates(claims[0]).premises)
        )
        difference: object = "-"
        if name in loops:
            difference = float(np.abs(_three_columns(args, loops[name]["rows"]) - ours).max())
        ratio: object = base / spent if base else "-"
        rows.append((name, count, spent, len(claims) / spent, count / spent, ratio, difference))
    head = (
        "loop",
        "pairs",
        "seconds",
        "claims/s",
        "pairs/s",
        "times the pipeline",
        "largest difference of probability",
    )
    table(f"Same weights: {len(claims)} claims x {len(chunks)} chunks", head, rows)
    return {"claims": len(claims), "chunks": len(chunks), "seconds": times}


def time_lengths(args: argparse.Namespace, scorer: OnnxCrossEncoder) -> dict[str, Any]:
    """Pairs a second of every loop at premises of about 48 and 256 tokens; assay before and after the others."""
    import random

    rng = random.Random(3)
    lines: list[tuple[object, ...]] = []
    for tokens, number in ((48, 192), (256, 48)):
        pairs: list[tuple[str, str]] = []
        while len(pairs) < number:
            text = passage(rng, tokens)
            while scorer.count_tokens([text])[0] > tokens:
                text = text.rsplit(" ", 1)[0]
            pairs.append((text, sentence(rng)))
        scorer.score(pairs[:4])
        ours = partial(scorer.score, pairs)
        first = seconds_of(ours)
        times = {name: loop["seconds"] for name, loop in _torch_loops(args, pairs).items()}
        times["assay"] = (first + seconds_of(ours)) / 2
        base = times.get("sentence-transformers")
        lines += [(tokens, name, number / t, base / t if base else "-") for name, t in times.items()]
    table("Pairs a second by length", ("premise tokens", "loop", "pairs/s", "times sentence-transformers"), lines)
    return {"rows": [list(map(str, line)) for line in lines]}


def _torch_loops(args: argparse.Namespace, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    if not args.torch_python or not args.checkpoint:
        print("\nThe torch loops are skipped: give --torch-python and --checkpoint to time them.")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.json"
        path.write_text(json.dumps(pairs), encoding="utf-8")
        command = [args.torch_python, str(HERE / "speed_torch.py"), args.checkpoint, str(path)]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(usable_cpus())}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"speed_torch.py failed:\n{done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def _three_columns(args: argparse.Namespace, rows: Sequence[Sequence[float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The outputs of a torch loop as entailment, neutral, contradiction."""
    config_path = Path(args.checkpoint) / "config.json"
    order = read_labels(read_json(config_path), config_path, len(rows[0]))
    given = np.array(rows)
    contradiction = given[:, order.contradiction] if order.contradiction is not None else np.zeros(len(given))
    entailment = given[:, order.entailment]
    return np.stack([entailment, 1 - entailment - contradiction, contradiction], axis=1)


def _padded(rows: Sequence[Tokens]) -> dict[str, Any]:
    width = max(len(r.ids) for r in rows)
    fill = np.zeros((3, len(rows), width), np.int64)
    for i, row in enumerate(rows):
        n = len(row.ids)
        fill[0, i, :n], fill[1, i, :n], fill[2, i, :n] = row.ids, 1, row.types
    return {"input_ids": fill[0], "attention_mask": fill[1], "token_type_ids": fill[2]}


def _batches(rows: Sequence[Tokens], budget: int) -> list[list[Tokens]]:
    """Rows by length in batches whose padded size is within the budget; 0 is one row a batch."""
    made: list[list[Tokens]] = []
    for row in sorted(rows, key=lambda r: -len(r.ids)):
        if made and len(made[-1][0].ids) * (len(made[-1]) + 1) <= budget:
            made[-1].append(row)
        else:
            made.append([row])
    return made


def time_batching(args: argparse.Namespace, _: OnnxCrossEncoder) -> dict[str, Any]:
    """Pairs a second by token budget and threads, and how far batching moves the raw score of a pair."""
    import onnxruntime

    directory = Path(args.model)
    graph = onnxruntime.InferenceSession(str(directory / "model.onnx"))
    if "attention_mask" not in {i.name for i in graph.get_inputs()}:
        print("\nThe section `batching` is skipped: this graph has no attention mask, its pairs cannot be padded.")
        return {}
    claims, texts = typical(2, claims=8)
    tokenizer = load_tokenizer(directory / "tokenizer.json")
    index = EvidenceIndex(evidence_of(texts), tokenizer.count)
    pairs = [(p.text, claim) for claim in claims for p in index.candidates(claim, passages=4).premises]
    rows = tokenizer.encode(pairs)
    lines: list[tuple[object, ...]] = []
    alone: dict[int, Any] = {}
    for inside, workers in ((1, 1), (2, 1), (1, 2)):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = inside
        session = onnxruntime.InferenceSession(str(directory / "model.onnx"), options)
        names = {i.name for i in session.get_inputs()}
        for budget in (0, 300, 512, 1024, 2048):
            batches = _batches(rows, budget)
            feeds = [{k: v for k, v in _padded(b).items() if k in names} for b in batches]
            session.run(None, feeds[0])
            result: dict[int, Any] = {}

            def work(
                begin: int,
                feeds: list[Any],
                batches: list[list[Tokens]],
                result: dict[int, Any],
                session: Any,
                step: int,
            ) -> None:
                for feed, batch in list(zip(feeds, batches, strict=True))[begin::step]:
                    for row, logits in zip(batch, session.run(None, feed)[0], strict=True):
                        result[id(row)] = logits

            threads = [
                threading.Thread(target=work, args=(i, feeds, batches, result, session, workers))
                for i in range(workers)
            ]
            begin = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            spent = time.perf_counter() - begin
            alone = alone or result
            moved = float(max(np.abs(result[key] - alone[key]).max() for key in result))
            lines.append((inside, workers, budget or "one pair", len(rows) / spent, moved))
    head = ("threads in a run", "runs at once", "token budget", "pairs/s", "largest move of a raw score")
    table(f"Batching: {len(rows)} pairs of {sum(len(r.ids) for r in rows) / len(rows):.0f} tokens", head, lines)
    return {"rows": [list(map(str, line)) for line in lines]}


def time_typical(args: argparse.Namespace, scorer: OnnxCrossEncoder) -> dict[str, Any]:
    """Milliseconds for 6 claims against 5 passages of 200 words, nothing of it seen before.

    The time of the processors, all threads together, says on a busy machine what an idle one would need.
    """
    lines: list[tuple[object, ...]] = []
    texts = [typical(100 + seed) for seed in range(args.repeat + 1)]
    for passages in (1, 2, 3):
        works = [partial(_check_with_tier, claims, evidence, scorer, passages) for claims, evidence in texts]
        lines.append((f"network tier, {passages} windows a claim", *_latencies(works)))
    guard = _guard(args)
    if guard is not None:
        checks = [partial(guard.check, " ".join(claims), evidence=evidence) for claims, evidence in texts]
        lines.append(("assay.Guard, everything", *_latencies(checks)))
    head = ("what", "median ms", "p95 ms", "median processor ms")
    table("Typical answer: 6 claims, 5 passages of 200 words", head, lines)
    return {str(line[0]): line[1:] for line in lines}


def _latencies(works: Sequence[Callable[[], object]]) -> tuple[float, float, float]:
    """Median and 95th percentile of the wall clock, and the median of processor time; the first call only warms up."""
    works[0]()
    wall, processor = [], []
    for work in works[1:]:
        before = time.process_time()
        wall.append(1e3 * seconds_of(work))
        processor.append(1e3 * (time.process_time() - before))
    return statistics.median(wall), float(np.percentile(wall, 95)), statistics.median(processor)


def _check_with_tier(claims: Sequence[str], texts: Sequence[str], scorer: OnnxCrossEncoder, passages: int) -> None:
    index = EvidenceIndex(evidence_of(texts), scorer.count_tokens, PremiseOptions(passages=passages))
    judge([index.candidates(claim) for claim in claims], scorer)


def _guard(args: argparse.Namespace) -> Any:
    """The guard with this network, none where it cannot be built."""
    import assay
    from assay.errors import AssayError

    try:
        return assay.Guard() if Path(args.model) == EMBEDDED else assay.Guard(model=args.model)
    except AssayError as error:
        print(f"\nassay.Guard is skipped: {error}")
        return None


START = """
import sys, time
begin = time.perf_counter()
import assay
imported = time.perf_counter() - begin
if {guard}:
    assay.check("The ferry leaves at six.", evidence=["The ferry leaves at seven."])
else:
    from assay.models.cross_encoder import OnnxCrossEncoder
    from assay.retrieve.premises import EvidenceIndex
    from assay.schema import Evidence
    from assay.verify.network.entailment import judge
    scorer = OnnxCrossEncoder.load({model!r})
    index = EvidenceIndex([Evidence(id="e", text="The ferry leaves at seven.")], scorer.count_tokens)
    judge([index.candidates("The ferry leaves at six.")], scorer)
spent = time.perf_counter() - begin
status = open("/proc/self/status").read()  # getrusage would count what the parent had before exec
print(imported, spent, int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


def time_start(args: argparse.Namespace, _: OnnxCrossEncoder) -> dict[str, Any]:
    """Import, the first check of a fresh process, and its peak memory; median of several processes."""
    guard = Path(args.model) == EMBEDDED
    code = START.format(guard=guard, model=str(args.model))
    runs = []
    for _n in range(args.repeat // 4 + 2):
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        whole = time.perf_counter() - begin
        if done.returncode != 0:
            raise SystemExit(f"the first check failed:\n{done.stderr[-2000:]}")
        runs.append([*map(float, done.stdout.split()), whole])
    middle = [statistics.median(column) for column in zip(*runs[1:], strict=True)]
    what = "assay.check" if guard else "network tier"
    rows = [
        ("import assay", 1e3 * middle[0], "ms"),
        (f"import and first check ({what})", 1e3 * middle[1], "ms"),
        ("the same from starting the process to its end", 1e3 * middle[3], "ms"),
        ("peak memory", middle[2], "MB"),
    ]
    table("A fresh process", ("what", "median", "unit"), rows)
    return {row[0]: row[1] for row in rows}


def time_scaling(args: argparse.Namespace, scorer: OnnxCrossEncoder) -> dict[str, Any]:
    """Seconds by stage as claims grow to 500 and evidence to 1 MB."""
    import random

    rng = random.Random(5)
    whole = [passage(rng, 200) for _ in range(1_000)]
    lines: list[tuple[object, ...]] = []
    cases = [(n, 20_000) for n in (10, 50, 100, 500)] + [(20, size) for size in (10_000, 100_000, 1_000_000)]
    for claims, size in cases:
        texts: list[str] = []
        while sum(map(len, texts)) < size:
            texts.append(whole[len(texts) % len(whole)])
        asked = [sentence(rng) for _ in range(claims)]
        begin = time.perf_counter()
        index = EvidenceIndex(evidence_of(texts), scorer.count_tokens)
        cut = time.perf_counter()
        work = [index.candidates(claim) for claim in asked]
        ranked = time.perf_counter()
        if args.no_network:
            lines.append((claims, size, len(index.windows), cut - begin, ranked - cut, "-", "-"))
            continue
        judge(work, scorer)
        end = time.perf_counter()
        lines.append(
            (claims, size, len(index.windows), cut - begin, ranked - cut, end - ranked, (end - begin) / claims)
        )
    head = ("claims", "evidence characters", "windows", "cut and index s", "rank s", "network s", "s a claim")
    table("Growth", head, lines)
    return {"rows": [list(map(str, line)) for line in lines]}


def main() -> None:
    """Run the sections asked for and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(EMBEDDED), help="directory of the network; the embedded one by default")
    parser.add_argument("--checkpoint", help="float checkpoint of the same network, for the torch loops")
    parser.add_argument("--torch-python", help="an interpreter with torch, transformers and sentence-transformers")
    parser.add_argument("--sections", default=",".join(SECTIONS), help="comma-separated: " + ", ".join(SECTIONS))
    parser.add_argument("--claims", type=int, default=12, help="claims of the section `pairs`")
    parser.add_argument("--repeat", type=int, default=20, help="answers of the section `typical`")
    parser.add_argument("--threads", type=int, help="pairs judged at once; the usable CPUs by default")
    parser.add_argument("--no-network", action="store_true", help="in `scaling`, leave out the network itself")
    parser.add_argument("--json", help="also write the figures to this file")
    args = parser.parse_args()
    wanted = args.sections.split(",")
    unknown = sorted(set(wanted) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    scorer = OnnxCrossEncoder.load(args.model, threads=args.threads)
    load = os.getloadavg()[0]
    print(f"{scorer.name}, {scorer.digest[:12]}, {usable_cpus()} CPUs, load at the start {load:.1f}")
    sections = {
        "pairs": time_pairs,
        "lengths": time_lengths,
        "batching": time_batching,
        "typical": time_typical,
        "start": time_start,
        "scaling": time_scaling,
    }
    figures = {name: sections[name](args, scorer) for name in wanted}
    if args.json:
        Path(args.json).write_text(json.dumps({"load": load, **figures}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
