"""Promotion: machines propose, people decide by name, and the ledger shows when it was tampered with."""

import json
from pathlib import Path

import pytest
from tests.redteam.test_cases import case

from assay.errors import InputError
from assay.redteam.cases import read_suite, suite_text
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.promotion import Ledger, State, apply_approvals, approve, propose, record_approval, reject

CASES = [case(f"Question {number} of the suite, how long is it?", accepted=(f"{number} weeks",)) for number in range(5)]
OUTCOMES = [Outcome.FAILED, Outcome.PASSED, Outcome.UNJUDGED, Outcome.FAILED, Outcome.FAILED]
JUDGEMENTS = [
    Judgement(
        case=one.id,
        outcome=outcome,
        rule="test",
        flaky=number == 4,
        answer="9 weeks",
        behavior_match=None if outcome is Outcome.UNJUDGED else float(outcome is Outcome.PASSED),
    )
    for number, (one, outcome) in enumerate(zip(CASES, OUTCOMES, strict=True))
]


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "ledger.jsonl")
    propose(made, CASES, JUDGEMENTS, "t")
    return made


def test_failures_are_proposed_and_unjudged_and_flaky_ones_are_not(book: Ledger) -> None:
    assert set(book.proposals) == {CASES[0].id, CASES[3].id}
    assert {one.state for one in book.proposals.values()} == {State.OPEN}


def test_flaky_cases_are_proposed_where_they_are_asked_for(tmp_path: Path) -> None:
    made = propose(Ledger(tmp_path / "l.jsonl"), CASES, JUDGEMENTS, "t", flaky_too=True)
    assert [one.flaky for one in made] == [False, False, True]


def test_nothing_is_proposed_twice_nor_what_the_static_suite_has(book: Ledger, tmp_path: Path) -> None:
    assert propose(book, CASES, JUDGEMENTS, "t") == ()
    assert [one.case for one in propose(Ledger(tmp_path / "l"), CASES, JUDGEMENTS, "t", static=CASES[:1])] == [CASES[3]]


def test_of_two_processes_that_decide_at_once_one_is_refused_and_the_ledger_stays_whole(
    book: Ledger, tmp_path: Path
) -> None:
    other = Ledger(tmp_path / "ledger.jsonl")
    reject(book, CASES[0].id, "Ann Lee", "")
    with pytest.raises(InputError, match="another process"):
        reject(other, CASES[3].id, "Bob Stone", "")
    again = Ledger(tmp_path / "ledger.jsonl")
    assert again.head == book.head
    reject(again, CASES[3].id, "Bob Stone", "")
    assert Ledger(tmp_path / "ledger.jsonl").head == again.head


def test_only_a_named_person_lets_a_case_in(book: Ledger, tmp_path: Path) -> None:
    suite = tmp_path / "static.jsonl"
    for nobody in ("", "  "):
        with pytest.raises(InputError, match="name of the person"):
            approve(book, CASES[0].id, nobody, "", suite)
    assert not suite.exists()
    approve(book, CASES[0].id, "Ann Lee", "seen in production", suite)
    (held,) = read_suite(suite)
    assert held.id == CASES[0].id
    assert (held.lineage.origin, held.lineage.approved_by) == ("promoted", "Ann Lee")


def test_a_decision_is_final_and_survives_reopening(book: Ledger, tmp_path: Path) -> None:
    reject(book, CASES[0].id, "Ann Lee", "implausible")
    again = Ledger(tmp_path / "ledger.jsonl")
    assert again.proposals[CASES[0].id].state is State.REJECTED
    assert again.proposals[CASES[0].id].by == "Ann Lee"
    assert again.head == book.head
    with pytest.raises(InputError, match="was rejected by Ann Lee already"):
        approve(again, CASES[0].id, "Ann Lee", "", tmp_path / "static.jsonl")


def test_an_edited_case_goes_in_with_its_parent(book: Ledger, tmp_path: Path) -> None:
    edited = case("A better question, how long is it?")
    kept = approve(book, CASES[3].id, "Ann Lee", "clearer", tmp_path / "static.jsonl", edited)
    assert kept.lineage.parent == CASES[3].id
    assert [one.id for one in read_suite(tmp_path / "static.jsonl")] == [edited.id]


def test_an_edited_case_that_is_not_sound_is_refused(book: Ledger, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ground truth"):
        approve(book, CASES[3].id, "Ann", "", tmp_path / "s.jsonl", case("What then?", ground_truth=None))
    assert book.proposals[CASES[3].id].state is State.OPEN


def test_what_was_approved_gets_in_after_a_crash_between_the_two(book: Ledger, tmp_path: Path) -> None:
    suite = tmp_path / "static.jsonl"
    suite.write_text(suite_text(CASES[1:2]), encoding="utf-8")
    approve(book, CASES[0].id, "Ann", "", suite)
    suite.write_text(suite_text(CASES[1:2]), encoding="utf-8")  # as if the suite had not been written
    assert [one.id for one in apply_approvals(Ledger(tmp_path / "ledger.jsonl"), suite)] == [CASES[0].id]
    assert [one.id for one in read_suite(suite)] == [CASES[1].id, CASES[0].id]
    assert apply_approvals(book, suite) == ()


@pytest.mark.parametrize("tampering", ["edit", "drop", "swap", "forge"])
def test_a_ledger_that_was_tampered_with_is_refused(book: Ledger, tmp_path: Path, tampering: str) -> None:
    path = tmp_path / "ledger.jsonl"
    reject(book, CASES[0].id, "Ann", "no")
    lines = path.read_text(encoding="utf-8").splitlines()
    match tampering:
        case "edit":
            lines[0] = lines[0].replace('"rule": "test"', '"rule": "best"')
        case "drop":
            del lines[1]
        case "swap":
            lines[0], lines[1] = lines[1], lines[0]
        case _:
            entry = json.loads(lines[-1])
            lines[-1] = json.dumps({**entry, "event": "approved"})
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="chain does not hold"):
        Ledger(path)


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    for text in ("nonsense\n", "[]\n", "{}\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="line 1"):
            Ledger(path)


def test_two_approvals_of_one_case_add_it_once(book: Ledger, tmp_path: Path) -> None:
    suite = tmp_path / "static.jsonl"
    first = record_approval(book, CASES[0].id, "Ann", "")
    record_approval(book, CASES[3].id, "Ann", "the same in other words", CASES[0])
    assert apply_approvals(book, suite) == (first,)
    assert [one.id for one in read_suite(suite)] == [CASES[0].id]
    assert apply_approvals(book, suite) == ()


@pytest.mark.parametrize("kept", [1, 12, 100, -20, -2])
def test_a_half_written_last_entry_is_ignored_and_the_next_takes_its_place(
    book: Ledger, tmp_path: Path, kept: int
) -> None:
    path = tmp_path / "ledger.jsonl"
    before, head = path.read_bytes(), book.head
    reject(book, CASES[0].id, "Ann", "no")
    entry = path.read_bytes()[len(before) :]
    path.write_bytes(before + entry[:kept])
    again = Ledger(path)
    assert (again.head, again.proposals[CASES[0].id].state) == (head, State.OPEN)
    reject(again, CASES[0].id, "Bob", "no")
    reject(again, CASES[3].id, "Bob", "no")
    assert path.read_bytes().startswith(before + b'{"event": "rejected"')
    reopened = Ledger(path)
    assert reopened.head == again.head
    assert [one.by for one in reopened.proposals.values()] == ["Bob", "Bob"]


def test_a_last_entry_that_lacks_only_its_end_of_the_line_counts(book: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    reject(book, CASES[0].id, "Ann", "no")
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    again = Ledger(path)
    assert again.head == book.head
    reject(again, CASES[3].id, "Bob", "no")
    assert [one.by for one in Ledger(path).proposals.values()] == ["Ann", "Bob"]


def test_another_file_without_an_end_of_a_line_is_not_taken_for_a_ledger_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for text in ("notes", '{"name": "', '{"event": "rejected"}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="line 1"):
            Ledger(path)
        assert path.read_text(encoding="utf-8") == text
