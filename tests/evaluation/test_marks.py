"""The pieces of the answer: they add up, and carry the worst verdict."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.standin import claim_report, report_of

from assay.reporting.claim_marks import pieces, worst
from assay.schema import Span, Verdict


@settings(deadline=None)
@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=12))
def test_the_pieces_add_up_to_the_answer_whatever_the_spans(text: str, spans: list[tuple[int, int]]) -> None:
    claims = tuple(claim_report("FALSE" if a % 2 else "so", Span(start=a, end=b), []) for a, b in map(sorted, spans))
    found = list(pieces(report_of(text).model_copy(update={"claims": claims})))
    assert "".join(piece.text for piece in found) == text
    covered = sorted({index for piece in found for index in piece.claims})
    ended = sorted(index for piece in found for index in piece.ending)
    assert covered == ended


def test_where_claims_overlap_the_worst_verdict_marks() -> None:
    claims = (claim_report("so", Span(start=0, end=6), []), claim_report("FALSE", Span(start=3, end=6), []))
    found = list(pieces(report_of("abcdef").model_copy(update={"claims": claims, "citations": ()})))
    marks = [(piece.text, piece.verdict) for piece in found]
    assert marks[0] == ("abc", Verdict.SUPPORTED)
    assert {verdict for text, verdict in marks[1:]} == {Verdict.CONTRADICTED}


def test_nothing_has_no_worst() -> None:
    assert worst([]) is None
    assert worst([Verdict.SUPPORTED, Verdict.UNCHECKED]) is Verdict.UNCHECKED
