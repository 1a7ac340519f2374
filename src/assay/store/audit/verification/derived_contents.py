"""Verifying rows that many runs share: hourly counts, and the names of policies and verifiers."""

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
from assay.store.db.column_values import micros, storable
from assay.store.insights.hourly_increments import ACTION, CATEGORY, HOUR, LATENCY, VERDICT

_SECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Derived:
    """The state of counts and names with which the next verification begins."""

    hourly: str = ""
    """The digest of the hourly counts."""
    named: tuple[tuple[str, str, str, int, bool], ...] = ()
    """Policies and verifiers: table, digest, name, time in microseconds, and whether the time is exact."""
    kept: tuple[str, ...] = ()
    """The digests of policies that were stored with their text."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Parse its JSON value.

        Raises:
            KeyError, TypeError, ValueError: it is malformed.
        """
        named = tuple(
            (str(table), str(digest), str(name), int(moment), bool(exact))
            for table, digest, name, moment, exact in value["named"]
        )
        return cls(str(value["hourly"]), named, tuple(map(str, value["kept"])))


class DerivedCheck:
    """Recounts what the entries state, and compares it with the tables once all entries were read."""

    def __init__(self, before: Derived | None = None) -> None:
        """Create the check, before the first entry or where an earlier verification ended."""
        # Verifications leave a state only for a database whose rows are bound.
        self._rows_bound = before is not None
        self._repeated_adoptions = 0
        before = before or Derived()
        self._counts: Counter[tuple[int, str, str]] = Counter()
        self._adopted: str | None = before.hourly or None
        self._named: dict[tuple[str, str], tuple[str, int, bool]] = {
            (table, digest): (name, moment, exact) for table, digest, name, moment, exact in before.named
        }
        """By table and digest: name, time, and whether the time is exact."""
        self._kept: set[str] = set(before.kept)

    def add(self, data: Mapping[str, Any]) -> None:
        """Process the next entry of the log."""
        if data["kind"] == ADOPTION:
            self._adopted = str(data.get("hourly"))
            self._repeated_adoptions += self._rows_bound
            self._rows_bound = True
        self._rows_bound |= data["kind"] == ROWS and not data.get("adopted")
        if data["kind"] != DECISION:
            return
        try:
            self._add_decision(data)
        except (AssayError, KeyError, TypeError, ValueError, AttributeError):
            return  # a malformed decision is reported where it is compared with its run

    def _add_decision(self, data: Mapping[str, Any]) -> None:
        exact = "moment" in data
        moment = int(data["moment"]) if exact else micros(moment_of(data["at"]))
        for table, key in ((tables.policies, "policy"), (tables.verifiers, "verifier")):
            named = data[key]
            self._named.setdefault((table.name, named["digest"]), (storable(named["name"]), moment, exact))
        if not exact:
            return
        self._rows_bound = True
        if data["policy_kept"]:
            self._kept.add(data["policy"]["digest"])
        hour = moment // HOUR
        self._counts[hour, ACTION, data["action"]] += 1
        self._counts[hour, LATENCY, data["latency"]] += 1
        for kind, counted in ((VERDICT, data["verdicts"]), (CATEGORY, data["categories"])):
            for name, count in counted.items():
                self._counts[hour, kind, name] += count

    def finish(self, connection: Connection, tenant: str, findings: Findings) -> Derived:
        """Compare the counts and names with the tables; returns the state for the next verification."""
        if self._repeated_adoptions:
            findings.add(
                FindingCode.ALTERED_CONTENT,
                "the database was taken over as one of an older version although its rows were bound already: tables "
                "were put back, and rows may have been added or changed before they were bound anew",
            )
        for table in (tables.policies, tables.verifiers):
            self._compare_names(connection, tenant, table, findings)
        stored = read_hourly(connection, tenant)
        differences = {(hour, kind, name): count for hour, kind, name, count in stored}
        for key, count in self._counts.items():
            differences[key] = differences.get(key, 0) - count
        remaining = [(*key, count) for key, count in differences.items()]
        expected = hourly_digest([]) if self._adopted is None else self._adopted
        if hourly_digest(remaining) != expected:
            hours = sorted({hour for hour, _, _, count in remaining if count}) if self._adopted is None else []
            where = f", first in the hour {hours[0]}" if hours else ""
            findings.add(FindingCode.ALTERED_CONTENT, f"the counts by hour are not those of the decisions{where}")
        named = tuple((*key, *named) for key, named in sorted(self._named.items()))
        return Derived(hourly_digest(stored), named, tuple(sorted(self._kept)))

    def _compare_names(self, connection: Connection, tenant: str, table: Any, findings: Findings) -> None:
        columns = table.c
        what = "policy" if table is tables.policies else "verifier"
        empty = columns.body.is_(None) if table is tables.policies else columns.digest.is_(None)
        query = select(columns.digest, columns.name, columns.created, empty.label("empty"))
        stored = set()
        for row in connection.execute(query.where(columns.tenant == tenant)):
            stored.add(row.digest)
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
        for table_name, digest in self._named:
            if table_name == table.name and digest not in stored:
                findings.add(FindingCode.MISSING_CONTENT, f"the {what} {digest[:12]} of a decision is not there")
