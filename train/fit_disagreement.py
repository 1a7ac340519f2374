"""Fits the model that says whether another source says something else of what a source states.

    python -m train.fit_disagreement --data ../shared/data --cache .work/disagreement.json [--most N]

Rows that disagree are claims that are labelled contradicted: beside their evidence the claim itself stands as a second
source. Rows that do not are claims labelled supported or unsupported in the same way, and, as in use, right claims and
copied sentences of scenarios with several sources. All come from the `fit` side (batches of `train.scenario_rows.FIT`,
documents of sets whose contradictions are of one subject), which the network was not trained on. Only claims that a
source by itself bears out are counted: no others are asked about. The threshold is the lowest at which at most
`FALSE_ALARMS` of those beside several sources meet a source that is said to disagree. Signals are kept in the cache by
the network's digest and the row.
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
from numpy.typing import NDArray

from assay.guard.conflicts.disagreement import MOST_SOURCES, ask_other_sources, others_of, speaks_against
from assay.guard.conflicts.source_matching import same_subject, states_disagreement
from assay.guard.conflicts.superseded_sources import superseded
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.schema import Evidence
from assay.text.sentences.splitting import split_sentences
from assay.verify.network.combination import LogisticModel
from assay.verify.network.entailment import judge
from train.fit_combination import fit
from train.rows import detokenise, load_training_sets, part_of
from train.scenario_rows import WEIGHTS, batches, evidence_of, kept_claims

SETS = ("infotabs", "checkcovid", "fever_symmetric", "fm2")
"""Sets in which a contradiction is of one subject and is no other scene, as it is where captions are compared."""
FALSE_ALARMS, INSTEAD_ALARMS = 0.0, 0.005
"""The shares of claims as in use on which the model and the test of another value may find a disagreement. Some
of them are real: sources of scenarios disagree here and there, and a copied sentence follows one of them."""
SURE_OF = 0.97
"""The share of rows that disagree, as far as the model hears them, that the two bounds of the screen let through."""
OWN = "0-own"
BESIDE, COPIED = "beside", "copied"
"""The kinds of rows that are as in use: a right claim, or a sentence of a source, and the other sources."""
IN_USE = frozenset({BESIDE, COPIED})
COPIES = 3
"""Sentences that are copied from the sources of a scenario."""
OF_OTHERS = 0.25
"""What a row counts that does not disagree and is not as in use: its second source was made of its claim."""
SIGNS = {"entail": -1, "neutral": -1, "contra": 1, "denied": 1}
"""The signals that the model reads, and which way each may move the probability of a disagreement."""


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
    rng, copying = random.Random(seed), random.Random(seed + 1)
    pools: dict[str, list[Pairing]] = {}
    for row in load_training_sets(data):
        if row.source in SETS and part_of(row) == "fit" and row.label != "not_supported":
            texts = [detokenise(one) for one in row.evidence if one.strip()]
            made = _with_itself(row.source, detokenise(row.claim), texts, row.label)
            pools.setdefault(f"{row.source} {row.label}", []).append(made)
    for scenario in (one for found in batches("fit").values() for one in found):
        given = evidence_of(scenario)
        out = superseded(given)
        evidence = [one for one in given if one.id not in out]
        if len(evidence) > 1:
            pools.setdefault(COPIED, []).extend(_copies(evidence, copying))
        for _, claim in kept_claims(scenario):
            if claim["label"] == "supported" and len(evidence) > 1:
                made = Pairing(BESIDE, claim["text"], tuple(evidence), frozenset(), False)
                pools.setdefault(BESIDE, []).append(made)
            else:
                texts = [f"{one.title}\n{one.text}" if one.title else one.text for one in evidence]
                made = _with_itself("scenario", claim["text"], texts, claim["label"])
                pools.setdefault(f"scenario {claim['label']}", []).append(made)
    found: list[Pairing] = []
    for name in sorted(pools, key=lambda name: (name == COPIED, name)):
        size = {"scenario": 3, BESIDE: 8, COPIED: 6}.get(name.split()[0], 1) * most
        found += rng.sample(pools[name], min(size, len(pools[name])))
    return found


def _copies(evidence: Sequence[Evidence], rng: random.Random) -> list[Pairing]:
    """Sentences of prose out of the sources, each as a claim beside all of them."""
    found = [
        (one.id, text)
        for one in evidence
        for place in split_sentences(one.text)
        for text in (one.text[place.start : place.end].strip(),)
        if text.endswith(".") and text[:1].isupper() and 5 <= len(text.split()) <= 30 and "\n" not in text
    ]
    return [
        Pairing(COPIED, text, tuple(evidence), frozenset({name}), False)
        for name, text in rng.sample(found, min(COPIES, len(found)))
    ]


def _with_itself(kind: str, claim: str, texts: Sequence[str], label: str) -> Pairing:
    sources = [Evidence(id=f"{i + 1}", text=text) for i, text in enumerate(texts)]
    own = Evidence(id=OWN, text=claim)
    return Pairing(kind, claim, (own, *sources), frozenset({OWN}), label == "contradicted")


def heard(row: Pairing, scorer: OnnxCrossEncoder) -> Iterator[dict[str, Any]]:
    """The signals of a row's other sources; of one that disagrees only those of the source that says most."""
    index = EvidenceIndex(row.sources, scorer.count_tokens, PremiseOptions(document_tokens=0))
    read = judge([index.candidates(row.claim)], scorer)[0]
    others = [
        one
        for one in others_of(row.claim, read, row.stating)
        if not states_disagreement(row.claim, one.own.premise.text, one.reading.premise.text)
    ]
    for one in ask_other_sources(others[: 1 if row.disagrees else MOST_SOURCES], scorer):
        reading = one.other.reading
        said = frozenset({reading.premise.text} if one.exchanged else ())
        may = same_subject(row.claim, row.sources, said)
        if may(min(one.other.own.premise.evidence_ids), one.other.source, reading.premise.text):
            yield {
                "kind": row.kind,
                "claim": row.claim,
                "other": reading.premise.text[:300],
                "disagrees": row.disagrees,
                "signals": dict(one.signals),
                "neutral": reading.neutral,
                "entailment": reading.entailment,
            }


def kept(rows: Sequence[Pairing], cache: Path) -> list[dict[str, Any]]:
    """The signals of all rows, each computed once for a network."""
    scorer = OnnxCrossEncoder.load(WEIGHTS)
    stored: dict[str, list[dict[str, Any]]] = json.loads(cache.read_text()) if cache.exists() else {}
    names = [_name(scorer.digest, row) for row in rows]
    for number, (name, row) in enumerate(zip(names, rows, strict=True)):
        if name not in stored:
            stored[name] = list(heard(row, scorer))
            if number % 20 == 0:
                print(f"\r{number} of {len(rows)} rows", end="", flush=True)
    print()
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps(stored))
    return [one for name in names for one in stored[name]]


def _name(digest: str, row: Pairing) -> str:
    said = json.dumps([digest, row.kind, row.claim, row.disagrees, [one.text for one in row.sources]])
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def main() -> None:
    """Read arguments, compute signals, fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="file for the computed signals")
    parser.add_argument("--out", type=Path, default=Path("src/assay/guard/conflicts/disagreement.json"))
    parser.add_argument("--most", type=int, default=25, help="rows of a label of a set at most")
    given = parser.parse_args()
    rows = pairings(given.data, given.most)
    found = kept(rows, given.cache)
    outcomes = np.array([one["disagrees"] for one in found])
    in_use = np.array([one["kind"] in IN_USE for one in found])
    counted = np.where(outcomes | in_use, 1.0, OF_OTHERS)
    counted[outcomes] *= counted[~outcomes].sum() / outcomes.sum()
    against = np.array([speaks_against(one["signals"]) for one in found])
    values = np.array([[one["signals"][name] for name in SIGNS] for one in found])
    fitted = fit(list(SIGNS), values[against], outcomes[against], counted[against], SIGNS.__getitem__)
    model = LogisticModel(fitted["intercept"], fitted["weights"])
    probabilities = np.where(against, [model.probability(one["signals"]) for one in found], 0.0)
    instead = np.array([one["signals"]["instead"] for one in found])
    claims = sum(row.kind in IN_USE for row in rows)
    threshold, least = (
        _above(of[in_use], share * claims) for of, share in ((probabilities, FALSE_ALARMS), (instead, INSTEAD_ALARMS))
    )
    told = (probabilities >= threshold) | (instead >= least)
    heard_rows = [one for one, here in zip(found, told & outcomes, strict=True) if here]
    record = {
        "fitted_by": "python -m train.fit_disagreement",
        "rows": {"disagree": int(outcomes.sum()), "not": int((~outcomes).sum()), "claims in use": claims},
        "threshold": threshold,
        "instead": least,
        "most_neutral": _bound([one["neutral"] for one in heard_rows]),
        "most_entailed": _bound([one["entailment"] for one in heard_rows]),
        **fitted,
    }
    given.out.write_text(json.dumps(record, indent=2) + "\n")
    for kind in sorted({row.kind for row in rows}):
        here = np.array([one["kind"] == kind for one in found])
        print(
            f"{kind:16} {sum(row.kind == kind for row in rows):4d} claims; asked of such as disagree "
            f"{int((here & outcomes).sum()):4d}, found {int((told & here & outcomes).sum()):4d}; of others "
            f"{int((here & ~outcomes).sum()):4d}, found {int((told & here & ~outcomes).sum()):4d}"
        )
    for one, here in zip(found, told & in_use, strict=True):
        if here:
            print("found in use:", one["claim"][:160], "|", one["other"][:160].replace("\n", " "))
    print(json.dumps(record, indent=1))


def _above(values: NDArray[np.float64], most: float) -> float:
    """The lowest value, rounded up, that at most so many of the values reach."""
    ordered = np.sort(values)[::-1]
    return round(float(ordered[int(most)]) + 0.01, 3)


def _bound(values: Sequence[float]) -> float:
    return round(float(np.quantile(values, SURE_OF)), 3)


if __name__ == "__main__":
    main()
