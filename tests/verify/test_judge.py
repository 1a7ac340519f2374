"""The judge: what is read of its answers, what they come to, which claims it is for, and how it is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verify.judges import answers, data_of, first_passage, is_control, judge, seal_of

from assay.errors import AnswerError, BudgetError, ChatError, InputError
from assay.models.chat.interface import ChatRequest, Choice, Finish
from assay.prompts import unfenced
from assay.schema import ClaimKind, Evidence, EvidenceSpan, Verdict, Window
from assay.schema.premise import Premise
from assay.schema.report_parts.judgements import JudgeAnswer
from assay.testing import ScriptedChat
from assay.verify.exact import ExactFinding, ExactResult
from assay.verify.judge.answers import JudgeAnswers, one_sentence, read_answers
from assay.verify.judge.claim_selection import reasons_to_judge
from assay.verify.judge.llm_judge import JudgeOptions, ask_judge, make_control
from assay.verify.judge.outcomes import ClaimState, apply_outcome, outcome_of, support_barrier
from assay.verify.judge.quotes import Source, bearing, locate_quote, quoted_span
from assay.verify.network.combination import Judgement
from assay.verify.network.entailment import EntailmentResult
from assay.verify.network.entailment import PremiseScores as Reads

LEAVE = Source("e1", Evidence(id="hr", text="Partners get 2 weeks of leave.\nThey must ask first."), "")
LEAVE = Source("e1", LEAVE.evidence, LEAVE.evidence.text)
SEAL = "0123456789abcdef"
CLAIM = "Partners get 2 weeks of leave."


def entry(
    question: int = 1, verdict: str = "PASS", quote: str | None = "2 weeks of leave", **more: Any
) -> dict[str, Any]:
    quotes = [] if quote is None else [{"source": "e1", "text": quote}]
    return {"statement": 1, "question": question, "verdict": verdict, "quotes": quotes, "because": "So.", **more}


def five(**by_question: Any) -> list[dict[str, Any]]:
    """Five answers, PASS unless a question is given as q1 to q5: a verdict and a quote."""
    made = []
    for question in range(1, 6):
        verdict, quote = by_question.get(f"q{question}", ("PASS", "2 weeks of leave" if question == 1 else None))
        made.append(entry(question, verdict, quote))
    return made


def said(value: object, finish: Finish = Finish.STOP) -> Choice:
    return Choice(value if isinstance(value, str) else json.dumps(value), finish)


def read(entries: list[dict[str, Any]], count: int = 1) -> list[JudgeAnswers]:
    return read_answers(said({"seal": SEAL, "answers": entries}), count, SEAL, [LEAVE])


# Quotes


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Partners get 2 weeks", "Partners get 2 weeks"),
        ("“partners  GET 2 weeks.”", "Partners get 2 weeks"),
        ("2 weeks of leave. They must", "2 weeks of leave.\nThey must"),
        ("2 week", None),
        ("12 weeks", None),
        ("Partners get weeks", None),
        ("", None),
        ("...", None),
        ("a" * 900, None),
    ],
)
def test_a_quote_stands_in_the_text_or_it_does_not(quote: str, found: str | None) -> None:
    place = locate_quote(quote, LEAVE.text)
    assert (None if place is None else LEAVE.text[slice(*place)]) == found


def test_a_number_is_never_found_inside_of_another() -> None:
    assert locate_quote("costs 1.5", "It costs 11.5 euros.") is None
    assert locate_quote("500 euros", "It costs 1,500 euros.") is None
    assert locate_quote("costs 1", "It costs 1.5 euros.") is None


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_what_is_found_slices_back_to_words_that_read_alike(text: str, start: int, end: int) -> None:
    place = locate_quote(text[start:end], text)
    if place is not None:
        assert 0 <= place[0] < place[1] <= len(text)


def test_a_quote_counts_only_in_what_was_shown() -> None:
    partly = Source("e1", LEAVE.evidence, "Partners get 2 weeks of leave.")
    assert quoted_span("They must ask first", partly, "supports", 1.0) is None
    span = quoted_span("2 weeks", partly, "supports", 0.9)
    assert span is not None
    assert LEAVE.evidence.text[span.start : span.end] == span.text == "2 weeks"


def test_a_long_hostile_text_is_searched_quickly() -> None:
    assert locate_quote("a a a a a a a a a a b", "a " * 50_000) is None
    assert locate_quote("x y", "x" + " " * 100_000) is None


def test_bearing_is_the_share_of_the_words_that_a_quote_has() -> None:
    span = EvidenceSpan(evidence_id="hr", start=0, end=7, text="2 weeks", relation="supports", score=1)
    assert 0 < bearing(CLAIM, [span]) < 1
    assert bearing(CLAIM, []) == 0
    assert bearing(CLAIM, [span], ["Partner leave"]) > bearing(CLAIM, [span])


# Reading


def test_five_answers_are_read_with_their_quotes_as_places() -> None:
    (reading,) = read(five())
    assert reading.unreadable is None
    assert reading.void is None
    span = reading.answers[0].quotes[0]
    assert (span.evidence_id, span.relation) == ("hr", "supports")
    assert LEAVE.evidence.text[span.start : span.end] == "2 weeks of leave"


@pytest.mark.parametrize(
    ("value", "finish"),
    [
        ("PASS, all five of them.", Finish.STOP),
        ("", Finish.STOP),
        ("[]", Finish.STOP),
        ('{"seal": "0123456789abcdef", "answers": [', Finish.STOP),
        ('{"seal": "0123456789abcdef", "seal": "x", "answers": []}', Finish.STOP),
        ({"answers": five()}, Finish.STOP),
        ({"seal": SEAL, "answers": five(), "verdict": "PASS"}, Finish.STOP),
        ({"seal": "f" * 16, "answers": five()}, Finish.STOP),
        ({"seal": "", "answers": five()}, Finish.STOP),
        ({"seal": SEAL, "answers": five()}, Finish.LENGTH),
        ({"seal": SEAL, "answers": five()}, Finish.REFUSAL),
        ({"seal": SEAL, "answers": five()}, Finish.OTHER),
        ({"seal": SEAL, "answers": [*five(), entry(statement=2)]}, Finish.STOP),
        ({"seal": SEAL, "answers": [*five(), entry(statement=0)]}, Finish.STOP),
        ({"seal": SEAL, "answers": [entry(verdict="YES")]}, Finish.STOP),
        ({"seal": SEAL, "answers": [entry(question=6)]}, Finish.STOP),
        ({"seal": SEAL, "answers": [entry(quotes=[{"source": "e9", "text": "x"}])]}, Finish.STOP),
        ({"seal": SEAL, "answers": [entry(score=0.9)]}, Finish.STOP),
    ],
)
def test_what_is_no_answer_to_this_request_is_none(value: object, finish: Finish) -> None:
    with pytest.raises(AnswerError):
        read_answers(said(value, finish), 1, SEAL, [LEAVE])


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([], "said nothing"),
        (five()[:4], "did not answer question 5"),
        ([*five(), entry(2)], "answered question 2 more than once"),
    ],
)
def test_a_statement_without_five_answers_has_no_reading(entries: list[dict[str, Any]], why: str) -> None:
    (reading,) = read(entries)
    assert reading.answers == ()
    assert why in (reading.unreadable or "")
    assert outcome_of(CLAIM, reading).kind == "unchecked"


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (five(q1=("PASS", "4 weeks of leave")), "do not stand"),
        (five(q1=("PASS", None)), "quotes nothing"),
        (five(q2=("FAIL", None)), "quotes nothing"),
        (five(q5=("FAIL", "3 weeks")), "do not stand"),
        (five(q3=("PASS", "as the judge says")), "do not stand"),
        ([*five()[:4], entry(5, "PASS", None, because=" ")], "no reason"),
        ([entry(1, quotes=[{"source": "e1", "text": "2 weeks"}] * 4), *five()[1:]], "4 quotes"),
    ],
)
def test_a_verdict_with_words_that_stand_nowhere_is_void(entries: list[dict[str, Any]], why: str) -> None:
    (reading,) = read(entries)
    assert reading.void is not None
    assert why in (reading.void.void or "")
    assert outcome_of(CLAIM, reading).kind == "unchecked"


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.text(max_size=8)
    | st.sampled_from(["PASS", "FAIL", SEAL, "e1"]),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(
            st.sampled_from(
                ["seal", "answers", "statement", "question", "verdict", "quotes", "source", "text", "because"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(_JSON | st.text(max_size=200), st.sampled_from(list(Finish)))
def test_whatever_comes_the_reader_gives_readings_or_says_why_not(value: object, finish: Finish) -> None:
    try:
        readings = read_answers(said(value, finish), 2, SEAL, [LEAVE])
    except AnswerError:
        return
    assert finish is Finish.STOP
    assert len(readings) == 2
    assert all((reading.unreadable is None) == (len(reading.answers) == 5) for reading in readings)


_ENTRIES = st.lists(
    st.builds(
        entry,
        st.integers(1, 5),
        st.sampled_from(["PASS", "FAIL", "UNCERTAIN"]),
        st.sampled_from([None, "2 weeks of leave", "They must ask first", "4 weeks", "Partners", "\u202e"]),
        statement=st.integers(1, 2),
    ),
    max_size=14,
)


@given(_ENTRIES)
def test_only_five_answers_that_all_count_and_quote_the_evidence_support_a_claim(entries: list[dict[str, Any]]) -> None:
    for number, reading in enumerate(read(entries, 2), start=1):
        outcome = outcome_of(CLAIM, reading)
        own = {one["question"]: one for one in entries if one["statement"] == number}
        if outcome.kind == "supports":
            assert len([one for one in entries if one["statement"] == number]) == 5
            assert all(own[n]["verdict"] == "PASS" for n in (1, 2, 5))
            assert own[3]["verdict"] != "FAIL" != own[4]["verdict"]
        if outcome.kind in ("supports", "contradicts", "omits"):
            quotes = [span for answer in outcome.telling for span in answer.quotes]
            assert quotes
            assert all(LEAVE.evidence.text[q.start : q.end] == q.text for q in quotes)
        if outcome.kind == "unchecked":
            assert outcome.telling == ()


@given(st.text(max_size=2_000))
def test_a_justification_is_one_line_that_steers_nobody(text: str) -> None:
    line = one_sentence(text)
    assert len(line) <= 300
    assert line == " ".join(line.split())
    assert not any(c in line for c in "\n\r\x1b\u202e\u200b\x00")


# What five answers come to


def outcome(claim: str = CLAIM, complete: bool = True, **by_question: Any) -> str:
    return outcome_of(claim, read(five(**by_question))[0], complete=complete).kind


def test_the_table_of_outcomes() -> None:
    against = ("FAIL", "They must ask first")
    assert outcome() == "supports"
    assert outcome(q2=("UNCERTAIN", None)) == "uncertain"
    assert outcome(q1=("UNCERTAIN", None)) == "uncertain"
    assert outcome(q3=("FAIL", None)) == "uncertain"
    assert outcome(q1=("FAIL", None)) == "not_found"
    assert outcome(q4=against) == "omits"
    assert outcome("They must not ask.", q1=("FAIL", None), q2=against) == "contradicts"
    assert outcome("They must not ask.", q1=("FAIL", None), q5=against) == "contradicts"
    assert outcome("They must not ask.", q1=("PASS", "Partners"), q2=against) == "contradicts"


def test_what_it_was_not_shown_it_cannot_miss() -> None:
    assert outcome(complete=False, q1=("FAIL", None)) == "uncertain"


def test_answers_that_deny_one_another_are_unchecked() -> None:
    assert outcome(q1=("PASS", "2 weeks of leave"), q2=("FAIL", "2 weeks of leave")) == "unchecked"


def test_words_that_do_not_speak_of_the_claim_neither_support_nor_contradict_it() -> None:
    assert outcome("The canteen serves soup at noon.") == "unchecked"
    assert outcome("The canteen serves soup.", q1=("FAIL", None), q2=("FAIL", "2 weeks of leave")) == "unchecked"


def found(effect: str, confidence: float) -> ExactResult:
    finding = ExactFinding("number.mismatch", "m", 0, 1, None, effect, confidence)  # type: ignore[arg-type]
    return ExactResult((finding,), {"verbatim": 0.0}, ())


def test_the_exact_tier_bars_support() -> None:
    weak_ = ClaimState(Verdict.UNSUPPORTED, 0.2, 0.1)
    assert support_barrier(found("contradicts", 0.3), weak_) is not None
    assert support_barrier(found("missing", 0.5), weak_) is not None
    assert support_barrier(found("note", 1.0), weak_) is None
    assert support_barrier(found("contradicts", 0.2), weak_) is None


def test_a_sure_contradiction_and_a_conflict_of_sources_bar_support_too() -> None:
    assert support_barrier(PLAIN, ClaimState(Verdict.CONTRADICTED, 0.0, 0.95)) is not None
    assert support_barrier(PLAIN, ClaimState(Verdict.CONTRADICTED, 0.1, 0.6)) is None
    assert support_barrier(PLAIN, ClaimState(Verdict.SUPPORTED, 0.9, 0.1), conflict=True) is not None


PROBABILITY = st.floats(0, 1)
RANK = {Verdict.CONTRADICTED: 0, Verdict.UNSUPPORTED: 1, Verdict.UNCHECKED: 1, Verdict.SUPPORTED: 2}


@given(
    st.sampled_from([Verdict.SUPPORTED, Verdict.UNSUPPORTED, Verdict.CONTRADICTED]),
    PROBABILITY,
    PROBABILITY,
    st.sampled_from(["supports", "contradicts", "not_found", "omits", "uncertain", "unchecked"]),
    st.floats(0.5, 1),
    PROBABILITY,
    st.sampled_from([None, "a number differs"]),
    st.booleans(),
)
def test_only_support_that_nothing_bars_moves_a_claim_up(
    verdict: Verdict,
    support: float,
    rest: float,
    kind: str,
    confidence: float,
    threshold: float,
    bar: str | None,
    passes: bool,
) -> None:
    before = ClaimState(verdict, support, (1 - support) * rest)
    after = apply_outcome(before, kind, confidence=confidence, threshold=threshold, bar=bar, passes=passes)
    assert 0 <= after.support <= 1
    assert 0 <= after.contradiction <= 1
    assert after.support + after.contradiction <= 1 + 1e-9
    if bar is not None or kind != "supports":
        assert RANK[after.verdict] <= RANK[verdict]
        assert after.support <= before.support
        assert after.contradiction >= before.contradiction
    if kind == "unchecked":
        assert (after.support, after.contradiction) == (before.support, before.contradiction)


# Which claims it is for


def reads(*scores: tuple[float, float, tuple[str, ...]], related: float = 0.2) -> EntailmentResult:
    """What the network read: entailment, contradiction and the ids of each premise."""
    rows = tuple(
        Reads(Premise("p", "document", tuple(Window(i, 0, 1, "p") for i in ids)), e, 1 - e - c, c, related)
        for e, c, ids in scores
    )
    best = max(rows, key=lambda row: row.entailment)
    return EntailmentResult(
        entailment=best.entailment,
        contradiction=max(row.contradiction for row in rows),
        best_support=best,
        signals={"related": related},
        judgements=rows,
    )


PLAIN = ExactResult((), {"verbatim": 0.0}, ())


def weak(verdict: Verdict, support: float, against: float = 0.0, **more: Any) -> set[str]:
    given_ = {"kind": ClaimKind.FACTUAL, "exact": PLAIN, "read": reads((support, against, ("a",))), **more}
    return set(reasons_to_judge(given_["kind"], verdict, Judgement(support, against), given_["exact"], given_["read"]))


def test_a_sure_claim_is_no_case_for_a_judge() -> None:
    assert weak(Verdict.SUPPORTED, 0.97) == set()
    assert weak(Verdict.UNSUPPORTED, 0.02) == set()
    assert weak(Verdict.CONTRADICTED, 0.01, 0.95) == set()


def test_each_weakness_has_its_name() -> None:
    assert weak(Verdict.SUPPORTED, 0.7) == {"unsure"}
    assert weak(Verdict.SUPPORTED, 0.97, kind=ClaimKind.INFERENTIAL) == {"inference"}
    assert weak(Verdict.SUPPORTED, 0.97, exact=found("contradicts", 0.4)) == {"tiers_differ"}
    assert weak(Verdict.UNSUPPORTED, 0.02, read=reads((0.95, 0.0, ("a",))), exact=found("missing", 0.9)) == {
        "tiers_differ"
    }
    assert weak(Verdict.SUPPORTED, 0.97, read=reads((0.97, 0.0, ("a", "b")), (0.3, 0.0, ("a",)))) == {"several_sources"}
    assert weak(Verdict.SUPPORTED, 0.97, read=reads((0.97, 0.0, ("a", "b")), (0.9, 0.0, ("a",)))) == set()
    assert weak(Verdict.UNSUPPORTED, 0.02, read=reads((0.02, 0.0, ("a",)), related=0.8)) == {"undecided"}


def test_what_the_exact_tier_is_sure_of_needs_no_judge() -> None:
    assert weak(Verdict.CONTRADICTED, 0.1, 0.6, exact=found("contradicts", 0.9)) == set()
    assert weak(Verdict.SUPPORTED, 0.6, exact=ExactResult((), {"verbatim": 1.0}, ())) == set()


# Asking


def asked(model: ScriptedChat, claims: list[str], calls: int = 9, **options: Any) -> list[str]:
    made = ask_judge(model, claims, "How long?", [LEAVE], most_calls=calls, options=JudgeOptions(**options))
    assert len(made.statements) == len(claims)
    assert made.requests <= calls
    return [one.outcome.kind for one in made.statements]


def test_claims_are_asked_a_few_at_a_time_with_one_that_was_made_wrong() -> None:
    model = judge(first_passage)
    assert asked(model, [CLAIM, "Partners get leave.", "Partners ask first."], per_request=2) == ["supports"] * 3
    sizes = []
    for request in model.requests:
        held = dict(unfenced(request.messages[-1].content)[1])
        statements = [one["text"] for one in held["statements"]]
        assert sum(map(is_control, statements)) == 1
        sizes.append(len(statements))
        assert held["question"] == [{"question": "How long?"}]
        assert [one["id"] for one in held["evidence"]] == ["e1"]
        assert request.schema is not None
        assert seal_of(request) not in json.dumps(request.schema)
    assert sorted(sizes) == [2, 3]


def test_a_judge_that_finds_what_was_made_up_is_not_believed() -> None:
    def all_of_it(request: ChatRequest) -> str:
        made = answers(request, first_passage)
        for one in made["answers"]:
            one.update(verdict="PASS", quotes=[{"source": "e1", "text": LEAVE.text}])
        return json.dumps(made)

    model = ScriptedChat(all_of_it)
    made = ask_judge(model, [CLAIM], None, [LEAVE], most_calls=9)
    assert made.statements[0].outcome.kind == "unchecked"
    assert "made wrong to test it" in made.statements[0].outcome.reason
    assert len(model.requests) == 1


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=5), st.text(max_size=200))
def test_the_statement_that_was_made_wrong_has_a_year_that_stands_nowhere(claims: list[str], text: str) -> None:
    source = Source("e1", Evidence(id="a", text=text), text)
    wrong, place = make_control(claims, [source])
    assert make_control(claims, [source]) == (wrong, place)
    assert 0 <= place <= len(claims)
    year = wrong.rstrip(".").rsplit(" ", 1)[1]
    assert not any(year in one for one in (*claims, text))


def test_calls_are_bounded_and_what_is_beyond_them_is_unchecked() -> None:
    model = judge(first_passage)
    claims = [f"Partners get 2 weeks of leave, case {n}." for n in range(5)]
    assert asked(model, claims, calls=2, per_request=2)[4:] == ["unchecked"]
    assert len(model.requests) == 2
    assert asked(model, claims, calls=0) == ["unchecked"] * 5


@pytest.mark.parametrize(
    "error", [ChatError("gone"), BudgetError("spent"), AnswerError("The model declined to answer.")]
)
def test_a_model_that_fails_leaves_its_claims_unchecked(error: ChatError) -> None:
    def fails(_: ChatRequest) -> str:
        raise error

    assert asked(ScriptedChat(fails), [CLAIM, CLAIM]) == ["unchecked"] * 2


def test_one_request_that_fails_spoils_no_other() -> None:
    def second_fails(request: ChatRequest) -> str | Choice:
        if "soup" in request.messages[-1].content:
            return Choice("", Finish.REFUSAL)
        return json.dumps(answers(request, first_passage))

    model = ScriptedChat(second_fails)
    assert asked(model, [CLAIM, "There is soup."], per_request=1) == ["supports", "unchecked"]


def stumbling(*first: str | Choice) -> ScriptedChat:
    """A judge whose first answers are these, and who judges rightly from then on."""
    left = list(first)

    def says(request: ChatRequest) -> str | Choice:
        return left.pop(0) if left else json.dumps(answers(request, first_passage))

    return ScriptedChat(says)


UNREADABLE = ["PASS, all of it.", "{}", Choice('{"seal": "', Finish.LENGTH), Choice("", Finish.OTHER)]


@pytest.mark.parametrize("said_first", UNREADABLE, ids=["prose", "empty", "cut off", "unknown end"])
def test_what_cannot_be_read_is_asked_for_once_more_with_more_room(said_first: str | Choice) -> None:
    model = stumbling(said_first)
    assert asked(model, [CLAIM]) == ["supports"]
    first, second = model.requests
    assert "This is attempt 1." in first.messages[0].content
    assert "This is attempt 2." in second.messages[0].content
    assert data_of(first) == data_of(second)
    assert (second.max_tokens or 0) == 2 * (first.max_tokens or 0)


@pytest.mark.parametrize("said_first", UNREADABLE, ids=["prose", "empty", "cut off", "unknown end"])
def test_asking_again_is_bounded_by_the_attempts_and_by_the_calls(said_first: str | Choice) -> None:
    model = stumbling(*[said_first] * 9)
    assert asked(model, [CLAIM]) == ["unchecked"]
    assert len(model.requests) == 2
    assert asked(stumbling(said_first), [CLAIM], attempts=1) == ["unchecked"]
    assert asked(stumbling(said_first), [CLAIM], calls=1) == ["unchecked"]


def test_only_the_claims_that_were_not_answered_are_asked_about_again() -> None:
    def forgets(request: ChatRequest) -> str:
        made = answers(request, first_passage)
        if "This is attempt 1." in request.messages[0].content:
            texts = {one["statement"]: one["text"] for one in data_of(request)["statements"]}
            made["answers"] = [
                one
                for one in made["answers"]
                if is_control(texts[one["statement"]]) or "ask" not in texts[one["statement"]] or one["question"] != 4
            ]
        return json.dumps(made)

    model = ScriptedChat(forgets)
    claims = [CLAIM, "Partners must ask first."]
    assert asked(model, claims) == ["supports", "supports"]
    again = [one["text"] for one in data_of(model.requests[1])["statements"] if not is_control(one["text"])]
    assert again == claims[1:]


def test_a_refusal_and_a_wrong_seal_get_no_second_try() -> None:
    def forged(request: ChatRequest) -> str:
        return json.dumps({**answers(request, first_passage), "seal": "f" * 16})

    for model in (ScriptedChat(forged), stumbling(Choice("", Finish.REFUSAL, "I will not."))):
        assert asked(model, [CLAIM]) == ["unchecked"]
        assert len(model.requests) == 1


@pytest.mark.parametrize("name", ["per_request", "attempts"])
def test_a_setting_out_of_its_range_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="1 or more"):
        JudgeOptions(**{name: 0})


def test_an_answer_says_what_it_is() -> None:
    with pytest.raises(ValueError, match="PASS"):
        JudgeAnswer(question=1, verdict="MAYBE", justification="")
