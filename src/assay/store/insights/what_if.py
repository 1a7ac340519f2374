"""The history of policies, and what another policy would have decided on outputs that were checked before.

Nothing is checked again: `assay.policy.calibration.redecision` rebuilds the gate's input from the stored scores and
verdicts, and the gate decides. Decisions that cannot be rebuilt are counted, never guessed.
"""

import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import Connection, func, select

from assay.policy import PRESETS, Policy
from assay.policy.calibration import GateFacts, facts_of, redecide
from assay.schema import Action
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, moment_at, moment_or_none
from assay.store.db.store import Store, batches

MOST_DECISIONS: Final = 10_000
"""The most decisions that another policy is tried on, the latest ones."""
LISTED: Final = 50
"""The most changed decisions that are listed."""
POLICIES_CACHED: Final = 2
"""Policies whose decisions are cached in memory, so that a slider responds while it moves."""
BATCH: Final = 50
"""Decisions that are made again between two checks of the time limit."""
TRIALS: Final = 8
"""Unfinished trials that are kept for each policy."""


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """A policy under which the gate decided."""

    digest: str
    name: str
    created: datetime
    """The moment of its first decision."""
    last: datetime | None
    """The moment of its latest decision."""
    decisions: int
    """The number of its decisions, counted up to `MOST_DECISIONS` + 1."""
    settings: Mapping[str, Any] | None
    """Its settings; None if only its digest was stored."""

    @property
    def policy(self) -> Policy | None:
        """The policy; None if its settings were not stored, or this version of assay cannot parse them."""
        if self.settings is None:
            return next((preset for preset in PRESETS.values() if preset.digest == self.digest), None)
        try:
            return Policy.model_validate(self.settings)
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that differs between two policies."""

    name: str
    """Its name, with dots for nested settings, such as `escalation.threshold`."""
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ChangedDecision:
    """A decision whose action changes under another policy."""

    run: str
    created: datetime
    before: Action
    after: Action
    score: float | None


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The decisions that another policy would have made."""

    moves: Mapping[tuple[Action, Action], int]
    """The number of decisions by old and new action, including unchanged ones."""
    changed: tuple[ChangedDecision, ...]
    """The latest changed decisions."""
    recheck: int
    """The number of decisions that cannot be made without checking the output again."""
    unknown: int
    """The number of decisions that are left out: their content was erased, or others than the gate took part."""
    left: int = 0
    """The number of decisions not made yet: call again to continue."""

    @property
    def decided(self) -> int:
        """The number of decisions that were made again."""
        return sum(self.moves.values())

    @property
    def different(self) -> int:
        """The number of those whose action changes."""
        return sum(count for (before, after), count in self.moves.items() if before is not after)

    def before(self, action: Action) -> int:
        """The number of decisions that had this action."""
        return sum(count for (was, _), count in self.moves.items() if was is action)

    def after(self, action: Action) -> int:
        """The number of decisions that would have this action."""
        return sum(count for (_, would), count in self.moves.items() if would is action)


@dataclass(frozen=True, slots=True)
class _CachedDecision:
    created: int
    score: float | None
    facts: GateFacts | None
    """The gate's input; None if it cannot be rebuilt."""


@dataclass(slots=True)
class _Trial:
    """A trial of a policy, as far as it has come, on the decisions that were the latest when it began."""

    ids: Sequence[str]
    at: int = 0
    """The number of decisions made again so far."""
    moves: Counter[tuple[Action, Action]] = field(default_factory=Counter)
    changed: list[ChangedDecision] = field(default_factory=list)
    recheck: int = 0
    unknown: int = 0

    def add(self, id_: str, cached: _CachedDecision, before: Policy, after: Policy | None) -> None:
        """Make one decision again; without another policy it stays the same."""
        self.at += 1
        if cached.facts is None:
            self.unknown += 1
            return
        was = would = cached.facts.action
        if after is not None:
            decision = redecide(cached.facts, before, after)
            if decision is None:
                self.recheck += 1
                return
            would = decision.action
        self.moves[was, would] += 1
        if was is not would and len(self.changed) < LISTED:
            self.changed.append(ChangedDecision(id_, moment_at(cached.created), was, would, cached.score))

    def result(self) -> TrialResult:
        """The result so far."""
        return TrialResult(dict(self.moves), tuple(self.changed), self.recheck, self.unknown, len(self.ids) - self.at)


@dataclass(slots=True)
class _Decisions:
    """The cached decisions of one policy, and the unfinished trials on them."""

    by_id: dict[str, _CachedDecision] = field(default_factory=dict)
    trials: OrderedDict[str, _Trial] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, ids: Sequence[str]) -> _Trial:
        """Begin a trial; only its decisions, and those of unfinished trials, stay cached."""
        needed = set(ids).union(*(trial.ids for trial in self.trials.values()))
        self.by_id = {id_: cached for id_, cached in self.by_id.items() if id_ in needed}
        return _Trial(ids)


class WhatIf:
    """Tries policies on the recorded decisions of a store. Safe for use by several threads."""

    def __init__(self, store: Store, most: int = MOST_DECISIONS) -> None:
        """Create it over a store; at most `most` decisions of a policy are made again."""
        self._store, self._most = store, most
        self._cache: OrderedDict[tuple[str, str], _Decisions] = OrderedDict()
        self._lock = threading.Lock()

    def ask(
        self, tenant: str, version: PolicyVersion, before: Policy, after: Policy, seconds: float | None = None
    ) -> TrialResult:
        """The decisions that a policy would have made in place of another.

        Args:
            tenant: whose decisions.
            version: the policy whose latest decisions are made again.
            before: that policy.
            after: the other policy.
            seconds: a time limit, after which the result so far is returned, for the latest decisions first; a
                further call continues, until none is `left`. No limit by default.

        Raises:
            StoreError: the database cannot be read.
        """
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        decisions = self._decisions((tenant, version.digest))
        with decisions.lock, self._store.reading(checked_tenant(tenant)) as connection:
            trial = decisions.trials.pop(after.digest, None)
            if trial is None:
                trial = decisions.begin(_latest(connection, tenant, version.digest, self._most))
            while trial.at < len(trial.ids):
                batch = trial.ids[trial.at : trial.at + BATCH]
                cached = _cached_decisions(connection, tenant, decisions, batch, before)
                for id_ in batch:
                    trial.add(id_, cached.get(id_, _MISSING), before, None if after == before else after)
                if time.monotonic() >= deadline:
                    break
            if trial.at < len(trial.ids):
                decisions.trials[after.digest] = trial
                while len(decisions.trials) > TRIALS:
                    decisions.trials.popitem(last=False)
            return trial.result()

    def _decisions(self, key: tuple[str, str]) -> _Decisions:
        with self._lock:
            decisions = self._cache.setdefault(key, _Decisions())
            self._cache.move_to_end(key)
            while len(self._cache) > POLICIES_CACHED:
                self._cache.popitem(last=False)
            return decisions


_MISSING: Final = _CachedDecision(0, None, None)


def _cached_decisions(
    connection: Connection, tenant: str, decisions: _Decisions, ids: Sequence[str], policy: Policy
) -> dict[str, _CachedDecision]:
    """Decisions by their ids; cached ones are not read again."""
    found = {id_: decisions.by_id[id_] for id_ in ids if id_ in decisions.by_id}
    for part in batches([id_ for id_ in ids if id_ not in found]):
        read = _read_decisions(connection, tenant, part, policy)
        found.update(read)
        decisions.by_id.update(read)
    return found


def policy_history(store: Store, tenant: str, most: int = MOST_DECISIONS) -> list[PolicyVersion]:
    """The policies under which the gate decided, the one with the latest decision first.

    Args:
        store: the store.
        tenant: whose policies.
        most: the decisions of each policy are counted up to this number + 1.

    Raises:
        StoreError: the database cannot be read.
    """
    table = tables.policies.c
    with store.reading(checked_tenant(tenant)) as connection:
        rows = connection.execute(select(tables.policies).where(table.tenant == tenant)).all()
        versions = [_version(connection, tenant, row, most) for row in rows]
    return sorted(
        versions, key=lambda version: (version.last or version.created, version.created, version.digest), reverse=True
    )


def find_policy(store: Store, tenant: str, digest: str, most: int = MOST_DECISIONS) -> PolicyVersion | None:
    """A policy under which the gate decided, by its digest; None if the tenant has no such policy."""
    table = tables.policies.c
    with store.reading(checked_tenant(tenant)) as connection:
        row = connection.execute(
            select(tables.policies).where(table.tenant == tenant, table.digest == digest)
        ).one_or_none()
        return None if row is None else _version(connection, tenant, row, most)


def setting_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[SettingChange]:
    """The settings that differ between two policies, in the order of the second policy.

    >>> setting_changes({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}})
    [SettingChange(name='b.c', before=2, after=3)]
    """
    first, second = _flat(before), _flat(after)
    names = dict.fromkeys((*second, *first))
    return [
        SettingChange(name, first.get(name), second.get(name))
        for name in names
        if first.get(name) != second.get(name) or (name in first) != (name in second)
    ]


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat.update(_flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value})
    return flat


def _version(connection: Connection, tenant: str, row: Any, most: int) -> PolicyVersion:
    table = tables.reports.c
    own = (table.tenant == tenant) & (table.policy == row.digest)
    last = connection.execute(select(func.max(table.created)).where(own)).scalar()
    counted = select(table.id).where(own).limit(most + 1).subquery()
    count = connection.execute(select(func.count()).select_from(counted)).scalar_one()
    return PolicyVersion(row.digest, row.name, moment_at(row.created), moment_or_none(last), count, row.body)


def _latest(connection: Connection, tenant: str, digest: str, most: int) -> Sequence[str]:
    table = tables.reports.c
    query = select(table.id).where(table.tenant == tenant, table.policy == digest)
    return connection.execute(query.order_by(table.created.desc()).limit(most)).scalars().all()


def _read_decisions(
    connection: Connection, tenant: str, ids: Sequence[str], policy: Policy
) -> dict[str, _CachedDecision]:
    report, run = tables.reports.c, tables.runs.c
    query = (
        select(report.id, report.created, report.score, report.body, run.asked)
        .join(tables.runs, (run.tenant == report.tenant) & (run.id == report.run))
        .where(report.tenant == tenant, report.id.in_(ids))
    )
    return {
        row.id: _CachedDecision(row.created, row.score, _facts(row.body, (row.asked or {}).get("asked"), policy))
        for row in connection.execute(query)
    }


def _facts(body: Mapping[str, Any] | None, asked: Mapping[str, Any] | None, policy: Policy) -> GateFacts | None:
    return None if body is None or asked is None else facts_of(body, asked, policy)
