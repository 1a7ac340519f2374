"""What of two sentences is told as a conflict, once they were read and judged."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from assay.guard.check.verdicts import Judged
from assay.guard.screening.conflicts import conflicts_of
from assay.guard.screening.readers import Readers
from assay.schema import Evidence, EvidenceSpan, PassageConflict, Verdict
from assay.testing import ScriptedScorer

RAISED = "The office charges everybody a fee."
LOWER = "The fee of the office is charged to nobody."
BEFORE = "So it was in the beginning."
FORTY, THIRTY = "The office charges a fee of 40 euros.", "The fee of the office is 30 euros."
AGAINST = (0.02, 0.03, 0.95)
DOUBTED = (0.05, 0.75, 0.2)
SAYS_SO = (0.9, 0.05, 0.05)


class Conflicts:
    """A conflict network that gives each pair the same probability."""

    digest = "conflicts"

    def __init__(self, chance: float | None) -> None:
        self.chance = chance

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        return [self.chance for _ in pairs]


def conflicts(
    scores: dict[tuple[str, str], tuple[float, float, float]],
    texts: tuple[str, str],
    *,
    found: tuple[bool, bool],
    chance: float | None = 0.5,
) -> tuple[PassageConflict, ...]:
    """What is told of two passages whose first sentences are judged to be at odds, by one side or by both."""

    def judge(claims: Sequence[tuple[str, tuple[Evidence, ...]]]) -> list[Judged]:
        judged = []
        for claim, _ in claims:
            at_odds = found[0] if claim in {RAISED, FORTY} else found[1]
            spans = [
                EvidenceSpan(evidence_id=name, start=0, end=4, text="text", relation=relation, score=0.9)
                for name, relation in (("a", "supports"), ("b", "contradicts"))
            ]
            conflict = (spans[0], spans[1]) if at_odds and claim in {RAISED, LOWER, FORTY, THIRTY} else None
            judged.append(Judged(Verdict.SUPPORTED, None, cast("Any", None), cast("Any", None), {}, (), conflict))
        return judged

    items = [Evidence(id=name, text=text) for name, text in zip("ab", texts, strict=True)]
    readers = Readers(ScriptedScorer(scores), Conflicts(chance), judge)
    return conflicts_of(items, "What is the fee of the office?", readers)


def test_a_conflict_that_the_network_does_not_doubt_is_told_with_both_sentences() -> None:
    scores = {(LOWER, RAISED): AGAINST, (RAISED, LOWER): AGAINST}
    (found,) = conflicts(scores, (RAISED, LOWER), found=(True, True))
    assert {found.first_text, found.second_text} == {RAISED, LOWER}


@pytest.mark.parametrize(("scores", "told"), [({}, False), ({(LOWER, RAISED): AGAINST}, False)])
def test_what_is_beside_the_point_both_ways_is_not_told(scores: dict[Any, Any], told: bool) -> None:
    assert bool(conflicts(scores, (RAISED, LOWER), found=(True, False))) is told
    doubted = {(LOWER, RAISED): AGAINST, (RAISED, LOWER): DOUBTED}
    assert conflicts(doubted, (RAISED, LOWER), found=(True, False))


def test_a_passage_that_bears_a_sentence_out_does_not_contradict_it() -> None:
    scores = {(LOWER, RAISED): AGAINST, (RAISED, LOWER): AGAINST}
    whole = f"{LOWER} {BEFORE}"
    assert conflicts(scores, (RAISED, whole), found=(True, True))
    assert not conflicts({**scores, (whole, RAISED): SAYS_SO}, (RAISED, whole), found=(True, True))


def test_a_sentence_that_stands_alone_is_read_once() -> None:
    scores = {(LOWER, RAISED): SAYS_SO, (RAISED, LOWER): AGAINST}
    assert conflicts(scores, (RAISED, LOWER), found=(True, True))


def test_another_value_is_told_however_the_network_reads_over_it() -> None:
    whole = f"{THIRTY} {BEFORE}"
    scores = {(THIRTY, FORTY): AGAINST, (FORTY, THIRTY): AGAINST, (whole, FORTY): SAYS_SO}
    assert conflicts(scores, (FORTY, whole), found=(True, True))


def test_two_sentences_that_can_both_be_right_are_not_told_whatever_the_verifier_says() -> None:
    scores = {(LOWER, RAISED): AGAINST, (RAISED, LOWER): AGAINST}
    assert not conflicts(scores, (RAISED, LOWER), found=(True, True), chance=0.01)


def test_what_the_conflict_network_is_sure_of_is_told_though_no_claim_was_contradicted() -> None:
    doubted = {(LOWER, RAISED): DOUBTED, (RAISED, LOWER): DOUBTED}
    assert conflicts(doubted, (RAISED, LOWER), found=(False, False), chance=0.95)
    assert not conflicts(doubted, (RAISED, LOWER), found=(False, False), chance=0.5)
    assert not conflicts({}, (RAISED, LOWER), found=(False, False), chance=0.95)


def test_what_the_other_passage_supports_is_no_conflict_however_sure_the_conflict_network_is() -> None:
    whole = f"{LOWER} {BEFORE}"
    scores = {(LOWER, RAISED): AGAINST, (RAISED, LOWER): AGAINST, (whole, RAISED): SAYS_SO}
    assert not conflicts(scores, (RAISED, whole), found=(True, True), chance=0.95)


def test_figures_and_what_cannot_be_read_are_left_to_the_rules() -> None:
    figures = ("Fee: 40 EUR/d (1.1.-31.12.: 40).", "Fee: 60 EUR/d (1.1.-31.12.: 60).")
    scores = {figures: AGAINST, figures[::-1]: AGAINST}
    assert conflicts(scores, figures, found=(True, True), chance=0.01)
    read = {(LOWER, RAISED): AGAINST, (RAISED, LOWER): AGAINST}
    assert conflicts(read, (RAISED, LOWER), found=(True, True), chance=None)
