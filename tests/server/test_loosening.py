"""A caller may ask for more strictness and, unless the operator lists it, not for less."""

import json
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.gateway_site import play, site
from tests.server.test_api import BODY

from assay.errors import InputError, PolicyError
from assay.policy import PRESETS, preset
from assay.policy.order import at_least_as_strict
from assay.schema import HallucinationReport, Stakes, Structure
from assay.server.http.permitted_options import (
    HEADERS,
    NAMES_POLICY,
    OPTIONS,
    require_claims,
    require_permitted,
    unknown_headers,
)
from assay.server.settings import ServerSettings, parse_settings
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


RUN = [{"role": "user", "content": "?"}, {"role": "assistant", "content": BODY["answer"]}]


def sent(path: str, **more: Any) -> dict[str, Any]:
    """A check for a route, with further members."""
    if path == "/v1/batch":
        return {"requests": [{**BODY, **more}]}
    return {"run": RUN, "evidence": BODY["evidence"], **more} if path == "/v1/runs/check" else {**BODY, **more}


def told(path: str, answer: bytes) -> tuple[str | None, str]:
    """The stakes of the report that an answer has, and the text of its problem."""
    found = json.loads(answer)
    found = found["results"][0] if path == "/v1/batch" else {"report": found, "problem": found}
    report, problem = found["report"] or {}, found["problem"] or {}
    return report.get("stakes"), problem.get("detail", "")


@pytest.mark.parametrize("path", ["/v1/check", "/v1/runs/check", "/v1/batch"])
@pytest.mark.parametrize("own", list(Stakes))
def test_a_request_over_rest_has_the_operators_stakes_or_higher_ones(path: str, own: Stakes) -> None:
    order = list(Stakes)

    async def scene() -> None:
        async with site(settings=lambda settings: replace(settings, stakes=own)) as here:
            _, _, answer = await here.post(path, sent(path))
            assert told(path, answer)[0] == own.value
            for asked in Stakes:
                status, _, answer = await here.post(path, sent(path, stakes=asked.value))
                stakes, problem = told(path, answer)
                if order.index(asked) >= order.index(own):
                    assert (status, stakes) == (200, asked.value)
                else:
                    assert status == (200 if path == "/v1/batch" else 422)
                    assert stakes is None
                    assert f"may raise the stakes from {own.value}" in problem

    play(scene)


POINTERS = st.lists(st.sampled_from(["/a", "/b", "/0", "/*"]), max_size=3).map("".join)


@given(asked=st.lists(POINTERS, max_size=3), listed=st.lists(POINTERS, max_size=3))
def test_a_value_may_be_declared_to_be_no_claim_where_it_or_what_it_stands_in_is_listed(
    asked: list[str], listed: list[str]
) -> None:
    def within(pointer: str, outer: str) -> bool:
        inner, names = pointer.split("/")[1:], outer.split("/")[1:]
        return (
            inner[: len(names)] == names
            or ["*" if name == "*" else own for name, own in zip(names, inner, strict=False)] == names
        )

    if all(any(within(one, outer) for outer in listed) for one in asked):
        require_claims(Structure(skip=tuple(asked)), listed)
    else:
        with pytest.raises(InputError, match="under `skip`"):
            require_claims(Structure(skip=tuple(asked)), listed)


LIE: dict[str, Any] = {
    "answer": json.dumps({"rule": "Partners are entitled to 2 weeks of leave.", "note": "Partners get 40 weeks."}),
    "evidence": BODY["evidence"],
}


@pytest.mark.parametrize("carried", [{"schema": True}, {"schema": {"x-assay": {"skip": ["/note"]}}}])
@pytest.mark.parametrize("listed", [False, True])
def test_a_lie_is_not_declared_to_be_no_claim_unless_the_operator_lists_it(carried: Any, listed: bool) -> None:
    named = {"structure": {"skip": ["/note"]}} if carried["schema"] is True else {}

    async def scene() -> None:
        async with site(settings=lambda settings: replace(settings, skip=("/note",) if listed else ())) as here:
            status, _, answer = await here.post("/v1/check", {**LIE, **carried, **named})
            assert status == (200 if listed else 422)
            if listed:
                assert HallucinationReport.model_validate_json(answer).action == "emit"
            else:
                assert "may not declare values to be no claims" in json.loads(answer)["detail"]
            status, _, answer = await here.post("/v1/batch", {"requests": [{**LIE, **carried, **named}]})
            assert (b'"emit"' in answer) is listed

    play(scene)


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_route_reads_a_header_of_ours_or_refuses_it(name: bytes) -> None:
    """Every path of the document, and the pages: whoever asks for more strictness where nobody reads it is told so."""

    async def scene() -> None:
        async with site() as here, here.http.get(f"{here.url}/openapi.json") as document:
            paths = [path for path in (await document.json())["paths"] if path not in NAMES_POLICY]
            for path in [*paths, "/console", "/nowhere"]:
                method = "POST" if path.startswith("/v1") else "GET"
                asked = here.http.request(method, here.url + path, json={}, headers={name.decode(): "high-stakes"})
                async with asked as answer:
                    assert answer.status == 400, path
                    assert f"{name.decode()} is not read at {path}" in (await answer.json())["detail"]
            for path in NAMES_POLICY:
                status, _, _ = await here.post(path, {}, **{name.decode().replace("-", "_"): "high-stakes"})
                assert status == (422 if name == b"x-assay-policy" else 400)

    play(scene)


def test_the_header_of_the_policy_is_honoured_wherever_it_may_stand() -> None:
    async def scene() -> None:
        async with site() as here:
            for path in ("/v1/check", "/v1/runs/check", "/v1/batch"):
                for policy, wanted in (("high-stakes", "high-stakes"), ("creative", None)):
                    _, _, answer = await here.post(path, sent(path), x_assay_policy=policy)
                    found = json.loads(answer)
                    found = found["results"][0]["report"] if path == "/v1/batch" else found
                    assert (found or {}).get("policy", {}).get("name") == wanted
                _, _, answer = await here.post(path, sent(path, policy="general"), x_assay_policy="high-stakes")
                assert b"give one" in answer
            screened = {"question": "How long?", "passages": ["Two weeks."]}
            for policy, wanted_status in (("high-stakes", 200), ("creative", 422)):
                assert (await here.post("/v1/screen", screened, x_assay_policy=policy))[0] == wanted_status

    play(scene)


@pytest.mark.parametrize("path", ["/v1/check", "/v1/chat/completions"])
def test_a_header_that_comes_twice_is_refused(path: str) -> None:
    async def scene() -> None:
        async with site() as here:
            headers = [("x-assay-policy", "high-stakes"), ("x-assay-policy", "general")]
            async with (
                aiohttp.ClientSession() as http,
                http.post(here.url + path, json=BODY, headers=headers) as answer,
            ):
                assert answer.status == 400
                assert "one header x-assay-policy" in await answer.text()

    play(scene)


def test_a_gateway_file_sets_the_stakes_and_what_may_be_skipped() -> None:
    given = {"stakes": "high", "skip": ["/confidence"], "routes": {"messages": {"stakes": "low"}}}
    found = parse_settings(given, {}, ServerSettings())
    assert (found.stakes, found.skip, found.route("messages").stakes) == (Stakes.HIGH, ("/confidence",), Stakes.LOW)
    for wrong in ({"stakes": "huge"}, {"stakes": None}, {"skip": "/a"}, {"skip": ["a"]}, {"skip": [1]}):
        with pytest.raises(PolicyError, match=r"stakes low, medium or high|list of JSON Pointers"):
            parse_settings(wrong, {}, ServerSettings())
