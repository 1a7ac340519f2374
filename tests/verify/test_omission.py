"""What an answer leaves out: found by rules in the evidence, looked at once more by a judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verify.judges import data_of, seal_of

from assay.errors import ChatError
from assay.models.chat.interface import ChatRequest, Choice, Finish
from assay.schema import Category, Evidence
from assay.schema.report_parts.judgements import Omission
from assay.testing import ScriptedChat
from assay.text.claims.rule_extractor import RuleClaimExtractor
from assay.text.lexicon.lexemes import find_words
from assay.verify.exact import index_evidence
from assay.verify.judge.quotes import Source
from assay.verify.omissions.detection import AnswerClaim, contains_qualification, find_omissions
from assay.verify.omissions.judge_review import OmissionReview, review_omissions
from assay.verify.omissions.qualifications import find_qualifications

REMOTE = "Remote work is permitted subject to manager approval and documentation."
LEAVE = (
    "Partners are entitled to 2 weeks of paid leave. It must be taken within 8 weeks of the birth. "
    "This does not apply to contractors. The canteen opens at nine."
)


def stated(answer: str, question: str | None = None) -> list[AnswerClaim]:
    return [AnswerClaim(one.text, one.span) for one in RuleClaimExtractor().extract(answer, question) if one.checkable]


def found(evidence: str | Sequence[str], answer: str, question: str | None = None) -> list[tuple[str, str]]:
    return [(one.kind, one.evidence.text) for one in omissions(evidence, answer, question)]


def omissions(evidence: str | Sequence[str], answer: str, question: str | None = None) -> tuple[Omission, ...]:
    texts = [evidence] if isinstance(evidence, str) else evidence
    index = index_evidence([Evidence(id=f"e{n}", text=text) for n, text in enumerate(texts)])
    return find_omissions(stated(answer, question), answer, question, index)


# Rules


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Expenses of up to 300 euros are refunded if receipts are enclosed.", ["limit", "condition"]),
        ("Members may enter free of charge, except on public holidays.", ["exception"]),
        ("The offer does not apply to students.", ["exception"]),
        ("Tenants are not entitled to a refund.", ["exception"]),
        ("Claims must be submitted by 31 March.", ["deadline"]),
        ("Claims must be submitted no later than 30 days after the event.", ["deadline"]),
        ("The voucher expires after 12 months.", ["deadline"]),
        ("Travel requires the written approval of a manager.", ["condition"]),
        ("Overtime must be approved.", ["condition"]),
        ("Staff may park here only with a permit.", ["condition"]),
        ("Children must not use the lift alone.", ["exception"]),
        ("You may cancel at least 24 hours in advance.", ["deadline"]),
        ("The tower was built in 1901 by at most 30 masons.", []),
        ("The office is in Arden.", []),
    ],
)
def test_the_kinds_of_qualifications(sentence: str, expected: list[str]) -> None:
    made = find_qualifications(sentence, find_words(sentence), 0, len(sentence))
    assert [one.kind for one in made] == expected


PIECES = [
    "if ",
    "unless ",
    "up to 3 ",
    "within 2 weeks ",
    "must not ",
    "only for ",
    "must be approved ",
    "x",
    ", ",
    ". ",
]


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES)).map("".join))
def test_qualifications_are_places_in_order_and_apart(text: str) -> None:
    made = find_qualifications(text, find_words(text), 0, len(text))
    assert all(0 <= one.start < one.end <= len(text) for one in made)
    assert all(a.end <= b.start for a, b in pairwise(made))


def test_a_long_hostile_sentence_is_passed_over_and_many_short_ones_are_quick() -> None:
    assert omissions("if " * 40_000, "It is so.") == ()
    assert omissions("Leave is paid if " * 3 + ". " + "Leave if not. " * 5_000, "Leave is paid.") is not None


# What is left out


def test_the_condition_of_the_seed_is_found_and_quoted() -> None:
    (one,) = omissions(REMOTE, "Remote work is permitted.", "May I work remotely?")
    assert one.kind == "condition"
    assert one.category is Category.COMPLETENESS
    assert one.evidence.text == REMOTE[one.evidence.start : one.evidence.end]
    assert one.evidence.text == "subject to manager approval and documentation"
    assert one.statement.text == REMOTE
    assert (one.span.start, one.span.end) == (0, 25)
    assert one.found_by == "rules"
    assert "leaves out a condition" in one.message


@pytest.mark.parametrize(
    ("evidence", "answer", "expected"),
    [
        (REMOTE, "Remote work is permitted if your manager approves.", []),
        (LEAVE, "Partners get 2 weeks of paid leave.", ["does not apply to contractors", "within 8 weeks"]),
        (LEAVE, "Partners get 2 weeks of paid leave, to be taken within eight weeks. Contractors get none.", []),
        ("Expenses of up to 300 euros are refunded.", "Expenses are refunded.", ["up to 300 euros"]),
        ("Expenses of up to 300 euros are refunded.", "Expenses are refunded up to three hundred euros.", []),
        ("The warranty covers labour, except for batteries.", "The warranty covers labour.", ["except for batteries"]),
        ("The museum was built after two years of planning.", "The museum was built.", []),
        ("Students under 18 must have consent. Entry is free.", "Entry is free.", []),
        (LEAVE, "The canteen opens at nine.", []),
        (LEAVE, "Nothing is known of that.", []),
    ],
)
def test_what_is_left_out(evidence: str, answer: str, expected: list[str]) -> None:
    assert [text for _, text in found(evidence, answer)] == expected


def test_a_short_answer_is_read_together_with_its_question() -> None:
    index = index_evidence([Evidence(id="a", text=REMOTE)])
    claims = [AnswerClaim(f"Is remote work permitted? {one.text}", one.span) for one in stated("Yes, it is permitted.")]
    assert find_omissions(claims, "Yes, it is permitted.", "Is remote work permitted?", index)


def test_the_same_words_of_two_sources_count_once() -> None:
    assert len(found([REMOTE, REMOTE], "Remote work is permitted.")) == 1


def test_the_order_of_the_evidence_has_no_effect() -> None:
    answer = "Partners get 2 weeks of paid leave. Remote work is permitted."
    assert sorted(found([LEAVE, REMOTE], answer)) == sorted(found([REMOTE, LEAVE], answer))


@given(st.text(max_size=200), st.text(max_size=200))
def test_every_omission_slices_back_to_its_evidence(evidence: str, answer: str) -> None:
    for one in omissions([evidence, LEAVE, REMOTE], f"Remote work is permitted. {answer}"):
        text = [evidence, LEAVE, REMOTE][int(one.evidence.evidence_id[1:])]
        assert text[one.evidence.start : one.evidence.end] == one.evidence.text
        assert one.statement.start <= one.evidence.start < one.evidence.end
        assert 0.4 <= one.confidence <= 1


def test_a_number_alone_says_a_limit() -> None:
    assert contains_qualification("It is 300 euros at most.", "up to 300 euros")
    assert not contains_qualification("It is 200 euros at most.", "up to 300 euros")


# The judge's second look


def reviewed(
    said: Any, answer: str = "Remote work is permitted.", evidence: str = REMOTE, *, raw: bool = False
) -> OmissionReview:
    """What becomes of the omissions of an answer; `said` is what the judge says beside its seal."""

    def speaks(request: ChatRequest) -> str | Choice:
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Choice):
            return said
        return json.dumps(said if raw else {"seal": seal_of(request), "answers": [], "more": [], **said})

    index = index_evidence([Evidence(id="p", text=evidence)])
    claims = stated(answer)
    before = find_omissions(claims, answer, None, index)
    source = Source("e1", Evidence(id="p", text=evidence), evidence)
    return review_omissions(ScriptedChat(speaks), before, claims, answer, "May I?", [source], index, confidence=0.9)


def verdict(verdict: str, words: str = "", number: int = 1) -> dict[str, Any]:
    return {"qualification": number, "verdict": verdict, "in_answer": words, "because": "So it is."}


@pytest.mark.parametrize(
    ("one", "judged"),
    [
        (verdict("FAIL"), "confirmed"),
        (verdict("UNCERTAIN"), "doubted"),
        (verdict("PASS"), "doubted"),
        (verdict("PASS", "Remote work"), "doubted"),
        (verdict("PASS", "with the manager's approval and documentation"), "doubted"),
    ],
)
def test_a_judge_confirms_and_doubts_but_denies_only_with_the_words_of_the_answer(
    one: dict[str, Any], judged: str
) -> None:
    made = reviewed({"answers": [one]})
    assert [o.judged for o in made.omissions] == [judged]
    assert made.failed is None


def test_words_of_the_answer_that_say_it_deny_an_omission() -> None:
    answer = "Remote work is permitted. A manager decides."
    made = reviewed({"answers": [verdict("PASS", "A manager decides")]}, answer)
    assert [o.judged for o in made.omissions] == ["denied"]


def test_what_the_judge_adds_stands_in_the_evidence_and_bears_on_the_answer() -> None:
    evidence = f"{REMOTE} Remote work abroad ends a tax exemption. Trains are late."
    more = [
        {"kind": "exception", "source": "e1", "text": "Remote work abroad ends a tax exemption", "because": "So."},
        {"kind": "condition", "source": "e1", "text": "Remote work costs 5 euros", "because": "Made up."},
        {"kind": "limit", "source": "e1", "text": "Trains are late", "because": "Beside the point."},
        {"kind": "condition", "source": "e1", "text": "Remote work is permitted", "because": "It is said."},
    ]
    made = reviewed({"answers": [verdict("FAIL")], "more": more}, evidence=evidence)
    added = [one for one in made.omissions if one.found_by == "judge"]
    assert [one.evidence.text for one in added] == ["Remote work abroad ends a tax exemption"]
    assert evidence[added[0].evidence.start : added[0].evidence.end] == added[0].evidence.text
    assert added[0].judged == "confirmed"


@pytest.mark.parametrize(
    ("said", "raw"),
    [
        (ChatError("gone"), False),
        (Choice("", Finish.REFUSAL, "No."), False),
        (Choice('{"seal": "', Finish.LENGTH), False),
        ({"seal": "f" * 16, "answers": [verdict("PASS", "Remote work")], "more": []}, True),
        ({"answers": [verdict("PASS"), verdict("FAIL")]}, False),
        ({"answers": [verdict("PASS", number=2)]}, False),
        ({"answers": "none"}, False),
    ],
)
def test_an_answer_that_cannot_be_used_leaves_omissions_as_they_were(said: Any, raw: bool) -> None:
    made = reviewed(said, raw=raw)
    assert [(o.judged, o.evidence.text) for o in made.omissions] == [
        ("unchecked", "subject to manager approval and documentation")
    ]
    assert made.failed is not None


def test_an_answer_that_cannot_be_read_is_asked_for_again_within_the_calls() -> None:
    left: list[Choice] = []

    def speaks(request: ChatRequest) -> str | Choice:
        answer = {"seal": seal_of(request), "answers": [verdict("FAIL")], "more": []}
        return left.pop() if left else json.dumps(answer)

    index = index_evidence([Evidence(id="p", text=REMOTE)])
    claims = stated("Remote work is permitted.")
    before = find_omissions(claims, "Remote work is permitted.", None, index)
    source = Source("e1", Evidence(id="p", text=REMOTE), REMOTE)
    for first, calls, judged in (
        (Choice('{"seal": "', Finish.LENGTH), 2, "confirmed"),
        (Choice('{"seal": "', Finish.LENGTH), 1, "unchecked"),
        (Choice("", Finish.REFUSAL, "No."), 2, "unchecked"),
    ):
        left.append(first)
        made = review_omissions(
            ScriptedChat(speaks), before, claims, "Remote work is permitted.", None, [source], index, most_calls=calls
        )
        assert [one.judged for one in made.omissions] == [judged]
        assert made.requests == (2 if judged == "confirmed" else 1)


def test_a_qualification_that_the_judge_passes_over_is_unchecked() -> None:
    assert [o.judged for o in reviewed({}).omissions] == ["unchecked"]


def test_the_judge_sees_the_answer_and_the_qualifications_as_data() -> None:
    seen: list[dict[str, Any]] = []

    def speaks(request: ChatRequest) -> str:
        seen.append(data_of(request))
        return json.dumps({"seal": seal_of(request), "answers": [], "more": []})

    index = index_evidence([Evidence(id="p", text=REMOTE)])
    claims = stated("Remote work is permitted.")
    before = find_omissions(claims, "Remote work is permitted.", None, index)
    source = Source("e1", Evidence(id="p", text=REMOTE), REMOTE)
    review_omissions(ScriptedChat(speaks), before, claims, "Remote work is permitted.", None, [source], index)
    assert seen[0]["answer"] == [{"answer": "Remote work is permitted."}]
    assert seen[0]["qualifications"][0]["text"] == "subject to manager approval and documentation"
