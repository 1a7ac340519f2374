"""How often what decides about a claim is among the premises that the network reads for it.

    python -m benchmarks.selection ../shared/data [--part test]

A case is a claim over long evidence of which the deciding sentences are known: whole web pages with the sets of
sentences of which annotators said that each suffices (WiCE), news articles with the sentence that an annotator named
(DeFacto), and claims made of one sentence or of two that stand apart in a document, beside two other documents
(train/edits). A case is found in a number of premises that together contain all sentences of one sufficient set; "one
of two" asks that a single premise contains them.

The first table is what `EvidenceIndex` gives, the second compares rankings that were tried, the third says how often a
second source that contradicts the first is read. Nothing here asks the
network, and nothing of the network depends on what is measured; choices were made on the parts `train` and `fit`
(`--part tune`), and what is reported is the part `test`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from train.edits import planted as plant_edits
from train.edits.document import Document
from train.edits.generate import EDITABLE, base_claims, is_prose
from train.rows import Row, detokenise, load_training_sets, part_of

from assay.models.manifest import EMBEDDED
from assay.models.pair_tokens import load_tokenizer
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.retrieve.ranking import terms
from assay.retrieve.windows import CountTokens, WindowOptions
from assay.schema import Evidence
from assay.schema.premise import Granularity

LONG = 150
"""Words of evidence from which on a case counts."""
WINDOWS = (1, 2, 3, 4, 6)
BUDGETS = (80, 112, 160, 224)


@dataclass(frozen=True)
class Case:
    """A claim, its evidence, and the sets of sentences of which each suffices to decide about it."""

    group: str
    part: str
    claim: str
    evidence: tuple[str, ...]
    sufficient: tuple[frozenset[str], ...]


def folded(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def raw(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def part(evidence: Sequence[str]) -> str:
    """Whether the document may be tuned on."""
    side = part_of(Row("", tuple(evidence), "", "supported"))
    return "test" if side == "test" else "tune"


def wice(data: Path) -> Iterator[Case]:
    """Claims of Wikipedia over web pages."""
    for row in raw(data / "train" / "wice_claim.dev.jsonl.gz"):
        texts = [detokenise(text) for text in row["evidence"]]
        sets = [frozenset(folded(texts[i]) for i in s) for s in row["meta"]["supporting_sentences"] if s]
        if sets:
            group = "wice, supported" if row["label"] == "supported" else "wice, in part"
            yield Case(group, part(row["evidence"]), row["claim"], ("\n".join(texts),), tuple(sets))


def defacto(data: Path) -> Iterator[Case]:
    """Summaries of news, with the sentence that an annotator named as telling."""
    for name in ("defacto.train", "defacto.val"):
        for row in raw(data / "train" / f"{name}.jsonl.gz"):
            text = detokenise(" ".join(row["evidence"]))
            named = folded(detokenise(row["meta"].get("gold_sentence") or "")).strip('"')
            if named and named in folded(text) and len(text.split()) >= LONG:
                yield Case("defacto", part(row["evidence"]), detokenise(row["claim"]), (text,), (frozenset({named}),))


def planted(data: Path, per_part: int, seed: int = 5) -> Iterator[Case]:
    """True claims made of one sentence of a document, and of two that stand apart, beside two other documents."""
    rng = random.Random(seed)
    rows = [row for row in load_training_sets(data) if row.source in EDITABLE and part_of(row) != "train"]
    for side in ("tune", "test"):
        found = sorted({row.evidence for row in rows if is_prose(row.evidence) and part(row.evidence) == side})
        rng.shuffle(found)
        documents = [Document(e) for e in found if len(" ".join(e).split()) >= LONG][:per_part]
        documents = [d for d in documents if d.record is None and len(d.usable) >= 3]
        for document in documents:
            others = [o.text for o in rng.sample(documents, 2) if o is not document]
            texts = (document.text, *others)
            for base in islice(base_claims(document, rng), 2):
                wanted = frozenset(folded(document.pieces[i]) for i in base.sources)
                yield Case("one sentence", side, base.text, texts, (wanted,))
            a, b = sorted(rng.sample(document.usable, 2))
            if b - a > 2:
                first, second = document.pieces[a], document.pieces[b]
                claim = f"{first.rstrip('.')}, and {second[0].lower()}{second[1:]}"
                yield Case("two apart", side, claim, texts, (frozenset({folded(first), folded(second)}),))


def found_in(texts: Sequence[str], case: Case) -> bool:
    """Whether the texts together contain all of one sufficient set."""
    return any(all(any(sentence in text for text in texts) for sentence in wanted) for wanted in case.sufficient)


class Tally:
    """Means by group and column, printed as a table."""

    def __init__(self) -> None:
        self._sums: dict[str, dict[str, float]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, group: str, values: dict[str, float]) -> None:
        """Count one case."""
        self._counts[group] += 1
        sums = self._sums.setdefault(group, dict.fromkeys(values, 0.0))
        for name, value in values.items():
            sums[name] += value

    def mean(self, name: str) -> float:
        """The mean over groups of a column's means."""
        return sum(sums[name] / self._counts[group] for group, sums in self._sums.items()) / max(1, len(self._sums))

    def show(self) -> None:
        """Print one line a group."""
        columns = list(next(iter(self._sums.values())))
        print("| set | cases | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 2))
        for group, sums in sorted(self._sums.items()):
            cells = [f"{sums[name] / self._counts[group]:.3f}" for name in columns]
            print(f"| {group} | {self._counts[group]:,} | " + " | ".join(cells) + " |")


def indexed(case: Case, count: CountTokens, options: PremiseOptions) -> EvidenceIndex:
    """The evidence of a case."""
    return EvidenceIndex([Evidence(id=str(i), text=t) for i, t in enumerate(case.evidence, 1)], count, options)


def premises_of(case: Case, count: CountTokens, options: PremiseOptions, kind: Granularity) -> list[str]:
    """The premises of one kind that a claim gets, folded."""
    given = indexed(case, count, options).candidates(case.claim).premises
    return [folded(p.text) for p in given if p.granularity == kind]


def shipped(cases: Sequence[Case], count: CountTokens) -> None:
    """Recall of what `EvidenceIndex` chooses, by number of windows and length of the assembled text."""
    tally = Tally()
    for case in cases:
        index = indexed(case, count, PremiseOptions())
        given = index.candidates(case.claim, passages=max(WINDOWS), sentences=2).premises
        sentences = [folded(p.text) for p in given if p.granularity == "sentence"]
        windows = [folded(p.text) for p in given if p.granularity == "passage"]
        row: dict[str, float] = {"windows": len(index.windows)}
        row |= {f"{k} sentence{'s' * (k > 1)}": found_in(sentences[:k], case) for k in (1, 2)}
        row |= {f"{k} window{'s' * (k > 1)}": found_in(windows[:k], case) for k in WINDOWS}
        row["one of two"] = any(found_in([text], case) for text in windows[:2])
        for budget in BUDGETS:
            options = PremiseOptions(sentences=0, passages=0, document_tokens=budget)
            row[f"assembled {budget}"] = found_in(premises_of(case, count, options, "document"), case)
        default = [folded(p.text) for p in index.candidates(case.claim).premises]
        row["all that is read"] = found_in(default, case)
        tally.add(case.group, row)
    tally.show()


def weights(claim: str, units: Sequence[Counter[str]], number: float = 1.0) -> dict[str, float]:
    """The terms of the claim by their rarity over the units, numbers times a factor."""
    total = len(units)
    found: dict[str, float] = {}
    for term in sorted(set(terms(claim))):
        having = sum(term in unit for unit in units)
        if having:
            rarity = math.log(1 + (total - having + 0.5) / (having + 0.5))
            found[term] = rarity * (number if term[0].isdigit() else 1.0)
    return found


def bm25(units: Sequence[Counter[str]], wanted: dict[str, float], k1: float = 1.2, b: float = 0.75) -> list[float]:
    """The score of each unit."""
    sizes = [sum(unit.values()) for unit in units]
    mean = sum(sizes) / max(1, len(sizes)) or 1.0
    return [
        sum(v * u[t] * (k1 + 1) / (u[t] + k1 * (1 - b + b * n / mean)) for t, v in wanted.items() if t in u)
        for u, n in zip(units, sizes, strict=True)
    ]


def best(scores: Sequence[float], k: int) -> list[int]:
    """Places of the highest scores."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:k]


def adding(units: Sequence[Counter[str]], wanted: dict[str, float], k: int, kept: float) -> list[int]:
    """Units chosen one after the other; a term that one of them has counts for only a part from then on."""
    left = dict(wanted)
    chosen: list[int] = []
    for _ in range(min(k, len(units))):
        scores = bm25(units, left)
        chosen.append(max((i for i in range(len(units)) if i not in chosen), key=lambda i: scores[i]))
        left = {term: value * (kept if term in units[chosen[-1]] else 1.0) for term, value in left.items()}
    return chosen


Ranking = Callable[[str, Sequence[Counter[str]]], list[int]]
RANKINGS: dict[str, Ranking] = {
    "as shipped (k1 1.2, b 0.75)": lambda claim, units: best(bm25(units, weights(claim, units)), 4),
    "k1 0.6": lambda claim, units: best(bm25(units, weights(claim, units), k1=0.6), 4),
    "k1 2": lambda claim, units: best(bm25(units, weights(claim, units), k1=2.0), 4),
    "b 0.3": lambda claim, units: best(bm25(units, weights(claim, units), b=0.3), 4),
    "b 0": lambda claim, units: best(bm25(units, weights(claim, units), b=0.0), 4),
    "numbers times 1.5": lambda claim, units: best(bm25(units, weights(claim, units, 1.5)), 4),
    "numbers times 2": lambda claim, units: best(bm25(units, weights(claim, units, 2.0)), 4),
    "next one for what is missing, 0.5": lambda claim, units: adding(units, weights(claim, units), 4, 0.5),
    "next one for what is missing, 0.2": lambda claim, units: adding(units, weights(claim, units), 4, 0.2),
}


def alternatives(cases: Sequence[Case], count: CountTokens) -> None:
    """Mean recall over the groups by ranking, and by length of the windows."""
    print("| ranking | 1 window | 2 | 3 | 4 |\n|---|---|---|---|---|")
    cut: dict[tuple[str, ...], tuple[list[Counter[str]], list[str]]] = {}
    for case in cases:
        if case.evidence not in cut:
            windows = indexed(case, count, PremiseOptions()).windows
            cut[case.evidence] = [Counter(terms(w.text)) for w in windows], [folded(w.text) for w in windows]
    for name, ranking in RANKINGS.items():
        tally = Tally()
        for case in cases:
            units, texts = cut[case.evidence]
            chosen = ranking(case.claim, units)
            tally.add(case.group, {str(k): found_in([texts[i] for i in chosen[:k]], case) for k in (1, 2, 3, 4)})
        print(f"| {name} | " + " | ".join(f"{tally.mean(str(k)):.3f}" for k in (1, 2, 3, 4)) + " |")
    for length, overlap in ((64, 1), (96, 0), (96, 2), (160, 1), (224, 1)):
        tally = Tally()
        options = PremiseOptions(WindowOptions(length, overlap), sentences=0, passages=4)
        for case in cases:
            given = premises_of(case, count, options, "passage")
            tally.add(case.group, {str(k): found_in(given[:k], case) for k in (1, 2, 3, 4)})
        cells = " | ".join(f"{tally.mean(str(k)):.3f}" for k in (1, 2, 3, 4))
        print(f"| windows of {length} tokens, {overlap} sentences repeated | {cells} |")


def second_sources(data: Path, count: CountTokens, side: str, per_kind: int) -> None:
    """How often a sentence of a second source that contradicts the first is in a premise of that source alone.

    The first source is a document, the second the beginning of another with an edited sentence of the first in it.
    """
    rows = [row for row in load_training_sets(data) if row.source in EDITABLE and part(row.evidence) == side]
    rows = [row for row in rows if part_of(row) != "train" and len(" ".join(row.evidence).split()) >= LONG]
    whole = [detokenise(" ".join(row.evidence)) for row in rows]
    choices = {
        "as shipped": PremiseOptions(),
        "two windows and a sentence": PremiseOptions(passages=2, other_source=2),
        "a window and a sentence": PremiseOptions(other_source=2),
    }
    found = dict.fromkeys(choices, 0)
    tried = 0
    for pair in [pair for pairs in plant_edits(rows, per_kind, 5).values() for pair in pairs]:
        first = next((text for text in whole if pair.wrong.evidence[0][:60] in text), None)
        if first is None:
            continue
        others = whole[(7 * tried) % len(whole)].split()
        second = " ".join([*others[:60], ".", pair.wrong.claim, *others[60:120]])
        tried += 1
        for name, options in choices.items():
            index = EvidenceIndex([Evidence(id="1", text=first), Evidence(id="2", text=second)], count, options)
            given = [p for p in index.candidates(pair.twin.claim).premises if p.evidence_ids == {"2"}]
            found[name] += any(pair.wrong.claim[:40] in p.text for p in given)
    print(f"| read for a claim | contradicting second source read by itself, of {tried} |\n|---|---|")
    for name, hits in found.items():
        print(f"| {name} | {hits / max(1, tried):.3f} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of labelled data")
    parser.add_argument("--part", choices=("tune", "test"), default="test")
    parser.add_argument("--documents", type=int, default=150, help="documents to plant claims in, at most")
    parser.add_argument("--most", type=int, default=300, help="cases of a group, at most")
    parser.add_argument("--only-shipped", action="store_true", help="leave the rankings out that were tried")
    args = parser.parse_args()
    count = load_tokenizer(EMBEDDED / "tokenizer.json").count
    found = [*wice(args.data), *defacto(args.data), *planted(args.data, args.documents)]
    random.Random(1).shuffle(found)
    seen: Counter[str] = Counter()
    cases = []
    for case in found:
        seen[case.group] += case.part == args.part
        if case.part == args.part and seen[case.group] <= args.most:
            cases.append(case)
    shipped(cases, count)
    if not args.only_shipped:
        print()
        alternatives(cases, count)
        print()
        second_sources(args.data, count, args.part, per_kind=6)


if __name__ == "__main__":
    main()
