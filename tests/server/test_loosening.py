"""A caller may ask for more strictness and, unless the operator lists it, not for less."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.gateway_site import play, site
from tests.server.test_api import BODY

from assay.errors import InputError, PolicyError
from assay.policy import PRESETS, preset
from assay.policy.order import at_least_as_strict
from assay.schema import Stakes
from assay.server.http.permitted_options import HEADERS, require_permitted, unknown_headers
from assay.wire import require_held, require_stakes

names = st.sampled_from(sorted(PRESETS))


@given(asked=names, own=names)
def test_a_request_gets_a_policy_that_is_at_least_as_strict_and_no_other(asked: str, own: str) -> None:
    if at_least_as_strict(preset(asked), preset(own)):
        require_permitted(preset(asked), preset(own), None)
    else:
        with pytest.raises(PolicyError, match="at least as strict"):
            require_permitted(preset(asked), preset(own), None)


@given(asked=names, own=names, listed=st.lists(names))
def test_a_list_of_the_operators_says_all(asked: str, own: str, listed: list[str]) -> None:
    if asked in listed:
        require_permitted(preset(asked), preset(own), listed)
    else:
        with pytest.raises(PolicyError, match="may name the policies"):
            require_permitted(preset(asked), preset(own), listed)


def test_a_task_that_is_held_to_nothing_needs_a_listing() -> None:
    with pytest.raises(InputError, match="may not declare it"):
        require_held("creative", preset("general"), ())
    require_held("creative", preset("general"), ("creative",))
    require_held("qa", preset("general"), ())


@pytest.mark.parametrize(
    ("asked", "own", "fine"), [("low", "medium", False), ("high", "medium", True), ("low", "low", True)]
)
def test_stakes_are_raised_and_not_lowered(asked: Any, own: Any, fine: bool) -> None:
    if fine:
        require_stakes(Stakes(asked), Stakes(own))
    else:
        with pytest.raises(InputError, match="may raise the stakes"):
            require_stakes(Stakes(asked), Stakes(own))
    require_stakes(None, Stakes(own))


@given(name=st.from_regex(rb"x-assay-[a-z-]{1,20}", fullmatch=True))
def test_every_header_of_ours_that_there_is_not_is_refused(name: bytes) -> None:
    assert (unknown_headers([(b"accept", b"*"), (name, b"1")]) is None) is (name in HEADERS)


@pytest.mark.parametrize("path", ["/v1/check", "/v1/runs/check", "/v1/batch"])
@pytest.mark.parametrize("listed", [False, True])
def test_a_task_that_is_held_to_nothing_needs_a_listing_over_rest_too(path: str, listed: bool) -> None:
    async def scene() -> None:
        body: dict[str, Any] = {**BODY, "task": "creative"}
        if path == "/v1/batch":
            body = {"requests": [body]}
        if path == "/v1/runs/check":
            run = [{"role": "user", "content": "?"}, {"role": "assistant", "content": BODY["answer"]}]
            body = {"run": run, "evidence": BODY["evidence"], "task": "creative"}
        async with site(settings=lambda told: replace(told, tasks=("creative",) if listed else ())) as here:
            status, _, answer = await here.post(path, body)
            assert (b'"emit"' in answer) is listed
            assert listed or b"may not declare it" in answer
            assert status == (200 if listed or path == "/v1/batch" else 422)

    play(scene)
