"""Where the words of a finding stand in the output."""

import pytest

from assay.guard.check.report.claim_reports import locate
from assay.schema import ClaimKind, ExtractedClaim, Span


def claim_at(text: str, output: str, piece: str) -> ExtractedClaim:
    start = output.index(piece)
    span = Span(start=start, end=start + len(piece))
    sentence = Span(start=0, end=len(output))
    return ExtractedClaim(text=text, span=span, sentence=sentence, kind=ClaimKind.FACTUAL, checkable=True)


@pytest.mark.parametrize(
    ("output", "piece", "text", "words", "expected"),
    [
        (
            "All 12 partners get 2 weeks.",
            "All 12 partners get 2 weeks.",
            "Then 12 partners get 2 weeks.",
            "2 weeks",
            20,
        ),
        ("In 2.5 years 2 rose.", "In 2.5 years 2 rose.", "After 2.5 years 2 rose.", "2 rose", 13),
        ("It has 2.5 kg and 2 m.", "It has 2.5 kg and 2 m.", "The box has 2.5 kg and 2 m.", "2", 18),
        ("From 5 to 7, then from 5 to 9.", "From 5 to 7, then from 5 to 9.", "It went from 5 to 9.", "5", 23),
        ("Staff get 3 weeks and 4 days.", "4 days", "Staff get 4 days.", "Staff", 0),
        ("Staff get 3 weeks and 4 days.", "4 days", "Staff get 4 days.", "4 days", 22),
    ],
)
def test_words_are_found_where_the_claim_was_read_from(
    output: str, piece: str, text: str, words: str, expected: int
) -> None:
    start = text.rindex(words)
    span = locate(start, start + len(words), output, claim_at(text, output, piece))
    assert span == Span(start=expected, end=expected + len(words))


def test_the_second_of_two_equal_words_is_told_from_the_first_by_its_place() -> None:
    output = "Tea costs 4 euros and coffee costs 4 euros."
    claim = claim_at(output, output, output)
    assert locate(35, 36, output, claim) == Span(start=35, end=36)


def test_words_that_rewriting_put_in_are_shown_at_the_claim() -> None:
    output = "They get 4 weeks."
    claim = claim_at("Partners get 4 weeks.", output, output)
    assert locate(0, 8, output, claim) == claim.span


def test_a_number_is_never_shown_inside_a_longer_one() -> None:
    output = "They got 12 of 2024."
    claim = claim_at("They got 2 of it.", output, output)
    assert locate(9, 10, output, claim) == claim.span


def test_many_equal_words_take_no_longer_than_few() -> None:
    output = "a 1 " * 50_000
    claim = claim_at("b 1 b", output, output)
    assert locate(2, 3, output, claim) == Span(start=2, end=3)
