"""Converts rows of the store to values of the monitor."""

from typing import Any

from assay.monitor import METRICS, Observation


def observation_of(row: dict[str, Any]) -> Observation:
    """The observation in a row."""
    belongs = {name: row[name] for name in ("agent", "route", "model", "stakes") if row[name] is not None}
    values = {name: float(row[name]) for name in METRICS if row[name] is not None}
    return Observation(
        row["id"],
        row["at"],
        values,
        belongs,
        tuple(row["categories"].split()),
        row["probability"] or 1.0,
        bool(row["sampled"]),
        row["cadence"] or "",
    )
