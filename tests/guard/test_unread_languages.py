"""A language that the network does not read is said to be unchecked: nothing in it is guessed at."""

from collections.abc import Mapping

import pytest
from tests.verify.judges import NOT_FOUND, Rule, Verdicts, judge

from assay import Guard
from assay.guard.claims.unread_languages import languages_of, why_unread
from assay.policy import Policy, preset
from assay.schema import Action, Evidence, Verdict

GERMAN = "Partner haben Anspruch auf 2 Wochen bezahlten Urlaub. Der Urlaub ist innerhalb von 8 Wochen zu nehmen."
UNREAD = {
    "Hindi": ("भागीदार दो सप्ताह की सवैतनिक छुट्टी के हकदार हैं।", "भागीदारों को चार सप्ताह की छुट्टी मिलती है।"),
    "Japanese": ("従業員は2週間の有給休暇を取得できます。", "従業員は無給の休暇しか取れません。"),
    "Persian": ("کارکنان دو هفته مرخصی با حقوق دارند.", "کارکنان چهار هفته مرخصی دارند."),
    "Polish": ("Pracownicy nie są zwolnieni z opłaty, ale mogą się odwołać.", "Oni nie są zwolnieni do maja."),
}


@pytest.mark.parametrize(("evidence", "claim"), UNREAD.values(), ids=UNREAD)
def test_a_claim_in_a_language_that_is_not_read_is_unchecked_and_kept_back(evidence: str, claim: str) -> None:
    report = Guard().check(claim, [Evidence(id="a", text=evidence)])
    assert {one.verdict for one in report.claims} == {Verdict.UNCHECKED}
    assert report.action is not Action.EMIT
    assert any("does not read" in issue.message for one in report.claims for issue in one.issues)


@pytest.mark.parametrize(("evidence", "_claim"), UNREAD.values(), ids=UNREAD)
def test_what_repeats_the_evidence_word_for_word_is_emitted_in_any_language(evidence: str, _claim: str) -> None:
    report = Guard().check(evidence, [Evidence(id="a", text=evidence)])
    assert report.action is Action.EMIT, report.reasons


def test_another_number_is_found_in_any_language() -> None:
    evidence = [Evidence(id="a", text="従業員は14日の有給休暇を取得できます。")]
    report = Guard().check("従業員は21日の有給休暇を取得できます。", evidence)
    assert report.action is not Action.EMIT


def test_a_claim_is_not_held_against_evidence_in_another_language() -> None:
    english = [Evidence(id="a", text="Partners are entitled to 2 weeks of leave. It has to be taken within 8 weeks.")]
    report = Guard().check("Der Urlaub ist nicht für die Partner, und er wird nicht bezahlt.", english)
    assert report.claims[0].verdict is Verdict.UNCHECKED
    assert "does not compare across languages" in report.claims[0].issues[0].message


def test_languages_that_were_measured_are_judged() -> None:
    report = Guard().check("Der Urlaub ist innerhalb von 8 Wochen zu nehmen.", [Evidence(id="a", text=GERMAN)])
    assert report.claims[0].verdict is Verdict.SUPPORTED
    assert (
        why_unread("Le congé est de deux semaines et il est payé.", languages_of(["Le congé est payé par la caisse."]))
        is None
    )


def test_a_word_of_another_script_among_english_ones_is_not_read_over() -> None:
    leave = "Partners are entitled to two weeks of paid leave. The office in Москва is closed. α-Synuclein binds."
    evidence = [Evidence(id="a", text=leave)]
    report = Guard().check("Partners को चार weeks of paid leave.", evidence)
    assert report.action is not Action.EMIT
    assert {one.verdict for one in report.claims} == {Verdict.UNCHECKED}
    for known in ("The office in Москва is closed.", "α-Synuclein binds."):
        assert Guard().check(known, evidence).action is Action.EMIT


def test_two_short_words_do_not_tell_another_language_than_that_of_the_evidence() -> None:
    evidence = languages_of(["On a foré 38 mètres dans la moraine, et la commune étudie une passerelle."])
    assert why_unread("On a aussi foré : 38 mètres.", evidence) is None


def test_a_noun_with_a_capital_is_no_name_in_german() -> None:
    report = Guard().check("Die Angestellten und die Partner bekommen Urlaub.", [Evidence(id="a", text=GERMAN)])
    assert "name.missing" not in {issue.code for one in report.claims for issue in one.issues}


def supports(_statement: str, passages: Mapping[str, str]) -> Verdicts:
    return {1: ("PASS", tuple(passages.items()))}


def nothing(_statement: str, _passages: Mapping[str, str]) -> Verdicts:
    return NOT_FOUND


def judged(said: Rule) -> Verdict:
    evidence, claim = UNREAD["Hindi"]
    policy = Policy.model_validate({**preset("general").model_dump(), "judge": "uncertain"})
    report = Guard(policy, llm=judge(said)).check(claim, [Evidence(id="a", text=evidence)])
    (one,) = report.claims
    assert one.judgement is not None
    assert one.judgement.asked_because == ("language",)
    return one.verdict


def test_a_judge_is_asked_about_what_the_network_does_not_read() -> None:
    assert judged(supports) is Verdict.SUPPORTED
    assert judged(nothing) is Verdict.UNSUPPORTED
