"""Holding rows against the log: each unit is what the last entry about it says, and was told of from its first on.

1. The entries about a unit follow each other: each begins with what the one before ended with. Where one does not, the
   rows were altered in between by something that is no change of ours.
2. What is stored now is what the last of them commits to, under the seal that is stored with it.
3. There are no rows of which no entry tells.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, exists, func, literal, select

from assay.errors import AssayError
from assay.store.audit.entries import DECISION, ROWS, read_entry_data
from assay.store.audit.units import ATTACKS, RUN, UNITS, State, Unit, read_states, unit_called
from assay.store.audit.verification.log import MOST_FINDINGS, FindingCode, Findings
from assay.store.db import tables

PART: Final = 500
"""Units that are compared at once."""

_OF_RUN: Final = RUN.name("")

History = list[tuple[int, dict[str, Any]]]
"""The entries about a unit, in order, each with its index."""


class UnitCheck:
    """Compares units as the entries that tell of them are read, each once: where its first entry is read."""

    def __init__(self, connection: Connection, tenant: str, size: int, findings: Findings, begin: int = 0) -> None:
        """Compare those with entries from `begin` on, of a log of a size."""
        self._connection, self._tenant, self._size, self._findings = connection, tenant, size, findings
        self._begin = begin
        self._seen: dict[str, tuple[int, dict[str, Any]]] = {}
        self.untouched: set[str] = set()
        """The runs that were compared and are as their decision, the only entry about them, binds them: their rows were
        stored in its transaction and not changed since. Whoever takes note of them clears it."""
        self._found: list[tuple[FindingCode, str, str]] = []

    def add(self, index: int, data: dict[str, Any]) -> None:
        """The next entry of the log."""
        name = named_unit(data["kind"], data.get("record"))
        if name is None:
            return
        self._seen.setdefault(name, (index, data))
        if len(self._seen) >= PART:
            self.flush()

    def finish(self) -> None:
        """Compare what waits, and tell of all units of which nothing closer was found."""
        self.flush()
        for code, message, about in self._found:
            if about not in self._findings.about:
                self._findings.add(code, message)

    def _add(self, code: FindingCode, message: str, about: str) -> None:
        if len(self._found) < MOST_FINDINGS:
            self._found.append((code, message, about))

    def flush(self) -> None:
        """Compare what waits."""
        seen, self._seen = self._seen, {}
        places = self._places(sorted(seen))
        first = {name: [seen[name]] for name, found in places.items() if found == [seen[name][0]]}
        # Where further entries tell of it, all of them are read.
        more = self._histories([name for name in places if name not in first])
        self.compare(
            first
            | {
                name: history
                for name, history in more.items()
                if next((index for index, _ in history if index >= self._begin), None) == seen[name][0]
            }
        )

    def _places(self, names: Sequence[str]) -> dict[str, list[int]]:
        """The entries about units, by their indexes."""
        found: dict[str, list[int]] = {name: [] for name in names}
        for row in self._connection.execute(self._about(names, data=False)) if names else ():
            if (of := found.get(named_unit(row.kind, row.record) or "")) is not None:
                of.append(row.idx)
        return found

    def compare(self, histories: Mapping[str, History]) -> None:
        """Compare units with the entries about them."""
        by_unit: dict[str, tuple[Unit, dict[str, History]]] = {}
        for name, history in histories.items():
            try:
                unit, id_ = unit_called(name)
            except AssayError as error:
                self._findings.add(FindingCode.ALTERED_ENTRY, f"entry {history[0][0]}: {error}")
                continue
            by_unit.setdefault(unit.kind, (unit, {}))[1][id_] = history
        for unit, wanted in by_unit.values():
            states = read_states(self._connection, self._tenant, unit, wanted)
            for id_, history in wanted.items():
                self._of_unit(unit, id_, history, states.get(id_))

    def of_kind(self, unit: Unit, ids: Sequence[str]) -> None:
        """Compare units of one kind, whatever entries tell of them."""
        self.compare(self._histories([unit.name(id_) for id_ in ids]))

    def _histories(self, names: Collection[str]) -> dict[str, History]:
        found: dict[str, History] = {}
        wanted = set(names)
        for row in self._connection.execute(self._about(names, data=True)) if names else ():
            name = named_unit(row.kind, row.record)
            try:
                data = read_entry_data(bytes(row.data))
            except AssayError:
                continue  # told of where all entries are read
            if name is not None and name in wanted:
                found.setdefault(name, []).append((row.idx, data))
        return found

    def _about(self, names: Collection[str], *, data: bool) -> Select[Any]:
        """Reads the entries about units, in order."""
        table = tables.audit_entries.c
        more = [table.data] if data else []
        return (
            select(table.idx, table.record, table.kind, *more)
            .where(
                table.tenant == self._tenant,
                table.idx < self._size,
                # A decision is about the run itself, not about its rows alone.
                table.record.in_([*names, *(name.removeprefix(_OF_RUN) for name in names if name.startswith(_OF_RUN))]),
                table.kind.in_((DECISION, ROWS)),
            )
            .order_by(table.idx)
        )

    def _of_unit(self, unit: Unit, id_: str, history: History, state: State | None) -> None:
        last, told_at, where = None, -1, f"{_said(unit)} {id_}".rstrip()
        for index, data in history:
            if data["kind"] == DECISION:
                last, told_at = data.get("rows"), index
                continue
            if data.get("was") != last:
                self._findings.add(
                    FindingCode.ALTERED_CONTENT,
                    f"{where}: its rows were altered before entry {index}, and no entry records it",
                )
            last, told_at = data.get("now"), index
        if last is None and state is None:
            return
        if last is None:
            said = "entry {} says that it was dropped" if history[-1][1]["kind"] == ROWS else "entry {} binds none"
            self._add(FindingCode.UNLOGGED, f"{where}: it has rows, and {said.format(told_at)}", id_)
        elif state is None:
            self._add(FindingCode.MISSING_CONTENT, f"{where}: its rows are gone, and no entry records that", id_)
        elif state.bound() != last:
            named = ", ".join(part.name for part in (unit.head, *(part.table for part in unit.parts)))
            self._add(
                FindingCode.ALTERED_CONTENT,
                f"{where}: its rows ({named}) are not those that entry {told_at} binds",
                id_,
            )
        elif unit is RUN and len(history) == 1 and history[0][1]["kind"] == DECISION:
            self.untouched.add(id_)


def unlogged(connection: Connection, tenant: str) -> Iterator[str]:
    """What is wrong with rows of which no entry tells, as sentences."""
    log = tables.audit_entries.c
    for unit in UNITS:
        head = unit.head.c
        id_ = literal("") if unit.id is None else head[unit.id]
        name = id_ if unit is RUN else literal(f"{unit.kind}:").op("||")(id_)
        kind = DECISION if unit is RUN else ROWS
        logged = exists().where(log.tenant == head.tenant, log.record == name, log.kind == kind)
        rows = connection.execute(select(id_.label("id")).where(head.tenant == tenant, ~logged).limit(100)).scalars()
        for one in rows:
            yield f"{_said(unit)} {one}".rstrip() + " is in the tables, and no entry records it"
    for unit, part in ((one, part) for one in UNITS for part in one.parts):
        # Rows of a run that is not there are in no unit.
        table, owner = part.table.c, unit.head if part.via is None else part.via
        there = exists().where(owner.c.tenant == table.tenant, owner.c.id == table[part.of])
        count = connection.execute(
            select(func.count()).select_from(part.table).where(table.tenant == tenant, ~there)
        ).scalar_one()
        if count:
            yield f"{count:,} rows of {part.table.name} belong to nothing that is recorded"


def _said(unit: Unit) -> str:
    return "run" if unit is RUN else f"the {'run of the red team' if unit is ATTACKS else unit.kind}"


def named_unit(kind: str, record: Any) -> str | None:
    """The name of the unit that an entry tells of; none where it tells of none."""
    if not isinstance(record, str):
        return None
    return {ROWS: record, DECISION: f"{_OF_RUN}{record}"}.get(kind)
