"""Runs as rows of a table, for the pages that list runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from assay.reporting import GRAVITY, SIGNS, WORDS, Child, Markup, foreign, tag
from assay.schema import Verdict
from assay.server.console.parts import (
    DASH,
    VERDICT_TONES,
    Column,
    action_badge,
    line,
    millis,
    moment,
    row_box,
    score,
    shorten,
    table,
)
from assay.store.insights import ClaimsSummary, Figures
from assay.store.records import ReportRow


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One run of a list, with everything that its columns may show."""

    row: ReportRow
    about: ClaimsSummary
    figures: Figures
    now: datetime


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column that a list of runs may have."""

    column: Column
    cell: Callable[[ListedRun], Child]
    """Draws the cell of a run."""


_KINDS: Final = {"check": "Output", "run": "Agent run", "gateway": "Gateway"}


def _words(run: ListedRun) -> Child:
    words = run.row.question or run.about.first_claim
    empty = tag("span", "erased" if run.row.erased else "no text", class_="soft")
    named: Child = foreign(shorten(words, 160)) if words else empty
    return tag("a", named, href=f"/console/runs/{run.row.id}", class_="row")


def _cost(run: ListedRun) -> Child:
    figures = run.figures
    if figures.cost is None:
        return DASH
    return f"{figures.cost:.4f} {figures.currency}"


def _tokens(run: ListedRun) -> Child:
    figures = run.figures
    if figures.tokens is None:
        return DASH
    return f"{'≈ ' if figures.estimated else ''}{figures.tokens:,}"


def _soft(text: str) -> Markup:
    return foreign(shorten(text, 40), class_="soft")


COLUMNS: Final[Mapping[str, RunColumn]] = {
    "decision": RunColumn(Column("Decision"), lambda run: action_badge(run.row.action)),
    "question": RunColumn(Column("Question or first claim", "main"), _words),
    "output": RunColumn(Column("Output", "main preview less"), lambda run: line(run.figures.preview, 160)),
    "claims": RunColumn(Column("Claims", "less"), lambda run: verdict_counts(run.about.verdicts)),
    "score": RunColumn(Column("Score", "num"), lambda run: score(run.row.score)),
    "policy": RunColumn(Column("Policy", "less"), lambda run: _soft(run.row.policy_name or run.row.policy[:12])),
    "caller": RunColumn(Column("From", "less"), lambda run: _soft(run.row.caller or "–")),
    "kind": RunColumn(Column("Kind", "less"), lambda run: tag("span", _KINDS.get(run.row.kind, "–"), class_="soft")),
    "duration": RunColumn(Column("Duration", "num less"), lambda run: millis(run.figures.duration_ms)),
    "tokens": RunColumn(Column("Tokens", "num less"), _tokens),
    "cost": RunColumn(Column("Cost", "num less"), _cost),
    "when": RunColumn(Column("When", "num"), lambda run: moment(run.row.created, run.now)),
}
"""All columns by name, in the order in which they are shown."""

FIXED_COLUMNS: Final = ("decision", "question")
"""The columns of every list: without them a row would have neither a name nor a link."""
BRIEF_COLUMNS: Final = ("decision", "question", "claims", "score", "policy", "caller", "when")
"""The columns of a short list on a page with other content."""
DEFAULT_COLUMNS: Final = ("decision", "question", "output", "claims", "score", "policy", "caller", "duration", "when")
"""The default columns of the list of runs."""


def run_rows(
    caption: str,
    rows: Sequence[ReportRow],
    about: Mapping[str, ClaimsSummary],
    now: datetime,
    empty: tuple[str, Child],
    *,
    figures: Mapping[str, Figures] | None = None,
    columns: Sequence[str] = BRIEF_COLUMNS,
    selectable: bool = False,
) -> Markup:
    """A table of runs; each row links to the page of its run.

    Args:
        caption: what the table lists.
        rows: the runs.
        about: the first claim and the verdicts of each run, by its id.
        now: the moment that ages are relative to.
        empty: the title and the text that are shown if there are no runs.
        figures: duration, tokens, cost and a preview of the output, by the id of the run.
        columns: names in `COLUMNS`.
        selectable: whether each row has a checkbox, named `run`.
    """
    known = figures or {}
    listed = [ListedRun(row, about.get(row.id, ClaimsSummary()), known.get(row.id, Figures()), now) for row in rows]
    shown = [COLUMNS[name] for name in columns]
    heads = [one.column for one in shown]
    if not selectable:
        cells = ([one.cell(run) for one in shown] for run in listed)
        return table(caption, heads, cells, empty=empty, style="rows")
    first, *others = shown
    boxed = ([[_box(run), first.cell(run)], *(one.cell(run) for one in others)] for run in listed)
    return table(caption, heads, boxed, empty=empty, style="rows chosen")


def _box(run: ListedRun) -> Markup:
    words = run.row.question or run.about.first_claim or run.row.id[:12]
    label = f"Choose the run: {shorten(words, 80)}"
    return row_box("run", run.row.id, label)


def verdict_counts(counts: Mapping[str, int]) -> Markup:
    """How many claims have each verdict, as signs with numbers, the gravest verdict first."""
    shown = [(one, counts[one.value]) for one in GRAVITY if counts.get(one.value) and one is not Verdict.NOT_CHECKABLE]
    if not shown:
        return DASH
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
