"""The history of the policies in force, and what another one would have decided on what was checked before.

Nothing is checked again: `assay.policy.calibration.redecision` makes the gate's input again from the stored scores and
verdicts, and the gate decides. What cannot be decided so is counted, never guessed.
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
from assay.store.db.store import Store, batches
from assay.store.records.recording import checked_tenant, moment_at

MOST_DECISIONS: Final = 10_000
"""The decisions that another policy is tried on, the latest ones."""
LISTED: Final = 50
"""Decisions that change, listed by name."""
HELD: Final = 2
"""Policies whose decisions are held in memory, so that a slider answers while it moves."""
PART: Final = 50
"""Decisions that are made again between two looks at the clock."""
TRIALS: Final = 8
"""Trials of one policy that are held until they are asked for to their end."""


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """A policy that was in force."""

    digest: str
    name: str
    created: datetime
    """When it first decided."""
    last: datetime | None
    """When it last decided."""
    decisions: int
    """How many of its decisions are kept, counted up to `MOST_DECISIONS` and one more."""
    settings: Mapping[str, Any] | None
    """Its settings; none where only its digest was kept."""

    @property
    def policy(self) -> Policy | None:
        """The policy itself; none where its settings were not kept, or this version of assay cannot read them."""
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
    """With dots where it is in a part, such as `escalation.threshold`."""
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ChangedDecision:
    """A decision that another policy would have made otherwise."""

    run: str
    created: datetime
    before: Action
    after: Action
    score: float | None


@dataclass(frozen=True, slots=True)
class Tried:
    """What another policy would have decided."""

    moves: Mapping[tuple[Action, Action], int]
    """How many decisions went from one action to another, those that stay included."""
    changed: tuple[ChangedDecision, ...]
    """The latest decisions that change."""
    recheck: int
    """Decisions that cannot be known without checking the output again."""
    unknown: int
    """Decisions that are left out: their content was erased, or more than the gate decided on them."""
    left: int = 0
    """Decisions that were not looked at yet: ask once more."""

    @property
    def decided(self) -> int:
        """How many decisions were made again."""
        return sum(self.moves.values())

    @property
    def different(self) -> int:
        """How many of them change their action."""
        return sum(count for (before, after), count in self.moves.items() if before is not after)

    def before(self, action: Action) -> int:
        """How many had this action."""
        return sum(count for (was, _), count in self.moves.items() if was is action)

    def after(self, action: Action) -> int:
        """How many would have it."""
        return sum(
            count
            for (
                _,
                would,
            ), count in self.moves.items()
            if would is action
        )


@dataclass(frozen=True, slots=True)
class _Held:
    created: int
    score: float | None
    facts: GateFacts | None


@dataclass(slots=True)
class _Trial:
    """How far a policy was tried, on decisions that were the latest ones when that began."""

    ids: Sequence[str]
    at: int = 0
    moves: Counter[tuple[Action, Action]] = field(default_factory=Counter)
    changed: list[ChangedDecision] = field(default_factory=list)
    recheck: int = 0
    unknown: int = 0

    def add(self, id_: str, held: _Held, before: Policy, after: Policy | None) -> None:
        """Make one decision again; without another policy it is what it was."""
        self.at += 1
        if held.facts is None:
            self.unknown += 1
            return
        was = would = held.facts.action
        if after is not None:
            decision = redecide(held.facts, before, after)
            if decision is None:
                self.recheck += 1
                return
            would = decision.action
        self.moves[was, would] += 1
        if was is not would and len(self.changed) < LISTED:
            self.changed.append(ChangedDecision(id_, moment_at(held.created), was, would, held.score))

    def result(self) -> Tried:
        """What came of it so far."""
        return Tried(dict(self.moves), tuple(self.changed), self.recheck, self.unknown, len(self.ids) - self.at)


@dataclass(slots=True)
class _Decisions:
    """The decisions of one policy as they are held in memory, and the trials on them that have not come to an end."""

    by_id: dict[str, _Held] = field(default_factory=dict)
    trials: OrderedDict[str, _Trial] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, ids: Sequence[str]) -> _Trial:
        """A trial on decisions; only theirs, and those of trials before it, are held from now on."""
        wanted = set(ids).union(*(trial.ids for trial in self.trials.values()))
        self.by_id = {id_: held for id_, held in self.by_id.items() if id_ in wanted}
        return _Trial(ids)


class WhatIf:
    """Tries policies on decisions of a store. May be shared by threads."""

    def __init__(self, store: Store, most: int = MOST_DECISIONS) -> None:
        """Over a store; `most` decisions of a policy are looked at."""
        self._store, self._most = store, most
        self._held: OrderedDict[tuple[str, str], _Decisions] = OrderedDict()
        self._lock = threading.Lock()

    def ask(
        self, tenant: str, version: PolicyVersion, before: Policy, after: Policy, seconds: float | None = None
    ) -> Tried:
        """What a policy would have decided in place of the one that did.

        Args:
            tenant: whose decisions.
            version: the policy whose latest decisions are made again.
            before: that policy.
            after: the other one.
            seconds: after how long to tell what came of it so far, the latest decisions first; who asks for the same
                again is told more, until none is `left`. All of it by default.

        Raises:
            StoreError: the database cannot be read.
        """
        ends = math.inf if seconds is None else time.monotonic() + seconds
        decisions = self._place((tenant, version.digest))
        with decisions.lock, self._store.reading(checked_tenant(tenant)) as connection:
            trial = decisions.trials.pop(after.digest, None)
            if trial is None:
                trial = decisions.begin(_latest(connection, tenant, version.digest, self._most))
            while trial.at < len(trial.ids):
                part = trial.ids[trial.at : trial.at + PART]
                held = _held(connection, tenant, decisions, part, before)
                for id_ in part:
                    trial.add(id_, held.get(id_, _GONE), before, None if after == before else after)
                if time.monotonic() >= ends:
                    break
            if trial.at < len(trial.ids):
                decisions.trials[after.digest] = trial
                while len(decisions.trials) > TRIALS:
                    decisions.trials.popitem(last=False)
            return trial.result()

    def _place(self, key: tuple[str, str]) -> _Decisions:
        with self._lock:
            found = self._held.setdefault(key, _Decisions())
            self._held.move_to_end(key)
            while len(self._held) > HELD:
                self._held.popitem(last=False)
            return found


_GONE: Final = _Held(0, None, None)


def _held(
    connection: Connection, tenant: str, decisions: _Decisions, ids: Sequence[str], policy: Policy
) -> dict[str, _Held]:
    """Decisions by their ids; those that were read before are not read again."""
    found = {id_: decisions.by_id[id_] for id_ in ids if id_ in decisions.by_id}
    for part in batches([id_ for id_ in ids if id_ not in found]):
        read = _read(connection, tenant, part, policy)
        found.update(read)
        decisions.by_id.update(read)
    return found


def policy_history(store: Store, tenant: str, most: int = MOST_DECISIONS) -> list[PolicyVersion]:
    """The policies that decided, the one that decided last first.

    Args:
        store: the store.
        tenant: whose.
        most: up to how many decisions of each are counted, and one more.

    Raises:
        StoreError: the database cannot be read.
    """
    table = tables.policies.c
    with store.reading(checked_tenant(tenant)) as connection:
        rows = connection.execute(select(tables.policies).where(table.tenant == tenant)).all()
        versions = [_version(connection, tenant, row, most) for row in rows]
    return sorted(versions, key=lambda one: (one.last or one.created, one.created, one.digest), reverse=True)


def find_policy(store: Store, tenant: str, digest: str, most: int = MOST_DECISIONS) -> PolicyVersion | None:
    """A policy that decided, by its digest; none where the tenant has none such."""
    table = tables.policies.c
    with store.reading(checked_tenant(tenant)) as connection:
        row = connection.execute(
            select(tables.policies).where(table.tenant == tenant, table.digest == digest)
        ).one_or_none()
        return None if row is None else _version(connection, tenant, row, most)


def setting_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[SettingChange]:
    """The settings that differ between two policies, in the order of the second one.

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
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found.update(_flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value})
    return found


def _version(connection: Connection, tenant: str, row: Any, most: int) -> PolicyVersion:
    table = tables.reports.c
    own = (table.tenant == tenant) & (table.policy == row.digest)
    last = connection.execute(select(func.max(table.created)).where(own)).scalar()
    some = select(table.id).where(own).limit(most + 1).subquery()
    count = connection.execute(select(func.count()).select_from(some)).scalar_one()
    return PolicyVersion(
        row.digest, row.name, moment_at(row.created), None if last is None else moment_at(last), count, row.body
    )


def _latest(connection: Connection, tenant: str, digest: str, most: int) -> Sequence[str]:
    table = tables.reports.c
    query = select(table.id).where(table.tenant == tenant, table.policy == digest)
    return connection.execute(query.order_by(table.created.desc()).limit(most)).scalars().all()


def _read(connection: Connection, tenant: str, ids: Sequence[str], policy: Policy) -> dict[str, _Held]:
    report, run = tables.reports.c, tables.runs.c
    query = (
        select(report.id, report.created, report.score, report.body, run.asked)
        .join(tables.runs, (run.tenant == report.tenant) & (run.id == report.run))
        .where(report.tenant == tenant, report.id.in_(ids))
    )
    return {
        row.id: _Held(row.created, row.score, _facts(row.body, (row.asked or {}).get("asked"), policy))
        for row in connection.execute(query)
    }


def _facts(body: Mapping[str, Any] | None, asked: Mapping[str, Any] | None, policy: Policy) -> GateFacts | None:
    return None if body is None or asked is None else facts_of(body, asked, policy)
