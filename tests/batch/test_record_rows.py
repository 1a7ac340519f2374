"""The record of a server as a source of rows: every output once, the oldest first, also while others are recorded."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.batch.scripted import LEAVE

from assay.batch import record_rows
from assay.batch.judging import _record
from assay.errors import InputError
from assay.guard import Guard
from assay.policy import preset
from assay.schema import Evidence, HallucinationReport
from assay.store.db import Store
from assay.store.records import CheckRecord
from assay.store.records.erasure import erase_runs
from assay.testing import FakeScorer

FIRST = datetime(2026, 3, 1, tzinfo=UTC)


class Clock:
    """A clock that goes on by a second with each look."""

    def __init__(self) -> None:
        self.seconds = 0

    def __call__(self) -> datetime:
        self.seconds += 1
        return FIRST + timedelta(seconds=self.seconds)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "record.db"), clock=Clock()) as made:
        yield made


@pytest.fixture(scope="module")
def report() -> HallucinationReport:
    return Guard("general", scorer=FakeScorer()).check("It is open.")


def remember(store: Store, report: HallucinationReport, answer: str, tenant: str = "default") -> str:
    evidence = (Evidence(id="hr", text=LEAVE, source="handbook"),)
    asked = {"answer": answer, "question": "How long is the leave?"}
    return store.record(CheckRecord(report, asked, evidence, preset("general"), tenant=tenant)).id


def answers(store: Store, **more: datetime) -> list[str]:
    return [row.payload["answer"] for row in record_rows(store, "default", **more)]


def test_every_output_comes_once_the_oldest_first_however_many_there_are(
    store: Store, report: HallucinationReport
) -> None:
    for number in range(70):  # more than are read together
        remember(store, report, f"Answer {number}.")
    assert answers(store) == [f"Answer {number}." for number in range(70)]


def test_a_row_has_the_answer_its_question_and_its_evidence(store: Store, report: HallucinationReport) -> None:
    id_ = remember(store, report, "It is open.")
    row = _record(next(record_rows(store, "default")))
    assert (row["id"], row["answer"], row["question"]) == (id_, "It is open.", "How long is the leave?")
    assert [(one["id"], one["text"], one["source"]) for one in row["evidence"]] == [("hr", LEAVE, "handbook")]


def test_another_tenants_outputs_are_not_among_them(store: Store, report: HallucinationReport) -> None:
    remember(store, report, "Mine.")
    remember(store, report, "Theirs.", tenant="theirs")
    assert answers(store) == ["Mine."]


def test_what_is_recorded_meanwhile_comes_behind(store: Store, report: HallucinationReport) -> None:
    remember(store, report, "First.")
    rows = record_rows(store, "default")
    assert next(rows).payload["answer"] == "First."
    remember(store, report, "Second.")
    assert [row.payload["answer"] for row in rows] == ["Second."]


def test_bounds_take_outputs_from_one_moment_on_and_before_another(store: Store, report: HallucinationReport) -> None:
    moments = []
    for number in range(4):
        remember(store, report, f"Answer {number}.")
        moments.append(store.now())
    assert answers(store, since=moments[0], until=moments[2]) == ["Answer 1.", "Answer 2."]


def test_a_run_of_an_agent_is_a_row_that_says_why_it_is_none(store: Store, report: HallucinationReport) -> None:
    store.record(CheckRecord(report, {"run": {"output": "Done."}}, (), preset("general"), kind="run"))
    remember(store, report, "It is open.")
    broken, whole = record_rows(store, "default")
    with pytest.raises(InputError, match="a run of an agent"):
        _record(broken)
    assert _record(whole)["answer"] == "It is open."


def test_an_output_that_was_erased_is_a_row_that_says_so(store: Store, report: HallucinationReport) -> None:
    id_ = remember(store, report, "It is open.")
    erase_runs(store, [id_], "request", "default")
    with pytest.raises(InputError, match="its content was erased"):
        _record(next(record_rows(store, "default")))
