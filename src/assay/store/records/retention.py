"""How long content is kept: rules of each tenant, and what applies them.

A rule says after how many days the content of runs is erased, all of it or the evidence alone, of all runs or of those
with one action. The log stays as it is (`assay.store.records.erasure`), and tells of each run that was erased and of
each change of the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, insert, select, update

from assay.errors import StoreError
from assay.receipt import instant
from assay.schema import Action
from assay.store.audit.binding import touch
from assay.store.audit.entries import RETENTION, entry
from assay.store.audit.log import Entry
from assay.store.audit.units import RETENTION_RULES
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.erasure import erase_evidence, erase_runs, settle
from assay.store.records.recording import checked_tenant, micros, moment_at

CONTENT: Final = "content"
EVIDENCE: Final = "evidence"
"""What a rule erases."""
MOST_RULES: Final = 50
LONGEST: Final = 36_500
"""The most days of a rule."""
AT_ONCE: Final = 2_000
"""Runs that are looked for and erased at a time."""
REASON: Final = "retention"


class ChangedError(StoreError):
    """The rules were changed by somebody else meanwhile; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is erased, and when.

    Raises:
        StoreError: it says something else.
    """

    days: int
    """After so many days, from 1 up."""
    what: str = CONTENT
    """`content` is everything but the decision and its scores; `evidence` is the evidence alone."""
    action: str | None = None
    """Only of runs on which the gate decided so; all of them by default."""

    def __post_init__(self) -> None:
        whole = isinstance(self.days, int) and not isinstance(self.days, bool) and 1 <= self.days <= LONGEST
        if not whole or self.what not in (CONTENT, EVIDENCE) or self.action not in (None, *map(str, Action)):
            raise StoreError(
                f"expected a rule of retention with days from 1 to {LONGEST:,}, what: {CONTENT} or {EVIDENCE}, and "
                f"an action: {', '.join(Action)} or none; got {self.days!a}, {self.what!a} and {self.action!a}"
            )


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a tenant as they are."""

    version: int
    """Grows with each change; 0 where there never were rules."""
    rules: tuple[Rule, ...] = ()
    changed: datetime | None = None


def read_rules(connection: Connection, tenant: str) -> Rules:
    """The rules of a tenant; none where nothing is ever erased by itself.

    Raises:
        StoreError: the stored rules are damaged.
    """
    table = tables.retention.c
    row = connection.execute(select(table.version, table.changed, table.rules).where(table.tenant == tenant)).first()
    if row is None:
        return Rules(0)
    return Rules(row.version, tuple(_read(one) for one in row.rules or ()), moment_at(row.changed))


def _read(stored: Any) -> Rule:
    try:
        return Rule(stored["days"], stored["what"], stored["action"])
    except (KeyError, TypeError) as error:
        raise StoreError("the stored rules of retention are damaged") from error


def write_rules(store: Store, tenant: str, rules: Sequence[Rule], version: int, actor: str) -> Rules:
    """Put other rules in place of those of a tenant.

    Args:
        store: the store.
        tenant: whose.
        rules: all rules that are to hold.
        version: the version that they take the place of.
        actor: who changes them; it is in the log.

    Raises:
        ChangedError: that is not the version any more.
        StoreError: there are too many rules, or they cannot be stored.
    """
    if len(rules) > MOST_RULES:
        raise StoreError(f"expected at most {MOST_RULES} rules of retention, got {len(rules)}")
    data = [{"days": rule.days, "what": rule.what, "action": rule.action} for rule in dict.fromkeys(rules)]
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.retention
        found = read_rules(connection, tenant).version
        if found != version:
            raise ChangedError(f"expected the rules of retention in version {version}, and they are in {found}")
        row = {"version": version + 1, "changed": micros(now), "rules": data}
        touch(connection, RETENTION_RULES)
        if version == 0:
            connection.execute(insert(table), {"tenant": tenant, **row})
        else:
            connection.execute(update(table).where(table.c.tenant == tenant).values(row))
        said = {"at": instant(now), "actor": actor, "version": version + 1, "rules": data}
        return [entry(RETENTION, None, said)]

    store.apply(Change(checked_tenant(tenant), act=act))
    with store.reading(tenant) as connection:
        return read_rules(connection, tenant)


@dataclass(frozen=True, slots=True)
class Applied:
    """What the rules came to."""

    content: int = 0
    """Runs whose content was erased."""
    evidence: int = 0
    """Runs whose evidence alone was erased."""
    done: bool = True
    """Whether nothing is left that the rules would erase now."""


def apply_rules(store: Store, tenant: str, most: int = 100_000) -> Applied:
    """Erase what the rules of a tenant say is to be erased by now.

    Args:
        store: the store.
        tenant: whose.
        most: runs that are erased at most.

    Raises:
        StoreError: it cannot be stored; what was erased before stays erased.
    """
    with store.reading(tenant) as connection:
        rules = read_rules(connection, tenant).rules
    counts = {CONTENT: 0, EVIDENCE: 0}
    left = most
    try:
        # What is erased whole need not lose its evidence before.
        for rule in sorted(rules, key=lambda rule: rule.what):
            erase = erase_runs if rule.what == CONTENT else erase_evidence
            # One after the other, so that an index gives each in order without those that were erased before.
            for reported in (False, True) if rule.what == CONTENT else (False,):
                since = 0
                while left > 0 and (
                    rows := _old(store, tenant, rule, min(AT_ONCE, left), reported=reported, since=since)
                ):
                    since = rows[-1].created
                    counts[rule.what] += len(erase(store, [row.id for row in rows], REASON, tenant, settles=False).runs)
                    left -= len(rows)
    finally:
        if any(counts.values()):
            settle(store)
    return Applied(counts[CONTENT], counts[EVIDENCE], left > 0)


def _old(store: Store, tenant: str, rule: Rule, most: int, *, reported: bool, since: int) -> Sequence[Any]:
    """Runs that a rule is about, oldest first, from the last one that was found on: what a rule is not about is passed
    by once, and what was found is erased by then."""
    runs, reports = tables.runs.c, tables.reports.c
    before = micros(store.now() - timedelta(days=rule.days))
    query = select(runs.created, runs.id).where(
        runs.tenant == tenant,
        runs.erased.is_(None),
        runs.bare.is_(reported),
        runs.created >= since,
        runs.created < before,
    )
    if rule.action is not None:
        query = query.join(tables.reports, (reports.tenant == runs.tenant) & (reports.id == runs.id)).where(
            reports.action == rule.action
        )
    with store.reading(tenant) as connection:
        return connection.execute(query.order_by(runs.created).limit(most)).all()


def tenants_with_rules(connection: Connection) -> list[str]:
    """The tenants that have rules; the connection acts for all tenants."""
    table = tables.retention.c
    return list(connection.execute(select(table.tenant).order_by(table.tenant)).scalars())
