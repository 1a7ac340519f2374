"""The examples of the playground are judged right, by the verifier that ships with the package."""

import pytest

from assay.config import Guard
from assay.policy import preset
from assay.schema import Action, Verdict
from assay.server.console.pages.playground import EXAMPLES, passages

EXPECTED = {
    "leave": (Action.BLOCK, {"4 weeks": "contradicted", "six months": "supported", "Adoptive": "unsupported"}),
    "returns": (Action.EMIT, {"30 days": "supported", "5 working days": "supported"}),
    "dose": (Action.BLOCK, {"6 hours": "contradicted", "with food": "supported", "children": "unsupported"}),
    "contract": (Action.BLOCK, {"three months": "supported", "at once": "unsupported"}),
    "unknown": (Action.EMIT, {}),
}


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard(preset("general"), environ={})


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_judged_as_a_careful_reader_would(guard: Guard, name: str) -> None:
    one, (action, verdicts) = EXAMPLES[name], EXPECTED[name]
    report = guard.check(one["answer"], passages(one["evidence"]), question=one["question"])
    assert report.action is action
    for words, verdict in verdicts.items():
        found = [claim.verdict for claim in report.claims if words in claim.text]
        assert found == [Verdict(verdict)], (words, found)
