"""What the network is to read for a claim: choices of premises compared on long evidence.

    python -m train.tune_windows --data ../shared/data --cache .work/windows.db

The rows are labelled claims over at least 130 words of evidence, and planted edits over whole documents, most of them
beside other documents of their set, all out of the parts that the network was not trained on. For each choice the
signals of the exact tier and of the network are combined anew, as `train.fit_combination` does: choose by the figures
of the cross-validation within `fit` (by document), report those of `test`, fitted on `fit`. Tokens are those of all
pairs of a claim, what the network is paid in. Scores are kept in the cache file, so that a further choice asks the
network for nothing but what is new. One network serves for all choices, and it may favour those that look like what
it was trained on: premises of at most 100 words.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import sqlite3
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.models.cache import pair_key
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.models.interface import WordScores
from assay.models.manifest import EMBEDDED
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.retrieve.windows import WindowOptions
from assay.schema import Evidence
from assay.stats.classification import auroc, balanced_accuracy
from assay.verify.exact import check_exact, index_evidence
from assay.verify.network.entailment import SPECIAL_TOKENS, judge
from train.edits import EDITABLE, planted
from train.fit_combination import fit, matrix, sign_of_support, weights_by_set
from train.rows import Part, Row, detokenise, load_training_sets, part_of

LONG = 130
"""Words of evidence from which on a row counts; below, everything is read whole."""
ANY_LENGTH = "factcheck_gpt"
"""A set of short passages, each put beside three others, as a search for a claim gives them."""
SIDES: tuple[Part, ...] = ("fit", "test")
CAPS = {
    "defacto": (110, 60),
    "factcheck_gpt": (110, 60),
    "faithdial_audit": (60, 20),
    "fever_rte": (50, 25),
    "fevernli_binary": (60, 25),
    "tabfact_pairs": (40, 6),
    "infotabs": (40, 8),
    "scitab": (20, 8),
    "wice_claim_oracle": (90, 45),
    "summedits_qmsumm": (96, 50),
    "summedits_samsum": (50, 30),
    "summedits_sales_email": (60, 40),
    "begin_cmudog": (30, 16),
    "begin_topicalchat": (30, 16),
    "bump_task1": (60, 24),
    "bump_task2": (40, 40),
    "storysumm": (20, 20),
    "wice_claim": (40, 40),
    "wice_nonsupported_tokens": (15, 8),
    "summedits_ectsum": (60, 30),
}
"""Rows of a set that are drawn on each side, at most, and how many of them are used: more take longer."""
PLANTED_USED = 40
"""Planted pairs on each side: every third of those made, so that the kinds mix."""
FOLDS = 5
LEAST_ROWS = 20
"""A set with fewer has no figures of its own."""

CHOICES: dict[str, PremiseOptions] = {
    "as before: sentence, 2 windows, assembled 112": PremiseOptions(document_tokens=112, passages=2, other_source=2),
    "as shipped": PremiseOptions(),
    "sentence, window, assembled 112": PremiseOptions(document_tokens=112, other_source=2),
    "window, assembled 112": PremiseOptions(document_tokens=112, sentences=0, other_source=2),
    "2 windows, assembled 112": PremiseOptions(document_tokens=112, sentences=0, passages=2, other_source=2),
    "sentence, 3 windows, assembled 112": PremiseOptions(document_tokens=112, passages=3, other_source=2),
    "sentence, assembled 112": PremiseOptions(document_tokens=112, passages=0, other_source=2),
    "sentence": PremiseOptions(passages=0, document_tokens=0, other_source=2),
    "window": PremiseOptions(sentences=0, document_tokens=0, other_source=2),
    "2 windows": PremiseOptions(sentences=0, passages=2, document_tokens=0, other_source=2),
    "3 windows": PremiseOptions(sentences=0, passages=3, document_tokens=0, other_source=2),
    "window of 64": PremiseOptions(WindowOptions(64), sentences=0, document_tokens=0, other_source=2),
    "window of 160": PremiseOptions(WindowOptions(160), sentences=0, document_tokens=0, other_source=2),
    "assembled 80": PremiseOptions(sentences=0, passages=0, document_tokens=80),
    "assembled 112": PremiseOptions(document_tokens=112, sentences=0, passages=0),
    "assembled 160": PremiseOptions(sentences=0, passages=0, document_tokens=160),
    "assembled 224": PremiseOptions(sentences=0, passages=0, document_tokens=224),
    "sentence, window, assembled 80": PremiseOptions(document_tokens=80, other_source=2),
    "sentence, window, assembled 160": PremiseOptions(document_tokens=160, other_source=2),
    "sentence, window, assembled 224": PremiseOptions(document_tokens=224, other_source=2),
}


@dataclass(frozen=True)
class Case:
    """A claim over long evidence."""

    source: str
    claim: str
    evidence: tuple[str, ...]
    label: str
    document: str


class Stored:
    """A scorer that keeps what it scored in a file."""

    def __init__(self, path: Path, threads: int) -> None:
        self._scorer = OnnxCrossEncoder.load(EMBEDDED, threads=threads)
        self._counts: dict[str, int] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, timeout=60)
        self._file.execute("create table if not exists p(k blob primary key, e real, n real, c real, w blob)")
        self.name, self.digest, self.three_way = self._scorer.name, self._scorer.digest, self._scorer.three_way
        self.max_pair_tokens = self._scorer.max_pair_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As the scorer behind, each text once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._counts]
        self._counts |= dict(zip(new, self._scorer.count_tokens(new), strict=True))
        return [self._counts[text] for text in texts]

    def words(self, claim: str) -> tuple[tuple[int, int], ...]:
        """As the scorer behind."""
        return self._scorer.words(claim)

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """As the scorer behind."""
        return self.score_words(pairs)[0]

    def score_words(self, pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float32], list[WordScores]]:
        """As the scorer behind, kept or new."""
        keys = [pair_key(self.digest, *pair) for pair in pairs]
        ask = "select e, n, c, w from p where k = ?"
        kept = {key: self._file.execute(ask, (key,)).fetchone() for key in keys}
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if kept[key] is None}
        if missing:
            scores, words = self._scorer.score_words(list(missing.values()))
            for key, row, own in zip(missing, scores.tolist(), words, strict=True):
                kept[key] = (*row, array("f", own).tobytes())
                self._file.execute("insert or replace into p values (?, ?, ?, ?, ?)", (key, *kept[key]))
            self._file.commit()
        found = [kept[key] for key in keys]
        return np.array([row[:3] for row in found], dtype=np.float32).reshape(-1, 3), [
            tuple(memoryview(row[3]).cast("f").tolist()) for row in found
        ]


def evidence_of(row: Row) -> list[str]:
    """The row's evidence; pages that come in sentences as one text."""
    texts = [detokenise(text) for text in row.evidence if text.strip()]
    return ["\n".join(texts)] if row.source.startswith("wice") else texts


def excerpt(row: Row, words: int) -> str:
    """The beginning of the row's evidence."""
    return " ".join(" ".join(evidence_of(row)).split()[:words])


def long_rows(rows: Sequence[Row], side: Part, rng: random.Random) -> list[Case]:
    """Labelled rows over long evidence, every second one beside one or two other documents of its set."""
    pools: dict[str, list[Row]] = {}
    for row in rows:
        long = row.source == ANY_LENGTH or len(" ".join(row.evidence).split()) >= LONG
        if row.source in CAPS and long and part_of(row) == side:
            pools.setdefault(row.source, []).append(row)
    cases = []
    for source, pool in sorted(pools.items()):
        rng.shuffle(pool)
        drawn, used = CAPS[source]
        for i, row in enumerate(pool[:drawn]):
            count = 3 if source == ANY_LENGTH else rng.randint(1, 2) if i % 2 else 0
            others = [o for o in rng.sample(pool, min(count + 2, len(pool))) if o.document != row.document][:count]
            texts = (*evidence_of(row), *(excerpt(o, 400) for o in others))
            if i < used:
                cases.append(Case(source, detokenise(row.claim), texts, row.label, row.document))
    return cases


def planted_cases(rows: Sequence[Row], side: Part, per_kind: int, rng: random.Random) -> list[Case]:
    """Edited claims and their twins over the whole document and the beginnings of two others."""
    pool = [row for row in rows if part_of(row) == side and row.source in EDITABLE]
    rng.shuffle(pool)
    pool = [row for row in pool if len(" ".join(row.evidence).split()) >= 200]
    whole = [(row.source, detokenise(" ".join(row.evidence))) for row in pool]
    cases: list[Case] = []
    for pair in [pair for pairs in planted(pool, per_kind, 5).values() for pair in pairs]:
        shown = pair.wrong.evidence
        source, text = next((found for found in whole if shown[0][:60] in found[1]), ("", ""))
        texts = [text] if text and not source.startswith(("tab", "info", "scitab")) else list(shown)
        texts += [excerpt(other, 300) for other in rng.sample(pool, 2)]
        cases += [
            Case("planted", row.claim, tuple(texts), row.label, pair.wrong.document) for row in (pair.wrong, pair.twin)
        ]
    pairs = [case for i in range(0, len(cases), 6) for case in cases[i : i + 2]]
    return pairs[: 2 * PLANTED_USED]


@dataclass(frozen=True)
class Measured:
    """The signals of all cases under one choice, and what they cost."""

    signals: list[dict[str, float]]
    tokens: float
    pairs: float


def evidence_in(case: Case) -> list[Evidence]:
    """The texts of a case as numbered evidence."""
    return [Evidence(id=str(i), text=text) for i, text in enumerate(case.evidence, 1)]


def measure(
    cases: Sequence[Case], exact: Sequence[dict[str, float]], options: PremiseOptions, scorer: Stored
) -> Measured:
    """Judge every case under one choice of premises, given the exact tier's signals."""
    signals: list[dict[str, float]] = []
    tokens = pairs = 0
    for case, known in zip(cases, exact, strict=True):
        index = EvidenceIndex(evidence_in(case), scorer.count_tokens, options)
        size = min(1.0, math.log2(1 + len(index.windows)) / 12)
        candidates = index.candidates(case.claim)
        (read,) = judge([candidates], scorer)
        texts = list({premise.text for premise in candidates.premises})
        claim, *counts = scorer.count_tokens([case.claim, *texts])
        tokens += sum(count + claim + SPECIAL_TOKENS - 1 for count in counts)
        pairs += len(texts)
        signals.append({**known, **read.signals, "evidence_size": size})
    return Measured(signals, tokens / len(cases), pairs / len(cases))


def fold_of(document: str) -> int:
    """The fold of the cross-validation that a document is in."""
    return int.from_bytes(hashlib.blake2b(document.encode(), digest_size=4, key=b"cv").digest(), "big") % FOLDS


def probabilities(
    signals: Sequence[dict[str, float]],
    wanted: NDArray[np.bool_],
    sources: Sequence[str],
    learn: NDArray[np.bool_],
    direction: int,
) -> NDArray[np.float64]:
    """The modelled probabilities of all cases, fitted on those to learn from."""
    names, values = matrix(signals)
    weights = weights_by_set(sources)
    model = fit(names, values[learn], wanted[learn], weights[learn], lambda name: direction * sign_of_support(name))
    slopes = np.array([model["weights"].get(name, 0.0) for name in names])
    return np.asarray(1 / (1 + np.exp(-(values @ slopes + model["intercept"]))))


def by_set(cases: Sequence[Case], wanted: NDArray[np.bool_], given: NDArray[np.float64]) -> tuple[float, float]:
    """AUROC and balanced accuracy at 0.5, mean over sets."""
    figures = []
    for source in sorted({case.source for case in cases}):
        own = np.array([case.source == source for case in cases])
        if own.sum() >= LEAST_ROWS and 0 < wanted[own].sum() < own.sum():
            here = balanced_accuracy(wanted[own], given[own] >= 0.5).value
            figures.append((auroc(wanted[own], given[own]).value, here))
    return float(np.mean([f[0] for f in figures])), float(np.mean([f[1] for f in figures]))


def line(cases: Sequence[Case], in_fit: NDArray[np.bool_], found: Measured) -> str:
    """The figures of one choice as the cells of a table."""
    supported = np.array([case.label == "supported" for case in cases])
    sources = [case.source for case in cases]
    folds = np.array([fold_of(case.document) for case in cases])
    crossed = np.zeros(len(cases))
    for fold in range(FOLDS):
        there = probabilities(found.signals, supported, sources, in_fit & (folds != fold), 1)
        crossed[folds == fold] = there[folds == fold]
    given = probabilities(found.signals, supported, sources, in_fit, 1)
    test = ~in_fit
    mean_auroc, mean_balanced = by_set([c for c, t in zip(cases, test, strict=True) if t], supported[test], given[test])
    told = np.array([case.label != "not_supported" for case in cases])
    contradicted = np.array([case.label == "contradicted" for case in cases])
    against = probabilities(found.signals, contradicted, sources, in_fit & told, -1)
    cells = (
        f"{found.pairs:.2f}",
        f"{found.tokens:.0f}",
        f"{auroc(supported[in_fit], crossed[in_fit]).value:.3f}",
        f"{balanced_accuracy(supported[in_fit], crossed[in_fit] >= 0.5).value:.3f}",
        f"{auroc(supported[test], given[test]).value:.3f}",
        f"{balanced_accuracy(supported[test], given[test] >= 0.5).value:.3f}",
        f"{mean_auroc:.3f}",
        f"{mean_balanced:.3f}",
        f"{auroc(contradicted[test & told], against[test & told]).value:.3f}",
    )
    return " | ".join(cells)


def cases_of(rows: Sequence[Row], side: Part, per_kind: int) -> list[Case]:
    """All cases of one side."""
    rng = random.Random(77)
    return [*long_rows(rows, side, rng), *planted_cases(rows, side, per_kind, rng)]


def main() -> None:
    """Print one line for each choice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="file in which scores are kept")
    parser.add_argument("--per-kind", type=int, default=14, help="planted pairs of a kind that are made, at most")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(CHOICES), help="some of the choices by name")
    arguments = parser.parse_args()
    rows = [row for row in load_training_sets(arguments.data) if part_of(row) != "train"]
    sides = {side: cases_of(rows, side, arguments.per_kind) for side in SIDES}
    cases = [case for side in SIDES for case in sides[side]]
    in_fit = np.arange(len(cases)) < len(sides["fit"])
    print({side: dict(Counter(case.source for case in own)) for side, own in sides.items()}, flush=True)
    exact = [check_exact(case.claim, index_evidence(evidence_in(case))).signals for case in cases]
    scorer = Stored(arguments.cache, arguments.threads)
    print(
        "| read for a claim | pairs | tokens | fit: AUROC | balanced | test: AUROC | balanced | by set: AUROC", end=""
    )
    print(" | balanced | contradiction, AUROC |\n|" + "---|" * 10)
    for name in arguments.only:
        print(f"| {name} | {line(cases, in_fit, measure(cases, exact, CHOICES[name], scorer))} |", flush=True)


if __name__ == "__main__":
    main()
