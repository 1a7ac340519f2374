"""Lists of reports: filtered, searched, newest first, and quick however many there are.

A list is read along an index from its newest row on, and what no index filters by is filtered on the way. So that a
filter which hardly anything fits does not read the whole table, one page looks at so many rows and no more
(`MOST_LOOKED_AT`): it may then hold fewer rows than were asked for, or none, and still have a `next`.
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
from assay.store.db.row_security import set_search_query
from assay.store.db.store import MOST_LISTED, batches
from assay.store.records.recording import VERDICT_BITS, micros, moment_at, storable
from assay.store.records.search_words import for_postgresql, for_sqlite, terms_of

MOST_LOOKED_AT: Final = 10_000
"""Rows that one page of a filtered list looks at."""
MOST_FOUND: Final = 4_000
"""Reports with the words of a search that one page looks at."""
LONGEST_SHOWN: Final = 400
"""Characters of a question and of an output that a list shows."""

_PLACE: Final = re.compile(r"([0-9]{1,18})\.([0-9a-f]{32,64})|s([0-9]{1,18})")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_RARE: Final = (Action.BLOCK.value, Action.ESCALATE.value, Action.REVISE.value)


@dataclass(frozen=True, slots=True)
class ReportFilter:
    """Which reports a list is to hold; everything by default."""

    words: str | None = None
    """What has to be in the question or the output: words and "phrases"; `word*` is how a word begins."""
    action: str | None = None
    route: str | None = None
    verdict: str | None = None
    """At least one claim has it."""
    policy: str | None = None
    """The digest or the name of a policy."""
    caller: str | None = None
    run_id: str | None = None
    """The name that the caller gave the run."""
    since: datetime | None = None
    until: datetime | None = None
    """Before this moment."""
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
    """Those that its claims have."""
    kind: str
    run_id: str | None
    caller: str | None
    question: str | None
    """Its beginning."""
    erased: bool


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list, newest first."""

    items: tuple[ReportRow, ...]
    next: str | None
    """Where the part behind it begins; none at the end of the list."""
    reached: datetime | None = None
    """How far back was looked where that was not to the end of the list: the moment of the last row."""


def read_page(
    connection: Connection, tenant: str, wanted: ReportFilter, after: str | None = None, limit: int = 50
) -> Page:
    """A page of a list of reports.

    Args:
        connection: one that sees one state of the database.
        tenant: whose reports.
        wanted: which.
        after: the `next` of the page before.
        limit: rows on a page, at most `MOST_LISTED`.

    Raises:
        InputError: the place, the search or a filter is malformed.
    """
    limit = max(1, min(limit, MOST_LISTED))
    listing = _Listing(connection, tenant, wanted, after, limit)
    return listing.read()


def read_listed(connection: Connection, tenant: str, ids: Sequence[str]) -> list[ReportRow]:
    """The first reports of some runs as a list shows them, in the order of their names; others are left out."""
    reports = tables.reports.c
    found: dict[str, ReportRow] = {}
    for part in batches(ids):
        here = (reports.tenant == tenant, reports.id.in_(part))
        named = select(reports.id, reports.created).where(*here).subquery("looked_at")
        found |= {row.id: _line(row) for row in connection.execute(_shown_rows(named, tenant, by_place=False))}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


class _Listing:
    """One page in the making: candidates along an index, then the filters that it does not know."""

    def __init__(
        self, connection: Connection, tenant: str, wanted: ReportFilter, after: str | None, limit: int
    ) -> None:
        self._connection, self._tenant, self._wanted, self._limit = connection, tenant, wanted, limit
        self._sqlite = connection.dialect.name == "sqlite"
        self._by_words = wanted.words is not None
        self._after = place_of(after, self._by_words and self._sqlite)
        self._rest: list[Any] = []
        self._policies = self._digests(wanted.policy)

    def read(self) -> Page:
        if self._policies == ():
            return Page((), None)
        by_words = self._found() if self._by_words else self._newest()
        most = (MOST_FOUND if self._by_words else MOST_LOOKED_AT) if self._rest else self._limit + 1
        looked_at = by_words.limit(max(most, self._limit + 1)).subquery("looked_at")
        rows = self._connection.execute(self._lines(looked_at).limit(self._limit + 1)).all()
        if len(rows) > self._limit:
            last = rows[self._limit - 1]
            return Page(tuple(map(_line, rows[: self._limit])), placed(last, self._by_words and self._sqlite))
        if not self._rest:
            return Page(tuple(map(_line, rows)), None)
        return self._to_the_end(looked_at, most, rows)

    def _to_the_end(self, looked_at: Any, most: int, rows: Sequence[Row[Any]]) -> Page:
        """A page that came to the end of what it looked at."""
        place = looked_at.c.place if self._by_words and self._sqlite else looked_at.c.created
        order = [place, looked_at.c.id] if not (self._by_words and self._sqlite) else [place]
        last = self._connection.execute(select(looked_at).order_by(*order).limit(1)).one_or_none()
        count = self._connection.execute(select(func.count()).select_from(looked_at)).scalar_one()
        made = tuple(map(_line, rows))
        if last is None or count < most:
            return Page(made, None)
        return Page(made, placed(last, self._by_words and self._sqlite), moment_at(last.created))

    # Candidates

    def _newest(self) -> Any:
        """Reports along an index of theirs."""
        table, wanted = tables.reports.c, self._wanted
        query: Any = select(table.id, table.created).where(table.tenant == self._tenant)
        query = self._in_time(query, table.created, table.id)
        if wanted.run_id is None:
            query = query.order_by(table.created.desc(), table.id.desc())
        else:
            runs = tables.runs.c
            own = select(runs.id).where(runs.tenant == self._tenant, runs.run_id == storable(wanted.run_id))
            # Sorted by an expression, so that it is not looked for all along the list.
            query = query.where(table.run.in_(own)).order_by((table.created + 0).desc(), table.id.desc())
        leading = self._leading()
        for name, condition in self._conditions():
            if name == leading:
                query = query.where(condition)
            else:
                self._rest.append(condition)
        return query

    def _leading(self) -> str | None:
        """The filter whose index leads: the one that most likely leaves the fewest."""
        wanted = self._wanted
        if wanted.run_id is not None:
            return None
        names = (
            ("caller", "action", "route", "policy")
            if wanted.action in _RARE
            else (
                "caller",
                "policy",
                "route",
                "action",
            )
        )
        found = [name for name in names if getattr(wanted, name) is not None]
        # Several versions of a policy are several places of its index.
        return next((name for name in found if name != "policy" or len(self._policies or ()) == 1), None)

    def _found(self) -> Any:
        """Reports with the words of the search."""
        table = tables.report_search.c
        terms = terms_of(self._wanted.words or "")
        self._rest += [condition for _, condition in self._conditions()]
        wanted = self._wanted
        if wanted.run_id is not None:
            runs = tables.runs.c
            own = select(runs.id).where(runs.tenant == self._tenant, runs.run_id == storable(wanted.run_id))
            self._rest.append(tables.reports.c.run.in_(own))
        if not self._sqlite:
            # What is looked for is a part of the wall, and no condition of the query.
            set_search_query(self._connection, for_postgresql(terms))
            newest = select(table.id, table.created).where(table.owner == self._tenant)
            return self._in_time(newest, table.created, table.id).order_by(table.created.desc(), table.id.desc())
        matches = text("report_search MATCH :said").bindparams(said=for_sqlite(terms, self._tenant))
        place: Any = column("rowid")
        made: Any = select(table.id, table.created, place.label("place")).where(matches).order_by(place.desc())
        if self._after is not None:
            made = made.where(place < self._after[0])
        created = tables.reports.c.created
        self._rest += [created >= micros(wanted.since)] if wanted.since is not None else []
        self._rest += [created < micros(wanted.until)] if wanted.until is not None else []
        return made

    def _in_time(self, query: Any, created: Any, id_: Any) -> Any:
        if self._wanted.since is not None:
            query = query.where(created >= micros(self._wanted.since))
        if self._wanted.until is not None:
            query = query.where(created < micros(self._wanted.until))
        if self._after is not None:
            at, last = self._after
            # The first half is what every index can find by.
            query = query.where(created <= at, tuple_(created, id_) < tuple_(literal(at), literal(last)))
        return query

    def _conditions(self) -> list[tuple[str, Any]]:
        """What is filtered by, but for words and time."""
        table, wanted = tables.reports.c, self._wanted
        made: list[tuple[str, Any]] = []
        for name in ("action", "route", "caller"):
            value = getattr(wanted, name)
            if value is not None:
                made.append((name, table[name] == storable(value)))
        if self._policies is not None:
            one = len(self._policies) == 1
            made.append(("policy", table.policy == self._policies[0] if one else table.policy.in_(self._policies)))
        if wanted.verdict is not None:
            bit = VERDICT_BITS[Verdict(wanted.verdict)]
            made.append(("verdict", table.verdicts.bitwise_and(bit) != 0))
        if wanted.min_score is not None:
            made.append(("min_score", table.score >= wanted.min_score))
        if wanted.max_score is not None:
            made.append(("max_score", table.score <= wanted.max_score))
        return made

    def _digests(self, policy: str | None) -> tuple[str, ...] | None:
        """The policies that are meant; none where all are."""
        if policy is None or _DIGEST.fullmatch(policy):
            return None if policy is None else (policy,)
        table = tables.policies.c
        query = select(table.digest).where(table.tenant == self._tenant, table.name == storable(policy))
        return tuple(self._connection.execute(query.limit(MOST_LISTED)).scalars())

    # Rows

    def _lines(self, looked_at: Any) -> Select[Any]:
        return _shown_rows(looked_at, self._tenant, by_place=self._by_words and self._sqlite).where(*self._rest)


def _shown_rows(looked_at: Any, tenant: str, *, by_place: bool) -> Select[Any]:
    """Reads what a list shows of the reports that were looked at."""
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
            looked_at.c.place if by_place else literal(0).label("place"),
        )
        .select_from(
            looked_at.join(tables.reports, (reports.tenant == tenant) & (reports.id == looked_at.c.id))
            .join(tables.runs, (runs.tenant == tenant) & (runs.id == reports.run))
            .outerjoin(tables.policies, (policies.tenant == tenant) & (policies.digest == reports.policy))
        )
        .order_by(*([looked_at.c.place.desc()] if by_place else [looked_at.c.created.desc(), looked_at.c.id.desc()]))
    )


def place_of(after: str | None, by_place: bool) -> tuple[int, str] | None:
    """The place that a `next` names; `by_place` says that it is one of SQLite's index of words.

    Raises:
        InputError: it is none.
    """
    if after is None:
        return None
    found = _PLACE.fullmatch(after)
    if found is None or by_place != (found[3] is not None):
        raise InputError("expected the `next` of the page before, got another place")
    return (int(found[3]), "") if by_place else (int(found[1]), found[2])


def placed(row: Row[Any], by_place: bool) -> str:
    """The `next` behind a row."""
    return f"s{row.place}" if by_place else f"{row.created}.{row.id}"


def _line(row: Row[Any]) -> ReportRow:
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
