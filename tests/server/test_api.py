"""The REST routes: reports, problem documents, health."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.server.gateway_site import limited, play, site
from yarl import URL

from assay.schema import HallucinationReport
from assay.testing import FailingScorer

BODY: dict[str, Any] = {
    "answer": "Partners are entitled to 4 weeks of leave.",
    "evidence": [{"id": "hr-2", "text": "Partners are entitled to 2 weeks of leave."}],
    "question": "How long is partner leave?",
}


def test_a_check_gives_the_report_that_the_library_gives() -> None:
    async def scene() -> None:
        async with site() as here:
            status, _, body = await here.post("/v1/check", BODY)
            report = HallucinationReport.model_validate_json(body)
            direct = here.app._guard_of(None).check(BODY["answer"], BODY["evidence"], question=BODY["question"])
            assert status == 200
            assert report.model_copy(update={"timing": direct.timing}) == direct

    play(scene)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [({"answer": 3}, "/answer"), ({"stakes": "huge"}, "/stakes"), ({"colour": "red"}, "/colour")],
)
def test_a_request_that_is_not_what_it_should_be_is_a_problem_that_names_the_place(
    change: dict[str, Any], pointer: str
) -> None:
    async def scene() -> None:
        async with site() as here:
            status, headers, body = await here.post("/v1/check", {**BODY, **change})
            problem = json.loads(body)
            assert (status, headers["content-type"]) == (422, "application/problem+json")
            assert problem["status"] == 422
            assert problem["errors"][0]["pointer"] == pointer
            assert problem["todo"]

    play(scene)


@pytest.mark.parametrize(
    "change",
    [{"policy": "nonesuch"}, {"policy": "../assay.yaml"}, {"evidence": [{"id": "a"}]}],
)
def test_what_the_library_refuses_is_a_problem(change: dict[str, Any]) -> None:
    async def scene() -> None:
        async with site() as here:
            status, headers, body = await here.post("/v1/check", {**BODY, **change})
            assert (status, headers["content-type"]) == (422, "application/problem+json")
            assert json.loads(body)["type"] == "urn:assay:problem:input.invalid"

    play(scene)


def test_a_verifier_that_fails_leaves_the_claim_unchecked_and_the_output_withheld() -> None:
    async def scene() -> None:
        async with site(scorer=FailingScorer()) as here:
            status, _, body = await here.post("/v1/check", {**BODY, "answer": "Partners travel a lot."})
            report = json.loads(body)
            assert status == 200
            assert report["claims"][0]["verdict"] == "unchecked"
            assert report["action"] != "emit"

    play(scene)


def test_a_run_is_checked_with_its_calls_and_its_answer() -> None:
    async def scene() -> None:
        async with site() as here:
            run = [
                {"role": "user", "content": "Please write to Anna."},
                {"role": "assistant", "content": "I have sent the e-mail to Anna."},
            ]
            status, _, body = await here.post("/v1/runs/check", {"run": run})
            assert (status, json.loads(body)["action"]) == (200, "block")
            status, headers, body = await here.post("/v1/runs/check", {"run": {"a": 1}})
            assert (status, headers["content-type"]) == (422, "application/problem+json")

    play(scene)


def test_one_bad_request_of_a_batch_does_not_keep_the_others_from_their_reports() -> None:
    async def scene() -> None:
        async with site() as here:
            status, _, body = await here.post("/v1/batch", {"requests": [BODY, {**BODY, "policy": "nonesuch"}, BODY]})
            results = json.loads(body)["results"]
            assert status == 200
            assert [bool(result["report"]) for result in results] == [True, False, True]
            assert results[1]["problem"]["instance"] == "#/requests/1"

    play(scene)


def test_a_batch_and_a_body_have_their_limits() -> None:
    async def scene() -> None:
        async with site(settings=limited(batch=2, body_bytes=5_000)) as here:
            status, _, body = await here.post("/v1/batch", {"requests": [BODY] * 3})
            assert (status, "at most 2" in json.loads(body)["detail"]) == (422, True)
            status, headers, _ = await here.post("/v1/check", {**BODY, "answer": "x" * 6_000})
            assert (status, headers["content-type"]) == (413, "application/problem+json")

    play(scene)


@pytest.mark.parametrize(
    "path",
    ["/v1/models/../responses/resp_1", "/v1/models/%2e%2e/responses/resp_1", "/v1/models/a%3Fb", "/v1/completions"],
)
def test_no_path_leads_around_the_gate(path: str) -> None:
    async def scene() -> None:
        async with site() as here:
            url = URL(f"{here.url}{path}", encoded=True)
            async with here.http.get(url) as response:
                assert response.status == 404
            assert here.upstream.asked == []

    play(scene)


def test_health_readiness_and_the_openapi_document_need_nothing() -> None:
    async def scene() -> None:
        async with site() as here:
            for path in ("/healthz", "/readyz", "/openapi.json"):
                async with here.http.get(here.url + path) as response:
                    assert response.status == 200
            async with here.http.get(f"{here.url}/openapi.json") as response:
                paths = (await response.json())["paths"]
            assert {"/v1/check", "/v1/batch", "/v1/runs/check", "/healthz", "/readyz"} <= set(paths)

    play(scene)


def test_a_route_that_does_not_exist_is_a_problem_and_a_gateway_route_an_error_of_its_format() -> None:
    async def scene() -> None:
        async with site() as here:
            async with here.http.get(f"{here.url}/v1/nothing") as response:
                assert (response.status, response.content_type) == (404, "application/problem+json")
            async with here.http.get(f"{here.url}/v1/chat/completions") as response:
                assert response.status == 404
                assert "error" in await response.json()
            async with here.http.get(f"{here.url}/v1/responses/resp_1") as response:
                assert response.status == 404
            assert here.upstream.asked == []

    play(scene)


def test_a_page_of_a_browser_on_another_host_is_not_served_without_a_key() -> None:
    async def scene() -> None:
        async with site() as here:
            foreign = (
                {"Origin": "https://evil.example"},
                {"Host": "evil.example"},
                {"Origin": "http://localhost:3000"},
            )
            for header in foreign:
                async with here.http.post(f"{here.url}/v1/check", json=BODY, headers=header) as response:
                    assert response.status == 403
            async with here.http.post(f"{here.url}/v1/check", json=BODY, headers={"Origin": here.url}) as response:
                assert response.status == 200

    play(scene)


DOCUMENT: dict[str, Any] = {
    "answer": json.dumps({"start": "2024-05-03", "end": "2024-05-01", "note": "see the contract"}),
    "evidence": [{"id": "c-1", "text": "The contract begins on 2024-05-03 and ends on 2024-05-01."}],
    "schema": {"type": "object", "properties": {"start": {"type": "string"}, "end": {"type": "string"}}},
}


def codes(report: HallucinationReport) -> set[str]:
    return {issue.code for issue in report.issues} | {issue.code for claim in report.claims for issue in claim.issues}


def test_a_document_is_held_to_the_rules_that_come_with_its_schema_as_in_the_library() -> None:
    structure = {"rules": [{"rule": "order", "of": "/start", "to": "/end"}], "skip": ["/note"]}

    async def scene() -> None:
        async with site(settings=lambda told: replace(told, skip=("/note",))) as here:
            _, _, body = await here.post("/v1/check", {**DOCUMENT, "structure": structure})
            report = HallucinationReport.model_validate_json(body)
            guard = here.app._guard_of(None)
            schema = DOCUMENT["schema"]
            direct = guard.check(DOCUMENT["answer"], DOCUMENT["evidence"], schema=schema, structure=structure)
            assert report.model_copy(update={"timing": direct.timing}) == direct
            _, _, body = await here.post("/v1/check", DOCUMENT)
            loose = HallucinationReport.model_validate_json(body)
            assert codes(report) - codes(loose) == {"structure.rule"}
            assert report.action.value != "emit"
            verdicts = [{claim.path: claim.verdict.value for claim in one.claims}["/note"] for one in (loose, report)]
            assert verdicts == ["unsupported", "not_checkable"]

    play(scene)


def test_evidence_that_has_expired_by_the_day_asked_about_is_told_of() -> None:
    evidence = [{"id": "p-1", "text": "The price is 40 euros.", "expiry_date": "2025-01-31"}]
    asked = {"answer": "The price is 40 euros.", "evidence": evidence}

    async def scene() -> None:
        async with site() as here:
            reports = []
            for day in ("2025-01-30", "2025-06-01"):
                status, _, body = await here.post("/v1/check", {**asked, "as_of": day})
                assert status == 200
                reports.append(HallucinationReport.model_validate_json(body))
            assert not any(code.startswith("evidence.expired") for code in codes(reports[0]))
            direct = here.app._guard_of(None).check(asked["answer"], evidence, as_of="2025-06-01")
            assert reports[1].model_copy(update={"timing": direct.timing}) == direct
            assert reports[1] != reports[0].model_copy(update={"timing": reports[1].timing})

    play(scene)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"as_of": "yesterday"}, "/as_of"),
        ({"as_of": 1_700_000_000}, "/as_of"),
        ({"structure": {"rules": [{"rule": "order", "of": "/a"}]}}, "/structure/rules/0"),
        ({"structure": {"colour": "red"}}, "/structure/colour"),
    ],
)
def test_a_structure_or_a_day_that_cannot_be_read_is_a_problem_that_names_the_place(
    change: dict[str, Any], pointer: str
) -> None:
    async def scene() -> None:
        async with site() as here:
            status, headers, body = await here.post("/v1/check", {**BODY, **change})
            assert (status, headers["content-type"]) == (422, "application/problem+json")
            assert json.loads(body)["errors"][0]["pointer"] == pointer

    play(scene)


def test_the_openapi_document_tells_of_structure_and_day() -> None:
    async def scene() -> None:
        async with site() as here, here.http.get(f"{here.url}/openapi.json") as response:
            schemas = (await response.json())["components"]["schemas"]
            told = schemas["CheckBody"]["properties"]
            assert {"type": "string", "format": "date"} in told["as_of"]["anyOf"]
            assert {"$ref": "#/components/schemas/Structure"} in told["structure"]["anyOf"]
            assert {"rules", "references", "cited", "skip", "leaves"} == set(schemas["Structure"]["properties"])

    play(scene)
