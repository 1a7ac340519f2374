"""What several answers to one request come to, through the guard and over REST."""

import json
from typing import Any

import pytest
from tests.server.gateway_site import play, site

from assay.errors import InputError
from assay.guard import Guard
from assay.testing import FakeScorer

FIRST = "The door costs 7 euros. It is green."
OTHER = "The door costs 7 euros."
THIRD = "The door costs 7 euros. It was made in Ghent."


def test_what_most_answers_say_is_kept_and_what_few_say_is_dropped() -> None:
    found = Guard("general", scorer=FakeScorer()).consensus([FIRST, OTHER, THIRD])
    assert found.text == OTHER
    rest = " ".join((*found.uncertain, *found.dropped))
    assert "green" in rest
    assert "Ghent" in rest
    assert (found.asked, len(found.answers)) == (3, 3)


@pytest.mark.parametrize("answers", [[], [FIRST, " "], [7]])
def test_no_answer_and_what_is_no_text_are_refused(answers: Any) -> None:
    with pytest.raises(InputError):
        Guard("general", scorer=FakeScorer()).consensus(answers)


def test_rest_says_the_same_and_refuses_what_it_does_not_describe() -> None:
    async def scene() -> None:
        async with site() as here:
            status, _, got = await here.post("/v1/consensus", {"answers": [FIRST, OTHER, THIRD]})
            direct = Guard("general", scorer=FakeScorer()).consensus([FIRST, OTHER, THIRD])
            told = json.loads(got)
            assert (status, told["text"], told["answers"]) == (200, OTHER, 3)
            assert (told["uncertain"], told["dropped"]) == (list(direct.uncertain), list(direct.dropped))
            assert told["agreement"] == direct.agreement.score
            bad: list[Any] = [{}, {"answers": []}, {"answers": [""]}, {"answers": [FIRST] * 21}]
            for body in (*bad, {"answers": [FIRST], "x": 1}):
                status, headers, _ = await here.post("/v1/consensus", body)
                assert (status, headers["content-type"]) == (422, "application/problem+json")

    play(scene)
