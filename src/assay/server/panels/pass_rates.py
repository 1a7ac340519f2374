"""The panels of decisions: how the scores of outputs are spread, and whose outputs are emitted."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from assay.server.panels.values import Cell, Drawing, Panel
from assay.stats import wilson
from assay.store.insights import SCORE_BINS, PassRates, read_pass_rates

MOST_DRAWN: Final = 20
"""Rows that are drawn; all stand in the table."""


def score_panel(connection: Connection, tenant: str, since: datetime, until: datetime) -> Panel:
    """Outputs by the score that the gate went by."""
    found = read_pass_rates(connection, tenant, since, until)
    rows = [(at / SCORE_BINS, (at + 1) / SCORE_BINS, count) for at, count in enumerate(found.scores)]
    without = f" {found.unscored:,} more have no score: nothing in them was checked." if found.unscored else ""
    return Panel(
        "scores",
        "Distribution of scores",
        f"Outputs by the score that the gate went by, {_of(found)}.{without}",
        ("from", "to", "outputs"),
        tuple(rows),
        Drawing("bars", [f"{at / SCORE_BINS:.2f}" for at in range(SCORE_BINS)], counts=list(found.scores)),
    )


def passed_panel(connection: Connection, tenant: str, since: datetime, until: datetime) -> Panel:
    """The share of outputs that were emitted, by policy, caller and model."""
    found = read_pass_rates(connection, tenant, since, until)
    rows: list[tuple[Cell, ...]] = []
    for one in found.passed:
        low, high = wilson(one.emitted, one.outputs)
        rows.append((one.by, one.name, one.outputs, one.emitted, one.emitted / one.outputs, low, high))
    drawn = [
        (f"{one.by} {one.name}", one.emitted / one.outputs, *wilson(one.emitted, one.outputs))
        for one in found.passed[:MOST_DRAWN]
    ]
    return Panel(
        "passed",
        "Emitted by policy, caller and model",
        f"The share of outputs that were emitted, {_of(found)}. Intervals are of 95% (Wilson).",
        ("by", "name", "outputs", "emitted", "rate", "low", "high"),
        tuple(rows),
        Drawing("ranges", named=drawn),
        note="The model is known of outputs that the monitor observed.",
    )


def _of(found: PassRates) -> str:
    return f"of the latest {found.outputs:,} outputs" if found.bounded else f"of {found.outputs:,} outputs"
