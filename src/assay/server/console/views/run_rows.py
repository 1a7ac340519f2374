"""Runs as the rows of a table, for the pages that list them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from assay.reporting import GRAVITY, SIGNS, WORDS, Child, Markup, foreign, tag
from assay.schema import Verdict
from assay.server.console.parts import (
    VERDICT_TONES,
    Column,
    action_badge,
    line,
    millis,
    moment,
    score,
    shorten,
    table,
)
from assay.store.insights import ClaimsSummary, Figures
from assay.store.records import ReportRow


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One run of a list, with all that a column may show of it."""

    row: ReportRow
    about: ClaimsSummary
    figures: Figures
    now: datetime


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column that a list of runs may have."""

    column: Column
    cell: Callable[[ListedRun], Child]


_KINDS: Final = {"check": "Output", "run": "Agent run", "gateway": "Gateway"}


def _words(one: ListedRun) -> Child:
    words = one.row.question or one.about.first_claim
    empty = tag("span", "erased" if one.row.erased else "no text", class_="soft")
    named: Child = foreign(shorten(words, 160)) if words else empty
    return tag("a", named, href=f"/console/runs/{one.row.id}", class_="row")


def _cost(one: ListedRun) -> Child:
    figures = one.figures
    if figures.cost is None:
        return tag("span", "–", class_="soft")
    return f"{figures.cost:.4f} {figures.currency}"


def _tokens(one: ListedRun) -> Child:
    figures = one.figures
    if figures.tokens is None:
        return tag("span", "–", class_="soft")
    return f"{'≈ ' if figures.estimated else ''}{figures.tokens:,}"


def _soft(text: str) -> Markup:
    return foreign(shorten(text, 40), class_="soft")


COLUMNS: Final[Mapping[str, RunColumn]] = {
    "decision": RunColumn(Column("Decision"), lambda one: action_badge(one.row.action)),
    "question": RunColumn(Column("Question or first claim", "main"), _words),
    "output": RunColumn(Column("Output", "main preview less"), lambda one: line(one.figures.preview, 160)),
    "claims": RunColumn(Column("Claims", "less"), lambda one: verdict_counts(one.about.verdicts)),
    "score": RunColumn(Column("Score", "num"), lambda one: score(one.row.score)),
    "policy": RunColumn(Column("Policy", "less"), lambda one: _soft(one.row.policy_name or one.row.policy[:12])),
    "caller": RunColumn(Column("From", "less"), lambda one: _soft(one.row.caller or "–")),
    "kind": RunColumn(Column("Kind", "less"), lambda one: tag("span", _KINDS.get(one.row.kind, "–"), class_="soft")),
    "duration": RunColumn(Column("Duration", "num less"), lambda one: millis(one.figures.duration_ms)),
    "tokens": RunColumn(Column("Tokens", "num less"), _tokens),
    "cost": RunColumn(Column("Cost", "num less"), _cost),
    "when": RunColumn(Column("When", "num"), lambda one: moment(one.row.created, one.now)),
}
"""The columns that there are, in their order."""

FIXED: Final = ("decision", "question")
"""Those that every list has: without them a row has no name and leads nowhere."""
BRIEF: Final = ("decision", "question", "claims", "score", "policy", "caller", "when")
"""Those of a list beside other things."""
USUAL: Final = ("decision", "question", "output", "claims", "score", "policy", "caller", "duration", "when")
"""Those of the list of runs until somebody chooses others."""


def run_rows(
    caption: str,
    rows: Sequence[ReportRow],
    about: Mapping[str, ClaimsSummary],
    now: datetime,
    empty: tuple[str, Child],
    *,
    figures: Mapping[str, Figures] | None = None,
    columns: Sequence[str] = BRIEF,
    chooses: bool = False,
) -> Markup:
    """A table of runs; each row leads to its page.

    Args:
        caption: what it lists.
        rows: the runs.
        about: what they claim, by their ids.
        now: the moment that ages are told from.
        empty: what stands where there are none.
        figures: what is known of their outputs and costs, by their ids.
        columns: names in `COLUMNS`.
        chooses: whether each row has a box to choose it, named `run`.
    """
    known = figures or {}
    listed = [ListedRun(row, about.get(row.id, ClaimsSummary()), known.get(row.id, Figures()), now) for row in rows]
    shown = [COLUMNS[name] for name in columns]
    heads = [one.column for one in shown]
    if not chooses:
        cells = ([one.cell(run) for one in shown] for run in listed)
        return table(caption, heads, cells, empty=empty, style="rows")
    first, *others = shown
    boxed = ([[_box(run), first.cell(run)], *(one.cell(run) for one in others)] for run in listed)
    return table(caption, heads, boxed, empty=empty, style="rows chosen")


def _box(run: ListedRun) -> Markup:
    words = run.row.question or run.about.first_claim or run.row.id[:12]
    label = f"Choose the run: {shorten(words, 80)}"
    return tag("input", type_="checkbox", name_="run", value=run.row.id, aria_label=label, class_="choose")


def verdict_counts(counts: Mapping[str, int]) -> Markup:
    """How many claims have each verdict, the gravest first, in signs."""
    shown = [(one, counts[one.value]) for one in GRAVITY if counts.get(one.value) and one is not Verdict.NOT_CHECKABLE]
    if not shown:
        return tag("span", "–", class_="soft")
    counted = ", ".join(f"{number} {WORDS[one]}" for one, number in shown)
    parts = (
        tag("span", SIGNS[one], tag("span", f"{number:,}"), class_=f"count {VERDICT_TONES[one]}")
        for one, number in shown
    )
    return tag(
        "span",
        tag("span", counted, class_="hidden"),
        tag("span", parts, aria_hidden="true", class_="counts"),
        title=counted,
    )
