"""Sketches: hourly histograms of measurements, counted from the log and read for panels and metrics."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.sketches.metrics import ALL as ALL
    from assay.store.sketches.metrics import ATTRIBUTION as ATTRIBUTION
    from assay.store.sketches.metrics import BY_RELEVANCE as BY_RELEVANCE
    from assay.store.sketches.metrics import CATEGORIES as CATEGORIES
    from assay.store.sketches.metrics import COMPOSITE as COMPOSITE
    from assay.store.sketches.metrics import CORRECTED as CORRECTED
    from assay.store.sketches.metrics import FABRICATED as FABRICATED
    from assay.store.sketches.metrics import FACTSCORE as FACTSCORE
    from assay.store.sketches.metrics import FAITHFULNESS as FAITHFULNESS
    from assay.store.sketches.metrics import RATES as RATES
    from assay.store.sketches.metrics import RELEVANCE as RELEVANCE
    from assay.store.sketches.metrics import RETRIEVAL_NULL as RETRIEVAL_NULL
    from assay.store.sketches.metrics import WITHHELD as WITHHELD
    from assay.store.sketches.queries import LowClaim as LowClaim
    from assay.store.sketches.queries import Measurements as Measurements
    from assay.store.sketches.queries import TimeRange as TimeRange
    from assay.store.sketches.queries import WorstOutput as WorstOutput
    from assay.store.sketches.queries import counted_until as counted_until
    from assay.store.sketches.queries import low_claims as low_claims
    from assay.store.sketches.queries import read_agents as read_agents
    from assay.store.sketches.queries import read_measured as read_measured
    from assay.store.sketches.queries import read_worst as read_worst
    from assay.store.sketches.queries import sum_sketches as sum_sketches
    from assay.store.sketches.updates import BATCH as BATCH
    from assay.store.sketches.updates import count_part as count_part
    from assay.store.sketches.updates import recount as recount
    from assay.store.sketches.updates import uncounted_entries as uncounted_entries
    from assay.store.sketches.values import BINS as BINS
    from assay.store.sketches.values import UNIT as UNIT
    from assay.store.sketches.values import Cell as Cell
    from assay.store.sketches.values import Sketch as Sketch
    from assay.store.sketches.values import difference as difference
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".updates": ("BATCH", "count_part", "uncounted_entries", "recount"),
            ".metrics": (
                "ALL",
                "ATTRIBUTION",
                "BY_RELEVANCE",
                "CATEGORIES",
                "COMPOSITE",
                "CORRECTED",
                "FABRICATED",
                "FACTSCORE",
                "FAITHFULNESS",
                "RATES",
                "RELEVANCE",
                "RETRIEVAL_NULL",
                "WITHHELD",
            ),
            ".queries": (
                "LowClaim",
                "Measurements",
                "TimeRange",
                "WorstOutput",
                "sum_sketches",
                "counted_until",
                "low_claims",
                "read_agents",
                "read_measured",
                "read_worst",
            ),
            ".values": ("BINS", "UNIT", "Cell", "Sketch", "difference"),
        },
        renamed={
            "Stretch": "TimeRange",
            "Measured": "Measurements",
            "Worst": "WorstOutput",
            "added": "sum_sketches",
            "lagging": "uncounted_entries",
        },
    )
