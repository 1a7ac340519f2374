"""What a finding says is so: what it quotes, which words it names, and that a disagreement of sources is told."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assay import Guard
from assay.guard.check.report.claim_reports import claim_report
from assay.guard.check.verdicts import SURE, evidence_spans
from assay.guard.claims.wrong_spans import LEADING, _whole_words
from assay.policy.presets import preset
from assay.schema import ClaimKind, Evidence, EvidenceSpan, ExtractedClaim, Span, Stakes, Verdict, Window
from assay.schema.premise import Premise
from assay.testing import ScriptedScorer
from assay.verify.exact import ExactFinding, ExactResult
from assay.verify.network.combination import Judgement
from assay.verify.network.entailment import EntailmentResult
from assay.verify.network.entailment import PremiseScores as Reading

CLAIM = "The first part to change is the gasket."
PASSAGE = "Start with the cap on the tank, which costs 15."


def passage_of_network() -> Reading:
    return Reading(Premise(PASSAGE, "passage", (Window("e", 0, len(PASSAGE), PASSAGE),)), 0.1, 0.1, 0.8, 0.5)


def quoted(confidence: float) -> list[str]:
    """What is quoted beside a difference of this confidence, in order."""
    at = PASSAGE.index("15")
    other = EvidenceSpan(evidence_id="e", start=at, end=at + 2, text="15", relation="contradicts", score=confidence)
    finding = ExactFinding("number.mismatch", "They differ.", 4, 9, other, "contradicts", confidence)
    reading = passage_of_network()
    read = EntailmentResult(contradiction=0.8, best_support=reading, worst_contradiction=reading, judgements=(reading,))
    spans = evidence_spans(Verdict.CONTRADICTED, Judgement(0.1, 0.8), read, ExactResult((finding,), {}, ()))
    return [span.text for span in spans]


def test_a_difference_that_no_reader_is_told_of_is_not_quoted() -> None:
    assert quoted(0.25) == [PASSAGE]


def test_a_doubtful_difference_is_quoted_behind_the_passage_that_decides() -> None:
    assert quoted(0.6) == [PASSAGE, "15"]


def test_a_sure_difference_is_quoted_first() -> None:
    assert quoted(SURE) == ["15", PASSAGE]


def test_that_sources_disagree_is_a_finding_with_both_of_them() -> None:
    claim, ours, theirs = "The pool is open all year.", "The pool is open all year.", "The pool shuts for the winter."
    script = {(ours, claim): (0.98, 0.01, 0.01), (theirs, claim): (0.01, 0.01, 0.98)}
    report = Guard("general", scorer=ScriptedScorer(script)).check(
        claim, [Evidence(id="ours", text=ours), Evidence(id="theirs", text=theirs)]
    )
    (checked,) = report.claims
    if not checked.conflict:  # what counts as one is decided elsewhere (tests/guard/test_conflicts.py)
        raise AssertionError("the scripted sources are expected to disagree")
    told = next(issue for issue in checked.issues if issue.code == "evidence.conflict")
    assert "ours supports this" in told.message
    assert "theirs contradicts it" in told.message
    assert told.evidence is not None
    assert told.evidence.evidence_id == "theirs"


def test_words_of_the_network_quote_the_networks_passage() -> None:
    at = PASSAGE.index("15")
    other = EvidenceSpan(evidence_id="e", start=at, end=at + 2, text="15", relation="contradicts", score=0.4)
    finding = ExactFinding("number.mismatch", "They differ.", 4, 9, other, "contradicts", 0.4)
    reading = passage_of_network()
    read = EntailmentResult(contradiction=0.8, best_support=reading, worst_contradiction=reading, judgements=(reading,))
    exact = ExactResult((finding,), {}, ())
    spans = evidence_spans(Verdict.CONTRADICTED, Judgement(0.1, 0.8), read, exact)
    from assay.guard.check.verdicts import Judged

    judged = Judged(Verdict.CONTRADICTED, Judgement(0.1, 0.8), exact, read, {}, spans, None)
    whole = Span(start=0, end=len(CLAIM))
    claim = ExtractedClaim(text=CLAIM, span=whole, sentence=whole, kind=ClaimKind.FACTUAL, checkable=True)
    report = claim_report(claim, judged, CLAIM, preset("general"), Stakes.MEDIUM)
    (told,) = (issue for issue in report.issues if issue.code == "claim.contradicted")
    assert told.evidence is not None
    assert told.evidence.text == PASSAGE


def pieces(claim: str, *words: str) -> list[str]:
    places = [(claim.index(word), claim.index(word) + len(word)) for word in words]
    return [claim[start:end] for start, end in _whole_words(claim, places)]


def test_a_number_is_wrong_with_its_unit() -> None:
    assert pieces("Keep it at 14 °C or more.", "14") == ["14 °C or more"]


def test_a_piece_does_not_end_with_the_word_that_leads_on() -> None:
    assert pieces("It has been confirmed by several of the towns.", "several of the") == ["several"]


def test_a_word_that_says_nothing_is_no_piece_beside_one_that_does() -> None:
    assert pieces("Water the lawn on the day unless rain comes.", "on", "unless rain comes") == ["unless rain comes"]


def test_the_only_piece_stays_whatever_it_says() -> None:
    assert pieces("The box is on the shelf.", "on") == ["on"]


TEXT = st.lists(
    st.sampled_from([*sorted(LEADING), "4", "weeks", "May", "lamp", "salt", "never"]), min_size=1, max_size=12
)


@given(TEXT, st.data())
def test_pieces_stay_within_the_claim_in_order_and_apart(words: list[str], data: st.DataObject) -> None:
    claim = " ".join(words)
    cut = st.integers(0, len(words) - 1)
    places = []
    for at in sorted(data.draw(st.sets(cut, min_size=1, max_size=4))):
        start = len(" ".join(words[:at])) + (1 if at else 0)
        places.append((start, start + len(words[at])))
    found = _whole_words(claim, places)
    assert found
    assert all(0 <= start < end <= len(claim) for start, end in found)
    assert all(first[1] <= second[0] for first, second in pairwise(found))
