"""Holding against the log what the tables hold once for many runs: counts by hour, names of policies and verifiers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from sqlalchemy import Connection, select

from assay.errors import AssayError
from assay.receipt import moment_of
from assay.store.audit.adoption import hourly_digest, read_hourly
from assay.store.audit.entries import ADOPTION, DECISION, ROWS
from assay.store.audit.verification.log import FindingCode, Findings
from assay.store.db import tables
from assay.store.insights.hourly_counting import ACTION, CATEGORY, HOUR, LATENCY, VERDICT
from assay.store.records.recording import micros, storable

_SECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Derived:
    """What a verification leaves of counts and names for the next one to begin with."""

    hourly: str = ""
    """The digest of the counts."""
    named: tuple[tuple[str, str, str, int, bool], ...] = ()
    """Policies and verifiers: table, digest, name, time, and whether the time is exact."""
    kept: tuple[str, ...] = ()
    """The digests of policies that were kept with their text."""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Out of its JSON value.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        named = tuple(
            (str(table), str(digest), str(name), int(moment), bool(exact))
            for table, digest, name, moment, exact in value["named"]
        )
        return cls(str(value["hourly"]), named, tuple(map(str, value["kept"])))


class DerivedCheck:
    """Counts again what entries tell of, and compares it once all were read."""

    def __init__(self, before: Derived | None = None) -> None:
        """Before the first entry, or where an earlier verification ended."""
        # A state is left only of a database whose rows are bound.
        self._binds = before is not None
        self._taken_over_again = 0
        before = before or Derived()
        self._counts: Counter[tuple[int, str, str]] = Counter()
        self._adopted: str | None = before.hourly or None
        self._named: dict[tuple[str, str], tuple[str, int, bool]] = {
            (table, digest): (name, moment, exact) for table, digest, name, moment, exact in before.named
        }
        """By table and digest: the name, the time, and whether the time is exact."""
        self._kept: set[str] = set(before.kept)

    def add(self, data: Mapping[str, Any]) -> None:
        """The next entry of the log."""
        if data["kind"] == ADOPTION:
            self._adopted = str(data.get("hourly"))
            self._taken_over_again += self._binds
            self._binds = True
        self._binds |= data["kind"] == ROWS and not data.get("adopted")
        if data["kind"] != DECISION:
            return
        try:
            self._of_decision(data)
        except (AssayError, KeyError, TypeError, ValueError, AttributeError):
            return  # what is no decision as we write them is told of where it is checked against its run

    def _of_decision(self, data: Mapping[str, Any]) -> None:
        exact = "moment" in data
        moment = int(data["moment"]) if exact else micros(moment_of(data["at"]))
        for table, key in ((tables.policies, "policy"), (tables.verifiers, "verifier")):
            named = data[key]
            self._named.setdefault((table.name, named["digest"]), (storable(named["name"]), moment, exact))
        if not exact:
            return
        self._binds = True
        if data["policy_kept"]:
            self._kept.add(data["policy"]["digest"])
        hour = moment // HOUR
        self._counts[hour, ACTION, data["action"]] += 1
        self._counts[hour, LATENCY, data["latency"]] += 1
        for kind, counted in ((VERDICT, data["verdicts"]), (CATEGORY, data["categories"])):
            for name, count in counted.items():
                self._counts[hour, kind, name] += count

    def finish(self, connection: Connection, tenant: str, findings: Findings) -> Derived:
        """Compare it with what is stored; what the next verification may begin with if nothing is found."""
        if self._taken_over_again:
            findings.add(
                FindingCode.ALTERED_CONTENT,
                "the database was taken over as one of an older version although its rows were bound already: tables "
                "were put back, and rows may have been added or changed before they were bound anew",
            )
        for table in (tables.policies, tables.verifiers):
            self._names(connection, tenant, table, findings)
        stored = read_hourly(connection, tenant)
        rest = {(hour, kind, name): count for hour, kind, name, count in stored}
        for place, count in self._counts.items():
            rest[place] = rest.get(place, 0) - count
        left = [(*place, count) for place, count in rest.items()]
        wanted = hourly_digest([]) if self._adopted is None else self._adopted
        if hourly_digest(left) != wanted:
            hours = sorted({hour for hour, _, _, count in left if count}) if self._adopted is None else []
            where = f", first in the hour {hours[0]}" if hours else ""
            findings.add(FindingCode.ALTERED_CONTENT, f"the counts by hour are not those of the decisions{where}")
        named = tuple((*place, *named) for place, named in sorted(self._named.items()))
        return Derived(hourly_digest(stored), named, tuple(sorted(self._kept)))

    def _names(self, connection: Connection, tenant: str, table: Any, findings: Findings) -> None:
        columns = table.c
        what = "policy" if table is tables.policies else "verifier"
        empty = columns.body.is_(None) if table is tables.policies else columns.digest.is_(None)
        query = select(columns.digest, columns.name, columns.created, empty.label("empty"))
        there = set()
        for row in connection.execute(query.where(columns.tenant == tenant)):
            there.add(row.digest)
            named = self._named.get((table.name, row.digest))
            if named is None:
                findings.add(FindingCode.UNLOGGED, f"no decision names the {what} {str(row.digest)[:12]}")
                continue
            name, moment, exact = named
            same = row.created == moment if exact else row.created // _SECOND == moment // _SECOND
            if row.name != name or not same:
                findings.add(
                    FindingCode.ALTERED_CONTENT,
                    f"the {what} {row.digest[:12]} has another name or time than its first decision",
                )
            if what == "policy" and row.empty and row.digest in self._kept:
                findings.add(FindingCode.MISSING_CONTENT, f"the policy {row.digest[:12]} has lost its text")
        for of, digest in self._named:
            if of == table.name and digest not in there:
                findings.add(FindingCode.MISSING_CONTENT, f"the {what} {digest[:12]} of a decision is not there")
