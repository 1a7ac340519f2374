"""What a report holds beside claims is drawn, and hostile words in it stay words."""

from tests.cli.standin import claim_report, report_of
from tests.console.test_pages import is_harmless

from assay.schema import EvidenceSpan, HallucinationReport, Span, Verdict
from assay.schema.report import ConsistencyProbe, Revision, RevisionAttempt, Suggestion, TextChange, ToolCallValidation
from assay.schema.report_parts.abstention import (
    Abstention,
    AbstentionTrigger,
    Answering,
    ConfidenceSignal,
    FiredTrigger,
)
from assay.schema.report_parts.generation import Generation, StatementReport, VerificationQuestion
from assay.schema.report_parts.judgements import ClaimJudgement, JudgeAnswer, JudgeReport, Omission
from assay.schema.report_parts.provenance import ArgumentProvenance, CallAttempt, EntityKind, SourceKind, TraceStatus
from assay.schema.report_parts.root_causes import Cause, CauseEstimate, CauseReport
from assay.server.console.views.claim_card import cause_view, claim_card
from assay.server.console.views.report_parts import abstention_view, generation_view, judge_view, omissions_view
from assay.server.console.views.report_sections import probes_view
from assay.server.console.views.revisions import revision_view
from assay.server.console.views.tool_calls import tools_view

EVIL = "<script>alert(1)</script>\u202e\x1b"
SPAN = EvidenceSpan(evidence_id=EVIL, start=0, end=len(EVIL), text=EVIL, relation="related", score=0.5)


def _with(**fields: object) -> HallucinationReport:
    return report_of("It holds.").model_copy(update=fields)


def _is_text(html: str) -> None:
    assert is_harmless(html)
    assert "&lt;script&gt;" in html


def test_what_was_left_out_is_quoted() -> None:
    whole = f"Only if asked. {EVIL}"
    statement = SPAN.model_copy(update={"text": whole, "end": len(whole)})
    part = SPAN.model_copy(update={"text": "Only if asked.", "end": 14})
    found = omissions_view(
        _with(
            omissions=(
                Omission(
                    kind="condition",
                    message=EVIL,
                    evidence=part,
                    statement=statement,
                    span=Span(start=0, end=3),
                    confidence=0.8,
                    found_by="rules",
                    judged="confirmed",
                ),
            )
        )
    )
    assert found is not None
    _is_text(found.html)
    assert "Only if asked.</mark>" in found.html
    assert "confirmed by the judge" in found.html
    assert omissions_view(_with()) is None


def test_an_abstention_says_why() -> None:
    found = abstention_view(
        _with(
            abstention=Abstention(
                outcome=Answering.ABSTAIN,
                reason=EVIL,
                confidence=0.2,
                signals=(ConfidenceSignal(name=EVIL, missing=EVIL, weight=1.0),),
                triggers=(FiredTrigger(trigger=AbstentionTrigger.STALE, value=3.0, threshold=2.0),),
            )
        )
    )
    assert found is not None
    _is_text(found.html)
    assert "stale: 3.00 against 2.00" in found.html
    assert abstention_view(_with()) is None


def test_a_generation_shows_statements_and_questions() -> None:
    made = Generation(
        model=EVIL,
        attempts=2,
        stopped="grounded",
        missing=EVIL,
        relative_cost=2.5,
        statements=(StatementReport(text=EVIL, sources=(EVIL,), attempt=1, outcome="removed", reasons=(EVIL,)),),
        chain=(VerificationQuestion(claim=EVIL, question=EVIL, answer=EVIL, outcome="contradicted", passed=False),),
    )
    found = generation_view(_with(generation=made))
    assert found is not None
    _is_text(found.html)
    assert "2.5 ×" in found.html
    assert generation_view(_with()) is None


def test_the_judge_and_suggestions_stand_on_the_card() -> None:
    said = JudgeAnswer(question=1, verdict="FAIL", justification=EVIL, void=EVIL)
    judgement = ClaimJudgement(
        asked_because=("all",),
        outcome="not_found",
        reason=EVIL,
        answers=(said,),
        before=Verdict.SUPPORTED,
        changed=True,
    )
    suggestion = Suggestion(span=Span(start=0, end=1), before=EVIL, after="2", evidence=SPAN, code="number.mismatch")
    claim = claim_report("FALSE", Span(start=0, end=2), []).model_copy(
        update={"judgement": judgement, "suggestions": (suggestion,)}
    )
    html = claim_card(0, claim, {}).html
    _is_text(html)
    assert "was supported" in html
    assert "<ins>" in html
    estimates = (
        CauseEstimate(cause=Cause.STALENESS, presence=0.8, effect=0.5, share=0.7, reason=EVIL, spans=(SPAN,)),
        CauseEstimate(cause=Cause.AMBIGUITY, presence=0.2, effect=0.5, share=0.3, reason=EVIL),
    )
    cause = CauseReport(claim=0, likely=Cause.STALENESS, probability=0.5, estimates=estimates)
    why = cause_view(cause)
    assert why is not None
    _is_text(why.html)
    assert "Other causes weighed: 1" in why.html
    judge = judge_view(_with(judge=JudgeReport(mode="all", model=EVIL, chosen=3, answered=2, changed=1)))
    assert judge is not None
    _is_text(judge.html)
    assert judge_view(_with()) is None


def test_tool_calls_show_where_each_argument_comes_from() -> None:
    call = ToolCallValidation(
        tool=EVIL,
        args={EVIL: EVIL},
        status="rejected",
        errors=(EVIL,),
        step=3,
        executed=False,
        provenance=(
            ArgumentProvenance(path="/" + EVIL, value=EVIL, kind=EntityKind.NAME, status=TraceStatus.UNTRACED),
            ArgumentProvenance(
                path="/a",
                value=3,
                kind=EntityKind.NUMBER,
                status=TraceStatus.TRACED,
                how=EVIL,
                source=SourceKind.USER,
                source_id=EVIL,
                source_text=EVIL,
            ),
        ),
        attempts=(CallAttempt(number=1, tool=EVIL, arguments=EVIL, reasons=(EVIL,)),),
    )
    found = tools_view(_with(tool_call_validations=(call,)))
    assert found is not None
    _is_text(found.html)
    assert "1 of 1 not accepted" in found.html
    assert "no source holds it" in found.html
    assert tools_view(_with(tool_call_validations=())) is None


def test_repairs_and_probes_are_drawn() -> None:
    change = TextChange(start=0, end=2, before="It", after=EVIL)
    revision = Revision(
        original="It holds.",
        stopped="passed",
        escalation_required=False,
        changes=(change,),
        attempts=(RevisionAttempt(number=1, outcome="better", reason=EVIL, changes=(change,), restored=1),),
    )
    repaired = revision_view(_with(revision=revision))
    assert repaired is not None
    _is_text(repaired.html)
    assert "1 put back" in repaired.html
    probe = ConsistencyProbe(claim=EVIL, original=EVIL, probe_answers=(EVIL, "so"), agreement=0.5)
    asked = probes_view(_with(consistency_probes=(probe,)))
    assert asked is not None
    _is_text(asked.html)
