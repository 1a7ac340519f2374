"""What the sources do not tell of a question's parts reaches the reader of an answer, on every way out of a guard."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.guard.test_receipts import Clock, Sink, guard_with
from tests.server.gateway_site import play, site
from typer.testing import CliRunner

from assay.cli import check as check_verb
from assay.cli.app import app
from assay.errors import ReceiptError
from assay.guard import Guard
from assay.integrations.mcp import _result
from assay.models.chat.interface import ChatRequest
from assay.policy import Policy, answer_of, disclosure_of, preset
from assay.policy.escalation import approved
from assay.prompts import unfenced
from assay.receipt import disclosed
from assay.schema import Action, Decision, HallucinationReport
from assay.testing import FakeScorer, ScriptedChat

PARTNERS = "Partners are entitled to 2 weeks of leave."
BOTH = "How long is the leave of partners and of mothers?"
TOLD = "The available documents say nothing of “mothers”."
GIVEN = f"{PARTNERS}\n\n{TOLD}"


def checked(text: str = PARTNERS, **options: Any) -> HallucinationReport:
    return guard_with(Clock()).check(text, [PARTNERS], question=BOTH, **options)


def test_an_emitted_answer_says_in_its_decision_what_its_reader_has_to_be_told() -> None:
    report = checked()
    assert (report.action, report.decision.route, report.untold) == (Action.EMIT, "serve", ("mothers",))
    assert disclosure_of(report) == TOLD
    assert answer_of(report) == _result(report, full=False).say == GIVEN


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"{PARTNERS} Nothing is said of mothers.", {}),
        ("I do not know how long it is.", {}),
        (json.dumps({"leave": PARTNERS}), {"schema": {"type": "object"}}),
        (json.dumps([PARTNERS]), {}),
        (PARTNERS, {"task": "creative"}),
    ],
)
def test_who_says_it_abstains_or_is_to_be_read_as_json_gets_nothing_behind_it(
    text: str, options: dict[str, Any]
) -> None:
    report = checked(text, **options)
    assert disclosure_of(report) is None or report.action is not Action.EMIT
    assert report.action is not Action.EMIT or answer_of(report) == text


@pytest.mark.parametrize("on_withheld", ["answer", "raise"])
def test_a_protected_function_returns_it_behind_the_answer(on_withheld: Any) -> None:
    def answer(question: str) -> str:
        return PARTNERS if question else ""

    guard = Guard("general", scorer=FakeScorer())
    kept = guard.protect(answer, evidence=[PARTNERS], question=BOTH, on_withheld=on_withheld)
    assert kept(BOTH) == GIVEN


def test_a_stream_ends_with_it_and_its_outcome_has_both() -> None:
    stream = Guard("general", scorer=FakeScorer()).stream(
        iter([PARTNERS[:20], PARTNERS[20:]]), [PARTNERS], question=BOTH
    )
    assert "".join(stream) == GIVEN
    outcome = stream.outcome
    assert (outcome.passed, outcome.released, outcome.notice) == (True, PARTNERS, TOLD)


def test_a_generated_answer_is_printed_with_it(tmp_path: Path) -> None:
    def speak(request: ChatRequest) -> str:
        (passage,) = dict(unfenced(request.messages[-1].content)[1])["evidence"]
        return json.dumps({"statements": [{"text": PARTNERS, "sources": [passage["id"]]}], "missing": ""})

    report = Guard("general", scorer=FakeScorer()).generate(BOTH, [PARTNERS], llm=ScriptedChat(speak))
    assert report.action is Action.EMIT
    assert answer_of(report) == f"{report.output}\n\n{TOLD}"


@pytest.mark.parametrize("form", ["text", "html", "json"])
def test_the_command_tells_it(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_verb, "open_guard", lambda policy, model: Guard(policy or "general", scorer=FakeScorer()))
    answer, evidence = tmp_path / "answer.txt", tmp_path / "evidence.txt"
    answer.write_text(PARTNERS)
    evidence.write_text(PARTNERS)
    arguments = ["check", str(answer), "-e", str(evidence), "-q", BOTH, "--format", form]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert TOLD in (json.loads(result.stdout)["decision"]["response"] if form == "json" else result.stdout)
    assert ("in its place" in result.stdout) is False


def test_rest_tells_it() -> None:
    async def scene() -> None:
        async with site() as here:
            body = {"answer": PARTNERS, "evidence": [PARTNERS], "question": BOTH}
            status, _, got = await here.post("/v1/check", body)
            found = json.loads(got)
            assert (status, found["action"], found["decision"]["response"]) == (200, "emit", TOLD)

    play(scene)


def test_a_policy_that_decides_whether_to_answer_keeps_it() -> None:
    policy = Policy.model_validate({**preset("general").model_dump(), "abstention": {"high": 1.0, "low": 0.0}})
    report = Guard(policy, scorer=FakeScorer()).check(PARTNERS, [PARTNERS], question=BOTH)
    assert report.decision.route == "serve_with_disclosure"
    assert (report.decision.response or "").endswith(TOLD)
    policy = Policy.model_validate({**preset("general").model_dump(), "abstention": {"high": 1.0, "low": 1.0}})
    report = Guard(policy, scorer=FakeScorer()).check(PARTNERS, [PARTNERS], question=BOTH)
    assert report.action is Action.BLOCK
    assert (report.decision.response or "").endswith(TOLD)


def test_a_receipt_is_for_the_answer_alone_or_for_both_in_one_text_and_never_for_the_other() -> None:
    guard, report, sink = guard_with(Clock()), checked(), Sink()
    assert disclosed(report) == GIVEN
    both, alone = guard.issue(report, with_disclosure=True), guard.issue(report)
    assert (both.statement.action, alone.statement.action) == ("emit", "emit")
    guard.commit(GIVEN, both, sink)
    guard.commit(PARTNERS, alone, sink)
    assert sink.calls == [GIVEN, PARTNERS]
    with pytest.raises(ReceiptError):
        guard.issue(checked(f"{PARTNERS} Nothing is said of mothers."), with_disclosure=True)


LIE = "Mothers are entitled to nine weeks."


@pytest.mark.parametrize(
    "decision",
    [
        Decision(action=Action.EMIT, route="serve", reasons=checked().decision.reasons, response=LIE),
        Decision(action=Action.REVISE, route="serve_with_disclosure", reasons=("Weak.",), response=LIE),
    ],
)
def test_other_words_put_behind_an_answer_get_no_receipt(decision: Decision) -> None:
    for report in (checked(), checked(f"{PARTNERS} Nothing is said of mothers.")):
        forged = report.model_copy(update={"decision": decision, "action": decision.action})
        with pytest.raises(ReceiptError, match="nothing was signed"):
            guard_with(Clock()).issue(forged, with_disclosure=True)


def test_other_parts_in_a_report_get_no_receipt_either() -> None:
    with pytest.raises(ReceiptError, match="nothing was signed"):
        guard_with(Clock()).issue(checked().model_copy(update={"untold": ()}))


def test_what_a_person_approved_goes_out_as_they_saw_it() -> None:
    assert answer_of(approved(checked("Partners are entitled to 4 weeks of leave."))) == (
        "Partners are entitled to 4 weeks of leave."
    )
