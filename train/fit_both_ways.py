"""Fits the model that says whether two sentences of two sources disagree, by how each is read beside the other.

    python -m train.fit_both_ways --data ../shared/data [--most N] [--cache .work/both_ways.json]

A pair disagrees where one of the two is a claim that is labelled contradicted and the other the sentence of its
evidence that the network finds against it most. Pairs that do not: claims labelled supported or unsupported beside
their evidence in the same way, right claims of scenarios and copied sentences beside the other sources, and beside the
other sentences of their own source. All come from the `fit` side (`train.fit_disagreement`), which the network was
not trained on. The threshold is the lowest at which at most `FALSE_ALARMS` of the claims as in use meet a sentence
that is said to disagree. Sentences about two subjects are among them: what keeps those apart in use
(`same_subject`) is left out here, so that the model does not lean on it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.guard.conflicts.both_ways import SIGNS, SentencePair, read_both_ways, sentence_pairs
from assay.guard.conflicts.disagreement import MOST_SOURCES, others_of
from assay.guard.conflicts.source_matching import states_disagreement
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.schema import Evidence
from assay.verify.network.combination import LogisticModel
from assay.verify.network.entailment import PremiseScores, judge
from train.fit_combination import fit
from train.fit_disagreement import COPIED, IN_USE, Pairing, pairings
from train.scenario_rows import WEIGHTS

FALSE_ALARMS = 0.01
"""The share of claims as in use on which a disagreement may be found; some of them are real."""
HARD_ALARMS = 0.1
"""The same of the other claims that are not contradicted and were read: nearly all are of the same matter as their
evidence, as a source that speaks of another case of it is."""
SURE_OF = 0.97
"""The share of the rows found to disagree that the bound of the screen lets through."""
NEUTRAL = "read_neutral"
"""How neutral the claim is beside the whole other source: the signal of the screen."""
OF_OTHERS = 0.5
"""What a row counts that does not disagree and is not as in use."""
WITHIN = "within"
"""A copied sentence beside the rest of its own source, as if that were another one."""


@dataclass(frozen=True)
class Row:
    """The signals of a claim's sentence pairs, and whether one of them disagrees."""

    kind: str
    claim: str
    disagrees: bool
    pairs: list[tuple[str, dict[str, float]]]
    """The other sentence and the signals of each pair."""


def within(rows: Sequence[Pairing]) -> Iterator[Pairing]:
    """Copied sentences beside the rest of the source that they come from."""
    for row in rows:
        if row.kind != COPIED:
            continue
        name = next(iter(row.stating))
        source = next(one for one in row.sources if one.id == name)
        rest = source.text.replace(row.claim, " ")
        if rest.strip() and row.claim not in rest:
            own = Evidence(id="own", text=row.claim)
            made = Evidence(id="rest", text=rest, title=source.title)
            yield Pairing(WITHIN, row.claim, (own, made), frozenset({"own"}), False)


def read(row: Pairing, scorer: OnnxCrossEncoder) -> Row:
    """The signals of a row's other sources: of one that disagrees those of the source that says most against it."""
    index = EvidenceIndex(row.sources, scorer.count_tokens, PremiseOptions(document_tokens=0))
    found = judge([index.candidates(row.claim)], scorer)[0]
    pairs: list[tuple[SentencePair, float]] = []
    for one in list(others_of(row.claim, found, row.stating))[: 1 if row.disagrees else MOST_SOURCES]:
        if states_disagreement(row.claim, one.own.premise.text, one.reading.premise.text):
            continue
        pairs += [
            (pair, one.reading.neutral) for pair in sentence_pairs(row.claim, text_of(one.own), text_of(one.reading))
        ]
    signals = read_both_ways([pair for pair, _ in pairs], scorer)
    told = [
        (pair.other, {**one, NEUTRAL: neutral})
        for (pair, neutral), one in zip(pairs, signals, strict=True)
        if one is not None
    ]
    if row.disagrees:  # the sentence that disagrees is the one that is read so most
        told = sorted(told, key=lambda one: -one[1]["contra"])[:1]
    return Row(row.kind, row.claim, row.disagrees, told)


def text_of(reading: PremiseScores) -> str:
    """What a source says itself, without the title in front."""
    return "\n".join(window.text for window in reading.premise.windows)


def kept(rows: Sequence[Pairing], cache: Path | None) -> list[Row]:
    """The signals of all rows; those in the cache as they are."""
    scorer = OnnxCrossEncoder.load(WEIGHTS)
    names = [json.dumps([scorer.digest, row.kind, row.claim, [one.text for one in row.sources]]) for row in rows]
    known: dict[str, Any] = json.loads(cache.read_text()) if cache is not None and cache.exists() else {}
    for number, (name, row) in enumerate(zip(names, rows, strict=True)):
        if name not in known:
            known[name] = read(row, scorer).pairs
        if number % 100 == 0:
            print(f"{number} of {len(rows)} rows", flush=True)
    if cache is not None:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(known))
    return [
        Row(row.kind, row.claim, row.disagrees, [(text, one) for text, one in known[name]])
        for name, row in zip(names, rows, strict=True)
    ]


def main() -> None:
    """Read arguments, compute signals, fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("src/assay/guard/conflicts/both_ways.json"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--most", type=int, default=60, help="rows of a label of a set at most")
    given = parser.parse_args()
    chosen = pairings(given.data, given.most)
    rows = kept([*chosen, *within(chosen)], given.cache)
    in_use = IN_USE
    pairs = [(row, one) for row in rows for _, one in row.pairs]
    names = list(SIGNS)
    values = np.array([[one[name] for name in names] for _, one in pairs])
    outcomes = np.array([row.disagrees for row, _ in pairs])
    counted = np.array([1.0 if row.disagrees or row.kind in in_use else OF_OTHERS for row, _ in pairs])
    counted[outcomes] *= counted[~outcomes].sum() / outcomes.sum()
    fitted = fit(names, values, outcomes, counted, SIGNS.__getitem__)
    model = LogisticModel(fitted["intercept"], fitted["weights"])
    most = {id(row): max([model.probability(one) for _, one in row.pairs], default=0.0) for row in rows}
    used = [most[id(row)] for row in rows if row.kind in in_use]
    hard = [most[id(row)] for row in rows if not row.disagrees and row.pairs and row.kind not in in_use]
    threshold = max(_above(used, FALSE_ALARMS), _above(hard, HARD_ALARMS))
    found = [one[NEUTRAL] for row, one in pairs if row.disagrees and model.probability(one) >= threshold]
    record = {
        "fitted_by": "python -m train.fit_both_ways",
        "rows": {
            "disagree": int(outcomes.sum()),
            "not": int((~outcomes).sum()),
            "claims in use": len(used),
        },
        "threshold": threshold,
        "most_neutral": round(float(np.quantile(found, SURE_OF)), 3),
        **fitted,
    }
    given.out.write_text(json.dumps(record, indent=2) + "\n")
    kinds: dict[tuple[str, bool], Counter[str]] = {}
    for row in rows:
        here = kinds.setdefault((row.kind, row.disagrees), Counter())
        here.update(claims=1, read=bool(row.pairs), found=most[id(row)] >= threshold)
        if row.kind in in_use and most[id(row)] >= threshold:
            worst = max(row.pairs, key=lambda one: model.probability(one[1]))[0]
            print("found in use:", row.kind, row.claim[:160], "|", worst[:160])
    for (kind, disagrees), counts in sorted(kinds.items()):
        print(f"{kind:26}{'disagree' if disagrees else 'not':10}", dict(counts))
    for least in (0.5, 0.55, 0.6, 0.65, 0.7):
        told = {
            name: f"{sum(one >= least for one in some)} of {len(some)}"
            for name, some in (
                ("in use", used),
                ("hard", hard),
                ("disagree", [most[id(row)] for row in rows if row.disagrees]),
            )
        }
        print(f"from {least}:", told)
    print(json.dumps(record, indent=1))


def _above(values: Sequence[float], share: float) -> float:
    """The lowest threshold, rounded up, that at most this share of the values reaches."""
    ordered = np.sort(values)[::-1]
    return round(float(ordered[int(share * len(ordered))]) + 0.001, 3)


if __name__ == "__main__":
    main()
