"""Citations: fabricated, misquoted, misattributed, non-entailing and verified are told apart."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema import CitationReport, ClaimKind, Evidence, ExtractedClaim, Span
from assay.schema.coerce import coerce_evidence
from assay.text.citations.detection import Citation, find_citations
from assay.text.citations.provider_objects import read_citation_objects
from assay.verify.citations.source_index import SourceIndex, holds_section, source_names
from assay.verify.citations.support_levels import (
    finish_citations,
    missing_citations,
    pending_pairs,
    pending_passages,
    resolve_citations,
)

LEAVE = (
    "Partners are entitled to 2 weeks of leave. They must apply in writing within 30 days of the birth. "
    "Primary caregivers receive 16 weeks."
)
EVIDENCE = coerce_evidence(
    [
        {"id": "hr-2", "title": "Leave policy", "text": LEAVE},
        {
            "id": "iso-1",
            "title": "ISO 27001:2022",
            "source": "https://x.example/std/iso27001.pdf",
            "text": "8.4.3 Reviews\nAccess is reviewed every year.\n8.4.4 Removal\nAccess ends with employment.",
        },
        {"id": "fin-7", "text": "The travel budget is 5,000 euros."},
    ]
)


def check(
    text: str,
    scores: Mapping[str, float | None],
    evidence: tuple[Evidence, ...] = EVIDENCE,
    claims: tuple[ExtractedClaim, ...] = (),
    **options: Any,
) -> list[CitationReport]:
    """Checks a text with one score for each evidence, whatever the statement."""
    resolved = resolve_citations(find_citations(text, source_names(evidence)), evidence, claims)
    pairs = pending_pairs(resolved)
    known = [(name, score) for name, score in scores.items() if score is not None]
    best = max(known, key=lambda pair: pair[1], default=("", 0.0))
    elsewhere = {statement: best for item in resolved for statement in item.statements}
    return finish_citations(
        resolved, {pair: scores.get(pair[0]) for pair in pairs}, elsewhere, threshold=0.5, **options
    )


def statuses(text: str, scores: Mapping[str, float | None], **options: Any) -> list[str]:
    return [report.status for report in check(text, scores, **options)]


GOOD = {"hr-2": 0.9, "iso-1": 0.1, "fin-7": 0.1}


def test_a_source_that_supports_the_statement_is_verified() -> None:
    [report] = check("Partners get 2 weeks [hr-2].", GOOD)
    assert (report.status, report.exists, report.text_matches, report.entails) == ("verified", True, True, True)
    assert (report.evidence_id, report.score, report.claim) == ("hr-2", 0.9, "Partners get 2 weeks")


@pytest.mark.parametrize(
    "marker", ["[hr-9]", "[Source: Pay policy]", "[7]", "(Source: Handbook)", "[^9]", "【9†source】"]
)
def test_a_source_that_is_not_among_the_evidence_is_fabricated(marker: str) -> None:
    [report] = check(f"Partners get 2 weeks {marker}.", GOOD)
    assert (report.status, report.exists, report.text_matches, report.entails) == ("fabricated", False, None, None)
    assert report.evidence_id is None
    assert "is not among the 3 given" in report.message


def test_without_evidence_every_citation_is_fabricated() -> None:
    [report] = check("Partners get 2 weeks [1].", {}, evidence=())
    assert report.status == "fabricated"
    assert "which is empty" in report.message


def test_a_statement_that_another_evidence_supports_is_misattributed() -> None:
    [report] = check("Partners get 2 weeks [fin-7].", GOOD)
    assert (report.status, report.entails) == ("misattributed", False)
    assert "'hr-2' does" in report.message


def test_a_statement_that_nothing_supports_is_non_entailing() -> None:
    [report] = check("Partners get 9 weeks [hr-2].", {"hr-2": 0.2, "iso-1": 0.1})
    assert (report.status, report.entails, report.score) == ("non_entailing", False, 0.2)


def test_a_score_that_is_missing_leaves_the_citation_unchecked() -> None:
    [report] = check("Partners get 2 weeks [hr-2].", {"hr-2": None})
    assert (report.status, report.exists, report.entails) == ("unchecked", True, None)


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("Partners are entitled to 4 weeks of leave", "it says '4' where the source says '2'"),
        ("They may apply in writing within 30 days", "it says 'may' where the source says 'must'"),
        ("Partners are not entitled to 2 weeks of leave", "it adds 'not'"),
        ("They must apply within 30 days of the birth", "stitched together from 2 places"),
        ("Partners are entitled to receive 16 weeks", "stitched together from 2 places"),
        ("within 30 days ... Partners are entitled", "in another order"),
        ("bananas grow on tall yellow trees abroad", "do not stand in the source"),
    ],
)
def test_words_that_do_not_stand_in_the_source_are_a_misquotation(quote: str, words: str) -> None:
    [report] = check(f'The policy says "{quote}" [hr-2].', GOOD)
    assert (report.status, report.exists, report.text_matches, report.entails) == ("misquoted", True, False, None)
    assert report.quote == quote
    assert words in report.message


@pytest.mark.parametrize(
    "quote",
    [
        "Partners are entitled to 2 weeks of leave",
        "partners ARE entitled  to 2 weeks",
        "[p]artners are entitled ... within 30 days of the birth",
        "apply in **writing** within 30 days.",
        "Partners are entitled to the 2 weeks of leave",
    ],
)
def test_what_a_faithful_quotation_may_change_is_forgiven(quote: str) -> None:
    assert statuses(f'The policy says "{quote}" [hr-2].', GOOD) == ["verified"]


def test_the_strict_level_wants_quotations_word_for_word() -> None:
    text = 'The policy says "Partners are entitled to the 2 weeks of leave" [hr-2].'
    assert statuses(text, GOOD, strict=True) == ["misquoted"]


def test_a_misquotation_says_where_the_words_do_stand() -> None:
    [report] = check('It says "The travel budget is 5,000 euros" [hr-2].', GOOD)
    assert report.status == "misquoted"
    assert "stand in 'fin-7' instead" in report.message


def test_every_quotation_of_a_statement_is_compared() -> None:
    text = 'It says "Partners are entitled to 2 weeks" and "caregivers receive 26 weeks" [hr-2].'
    [report] = check(text, GOOD)
    assert (report.status, report.quote) == ("misquoted", "caregivers receive 26 weeks")


def test_a_named_document_that_is_not_there_is_fabricated() -> None:
    [report] = check("Per ISO 9001:2015 Section 8.4.3, access is reviewed every year.", {"iso-1": 0.9})
    assert report.status == "fabricated"


def test_a_section_that_the_document_does_not_have_is_misattributed() -> None:
    [report] = check("Per ISO 27001:2022 Section 9.1.2, access is reviewed every year.", {"iso-1": 0.9})
    assert (report.status, report.text_matches) == ("misattributed", False)
    assert "has no Section 9.1.2" in report.message


def test_a_section_that_is_there_and_supports_the_statement_is_verified() -> None:
    assert statuses("Per ISO 27001:2022 Section 8.4.3, access is reviewed every year.", {"iso-1": 0.9}) == ["verified"]


def test_a_section_that_nothing_shows_is_never_verified() -> None:
    assert statuses("Under Section 3 of the Leave Policy, partners get 2 weeks.", GOOD) == ["unchecked"]


def test_a_document_that_the_evidence_speaks_of_is_not_fabricated() -> None:
    evidence = coerce_evidence([{"id": "a", "text": "GDPR Article 17 grants a right to erasure."}])
    text = "GDPR Article 17 grants a right to erasure."
    assert statuses(text, {"a": 0.9}, evidence=evidence) == ["verified"]


def test_several_sources_may_support_a_statement_together_below_the_strict_level() -> None:
    text = "Leave is 2 weeks and the budget is 5,000 euros [hr-2][fin-7]."
    claims = (
        ExtractedClaim(
            text="Leave is 2 weeks.",
            span=Span(start=0, end=16),
            sentence=Span(start=0, end=len(text)),
            kind=ClaimKind.FACTUAL,
            checkable=True,
        ),
        ExtractedClaim(
            text="The budget is 5,000 euros.",
            span=Span(start=21, end=46),
            sentence=Span(start=0, end=len(text)),
            kind=ClaimKind.FACTUAL,
            checkable=True,
        ),
    )
    resolved = resolve_citations(find_citations(text), EVIDENCE, claims)
    leave, budget = "Leave is 2 weeks.", "The budget is 5,000 euros."
    scores = {("hr-2", leave): 0.9, ("fin-7", leave): 0.1, ("hr-2", budget): 0.1, ("fin-7", budget): 0.8}
    assert set(pending_pairs(resolved)) == set(scores)
    assert [r.status for r in finish_citations(resolved, scores, threshold=0.5)] == ["verified", "verified"]
    strict = finish_citations(resolved, scores, threshold=0.5, strict=True)
    assert [r.status for r in strict] == ["misattributed", "misattributed"]


def test_a_source_cited_beside_the_right_one_is_told_so() -> None:
    first, second = check("Partners get 2 weeks [hr-2][fin-7].", GOOD)
    assert (first.status, second.status) == ("verified", "misattributed")
    assert "cited beside it" in second.message


def test_the_pieces_of_one_document_are_one_source() -> None:
    evidence = coerce_evidence(
        [{"id": "c1", "source": "leave.pdf", "text": "Intro."}, {"id": "c2", "source": "leave.pdf", "text": LEAVE}]
    )
    [report] = check("Partners get 2 weeks [leave.pdf, p. 4].", {"c1": 0.1, "c2": 0.9}, evidence=evidence)
    assert (report.status, report.evidence_id) == ("verified", "c2")


def test_a_pointer_rests_on_nothing_and_needs_its_source_only() -> None:
    [report] = check("See [hr-2] for details.", {})
    assert (report.status, report.claim, report.entails) == ("verified", None, None)
    assert statuses("See [hr-9] for details.", {}) == ["fabricated"]


def test_an_entry_of_the_reference_list_that_does_not_exist_is_fabricated() -> None:
    text = "Partners get 2 weeks [1].\n\n## References\n[1] hr-2\n[2] The Great Leave Study, 2019\n"
    assert statuses(text, GOOD) == ["verified", "fabricated"]


def test_the_passage_of_an_object_is_compared_and_at_the_strict_level_must_entail_alone() -> None:
    output = "Partners get 2 weeks."
    block = {
        "type": "text",
        "text": output,
        "citations": [
            {
                "type": "char_location",
                "cited_text": "They must apply in writing",
                "document_index": 0,
                "document_title": "Leave policy",
                "start_char_index": 43,
                "end_char_index": 69,
            }
        ],
    }
    resolved = resolve_citations(read_citation_objects([block], output, ["hr-2"]), EVIDENCE)
    scores = dict.fromkeys(pending_pairs(resolved), 0.9)
    assert finish_citations(resolved, scores, threshold=0.5)[0].status == "verified"
    assert finish_citations(resolved, scores, threshold=0.5, strict=True)[0].status == "unchecked"
    passages = dict.fromkeys(pending_passages(resolved), 0.1)
    assert passages == {("They must apply in writing", output): 0.1}
    [report] = finish_citations(resolved, scores, threshold=0.5, strict=True, passages=passages)
    assert (report.status, report.entails) == ("non_entailing", False)


def test_an_object_without_a_place_is_unchecked() -> None:
    item = {"type": "char_location", "cited_text": "They must apply", "document_index": 0}
    resolved = resolve_citations(read_citation_objects([item], "Partners get 2 weeks.", ["hr-2"]), EVIDENCE)
    assert finish_citations(resolved, {}, threshold=0.5)[0].status == "unchecked"


@pytest.mark.parametrize("threshold", [float("nan"), -0.1, 1.5, float("inf")])
def test_a_threshold_that_is_no_probability_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        finish_citations([], {}, threshold=threshold)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("hr-2", ("hr-2",)),
        ("HR 2", ("hr-2",)),
        ("hr_2", ("hr-2",)),
        ("leave POLICY", ("hr-2",)),
        ("Leave policy, 2024 edition", ("hr-2",)),
        ("iso27001.pdf", ("iso-1",)),
        ("iso27001", ("iso-1",)),
        ("http://www.x.example/std/iso27001.pdf#page=3", ("iso-1",)),
        ("2", ("iso-1",)),
        ("0:2", ("fin-7",)),
        ("4", ()),
        ("hr-3", ()),
        ("leave", ()),
    ],
)
def test_names_are_looked_up_by_id_title_file_address_and_position(name: str, ids: tuple[str, ...]) -> None:
    assert SourceIndex(EVIDENCE).find(name).evidence_ids == ids


def test_numbers_follow_numbered_ids() -> None:
    index = SourceIndex(coerce_evidence([{"id": "doc_5", "text": "a"}, {"id": "doc_1", "text": "b"}]))
    assert index.find("5").evidence_ids == ("doc_5",)
    assert SourceIndex(coerce_evidence(["a", "b"])).find("3").evidence_ids == ()


def test_a_number_may_name_a_passage_within_one_text() -> None:
    index = SourceIndex(coerce_evidence(["passage 1: Leave is paid.\n\nPassage 2:The fee is $5.\nPassage 2019 came."]))
    assert [index.find(number).evidence_ids for number in ("1", "2", "3")] == [("1",), ("1",), ()]


def test_a_number_in_running_text_names_no_passage() -> None:
    index = SourceIndex(coerce_evidence(["As passage 7: shows, leave is paid.\n[8] Smith 2020.\nPassage 9 is long."]))
    assert [index.find(number).evidence_ids for number in ("7", "8", "9")] == [(), (), ()]


def test_evidence_of_that_number_comes_before_a_passage_that_is_labelled_so() -> None:
    index = SourceIndex(coerce_evidence(["Source 2: a", "b"]))
    assert index.find("2").evidence_ids == ("2",)


def test_an_author_and_a_year_name_a_paper() -> None:
    index = SourceIndex(coerce_evidence([{"id": "x", "title": "Smith and Lee: Leave (2020)", "text": "a"}]))
    assert index.find("Smith et al., 2020").evidence_ids == ("x",)
    assert index.find("Smith et al., 2021").evidence_ids == ()


@pytest.mark.parametrize(
    ("text", "location", "held"),
    [
        ("4.2 Scope", "Section 4.2", True),
        ("14.2 Scope", "Section 4.2", False),
        ("4.25 Scope", "Section 4.2", False),
        ("see clause 4", "Section 4", True),
        ("4 weeks", "Section 40", False),
    ],
)
def test_a_section_is_found_by_its_whole_number(text: str, location: str, held: bool) -> None:
    assert holds_section(text, location) is held


def test_claims_without_a_citation_are_listed() -> None:
    text = "Leave is 2 weeks [hr-2]. Pay is full."
    claims = [
        ExtractedClaim(
            text=text[a:b],
            span=Span(start=a, end=b),
            sentence=Span(start=a, end=b),
            kind=ClaimKind.FACTUAL,
            checkable=checkable,
        )
        for a, b, checkable in [(0, 16, True), (25, 37, True), (25, 37, False)]
    ]
    assert missing_citations(claims, find_citations(text)) == [claims[1]]


scores_ = st.none() | st.floats(0, 1)


@given(st.lists(scores_, min_size=3, max_size=3), st.floats(0, 1), st.booleans())
def test_only_a_supported_statement_of_an_existing_source_is_verified(
    values: list[float | None], threshold: float, strict: bool
) -> None:
    text = "Partners get 2 weeks [hr-2]. The budget is 5,000 euros [1][fin-7]. Nothing is known [nope-1]."
    names = [item.id for item in EVIDENCE]
    resolved = resolve_citations(find_citations(text), EVIDENCE)
    scores = {(name, s): v for name, v in zip(names, values, strict=True) for r in resolved for s in r.statements}
    for report in finish_citations(resolved, scores, threshold=threshold, strict=strict):
        assert (report.status == "fabricated") is (not report.exists)
        if report.status == "verified":
            assert report.score is not None
            assert report.score >= threshold
        assert (report.entails is True) is (report.status == "verified")


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=3))
def test_any_text_and_evidence_give_reports_whose_spans_slice_back(text: str, passages: list[str]) -> None:
    evidence = [Evidence(id=str(i), text=passage) for i, passage in enumerate(passages, start=1)]
    resolved = resolve_citations(find_citations(text, source_names(evidence)), evidence)
    for report in finish_citations(resolved, {}, threshold=0.5):
        assert text[report.span.start : report.span.end] == report.marker
        assert report.status in ("fabricated", "misquoted", "misattributed", "unchecked", "verified")


def test_ten_thousand_citations_of_a_thousand_pieces_take_one_pass() -> None:
    evidence = coerce_evidence([f"Fact number {i} is known." for i in range(1000)])
    text = " ".join(f"Fact number {i} is known [{i % 999 + 1}]." for i in range(3000))
    citations: list[Citation] = find_citations(text)
    assert len(resolve_citations(citations, evidence)) == len(citations) == 3000
