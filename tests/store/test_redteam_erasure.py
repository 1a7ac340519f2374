"""Erasure of the red team's conversations: texts go by hand and by rule, results stay, the log stays provable."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from tests.store.reviewing import TENANT, Clock
from tests.store.test_redteam import CASES, PROPOSAL, RUN, YES, holds, version

from assay.errors import StoreError
from assay.store.audit.entries import read_entry_data
from assay.store.db import tables
from assay.store.db.row_security import SETTING
from assay.store.db.store import Store
from assay.store.records import Rule, micros, write_rules
from assay.store.redteam import (
    ERASED,
    KeptAnswer,
    add_proposals,
    apply_rules_to_conversations,
    decide_proposal,
    erase_conversations,
    keep_answer,
    kept_answers,
    read_cases,
    read_proposal,
    read_run,
    record_run,
)

DAY = timedelta(days=1)
SAID = "the target said this"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    with Store(url, clock=clock) as made:
        yield made


def recorded(store: Store, id_: str = "a" * 32) -> str:
    """A run of which two conversations are kept, and a proposal with an answer."""
    cases = [CASES[0], replace(CASES[1], told={"answer": SAID}), replace(CASES[2], told={"answer": SAID})]
    record_run(store, TENANT, replace(RUN, id=id_, at=micros(store.now())), cases)
    proposal = replace(PROPOSAL, id=f"rt-{id_[:16]}", run=id_, body={"case": {"id": "rt-2"}, "answer": SAID})
    add_proposals(store, TENANT, [proposal], "command")
    return proposal.id


def told(store: Store, id_: str = "a" * 32) -> list[Any]:
    with store.reading(TENANT) as connection:
        return [one.told for one in read_cases(connection, TENANT, id_)]


def acts(store: Store) -> list[dict[str, Any]]:
    table = tables.audit_entries.c
    with store.reading(TENANT) as connection:
        rows = connection.execute(table.data.table.select().where(table.kind == "redteam").order_by(table.idx)).all()
    return [read_entry_data(bytes(row.data)) for row in rows]


def test_conversations_go_and_results_stay(store: Store) -> None:
    proposal = recorded(store)
    keep_answer(store, TENANT, "a" * 32, KeptAnswer("rt-1", 1, SAID, None, 0.5))
    assert erase_conversations(store, ["a" * 32, "b" * 32], "request", TENANT) == ["a" * 32]
    assert told(store) == [None, None, None]
    with store.reading(TENANT) as connection:
        run, kept = read_run(connection, TENANT, "a" * 32), read_proposal(connection, TENANT, proposal)
        cases = read_cases(connection, TENANT, "a" * 32)
        assert kept_answers(connection, TENANT, "a" * 32) == []
    assert run is not None
    assert (run.ars, run.failed, run.body["categories"]) == (RUN.ars, RUN.failed, RUN.body["categories"])
    assert run.body[ERASED] >= run.at
    assert [(one.outcome, one.match) for one in cases] == [(one.outcome, one.match) for one in CASES]
    assert [one.rule for one in cases] == ["right", "another value", None]
    assert kept is not None
    assert kept.body["case"] == {"id": "rt-2"}
    assert kept.body["answer"] is None
    assert holds(store)


def test_the_log_tells_of_an_erasure_once_and_why(store: Store) -> None:
    recorded(store)
    assert erase_conversations(store, ["a" * 32], "request", TENANT) == ["a" * 32]
    assert erase_conversations(store, ["a" * 32], "request", TENANT) == []
    erased = [one for one in acts(store) if one.get("act") == "erased"]
    assert [(one["record"], one["reason"]) for one in erased] == [("a" * 32, "request")]
    assert SAID not in str(acts(store))


def test_nothing_of_another_tenant_is_erased(store: Store) -> None:
    recorded(store)
    assert erase_conversations(store, ["a" * 32], "request", "globex") == []
    assert told(store)[1] == {"answer": SAID}


def test_a_conversation_that_goes_without_an_entry_is_found(store: Store) -> None:
    recorded(store)
    with store.engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT set_config(:name, :tenant, true)"), {"name": SETTING, "tenant": TENANT})
        assert connection.execute(tables.redteam_cases.update().values(told=None)).rowcount == 3
    assert not holds(store)


def test_a_reason_has_to_say_something(store: Store) -> None:
    with pytest.raises(StoreError, match="reason"):
        erase_conversations(store, ["a" * 32], "  ", TENANT)


def test_rules_for_the_content_of_all_runs_hold_for_conversations(store: Store, clock: Clock) -> None:
    old = recorded(store)
    clock.now += 20 * DAY
    recorded(store, "b" * 32)
    assert apply_rules_to_conversations(store, TENANT) == 0
    write_rules(store, TENANT, [Rule(10, "evidence"), Rule(5, "content", "block")], 0, "ann")
    assert apply_rules_to_conversations(store, TENANT) == 0
    write_rules(store, TENANT, [Rule(10), Rule(15)], 1, "ann")
    assert apply_rules_to_conversations(store, TENANT) == 1
    assert told(store) == [None, None, None]
    assert told(store, "b" * 32)[1] == {"answer": SAID}
    with store.reading(TENANT) as connection:
        kept = read_proposal(connection, TENANT, old)
    assert kept is not None
    assert kept.body["answer"] is None
    assert apply_rules_to_conversations(store, TENANT) == 0
    assert holds(store)


def test_answers_of_proposals_without_a_run_and_of_runs_that_never_ended_are_erased_too(
    store: Store, clock: Clock
) -> None:
    add_proposals(store, TENANT, [replace(PROPOSAL, body={"case": {"id": "rt-2"}, "answer": SAID})], "command")
    keep_answer(store, TENANT, "c" * 32, KeptAnswer("rt-1", 1, SAID, None, 0.5))
    write_rules(store, TENANT, [Rule(3)], 0, "ann")
    clock.now += 4 * DAY
    assert apply_rules_to_conversations(store, TENANT) == 0
    with store.reading(TENANT) as connection:
        kept = read_proposal(connection, TENANT, PROPOSAL.id)
        assert kept_answers(connection, TENANT, "c" * 32) == []
    assert kept is not None
    assert kept.body["answer"] is None
    assert [one["record"] for one in acts(store) if one.get("act") == "erased"] == [PROPOSAL.id]
    made = decide_proposal(store, TENANT, PROPOSAL.id, YES, version, kept.version)
    assert made.state == "approved"
    assert holds(store)
