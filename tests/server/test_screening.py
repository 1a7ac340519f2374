"""`POST /v1/screen`: the retrieval gate over REST."""

import json
from typing import Any

from tests.server.gateway_site import play, site

from assay.guard import Guard
from assay.testing import FakeScorer

ASKED = "How long is parental leave for partners?"
PASSAGES: list[Any] = [
    {"id": "old", "text": "Partners get 2 weeks of parental leave.", "metadata": {"document_id": "hr", "version": 1}},
    {"id": "new", "text": "Partners get 4 weeks of parental leave.", "metadata": {"document_id": "hr", "version": 2}},
]


def test_rest_says_the_same_as_the_guard() -> None:
    async def scene() -> None:
        async with site() as here:
            asked = {"question": ASKED, "passages": PASSAGES, "as_of": "2026-06-01"}
            status, _, got = await here.post("/v1/screen", asked)
            assert status == 200
            direct = Guard("general", scorer=FakeScorer()).screen(ASKED, PASSAGES, as_of="2026-06-01")
            assert json.loads(got) == direct.model_dump(mode="json")
            assert json.loads(got)["kept"] == ["new"]
            status, _, got = await here.post("/v1/screen", {"question": ASKED, "passages": []})
            assert (status, json.loads(got)["signal"]) == (200, "refuse")

    play(scene)


def test_what_it_does_not_describe_is_refused() -> None:
    async def scene() -> None:
        async with site() as here:
            bad: list[Any] = [
                {},
                {"question": ASKED},
                {"question": " ", "passages": []},
                {"question": ASKED, "passages": [7]},
                {"question": ASKED, "passages": [{"title": "x"}]},
                {"question": ASKED, "passages": [], "x": 1},
                {"question": ASKED, "passages": [], "as_of": "soon"},
                {"question": ASKED, "passages": [], "policy": "no"},
                {"question": ASKED, "passages": ["a"] * 1_001},
            ]
            for body in bad:
                status, headers, _ = await here.post("/v1/screen", body)
                assert (status, headers["content-type"]) == (422, "application/problem+json"), body

    play(scene)
