"""Runs as the rows of a table, for the pages that list them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from assay.reporting import GRAVITY, SIGNS, WORDS, Child, Markup, foreign, tag
from assay.schema import Verdict
from assay.server.console.parts import VERDICT_TONES, Column, action_badge, moment, score, shorten, table
from assay.store.insights import Described
from assay.store.records import ReportRow

_COLUMNS: Final = (
    Column("Decision"),
    Column("Question or first claim", "main"),
    Column("Claims", "less"),
    Column("Score", "num"),
    Column("Policy", "less"),
    Column("From", "less"),
    Column("When", "num"),
)


def run_rows(
    caption: str, rows: Sequence[ReportRow], about: Mapping[str, Described], now: datetime, empty: tuple[str, Child]
) -> Markup:
    """A table of runs; each row leads to its page."""
    return table(
        caption, _COLUMNS, (_row(row, about.get(row.id, Described()), now) for row in rows), empty=empty, style="rows"
    )


def _row(row: ReportRow, about: Described, now: datetime) -> list[Child]:
    words = row.question or about.first_claim
    named: Child = (
        foreign(shorten(words, 160)) if words else tag("span", "erased" if row.erased else "no text", class_="soft")
    )
    return [
        action_badge(row.action),
        tag("a", named, href=f"/console/runs/{row.id}", class_="row"),
        verdict_counts(about.verdicts),
        score(row.score),
        foreign(shorten(row.policy_name or row.policy[:12], 40), class_="soft"),
        foreign(shorten(row.caller or "–", 40), class_="soft"),
        moment(row.created, now),
    ]


def verdict_counts(counts: Mapping[str, int]) -> Markup:
    """How many claims have each verdict, the gravest first, in signs."""
    shown = [(one, counts[one.value]) for one in GRAVITY if counts.get(one.value) and one is not Verdict.NOT_CHECKABLE]
    if not shown:
        return tag("span", "–", class_="soft")
    told = ", ".join(f"{number} {WORDS[one]}" for one, number in shown)
    parts = (
        tag("span", SIGNS[one], tag("span", f"{number:,}"), class_=f"count {VERDICT_TONES[one]}")
        for one, number in shown
    )
    return tag(
        "span", tag("span", told, class_="hidden"), tag("span", parts, aria_hidden="true", class_="counts"), title=told
    )
