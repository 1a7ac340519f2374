"""The panels of decisions: the distribution of gating scores, and the share of outputs that are emitted."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from assay.server.panels.values import Cell, Drawing, Panel
from assay.stats import wilson
from assay.store.insights import SCORE_BINS, PassRates, read_pass_rates

MOST_DRAWN: Final = 20
"""Rows that a chart draws; the table has all of them."""


def score_panel(connection: Connection, tenant: str, since: datetime, until: datetime) -> Panel:
    """A histogram of outputs by their gating score."""
    rates = read_pass_rates(connection, tenant, since, until)
    rows = [(at / SCORE_BINS, (at + 1) / SCORE_BINS, count) for at, count in enumerate(rates.scores)]
    unscored = f" {rates.unscored:,} more have no score: nothing in them was checked." if rates.unscored else ""
    return Panel(
        "scores",
        "Distribution of scores",
        f"Outputs by the score that the gate went by, {_of_outputs(rates)}.{unscored}",
        ("from", "to", "outputs"),
        tuple(rows),
        Drawing("bars", [f"{at / SCORE_BINS:.2f}" for at in range(SCORE_BINS)], counts=list(rates.scores)),
    )


def pass_rate_panel(connection: Connection, tenant: str, since: datetime, until: datetime) -> Panel:
    """The share of outputs that were emitted, by policy, caller and model."""
    rates = read_pass_rates(connection, tenant, since, until)
    rows: list[tuple[Cell, ...]] = []
    ranges = []
    for group in rates.passed:
        rate, (low, high) = group.emitted / group.outputs, wilson(group.emitted, group.outputs)
        rows.append((group.by, group.name, group.outputs, group.emitted, rate, low, high))
        ranges.append((f"{group.by} {group.name}", rate, low, high))
    return Panel(
        "passed",
        "Emitted by policy, caller and model",
        f"The share of outputs that were emitted, {_of_outputs(rates)}. Intervals are of 95% (Wilson).",
        ("by", "name", "outputs", "emitted", "rate", "low", "high"),
        tuple(rows),
        Drawing("ranges", ranges=ranges[:MOST_DRAWN]),
        note="The model is known of outputs that the monitor observed.",
    )


def _of_outputs(rates: PassRates) -> str:
    return f"of the latest {rates.outputs:,} outputs" if rates.bounded else f"of {rates.outputs:,} outputs"
