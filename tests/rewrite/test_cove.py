"""The chain of verification: claims are tested by questions that are answered where the draft is not."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.prompts.hostile import HOSTILE
from tests.rewrite.grounded_models import EVIDENCE, PAID, QUESTION, TRUE, Line, answer, by_purpose, shown

from assay.errors import ChatError, InputError
from assay.guard import Guard
from assay.models.chat.cache import Cached, ChatCache
from assay.models.chat.interface import ChatModel, ChatRequest, Choice, Finish
from assay.prompts import load_prompt
from assay.rewrite.answers.chain_of_verification import ChainOptions, chosen_claims, gives_away
from assay.rewrite.answers.grounded import ABSTENTION
from assay.schema import Action, HallucinationReport
from assay.schema.report_parts.generation import VerificationQuestion
from assay.testing import FakeScorer, Said

GUARD = Guard("general", scorer=FakeScorer())
Speaker = Callable[[ChatRequest], Said]


@pytest.fixture(params=["sync", "async"])
def generate(request: pytest.FixtureRequest) -> Any:
    def run(llm: ChatModel, question: str = QUESTION, **options: Any) -> HallucinationReport:
        options = {"chain": True, **options}
        if request.param == "sync":
            return GUARD.generate(question, EVIDENCE, llm=llm, **options)
        return asyncio.run(GUARD.agenerate(question, EVIDENCE, llm=llm, **options))

    return run


def drafting(*lines: Line) -> Speaker:
    return lambda request: answer(request, *lines)


def questioning(*questions: str) -> Speaker:
    def speak(request: ChatRequest) -> str:
        numbers = [one["claim"] for one in shown(request)["claims"]]
        asked = questions or tuple(f"What is so about number {'abcdefgh'[n]}?" for n in range(len(numbers)))
        return json.dumps({"questions": [{"claim": n, "question": q} for n, q in zip(numbers, asked, strict=False)]})

    return speak


def answering(*answers: str) -> Speaker:
    left = list(answers)

    def speak(request: ChatRequest) -> str:
        numbers = [one["question"] for one in shown(request)["questions"]]
        said = [
            {"question": n, "answer": left.pop(0) if len(left) > 1 else left[0], "sources": ["e1"]} for n in numbers
        ]
        return json.dumps({"answers": said})

    return speak


def chain_of(report: HallucinationReport) -> tuple[VerificationQuestion, ...]:
    assert report.generation is not None
    return report.generation.chain


def test_a_claim_that_its_question_confirms_stays(generate: Any) -> None:
    chat = by_purpose(
        draft=drafting(TRUE), questions=questioning("What are partners entitled to?"), answers=answering(TRUE[0])
    )
    report = generate(chat)
    assert report.action is Action.EMIT
    (asked,) = chain_of(report)
    assert (asked.question, asked.answer, asked.outcome, asked.passed) == (
        "What are partners entitled to?",
        TRUE[0],
        "consistent",
        True,
    )
    assert [one.purpose for one in report.spending] == ["draft", "questions", "answers"]
    assert report.generation.relative_cost > 1.5


def test_a_claim_that_its_question_contradicts_is_asked_for_again_and_then_removed(generate: Any) -> None:
    chat = by_purpose(
        draft=drafting(TRUE, PAID),
        strict=drafting(TRUE, PAID),
        questions=questioning(),
        answers=answering("Partners are entitled to 3 weeks of leave."),
    )
    report = generate(chat)
    assert "2 weeks" not in report.output
    asked = chain_of(report)[0]
    assert asked.outcome == "contradicted"
    assert not asked.passed
    rejected = next(shown(request)["rejected"] for request in chat.requests if "rejected" in shown(request))
    assert "is answered with" in rejected[0]["reasons"][0]
    assert "contradicts the claim" in rejected[0]["reasons"][0]


class Agreeing(FakeScorer):
    """Finds everything entailed, so that whatever a draft says gets as far as the chain."""

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        return 0.98, 0.01, 0.01


@pytest.mark.parametrize("per_request", [1, 4])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_draft_is_in_no_context_that_answers(per_request: int, asynchronous: bool) -> None:
    sentinels: list[Line] = [
        ("Partners are entitled to 2 weeks of leave, zyzzyva.", ["hr-2"]),
        ("Leave of partners is paid in full, quokka.", ["hr-3"]),
    ]
    chat = by_purpose(
        draft=drafting(*sentinels),
        answers=answering(TRUE[0]),
        # One good question, and one by which the draft would leak.
        questions=questioning("How much leave may partners take?", f"Is it so that {sentinels[1][0]}"),
    )
    guard = Guard("general", scorer=Agreeing(), llm=chat)
    options: dict[str, Any] = {"chain": ChainOptions(every=True, per_request=per_request)}
    if asynchronous:
        asyncio.run(guard.agenerate(QUESTION, EVIDENCE, **options))
    else:
        guard.generate(QUESTION, EVIDENCE, **options)
    apart = [request for request in chat.requests if "questions" in shown(request)]
    assert len(apart) == (2 if per_request == 1 else 1)
    for request in apart:
        everything = " ".join(message.content for message in request.messages)
        assert "zyzzyva" not in everything
        assert "quokka" not in everything
        assert set(shown(request)) == {"evidence", "questions"}
    (claims,) = [shown(request)["claims"] for request in chat.requests if "claims" in shown(request)]
    assert "zyzzyva" in str(claims), "the draft had got as far as the chain"


@given(st.lists(st.sampled_from(["2 weeks", "paid in full", "zyzzyva", "partners"]), max_size=3))
def test_a_question_that_gives_the_claim_away_gives_way_to_that_of_the_user(words: list[str]) -> None:
    claim = "Partners are entitled to 2 weeks of leave, zyzzyva."
    question = f"Is it so that {claim} {' '.join(words)}?"
    assert gives_away(question, claim, QUESTION)


@pytest.mark.parametrize(
    ("question", "claim", "led"),
    [
        ("How long is leave?", "Leave is 4 weeks.", False),
        ("Is leave 4 weeks?", "Leave is 4 weeks.", True),
        ("Is it right that leave is paid in full?", "Leave is paid in full.", True),
        ("Who signs form 12?", "The dean signs form 12.", True),
        ("Who signs the form?", "The dean signs form 12.", False),
        ("", "Leave is 4 weeks.", False),
    ],
)
def test_numbers_and_whole_claims_give_away_what_is_tested(question: str, claim: str, led: bool) -> None:
    assert gives_away(question, claim, "How long is it?") is led


def test_what_the_user_said_gives_nothing_away() -> None:
    assert not gives_away("Who signs form 12?", "The dean signs form 12.", "Who signs form 12?")


def test_a_leading_question_is_never_asked(generate: Any) -> None:
    chat = by_purpose(
        draft=drafting(TRUE),
        questions=questioning("Are partners entitled to 2 weeks of leave?"),
        answers=answering(TRUE[0]),
    )
    (asked,) = chain_of(generate(chat))
    assert asked.question == QUESTION


def test_questions_share_requests_and_equal_ones_are_asked_once(generate: Any) -> None:
    notice: Line = ("Partners must give notice of leave 30 days before.", ["hr-4"])
    speakers = {
        "draft": drafting(TRUE, PAID, notice),
        "answers": answering(""),
        "questions": questioning("What are partners entitled to?", "Same here?", "Same here?"),
    }
    chat = by_purpose(**speakers)
    report = generate(chat, chain=ChainOptions(every=True, per_request=4))
    assert len(chain_of(report)) == 3
    (apart,) = [shown(request)["questions"] for request in chat.requests if "questions" in shown(request)]
    assert [one["text"] for one in apart] == ["What are partners entitled to?", "Same here?"]
    alone = by_purpose(**speakers)
    generate(alone, chain=ChainOptions(every=True, per_request=1))
    assert sum("questions" in shown(request) for request in alone.requests) == 2


def test_a_claim_is_asked_about_once_however_many_answers_there_are(generate: Any) -> None:
    chat = by_purpose(
        draft=drafting(TRUE, ("Cats are green.", ["hr-2"])),
        strict=drafting(TRUE, PAID),
        questions=questioning("What are partners entitled to?"),
        answers=answering(TRUE[0]),
    )
    report = generate(chat, chain=ChainOptions(every=True))
    assert report.generation.attempts == 2
    assert [one.claim for one in chain_of(report)] == [TRUE[0], PAID[0]]
    asked = [one["text"] for request in chat.requests for one in shown(request).get("claims", [])]
    assert asked == [TRUE[0], PAID[0]]


def test_only_claims_that_are_worth_it_are_asked_about() -> None:
    report = GUARD.check(" ".join((TRUE[0], PAID[0])), EVIDENCE, question=QUESTION)
    sure = [claim for claim in report.claims if not claim.critical]
    assert [claim.text for claim in chosen_claims(report, ChainOptions(confident=0.0))] == [TRUE[0]]
    assert len(chosen_claims(report, ChainOptions(confident=1.0))) == 2
    assert len(chosen_claims(report, ChainOptions(every=True))) == 2
    assert [claim.text for claim in sure] == [PAID[0]]


def test_claims_that_fail_already_are_not_asked_about() -> None:
    report = GUARD.check("Partners are entitled to 4 weeks of leave.", EVIDENCE, question=QUESTION)
    assert chosen_claims(report, ChainOptions(every=True)) == []


UNUSABLE: list[Said] = [
    "no json",
    Choice("{}", Finish.LENGTH),
    Choice("", Finish.REFUSAL),
    '{"answers": [{"question": 9, "answer": "x"}]}',
    ChatError("gone", calls=1),
]


@pytest.mark.parametrize("said", UNUSABLE, ids=range(len(UNUSABLE)))
@pytest.mark.parametrize("strict", [False, True])
def test_a_chain_that_breaks_confirms_nothing(generate: Any, said: Said, strict: bool) -> None:
    chat = by_purpose(
        draft=drafting(TRUE), strict=drafting(TRUE), questions=questioning(), answers=lambda request: said
    )
    report = generate(chat, chain=ChainOptions(strict=strict))
    (asked,) = chain_of(report)
    assert asked.outcome == "unchecked"
    assert not asked.passed, "what the check had found is not what the caller asked for"
    assert report.output == ABSTENTION


@pytest.mark.parametrize("said", UNUSABLE, ids=range(len(UNUSABLE)))
def test_without_questions_that_of_the_user_is_asked(generate: Any, said: Said) -> None:
    chat = by_purpose(draft=drafting(TRUE), questions=lambda request: said, answers=answering(TRUE[0]))
    (asked,) = chain_of(generate(chat))
    assert (asked.question, asked.outcome) == (QUESTION, "consistent")


def test_no_answer_in_the_evidence_is_told_apart_from_no_answer_at_all(generate: Any) -> None:
    chat = by_purpose(draft=drafting(TRUE), questions=questioning(), answers=answering(""))
    (asked,) = chain_of(generate(chat))
    assert asked.outcome == "unanswered"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_answer_confirms_nothing(text: str) -> None:
    chat = by_purpose(
        draft=drafting(TRUE), strict=drafting(TRUE), questions=questioning(), answers=answering(f"Consistent. {text}")
    )
    (asked,) = chain_of(GUARD.generate(QUESTION, EVIDENCE, llm=chat, chain=True))
    assert asked.outcome != "consistent"


def test_what_was_asked_before_comes_from_the_cache(generate: Any, tmp_path: Path) -> None:
    chat = by_purpose(draft=drafting(TRUE), questions=questioning(), answers=answering(TRUE[0]))
    cached = Cached(chat, ChatCache(tmp_path / "answers.db"))
    first, second = generate(cached), generate(cached)
    assert len(chat.requests) == 3
    assert [one.from_cache for one in second.spending] == [1, 1, 1]
    assert sum(one.prompt_tokens for one in second.spending) == 0
    assert second.output == first.output


def test_both_forms_give_the_same_report() -> None:
    def made() -> ChatModel:
        return by_purpose(draft=drafting(TRUE, PAID), questions=questioning(), answers=answering(TRUE[0]))

    reports = [
        GUARD.generate(QUESTION, EVIDENCE, llm=made(), chain=True),
        asyncio.run(GUARD.agenerate(QUESTION, EVIDENCE, llm=made(), chain=True)),
    ]
    assert reports[0].model_dump(exclude={"timing"}) == reports[1].model_dump(exclude={"timing"})


def test_the_prompts_of_the_chain_are_in_the_record(generate: Any) -> None:
    chat = by_purpose(draft=drafting(TRUE), questions=questioning(), answers=answering(TRUE[0]))
    names = ("grounded", "cove_questions", "cove_answers")
    assert set(generate(chat).generation.prompts) == {load_prompt(name).identity for name in names}


@pytest.mark.parametrize("settings", [{"per_request": 0}, {"confident": 1.5}], ids=str)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="per_request is 1 or more"):
        ChainOptions(**settings)
