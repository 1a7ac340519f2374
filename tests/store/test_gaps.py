"""What users asked that the evidence could not answer is found and stands together."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from tests.store.making import DAY

from assay.guard import Guard
from assay.policy import ScreenPolicy, preset
from assay.schema.coerce import coerce_evidence
from assay.store.db.store import Store
from assay.store.insights import retrieved_passages
from assay.store.insights.unanswered_questions import GapReason, find_gaps
from assay.store.records.erasure import erase_runs
from assay.store.records.interface import CheckRecord
from assay.testing import FakeScorer

EVIDENCE = ["Partners are entitled to 2 weeks of parental leave.", "The yard is open on Sundays."]
guard = Guard("general", scorer=FakeScorer())


class Clock:
    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url, clock=Clock()) as opened:
        yield opened


def ask(store: Store, question: str | None, answer: str, tenant: str = "default") -> str:
    report = guard.check(answer, EVIDENCE, question=question)
    record = CheckRecord(report, {"answer": answer}, tuple(coerce_evidence(EVIDENCE)), guard.policy, tenant=tenant)
    return store.record(record).id


def test_questions_without_support_stand_together_with_the_closest_sources(store: Store) -> None:
    ask(store, "How much does a parking space cost?", "A parking space costs 40 euros.")
    ask(store, "What does a parking space cost?", "I do not know.")
    ask(store, "how much does a PARKING space cost", "A parking space costs 50 euros.")
    ask(store, "Is the yard open on Sundays?", "The yard is open on Sundays.")
    ask(store, "Who was the first director?", "The first director was Ada Holm.")
    found = find_gaps(store, "default")
    assert (found.total, found.questions, found.cut) == (2, 4, False)
    parking, director = found.gaps
    assert len(parking.questions) == 3
    assert parking.reasons[GapReason.ABSTAINED] == 1
    assert parking.reasons.get(GapReason.WITHHELD, 0) + parking.reasons.get(GapReason.WAITED, 0) == 2
    assert parking.claims == ("A parking space costs 50 euros.", "A parking space costs 40 euros.")
    assert director.question == "Who was the first director?"
    assert parking.last > parking.questions[-1].created


def test_gaps_come_in_pages_and_from_a_moment_on(store: Store) -> None:
    for name in ("Ada", "Bela", "Cleo"):
        ask(store, f"Who is {name} Holm?", f"{name} Holm is a baker.")
    assert find_gaps(store, "default", most=2).cut
    later = find_gaps(store, "default", since=store.now() - timedelta(minutes=1))
    assert later.questions == 1
    assert find_gaps(store, "default", first=later.total + 5).gaps == ()


def test_tenants_and_erased_questions_leave_no_gap(store: Store) -> None:
    ask(store, "Who is Ada Holm?", "Ada Holm is a baker.", tenant="other")
    run = ask(store, "Who is Bela Holm?", "Bela Holm is a baker.")
    ask(store, None, "Cleo Holm is a baker.")
    assert [gap.question for gap in find_gaps(store, "default").gaps] == ["Who is Bela Holm?"]
    erase_runs(store, [run], "request of the person", "default")
    assert find_gaps(store, "default").gaps == ()


def test_null_retrievals_are_counted_by_topic(store: Store) -> None:
    ask(store, "How much does a parking space cost?", "A parking space costs 40 euros.")
    for answer in ("A parking space costs 60 euros.", "I do not know."):
        report = guard.check(answer, [], question="What does a parking space cost?")
        store.record(CheckRecord(report, {"answer": answer}, (), guard.policy))
    ask(store, "Who was the first director?", "The first director was Ada Holm.")
    found = find_gaps(store, "default")
    assert {gap.question: gap.null_retrievals for gap in found.gaps} == {
        found.gaps[0].question: 2,
        "Who was the first director?": 0,
    }
    assert found.null_retrievals == 2


def test_a_retrieval_of_which_the_gate_let_nothing_be_used_counts_as_one_of_nothing(store: Store) -> None:
    screening = Guard(preset("rag").model_copy(update={"screen": ScreenPolicy()}), scorer=FakeScorer())
    asked = "Who was the first director of the harbour museum?"
    report = screening.check("The first director was Ada Holm.", EVIDENCE, question=asked)
    assert report.screening is not None
    assert not report.screening.answerable
    store.record(CheckRecord(report, {"answer": "-"}, tuple(coerce_evidence(EVIDENCE)), screening.policy))
    (gap,) = find_gaps(store, "default").gaps
    assert gap.null_retrievals == 1


def test_what_runs_had_as_evidence_is_counted_by_passage(store: Store) -> None:
    ask(store, "Is the yard open on Sundays?", "The yard is open on Sundays.")
    ask(store, "Is the yard open on Sundays?", "The yard is open on Sundays.")
    ask(store, "Is the yard open?", "The yard is open on Sundays.", tenant="other")
    found = {one.body["text"]: one.runs for one in retrieved_passages(store, "default")}
    assert found == dict.fromkeys(EVIDENCE, 2)
    assert list(retrieved_passages(store, "default", since=store.now() + timedelta(days=1))) == []
