"""Fits the model that says whether another source says something else of what a source states.

    python -m train.fit_disagreement --data ../shared/data --cache .work/disagreement.json [--most N]

Rows that disagree are claims that are labelled contradicted: beside their evidence the claim itself stands as a second
source. Rows that do not are claims labelled supported or unsupported in the same way, and claims of scenarios that
several sources leave standing, each with the sources that were read for it. All come from the `fit` side (batches of
`train.scenario_rows.FIT`, documents of sets whose contradictions are of one subject), which the network was not
trained on. The threshold is the lowest at which at most `FALSE_ALARMS` of the right claims beside several sources meet
a source that is said to disagree. Signals are kept in the cache by the verifier's digest and the rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.guard.disagreement import MOST_SOURCES, Heard, Other, hear, others_of
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.schema import Evidence
from assay.verify.combine import LogisticModel
from assay.verify.entailment import judge
from train.fit_combination import fit
from train.rows import detokenise, load_training_sets, part_of
from train.scenario_rows import WEIGHTS, batches, evidence_of, kept_claims

SETS = ("infotabs", "checkcovid", "fever_symmetric", "fm2")
"""Sets in which a contradiction is of one subject and is no other scene, as it is where captions are compared."""
FALSE_ALARMS = 0.01
"""The share of right claims beside several sources on which a disagreement may be found wrongly."""
SURE_OF = 0.97
"""The share of rows that disagree, as far as the model hears them, that the two bounds of the screen let through."""
OWN = "0-own"
BESIDE = "beside"
"""The kind of rows that are as in use: a right claim and sources of which one bears it out."""
DOWN = frozenset({"entail", "neutral", "agree", "denial_against"})
UP = frozenset({"contra", "denial", "between", "between_both", "exchange_both", "borne_out", "denied_here"})


@dataclass(frozen=True)
class Pairing:
    """A claim beside sources, and whether one of them says otherwise."""

    kind: str
    claim: str
    sources: tuple[Evidence, ...]
    stating: frozenset[str]
    disagrees: bool


def pairings(data: Path, most: int, seed: int = 5) -> list[Pairing]:
    """The rows: at most so many of each label of a set, three times as many of the scenarios."""
    rng = random.Random(seed)
    pools: dict[str, list[Pairing]] = {}
    for row in load_training_sets(data):
        if row.source in SETS and part_of(row) == "fit" and row.label != "not_supported":
            texts = [detokenise(one) for one in row.evidence if one.strip()]
            made = _with_itself(row.source, detokenise(row.claim), texts, row.label)
            pools.setdefault(f"{row.source} {row.label}", []).append(made)
    for scenario in (one for found in batches("fit").values() for one in found):
        evidence = evidence_of(scenario)
        for _, claim in kept_claims(scenario):
            if claim["label"] == "supported" and len(evidence) > 1:
                made = Pairing(BESIDE, claim["text"], tuple(evidence), frozenset(), False)
                pools.setdefault(BESIDE, []).append(made)
            else:
                texts = [f"{one.title}\n{one.text}" if one.title else one.text for one in evidence]
                made = _with_itself("scenario", claim["text"], texts, claim["label"])
                pools.setdefault(f"scenario {claim['label']}", []).append(made)
    found: list[Pairing] = []
    for name in sorted(pools):
        size = {"scenario": 3, BESIDE: 6}.get(name.split()[0], 1) * most
        found += rng.sample(pools[name], min(size, len(pools[name])))
    return found


def _with_itself(kind: str, claim: str, texts: Sequence[str], label: str) -> Pairing:
    sources = [Evidence(id=f"{i + 1}", text=text) for i, text in enumerate(texts)]
    own = Evidence(id=OWN, text=claim)
    return Pairing(kind, claim, (own, *sources), frozenset({OWN}), label == "contradicted")


def heard(rows: Sequence[Pairing]) -> Iterator[dict[str, Any]]:
    """The signals of each row's other sources; of one that disagrees only those of the source that says most."""
    scorer = OnnxCrossEncoder.load(WEIGHTS)
    for number, row in enumerate(rows):
        index = EvidenceIndex(row.sources, scorer.count_tokens, PremiseOptions(document_tokens=0))
        read = judge([index.candidates(row.claim)], scorer)[0]
        others: list[Other] = list(others_of(row.claim, read, row.stating))[: 1 if row.disagrees else MOST_SOURCES]
        found: list[Heard] = hear(others, scorer)
        for one in found:
            reading = one.other.reading
            yield {
                "row": number, "kind": row.kind, "claim": row.claim, "other": reading.premise.text[:300],
                "disagrees": row.disagrees, "signals": dict(one.signals),
                "neutral": reading.neutral, "entailment": reading.entailment,
            }  # fmt: skip
        if number % 20 == 0:
            print(f"\r{number} of {len(rows)} rows", end="", flush=True)
    print()


def kept(rows: Sequence[Pairing], cache: Path) -> list[dict[str, Any]]:
    """The signals of all rows, computed once for a network and these rows."""
    state = hashlib.blake2b(digest_size=16)
    for row in rows:
        state.update(json.dumps([row.claim, [one.text for one in row.sources]]).encode())
    key = f"{OnnxCrossEncoder.load(WEIGHTS).digest} {state.hexdigest()}"
    if cache.exists() and (stored := json.loads(cache.read_text()))["key"] == key:
        return list(stored["found"])
    found = list(heard(rows))
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps({"key": key, "found": found}))
    return found


def sign(name: str) -> int:
    """Which way a signal may move the probability of a disagreement."""
    return -1 if name in DOWN else int(name in UP)


def main() -> None:
    """Read arguments, compute signals, fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="file for the computed signals")
    parser.add_argument("--out", type=Path, default=Path("src/assay/guard/disagreement.json"))
    parser.add_argument("--most", type=int, default=25, help="rows of a label of a set at most")
    given = parser.parse_args()
    found = kept(pairings(given.data, given.most), given.cache)
    names = sorted(found[0]["signals"])
    values = np.array([[one["signals"][name] for name in names] for one in found])
    outcomes = np.array([one["disagrees"] for one in found])
    beside = np.array([one["kind"] == BESIDE for one in found])
    weights = np.where(outcomes, (~outcomes).sum() / outcomes.sum(), 1.0)
    fitted = fit(names, values, outcomes, weights, sign)
    model = LogisticModel(fitted["intercept"], fitted["weights"])
    probabilities = np.array([model.probability(one["signals"]) for one in found])
    threshold = float(np.quantile(probabilities[beside], 1 - FALSE_ALARMS, method="higher"))
    threshold = round(min(0.99, max(0.5, threshold + 0.005)), 3)
    told = outcomes & (probabilities >= threshold)
    record = {
        "fitted_by": "python -m train.fit_disagreement",
        "rows": {"disagree": int(outcomes.sum()), "not": int((~outcomes).sum()), BESIDE: int(beside.sum())},
        "threshold": threshold,
        "most_neutral": _bound([one["neutral"] for one, here in zip(found, told, strict=True) if here]),
        "most_entailed": _bound([one["entailment"] for one, here in zip(found, told, strict=True) if here]),
        **fitted,
    }
    given.out.write_text(json.dumps(record, indent=2) + "\n")
    for kind in sorted({one["kind"] for one in found}):
        here = np.array([one["kind"] == kind for one in found])
        alarms, all_of = (probabilities >= threshold) & here, here
        print(
            f"{kind:16} disagree {int((all_of & outcomes).sum()):4d} found {int((alarms & outcomes).sum()):4d}   "
            f"not {int((all_of & ~outcomes).sum()):4d} found {int((alarms & ~outcomes).sum()):4d}"
        )
    print(json.dumps(record, indent=1))


def _bound(values: Sequence[float]) -> float:
    return round(float(np.quantile(values, SURE_OF)), 3)


if __name__ == "__main__":
    main()
