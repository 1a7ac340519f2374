"""What differs in another source is no conflict where both can be right: another group, case or thing."""

from collections.abc import Sequence

import pytest

from assay.config import embedded_scorer
from assay.errors import ModelError, VerifierError
from assay.guard import Guard
from assay.guard.conflicts.compatibility import sentences_at
from assay.schema import Action, Evidence, HallucinationReport, Verdict

FREE = "Admission is free for children under twelve."
ADULTS = "Admission is 8 euros for adults."
LIFT, ON_FOOT = "The tower has a lift for visitors.", "The tower can only be climbed on foot."


class Conflicts:
    """A conflict network that gives each pair the same probability, or fails."""

    digest = "scripted"

    def __init__(self, chance: float = 0.0, error: Exception | None = None) -> None:
        self.chance, self.error = chance, error
        self.asked: list[tuple[str, str]] = []

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        self.asked += pairs
        if self.error is not None:
            raise self.error
        return [self.chance for _ in pairs]


def check(
    answer: str, *texts: str, conflicts: Conflicts | None = None, title: str | None = None
) -> HallucinationReport:
    guard = Guard(scorer=embedded_scorer(), conflicts=conflicts)
    return guard.check(answer, [Evidence(id=f"s{n}", text=text, title=title) for n, text in enumerate(texts)])


def test_a_price_for_another_group_is_no_conflict() -> None:
    found = check(FREE, FREE, ADULTS)
    assert found.action is Action.EMIT
    assert not found.retrieval.conflicts


def test_sources_that_cannot_both_be_right_are_shown_still() -> None:
    found = check(LIFT, LIFT, ON_FOOT)
    assert found.action is not Action.EMIT
    assert found.retrieval.conflicts


def test_a_conflict_is_dropped_only_where_the_network_is_sure_that_both_can_be_right() -> None:
    assert not check(LIFT, LIFT, ON_FOOT, conflicts=Conflicts(0.01)).retrieval.conflicts
    assert check(LIFT, LIFT, ON_FOOT, conflicts=Conflicts(0.2)).retrieval.conflicts


def test_each_sentence_is_read_with_the_title_of_its_source() -> None:
    conflicts = Conflicts(0.01)
    guard = Guard(scorer=embedded_scorer(), conflicts=conflicts)
    guard.check(LIFT, [Evidence(id="a", text=LIFT), Evidence(id="b", text=ON_FOOT, title="The tower")])
    assert conflicts.asked == [(LIFT, f"The tower: {ON_FOOT}")]


def test_two_titles_over_one_matter_hide_no_conflict() -> None:
    guard = Guard(scorer=embedded_scorer())
    said = "Partners are entitled to 4 weeks of parental leave."
    policy = Evidence(id="policy", text=said, title="HR policy v4")
    faq = Evidence(id="faq", text="Partners get 6 weeks of parental leave.", title="Intranet FAQ")
    assert guard.check(said, [policy, faq]).retrieval.conflicts


@pytest.mark.parametrize("error", [VerifierError("it failed"), ModelError("it is not there")])
def test_a_network_that_fails_leaves_the_claim_unchecked_and_the_answer_is_not_emitted(error: Exception) -> None:
    found = check(LIFT, LIFT, ON_FOOT, conflicts=Conflicts(error=error))
    assert found.action is not Action.EMIT
    assert [claim.verdict for claim in found.claims] == [Verdict.UNCHECKED]


def test_nothing_is_asked_where_no_sources_seem_to_disagree() -> None:
    conflicts = Conflicts()
    check(LIFT, LIFT, "The canteen serves soup from noon on.", conflicts=conflicts)
    check(LIFT, LIFT, conflicts=conflicts)
    assert conflicts.asked == []


def test_records_are_left_to_the_rules() -> None:
    record = '{"tower": {"lift": false, "steps": 300}}'
    assert sentences_at(Evidence(id="r", text=record), 11, 20) == []
    conflicts = Conflicts()
    check(LIFT, LIFT, record, conflicts=conflicts)
    assert conflicts.asked == []


FEE, OTHER_FEE = "The fee is 40 euros a day.", "the fee is 60 euros a day."
PADDING = "Whoever comes by the old road across the hills and along the river in the summer, " * 5
SILENT = "The pool opens in May. The lockers are by the door. There is a lawn. A kiosk sells ice cream."


@pytest.mark.parametrize(
    "other",
    [
        f"{PADDING}should know that {OTHER_FEE}",
        "The pool opens in May. Fee: 60 €/d (1.1.-31.12.2026: 60 €).",
        '{"fee": "60 euros a day"}',
    ],
)
def test_a_conflict_stands_where_not_all_that_it_was_found_on_can_be_read(other: str) -> None:
    deciding, against = check(FEE, FEE, other), check(FEE, FEE, other, conflicts=Conflicts(1.0))
    assert bool(deciding.retrieval.conflicts) == bool(against.retrieval.conflicts)
    assert deciding.action == against.action


def test_each_sentence_of_the_passage_that_contradicts_is_read() -> None:
    conflicts = Conflicts(0.5)
    check(FEE, FEE, f"{SILENT} {OTHER_FEE.capitalize()}", conflicts=conflicts)
    assert any(OTHER_FEE.capitalize() in other for _, other in conflicts.asked)


def test_of_many_sentences_around_the_support_those_are_read_that_say_most_of_the_claim() -> None:
    conflicts = Conflicts(0.01)
    fare = "The Marlow ferry costs 40 euros for adults."
    around = f"Read this page first. Bring some cash. Wear a coat. {fare}"
    check("The ferry at Marlow costs adults 40 euros.", around, fare.replace("40", "60"), conflicts=conflicts)
    assert fare in {own for own, _ in conflicts.asked}


def test_what_somebody_said_in_a_conversation_is_not_read_as_a_document() -> None:
    conflicts = Conflicts(0.01)
    guard = Guard(scorer=embedded_scorer(), conflicts=conflicts)
    evidence = [Evidence(id="step:2/user", text=LIFT, source="user"), Evidence(id="d", text=ON_FOOT)]
    assert guard.check(LIFT, evidence).retrieval.conflicts
    assert conflicts.asked == []


def test_another_network_of_conflicts_is_another_verifier() -> None:
    shipped, other = Guard(scorer=embedded_scorer()), Guard(scorer=embedded_scorer(), conflicts=Conflicts())
    assert shipped.verifier.digest != other.verifier.digest
