"""Comparing units of rows with the log: each unit is what the last entry about it commits to.

1. The entries about a unit form a chain: each begins with the state in which the previous one ended. If one does not,
   the rows were altered in between without the log.
2. The stored rows are what the last entry commits to, under the seal that is stored with them.
3. There are no rows that no entry records.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, exists, func, literal, select

from assay.errors import AssayError
from assay.store.audit.entries import DECISION, ROWS, read_entry_data
from assay.store.audit.units import REDTEAM_RUN, RUN, UNITS, State, Unit, parse_unit_name, read_states
from assay.store.audit.verification.log import MOST_FINDINGS, FindingCode, Findings
from assay.store.db import tables

BATCH: Final = 500
"""Units that are compared in one go."""

_RUN_PREFIX: Final = RUN.name("")

History = list[tuple[int, dict[str, Any]]]
"""The entries about a unit, in order, each with its index."""


class UnitCheck:
    """Compares units as the entries about them are read: each once, when its first entry is read."""

    def __init__(self, connection: Connection, tenant: str, size: int, findings: Findings, begin: int = 0) -> None:
        """Create a check for the units with entries from `begin` on, in a log of the given size."""
        self._connection, self._tenant, self._size, self._findings = connection, tenant, size, findings
        self._begin = begin
        self._seen: dict[str, tuple[int, dict[str, Any]]] = {}
        self.untouched: set[str] = set()
        """Runs that were compared and match their decision, the only entry about them: their rows were stored in its
        transaction and not changed since. The consumer clears the set."""
        self._delayed: list[tuple[FindingCode, str, str]] = []

    def add(self, index: int, data: dict[str, Any]) -> None:
        """Process the next entry of the log."""
        name = unit_name_of(data["kind"], data.get("record"))
        if name is None:
            return
        self._seen.setdefault(name, (index, data))
        if len(self._seen) >= BATCH:
            self.flush()

    def finish(self) -> None:
        """Compare the remaining units, and add the findings about units for which no more precise finding was added."""
        self.flush()
        for code, message, id_ in self._delayed:
            if id_ not in self._findings.runs:
                self._findings.add(code, message)

    def _delay(self, code: FindingCode, message: str, id_: str) -> None:
        if len(self._delayed) < MOST_FINDINGS:
            self._delayed.append((code, message, id_))

    def flush(self) -> None:
        """Compare the units whose first entries were read so far."""
        seen, self._seen = self._seen, {}
        indexes = self._entry_indexes(sorted(seen))
        single = {name: [seen[name]] for name, found in indexes.items() if found == [seen[name][0]]}
        # For a unit with further entries, all of them are read.
        longer = self._histories([name for name in indexes if name not in single])
        self.compare(
            single
            | {
                name: history
                for name, history in longer.items()
                if next((index for index, _ in history if index >= self._begin), None) == seen[name][0]
            }
        )

    def _entry_indexes(self, names: Sequence[str]) -> dict[str, list[int]]:
        """The indexes of the entries about units, by the name of the unit."""
        indexes: dict[str, list[int]] = {name: [] for name in names}
        for row in self._connection.execute(self._about(names, data=False)) if names else ():
            if (own := indexes.get(unit_name_of(row.kind, row.record) or "")) is not None:
                own.append(row.idx)
        return indexes

    def compare(self, histories: Mapping[str, History]) -> None:
        """Compare units with the entries about them."""
        by_unit: dict[str, tuple[Unit, dict[str, History]]] = {}
        for name, history in histories.items():
            try:
                unit, id_ = parse_unit_name(name)
            except AssayError as error:
                self._findings.add(FindingCode.ALTERED_ENTRY, f"entry {history[0][0]}: {error}")
                continue
            by_unit.setdefault(unit.kind, (unit, {}))[1][id_] = history
        for unit, own in by_unit.values():
            states = read_states(self._connection, self._tenant, unit, own)
            for id_, history in own.items():
                self._compare_unit(unit, id_, history, states.get(id_))

    def compare_ids(self, unit: Unit, ids: Sequence[str]) -> None:
        """Compare units of one kind, given by their ids, with all entries about them."""
        self.compare(self._histories([unit.name(id_) for id_ in ids]))

    def _histories(self, names: Collection[str]) -> dict[str, History]:
        histories: dict[str, History] = {}
        known = set(names)
        for row in self._connection.execute(self._about(names, data=True)) if names else ():
            name = unit_name_of(row.kind, row.record)
            try:
                data = read_entry_data(bytes(row.data))
            except AssayError:
                continue  # reported where all entries are read
            if name is not None and name in known:
                histories.setdefault(name, []).append((row.idx, data))
        return histories

    def _about(self, names: Collection[str], *, data: bool) -> Select[Any]:
        """The query for the entries about units, in order."""
        table = tables.audit_entries.c
        content = [table.data] if data else []
        return (
            select(table.idx, table.record, table.kind, *content)
            .where(
                table.tenant == self._tenant,
                table.idx < self._size,
                # The record of a decision is the id of the run, without the prefix of unit names.
                table.record.in_(
                    [*names, *(name.removeprefix(_RUN_PREFIX) for name in names if name.startswith(_RUN_PREFIX))]
                ),
                table.kind.in_((DECISION, ROWS)),
            )
            .order_by(table.idx)
        )

    def _compare_unit(self, unit: Unit, id_: str, history: History, state: State | None) -> None:
        last, last_index, where = None, -1, f"{_label(unit)} {id_}".rstrip()
        for index, data in history:
            if data["kind"] == DECISION:
                last, last_index = data.get("rows"), index
                continue
            if data.get("was") != last:
                self._findings.add(
                    FindingCode.ALTERED_CONTENT,
                    f"{where}: its rows were altered before entry {index}, and no entry records it",
                )
            last, last_index = data.get("now"), index
        if last is None and state is None:
            return
        if last is None:
            reason = "entry {} says that it was dropped" if history[-1][1]["kind"] == ROWS else "entry {} binds none"
            self._delay(FindingCode.UNLOGGED, f"{where}: it has rows, and {reason.format(last_index)}", id_)
        elif state is None:
            self._delay(FindingCode.MISSING_CONTENT, f"{where}: its rows are gone, and no entry records that", id_)
        elif state.commitment() != last:
            named = ", ".join(part.name for part in (unit.head, *(part.table for part in unit.parts)))
            self._delay(
                FindingCode.ALTERED_CONTENT,
                f"{where}: its rows ({named}) are not those that entry {last_index} binds",
                id_,
            )
        elif unit is RUN and len(history) == 1 and history[0][1]["kind"] == DECISION:
            self.untouched.add(id_)


def unlogged(connection: Connection, tenant: str) -> Iterator[str]:
    """Rows that no entry records, one sentence each."""
    log = tables.audit_entries.c
    for unit in UNITS:
        head = unit.head.c
        id_ = literal("") if unit.id is None else head[unit.id]
        name = id_ if unit is RUN else literal(f"{unit.kind}:").op("||")(id_)
        kind = DECISION if unit is RUN else ROWS
        logged = exists().where(log.tenant == head.tenant, log.record == name, log.kind == kind)
        rows = connection.execute(select(id_.label("id")).where(head.tenant == tenant, ~logged).limit(100)).scalars()
        for unlogged_id in rows:
            yield f"{_label(unit)} {unlogged_id}".rstrip() + " is in the tables, and no entry records it"
    for unit in UNITS:
        for part in unit.parts:
            # Rows of a run that does not exist are in no unit.
            table, owner = part.table.c, unit.head if part.via is None else part.via
            has_owner = exists().where(owner.c.tenant == table.tenant, owner.c.id == table[part.owner])
            count = connection.execute(
                select(func.count()).select_from(part.table).where(table.tenant == tenant, ~has_owner)
            ).scalar_one()
            if count:
                yield f"{count:,} rows of {part.table.name} belong to nothing that is recorded"


def _label(unit: Unit) -> str:
    return "run" if unit is RUN else f"the {'run of the red team' if unit is REDTEAM_RUN else unit.kind}"


def unit_name_of(kind: str, record: Any) -> str | None:
    """The name of the unit that an entry is about; None if it is about none."""
    if not isinstance(record, str):
        return None
    return {ROWS: record, DECISION: f"{_RUN_PREFIX}{record}"}.get(kind)
