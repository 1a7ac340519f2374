"""Gaps: questions that the evidence could not answer, for maintainers of the corpus.

A question is unanswered if its answer was blocked, sent back for revision or escalated because of an unsupported claim,
or if the answer was an abstention. Questions that ask for the same thing form one gap.
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
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.store import Store, report_bodies
from assay.text.lexicon import MOST_CHARACTERS, group_similar

MOST_QUESTIONS: Final = 2_000
"""The most questions that are grouped, the latest ones: more would make the page slow, and older ones matter less."""
REPORTS_PER_QUESTION: Final = 2
"""Reports that are examined for each question that may be returned: some reports have no question."""
REPORTS_READ: Final = 5
"""Reports of a gap that are read for its closest sources and its claims."""
SOURCES_SHOWN: Final = 3
"""The most sources that are listed for a gap."""


class GapReason(StrEnum):
    """Why a question counts as unanswered."""

    ABSTAINED = "abstained"
    """The answer was an abstention."""
    WITHHELD = "withheld"
    """The answer had an unsupported claim and was blocked."""
    WAITED = "waited"
    """The answer had an unsupported claim and was escalated or sent back for revision."""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """A question that was not answered."""

    run: str
    """The id of the run, which is that of its report."""
    created: datetime
    question: str
    reason: GapReason
    score: float | None
    null_retrieval: bool = False
    """Whether its run had no evidence at all."""


@dataclass(frozen=True, slots=True)
class CloseSource:
    """A passage that came closest to an unsupported claim."""

    evidence_id: str
    text: str
    times: int
    """The number of examined answers for which it was the closest."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions that ask for the same thing."""

    question: str
    """The question that represents the group."""
    questions: tuple[UnansweredQuestion, ...]
    """All questions of the group, latest first."""
    claims: tuple[str, ...]
    """The unsupported claims of the answers, latest first."""
    sources: tuple[CloseSource, ...]
    """The closest passages, most frequent first."""
    refused: frozenset[str] = frozenset()
    """Those of the examined runs in which the retrieval gate refused all passages."""

    @property
    def last(self) -> datetime:
        """When it was last asked."""
        return self.questions[0].created

    @property
    def null_retrievals(self) -> int:
        """How often it was asked with nothing to answer from: nothing was retrieved or, among the examined reports,
        the retrieval gate refused all of it."""
        return sum(question.null_retrieval or question.run in self.refused for question in self.questions)

    @property
    def reasons(self) -> dict[GapReason, int]:
        """The number of its questions by reason."""
        counts = Counter(question.reason for question in self.questions)
        return {reason: counts[reason] for reason in GapReason if counts[reason]}


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a period."""

    gaps: tuple[Gap, ...]
    """The gaps shown, most frequently asked first."""
    total: int
    """The number of all gaps, shown or not."""
    questions: int
    """The number of questions that were grouped."""
    cut: bool
    """Whether there are more questions than were grouped."""
    null_retrievals: int = 0
    """The number of these questions that were asked without any evidence."""


def find_gaps(
    store: Store,
    tenant: str,
    *,
    since: datetime | None = None,
    most: int = MOST_QUESTIONS,
    first: int = 0,
    shown: int = 20,
) -> Gaps:
    """Find the questions that the evidence could not answer.

    Args:
        store: the store.
        tenant: whose questions.
        since: only questions from this moment on.
        most: the most questions that are grouped, the latest ones.
        first: the position of the first gap to return.
        shown: the number of gaps to return.

    Raises:
        StoreError: the database cannot be read.
    """
    with store.reading(checked_tenant(tenant)) as connection:
        candidates = _unanswered(connection, tenant, since, most + 1)
        questions = candidates[:most]
        groups = group_similar([question.question for question in questions])
        page = [
            sorted((questions[place] for place in group), key=lambda one: (one.created, one.run), reverse=True)
            for group in groups[first:][:shown]
        ]
        examined = [question.run for asked in page for question in asked[:REPORTS_READ]]
        bodies = report_bodies(connection, tenant, examined)
        leaders = [questions[group[0]].question for group in groups[first:][:shown]]
        gaps = tuple(_gap(leader, asked, bodies) for leader, asked in zip(leaders, page, strict=True))
    null_retrievals = sum(question.null_retrieval for question in questions)
    return Gaps(gaps, len(groups), len(questions), len(candidates) > most, null_retrievals)


def _unanswered(connection: Connection, tenant: str, since: datetime | None, most: int) -> list[UnansweredQuestion]:
    """The latest unanswered questions, read along the partial index of such reports."""
    report, run = tables.reports.c, tables.runs.c
    latest = select(report.id, report.created, report.action, report.score).where(
        report.tenant == tenant, tables.IS_GAP, *([] if since is None else [report.created >= micros(since)])
    )
    most_examined = REPORTS_PER_QUESTION * most
    examined = latest.order_by(report.created.desc(), report.id.desc()).limit(most_examined).subquery("examined")
    query: Select[Any] = (
        select(
            examined.c.id,
            examined.c.created,
            examined.c.action,
            examined.c.score,
            func.substr(run.question, 1, MOST_CHARACTERS).label("question"),
            (~_had_evidence(examined.c.id, tenant)).label("null_retrieval"),
        )
        .join_from(examined, tables.runs, (run.tenant == tenant) & (run.id == examined.c.id))
        .where(run.question.is_not(None))
        .order_by(examined.c.created.desc(), examined.c.id.desc())
        .limit(most)
    )
    return [_question(row) for row in connection.execute(query)]


def _had_evidence(run: ColumnElement[str], tenant: str) -> ColumnElement[bool]:
    had = tables.run_evidence.c
    return exists(select(had.position).where(had.tenant == tenant, had.run == run))


def _question(row: Row[Any]) -> UnansweredQuestion:
    reason = GapReason.WAITED
    if row.action == Action.EMIT.value:
        reason = GapReason.ABSTAINED
    elif row.action == Action.BLOCK.value:
        reason = GapReason.WITHHELD
    return UnansweredQuestion(row.id, moment_at(row.created), row.question, reason, row.score, bool(row.null_retrieval))


def _gap(question: str, asked: Sequence[UnansweredQuestion], bodies: Mapping[str, dict[str, Any]]) -> Gap:
    """The gap of a group of questions, latest first, with the bodies of the examined reports."""
    examined = [bodies[question.run] for question in asked[:REPORTS_READ] if question.run in bodies]
    claims = [
        claim["text"]
        for body in examined
        for claim in body.get("claims", ())
        if claim["verdict"] == Verdict.UNSUPPORTED.value
    ]
    refused = frozenset(question.run for question in asked[:REPORTS_READ] if _is_refused(bodies.get(question.run)))
    return Gap(question, tuple(asked), tuple(dict.fromkeys(claims)), _sources(examined), refused)


def _is_refused(body: Mapping[str, Any] | None) -> bool:
    """Whether the retrieval gate refused all passages of a report."""
    screening = None if body is None else body.get("screening")
    return screening is not None and screening.get("signal") == Signal.REFUSE.value


def _sources(bodies: Sequence[dict[str, Any]]) -> tuple[CloseSource, ...]:
    """The passages closest to unsupported claims, each counted once for a report."""
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
    return tuple(CloseSource(id_, text, times) for (id_, text), times in ranked[:SOURCES_SHOWN])
