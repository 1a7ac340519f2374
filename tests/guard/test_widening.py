"""Dates that lie in a span of the evidence: what the network is asked then, and when it is asked nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Guard
from assay.guard.claims.date_ranges import ExpandedDates, expand_dates
from assay.schema import Evidence, Verdict
from assay.verify.exact import check_exact
from assay.verify.exact.index_builder import index_evidence
from assay.verify.network.entailment import EntailmentResult

OPEN = "The desk is open from Monday to Thursday."


def asked(claim: str, evidence: str = OPEN, question: str = "") -> str:
    index = index_evidence([Evidence(id="e", text=evidence)], "en")
    found = check_exact(claim, index, question=question or None)
    return expand_dates(f"{question} {claim}".strip(), claim, found, len(question) + 1 if question else 0).text


@pytest.mark.parametrize(
    ("claim", "evidence", "reads"),
    [
        ("The desk is open on Tuesday.", OPEN, "The desk is open from Monday to Thursday."),
        ("The desk is open on a Tuesday.", OPEN, "The desk is open from Monday to Thursday."),
        ("The desk is not open on Tuesday.", OPEN, "The desk is not open from Monday to Thursday."),
        ("On Tuesday the desk is open.", OPEN, "from Monday to Thursday the desk is open."),
        ("He lived in Paris in 1993.", "He lived in Paris from 1990 to 1995.", "He lived in Paris from 1990 to 1995."),
        (
            "The shop is open at 10:00.",
            "The shop is open between 9:00 and 17:00.",
            "The shop is open between 9:00 and 17:00.",
        ),
    ],
)
def test_the_network_reads_the_span_in_the_place_of_the_date(claim: str, evidence: str, reads: str) -> None:
    assert asked(claim, evidence) == reads


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The desk is open on Sunday.", OPEN),
        ("The desk is open on Monday.", "The desk is open on Monday."),
        ("The desk is open only on Tuesday.", OPEN),
        ("The desk is open until Tuesday.", OPEN),
        ("The desk first opened on Tuesday.", OPEN),
        ("The meeting is on Tuesday.", "The conference is from Monday to Thursday."),
        ("The museum is open on Tuesdays.", "The museum is closed from Monday to Thursday."),
        ("The report was published in 1993.", "The project ran from 1990 to 1995, and the report was published later."),
        ("He was elected mayor in 1993.", "He was mayor from 1990 to 1995."),
        ("The fair ends on 5 May 2024.", "The fair lasts from 3 May 2024 to 7 May 2024."),
    ],
)
def test_what_does_not_follow_for_each_day_is_read_as_it_stands(claim: str, evidence: str) -> None:
    assert asked(claim, evidence) == claim


def test_the_question_before_a_short_answer_stays() -> None:
    assert asked("open on Tuesday", OPEN, "When is the desk open?").startswith("When is the desk open? open ")


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12), st.text(min_size=1, max_size=8))
def test_words_of_the_network_lie_at_their_places_in_the_claim(before: str, day: str, after: str, span: str) -> None:
    original, text = before + day + after, before + span + after
    place = (len(before), len(before) + len(day), len(before), len(before) + len(span))
    words = ((0, len(before)), (len(before), len(before) + len(span)), (len(text) - len(after), len(text)))
    read = EntailmentResult(words=words, claim_length=len(text))
    back = ExpandedDates(text, original, (place,)).restored(read)
    assert [original[a:b] for a, b in back.words] == [before, day, after]
    assert back.claim_length == len(original)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The desk is open on Tuesday.", Verdict.SUPPORTED),
        ("The desk is not open on Tuesday.", Verdict.CONTRADICTED),
        ("The desk is open on Saturday.", Verdict.CONTRADICTED),
    ],
)
def test_the_check_says_what_follows_from_counting_days(claim: str, verdict: Verdict) -> None:
    report = Guard("general").check(claim, [OPEN])
    assert report.claims[0].verdict is verdict
    assert report.output == report.claims[0].text == claim
