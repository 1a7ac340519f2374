"""Stated chains and statements against each other, with scripted scores."""

from hypothesis import given
from hypothesis import strategies as st

from assay.testing import FailingScorer, FakeScorer, ScriptedScorer
from assay.verify.logic import LogicLimits, StepVerdict, audit_logic, issue_of
from assay.verify.logic.stated_inferences import find_inferences

RULE = "All staff must badge in. Ada is staff."


def steps(text: str) -> list[tuple[str, tuple[str, ...], str]]:
    return [
        (text[i.conclusion.start : i.conclusion.end], tuple(text[p.start : p.end] for p in i.premises), i.cue)
        for i in find_inferences(text)
    ]


def test_inferences_are_read_from_their_words() -> None:
    assert steps(f"{RULE} Therefore, Ada must badge in.") == [
        ("Ada must badge in.", ("All staff must badge in.", "Ada is staff."), "therefore")
    ]
    assert steps("The lamp is off because the fuse has blown.") == [
        ("The lamp is off", ("the fuse has blown.",), "because")
    ]
    assert steps("Because the fuse has blown, the lamp is off.")[0][:2] == ("the lamp is off.", ("the fuse has blown",))
    assert steps("The fuse has blown, so the lamp is off.")[0][:2] == ("the lamp is off.", ("The fuse has blown",))
    assert steps("The fuse has blown, which means that the lamp is off.")[0][2] == "which means that"
    assert steps("Step 1: 3 crates came in.\nStep 2: Thus 36 bottles came in.")[0][0] == "36 bottles came in."


def test_words_that_only_look_like_a_conclusion_are_left_alone() -> None:
    for text in (
        "It rained. So far nothing was heard.",
        "Since 2019 the desk is closed, and nobody complained.",
        "It was so cold that the pipes froze.",
        "He left because of the noise.",
        "Is it so because they said it was?",
        "The door is closed, so as to keep the heat in.",
        "It failed not because the fuse has blown.",
        "Therefore.",
    ):
        assert steps(text) == [], text


def test_a_paragraph_ends_what_counts_as_a_premise() -> None:
    assert steps(f"An old rule.\n\n{RULE} Thus Ada must badge in.")[0][1] == (
        "All staff must badge in.",
        "Ada is staff.",
    )


def audited(text: str, script: dict[tuple[str, str], tuple[float, float, float]]) -> list[tuple[str, str]]:
    audit = audit_logic(text, ScriptedScorer(script))
    return [(f.code, text[f.span.start : f.span.end]) for f in audit.findings]


def test_a_step_follows_is_denied_or_is_not_borne_out() -> None:
    text = f"{RULE} Therefore, Ada must badge in."
    pair = (RULE, "Ada must badge in.")
    assert audited(text, {pair: (0.9, 0.1, 0.0)}) == []
    assert audited(text, {pair: (0.3, 0.7, 0.0)}) == []
    assert audited(text, {pair: (0.0, 0.05, 0.95)}) == [("logic.invalid_step", "Ada must badge in.")]
    assert audited(text, {pair: (0.02, 0.97, 0.01)}) == [("logic.unsupported_step", "Ada must badge in.")]


def test_a_conclusion_that_the_evidence_bears_out_needs_no_premise() -> None:
    text = f"{RULE} Therefore, Ada must badge in."
    at = text.index("Ada must")
    audit = audit_logic(text, ScriptedScorer({}), supported=[(at, len(text))])
    assert audit.findings == ()
    assert audit.steps[0].verdict is StepVerdict.UNSUPPORTED


def test_a_reason_that_is_the_statement_itself_is_circular() -> None:
    text = "The lamp is off because the lamp is off."
    assert [code for code, _ in audited(text, {})] == ["logic.circular"]
    ring = "The lamp is off because the fuse has blown. The fuse has blown because the lamp is off."
    assert [code for code, _ in audited(ring, {})] == ["logic.circular", "logic.circular"]
    chain = "The lamp is off because the fuse has blown. The fuse has blown because the cable was wet."
    assert "logic.circular" not in [code for code, _ in audited(chain, {})]


def test_statements_that_deny_each_other_both_ways_contradict() -> None:
    one, other = "The depot in Ghent is open on Sunday.", "The depot in Ghent is closed on Sunday."
    text = f"{one} Bring a badge. {other}"
    both = {(one, other): (0.0, 0.05, 0.95), (other, one): (0.0, 0.1, 0.9)}
    found = audited(text, both)
    assert found == [("logic.contradiction", other)]
    one_way = {(one, other): (0.0, 0.05, 0.95), (other, one): (0.0, 0.9, 0.1)}
    assert audited(text, one_way) == []


def test_statements_of_different_years_are_not_compared() -> None:
    first, second = "The depot was open in 2019.", "The depot was closed in 2021."
    scorer = ScriptedScorer({})
    audit = audit_logic(f"{first} {second}", scorer)
    assert audit.compared == 0


def test_what_could_not_be_asked_is_named_and_never_sound() -> None:
    text = f"{RULE} Therefore, Ada must badge in."
    for audit in (audit_logic(text), audit_logic(text, FailingScorer())):
        assert not audit.complete
        assert audit.steps[0].verdict is StepVerdict.UNCHECKED
    assert "the network could not judge" in audit_logic(text, FailingScorer()).unchecked[0]
    short = audit_logic(text, FakeScorer(max_pair_tokens=10))
    assert "longer than the network reads" in short.unchecked[0]
    few = audit_logic(f"{text} Thus Ada badges in.", FakeScorer(), limits=LogicLimits(steps=1, pairs=1))
    assert any("beyond the limit" in reason for reason in few.unchecked)


def test_a_finding_becomes_an_issue_with_its_place() -> None:
    finding = audit_logic("12 plus 30 is 43.").findings[0]
    issue = issue_of(finding)
    assert (issue.code, issue.span) == ("logic.arithmetic", finding.span)


@given(text=st.text(alphabet="aA .,;\nthereforbcus", max_size=300))
def test_places_of_inferences_lie_in_the_text(text: str) -> None:
    for inference in find_inferences(text):
        for span in (inference.conclusion, *inference.premises):
            assert 0 <= span.start < span.end <= len(text)
