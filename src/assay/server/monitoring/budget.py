"""The error budget over the record, and its five consequences, each of which is logged when it begins or ends."""

from heapq import nsmallest
from typing import Any, Final

from assay.monitor import BudgetReading, BudgetSettings, Consequence, Sampling, read_budget
from assay.policy import Policy
from assay.server.monitoring.overlay import overlay_of
from assay.server.monitoring.rows import observation_of
from assay.store.alerts import AlertState, list_alerts
from assay.store.db import Store
from assay.store.monitoring import LIFTED, REGRESSED, each_observation, read_consequences, set_consequences
from assay.store.records import micros
from assay.store.redteam import spent_by_attacks

_DAY: Final = 86_400_000_000
_HOLDING: Final = (AlertState.OPEN, AlertState.ACKNOWLEDGED)


class Budgeting:
    """The error budgets of the tenants of a store."""

    def __init__(self, store: Store, settings: BudgetSettings | None = None) -> None:
        """Takes the store, and the settings or their defaults."""
        self._store, self._settings = store, settings or BudgetSettings()

    def reading(self, tenant: str) -> BudgetReading:
        """The current state of the budget."""
        now = micros(self._store.now())
        begin = now - round(self._settings.window_days * _DAY)
        with self._store.reading(tenant) as connection:
            # A successful attack is a wrong output: it spends of a budget of wrong outputs and of no other.
            attacks = spent_by_attacks(connection, tenant, begin, now + 1) if self._settings.metric == "bad" else []
            rows = each_observation(connection, tenant, begin, now + 1)
            return read_budget(map(observation_of, rows), now, self._settings, attacks)

    def read(self, tenant: str) -> dict[str, Any]:
        """The budget and the state of its consequences, as a JSON value."""
        return self._status_of(tenant, self.reading(tenant), ())

    def settle(self, tenant: str, actor: str) -> dict[str, Any]:
        """Brings the consequences of the budget into force, and lifts those that no longer follow from it.

        Args:
            tenant: the tenant.
            actor: the actor in the audit log.

        Returns:
            The budget and the state of its consequences, as a JSON value.

        Raises:
            StoreError: it cannot be stored.
        """
        reading = self.reading(tenant)
        wanted = reading.wanted(self._settings)
        reason = {"left": reading.left, "allowed": reading.allowed, "rate": reading.rate, "broken": reading.broken}
        changed = set_consequences(self._store, tenant, wanted, reason, actor)
        status = self._status_of(tenant, reading, changed)
        if Consequence.INVESTIGATION.value in changed and wanted[Consequence.INVESTIGATION.value]:
            status["investigation"] = self._investigate(tenant)
        return status

    def _status_of(self, tenant: str, reading: BudgetReading, changed: "tuple[str, ...] | list[str]") -> dict[str, Any]:
        with self._store.reading(tenant) as connection:
            rows = read_consequences(connection, tenant)
            alerts = list_alerts(connection, tenant, self._store.now(), _HOLDING)
        return {
            "golden_regressed": any(one.key == REGRESSED for one in alerts),
            "tenant": tenant,
            "metric": self._settings.metric,
            "most": self._settings.most,
            "window_days": self._settings.window_days,
            **reading.wire(),
            "consequences": {
                one.value: {
                    "enabled": self._settings.consequences.get(one.value, False),
                    "active": one.value in rows and rows[one.value].active,
                    "since": rows[one.value].since if one.value in rows else None,
                    "changed": one.value in changed,
                    "lifted": one.value in rows and bool(rows[one.value].body.get(LIFTED)),
                }
                for one in Consequence
            },
        }

    def active(self, tenant: str) -> frozenset[str]:
        """The names of the consequences in force."""
        with self._store.reading(tenant) as connection:
            return frozenset(name for name, row in read_consequences(connection, tenant).items() if row.active)

    def sampled(self, tenant: str, sampling: Sampling) -> Sampling:
        """The sampling in force: the given one, or one with higher rates while that consequence is in force."""
        if Consequence.SAMPLING.value not in self.active(tenant):
            return sampling
        return Sampling(
            sampling.stakes,
            sampling.severity,
            sampling.callers,
            sampling.salt,
            sampling.times * self._settings.sampling_times,
        )

    def overlaid(self, tenant: str, policy: Policy) -> dict[str, Any]:
        """A policy with the consequences in force applied, as a JSON value: at least as strict in every respect."""
        return overlay_of(policy, self.active(tenant), self._settings)

    def _investigate(self, tenant: str) -> str | None:
        """Opens an item in the review queue for the worst output of the window; returns its id, if there is one."""
        from assay.store.reviews import open_investigation

        now = micros(self._store.now())
        with self._store.reading(tenant) as connection:
            rows = each_observation(connection, tenant, now - round(self._settings.window_days * _DAY), now + 1)
            worst = nsmallest(
                50,
                (row for row in rows if row["sampled"] and row["bad"]),
                key=lambda row: (-(row["score"] or 0.0), -row["at"]),
            )
        for row in worst:
            if open_investigation(self._store, tenant, row["id"]):
                return str(row["id"])
        return None
