"""Runs of the red team and proposals in both databases: once each, by tenant, bound to the log."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.store.making import RING
from tests.store.reviewing import TENANT, Clock

from assay.errors import ProposalError, StoreError
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db.store import Store
from assay.store.redteam import (
    AttackCase,
    AttackRun,
    KeptAnswer,
    ProposalDecision,
    ProposedCase,
    add_proposals,
    approved_cases,
    approved_ids,
    broken_cases,
    count_proposals,
    decide_proposal,
    drop_answers,
    first_run,
    keep_answer,
    kept_answers,
    known_series,
    last_run,
    list_proposals,
    list_runs,
    read_cases,
    read_run,
    record_run,
    spent_by_attacks,
)

RUN = AttackRun(
    "a" * 32,
    1_000,
    "d" * 64,
    "static",
    "http://bot",
    "e" * 64,
    "schedule",
    0.5,
    0.1,
    0.9,
    3,
    1,
    1,
    1,
    0,
    {"categories": {"scale_stress": {"ars": 0.5}}},
    schedule="nightly",
    due=900,
    regressed=False,
    weight=0.5,
)
CASES = [
    AttackCase("rt-1", "scale_stress", "passed", 1.0, False, "right"),
    AttackCase("rt-2", "scale_stress", "failed", 0.25, False, "another value", {"answer": "9\x00 \ud800 weeks"}),
    AttackCase("rt-3", "scale_stress", "unjudged", None, False, "timed out", {"answer": None}),
]
PROPOSAL = ProposedCase("rt-2", "scale_stress", "http://bot", 0.25, "another value", False, {"case": {"id": "rt-2"}})
YES = ProposalDecision("approved", "ann", "user:ann", "It happens.", {"id": "rt-2"}, "rt-2")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url, clock=Clock()) as made:
        yield made


def version(ids: Any) -> str:
    return ",".join(sorted(ids))


def holds(store: Store, tenant: str = TENANT) -> bool:
    with store.reading(tenant) as connection:
        return verify_contents(connection, tenant, verify_log(connection, tenant, RING)).holds


def test_a_run_is_kept_once_with_its_cases_and_read_by_its_tenant_alone(store: Store) -> None:
    assert record_run(store, TENANT, RUN, CASES)
    assert not record_run(store, TENANT, replace(RUN, ars=1.0), [])
    with store.reading(TENANT) as connection:
        found = read_run(connection, TENANT, RUN.id)
        assert found == replace(RUN, recorded=found.recorded if found else 0)
        cases = read_cases(connection, TENANT, RUN.id)
        assert [one.case_id for one in cases] == ["rt-1", "rt-2", "rt-3"]
        assert cases[1].told == {"answer": "9\x00 \N{REPLACEMENT CHARACTER} weeks"}
        assert [one.case_id for one in broken_cases(connection, TENANT, RUN.id)] == ["rt-2", "rt-3"]
        assert known_series(connection, TENANT) == [("static", "http://bot")]
        for nobody in ("globex", "*"):
            assert read_run(connection, nobody, RUN.id) is None
            assert read_cases(connection, nobody, RUN.id) == []
    with store.reading("globex") as connection:
        assert list_runs(connection, "globex") == []
        # The second wall: behind PostgreSQL's, not even a query for the other tenant finds anything.
        if connection.dialect.name == "postgresql":
            assert list_runs(connection, TENANT) == []
    assert holds(store)


def test_lists_baselines_and_what_is_spent_are_by_schedule_and_time(store: Store) -> None:
    for at, (name, regressed, ars) in enumerate(
        (("nightly", None, 0.9), ("nightly", True, 0.5), ("hourly", False, 0.8), ("nightly", False, None))
    ):
        run = replace(RUN, id=f"{at:032x}", at=1_000 + at, schedule=name, regressed=regressed, ars=ars)
        record_run(store, TENANT, run, [])
    with store.reading(TENANT) as connection:
        listed = [one.at for one in list_runs(connection, TENANT)]
        assert listed == [1_003, 1_002, 1_001, 1_000]
        page = list_runs(connection, TENANT, before=f"{2:032x}", limit=1)
        assert [one.at for one in page] == [1_001]
        assert [one.at for one in list_runs(connection, TENANT, schedule="hourly")] == [1_002]
        assert list_runs(connection, TENANT, target="another") == []
        first, last, sound = (
            first_run(connection, TENANT, "nightly"),
            last_run(connection, TENANT, "nightly"),
            last_run(connection, TENANT, "nightly", sound=True),
        )
        assert [one and one.at for one in (first, last, sound)] == [1_000, 1_003, 1_000]
        assert first_run(connection, TENANT, "nightly", 1_002) is None
        assert spent_by_attacks(connection, TENANT, 1_001, 1_003) == [(1_001, 0.5), (1_002, 0.5)]
        assert spent_by_attacks(connection, "globex", 0, 9_999) == []


def test_a_run_of_too_many_cases_is_refused_whole(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.store.redteam.runs.MOST_CASES", 2)
    with pytest.raises(StoreError, match="at most 2 cases"):
        record_run(store, TENANT, RUN, CASES)
    with store.reading(TENANT) as connection:
        assert list_runs(connection, TENANT) == []


def test_a_proposal_is_made_once_and_decided_once(store: Store) -> None:
    other = replace(PROPOSAL, id="rt-4")
    assert add_proposals(store, TENANT, [PROPOSAL, other], "schedule") == ["rt-2", "rt-4"]
    assert add_proposals(store, TENANT, [PROPOSAL], "schedule") == []
    with pytest.raises(ProposalError) as stale:
        decide_proposal(store, TENANT, "rt-2", YES, version, 3)
    made = decide_proposal(store, TENANT, "rt-2", YES, version, 1)
    assert (made.state, made.version, made.kept, made.decider) == ("approved", 2, "rt-2", "ann")
    with pytest.raises(ProposalError) as decided:
        decide_proposal(store, TENANT, "rt-2", YES, version)
    with pytest.raises(ProposalError) as twice:
        decide_proposal(store, TENANT, "rt-4", YES, version)
    with pytest.raises(ProposalError) as missing:
        decide_proposal(store, "globex", "rt-2", YES, version)
    codes = [one.value.code for one in (stale, decided, twice, missing)]
    assert codes == ["stale", "decided", "refused", "missing"]
    with store.reading(TENANT) as connection:
        assert count_proposals(connection, TENANT) == {"approved": 1, "open": 1}
        assert (approved_ids(connection, TENANT), approved_cases(connection, TENANT)) == (["rt-2"], [{"id": "rt-2"}])
        assert [one.id for one in list_proposals(connection, TENANT, ["open"])] == ["rt-4"]
        assert approved_ids(connection, "globex") == []
    assert holds(store)


def test_what_is_in_the_suite_in_an_edited_form_is_not_proposed_again(store: Store) -> None:
    add_proposals(store, TENANT, [PROPOSAL], "command")
    decide_proposal(store, TENANT, "rt-2", replace(YES, kept="rt-9", edited=True), version)
    again = [replace(PROPOSAL, id="rt-9"), PROPOSAL, replace(PROPOSAL, id="rt-5")]
    assert add_proposals(store, TENANT, again, "command") == ["rt-5"]


def test_of_people_who_decide_at_once_one_does(store: Store) -> None:
    add_proposals(store, TENANT, [PROPOSAL], "command")
    said: list[str] = []

    def person(name: str) -> None:
        try:
            said.append(decide_proposal(store, TENANT, "rt-2", replace(YES, decider=name), version, 1).decider or "")
        except ProposalError as error:
            said.append(error.code)

    threads = [threading.Thread(target=person, args=(f"person {at}",)) for at in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(one.split()[0] for one in said) == ["decided"] * 5 + ["person"]


def test_answers_under_way_are_kept_once_and_dropped_with_their_run(store: Store) -> None:
    for answer in (
        KeptAnswer("rt-1", 1, "2 weeks\x00", None, 0.5),
        KeptAnswer("rt-1", 1, "other", None, 0.1),
        KeptAnswer("rt-1", 2, None, "timed out", 60.0),
    ):
        keep_answer(store, TENANT, "r", answer)
    keep_answer(store, TENANT, "another", KeptAnswer("rt-1", 1, "x", None, 0.1))
    with store.reading(TENANT) as connection:
        kept = kept_answers(connection, TENANT, "r")
        assert [(one.trial, one.text, one.error) for one in kept] == [
            (1, "2 weeks\x00", None),
            (2, None, "timed out"),
        ]
        assert kept_answers(connection, "globex", "r") == []
    drop_answers(store, TENANT, "r")
    with store.reading(TENANT) as connection:
        assert kept_answers(connection, TENANT, "r") == []
        assert len(kept_answers(connection, TENANT, "another")) == 1
    assert holds(store)
