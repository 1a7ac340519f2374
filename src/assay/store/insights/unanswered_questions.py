"""What users asked that the evidence could not answer: for those who keep the corpus.

A gap is a question whose answer was withheld, sent back or given to a person because a claim in it has no support, or
whose answer says no more than that there is none. Questions that ask for the same thing stand together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, exists, func, select

from assay.schema import Action, Signal, Verdict
from assay.store.db import tables
from assay.store.db.store import Store, rows_in_parts
from assay.store.records.recording import checked_tenant, micros, moment_at
from assay.text.lexicon import MOST_CHARACTERS, group_similar

MOST_QUESTIONS: Final = 2_000
"""The most questions that are grouped, the latest ones: more would make the page slow, and older ones tell less."""
LOOKED_AT: Final = 2
"""Reports that are looked at for each question: some were asked without one."""
READ: Final = 5
"""Reports of a gap that are read for its closest sources and its claims."""
SHOWN: Final = 3
"""The most sources that are listed of a gap."""


class Why(StrEnum):
    """Why a question counts as one that the evidence could not answer."""

    ABSTAINED = "abstained"
    """The answer was that there is none."""
    WITHHELD = "withheld"
    """The answer had a claim without support, and was withheld."""
    WAITED = "waited"
    """It had one, and went to a person or back to its author."""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """One question that was not answered."""

    run: str
    """The id of the run, which is that of its report."""
    created: datetime
    question: str
    why: Why
    score: float | None
    null_retrieval: bool = False
    """Whether its run had no evidence at all."""


@dataclass(frozen=True, slots=True)
class CloseSource:
    """A passage that came closest to what was asked."""

    evidence_id: str
    text: str
    times: int
    """For how many of the answers that were read."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions that ask for the same thing."""

    question: str
    """The one that supports the others."""
    asked: tuple[UnansweredQuestion, ...]
    """All of them, the latest first."""
    claims: tuple[str, ...]
    """What answers said without support, the latest first."""
    sources: tuple[CloseSource, ...]
    """The closest passages there are, the most frequent first."""
    refused: frozenset[str] = frozenset()
    """Of the runs that were read, those of which the retrieval gate let no passage be used."""

    @property
    def last(self) -> datetime:
        """When it was asked last."""
        return self.asked[0].created

    @property
    def null_retrievals(self) -> int:
        """How often it was asked with nothing to answer from: nothing was retrieved, or nothing that may be used, the
        latter as far as reports were read."""
        return sum(one.null_retrieval or one.run in self.refused for one in self.asked)

    @property
    def reasons(self) -> dict[Why, int]:
        """How often, by why."""
        counts = Counter(one.why for one in self.asked)
        return {why: counts[why] for why in Why if counts[why]}


@dataclass(frozen=True, slots=True)
class Gaps:
    """What was found."""

    gaps: tuple[Gap, ...]
    """Those asked most often first."""
    found: int
    """How many groups there are, shown or not."""
    questions: int
    """How many questions were grouped."""
    cut: bool
    """Whether there are more questions than were grouped."""
    null_retrievals: int = 0
    """How many of the questions were asked without any evidence."""


def find_gaps(
    store: Store,
    tenant: str,
    *,
    since: datetime | None = None,
    most: int = MOST_QUESTIONS,
    first: int = 0,
    shown: int = 20,
) -> Gaps:
    """What the evidence could not answer.

    Args:
        store: the store.
        tenant: whose.
        since: only questions from this moment on.
        most: how many questions are grouped, the latest ones.
        first: the place of the first gap to tell of.
        shown: how many gaps to tell of.

    Raises:
        StoreError: the database cannot be read.
    """
    with store.reading(checked_tenant(tenant)) as connection:
        found = _asked(connection, tenant, since, most + 1)
        kept = found[:most]
        groups = group_similar([one.question for one in kept])
        chosen = [
            sorted((kept[place] for place in group), key=lambda one: (one.created, one.run), reverse=True)
            for group in groups[first:][:shown]
        ]
        bodies = _bodies(connection, tenant, [one.run for asked in chosen for one in asked[:READ]])
        leaders = [kept[group[0]].question for group in groups[first:][:shown]]
        gaps = tuple(_gap(leader, asked, bodies) for leader, asked in zip(leaders, chosen, strict=True))
    return Gaps(gaps, len(groups), len(kept), len(found) > most, sum(one.null_retrieval for one in kept))


def _asked(connection: Connection, tenant: str, since: datetime | None, most: int) -> list[UnansweredQuestion]:
    """The latest gaps, along the index that holds no other reports; those without a question count as looked at."""
    report, run = tables.reports.c, tables.runs.c
    latest = select(report.id, report.created, report.action, report.score).where(
        report.tenant == tenant, tables.IS_GAP, *([] if since is None else [report.created >= micros(since)])
    )
    looked_at = latest.order_by(report.created.desc(), report.id.desc()).limit(LOOKED_AT * most).subquery("looked_at")
    query: Select[Any] = (
        select(
            looked_at.c.id,
            looked_at.c.created,
            looked_at.c.action,
            looked_at.c.score,
            func.substr(run.question, 1, MOST_CHARACTERS).label("question"),
            (~_had_evidence(looked_at.c.id, tenant)).label("bare"),
        )
        .join_from(looked_at, tables.runs, (run.tenant == tenant) & (run.id == looked_at.c.id))
        .where(run.question.is_not(None))
        .order_by(looked_at.c.created.desc(), looked_at.c.id.desc())
        .limit(most)
    )
    return [_read(row) for row in connection.execute(query)]


def _had_evidence(run: ColumnElement[str], tenant: str) -> ColumnElement[bool]:
    had = tables.run_evidence.c
    return exists(select(had.position).where(had.tenant == tenant, had.run == run))


def _read(row: Row[Any]) -> UnansweredQuestion:
    why = Why.WAITED
    if row.action == Action.EMIT.value:
        why = Why.ABSTAINED
    elif row.action == Action.BLOCK.value:
        why = Why.WITHHELD
    return UnansweredQuestion(row.id, moment_at(row.created), row.question, why, row.score, bool(row.bare))


def _gap(question: str, asked: Sequence[UnansweredQuestion], bodies: Mapping[str, dict[str, Any]]) -> Gap:
    """A gap of questions, the latest first, with the bodies of the reports that are read for it."""
    read = [bodies[one.run] for one in asked[:READ] if one.run in bodies]
    claims = [
        claim["text"]
        for body in read
        for claim in body.get("claims", ())
        if claim["verdict"] == Verdict.UNSUPPORTED.value
    ]
    refused = frozenset(one.run for one in asked[:READ] if _is_refused(bodies.get(one.run)))
    return Gap(question, tuple(asked), tuple(dict.fromkeys(claims)), _sources(read), refused)


def _is_refused(body: Mapping[str, Any] | None) -> bool:
    """Whether the retrieval gate let no passage be used for a report."""
    screening = None if body is None else body.get("screening")
    return screening is not None and screening.get("signal") == Signal.REFUSE.value


def _bodies(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    table = tables.reports.c
    found: dict[str, dict[str, Any]] = {}
    for part in rows_in_parts(ids):
        rows = connection.execute(select(table.id, table.body).where(table.tenant == tenant, table.id.in_(part)))
        found.update({row.id: row.body for row in rows if row.body is not None})
    return found


def _sources(bodies: Sequence[dict[str, Any]]) -> tuple[CloseSource, ...]:
    """The passages shown at claims without support, each counted once for a report."""
    counts: Counter[tuple[str, str]] = Counter()
    for body in bodies:
        spans = [
            span
            for claim in body.get("claims", ())
            if claim["verdict"] == Verdict.UNSUPPORTED.value
            for span in claim.get("evidence_spans", ())[:1]
        ]
        counts.update({(span["evidence_id"], span["text"]) for span in spans})
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(CloseSource(id_, text, times) for (id_, text), times in ranked[:SHOWN])
