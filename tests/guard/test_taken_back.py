"""Numbers that are taken back, told by what they are apart from, or taken for granted are read as what they say."""

import pytest

from assay import Guard

EVIDENCE = ["The approval takes 6 weeks. It costs 40 euros."]
TRUE = "The approval takes 6 weeks."

LIES = [
    (f"{TRUE} Correction: 9.", f"{TRUE} Correction: 6."),
    (f"{TRUE} Make that 9.", f"{TRUE} Make that 6."),
    (f"{TRUE} Sorry, 9 weeks.", f"{TRUE} Sorry, 6 weeks."),
    (f"{TRUE} Scratch that, nine weeks.", f"{TRUE} Scratch that, six weeks."),
    (f"{TRUE} I mean 9 weeks.", f"{TRUE} I mean 6 weeks."),
    (f"{TRUE} Read nine for six.", f"{TRUE} Read six for nine."),
    (f"{TRUE}\n\nP.S. 9 weeks, sorry.", f"{TRUE}\n\nP.S. 6 weeks, sorry."),
    ("The approval takes 6, or rather 9, weeks.", "The approval takes 9, or rather 6, weeks."),
    ("The approval takes 6, no, 9 weeks.", "The approval takes 9, no, 6 weeks."),
    ("The approval takes three weeks more than six weeks.", "The approval takes two weeks more than four weeks."),
    ("The approval takes 2 weeks less than 10 weeks.", "The approval takes 2 weeks less than 8 weeks."),
    ("The approval takes \u4e5d weeks.", "The approval takes \u516d weeks."),
    ("The approval takes <del>6</del> 9 weeks.", "The approval takes <del>9</del> 6 weeks."),
    (f"{TRUE}\n\n## 9 weeks of approval", f"{TRUE}\n\n## 6 weeks of approval"),
    (f"{TRUE} Are the 9 weeks of approval too long for you?", f"{TRUE} Are the 6 weeks of approval too long for you?"),
]


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard("rag")


@pytest.mark.parametrize(("lie", "twin"), LIES)
def test_a_lie_that_is_read_is_not_emitted_and_its_honest_twin_is(guard: Guard, lie: str, twin: str) -> None:
    assert guard.check(lie, EVIDENCE).action.value != "emit"
    assert guard.check(twin, EVIDENCE).action.value == "emit"


@pytest.mark.parametrize(
    "lie",
    [
        "Doesn't the approval take 9 weeks?",
        "Don't you know that the approval takes 9 weeks?",
        "If you wonder why the approval takes 9 weeks, ask us.",
        "If anyone asks why the approval takes nine weeks, tell them.",
        "Anyone who says that the approval does not take 9 weeks is wrong.",
        "People who think the approval doesn't take nine weeks are mistaken.",
    ],
)
def test_what_is_taken_for_granted_is_said(guard: Guard, lie: str) -> None:
    assert guard.check(lie, EVIDENCE).action.value != "emit"


@pytest.mark.parametrize(
    "honest",
    [
        "Do you need help? The approval takes 6 weeks.",
        "Don't hesitate to ask. The approval takes 6 weeks.",
        "The approval takes 6 weeks. Is that all right?",
        "## 1 Approval\n\nThe approval takes 6 weeks.",
        "1. The approval takes 6 weeks.\n2. It costs 40 euros.",
    ],
)
def test_talk_and_numbering_cost_no_answer(guard: Guard, honest: str) -> None:
    assert guard.check(honest, EVIDENCE).action.value == "emit"
