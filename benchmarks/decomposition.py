"""How well the claim splitter agrees with people: three public sets, beside two baselines, in one run.

`python benchmarks/decomposition.py --data DIR` where DIR holds the `decomposition` files. It prints

- factcheck_gpt_sentences: predicted claims against the annotators' claims, matched one to one so that the sum of
  token F1 is greatest; a pair counts from F1 `THRESHOLD` on. Precision, recall and F1 over pairs; how often the
  number of claims is the same, greater (over-split) or smaller (under-split);
- wikisplit: sentences that people wrote as two; how often two or more, exactly two, come out, and the mean token F1
  of the two halves under the best assignment;
- propsegment: token-set Jaccard of propositions, each rater's proposition with the best of ours, mean over raters.

No row of any of these sets was used for the rules but those of wikisplit.tune.
"""

import argparse
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

from assay.text.claims.rule_extractor import RuleClaimExtractor

THRESHOLD = 0.7
"""Token F1 from which a predicted claim counts as a gold claim."""
EXACT_ASSIGNMENT = 6
"""Up to so many claims on the smaller side the assignment is exact; beyond it is greedy."""

Splitter = Callable[[str], list[str]]
_EXTRACTOR = RuleClaimExtractor()
_WORD = re.compile(r"\w+")


def rules(sentence: str) -> list[str]:
    """Our splitter."""
    return [c.text for c in _EXTRACTOR.extract(sentence)] or [sentence]


def whole(sentence: str) -> list[str]:
    """Baseline: the sentence is the claim."""
    return [sentence]


def commas(sentence: str) -> list[str]:
    """Baseline: a claim ends at every comma and every `and`."""
    return [p.strip() for p in re.split(r",|\band\b", sentence) if _WORD.search(p)] or [sentence]


def bag(text: str) -> Counter[str]:
    """Words in lower case with their counts."""
    return Counter(_WORD.findall(text.lower()))


def token_f1(a: Counter[str], b: Counter[str]) -> float:
    """Harmonic mean of the shares of shared words; 0 where nothing is shared."""
    shared = sum((a & b).values())
    return 2 * shared / (sum(a.values()) + sum(b.values())) if shared else 0.0


def assign(predicted: Sequence[str], gold: Sequence[str]) -> list[float]:
    """Token F1 of the pairs of the best one-to-one assignment."""
    small, large = sorted((list(map(bag, predicted)), list(map(bag, gold))), key=len)
    scores = [[token_f1(s, item) for item in large] for s in small]
    if len(small) <= EXACT_ASSIGNMENT and len(large) <= EXACT_ASSIGNMENT + 2:
        orders = permutations(range(len(large)), len(small))
        best = max(orders, key=lambda order: sum(scores[i][j] for i, j in enumerate(order)))
        return [scores[i][j] for i, j in enumerate(best)]
    pairs = sorted(((v, i, j) for i, row in enumerate(scores) for j, v in enumerate(row)), reverse=True)
    out: list[float] = []
    rows: set[int] = set()
    columns: set[int] = set()
    for value, i, j in pairs:
        if i not in rows and j not in columns:
            out.append(value)
            rows.add(i)
            columns.add(j)
    return out


def detokenise(text: str) -> str:
    """The spacing that a reader would see in place of the corpus' tokenised one."""
    text = text.replace("''", '"').replace("``", '"')
    text = re.sub(r" ([.,;:!?%)\]])", r"\1", text)
    text = re.sub(r"([(\[$]) ", r"\1", text)
    text = re.sub(r" (n't|'(?:s|re|ve|d|ll|m))\b", r"\1", text)
    return re.sub(r'" ([^"]*) "', r'"\1"', text).replace(" - ", "-")


def factcheck(rows: list[dict[str, Any]], split: Splitter, source: str) -> dict[str, float]:
    """Agreement with annotators' claims; `source` says which field is split."""
    hits = made = wanted = same = over = under = 0
    for row in rows:
        predicted, gold = split(row[source]), row["claims"]
        hits += sum(v >= THRESHOLD for v in assign(predicted, gold))
        made += len(predicted)
        wanted += len(gold)
        same += len(predicted) == len(gold)
        over += len(predicted) > len(gold)
        under += len(predicted) < len(gold)
    precision, recall = hits / made, hits / wanted
    n = len(rows)
    return {
        "precision": precision,
        "recall": recall,
        "F1": 2 * precision * recall / (precision + recall),
        "count same": same / n,
        "over-split": over / n,
        "under-split": under / n,
    }


def wikisplit(rows: list[dict[str, Any]], split: Splitter) -> dict[str, float]:
    """Sentences that people wrote as two."""
    two = more = 0
    halves = 0.0
    for row in rows:
        predicted = split(detokenise(row["sentence"]))
        gold = [detokenise(s) for s in row["splits"]]
        two += len(predicted) == len(gold)
        more += len(predicted) > len(gold)
        halves += sum(assign(predicted, gold)) / len(gold)
    n = len(rows)
    return {"count same": two / n, "over-split": more / n, "under-split": 1 - (two + more) / n, "token F1": halves / n}


def jaccard(a: set[str], b: set[str]) -> float:
    """Shared words by all words."""
    return len(a & b) / len(a | b) if a | b else 0.0


def propsegment(rows: list[dict[str, Any]], split: Splitter) -> dict[str, float]:
    """Precision: each of ours with the raters' best; recall: each of the raters' with our best; means over raters."""
    precision = recall = 0.0
    n = 0
    for row in rows:
        ours = [set(bag(c)) for c in split(row["sentence"])]
        for propositions in row["rater_propositions"]:
            theirs = [set(bag(p)) for p in propositions if _WORD.search(p)]
            if theirs and ours:
                precision += sum(max(jaccard(o, t) for t in theirs) for o in ours) / len(ours)
                recall += sum(max(jaccard(o, t) for o in ours) for t in theirs) / len(theirs)
                n += 1
    return {"precision": precision / n, "recall": recall / n}


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of one gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def line(label: str, splitter: str, values: dict[str, float]) -> str:
    """One row of the table."""
    return f"{label:34} {splitter:10} " + "  ".join(f"{k} {v:.3f}" for k, v in values.items())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the decomposition files")
    parser.add_argument("--only", default="", help="part of a file name: read only the files that contain it")
    options = parser.parse_args()
    splitters: dict[str, Splitter] = {"assay": rules, "sentence": whole, "commas": commas}
    for path in sorted(p for p in options.data.glob("*.jsonl.gz") if options.only in p.name):
        rows = read(path)
        name = path.name.removesuffix(".jsonl.gz")
        started = time.perf_counter()
        for label, split in splitters.items():
            if name.startswith("factcheck"):
                print(line(f"{name}, decontextualised", label, factcheck(rows, split, "decontext")))
                print(line(f"{name}, as written", label, factcheck(rows, split, "sentence")))
            elif name.startswith("wikisplit"):
                print(line(name, label, wikisplit(rows, split)))
            elif name.startswith("propsegment"):
                print(line(name, label, propsegment(rows, split)))
        print(f"  {len(rows)} rows, {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
