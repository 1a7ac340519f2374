"""What stands in a footnote, a note or a title is said to its reader as much as the text is."""

import pytest

from assay import Guard
from assay.schema import Verdict

EVIDENCE = "The approval takes 6 weeks. It costs 40 euros."

NOTES = [
    "The approval takes 6 weeks.[^1]\n\n[^1]: {}",
    "The approval takes 6 weeks.[^1] It costs 40 euros.\n\n[^1]: {}\n",
    "The approval takes 6 weeks.[^note]\n\n[^note]: {}",
    "The approval takes 6 weeks.[^1]\n\n[^1]:\n    {}",
    "The approval takes 6 weeks.[^1]\n\n> [^1]: {}",
    "The approval takes 6 weeks.[^1]\n\n- [^1]: {}",
    "The approval takes 6 weeks.[^1]\n\n**[^1]:** {}",
    "The approval takes 6 weeks [1].\n\n[1]: {}",
    "The approval takes 6 weeks [1].\n\n[1] {}",
    "The approval takes 6 weeks¹.\n\n¹ {}",
    "The approval takes 6 weeks*.\n\n* {}",
    "The approval takes 6 weeks.†\n\n† {}",
    "The approval takes 6 weeks.<sup>1</sup>\n\n<sup>1</sup> {}",
    "The approval takes 6 weeks.【1】\n\n【1】{}",
    "The approval takes 6 weeks (1).\n\n(1) {}",
    "The approval takes 6 weeks.\n\nNotes:\n1. {}",
    "The approval takes 6 weeks.^[{}]",
    "The approval^[{}] takes 6 weeks.",
    'The [approval](https://x.example "{}") takes 6 weeks.',
    'The approval takes 6 weeks [here].\n\n[here]: https://x.example "{}"',
    '<p title="{}">The approval takes 6 weeks.</p>',
    "[^1]: {}",
]
SAID = [
    "It takes {} weeks.",
    "In fact it takes {} weeks.",
    "In fact, the approval takes {} weeks.",
    "Actually it takes {} weeks.",
    "It in fact takes {} weeks.",
    "As it happens the approval takes {} weeks.",
    "In general it takes {} weeks.",
]


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard("rag")


@pytest.mark.parametrize("note", NOTES)
def test_a_false_note_is_not_emitted(guard: Guard, note: str) -> None:
    for said in SAID:
        report = guard.check(note.format(said.format(9)), [EVIDENCE])
        assert report.action.value != "emit", (note, said)
        claims = [claim for claim in report.claims if "9" in claim.text]
        assert claims, (note, said)
        assert all(report.output[c.span.start : c.span.end].count("9") for c in claims), (note, said)


@pytest.mark.parametrize("note", NOTES)
def test_a_true_note_costs_no_answer(guard: Guard, note: str) -> None:
    for said in SAID[:4]:
        assert guard.check(note.format(said.format(6)), [EVIDENCE]).action.value == "emit", (note, said)


def test_the_mark_of_a_note_is_no_citation(guard: Guard) -> None:
    report = guard.check("The approval takes 6 weeks.[^1]\n\n[^1]: It costs 40 euros.", [EVIDENCE])
    assert [issue.code for claim in report.claims for issue in claim.issues] == []
    cited = guard.check("The approval takes 6 weeks.[^a]\n\n[^a]: Approvals handbook", [EVIDENCE])
    assert "citation.fabricated" in [issue.code for claim in cited.claims for issue in claim.issues]


@pytest.mark.parametrize(
    "said", ["The approval does not really take 6 weeks.", "The approval does not in fact take 6 weeks."]
)
def test_stress_is_left_out_and_denial_is_not(guard: Guard, said: str) -> None:
    (claim,) = guard.check(said, [EVIDENCE]).claims
    assert claim.verdict is Verdict.CONTRADICTED
