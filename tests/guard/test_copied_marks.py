"""Marks that an answer copied with their sentence from the evidence cite none of the evidence's sources."""

import pytest

from assay.guard import Guard
from assay.guard.check.citations import without_copies
from assay.schema import Action, Evidence
from assay.testing import FakeScorer
from assay.text.citations import Citation

FACT = "The tower of Lisbon was finished in 1519 by the king's own masons."
ARTICLE = [Evidence(id="a", text=f"Belem is a parish.\n{FACT[:-1]}[3].  It stands at the river[4].")]

guard = Guard("general", scorer=FakeScorer())


@pytest.mark.parametrize("answer", [f"{FACT[:-1]}[3].", f"{FACT[:-1]}[3]. It stands at the river[4]."])
def test_a_sentence_that_is_quoted_with_its_mark_cites_nothing(answer: str) -> None:
    report = guard.check(answer, ARTICLE)
    assert report.citations == ()
    assert report.action is Action.EMIT


@pytest.mark.parametrize("answer", [f"{FACT[:-1]}[4].", "The tower was finished in 1519[3].", "By masons[3]."])
def test_a_mark_behind_other_words_or_of_another_number_is_a_citation(answer: str) -> None:
    assert [one.status for one in guard.check(answer, ARTICLE).citations] == ["fabricated"]


def test_a_copy_is_found_behind_many_sentences_that_end_like_it() -> None:
    rows = "".join(f"House {n} was finished in 1519 by the king's own masons[3]. " for n in range(50))
    evidence = [Evidence(id="a", text=f"{rows}{FACT[:-1]}[3].")]
    assert guard.check(f"{FACT[:-1]}[3].", evidence).citations == ()


def test_a_text_too_long_to_be_told_from_a_copy_is_held_to_its_citation() -> None:
    answer = f"{FACT[:-1]} {'[9]' * 900}."
    report = guard.check(answer, [Evidence(id="a", text=answer)])
    assert report.citations
    assert {one.status for one in report.citations} == {"fabricated"}
    assert report.action is not Action.EMIT


def test_a_long_row_of_marks_is_not_looked_for_anew_at_each_of_them() -> None:
    # Looking for everything before each of the marks in the evidence would take many minutes.
    row = "[1]" * 300_000
    marks = [Citation("[1]", end - 3, end, ("1",), (), None, 0, end, "") for end in range(3, len(row) + 1, 3)]
    kept = without_copies(marks, row, [Evidence(id="a", text=row)])
    assert kept[-1] is marks[-1]
    assert marks[100] not in kept
