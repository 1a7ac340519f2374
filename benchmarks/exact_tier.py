"""Speed of the exact tier, and with `--data DIR` its figures on labelled rows.

    python benchmarks/exact_tier.py
    python benchmarks/exact_tier.py --data DIR/train --errors 10

The speed part prints the median milliseconds of processor time to index five passages of 200 words and to check six
claims against them, for the answer of `assay bench`, most of whose claims are sentences of the evidence, and for
claims that only share words with it; then how both grow with evidence up to a megabyte and five hundred claims. Every
answer is another one over evidence indexed anew, so nothing is remembered from one to the next. The data part reads
rows as `assay eval` takes them, checks each sentence of a claim by itself, and prints for each set the AUROC of
one minus the strongest contradiction, supported rows against the rest, the AUROC of the word recall beside it, and the
precision of contradictions at confidence 0.8 and more.
"""

import argparse
import gzip
import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.cli.bench import sample
from assay.schema import Evidence
from assay.text.lexicon.lexemes import word_list
from assay.text.sentences.splitting import split_sentences
from assay.verify.exact import ExactResult, check_exact, index_evidence

_SETS = (
    "fever_symmetric.dev",
    "fever_symmetric.test",
    "summedits_ectsum.all",
    "summedits_qmsumm.all",
    "summedits_sales_email.all",
    "summedits_samsum.all",
    "infotabs.dev",
    "breaking_nli.test",
)
_SURE = 0.8
_SUBJECTS = word_list("""Partners Caregivers Contractors Managers Interns Engineers Nurses Drivers Teachers Analysts""")
_VERBS = word_list("""receive request approve complete record extend return submit renew transfer""")
_OBJECTS = word_list("""leave equipment training expenses contracts invoices permits badges reports bonuses""")
_FILLER = word_list("""under the revised policy of the northern office with written notice to the central department""")


def _sentence(rng: random.Random) -> str:
    subject, verb, thing = rng.choice(_SUBJECTS), rng.choice(_VERBS), rng.choice(_OBJECTS)
    filler = " ".join(rng.sample(_FILLER, 9))
    number = rng.randint(2, 90)
    ending = rng.choice(
        (
            f"within {number} weeks",
            f"since March {rng.randint(1990, 2024)}",
            f"up to ${number},000",
            "every quarter",
            "",
        )
    )
    return f"{subject} {verb} {thing} {filler} {ending}".strip() + "."


def _passage(rng: random.Random, words: int) -> str:
    sentences: list[str] = []
    count = 0
    while count < words:
        sentences.append(_sentence(rng))
        count += len(sentences[-1].split())
    return " ".join(sentences)


def _median_ms(times: Sequence[float]) -> float:
    return statistics.median(times) * 1000


def _answer(rng: random.Random) -> tuple[list[str], list[Evidence]]:
    """Six claims and five passages made of the same few words: none is a sentence of the evidence."""
    evidence = [Evidence(id=f"p{n}", text=_passage(rng, 200)) for n in range(5)]
    return [_sentence(rng) for _ in range(6)], evidence


def _shipped_answer(number: int) -> tuple[list[str], list[Evidence]]:
    """The typical answer of `assay bench`."""
    answer, evidence = sample(number)
    return [sentence.strip() + "." for sentence in answer.split(".") if sentence.strip()], evidence


def _typical(name: str, answers: Sequence[tuple[list[str], list[Evidence]]]) -> None:
    """Prints the medians over the answers; the first tenth only warms up."""
    indexing, checking = [], []
    for claims, evidence in answers:
        start = time.process_time()
        index = index_evidence(evidence)
        middle = time.process_time()
        for claim in claims:
            check_exact(claim, index)
        indexing.append(middle - start)
        checking.append(time.process_time() - middle)
    warm = len(answers) // 10
    check, claims_each = _median_ms(checking[warm:]), len(answers[0][0])
    print(
        f"{name:36} {check:8.2f} {min(checking) * 1000:8.2f} {check / claims_each:10.2f} "
        f"{_median_ms(indexing[warm:]):8.2f}"
    )


def speed(repeat: int) -> None:
    """Prints the time of a typical answer and its growth."""
    rng = random.Random(7)
    print(f"{'processor ms, median':36} {'answer':>8} {'least':>8} {'per claim':>10} {'index':>8}")
    _typical("typical answer of assay bench", [_shipped_answer(n) for n in range(repeat)])
    _typical("claims that share words only", [_answer(rng) for _ in range(repeat)])
    for size in (10_000, 100_000, 1_000_000):
        large = [Evidence(id="large", text=_passage(rng, size // 7))]
        start = time.process_time()
        index = index_evidence(large)
        built = time.process_time() - start
        start = time.process_time()
        for _ in range(500):
            check_exact(_sentence(rng), index)
        spent = time.process_time() - start
        print(f"{len(large[0].text):>9,} characters: index {built * 1000:8.1f} ms, 500 claims {spent * 1000:8.1f} ms")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _auroc(scores: Sequence[float], supported: Sequence[bool]) -> float:
    """The chance that a supported row scores above another, ties as one half (Mann-Whitney)."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    ranks = [0.0] * len(scores)
    at = 0
    while at < len(order):
        last = at
        while last + 1 < len(order) and scores[order[last + 1]] == scores[order[at]]:
            last += 1
        for i in range(at, last + 1):
            ranks[order[i]] = (at + last) / 2 + 1
        at = last + 1
    positive = sum(supported)
    negative = len(supported) - positive
    total = sum(rank for rank, yes in zip(ranks, supported, strict=True) if yes)
    return (total - positive * (positive + 1) / 2) / (positive * negative) if positive and negative else float("nan")


def _check_row(row: dict[str, Any]) -> list[ExactResult]:
    """The results of the row's sentences: the tier is made for claims no longer than one."""
    evidence = [
        Evidence(id=f"e{n}", text=item) if isinstance(item, str) else Evidence(**item)
        for n, item in enumerate(row["evidence"])
    ]
    index = index_evidence(evidence)
    question = (row.get("meta") or {}).get("question")
    claim = row["claim"]
    pieces = [claim[s.start : s.end] for s in split_sentences(claim)] or [claim]
    return [check_exact(piece, index, question=question) for piece in pieces]


def quality(folder: Path, sets: Sequence[str], errors: int, code: str) -> None:
    """Prints the figures of each set, and wrong contradictions to look at."""
    print(f"{'set':28} {'rows':>6} {'auroc':>6} {'recall':>7} {'sure':>6} {'right':>6} {'precision':>9}")
    by_code: dict[str, list[int]] = {}
    for name in sets:
        scores, recalls, supported, sure, right = [], [], [], 0, 0
        shown: list[str] = []
        for row in _rows(folder / f"{name}.jsonl.gz"):
            results = _check_row(row)
            strongest = max(r.signals["strongest_contradiction"] for r in results)
            scores.append(1 - strongest)
            recalls.append(min(r.signals["word_recall_passage"] for r in results))
            supported.append(row["label"] == "supported")
            if strongest >= _SURE:
                sure += 1
                right += not supported[-1]
                against = [f for r in results for f in r.findings if f.effect == "contradicts"]
                top = max(against, key=lambda f: f.confidence)
                counts = by_code.setdefault(top.code, [0, 0])
                counts[0] += 1
                counts[1] += not supported[-1]
                if supported[-1] and top.code.startswith(code):
                    shown.append(f"  {top.code} {top.confidence}: {row['claim']}\n    {top.message}")
        precision = right / sure if sure else float("nan")
        print(
            f"{name:28} {len(scores):>6} {_auroc(scores, supported):6.3f} {_auroc(recalls, supported):7.3f} "
            f"{sure:>6} {right:>6} {precision:9.3f}"
        )
        print("\n".join(shown[:errors]), end="\n" if shown[:errors] else "")
    for found, (count, correct) in sorted(by_code.items()):
        print(f"{found:28} {count:>6} {correct / count:6.3f}")


def main() -> None:
    """Runs the speed part, and the data part where a folder of data is given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder of NAME.jsonl.gz files")
    parser.add_argument("--sets", nargs="*", default=list(_SETS))
    parser.add_argument("--repeat", type=int, default=100, help="answers of each kind that are timed")
    parser.add_argument("--errors", type=int, default=0, help="wrong contradictions to show for each set")
    parser.add_argument("--code", default="", help="show only findings whose code begins so")
    options = parser.parse_args()
    if options.data is None:
        speed(options.repeat)
    else:
        quality(options.data, options.sets, options.errors, options.code)


if __name__ == "__main__":
    main()
