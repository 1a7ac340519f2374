"""Retention: the rules of each tenant for how long content is kept, and their application.

A rule states after how many days the content of runs is erased: all of it or only the evidence, of all runs or of those
with one action. The log is not erased (`assay.store.records.erasure`); it records each erased run and each change of
the rules.
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
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.erasure import erase_evidence, erase_runs, settle

CONTENT: Final = "content"
EVIDENCE: Final = "evidence"
"""What a rule can erase."""
MOST_RULES: Final = 50
"""The most rules of a tenant."""
LONGEST_DAYS: Final = 36_500
"""The most days of a rule."""
AT_ONCE: Final = 2_000
"""Runs that are found and erased in one go."""
REASON: Final = "retention"
"""The reason in the log entries of these erasures."""


class ChangedError(StoreError):
    """The rules were changed by somebody else meanwhile; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what is erased, and when.

    Raises:
        StoreError: a field is malformed.
    """

    days: int
    """The age in days after which content is erased, from 1 to `LONGEST_DAYS`."""
    what: str = CONTENT
    """`content` is everything but the decision and its scores; `evidence` is the evidence alone."""
    action: str | None = None
    """Only runs with this action of the gate; all of them by default."""

    def __post_init__(self) -> None:
        whole = isinstance(self.days, int) and not isinstance(self.days, bool) and 1 <= self.days <= LONGEST_DAYS
        if not whole or self.what not in (CONTENT, EVIDENCE) or self.action not in (None, *map(str, Action)):
            raise StoreError(
                f"expected a rule of retention with days from 1 to {LONGEST_DAYS:,}, what: {CONTENT} or {EVIDENCE}, "
                f"and an action: {', '.join(Action)} or none; got {self.days!a}, {self.what!a} and {self.action!a}"
            )


@dataclass(frozen=True, slots=True)
class Rules:
    """The current rules of a tenant."""

    version: int
    """Grows with each change; 0 if there never were rules."""
    rules: tuple[Rule, ...] = ()
    changed: datetime | None = None


def read_rules(connection: Connection, tenant: str) -> Rules:
    """The rules of a tenant; without rules nothing is erased automatically.

    Raises:
        StoreError: the stored rules are damaged.
    """
    table = tables.retention.c
    row = connection.execute(select(table.version, table.changed, table.rules).where(table.tenant == tenant)).first()
    if row is None:
        return Rules(0)
    return Rules(row.version, tuple(_parse_rule(stored) for stored in row.rules or ()), moment_at(row.changed))


def _parse_rule(stored: Any) -> Rule:
    try:
        return Rule(stored["days"], stored["what"], stored["action"])
    except (KeyError, TypeError) as error:
        raise StoreError("the stored rules of retention are damaged") from error


def write_rules(store: Store, tenant: str, rules: Sequence[Rule], version: int, actor: str) -> Rules:
    """Replace the rules of a tenant.

    Args:
        store: the store.
        tenant: whose rules.
        rules: all new rules.
        version: the version that they replace.
        actor: who changes them, for the log.

    Raises:
        ChangedError: the rules have another version by now.
        StoreError: there are too many rules, or they cannot be stored.
    """
    if len(rules) > MOST_RULES:
        raise StoreError(f"expected at most {MOST_RULES} rules of retention, got {len(rules)}")
    data = [{"days": rule.days, "what": rule.what, "action": rule.action} for rule in dict.fromkeys(rules)]
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.retention
        current = read_rules(connection, tenant).version
        if current != version:
            raise ChangedError(f"expected the rules of retention in version {version}, and they are in {current}")
        row = {"version": version + 1, "changed": micros(now), "rules": data}
        touch(connection, RETENTION_RULES)
        if version == 0:
            connection.execute(insert(table), {"tenant": tenant, **row})
        else:
            connection.execute(update(table).where(table.c.tenant == tenant).values(row))
        fields = {"at": instant(now), "actor": actor, "version": version + 1, "rules": data}
        return [entry(RETENTION, None, fields)]

    store.apply(Change(checked_tenant(tenant), act=act))
    with store.reading(tenant) as connection:
        return read_rules(connection, tenant)


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of applying the rules."""

    content: int = 0
    """The number of runs whose content was erased."""
    evidence: int = 0
    """The number of runs of which only the evidence was erased."""
    done: bool = True
    """Whether the rules have nothing left to erase now."""


def apply_rules(store: Store, tenant: str, most: int = 100_000) -> Applied:
    """Erase the content that is due by the rules of a tenant.

    Args:
        store: the store.
        tenant: whose rules.
        most: the most runs to erase.

    Raises:
        StoreError: it cannot be stored; runs that were erased before stay erased.
    """
    with store.reading(tenant) as connection:
        rules = read_rules(connection, tenant).rules
    counts = {CONTENT: 0, EVIDENCE: 0}
    left = most
    try:
        # Content before evidence: a run whose content is erased need not have its evidence erased first.
        for rule in sorted(rules, key=lambda rule: rule.what):
            erase = erase_runs if rule.what == CONTENT else erase_evidence
            # Separate queries, so that an index yields the runs of each in order without those that were erased before.
            for evidence_erased in (False, True) if rule.what == CONTENT else (False,):
                since = 0
                while left > 0 and (
                    rows := _due(store, tenant, rule, min(AT_ONCE, left), evidence_erased=evidence_erased, since=since)
                ):
                    since = rows[-1].created
                    counts[rule.what] += len(erase(store, [row.id for row in rows], REASON, tenant, settles=False).runs)
                    left -= len(rows)
    finally:
        if any(counts.values()):
            settle(store)
    return Applied(counts[CONTENT], counts[EVIDENCE], left > 0)


def _due(store: Store, tenant: str, rule: Rule, most: int, *, evidence_erased: bool, since: int) -> Sequence[Any]:
    """Runs that are due by a rule, oldest first, from the moment `since` on. Callers pass the moment of the last run of
    the previous batch, which is erased by then: so no run is examined twice."""
    runs, reports = tables.runs.c, tables.reports.c
    before = micros(store.now() - timedelta(days=rule.days))
    query = select(runs.created, runs.id).where(
        runs.tenant == tenant,
        runs.erased.is_(None),
        runs.bare.is_(evidence_erased),
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
    """The tenants that have rules, from a connection that acts for all tenants."""
    table = tables.retention.c
    return list(connection.execute(select(table.tenant).order_by(table.tenant)).scalars())
