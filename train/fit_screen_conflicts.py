"""Fits the model that says whether sentences of two passages contradict each other.

    python -m train.fit_screen_conflicts --data ../shared/data --cache .work/screen-conflicts.json

A case is two passages or more that agree or do not: the passages of a written scenario and one more that states a
claim of it, which is right or contradicted; and a real document beside a sentence made of it, as it is or with one
planted edit (`train.edits`). Both are of the `fit` side, which the network was not trained on. Of a case that disagrees
the pair that speaks most for it counts, of one that agrees every pair. The threshold decides what is judged, not what
is told: it is the lowest at which at most `ASKED` of the cases that agree have a pair judged. Figures are printed of
the `test` side, by kind.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.guard.screening.conflicts import read_pairs
from assay.guard.screening.pairs import FAMILY, LEAST_READ, PassageSubjects, candidates, statements_of
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.schema import Evidence
from assay.text.lexicon.lexemes import find_words
from assay.verify.network.combination import LogisticModel
from train.edits import EDITABLE, planted
from train.fit_combination import fit
from train.rows import detokenise, load_training_sets, part_of
from train.scenario_rows import WEIGHTS, Side, batches, evidence_of, kept_claims

ASKED = 0.25
"""The share of agreeing cases of the fit side of which a pair is judged."""
CLAIMS = 5
"""Claims of each label of a scenario."""
SIGNS = {"entail_low": -1, "entail_high": -1, "differs_words": -1, "differs_name": -1, "differs_negation": 0}
"""Which way each signal may move the probability; up where it is not here."""


@dataclass(frozen=True)
class Case:
    """Passages, and whether they contradict each other."""

    kind: str
    passages: tuple[Evidence, ...]
    question: str
    disagrees: bool
    about: str | None = None
    """The passage whose conflicts count; none where all do."""


def written_cases(side: Side, seed: int = 7) -> Iterator[Case]:
    """Scenarios beside a passage that states one of their claims."""
    rng = random.Random(seed)
    for name, scenarios in sorted(batches(side).items()):
        for scenario in scenarios:
            if any(claim.get("kind") in {"conflict", "outdated", "version"} for claim in scenario["claims"]):
                continue  # its passages disagree with each other already
            claims = [claim for _, claim in kept_claims(scenario)]
            for label in ("contradicted", "supported"):
                some = [claim["text"] for claim in claims if claim["label"] == label]
                for text in rng.sample(some, min(CLAIMS, len(some))):
                    items = (*evidence_of(scenario), Evidence(id="added", text=text))
                    yield Case(f"written {name}", items, scenario.get("question") or "", label == "contradicted")


def planted_cases(data: Path, side: Side, per_kind: int, seed: int = 7) -> Iterator[Case]:
    """Real documents beside a sentence of theirs, edited or not."""
    rows = [row for row in load_training_sets(data) if row.source in EDITABLE and part_of(row) == side]
    for kind, pairs in planted(rows, per_kind, seed).items():
        for pair in pairs:
            for row in (pair.wrong, pair.twin):
                if row.label not in {"contradicted", "supported"}:
                    continue
                texts = [detokenise(text) for text in row.evidence if text.strip()]
                items = [Evidence(id=f"d{n}", text=text) for n, text in enumerate(texts)]
                added = Evidence(id="added", text=detokenise(row.claim))
                yield Case(f"planted {kind}", (*items, added), "", row.label == "contradicted")


def signals_of(case: Case, scorer: OnnxCrossEncoder) -> list[dict[str, float]]:
    """What the tiers make of each pair of the passage that was added with another one."""
    asked = frozenset(word.stem[:FAMILY] for word in find_words(case.question).lexemes if word.weight)
    statements = [one for place, item in enumerate(case.passages) for one in statements_of(place, item, asked)]
    subjects = PassageSubjects(statements, case.passages)
    pairs = candidates(statements, asked, max(LEAST_READ, len(case.passages)), subjects.differ)
    last = len(case.passages) - 1
    own = [pair for pair in pairs if last in (pair.first.passage, pair.second.passage)]
    return [dict(heard.signals) for heard in read_pairs(own, case.passages, scorer)]


def cached(cases: Sequence[Case], path: Path, scorer: OnnxCrossEncoder) -> list[list[dict[str, float]]]:
    """The signals of cases, kept in a file by the network's digest and the case."""
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = []
    for number, case in enumerate(cases):
        texts = "\0".join(f"{item.title}\n{item.text}" for item in case.passages)
        key = hashlib.sha256(f"{scorer.digest}\0{case.question}\0{texts}".encode()).hexdigest()[:24]
        if key not in known:
            known[key] = signals_of(case, scorer)
        found.append(known[key])
        if number % 100 == 99:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(known), encoding="utf-8")
            print(f"{number + 1} of {len(cases)} cases", flush=True)
    path.write_text(json.dumps(known), encoding="utf-8")
    return found


def _promise(signals: Mapping[str, float]) -> float:
    return signals["contra_low"] + signals["contra_high"] + 6 * signals["value"] + 3 * signals["shared"]


def fitted(cases: Sequence[Case], signals: Sequence[Sequence[dict[str, float]]], rounds: int = 3) -> dict[str, Any]:
    """Intercept, weights and threshold; of a case that disagrees the pair counts that the last round was surest of."""
    names: list[str] = sorted({name for rows in signals for row in rows for name in row})
    surest: Callable[[Mapping[str, float]], float] = _promise
    model: dict[str, Any] = {}
    for _ in range(rounds):
        rows, labels, weights = [], [], []
        for case, found in zip(cases, signals, strict=True):
            if not found:
                continue
            chosen = [max(found, key=surest)] if case.disagrees else list(found)
            rows += chosen
            labels += [case.disagrees] * len(chosen)
            weights += [1 / len(chosen)] * len(chosen)
        values = np.array([[row[name] for name in names] for row in rows])
        model = fit(names, values, np.array(labels), np.array(weights), lambda name: SIGNS.get(name, 1))
        logistic = LogisticModel(model["intercept"], model["weights"])
        surest = logistic.probability
    agreeing = sorted(
        max((surest(row) for row in found), default=0.0)
        for case, found in zip(cases, signals, strict=True)
        if not case.disagrees
    )
    at = agreeing[min(len(agreeing) - 1, int((1 - ASKED) * len(agreeing)))]
    return {**model, "threshold": round(float(at) + 1e-4, 4)}


def report(cases: Sequence[Case], signals: Sequence[Sequence[dict[str, float]]], model: dict[str, Any]) -> None:
    """Print of how many cases a pair would be judged, by kind."""
    logistic = LogisticModel(model["intercept"], model["weights"])
    counts: dict[tuple[str, bool], Counter[bool]] = defaultdict(Counter)
    for case, found in zip(cases, signals, strict=True):
        told = max((logistic.probability(row) for row in found), default=0.0) >= model["threshold"]
        for kind in (case.kind, case.kind.split()[0], "all"):
            counts[kind, case.disagrees][told] += 1
    for kind in sorted({kind for kind, _ in counts}):
        said = [f"{counts[kind, side][True]} of {counts[kind, side].total()}" for side in (True, False)]
        print(f"{kind:24} judged where they disagree {said[0]:14} where they agree {said[1]}")


def main() -> None:
    """Collect the cases, fit, report, write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--per-kind", type=int, default=25)
    parser.add_argument("--out", type=Path, default=Path("src/assay/guard/screening/conflicts.json"))
    given = parser.parse_args()
    scorer = OnnxCrossEncoder.load(WEIGHTS)
    sides: dict[Side, list[Case]] = {
        side: [*written_cases(side), *planted_cases(given.data, side, given.per_kind)] for side in ("fit", "test")
    }
    read = {side: cached(cases, given.cache, scorer) for side, cases in sides.items()}
    model = fitted(sides["fit"], read["fit"])
    for side, cases in sides.items():
        print(f"--- {side}: {len(cases)} cases")
        report(cases, read[side], model)
    counts = Counter(case.disagrees for case in sides["fit"])
    told = {
        "fitted_by": "python -m train.fit_screen_conflicts",
        "rows": f"{counts[True]} cases that disagree and {counts[False]} that agree, of the fit side",
        "network": scorer.digest,
    }
    given.out.write_text(json.dumps({**model, **told}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
