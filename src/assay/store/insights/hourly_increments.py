"""Hourly counts: what a report adds to the counts of its hour.

Overviews are made from these counts, so their cost does not depend on the number of reports. The writer adds to them in
the transaction that stores a report. They contain no texts, so an erasure leaves them.
"""

from collections import Counter
from math import ceil, log
from typing import Any, Final

from assay.schema import HallucinationReport

HOUR: Final = 3_600_000_000
"""An hour in microseconds."""
GROWTH: Final = 1.25
"""The ratio between the upper bounds of successive latency classes; quantiles are accurate to about a tenth."""

ACTION: Final = "action"
VERDICT: Final = "verdict"
CATEGORY: Final = "category"
LATENCY: Final = "latency"
"""The kinds of counts: reports by action, claims by verdict and by category, checks by latency class."""


def counts_of(tenant: str, at: int, report: HallucinationReport) -> list[dict[str, Any]]:
    """The rows that a report adds to the counts of its hour; `at` is in microseconds since 1970."""
    counted: Counter[tuple[str, str]] = Counter({(ACTION, report.action.value): 1})
    counted[LATENCY, str(latency_class(report.timing.total_ms))] += 1
    for claim in report.claims:
        counted[VERDICT, claim.verdict.value] += 1
        if claim.category is not None:
            counted[CATEGORY, claim.category.value] += 1
    return [
        {"tenant": tenant, "hour": at // HOUR, "kind": kind, "name": name, "count": count}
        for (kind, name), count in counted.items()
    ]


def latency_class(ms: float) -> int:
    """The class of a latency: the exponent of the smallest power of `GROWTH`, in milliseconds, that is not below it.

    >>> latency_class(0.5), latency_class(1.25), latency_class(100)
    (0, 1, 21)
    """
    return 0 if ms <= 1 else ceil(log(ms) / log(GROWTH) - 1e-9)
