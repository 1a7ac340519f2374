"""Contradictions between documents over several checks of one folder: none is lost, none is told of another pair."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from assay.corpus import CorpusOptions, CorpusReport, check_corpus
from assay.corpus.contradictions import KEPT_CHECKS
from assay.errors import VerifierError
from assay.guard import Guard, Pair
from assay.schema import Evidence, PassageConflict
from assay.testing import FakeScorer

LENT = ("a book", "a map", "a lamp", "a tent", "a ladder", "a drill", "a projector", "a screen", "a bench", "a boat")
NINE = "The Marlow bathhouse opens at 9 on every working day."
ELEVEN = "The Marlow bathhouse opens at 11 on every working day."


class Reading:
    """A guard that finds two sentences on opening hours contradictory, no others, and may fail."""

    def __init__(self) -> None:
        made = Guard("general", scorer=FakeScorer())
        self.verifier, self.policy = made.verifier, made.policy
        self.asked = 0
        self.failing: BaseException | None = None

    def contradictions(self, pairs: Sequence[Pair], items: Sequence[Evidence]) -> list[PassageConflict]:
        self.asked += len(pairs)
        if self.failing is not None:
            raise self.failing
        return [
            PassageConflict(
                first=items[pair.first.passage].id,
                second=items[pair.second.passage].id,
                first_text=pair.first.text,
                first_start=pair.first.start,
                second_text=pair.second.text,
                second_start=pair.second.start,
                score=0.9,
                found_by="network",
            )
            for pair in pairs
            if "opens at" in pair.first.text and "opens at" in pair.second.text
        ]


class Folder:
    """A folder of documents with its state."""

    def __init__(self, place: Path) -> None:
        self.place, self.state, self.guard = place / "docs", place / "state.sqlite", Reading()
        self.place.mkdir()

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.place / f"{name}.md").write_text(text)

    def check(self) -> CorpusReport:
        return check_corpus(self.place, cast("Guard", self.guard), self.state, CorpusOptions(processes=1))

    def told(self) -> list[tuple[str, str]]:
        return [(one.first_text, one.second_text) for one in self.check().conflicts]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_contradiction_is_told_by_every_check_of_a_folder_that_does_not_change(folder: Folder) -> None:
    folder.write(early=NINE, late=ELEVEN)
    assert [len(folder.told()) for _ in range(9)] == [1] * 9
    assert folder.guard.asked == 1


@pytest.mark.parametrize("failing", [VerifierError("the network is down"), KeyboardInterrupt()])
def test_what_was_not_judged_because_of_a_failure_is_judged_by_the_next_check(
    folder: Folder, failing: BaseException
) -> None:
    folder.write(early=NINE, late=ELEVEN)
    folder.guard.failing = failing
    with pytest.raises(type(failing)):
        folder.check()
    folder.guard.failing = None
    assert len(folder.told()) == 1


def test_a_contradiction_is_not_told_of_another_pair_of_the_same_documents(folder: Folder) -> None:
    folder.write(
        early=f"{NINE}\n\nThe Marlow bathhouse has 40 wooden lockers beside the pool.",
        late=f"{ELEVEN}\n\nThe Marlow bathhouse has 25 iron lockers beside the pool.",
    )
    told = folder.told()
    assert folder.guard.asked == 2
    assert [{"opens" in text for text in pair} for pair in told] == [{True}]


def test_a_document_that_is_no_copy_any_more_is_compared_with_those_that_came_meanwhile(folder: Folder) -> None:
    folder.write(m=NINE)
    assert folder.told() == []
    folder.write(a_copy=NINE, z=ELEVEN)
    assert len(folder.told()) == 1
    (folder.place / "a_copy.md").unlink()
    assert len(folder.told()) == 1


@pytest.mark.parametrize(("checks", "judged"), [(1, 1), (KEPT_CHECKS, 1), (KEPT_CHECKS + 1, 2)])
def test_a_judgement_is_kept_for_some_checks_after_its_text_has_gone(folder: Folder, checks: int, judged: int) -> None:
    folder.write(early=NINE, late=ELEVEN)
    folder.check()
    (folder.place / "late.md").unlink()
    for _ in range(checks):
        folder.check()
    folder.write(late=ELEVEN)
    assert len(folder.told()) == 1
    assert folder.guard.asked == judged


def test_two_documents_that_contain_a_third_are_no_copies_of_each_other(folder: Folder) -> None:
    rules = " ".join(f"Rule {place}: whoever borrows {what} brings it back." for place, what in enumerate(LENT))
    folder.write(
        short=rules,
        nine=f"{rules} {NINE}",
        eleven=f"{rules} {ELEVEN}",
    )
    found = folder.check()
    (group,) = found.duplicates
    assert [(copy.document, copy.how) for copy in group.copies] == [("short.md", "contained")]
    assert len(found.conflicts) == 1
