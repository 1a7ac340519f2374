"""From an earlier verification on, what was verified is only looked at for changes, and every change is found."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, insert, select, text, update
from tests.store.bound import HASH, Full, altering, make_full, state_of, verified
from tests.store.making import DAY, EVIDENCE, KEYS, RING, record_of, report_of
from tests.store.reviewing import ANN, TENANT, Clock, approve, held

from assay.errors import AuditError
from assay.schema import Evidence
from assay.schema.access import Permission, Role
from assay.store.access.api_keys import create_key
from assay.store.access.users import create_user, forget_user
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.derived_contents import Derived
from assay.store.audit.verification.incremental import VerificationState, read_verification_state, verify_contents_since
from assay.store.audit.verification.log import LogVerification, verify_log
from assay.store.audit.verification.run_blocks import RUNS, digest_of, read_blocks
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records.check_rows import change_of
from assay.store.records.erasure import erase_evidence, erase_runs
from assay.store.records.interface import CheckRecord
from assay.store.records.retention import Rule, write_rules
from assay.store.records.run_events import give_feedback
from assay.store.reviews.queue import Reviews

ENOUGH = 3 * RUNS + 5
"""Runs of some blocks, the last one cut short."""


def look(
    store: Store, since: VerificationState | None, connection: Connection | None = None
) -> tuple[LogVerification, VerificationState | None]:
    def at(here: Connection) -> tuple[LogVerification, VerificationState | None]:
        return verify_contents_since(here, TENANT, verify_log(here, TENANT, RING), since)

    if connection is not None:
        return at(connection)
    with store.reading(TENANT) as own:
        return at(own)


def held_state(store: Store, since: VerificationState | None = None) -> VerificationState:
    found, left = look(store, since)
    assert left is not None, found.findings
    return read_verification_state(left.to_text())


def filled(store: Store, count: int = ENOUGH) -> list[CheckRecord]:
    made = [record_of(f"Answer {number}.") for number in range(count)]
    for waiting in [store.submit(change_of(one, DAY)) for one in made]:
        waiting.result()
    return made


@pytest.fixture
def store(url: str) -> Any:
    with Store(url) as made:
        yield made


def test_what_is_as_it_was_is_not_compared_anew(store: Store) -> None:
    filled(store)
    state = held_state(store)
    assert len(state.runs) == 4
    found, left = look(store, state)
    # The last block may have been cut short.
    assert (found.holds, found.since, found.runs, left) == (True, ENOUGH, 5, state)
    store.record(record_of("One more."))
    found, left = look(store, state)
    assert (found.holds, found.size, found.runs) == (True, ENOUGH + 1, 6)
    assert left == held_state(store)


def test_everything_that_people_do_meanwhile_holds_and_leaves_what_a_full_one_leaves(url: str) -> None:
    clock = Clock(DAY)
    with Store(url, clock=clock) as store:
        runs = filled(store)
        waiting = held("Waiting.")
        store.record(waiting)
        ann = create_user(store, "ann", [Role.REVIEWER], password=HASH)
        state = held_state(store)
        steps: list[Callable[[], object]] = [
            lambda: give_feedback(store, runs[0].id, "wrong", comment="No."),
            lambda: erase_runs(store, [runs[70].id], "request", TENANT),
            lambda: store.record(record_of("Own.", evidence=(Evidence(id="own", text="Alone."),))),
            lambda: erase_evidence(store, [runs[71].id], "licence", TENANT),
            lambda: Reviews(store).decide(TENANT, waiting.id, ANN, approve(released=report_of("Waiting."))),
            lambda: create_key(store, "app", [Permission.CHECK]),
            lambda: forget_user(store, ann.id, TENANT, actor="boss"),
            lambda: write_rules(store, TENANT, [Rule(400)], 0, "boss"),
            lambda: make_checkpoint(store, KEYS, TENANT),
            lambda: erase_runs(store, [one.id for one in runs[:80]], "request", TENANT),
        ]
        for step in steps:
            clock.go(seconds=5)
            step()
            found, left = look(store, state)
            assert left is not None, found.findings
            state = read_verification_state(left.to_text())
        full, whole = look(store, None)
        assert full.holds
        assert whole is not None
        assert (state.size, state.root, state.derived, state.entries) == (
            whole.size,
            whole.root,
            whole.derived,
            whole.entries,
        )
        assert dict(state.runs).items() <= dict(whole.runs).items()


def _inserted(connection: Connection, id_: str) -> None:
    row = dict(connection.execute(select(tables.runs).limit(1)).mappings().one())
    connection.execute(insert(tables.runs).values({**row, "id": id_}))


def _dropped(connection: Connection, number: int, count: int = 1) -> None:
    """Some runs with all that belongs to them."""
    runs = select(tables.runs.c.id).order_by(tables.runs.c.id).offset(number).limit(count)
    gone = connection.execute(runs).scalars().all()
    ids = select(tables.reports.c.id).where(tables.reports.c.run.in_(gone))
    for table in (tables.claims, tables.tool_calls):
        connection.execute(delete(table).where(table.c.report.in_(ids)))
    for table in (tables.reports, tables.run_evidence, tables.decisions):
        connection.execute(delete(table).where(table.c.run.in_(gone)))
    connection.execute(delete(tables.runs).where(tables.runs.c.id.in_(gone)))


TAMPERINGS: dict[str, Callable[[Connection], object]] = {
    "a run before all others": lambda c: _inserted(c, "0" * 32),
    "a run behind all others": lambda c: _inserted(c, "f" * 32),
    "a run of another id": lambda c: _inserted(c, "Ä"),
    "the first run dropped": lambda c: _dropped(c, 0),
    "one in the middle dropped": lambda c: _dropped(c, 100),
    "the last run dropped": lambda c: _dropped(c, ENOUGH - 1),
    "all runs dropped": lambda c: _dropped(c, 0, ENOUGH),
    "a claim of all runs": lambda c: c.execute(update(tables.claims).values(text="Forged.")),
    "an evidence": lambda c: c.execute(update(tables.evidence).values(body={"text": "Forged."})),
    "a seal": lambda c: c.execute(update(tables.runs).values(seal=b"x" * 32)),
    "what stands beside an entry": lambda c: c.execute(
        update(tables.audit_entries).where(tables.audit_entries.c.idx == 3).values(kind="note")
    ),
    "whose an entry is": lambda c: c.execute(
        update(tables.audit_entries).where(tables.audit_entries.c.idx == 3).values(record="0" * 32)
    ),
    "an entry": lambda c: c.execute(
        update(tables.audit_entries).where(tables.audit_entries.c.idx == 3).values(data=b"{}")
    ),
    "counts": lambda c: c.execute(update(tables.hourly).values(count=tables.hourly.c.count + 1)),
    "the name of a policy": lambda c: c.execute(update(tables.policies).values(name="other")),
    "when a verifier was seen": lambda c: c.execute(update(tables.verifiers).values(created=1)),
    "a user out of nothing": lambda c: c.execute(
        insert(tables.users).values(
            tenant=TENANT, id="m", name="mallory", password=HASH, roles="admin", expertise="", created=1, version=1
        )
    ),
}


def test_every_change_of_what_was_verified_is_found(store: Store) -> None:
    filled(store)
    state = held_state(store)
    store.record(record_of("Since then."))
    missed = []
    for name, tamper in TAMPERINGS.items():
        with altering(store) as connection:
            tamper(connection)
            found, left = look(store, state, connection)
            # It is what a verification in full says, too.
            if found.holds or left is not None or look(store, None, connection)[0].holds:
                missed.append(name)
    assert missed == []
    assert look(store, state)[0].holds


def test_a_state_of_another_log_of_another_history_or_of_a_longer_one_is_told(store: Store, tmp_path: Path) -> None:
    filled(store, 5)
    state = held_state(store)
    for other, code in (
        (replace(state, origin="example.com/other"), "other_log"),
        (replace(state, root="00" * 32), "other_history"),
        (replace(state, size=9), "shorter"),
    ):
        found, left = look(store, other)
        assert ([one.code.value for one in found.findings], left) == ([code], None)
        assert found.runs == 5


def test_a_state_with_other_digests_passes_nothing_over(store: Store) -> None:
    filled(store)
    state = held_state(store)
    for forged in (
        replace(state, runs=tuple((last, "0" * 64) for last, _ in state.runs)),
        replace(state, entries=("0" * 64,)),
        replace(state, runs=()),
        replace(state, runs=state.runs[1:]),
    ):
        found, left = look(store, forged)
        assert found.holds
        assert found.runs > 5
        assert left is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda v: {**v, "form": "assay.verified/9"},
        lambda v: {**v, "size": "5"},
        lambda v: {**v, "size": -1},
        lambda v: {**v, "runs": [["b", "x"], ["a", "x"]]},
        lambda v: {**v, "runs": [["b"]]},
        lambda v: {**v, "entries": []},
        lambda v: {**v, "derived": {}},
        lambda v: {name: one for name, one in v.items() if name != "root"},
        lambda v: [v],
        lambda v: {**v, "derived": {"hourly": "", "named": [["a"]], "kept": []}},
    ],
)
def test_what_is_no_state_is_refused(change: Callable[[Any], Any]) -> None:
    state = VerificationState("example.com/log", 5, "00", ("d",), (("a", "x"),), Derived())
    assert read_verification_state(state.to_text()) == state
    with pytest.raises(AuditError, match="state"):
        read_verification_state(json.dumps(change(json.loads(state.to_text()))))
    with pytest.raises(AuditError, match="state"):
        read_verification_state(state.to_text()[:-9])


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple),
    max_leaves=8,
)


@settings(max_examples=200)
@given(_VALUES)
def test_equal_rows_have_one_digest_wherever_their_values_come_from(value: Any) -> None:
    def made(one: Any) -> Any:
        if isinstance(one, (list, tuple)):
            return type(one)(map(made, one))
        return eval(repr(one), {"inf": float("inf")}) if not isinstance(one, bool | None) else one  # noqa: S307 ours

    assert digest_of(made(value)) == digest_of(value)


def test_every_row_of_every_run_stands_in_just_one_block(store: Store) -> None:
    runs = filled(store, RUNS * 2 + 1)
    with store.reading(TENANT) as connection:
        blocks = list(read_blocks(connection, TENANT, []))
        again = list(read_blocks(connection, TENANT, [block.last for block in blocks]))
    assert sorted(id_ for block in blocks for id_ in block.runs) == sorted(one.id for one in runs)
    assert again == blocks
    assert len(EVIDENCE) == 2


def test_a_store_with_rows_in_every_table_is_verified_from_its_own_state(tmp_path: Path) -> None:
    full: Full = make_full(str(tmp_path / "full.db"), tmp_path)
    with full.store as store, store.reading(TENANT) as connection:
        state = state_of(full)
        assert verified(connection, full).holds
        assert look(store, state)[0].holds
        connection.execute(text("SELECT 1"))
