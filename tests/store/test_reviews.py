"""The review queue: claims, one decision, what is recorded of each act; on both databases."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from tests.store.making import EVIDENCE, RING
from tests.store.reviewing import ANN, BOB, TENANT, Clock, approve, escalating, held, reject, user

from assay.errors import ReviewError
from assay.policy.escalation import approved
from assay.schema import Evidence, Verdict
from assay.schema.escalation import ReviewAct, ReviewState
from assay.store.audit.log import entries_of
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.store import Store
from assay.store.db.tables import pack
from assay.store.records.check_rows import change_of
from assay.store.records.erasure import erase_runs
from assay.store.reviews.actions import ReviewDecision, Reviewer
from assay.store.reviews.items import ReviewFilter, list_items, read_events, read_item, read_package
from assay.store.reviews.queue import LEASE, Reviews


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Any:
    with Store(url, clock=clock) as made:
        yield made


def told(store: Store, run: str) -> list[dict[str, Any]]:
    with store.reading(TENANT) as connection:
        return [json.loads(data) for _, data in entries_of(connection, TENANT, run)]


@contextmanager
def refused(code: str) -> Iterator[None]:
    with pytest.raises(ReviewError) as caught:
        yield
    assert caught.value.code == code


def tried(queue: Reviews, id_: str, who: Reviewer, verdict: ReviewDecision) -> bool:
    """Whether a decision was this one's."""
    try:
        queue.decide(TENANT, id_, who, verdict)
    except ReviewError as error:
        if error.code != "decided":
            raise
        return False
    return True


def test_an_item_is_there_with_its_record_and_the_log_says_so(store: Store) -> None:
    record = held()
    store.record(record)
    with store.reading(TENANT) as connection:
        item = read_item(connection, TENANT, record.id)
        package = read_package(connection, TENANT, record.id)
        messages = connection.execute(select(tables.outbox.c.event)).scalars().all()
    assert item is not None
    assert package is not None
    assert (item.state, item.tier.value, item.version) == (ReviewState.OPEN, "sync", 1)
    assert item.deadline == store.now() + timedelta(minutes=15)
    assert package.output == record.report.output
    assert package.evidence_used == EVIDENCE
    assert [claim.text for claim in package.flagged_claims] == [record.report.output]
    assert package.risk == pytest.approx(0.7)
    assert [entry["kind"] for entry in told(store, record.id)] == ["decision", "review"]
    assert list(messages) == ["review.opened"]


def test_what_is_not_held_has_no_item(store: Store) -> None:
    record = held(held=False)
    store.record(record)
    with store.reading(TENANT) as connection:
        assert read_item(connection, TENANT, record.id) is None


def test_every_act_is_a_row_and_an_entry_and_the_log_verifies(store: Store) -> None:
    queue, record = Reviews(store), held()
    store.record(record)
    queue.claim(TENANT, record.id, ANN)
    queue.release(TENANT, record.id, ANN, "Not my field.")
    queue.assign(TENANT, record.id, "boss", to="bob")
    queue.claim(TENANT, record.id, BOB)
    queue.ask(TENANT, record.id, BOB, "Which handbook?")
    evidence = [Evidence(id="new", text="Partners are entitled to 4 weeks of leave.")]
    queue.supply(TENANT, record.id, "app", evidence, record.report)
    queue.decide(TENANT, record.id, BOB, approve(released=approved(record.report)))
    acts = ["open", "claim", "release", "assign", "claim", "ask_evidence", "supply_evidence", "approve"]
    with store.reading(TENANT) as connection:
        events = read_events(connection, TENANT, record.id)
        package = read_package(connection, TENANT, record.id)
        assert verify_contents(connection, TENANT, verify_log(connection, TENANT, RING)).holds
    assert [event.act for event in events] == acts
    assert events[2].reason == "Not my field."
    assert package is not None
    assert [item.id for item in package.evidence_used] == ["hr-2", "hr-3", "new"]
    entries = told(store, record.id)
    assert [entry["act"] for entry in entries[1:]] == acts
    assert [entry["position"] for entry in entries[1:]] == list(range(1, 9))
    assert not {"ann", "bob", "boss"} & set(json.dumps(entries).replace('"', " ").split())


def test_a_claim_keeps_others_away_until_it_is_given_back_or_its_time_is_up(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held(policy=escalating(sync_minutes=600.0))
    store.record(record)
    assert queue.claim(TENANT, record.id, ANN).holder == "ann"
    with refused("held"):
        queue.claim(TENANT, record.id, BOB)
    with refused("held"):
        queue.release(TENANT, record.id, BOB)
    with refused("held"):
        queue.decide(TENANT, record.id, BOB, reject())
    with refused("held"):
        queue.ask(TENANT, record.id, BOB, "Why?")
    queue.release(TENANT, record.id, ANN)
    assert queue.claim(TENANT, record.id, BOB).holder == "bob"
    clock.go(seconds=LEASE.total_seconds() - 1)
    assert queue.claim(TENANT, record.id, BOB).version == 4
    clock.go(seconds=LEASE.total_seconds() - 1)
    with refused("held"):
        queue.claim(TENANT, record.id, ANN)
    clock.go(seconds=2)
    assert queue.claim(TENANT, record.id, ANN).holder == "ann"
    with refused("held"):
        queue.decide(TENANT, record.id, BOB, approve())


def test_a_claim_from_the_future_does_not_hold(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held(policy=escalating(sync_minutes=600.0))
    store.record(record)
    clock.go(days=1)
    clock.go(minutes=-1441)
    clock.go(hours=9)
    queue.claim(TENANT, record.id, ANN)
    clock.go(hours=-8)
    assert queue.claim(TENANT, record.id, BOB).holder == "bob"


def test_an_administrator_may_take_what_was_given_to_others_but_not_what_somebody_has(store: Store) -> None:
    queue, record = Reviews(store), held()
    store.record(record)
    queue.assign(TENANT, record.id, "boss", to="ann")
    with refused("held"):
        queue.claim(TENANT, record.id, BOB)
    boss = Reviewer("boss", admin=True)
    assert queue.claim(TENANT, record.id, boss).holder == "boss"
    with refused("held"):
        queue.claim(TENANT, record.id, ANN)
    assert queue.release(TENANT, record.id, boss).holder is None


def test_expertise_is_asked_for_where_there_is_anyone_who_has_it(store: Store) -> None:
    queue, record = Reviews(store), held(policy=escalating(expertise="tax"))
    store.record(record)
    assert queue.claim(TENANT, record.id, ANN).holder == "ann"
    queue.release(TENANT, record.id, ANN)
    user(store, "cleo", "tax", "law")
    with refused("refused"):
        queue.claim(TENANT, record.id, ANN)
    assert queue.claim(TENANT, record.id, Reviewer("cleo", frozenset({"tax"}))).holder == "cleo"


def test_a_field_that_only_a_viewer_knows_keeps_no_reviewer_out(store: Store) -> None:
    queue, record = Reviews(store), held(policy=escalating(expertise="tax"))
    store.record(record)
    user(store, "finn", "tax", roles="viewer")
    assert queue.claim(TENANT, record.id, ANN).holder == "ann"


def test_where_nobody_is_both_senior_and_of_the_field_a_senior_decides(store: Store) -> None:
    queue, record = Reviews(store), held(policy=escalating(blocking_threshold=0.6, expertise="tax"))
    store.record(record)
    user(store, "dora", "senior")
    user(store, "cleo", "tax")
    with refused("refused"):
        queue.claim(TENANT, record.id, Reviewer("cleo", frozenset({"tax"})))
    dora = Reviewer("dora", frozenset({"senior"}))
    assert queue.claim(TENANT, record.id, dora).holder == "dora"
    queue.release(TENANT, record.id, dora)
    user(store, "eve", "senior", "tax")
    with refused("refused"):
        queue.claim(TENANT, record.id, dora)
    assert queue.claim(TENANT, record.id, Reviewer("eve", frozenset({"senior", "tax"}))).holder == "eve"


def test_the_blocking_tier_asks_for_senior_people(store: Store) -> None:
    queue, record = Reviews(store), held(policy=escalating(blocking_threshold=0.6))
    store.record(record)
    user(store, "dora", "senior")
    with refused("refused"):
        queue.claim(TENANT, record.id, ANN)
    assert queue.claim(TENANT, record.id, Reviewer("dora", frozenset({"senior"}))).tier.value == "blocking"


def test_a_decision_is_made_once_and_on_what_was_seen(store: Store) -> None:
    queue, record = Reviews(store), held()
    store.record(record)
    with refused("stale"):
        queue.decide(TENANT, record.id, ANN, reject(), version=7)
    item = queue.decide(TENANT, record.id, ANN, reject(claims={0: Verdict.CONTRADICTED}), version=1)
    assert (item.state, item.version, item.deadline) == (ReviewState.REJECTED, 2, None)
    assert item.outcome is not None
    assert item.outcome.claims == {0: Verdict.CONTRADICTED}
    for who in (ANN, BOB):
        with refused("decided"):
            queue.decide(TENANT, record.id, who, approve())
        with refused("decided"):
            queue.claim(TENANT, record.id, who)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 10_001])
def test_a_decision_has_a_reason(store: Store, reason: str) -> None:
    queue, record = Reviews(store), held()
    store.record(record)
    with refused("refused"):
        queue.decide(TENANT, record.id, ANN, reject(reason))
    with refused("refused"):
        queue.decide(TENANT, record.id, ANN, reject(claims={1: Verdict.SUPPORTED}))


def test_another_tenants_item_is_not_there(store: Store) -> None:
    queue, record = Reviews(store), held()
    store.record(record)
    for tenant, id_ in (("acme", record.id), (TENANT, "0" * 32)):
        with refused("missing"):
            queue.claim(tenant, id_, ANN)


def test_a_released_text_has_a_report_of_its_own(store: Store) -> None:
    queue, record = Reviews(store), held()
    store.record(record)
    item = queue.decide(TENANT, record.id, ANN, approve(released=approved(record.report)))
    assert item.outcome is not None
    assert item.outcome.report not in (None, record.id)
    report = store.report(str(item.outcome.report))
    assert report is not None
    assert (report.action.value, report.decision.route, report.output) == (
        "emit",
        "serve_approved",
        item.outcome.output,
    )
    first = store.report(record.id)
    assert first is not None
    assert first.action.value == "escalate"


def test_lists_are_ordered_filtered_and_paged(store: Store, clock: Clock) -> None:
    queue = Reviews(store)
    records = []
    for number in range(7):
        clock.go(minutes=1)
        rules = escalating(expertise="tax" if number % 2 else "", sync_minutes=60.0 - 3 * number)
        records.append(held(f"Partners get {number} weeks.", policy=rules))
        store.record(records[-1])
    queue.claim(TENANT, records[0].id, ANN)
    queue.decide(TENANT, records[1].id, ANN, reject())
    with store.reading(TENANT) as connection:
        whole = [item.id for item in list_items(connection, TENANT)]
        paged: list[str] = []
        while page := list_items(connection, TENANT, after=paged[-1] if paged else None, limit=2):
            paged += [item.id for item in page]
        mine = list_items(connection, TENANT, ReviewFilter(holder="ann"))
        taxes = list_items(connection, TENANT, ReviewFilter(expertise="law"))
        done = list_items(connection, TENANT, ReviewFilter(states=("rejected",)))
        late = list_items(connection, TENANT, ReviewFilter(overdue_at=clock.now + timedelta(minutes=43)))
        other = list_items(connection, "acme")
    assert whole == [record.id for record in reversed(records) if record is not records[1]]
    assert paged == whole
    assert [item.id for item in mine] == [records[0].id]
    assert len(taxes) == 4
    assert [item.id for item in done] == [records[1].id]
    assert [item.id for item in late] == [records[6].id]
    assert other == []


def test_the_next_page_is_there_after_the_last_item_of_the_page_was_decided(store: Store, clock: Clock) -> None:
    ids = []
    for _ in range(5):
        ids.append(store.record(held()).id)
        clock.go(minutes=1)
    with store.reading(TENANT) as connection:
        page = [item.id for item in list_items(connection, TENANT, limit=2)]
    assert page == ids[:2]
    Reviews(store).decide(TENANT, page[-1], ANN, ReviewDecision(ReviewAct.REJECT, "Wrong."))
    with store.reading(TENANT) as connection:
        following = [item.id for item in list_items(connection, TENANT, after=page[-1])]
    assert following == ids[2:]


def test_the_next_page_is_there_after_a_decided_item_from_before_first_deadlines_were_stored(
    store: Store, clock: Clock
) -> None:
    ids = []
    for _ in range(3):
        ids.append(store.record(held()).id)
        clock.go(minutes=1)
    Reviews(store).decide(TENANT, ids[0], ANN, reject())
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE review_items SET due = NULL")
    with store.reading(TENANT) as connection:
        assert [item.id for item in list_items(connection, TENANT, after=ids[0])] == ids[1:]


def test_an_erased_item_is_closed_and_says_nothing_more(store: Store) -> None:
    queue, record, done = Reviews(store), held(caller="Mrs Smith"), held()
    store.record(record)
    store.record(done)
    queue.decide(TENANT, done.id, ANN, approve(released=approved(done.report)))
    erase_runs(store, [record.id, done.id], "request", TENANT)
    with store.reading(TENANT) as connection:
        item = read_item(connection, TENANT, record.id)
        decided = read_item(connection, TENANT, done.id)
        assert read_package(connection, TENANT, record.id) is None
        assert verify_contents(connection, TENANT, verify_log(connection, TENANT, RING)).holds
    assert item is not None
    assert decided is not None
    assert (item.state, item.caller, item.outcome) == (ReviewState.ERASED, None, None)
    assert (decided.state, decided.outcome) == (ReviewState.APPROVED, None)
    with refused("decided"):
        queue.claim(TENANT, record.id, ANN)


def race(store: Store, rounds: int, hands: int = 1) -> tuple[int, int]:
    """Two reviewers decide the same items at once; how many decisions each got, held against the tables.

    Args:
        store: the store.
        rounds: how many items.
        hands: how many threads each of the two has: the more, the more acts share a transaction.
    """
    queue = Reviews(store)
    records = [held() for _ in range(rounds)]
    for future in [store.submit(change_of(record, store.now())) for record in records]:
        future.result()
    ids = [record.id for record in records]
    begin = threading.Barrier(2 * hands)
    won: dict[str, list[str]] = {"ann": [], "bob": []}

    def work(who: Reviewer, verdict: ReviewDecision, order: list[str]) -> None:
        begin.wait()
        won[who.name] += [id_ for id_ in order if tried(queue, id_, who, verdict)]

    sides = ((ANN, approve()), (BOB, reject()))
    threads = [threading.Thread(target=work, args=(*side, ids[hand::hands])) for hand in range(hands) for side in sides]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won["ann"] + won["bob"]) == sorted(ids)
    with store.reading(TENANT) as connection:
        table = tables.decisions.c
        rows = connection.execute(
            select(table.run, table.actor).where(table.action.in_(("approve", "reject")), table.run >= min(ids))
        ).all()
    wanted = set(ids)
    found = sorted((row.run, row.actor) for row in rows if row.run in wanted)
    assert found == sorted((id_, name) for name in won for id_ in won[name])
    return len(won["ann"]), len(won["bob"])


def test_two_reviewers_of_one_item_come_to_one_decision(store: Store) -> None:
    race(store, 60)


def test_two_processes_come_to_one_decision(url: str) -> None:
    """Two stores over one database are what two processes are to each other."""
    with Store(url) as first, Store(url) as second:
        records = [held() for _ in range(25)]
        for record in records:
            first.record(record)
        begin = threading.Barrier(2)
        got: list[str] = []

        def work(store: Store, who: Reviewer) -> None:
            begin.wait()
            got.extend([one.id for one in records if tried(Reviews(store), one.id, who, reject())])

        threads = [threading.Thread(target=work, args=pair) for pair in ((first, ANN), (second, BOB))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(got) == sorted(record.id for record in records)


@pytest.mark.slow
def test_ten_thousand_races_come_to_ten_thousand_decisions(url: str) -> None:
    with Store(url) as store:
        won = [race(store, 1_000, hands=16) for _ in range(10)]
    assert sum(map(sum, won)) == 10_000


def test_a_receipt_is_kept_once(store: Store, tmp_path: Path) -> None:
    from tests.store.making import DAY, KEY

    from assay.receipt import new_receipt_id, sign

    queue, record = Reviews(store), held()
    store.record(record)
    item = queue.decide(TENANT, record.id, ANN, approve(released=approved(record.report)))
    report = store.report(str(item.outcome.report if item.outcome else ""))
    assert report is not None
    first, second = (sign(report, KEY, issued_at=DAY, receipt_id=new_receipt_id()) for _ in range(2))
    queue.keep_receipt(TENANT, record.id, first)
    kept = queue.keep_receipt(TENANT, record.id, second)
    assert kept.outcome is not None
    assert kept.outcome.receipt == first.to_text()
    assert [entry["kind"] for entry in told(store, record.id)].count("receipt") == 1


@pytest.mark.parametrize(
    ("column", "value"), [("action", "approve"), ("route", "approved"), ("actor", "bob"), ("reasons", pack(["No."]))]
)
def test_an_act_that_was_altered_in_the_tables_is_found(tmp_path: Path, column: str, value: Any) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        record = held()
        store.record(record)
        Reviews(store).decide(TENANT, record.id, ANN, reject("It is 2."))
        table = tables.decisions
        with writing(store.engine).begin() as connection:
            connection.execute(update(table).where(table.c.position == 2).values({column: value}))
        with store.reading(TENANT) as connection:
            found = verify_contents(connection, TENANT, verify_log(connection, TENANT, RING))
    assert [finding.code.value for finding in found.findings] == ["altered_content"]


def test_an_act_that_is_missing_in_the_tables_is_found(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        record = held()
        store.record(record)
        Reviews(store).claim(TENANT, record.id, ANN)
        table = tables.decisions
        with writing(store.engine).begin() as connection:
            connection.execute(delete(table).where(table.c.position == 2))
        with store.reading(TENANT) as connection:
            found = verify_contents(connection, TENANT, verify_log(connection, TENANT, RING))
    assert [finding.code.value for finding in found.findings] == ["missing_content"]


def test_hostile_words_are_kept_and_break_nothing(store: Store) -> None:
    queue, record = Reviews(store), held("<script>alert(1)</script> {{7*7}} '; DROP TABLE runs; --\u202e")
    store.record(record)
    hostile = "\x00\ud800<img src=x onerror=alert(1)>'; --\u202e{{ x }}" + "y" * 9_000
    queue.assign(TENANT, record.id, "boss\x00", to="ann\x00", expertise="tax\x00", reason=hostile)
    queue.claim(TENANT, record.id, Reviewer("x", admin=True))
    item = queue.decide(TENANT, record.id, Reviewer("x", admin=True), reject(hostile, response=hostile))
    with store.reading(TENANT) as connection:
        assert read_package(connection, TENANT, record.id) is not None
        assert "onerror" in str(read_events(connection, TENANT, record.id)[-1].reason)
        assert list_items(connection, TENANT, ReviewFilter(states=(), expertise="\x00")) == []
        assert verify_contents(connection, TENANT, verify_log(connection, TENANT, RING)).holds
    assert item.state is ReviewState.REJECTED


def test_acts_are_words_of_one_list() -> None:
    assert {act.value for act in ReviewAct} >= {"approve", "edit", "reject", "ask_evidence"}
