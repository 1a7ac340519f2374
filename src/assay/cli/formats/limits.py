"""`--fail-under METRIC=VALUE` and `--fail-over METRIC=VALUE`: the least and the most that a metric may be."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from assay.cli.formats.cases import Case
from assay.errors import InputError

LESS_IS_BETTER: Final = frozenset(
    {
        "fpr",
        "fnr",
        "ece",
        "hallucination_rate",
        "composite_hallucination_score",
        "contradicted",
        "unsupported",
        "unchecked",
    }
)
"""Metrics for which less is better, so that a lower limit on them would be a mistake."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on one metric."""

    metric: str
    value: float
    least: bool
    """Whether the value is a lower limit; otherwise it is an upper limit."""

    @property
    def words(self) -> str:
        """Such as `faithfulness ≥ 0.9`."""
        return f"{self.metric} {'≥' if self.least else '≤'} {self.value:g}"

    def met(self, value: float) -> bool:
        """Whether a value passes."""
        return value >= self.value if self.least else value <= self.value


def read_limits(under: Sequence[str], over: Sequence[str], known: AbstractSet[str]) -> list[Limit]:
    """The limits that the command line names.

    Args:
        under: texts `METRIC=VALUE` of `--fail-under`.
        over: those of `--fail-over`.
        known: the names of the metrics.

    Raises:
        InputError: a text has another form or no number, the metric is unknown, or the limit is a lower one on a metric
            for which less is better.
    """
    limits = []
    for option, given, least in (("--fail-under", under, True), ("--fail-over", over, False)):
        for text in given:
            name, equals, number = text.partition("=")
            name = name.strip().replace("-", "_")
            if not equals:
                raise InputError(
                    f"{option} {text}: expected METRIC=VALUE, such as {'faithfulness' if least else 'fpr'}=0.9"
                )
            if name not in known:
                similar = get_close_matches(name, known, 1)
                hint = f"did you mean {similar[0]}?" if similar else f"known are {', '.join(sorted(known))}"
                raise InputError(f"{option} {text}: there is no metric {name!r}; {hint}")
            try:
                value = float(number)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                raise InputError(f"{option} {text}: {number!r} is no number")
            if least and name.removesuffix(".change") in LESS_IS_BETTER:
                raise InputError(f"{option} {text}: of {name} less is better; say --fail-over {name}={number}")
            limits.append(Limit(name, value, least))
    return limits


def limit_cases(limits: Sequence[Limit], values: Mapping[str, Mapping[str, float | None]]) -> list[Case]:
    """One case for each limit. A metric without a value does not pass, because it was not measured.

    Args:
        limits: the limits.
        values: the metrics of each measured thing, by its name.
    """
    return [_case(limit, {name: found.get(limit.metric) for name, found in values.items()}) for limit in limits]


def _case(limit: Limit, values: Mapping[str, float | None]) -> Case:
    missed = {name: value for name, value in values.items() if value is None or not limit.met(value)}
    if not missed and values:
        defined = [value for value in values.values() if value is not None]
        worst = min(defined) if limit.least else max(defined)
        return Case(limit.words, "limits", passed=True, headline=f"{limit.metric} is {worst:.4g}")
    has_several = len(values) > 1
    shown_values = [f"{name + ': ' if has_several else ''}{_shown(value)}" for name, value in list(missed.items())[:3]]
    more_text = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
    bound = "at least" if limit.least else "at most"
    values_text = ", ".join(shown_values) + more_text if values else "nothing was measured"
    return Case(
        limit.words, "limits", passed=False, headline=f"{limit.metric} should be {bound} {limit.value:g}: {values_text}"
    )


def _shown(value: float | None) -> str:
    return "no value" if value is None else f"{value:.4g}"
