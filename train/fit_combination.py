"""Fit the logistic models that combine the tiers' signals, on documents the network was not trained on.

    python -m train.fit_combination --data ../shared/data --cache .work/signals \
        --out src/assay/verify/network/combination.json

Signals are computed by the guard itself over the `fit` documents (see `train/rows.py`), so that they mean in the fit
what they mean in use, and are cached by the verifier's digest. Every set weighs the same up to a cap. The model of
support sees all rows, the one that tells contradiction from silence those that are labelled one or the other, and
that of contradiction those whose source tells the two apart. The figures that are printed come from the `test`
documents, which nothing is fitted on.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.config import Guard
from assay.stats.calibration import ece, fit_logistic, reliability
from assay.stats.classification import auroc, balanced_accuracy
from assay.verify.network.combination import Combination, LogisticModel, features, of_both
from train.edits import EDITABLE, make_rows
from train.rows import Part, Row, detokenise, load_training_sets, part_of
from train.scenario_rows import SOURCE, batches, evidence_of, kept_claims

LOGITS = (
    "entail_sentence",
    "entail_passage",
    "entail_document",
    "entail_max",
    "entail_top",
    "contra_sentence",
    "contra_passage",
    "contra_document",
    "contra_max",
    "contra_related",
    "wrong_word",
    "wrong_word_document",
)
SET_WEIGHT_CAP = 250.0
"""A set counts as at most so many rows."""
RIDGE = 10.0
"""Penalty on coefficients of standardised features."""
EDITED = 5
"""Rows with planted edits, in multiples of a set's rows: the kinds together count like a handful of sets."""
MIN_SPREAD = 1e-9
"""A feature that never varies can teach nothing."""
SCENARIOS_OF = 4
"""Claims of a batch of scenarios, in multiples of a set's rows, and what the batch weighs, in multiples of a set: they
are answers over documents in a model's own words, which is what the verifier meets."""
WRITTEN = 3.0
"""What a claim of a scenario weighs: among fifty sets of other kinds there are few of them. With 1 the held-out batches
are ranked 0.7 points of AUROC worse, with 6 the sets 0.6 points."""
DROPPED = frozenset({"margin", "entail_mean", "contra_mean", "trigram_precision"})
"""Signals that repeat others and would only make the coefficients unreadable: with one window the mean is the best.
Trigrams count afterwards (`train.fit_wording`): among the sets of this fit they say next to nothing."""


def chosen_rows(data: Path, part: Part, most: int, seed: int = 11) -> list[Row]:
    """A seeded sample of each set's documents on one side of the split, and claims edited from their evidence."""
    pools: dict[str, list[Row]] = {}
    for row in load_training_sets(data):
        if part_of(row) == part:
            pools.setdefault(row.source, []).append(row)
    rng = random.Random(seed)
    rows: list[Row] = []
    for source in sorted(pools):
        rng.shuffle(pools[source])
        rows.extend(pools[source][:most])
    edited = make_rows([row for row in rows if row.source in EDITABLE], EDITED * most, seed)
    return [*with_distractors([*rows, *edited]), *strangers(rows, 2 * most), *of_scenarios(part, SCENARIOS_OF * most)]


def of_scenarios(part: Part, most: int, seed: int = 14) -> list[Row]:
    """Claims of the written scenarios on one side with all of their evidence, at most so many of each batch."""
    rng = random.Random(seed)
    found: list[Row] = []
    for batch, scenarios in batches("fit" if part == "fit" else "test").items():
        rows = [
            Row(f"{SOURCE}:{batch}", evidence, claim["text"], claim["label"], scenario["question"])
            for scenario in scenarios
            for evidence in (
                tuple(f"{one.title}\n{one.text}" if one.title else one.text for one in evidence_of(scenario)),
            )
            for _, claim in kept_claims(scenario)
        ]
        found += rng.sample(rows, min(most, len(rows)))
    return found


def with_distractors(rows: Sequence[Row], seed: int = 12) -> list[Row]:
    """The rows, every second one with the evidence of one to three other documents of its set beside its own.

    In use a claim meets several passages of which most speak of something else; the labelled pairs mostly have one.
    Labels stay: another document of the set says nothing of the claim, as far as its makers know.
    """
    rng = random.Random(seed)
    by_set: dict[str, list[Row]] = {}
    for row in rows:
        by_set.setdefault(row.source, []).append(row)
    mixed: list[Row] = []
    for number, row in enumerate(rows):
        others = [
            o for o in rng.sample(by_set[row.source], min(3, len(by_set[row.source]))) if o.document != row.document
        ]
        if number % 2 and others:
            extra = [e for other in others[: rng.randint(1, 3)] for e in other.evidence[:12]]
            mixed.append(dataclasses.replace(row, evidence=(*row.evidence, *extra)))
        else:
            mixed.append(row)
    return mixed


def strangers(rows: Sequence[Row], count: int, seed: int = 13) -> list[Row]:
    """Claims held against a document of another set, which says nothing of them: unsupported, never contradicted.

    Some sets call a premise about something else a contradiction; in use it is the commonest premise of all.
    """
    rng = random.Random(seed)
    found: list[Row] = []
    while len(found) < count:
        claim, other = rng.choice(rows), rng.choice(rows)
        if claim.source != other.source and claim.question is None:
            found.append(dataclasses.replace(claim, source="strangers", evidence=other.evidence, label="unsupported"))
    return found


def cache_key(guard: Guard, rows: Sequence[Row]) -> str:
    """Names all that signals depend on: tiers, windows, and the rows themselves, which change with the generator."""
    digest = hashlib.blake2b(digest_size=16)
    for row in rows:
        digest.update(json.dumps([row.claim, row.evidence, row.question]).encode())
    return f"{guard.tiers_digest} windows {guard.policy.windows_per_claim} rows {digest.hexdigest()}"


def signals_of(guard: Guard, rows: Sequence[Row], cache: Path) -> list[dict[str, float]]:
    """Each row's signals as the guard sees them; computed once per verifier and rows, and kept in the cache file."""
    cache.parent.mkdir(parents=True, exist_ok=True)
    key = cache_key(guard, rows)
    if cache.exists():
        stored = json.loads(cache.read_text())
        if stored["key"] == key:
            return list(stored["signals"])
    found: list[dict[str, float]] = []
    for begin in range(0, len(rows), 200):
        part = rows[begin : begin + 200]
        requests = [
            (detokenise(row.claim), [detokenise(e) for e in row.evidence if e.strip()], row.question) for row in part
        ]
        found.extend(report.signals for report in guard.judge_claims(requests))
        print(f"\r{len(found)} of {len(rows)} rows", end="", flush=True)
    print()
    cache.write_text(json.dumps({"key": key, "signals": found}))
    return found


def with_signals(rows: Sequence[Row], signals: Sequence[dict[str, float]]) -> tuple[list[Row], list[dict[str, float]]]:
    """The rows that have signals: a "Yes." to a question that makes no statement is unchecked and has none."""
    kept = [(row, one) for row, one in zip(rows, signals, strict=True) if one]
    return [row for row, _ in kept], [one for _, one in kept]


def matrix(signals: Sequence[dict[str, float]]) -> tuple[list[str], NDArray[np.float64]]:
    """Feature names in sorted order and their values, one row each."""
    built = [features(one, LOGITS) for one in signals]
    names = sorted(set(built[0]) - DROPPED)
    return names, np.array([[one[name] for name in names] for one in built])


def weights_by_set(sources: Sequence[str]) -> NDArray[np.float64]:
    """Weights under which no set counts for more than the cap."""
    counts = Counter(sources)
    written = {one for one in counts if one.startswith(SOURCE)}
    caps = {one: SET_WEIGHT_CAP * (SCENARIOS_OF if one in written else 1) for one in counts}
    weights = {one: min(1.0, caps[one] / counts[one]) * (WRITTEN if one in written else 1) for one in counts}
    return np.array([weights[source] for source in sources])


def sign_of_support(name: str) -> int:
    """Which way a feature may move the probability of support: 1 up, -1 down, 0 either way.

    A coefficient of the other sign would be an accident of the rows: no reader could follow it, and a claim could gain
    from what speaks against it.
    """
    signal = name.removeprefix("logit(").removesuffix(")")
    if signal.startswith(("contradicts_", "contra_", "strongest_", "wrong_")) or signal == "negation_differs":
        return -1
    helps = signal.startswith(("entail_", "word_recall", "bigram_", "order_", "verbatim")) or signal.endswith("_found")
    return 1 if helps or signal in ("numbers_on_subject", "supports_record") else 0


def sign_against(name: str) -> int:
    """The same for contradiction of a claim that is not supported: what contradicts counts up, all else either way.

    Shared words do not speak for a claim here: evidence about the claim's own matter contradicts it more often than
    evidence about another.
    """
    signal = name.removeprefix("logit(").removesuffix(")")
    return int(signal.startswith(("contradicts_", "contra_")) or signal == "strongest_contradiction")


def fit(
    names: Sequence[str],
    values: NDArray[np.float64],
    outcomes: NDArray[np.bool_],
    weights: NDArray[np.float64],
    sign: Callable[[str], int],
) -> dict[str, Any]:
    """A logistic model on standardised features whose coefficients have the expected signs.

    Features whose coefficient has the wrong sign are left out, the larger half of them at a time, until none has. The
    coefficients are given back in terms of the features themselves.

    Args:
        names: the features.
        values: of shape (rows, features).
        outcomes: what is to be predicted.
        weights: how much each row counts.
        sign: which way each feature may move the probability: 1 up, -1 down, 0 either way.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    kept = [i for i in range(len(names)) if spread[i] > MIN_SPREAD]
    while True:
        model = fit_logistic((values[:, kept] - mean[kept]) / spread[kept], outcomes, l2=RIDGE, weights=weights)
        slopes = dict(zip(kept, model.coefficients, strict=True))
        wrong = [i for i in kept if sign(names[i]) * slopes[i] < 0]
        if not wrong:
            break
        wrong.sort(key=lambda i: -abs(slopes[i]))
        dropped = set(wrong[: (len(wrong) + 1) // 2])
        kept = [i for i in kept if i not in dropped]
    raw = {names[i]: slopes[i] / spread[i] for i in kept}
    intercept = model.intercept - sum(slopes[i] * mean[i] / spread[i] for i in kept)
    return {"intercept": round(float(intercept), 5), "weights": {name: round(float(v), 5) for name, v in raw.items()}}


def describe(
    name: str, probabilities: NDArray[np.float64], outcomes: NDArray[np.bool_], sources: Sequence[str]
) -> None:
    """Print calibration and ranking over all rows and by set."""
    overall = auroc(outcomes, probabilities).value
    print(f"{name}: {len(outcomes)} rows, ECE {ece(probabilities, outcomes):.3f}, AUROC {overall:.3f}")
    for bin_ in reliability(probabilities, outcomes):
        print(f"    {bin_}")
    for source in sorted(set(sources)):
        here = np.array([s == source for s in sources])
        if len(set(outcomes[here].tolist())) == 2:
            ranked = auroc(outcomes[here], probabilities[here]).value
            balanced = balanced_accuracy(outcomes[here], probabilities[here] >= 0.5).value
            print(f"  {source:28} n {here.sum():4d}  AUROC {ranked:.3f}  balanced {balanced:.3f}")


def main() -> None:
    """Read arguments, compute signals, fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="folder for the computed signals")
    parser.add_argument("--fit-rows", type=int, default=200, help="rows of each set to fit on, at most")
    parser.add_argument("--test-rows", type=int, default=110, help="rows of each set to report on, at most")
    arguments = parser.parse_args()
    guard = Guard("general")
    parts: dict[Part, tuple[list[Row], list[dict[str, float]]]] = {}
    for part in SIDES:
        rows = chosen_rows(arguments.data, part, arguments.fit_rows if part == "fit" else arguments.test_rows)
        parts[part] = with_signals(rows, signals_of(guard, rows, arguments.cache / f"{part}.json"))
    record = {
        "fitted_by": "python -m train.fit_combination",
        "rows": {part: len(rows) for part, (rows, _) in parts.items()},
        "ridge": RIDGE,
        "logits": list(LOGITS),
        **fit_all(*parts["fit"]),
        **kept_wording(arguments.out),
    }
    text = json.dumps(record, indent=2) + "\n"
    arguments.out.write_text(text)
    combination = Combination.from_json(text)
    rows, signals = parts["test"]
    for target in ("support", "contradiction", "against"):
        some, theirs = _rows_for(target, rows, signals)
        judged = [combination.judge(one) for one in theirs]
        given = np.array([j.support if target == "support" else j.contradiction for j in judged])
        if target == "against":  # as `assay eval` ranks: how probable contradiction is where there is no support
            given = given / (1 - np.array([j.support for j in judged]))
        describe(target, given, np.array([row.label == WANTED[target] for row in some]), [row.source for row in some])


def kept_wording(path: Path) -> dict[str, Any]:
    """What `train.fit_wording` fitted before, where there is any: fit it anew after this."""
    before = json.loads(path.read_text()) if path.exists() else {}
    return {"wording": before["wording"]} if "wording" in before else {}


SIDES: tuple[Part, ...] = ("fit", "test")
WANTED = {"support": "supported", "against": "contradicted", "contradiction": "contradicted"}


def _rows_for(
    target: str, rows: Sequence[Row], signals: Sequence[dict[str, float]]
) -> tuple[list[Row], list[dict[str, float]]]:
    """Rows that can teach the target: for contradiction only those whose source tells it from lack of support."""
    unfit = {"support": (), "contradiction": ("not_supported",), "against": ("not_supported", "supported")}[target]
    kept = [(r, s) for r, s in zip(rows, signals, strict=True) if r.label not in unfit]
    return [r for r, _ in kept], [s for _, s in kept]


def fit_all(rows: Sequence[Row], signals: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The three models of `assay.verify.network.combination.Combination`."""
    weights = weights_by_set([row.source for row in rows])
    supported = np.array([row.label == "supported" for row in rows])
    fitted: dict[str, Any] = {"prior": round(float(weights @ supported / weights.sum()), 4)}
    for target, sign in (("support", sign_of_support), ("against", sign_against)):
        some, theirs = _rows_for(target, rows, signals)
        names, values = matrix(theirs)
        wanted = np.array([row.label == WANTED[target] for row in some])
        fitted[target] = fit(names, values, wanted, weights_by_set([row.source for row in some]), sign)
    support, against = (
        LogisticModel(fitted[name]["intercept"], fitted[name]["weights"]) for name in ("support", "against")
    )
    some, theirs = _rows_for("contradiction", rows, signals)
    read = [features(one, LOGITS) for one in theirs]
    both = [of_both(support.probability(one), against.probability(one)) for one in read]
    names = sorted(both[0])
    values = np.array([[one[name] for name in names] for one in both])
    wanted = np.array([row.label == WANTED["contradiction"] for row in some])
    weights = weights_by_set([row.source for row in some])
    fitted["contradiction"] = fit(names, values, wanted, weights, lambda name: -1 if "support" in name else 1)
    return fitted


if __name__ == "__main__":
    main()
