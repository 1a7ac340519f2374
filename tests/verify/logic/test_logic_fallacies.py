"""Conclusions that do not follow by their form are found; valid ones, hedged ones and talk of logic are left alone."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import assert_linear

from assay.text.sentences.splitting import split_sentences
from assay.verify.logic import LogicFinding, audit_logic
from assay.verify.logic.fallacies import form_findings
from assay.verify.logic.statements import read_rule


def found(text: str, *evidence: str) -> list[LogicFinding]:
    return form_findings(text, split_sentences(text), evidence)


WRONG = [
    # the consequent affirmed
    "All managers wear badges. Ada wears a badge. Therefore, Ada is a manager.",
    "All managers wear badges. Ada wears a badge. So Ada is a manager.",
    "All managers wear badges, and Ada wears a badge, so Ada is a manager.",
    "Ada must be a manager, because all managers wear badges and Ada wears a badge.",
    "Since all managers wear badges and Ada wears a badge, Ada is a manager.",
    "Every whale is a mammal. Flipper is a mammal. Flipper is therefore a whale.",
    "Whales are mammals. Flipper is a mammal, so Flipper is a whale.",
    "Each licensed driver has passed the test. Ben has passed the test. Hence Ben is a licensed driver.",
    "Anyone who works nights gets a bonus. Carol gets a bonus. Hence Carol works nights.",
    "If it rains, the ground gets wet. The ground is wet. Therefore it rained.",
    "If it rains then the ground gets wet. The ground is wet. Consequently, it has rained.",
    "The ground gets wet if it rains. The ground is wet. Thus it has rained.",
    "Whenever it rains, the ground gets wet. The ground is wet. It follows that it rained.",
    "If a device is certified, it bears a mark. This device bears a mark, so it is certified.",
    "If the pump is faulty, it makes a noise. The pump makes a noise. So the pump is faulty.",
    "If the server is down, the lamp is red. The lamp is red. This means that the server is down.",
    "If the server is down, the lamp is red. The lamp is red, which means that the server is down.",
    "If someone has the flu, they have a fever. Dana has a fever. We can conclude that Dana has the flu.",
    "- All managers wear badges.\n- Ada wears a badge.\n- Therefore, Ada is a manager.",
    "1. If the fuse has blown, the lamp is off.\n2. The lamp is off.\n3. Therefore the fuse has blown.",
    "All invoices are numbered. This document is numbered. That means this document is an invoice.",
    "All poets are dreamers. Ravi is a dreamer. Ergo, Ravi is a poet.",
    # the antecedent denied
    "If it rains, the ground gets wet. It did not rain. Therefore the ground is not wet.",
    "If the server is down, the lamp is red. The server is not down. So the lamp is not red.",
    "All managers wear badges. Ada is not a manager. Therefore Ada does not wear a badge.",
    "Every whale is a mammal. Rex is not a whale. So Rex is not a mammal.",
    "If the fuse has blown, the lamp is off. The fuse has not blown, so the lamp isn't off.",
    "Whenever the alarm sounds, the doors close. The alarm did not sound. Thus the doors did not close.",
    "All squares are rectangles. This shape is not a square. Hence this shape is not a rectangle.",
    "If a number is divisible by four, it is even. Six is not divisible by four. Therefore six is not even.",
    # quantifiers
    "All cats are mammals. All dogs are mammals. Therefore all dogs are cats.",
    "All roses are plants. All oaks are plants. So all oaks are roses.",
    "All cats are mammals. So all mammals are cats.",
    "Every square is a rectangle. Therefore every rectangle is a square.",
    "Some cats are black. So all cats are black.",
    "Some of the cats are black. It follows that every cat is black.",
    "Most members are retired. Therefore all members are retired.",
    "Several suppliers are late. Thus all suppliers are late.",
    "Some cats are black. Tom is a cat. So Tom is black.",
    "Most birds fly south. Pip is a bird. Therefore Pip flies south.",
    "Many employees are shareholders. Ben is an employee. Hence Ben is a shareholder.",
    "Some drivers are uninsured. Therefore every driver is uninsured.",
    "Every plumber has a licence. Sam has a licence. So Sam must be a plumber.",
    "If the battery is empty, the screen stays dark. The screen stays dark. The battery is therefore empty.",
    "When it snows, the school closes. The school closed. So it must have snowed.",
    "If you study hard, you pass. Lee did not study hard. Therefore Lee did not pass.",
    "Given that all doctors study biology and Mia studies biology, Mia is a doctor.",
    "All metals conduct electricity. Graphite conducts electricity. Therefore, graphite is a metal.",
    "If X is a square, then X has four sides. This figure has four sides. Therefore, this figure is a square.",
    "All birds lay eggs. Crocodiles lay eggs. Therefore crocodiles are birds.",
    "Some politicians are honest. Therefore, all politicians are honest.",
    "A few of the tests failed. Hence all the tests failed.",
    "All apples are fruit. All pears are fruit. Hence all pears are apples.",
    "All employees are insured. Bo is not an employee, so Bo is not insured.",
    "All of our suppliers are certified. Norton is certified, which means Norton is one of our suppliers.",
    "If the policy had lapsed, the claim would be rejected. The claim was rejected. Thus the policy had lapsed.",
    "Because every student has a card and Noor has a card, Noor is a student.",
]

RIGHT = [
    "All managers wear badges. Ada is a manager. Therefore, Ada wears a badge.",
    "All managers wear badges. Ada does not wear a badge. So Ada is not a manager.",
    "All managers wear badges, and Ada is a manager, so Ada wears a badge.",
    "Ada must wear a badge, because all managers wear badges and Ada is a manager.",
    "Since all managers wear badges and Ada is a manager, Ada wears a badge.",
    "Every whale is a mammal. Moby is a whale. Moby is therefore a mammal.",
    "Whales are mammals. Moby is a whale, so Moby is a mammal.",
    "Each licensed driver has passed the test. Ben is a licensed driver. Hence Ben has passed the test.",
    "Anyone who works nights gets a bonus. Carol works nights. Hence Carol gets a bonus.",
    "If it rains, the ground gets wet. It rained. Therefore the ground is wet.",
    "If it rains then the ground gets wet. The ground is not wet. Consequently, it has not rained.",
    "The ground gets wet if it rains. It has rained. Thus the ground is wet.",
    "If and only if it rains, the ground gets wet. The ground is wet. So it rained.",
    "The ground gets wet only if it rains. The ground is wet. So it rained.",
    "If a device is certified, it bears a mark. This device is certified, so it bears a mark.",
    "If the pump is faulty, it makes a noise. The pump makes no noise. So the pump is not faulty.",
    "If the server is down, the lamp is red. The lamp is red. So the server is probably down.",
    "If the server is down, the lamp is red. The lamp is red. This suggests that the server is down.",
    "If someone has the flu, they have a fever. Dana has a fever. Dana may therefore have the flu.",
    "If someone has the flu, they have a fever. Dana has a fever. Does it follow that Dana has the flu?",
    "All managers wear badges. Only managers wear badges. Ada wears a badge. Therefore Ada is a manager.",
    "All managers wear badges, and whoever wears a badge is a manager. Ada wears a badge. So Ada is a manager.",
    "All managers wear badges. All who wear badges are managers. Ada wears a badge. So Ada is a manager.",
    "All managers wear badges. Ada wears a badge. Ada is a manager. Ada is a manager, so Ada wears a badge.",
    "All managers wear badges. Ben wears a badge. Ada leads the team. Therefore, Ada is a manager.",
    "All managers wear badges. Ada wears a hat. Therefore, Ada is a manager.",
    "It is a fallacy to argue: all managers wear badges, Ada wears a badge, so Ada is a manager.",
    "All managers wear badges. Ada wears a badge. So Ada is a manager? That does not follow.",
    "If it rains, the ground gets wet. It did not rain, but the ground is wet.",
    "If you are a member, you get a discount. You are not a member, so you do not get a discount.",
    "If an order is late, it may be cancelled. Order 7 is not late. So order 7 may not be cancelled.",
    "You get a refund only if you return the item. You returned the item, so you get a refund.",
    "All dogs are mammals. All mammals are animals. So all dogs are animals.",
    "All cats are mammals. No mammals are plants. So no cats are plants.",
    "No cats are dogs. Rex is a dog. So Rex is not a cat.",
    "No cats are dogs. Tom is a cat. Therefore Tom is not a dog.",
    "All cats are mammals. All mammals are cats. Therefore Tom, a mammal, is a cat.",
    "Every square is a rectangle. Therefore not every rectangle has to be a square.",
    "Some cats are black. So some black animals are cats.",
    "Some cats are black. All cats are black. Tom is a cat. So Tom is black.",
    "Some cats are black. Tom is a cat. So Tom could be black.",
    "Most members are retired. Therefore many members are retired.",
    "Some horses are racehorses. Star is a horse. A horse is a racehorse if it is in a race. So Star is a racehorse.",
    "If the fuse has blown, the lamp is off. The fuse has blown. If the lamp is off, we shut. So we shut.",
    "When it snows, the school closes. It snowed. So the school closed.",
    "All birds lay eggs. Penguins are birds. Therefore penguins lay eggs.",
    "Paris is a capital. All capitals are cities. So Paris is a city.",
    "When the school closed, it snowed. The school closed. So it snowed.",
]


@pytest.mark.parametrize("text", WRONG)
def test_a_conclusion_that_does_not_follow_by_its_form_is_found(text: str) -> None:
    assert [f.code for f in found(text)] == ["logic.invalid_form"]


@pytest.mark.parametrize("text", RIGHT)
def test_valid_and_hedged_conclusions_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_evidence_that_tells_the_rule_in_other_words_is_no_excuse_and_one_that_limits_it_is() -> None:
    text = "All managers wear badges. Ada wears a badge. Therefore, Ada is a manager."
    assert len(found(text, "On site our managers always have to wear a badge.")) == 1
    assert found(text, "Badges are worn by managers only.") == []
    assert found(text, "Ada, a manager since May, runs the desk.") == []


def test_a_rule_of_the_evidence_is_a_premise_and_so_is_what_it_says_outright() -> None:
    rule = "All managers wear badges."
    text = "Ada wears a badge. Therefore, Ada is a manager."
    assert len(found(text, rule)) == 1
    assert found(text, rule, "Ada is a manager.") == []
    assert found(text) == []


def test_the_rule_and_the_fact_are_named_as_places() -> None:
    text = WRONG[0]
    finding = next(f for f in audit_logic(text).findings if f.code == "logic.invalid_form")
    assert text[finding.span.start : finding.span.end] == "Ada is a manager."
    places = [text[s.start : s.end] for s in finding.others]
    assert places == ["All managers wear badges.", "Ada wears a badge."]


NOUNS = st.sampled_from(["pilot", "baker", "poet", "tailor", "judge"])


@given(first=NOUNS, second=NOUNS, name=st.sampled_from(["Ada", "Ben", "Cleo"]))
def test_a_rule_works_in_its_own_direction_only(first: str, second: str, name: str) -> None:
    if first == second:
        return
    rule = f"Every {first} is a {second}."
    assert found(f"{rule} {name} is a {first}. Therefore, {name} is a {second}.") == []
    assert found(f"{rule} {name} is not a {second}. Therefore, {name} is not a {first}.") == []
    assert len(found(f"{rule} {name} is a {second}. Therefore, {name} is a {first}.")) == 1
    assert len(found(f"{rule} {name} is not a {first}. Therefore, {name} is not a {second}.")) == 1


@settings(max_examples=40)
@given(text=st.text(alphabet="AaBb .,;\nalisfthenorum", max_size=300))
def test_places_lie_in_the_text(text: str) -> None:
    for finding in found(text):
        assert 0 <= finding.span.start < finding.span.end <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "All cats are mammals. Tom is a mammal. So Tom is a cat. ",
        "If it rains, ",
        "Therefore so thus ",
        "because since ",
        "All a are b, so all b are a. ",
        "x and The y ",
        ", so ",
        "Every one who is is is ",
    ],
)
def test_a_hundred_thousand_characters_take_time_in_proportion(piece: str) -> None:
    def prepare(text: str) -> Callable[[], object]:
        sentences = split_sentences(text)
        return lambda: form_findings(text, sentences, [text])

    assert_linear(prepare, piece)


def test_a_rule_does_not_run_over_an_empty_line() -> None:
    assert read_rule("All managers wear badges.") is not None
    assert read_rule("All managers\n\nwear badges.") is None
