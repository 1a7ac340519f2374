"""The review queue over REST: claims, decisions, waiting callers, streams."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.scorers import Steady
from tests.server.gateway_site import Site, play, site

from assay.receipt import open_keys, verify
from assay.receipt.store import KeyStore
from assay.schema import HallucinationReport, Stakes
from assay.schema.access import PERMISSIONS, Permission, Role
from assay.server.caller import Caller
from assay.store.db.store import Store

EVIDENCE = [{"id": "hr-2", "text": "Partners are entitled to 2 weeks of leave."}]
HELD: dict[str, Any] = {
    "answer": "Everybody may be absent for a while.",
    "evidence": EVIDENCE,
    "question": "How long is partner leave?",
    "stakes": "high",
}
"""Weakly supported: under `support-desk` a person decides."""
RIGHT = "Partners are entitled to 2 weeks of leave."
WRONG = "Partners are entitled to 4 weeks of leave."


class Desk:
    """A client of the review routes of a site."""

    def __init__(self, here: Site) -> None:
        self.here = here

    async def held(self, **query: Any) -> str:
        """Have an output held; its id."""
        status, headers, body = await self.here.post("/v1/check", HELD)
        assert (status, json.loads(body)["action"]) == (200, "escalate"), body
        assert headers["x-assay-review-state"] == "open"
        return headers["x-assay-review"]

    async def get(self, path: str) -> tuple[int, Any, dict[str, str]]:
        async with self.here.http.get(self.here.url + "/v1/reviews" + path) as answer:
            return answer.status, json.loads(await answer.read()), {k.lower(): v for k, v in answer.headers.items()}

    async def act(self, id_: str, verb: str, body: Any = None, etag: str | None = None) -> tuple[int, Any]:
        headers = {} if etag is None else {"if_match": etag}
        status, _, said = await self.here.post(f"/v1/reviews/{id_}/{verb}", body or {}, **headers)
        return status, json.loads(said)

    async def decide(self, id_: str, act: str, **more: Any) -> tuple[int, Any]:
        _, _, headers = await self.get(f"/{id_}")
        body = {"act": act, "reason": "I have read the handbook.", **more}
        return await self.act(id_, "decision", body, headers["etag"])


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store(str(tmp_path / "assay.db")) as made:
        yield made


def test_a_held_output_is_in_the_queue_with_its_package(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk", scorer=Steady(0.06)) as here:
            desk = Desk(here)
            id_ = await desk.held()
            _, page, _ = await desk.get("")
            assert [item["id"] for item in page["items"]] == [id_]
            assert page["waiting"] == {"async": 1, "sync": 0, "blocking": 0}
            status, told, headers = await desk.get(f"/{id_}")
            package = told["package"]
            assert (status, headers["etag"]) == (200, '"1"')
            assert package["output"] == HELD["answer"]
            assert package["task_context"]["question"] == HELD["question"]
            assert package["evidence_used"][0]["text"] == EVIDENCE[0]["text"]
            assert package["confidence_breakdown"]["risk"] == pytest.approx(package["risk"])
            assert [event["act"] for event in told["events"]] == ["open"]

    play(scene)


def test_an_approved_output_goes_to_the_caller_who_waits(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk = Desk(here)
            waiting = asyncio.create_task(here.post("/v1/check?wait=20", HELD))
            while not (page := (await desk.get(""))[1]["items"]):
                await asyncio.sleep(0.02)
            status, item = await desk.decide(page[0]["id"], "approve", claims={"0": "supported"})
            assert (status, item["state"]) == (200, "approved")
            status, headers, body = await waiting
            report = HallucinationReport.model_validate_json(body)
            assert (status, report.action.value, report.decision.route) == (200, "emit", "serve_approved")
            assert report.output == HELD["answer"]
            assert headers["x-assay-review-state"] == "approved"
            assert headers["x-assay-report-id"] != headers["x-assay-review"]

    play(scene)


def test_a_request_that_is_sent_again_waits_for_the_same_person_and_is_told_of_what_was_decided(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk, key = Desk(here), {"idempotency_key": "k-1"}
            first = [await here.post("/v1/check", HELD, **key) for _ in range(2)]
            assert [headers["x-assay-review-state"] for _, headers, _ in first] == ["open", "open"]
            ((id_,),) = ({headers["x-assay-review"] for _, headers, _ in first},)
            waiting = asyncio.create_task(here.post("/v1/check?wait=20", HELD, **key))
            await desk.decide(id_, "approve", claims={"0": "supported"})
            for status, headers, body in (await waiting, await here.post("/v1/check", HELD, **key)):
                assert (status, json.loads(body)["action"], headers["x-assay-review-state"]) == (
                    200,
                    "emit",
                    "approved",
                )
            assert len((await desk.get("?state=approved"))[1]["items"]) == 1

    play(scene)


def test_a_caller_whose_time_is_up_gets_the_report_and_may_ask_again(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            status, headers, body = await here.post("/v1/check?wait=0.05", HELD)
            assert (status, json.loads(body)["action"], headers["x-assay-review-state"]) == (200, "escalate", "open")
            desk = Desk(here)
            asked = asyncio.create_task(desk.get(f"/{headers['x-assay-review']}?wait=20"))
            await asyncio.sleep(0.05)
            await desk.decide(headers["x-assay-review"], "reject", response="Please ask the office.")
            _, told, _ = await asked
            assert told["item"]["state"] == "rejected"
            assert told["report"]["action"] == "block"
            assert told["report"]["decision"]["response"] == "Please ask the office."

    play(scene)


def test_edited_words_are_checked_and_what_the_gate_blocks_is_not_let_out(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk = Desk(here)
            id_ = await desk.held()
            status, problem = await desk.decide(id_, "edit", text=WRONG, accept=True)
            assert (status, "block" in problem["detail"]) == (422, True)
            status, problem = await desk.decide(id_, "edit", text=HELD["answer"])
            assert (status, "escalate" in problem["detail"]) == (422, True)
            status, found = await desk.act(id_, "check", {"text": RIGHT})
            assert (status, found["action"]) == (200, "emit")
            status, item = await desk.decide(id_, "edit", text=RIGHT)
            assert (status, item["state"], item["outcome"]["output"]) == (200, "edited", RIGHT)
            _, told, _ = await desk.get(f"/{id_}")
            assert told["report"]["output"] == RIGHT
            assert told["report"]["action"] == "emit"

    play(scene)


def test_a_decision_names_the_version_that_was_seen_and_is_made_once(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk = Desk(here)
            id_ = await desk.held()
            body = {"act": "approve", "reason": "It holds."}
            assert (await desk.act(id_, "decision", body))[0] == 428
            assert (await desk.act(id_, "claim"))[0] == 200
            assert (await desk.act(id_, "decision", body, '"1"'))[0] == 412
            assert (await desk.act(id_, "decision", body, '"2"'))[0] == 200
            status, problem = await desk.act(id_, "decision", body, '"3"')
            assert (status, problem["type"]) == (409, "urn:assay:problem:review.decided")
            assert (await desk.act("0" * 32, "decision", body, '"1"'))[0] == 404

    play(scene)


def test_evidence_that_was_asked_for_is_given_and_the_output_checked_against_it(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk = Desk(here)
            id_ = await desk.held()
            _, item = await desk.decide(id_, "ask_evidence")
            assert item["state"] == "evidence"
            more = {"id": "hr-9", "text": "Everybody may be absent for a while."}
            status, item = await desk.act(id_, "evidence", {"evidence": [more]})
            assert (status, item["state"]) == (200, "open")
            assert (await desk.act(id_, "evidence", {"evidence": [more]}))[0] == 422
            _, told, _ = await desk.get(f"/{id_}")
            assert [one["id"] for one in told["package"]["evidence_used"]] == ["hr-2", "hr-9"]
            assert told["package"]["verification_report"]["overall_score"] > 0.9

    play(scene)


def test_a_stream_of_events_ends_with_the_decision(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk = Desk(here)
            id_ = await desk.held()
            async with here.http.get(f"{here.url}/v1/reviews/{id_}/events") as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                first = await stream.content.readuntil(b"\n\n")
                await desk.decide(id_, "approve")
                rest = await stream.content.read()
            states = [json.loads(part.split(b"data: ")[1])["state"] for part in (first + rest).split(b"\n\n") if part]
            assert (states[0], states[-1]) == ("open", "approved")

    play(scene)


def test_the_rows_of_what_was_decided_are_json_lines(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk = Desk(here)
            await desk.decide(await desk.held(), "edit", text=RIGHT)
            async with here.http.get(here.url + "/v1/reviews/rows") as answer:
                rows = [json.loads(line) for line in (await answer.text()).splitlines()]
            assert [(row["answer"], row["label"]) for row in rows] == [
                (RIGHT, "supported"),
                (HELD["answer"], "not_supported"),
            ]

    play(scene)


class Gatekeeper:
    """Lets in whoever a header names."""

    def __init__(self, **callers: Caller) -> None:
        self.callers = callers

    async def caller(self, scope: Any) -> Caller:
        named = dict(scope["headers"]).get(b"x-who", b"ann").decode()
        return self.callers[named]


def _person(name: str, *roles: Role, tenant: str = "default", kind: str = "user") -> Caller:
    return Caller(name, frozenset().union(*(PERMISSIONS[role] for role in roles)), tenant, kind)


def test_who_may_do_what(store: Store) -> None:
    people = Gatekeeper(
        ann=_person("ann", Role.REVIEWER),
        bob=_person("bob", Role.REVIEWER),
        eve=_person("eve", Role.VIEWER),
        other=_person("ann", Role.ADMIN, tenant="other"),
        app=Caller("app", frozenset({Permission.CHECK}), kind="key"),
    )

    async def scene() -> None:
        async with site(store=store, policy="support-desk", access=people) as here:
            _, headers, _ = await here.post("/v1/check", HELD, x_who="app")
            id_ = headers["x-assay-review"]

            async def ask(who: str, path: str, body: Any = None, **more: str) -> tuple[int, Any]:
                if body is None:
                    async with here.http.get(here.url + path, headers={"x-who": who}) as answer:
                        return answer.status, json.loads(await answer.read())
                status, _, said = await here.post(path, body, x_who=who, **more)
                return status, json.loads(said)

            assert (await ask("eve", f"/v1/reviews/{id_}"))[0] == 200
            assert (await ask("eve", f"/v1/reviews/{id_}/claim", {}))[0] == 403
            assert (await ask("other", f"/v1/reviews/{id_}"))[0] == 404
            assert (await ask("other", f"/v1/reviews/{id_}/claim", {}))[0] == 404
            assert (await ask("other", "/v1/reviews"))[1]["items"] == []
            assert (await ask("app", "/v1/reviews"))[0] == 403
            assert (await ask("ann", f"/v1/reviews/{id_}/claim", {}))[0] == 200
            assert (await ask("bob", f"/v1/reviews/{id_}/claim", {}))[0] == 409
            assert (await ask("bob", f"/v1/reviews/{id_}/release", {}))[0] == 409
            said = {"act": "approve", "reason": "Inner words."}
            assert (await ask("ann", f"/v1/reviews/{id_}/decision", said, if_match='"2"'))[0] == 200
            status, told = await ask("app", f"/v1/reviews/{id_}")
            assert (status, told["package"], told["events"]) == (200, None, [])
            assert told["report"]["action"] == "emit"
            assert "Inner words." not in json.dumps(told)

    play(scene)


def test_what_is_released_has_a_receipt_for_the_very_words(store: Store, tmp_path: Path) -> None:
    KeyStore(tmp_path / "keys").create(datetime.now(UTC))
    environ = {"ASSAY_RECEIPT_KEYS": str(tmp_path / "keys")}

    async def scene() -> None:
        async with site(store=store, policy="support-desk", environ=environ) as here:
            desk = Desk(here)
            id_ = await desk.held()
            _, item = await desk.decide(id_, "edit", text=RIGHT)
            receipt = item["outcome"]["receipt"]
            assert verify(RIGHT, receipt, open_keys(tmp_path / "keys").ring()).valid
            assert not verify(HELD["answer"], receipt, open_keys(tmp_path / "keys").ring()).valid
            second = await desk.held()
            _, item = await desk.decide(second, "approve")
            assert verify(HELD["answer"], item["outcome"]["receipt"], open_keys(tmp_path / "keys").ring()).valid

    play(scene)


BLOCKED = HELD | {"answer": WRONG}
"""Contradicted, at high stakes."""


def test_what_is_blocked_at_high_stakes_is_answered_at_once_and_seen_by_somebody_senior(store: Store) -> None:
    async def scene() -> None:
        async with site(
            store=store, policy="support-desk", settings=lambda told: replace(told, stakes=Stakes.LOW)
        ) as here:
            desk = Desk(here)
            status, headers, body = await here.post("/v1/check?wait=30", BLOCKED)
            assert (status, json.loads(body)["action"], headers["x-assay-review-state"]) == (200, "block", "open")
            _, told, _ = await desk.get(f"/{headers['x-assay-review']}")
            assert (told["item"]["tier"], told["package"]["output"]) == ("blocking", WRONG)
            status, _, body = await here.post("/v1/check", BLOCKED | {"stakes": "low"})
            assert json.loads(body)["action"] == "block"
            assert len((await desk.get(""))[1]["items"]) == 1

    play(scene)


def test_nobody_releases_what_is_blocked_as_it_is_but_other_words_go_out(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            desk = Desk(here)
            _, headers, _ = await here.post("/v1/check", BLOCKED)
            id_ = headers["x-assay-review"]
            status, said = await desk.decide(id_, "approve")
            assert (status, "nobody can release it" in said["detail"]) == (422, True)
            status, item = await desk.decide(id_, "edit", text=RIGHT)
            assert (status, item["state"], item["outcome"]["output"]) == (200, "edited", RIGHT)

    play(scene)


@pytest.mark.parametrize(
    "text", [RIGHT, f"  {RIGHT}\r\n", f"{RIGHT} \U0001f642", f"{RIGHT}\u200b", f"Cafe\u0301: {RIGHT}"]
)
def test_the_words_of_an_edit_are_the_same_in_the_item_the_report_and_the_receipt(
    store: Store, tmp_path: Path, text: str
) -> None:
    KeyStore(tmp_path / "keys").create(datetime.now(UTC))
    environ = {"ASSAY_RECEIPT_KEYS": str(tmp_path / "keys")}

    async def scene() -> None:
        async with site(store=store, policy="support-desk", environ=environ) as here:
            desk = Desk(here)
            id_ = await desk.held()
            status, item = await desk.decide(id_, "edit", text=text, accept=True)
            assert status == 200, item
            _, told, _ = await desk.get(f"/{id_}")
            async with here.http.get(f"{here.url}/v1/reports/{item['report']}") as answer:
                stored = json.loads(await answer.read())
            assert answer.status == 200, stored
            assert item["outcome"]["output"] == told["report"]["output"] == stored["report"]["output"] == text
            assert verify(text, item["outcome"]["receipt"], open_keys(tmp_path / "keys").ring()).valid

    play(scene)


def test_a_callback_that_nobody_configured_is_refused(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk") as here:
            status, _, body = await here.post("/v1/check?callback=https%3A%2F%2Fevil.example", HELD)
            assert (status, json.loads(body)["type"]) == (422, "urn:assay:problem:callback.unknown")

    play(scene)
