"""Which words of a claim are shown as wrong."""

from hypothesis import given
from hypothesis import strategies as st

from assay.guard.check.verdicts import Judged
from assay.guard.claims.wrong_spans import wrong_pieces, wrong_places
from assay.schema import Verdict, Window
from assay.schema.premise import Premise
from assay.verify.exact import ExactFinding, ExactResult
from assay.verify.exact.findings import Effect
from assay.verify.network.combination import Judgement
from assay.verify.network.entailment import EntailmentResult
from assay.verify.network.entailment import PremiseScores as Reading

CLAIM = "The ferry leaves the harbour at six on Sundays"


def difference(words: str, confidence: float, effect: Effect = "contradicts") -> ExactFinding:
    """A finding of the exact tier at some words of the claim."""
    start = CLAIM.index(words)
    return ExactFinding("name.mismatch", "They differ.", start, start + len(words), None, effect, confidence)


def judged(
    *wrong: float, verdict: Verdict = Verdict.UNSUPPORTED, question: str = "", findings: tuple[ExactFinding, ...] = ()
) -> Judged:
    """A claim whose words have these probabilities of being wrong."""
    shown = question + CLAIM
    words = []
    at = 0
    for word in shown.split():
        at = shown.index(word, at)
        words.append((at, at + len(word)))
        at += len(word)
    text = "The ferry leaves at seven."
    reading = Reading(Premise(text, "passage", (Window("e", 0, len(text), text),)), 0.2, 0.5, 0.3, 0.5, tuple(wrong))
    read = EntailmentResult(
        best_support=reading, worst_contradiction=reading, words=tuple(words), claim_length=len(shown)
    )
    return Judged(verdict, Judgement(0.1, 0.3), ExactResult(findings, {}, ()), read, {}, (), None)


def shown(found: Judged) -> list[str]:
    return [CLAIM[start:end] for start, end in wrong_pieces(found, CLAIM)]


def test_words_that_stand_together_are_one_piece() -> None:
    assert shown(judged(0, 0, 0, 0, 0, 0, 0.9, 0.8, 0.7)) == ["six on Sundays"]


def test_pieces_that_stand_apart_are_shown_each() -> None:
    assert shown(judged(0, 0.9, 0, 0, 0, 0, 0.6, 0, 0)) == ["ferry", "six"]


def test_a_doubtful_word_between_two_wrong_ones_belongs_to_them() -> None:
    assert shown(judged(0, 0, 0, 0, 0, 0, 0.9, 0.3, 0.7)) == ["six on Sundays"]


def test_where_no_word_is_sure_the_most_suspect_ones_are_shown() -> None:
    assert shown(judged(0, 0, 0, 0, 0, 0, 0.2, 0.01, 0.15)) == ["six", "Sundays"]
    assert shown(judged(*[0.0] * 6, 0.02, 0.0, 0.0)) == []


def test_a_claim_that_is_wrong_in_nearly_every_word_has_no_piece() -> None:
    assert shown(judged(*[0.9] * 9)) == []


def test_a_supported_claim_has_no_piece() -> None:
    assert shown(judged(0, 0, 0, 0, 0, 0, 0.9, 0, 0, verdict=Verdict.SUPPORTED)) == []


def test_words_of_the_question_are_never_shown() -> None:
    found = judged(0.9, 0.9, 0, 0, 0, 0, 0, 0, 0.9, 0, 0, question="Which ferry? ".replace("? ", "?  "))
    assert shown(found) == ["six"]


def test_a_network_that_cannot_tell_words_apart_shows_none() -> None:
    assert shown(judged()) == []


def places(found: Judged) -> list[str]:
    return [CLAIM[start:end] for start, end in wrong_places(found, CLAIM)]


def test_the_words_that_the_network_names_stand_before_a_wider_difference() -> None:
    six = (0, 0, 0, 0, 0, 0, 0.9, 0, 0)
    assert places(judged(*six, findings=(difference("at six on", 0.9),))) == ["six"]


def test_a_sure_difference_elsewhere_counts_besides() -> None:
    six = (0, 0, 0, 0, 0, 0, 0.9, 0, 0)
    found = (difference("harbour", 0.9), difference("ferry", 0.5), difference("Sundays", 0.9, "missing"))
    assert places(judged(*six, findings=found)) == ["harbour", "six"]


def test_where_the_network_names_no_word_the_surest_differences_do() -> None:
    found = (difference("harbour", 0.7), difference("six", 0.65), difference("ferry", 0.4), difference("The", 0.1))
    assert places(judged(*[0.0] * 9, findings=found)) == ["harbour", "six"]
    assert places(judged(*[0.0] * 9, findings=(difference("The", 0.1),))) == []


def test_a_note_names_no_wrong_word() -> None:
    assert places(judged(*[0.0] * 9, findings=(difference("harbour", 0.9, "note"),))) == []


def test_a_supported_claim_has_no_wrong_place() -> None:
    found = judged(*[0.9] * 4, *[0.0] * 5, verdict=Verdict.SUPPORTED, findings=(difference("six", 0.9),))
    assert places(found) == []


@given(st.lists(st.floats(0, 1), min_size=9, max_size=9))
def test_pieces_are_ordered_apart_and_never_more_than_four(wrong: list[float]) -> None:
    pieces = wrong_pieces(judged(*wrong), CLAIM)
    edges = [edge for piece in pieces for edge in piece]
    assert edges == sorted(set(edges))
    assert len(pieces) <= 4
    assert all(CLAIM[start:end].strip() == CLAIM[start:end] for start, end in pieces)
