"""Lists of reports: filtered, searched, newest first, and fast however many reports there are.

A list is read along an index from its newest row on; conditions without an index are applied on the way. So that a
filter that matches hardly anything does not read the whole table, a page examines at most `MOST_EXAMINED` rows: it may
then have fewer rows than requested, or none, and still have a `next`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, column, func, literal, select, text, tuple_

from assay.errors import InputError
from assay.schema import Action, Verdict
from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at, storable
from assay.store.db.row_security import set_search_query
from assay.store.db.store import MOST_LISTED, batches
from assay.store.records.check_rows import VERDICT_BITS
from assay.store.records.search_words import for_postgresql, for_sqlite, terms_of

MOST_EXAMINED: Final = 10_000
"""Rows that one page of a filtered list examines."""
MOST_MATCHES: Final = 4_000
"""Matches of a search that one page examines."""
LONGEST_SHOWN: Final = 400
"""Characters of a question and of an output that a list shows."""

_CURSOR: Final = re.compile(r"([0-9]{1,18})\.([0-9a-f]{32,64})|s([0-9]{1,18})")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_RARE: Final = (Action.BLOCK.value, Action.ESCALATE.value, Action.REVISE.value)


@dataclass(frozen=True, slots=True)
class ReportFilter:
    """The filter of a list of reports; it matches all by default."""

    words: str | None = None
    """A search in question and output: words and "phrases"; `word*` matches words that begin so."""
    action: str | None = None
    route: str | None = None
    verdict: str | None = None
    """A verdict that at least one claim has."""
    policy: str | None = None
    """The digest or the name of a policy."""
    caller: str | None = None
    run_id: str | None = None
    """The name that the caller gave the run."""
    since: datetime | None = None
    until: datetime | None = None
    """Only reports from before this moment."""
    min_score: float | None = None
    max_score: float | None = None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One report in a list."""

    id: str
    run: str
    created: datetime
    action: str
    route: str
    score: float | None
    policy: str
    policy_name: str | None
    verifier: str
    claims: int
    verdicts: tuple[str, ...]
    """The verdicts of its claims, each once."""
    kind: str
    run_id: str | None
    caller: str | None
    question: str | None
    """The beginning of the question."""
    erased: bool


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list, newest first."""

    items: tuple[ReportRow, ...]
    next: str | None
    """The cursor of the next page; None at the end of the list."""
    reached: datetime | None = None
    """The moment of the last examined row, if the page ended before the end of the list without being full."""


def read_page(
    connection: Connection, tenant: str, wanted: ReportFilter, after: str | None = None, limit: int = 50
) -> Page:
    """A page of a list of reports.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose reports.
        wanted: the filter.
        after: the `next` of the previous page.
        limit: the most rows, capped at `MOST_LISTED`.

    Raises:
        InputError: the cursor, the search or the filter is malformed.
    """
    limit = max(1, min(limit, MOST_LISTED))
    listing = _Listing(connection, tenant, wanted, after, limit)
    return listing.read()


def read_listed(connection: Connection, tenant: str, ids: Sequence[str]) -> list[ReportRow]:
    """The first reports of the given runs as a list shows them, in the given order; unknown runs are left out."""
    reports = tables.reports.c
    by_id: dict[str, ReportRow] = {}
    for part in batches(ids):
        candidates = (
            select(reports.id, reports.created)
            .where(reports.tenant == tenant, reports.id.in_(part))
            .subquery("candidates")
        )
        by_id |= {row.id: _report_row(row) for row in connection.execute(_rows_of(candidates, tenant, by_rowid=False))}
    return [by_id[id_] for id_ in dict.fromkeys(ids) if id_ in by_id]


class _Listing:
    """The query for one page: candidates along an index, then the conditions that the index does not cover."""

    def __init__(
        self, connection: Connection, tenant: str, wanted: ReportFilter, after: str | None, limit: int
    ) -> None:
        self._connection, self._tenant, self._wanted, self._limit = connection, tenant, wanted, limit
        self._searches = wanted.words is not None
        self._sqlite = connection.dialect.name == "sqlite"
        self._by_rowid = self._searches and self._sqlite
        """Whether the list is in the order of the search index in SQLite, whose cursors are rowids."""
        self._after = parse_cursor(after, self._by_rowid)
        self._conditions: list[Any] = []
        """The conditions that are applied to the candidates."""
        self._policies = self._policy_digests(wanted.policy)

    def read(self) -> Page:
        if self._policies == ():
            return Page((), None)
        query = self._matches() if self._searches else self._newest()
        most = (MOST_MATCHES if self._searches else MOST_EXAMINED) if self._conditions else self._limit + 1
        candidates = query.limit(max(most, self._limit + 1)).subquery("candidates")
        selected = _rows_of(candidates, self._tenant, by_rowid=self._by_rowid).where(*self._conditions)
        rows = self._connection.execute(selected.limit(self._limit + 1)).all()
        if len(rows) > self._limit:
            last = rows[self._limit - 1]
            return Page(tuple(map(_report_row, rows[: self._limit])), cursor_after(last, self._by_rowid))
        if not self._conditions:
            return Page(tuple(map(_report_row, rows)), None)
        return self._exhausted(candidates, most, rows)

    def _exhausted(self, candidates: Any, most: int, rows: Sequence[Row[Any]]) -> Page:
        """A page that is not full although all its candidates were examined."""
        order = [candidates.c.place] if self._by_rowid else [candidates.c.created, candidates.c.id]
        last = self._connection.execute(select(candidates).order_by(*order).limit(1)).one_or_none()
        count = self._connection.execute(select(func.count()).select_from(candidates)).scalar_one()
        items = tuple(map(_report_row, rows))
        if last is None or count < most:
            return Page(items, None)
        return Page(items, cursor_after(last, self._by_rowid), moment_at(last.created))

    # Candidates

    def _newest(self) -> Any:
        """Candidates without a search: reports along the index of a filter, or of all reports."""
        table, wanted = tables.reports.c, self._wanted
        query: Any = select(table.id, table.created).where(table.tenant == self._tenant)
        query = self._in_time(query, table.created, table.id)
        if wanted.run_id is None:
            query = query.order_by(table.created.desc(), table.id.desc())
        else:
            runs = tables.runs.c
            own = select(runs.id).where(runs.tenant == self._tenant, runs.run_id == storable(wanted.run_id))
            # Sorted by an expression, so that the planner starts from the run and does not scan the list.
            query = query.where(table.run.in_(own)).order_by((table.created + 0).desc(), table.id.desc())
        leading = self._leading()
        for name, condition in self._filter_conditions():
            if name == leading:
                query = query.where(condition)
            else:
                self._conditions.append(condition)
        return query

    def _leading(self) -> str | None:
        """The filter whose index is used: the one that most likely leaves the fewest rows."""
        wanted = self._wanted
        if wanted.run_id is not None:
            return None
        rare_first, common_first = ("caller", "action", "route", "policy"), ("caller", "policy", "route", "action")
        names = rare_first if wanted.action in _RARE else common_first
        given = [name for name in names if getattr(wanted, name) is not None]
        # Several versions of a policy are in several places of its index, which then is not in the order of the list.
        return next((name for name in given if name != "policy" or len(self._policies or ()) == 1), None)

    def _matches(self) -> Any:
        """Candidates of a search: reports with its words."""
        table = tables.report_search.c
        terms = terms_of(self._wanted.words or "")
        self._conditions += [condition for _, condition in self._filter_conditions()]
        wanted = self._wanted
        if wanted.run_id is not None:
            runs = tables.runs.c
            own = select(runs.id).where(runs.tenant == self._tenant, runs.run_id == storable(wanted.run_id))
            self._conditions.append(tables.reports.c.run.in_(own))
        if not self._sqlite:
            # The policy of row-level security holds the search query, so it is not a condition here.
            set_search_query(self._connection, for_postgresql(terms))
            newest = select(table.id, table.created).where(table.owner == self._tenant)
            return self._in_time(newest, table.created, table.id).order_by(table.created.desc(), table.id.desc())
        matches = text("report_search MATCH :query").bindparams(query=for_sqlite(terms, self._tenant))
        rowid: Any = column("rowid")
        query: Any = select(table.id, table.created, rowid.label("place")).where(matches).order_by(rowid.desc())
        if self._after is not None:
            query = query.where(rowid < self._after[0])
        created = tables.reports.c.created
        self._conditions += [created >= micros(wanted.since)] if wanted.since is not None else []
        self._conditions += [created < micros(wanted.until)] if wanted.until is not None else []
        return query

    def _in_time(self, query: Any, created: Any, id_: Any) -> Any:
        if self._wanted.since is not None:
            query = query.where(created >= micros(self._wanted.since))
        if self._wanted.until is not None:
            query = query.where(created < micros(self._wanted.until))
        if self._after is not None:
            at, last = self._after
            # The first condition is one that every index can use.
            query = query.where(created <= at, tuple_(created, id_) < tuple_(literal(at), literal(last)))
        return query

    def _filter_conditions(self) -> list[tuple[str, Any]]:
        """The conditions of the filter except words, time and the name of the run."""
        table, wanted = tables.reports.c, self._wanted
        conditions: list[tuple[str, Any]] = []
        for name in ("action", "route", "caller"):
            value = getattr(wanted, name)
            if value is not None:
                conditions.append((name, table[name] == storable(value)))
        if self._policies is not None:
            single = len(self._policies) == 1
            condition = table.policy == self._policies[0] if single else table.policy.in_(self._policies)
            conditions.append(("policy", condition))
        if wanted.verdict is not None:
            bit = VERDICT_BITS[Verdict(wanted.verdict)]
            conditions.append(("verdict", table.verdicts.bitwise_and(bit) != 0))
        if wanted.min_score is not None:
            conditions.append(("min_score", table.score >= wanted.min_score))
        if wanted.max_score is not None:
            conditions.append(("max_score", table.score <= wanted.max_score))
        return conditions

    def _policy_digests(self, policy: str | None) -> tuple[str, ...] | None:
        """The digests of the policies with a name or digest; None without such a filter."""
        if policy is None or _DIGEST.fullmatch(policy):
            return None if policy is None else (policy,)
        table = tables.policies.c
        query = select(table.digest).where(table.tenant == self._tenant, table.name == storable(policy))
        return tuple(self._connection.execute(query.limit(MOST_LISTED)).scalars())


def _rows_of(candidates: Any, tenant: str, *, by_rowid: bool) -> Select[Any]:
    """The query for the rows of a list, from its candidates."""
    reports, runs, policies = tables.reports.c, tables.runs.c, tables.policies.c
    return (
        select(
            reports.id,
            reports.run,
            reports.created,
            reports.action,
            reports.route,
            reports.score,
            reports.policy,
            reports.verifier,
            reports.claims,
            reports.verdicts,
            reports.caller,
            policies.name.label("policy_name"),
            runs.kind,
            runs.run_id,
            runs.erased,
            func.substr(runs.question, 1, LONGEST_SHOWN).label("question"),
            candidates.c.place if by_rowid else literal(0).label("place"),
        )
        .select_from(
            candidates.join(tables.reports, (reports.tenant == tenant) & (reports.id == candidates.c.id))
            .join(tables.runs, (runs.tenant == tenant) & (runs.id == reports.run))
            .outerjoin(tables.policies, (policies.tenant == tenant) & (policies.digest == reports.policy))
        )
        .order_by(*([candidates.c.place.desc()] if by_rowid else [candidates.c.created.desc(), candidates.c.id.desc()]))
    )


def parse_cursor(after: str | None, by_rowid: bool) -> tuple[int, str] | None:
    """The position that a cursor stands for: moment and id, or with `by_rowid` a rowid of SQLite's search index.

    Raises:
        InputError: it is not such a cursor.
    """
    if after is None:
        return None
    match = _CURSOR.fullmatch(after)
    if match is None or by_rowid != (match[3] is not None):
        raise InputError("expected the `next` of the page before, got another place")
    return (int(match[3]), "") if by_rowid else (int(match[1]), match[2])


def cursor_after(row: Row[Any], by_rowid: bool) -> str:
    """The cursor of the page that begins behind a row."""
    return f"s{row.place}" if by_rowid else f"{row.created}.{row.id}"


def _report_row(row: Row[Any]) -> ReportRow:
    return ReportRow(
        row.id,
        row.run,
        moment_at(row.created),
        row.action,
        row.route,
        row.score,
        row.policy,
        row.policy_name,
        row.verifier,
        row.claims,
        tuple(verdict.value for verdict, bit in VERDICT_BITS.items() if row.verdicts & bit),
        row.kind,
        row.run_id,
        row.caller,
        row.question,
        row.erased is not None,
    )
