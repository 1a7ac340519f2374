"""What each family of the exact tier's rules is worth: the verifier without it, on rows that nothing was fitted on.

    python -m train.fit_combination --data ../shared/data --out .work/combination.json --cache .work/signals
    python -m train.ablate_rules --data ../shared/data --cache .work/signals

A family is taken away from the signals of all rows and from the bounds that it sets, and the combination is fitted
anew on the `fit` side. What is printed are AUROC of support and balanced accuracy at the threshold of the presets over
groups of `test` rows: sets that people labelled, answers of models among them, planted edits, and scenarios. Signals
come from the cache of `train.fit_combination`, so that a table takes a minute. The last columns say how often a
family's sure finding contradicts a claim and how often it is right to.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from assay.config import Guard
from assay.stats.classification import auroc, balanced_accuracy
from assay.verify.network.combination import Combination
from train.fit_combination import LOGITS, chosen_rows, fit_all, signals_of, with_signals
from train.rows import ANSWERS, Part, Row
from train.scenario_rows import SOURCE

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "antonyms": ("contradicts_antonym",),
    "polarity": ("contradicts_polarity", "claim_negated", "negation_differs"),
    "comparatives": ("contradicts_comparative",),
    "names": ("contradicts_name",),
    "conditions": ("contradicts_condition",),
    "numbers": ("contradicts_number",),
    "dates": ("contradicts_date",),
    "identifiers": ("contradicts_identifier",),
    "quotations": ("contradicts_quote",),
    "arithmetic": ("contradicts_arithmetic",),
    "records": ("contradicts_record", "supports_record"),
}
"""The signals of each family of rules; those that tell what was found, such as `numbers_found`, stay."""
GROUPS = ("sets", "answers", "scenarios", "edits")
THRESHOLD = 0.23
"""Of the probability at the share of the rows: what `support_threshold` of the presets is at the share of use."""
SURE = 0.8
"""From here on a finding bounds the score (`assay.guard.check.verdicts.SURE`)."""


def without(signals: Mapping[str, float], family: str | None) -> dict[str, float]:
    """The signals as they are where a family does not exist."""
    left = {name: 0.0 if family and name in FAMILIES[family] else value for name, value in signals.items()}
    contradicting = [value for name, value in left.items() if name.startswith("contradicts_")]
    return {**left, "strongest_contradiction": max(contradicting, default=0.0)}


def support_of(combination: Combination, signals: Mapping[str, float]) -> float:
    """The probability of support within the bounds of what is sure."""
    judged = combination.judge(signals)
    against = [v for n, v in signals.items() if n.startswith("contradicts_") and v >= SURE]
    if signals["supports_record"] >= SURE and not against:
        return max(judged.support, signals["supports_record"])
    return min(judged.support, 1 - max(against, default=0.0))


def group_of(row: Row) -> str:
    """The group that a row is reported in."""
    if row.source.startswith("edit"):
        return "edits"
    if row.source.startswith(SOURCE):
        return "scenarios"
    return "answers" if row.source in ANSWERS else "sets"


def fitted(rows: Sequence[Row], signals: Sequence[Mapping[str, float]], family: str | None) -> Combination:
    """A combination for signals without a family."""
    models = fit_all(rows, [without(one, family) for one in signals])
    return Combination.from_json(json.dumps({"logits": list(LOGITS), **models}))


def line_of(family: str | None, rows: Sequence[Row], signals: Sequence[Mapping[str, float]], by: Combination) -> str:
    """The figures of what is left without a family."""
    given = np.array([support_of(by, without(one, family)) for one in signals])
    right = np.array([row.label == "supported" for row in rows])
    named = np.array([group_of(row) for row in rows])
    line = (family or "nothing").ljust(14)
    for name in GROUPS:
        here = named == name
        ranked = auroc(right[here], given[here]).value
        line += f"{ranked:16.3f}{balanced_accuracy(right[here], given[here] >= THRESHOLD).value:7.3f}"
    told = [name for name in FAMILIES.get(family or "", ()) if name.startswith("contradicts")]
    sure = np.array([max((one[name] for name in told), default=0.0) >= SURE for one in signals])
    return line + (f"{sure.sum():8d}{(~right[sure]).mean():7.3f}" if sure.any() else "")


def main() -> None:
    """Read arguments, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="what train.fit_combination cached")
    parser.add_argument("--fit-rows", type=int, default=200, help="as train.fit_combination was given")
    parser.add_argument("--test-rows", type=int, default=110, help="as train.fit_combination was given")
    given = parser.parse_args()
    guard = Guard("general")
    sizes: Mapping[Part, int] = {"fit": given.fit_rows, "test": given.test_rows}
    rows: dict[Part, list[Row]] = {}
    signals: dict[Part, list[dict[str, float]]] = {}
    for part, size in sizes.items():
        chosen = chosen_rows(given.data, part, size)
        rows[part], signals[part] = with_signals(chosen, signals_of(guard, chosen, given.cache / f"{part}.json"))
    print("without".ljust(14) + "".join(f"{name + ' AUROC':>16}{'bal.':>7}" for name in GROUPS) + "    sure  right")
    for family in (None, *FAMILIES):
        print(line_of(family, rows["test"], signals["test"], fitted(rows["fit"], signals["fit"], family)), flush=True)


if __name__ == "__main__":
    main()
