"""What is remembered, over REST: reports and what belongs to them, feedback, policies, retention, the audit log."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway_site import Site, play, site
from tests.server.test_api import BODY
from tests.store.making import KEY, KEYS, RING, record_of

from assay.schema.access import PERMISSIONS, Permission, Role
from assay.server.audit import router
from assay.server.audit.settings import AuditSettings
from assay.server.audit.timers import anchor_of, apply_all_rules
from assay.server.caller import Caller
from assay.server.http.admission import Refusal
from assay.server.settings import ServerSettings, parse_settings
from assay.store.audit import standalone
from assay.store.audit.merkle.anchors import read_notes
from assay.store.audit.merkle.checkpoint import open_checkpoint
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.merkle.proofs import read_proof
from assay.store.audit.verification.log import verify_log
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records.retention import Rule, write_rules


class Named:
    """Lets in whoever says who they are: role and tenant stand in a header."""

    async def caller(self, scope: Any) -> Caller | Refusal:
        said = dict(scope["headers"]).get(b"x-test-caller", b"admin/default").decode()
        role, tenant = said.split("/")
        return Caller(role, PERMISSIONS[Role(role)] if role != "nobody" else frozenset(), tenant, "key")


@asynccontextmanager
async def kept(tmp_path: Path, **more: Any) -> AsyncIterator[tuple[Site, Store]]:
    with Store(str(tmp_path / "assay.db")) as store:
        async with site(store=store, **{"keys": KEYS, "access": Named(), **more}) as here:
            yield here, store


async def get(here: Site, path: str, who: str = "admin/default") -> tuple[int, Any]:
    async with here.http.get(here.url + path, headers={"x-test-caller": who}) as response:
        body = await response.read()
        return response.status, json.loads(body) if response.content_type.endswith("json") else body


async def send(here: Site, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with here.http.request(method, here.url + path, json=body, headers=named) as response:
        text = await response.read()
        told = json.loads(text) if response.content_type.endswith("json") else text
        return response.status, told, response.headers


def test_a_report_is_found_read_and_told_of_in_all_its_parts(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            _, headers, body = await here.post("/v1/check", BODY)
            id_, report = headers["x-assay-report-id"], json.loads(body)
            status, page = await get(here, "/v1/reports?q=weeks+4&action=block&verdict=contradicted&limit=5")
            (line,) = page["items"]
            assert (status, line["id"], line["question"], page["next"]) == (200, id_, BODY["question"], None)
            _, found = await get(here, f"/v1/reports/{id_}")
            assert found["report"]["claims"] == report["claims"]
            assert found["asked"]["answer"] == BODY["answer"]
            assert found["decisions"][0]["actor"] == "gate"
            _, claims = await get(here, f"/v1/reports/{id_}/claims")
            assert claims["items"][0]["evidence_spans"] == report["claims"][0]["evidence_spans"]
            _, evidence = await get(here, f"/v1/reports/{id_}/evidence")
            assert evidence["items"][0]["evidence"]["text"] == BODY["evidence"][0]["text"]
            assert await get(here, f"/v1/reports/{id_}/tool-calls") == (200, {"items": []})
            assert await get(here, f"/v1/reports/{id_}/receipts") == (200, {"items": []})
            _, entries = await get(here, f"/v1/reports/{id_}/entries")
            assert [one["kind"] for one in entries["items"]] == ["decision"]

    play(scene)


def test_pages_follow_each_other(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            ids = [store.record(record_of(f"Answer {number}")).id for number in range(5)]
            seen: list[str] = []
            path = "/v1/reports?limit=2"
            while True:
                _, page = await get(here, path)
                seen += [line["id"] for line in page["items"]]
                if page["next"] is None:
                    break
                path = f"/v1/reports?limit=2&after={page['next']}"
            assert seen == ids[::-1]
            assert (await get(here, "/v1/reports?after=x"))[0] == 422
            assert (await get(here, "/v1/reports?colour=red"))[0] == 422

    play(scene)


def test_feedback_is_kept_with_its_author_and_listed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            id_ = store.record(record_of()).id
            status, said, headers = await send(
                here, "POST", f"/v1/reports/{id_}/feedback", {"verdict": "wrong", "claim": 0, "comment": "3 weeks."}
            )
            assert (status, said["author"], said["claim"]) == (201, "admin", 0)
            assert headers["location"] == f"/v1/feedback?report={id_}"
            _, page = await get(here, f"/v1/feedback?verdict=wrong&report={id_}")
            assert page["items"] == [said]
            assert (await get(here, "/v1/feedback?verdict=right"))[1]["items"] == []
            for body in ({"verdict": "bad"}, {"verdict": "wrong", "claim": 7}, {"verdict": "wrong", "comment": "\x00"}):
                assert (await send(here, "POST", f"/v1/reports/{id_}/feedback", body))[0] == 422

    play(scene)


def test_what_is_erased_is_gone_and_stays_provable(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            id_ = store.record(record_of()).id
            status, _, _ = await send(here, "DELETE", f"/v1/reports/{id_}", x_test_caller="viewer/default")
            assert status == 403
            status, erased, _ = await send(here, "DELETE", f"/v1/reports/{id_}?of=evidence&reason=licence")
            assert (status, erased) == (200, {"reports": [id_], "entries": [1]})
            assert (await get(here, f"/v1/reports/{id_}/evidence"))[1]["items"][0]["evidence"] is None
            status, erased, _ = await send(here, "DELETE", f"/v1/reports/{id_}")
            assert (status, erased["reports"]) == (200, [id_])
            status, found = await get(here, f"/v1/reports/{id_}")
            assert (status, found["report"], found["asked"], found["erased"] is not None) == (200, None, None, True)
            assert (await get(here, f"/v1/reports/{id_}/claims"))[1]["items"][0]["text"] is None

    play(scene)


def test_the_log_is_signed_proved_and_taken_away(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            ids = [store.record(record_of(f"Answer {number}")).id for number in range(5)]
            assert (await get(here, "/v1/audit/checkpoint?"))[0] in (200, 404)
            _, first, _ = await send(here, "POST", "/v1/audit/checkpoints")
            assert open_checkpoint(first["note"], RING).size == first["size"] == 5
            _, proof = await get(here, f"/v1/audit/proof?report={ids[3]}")
            assert read_proof(proof["proof"]).verify(RING).size == 5
            assert json.loads(proof["entry"])["record"] == ids[3]
            store.record(record_of("Another"))
            assert (await get(here, "/v1/audit/proof?entry=5"))[0] == 409
            await send(here, "POST", "/v1/audit/checkpoints")
            _, growth = await get(here, "/v1/audit/consistency?old=5")
            assert (growth["size"], growth["proof"].split("\n")[0]) == (6, "old 5")
            _, log = await get(here, "/v1/audit")
            assert (log["size"], log["signed"], len(log["keys"])) == (6, 6, 1)
            for path in ("/v1/audit/export", f"/v1/audit/export?report={ids[0]}"):
                status, bundle = await get(here, path)
                lines = iter(bundle.decode().splitlines(keepends=True))
                # An older checkpoint can be held against a whole log alone.
                older = [] if "report" in path else [first["note"]]
                said = standalone.verify_bundle(lines, [standalone.Key(None, KEY.public)], older)
                assert (status, bool(said)) == (200, True)

    play(scene)


def test_the_log_is_verified_against_checkpoints_from_outside_and_with_what_is_stored(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            ids = [store.record(record_of(f"Answer {number}")).id for number in range(3)]
            _, first, _ = await send(here, "POST", "/v1/audit/checkpoints")
            status, found, _ = await send(here, "POST", "/v1/audit/verify", {"checkpoints": [first["note"]]})
            assert status == 200
            assert (found["holds"], found["size"], found["anchors"], found["runs"]) == (True, 3, 1, 3)
            assert (next(iter(found)), found["caution"], found["outside"]) == ("caution", None, 3)
            assert found["root"] == first["root"]
            status, found, _ = await send(here, "POST", "/v1/audit/verify", {"contents": False})
            assert (found["holds"], found["anchors"], found["runs"]) == (True, 0, 0)
            assert "no checkpoint from outside" in found["caution"]
            with store.engine.begin() as connection:
                connection.execute(tables.reports.update().where(tables.reports.c.id == ids[1]).values(score=0.01))
            _, found, _ = await send(here, "POST", "/v1/audit/verify")
            assert found["holds"] is False
            assert [one["code"] for one in found["findings"]] == ["altered_content"]
            _, found, _ = await send(here, "POST", "/v1/audit/verify", {"checkpoints": ["made up"], "contents": False})
            assert [one["code"] for one in found["findings"]] == ["bad_checkpoint"]
            many = {"checkpoints": [first["note"]] * 101}
            assert (await send(here, "POST", "/v1/audit/verify", many))[0] == 422
            assert (await send(here, "POST", "/v1/audit/verify", {}, x_test_caller="viewer/default"))[0] == 403

    play(scene)


def test_a_verification_begins_where_the_last_one_of_this_process_ended(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            ids = [store.record(record_of(f"Answer {number}")).id for number in range(70)]
            body = {"since_last": True}
            looks = [(await send(here, "POST", "/v1/audit/verify", body))[1] for _ in range(2)]
            assert [(one["holds"], one["since"], one["runs"]) for one in looks] == [(True, 0, 70), (True, 70, 6)]
            store.record(record_of("Another"))
            _, found, _ = await send(here, "POST", "/v1/audit/verify", body)
            assert (found["holds"], found["since"], found["runs"]) == (True, 70, 7)
            with store.engine.begin() as connection:
                connection.execute(tables.claims.update().where(tables.claims.c.report == ids[1]).values(text="No."))
            for asked in (body, {}):
                _, found, _ = await send(here, "POST", "/v1/audit/verify", asked)
                assert [one["code"] for one in found["findings"]] == ["altered_content"]

    play(scene)


def test_an_export_is_signed_first_so_that_it_has_all_of_the_log(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            store.record(record_of("Answer 0"))
            make_checkpoint(store, KEYS, "default")
            ids = [store.record(record_of(f"Answer {number}")).id for number in range(1, 30)]
            status, part = await get(here, "/v1/audit/export?partial=true")
            head, *entries = part.decode().splitlines()
            assert (status, json.loads(head)["partial"], len(entries)) == (200, {"entries": 1, "of": 30}, 1)
            assert (await get(here, f"/v1/audit/export?partial=true&report={ids[0]}"))[0] == 409
            assert (await get(here, f"/v1/audit/export?report={'0' * 32}"))[0] == 404
            for path, count in (("/v1/audit/export", 30), (f"/v1/audit/export?report={ids[0]}", 2)):
                status, whole = await get(here, path)
                head, *entries = whole.decode().splitlines()
                assert (status, len(entries), "partial" in json.loads(head)) == (200, count, False)
            assert (await get(here, "/v1/audit"))[1]["signed"] == 30

    play(scene)


def test_an_export_that_cannot_be_signed_is_refused_unless_a_part_was_asked_for(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path, keys=None) as (here, store):
            store.record(record_of("Answer 0"))
            status, told = await get(here, "/v1/audit/export")
            assert (status, told["type"].rpartition(":")[2]) == (409, "audit.no_keys")
            assert (await get(here, "/v1/audit/export?partial=true"))[0] == 409
            make_checkpoint(store, KEYS, "default")
            store.record(record_of("Answer 1"))
            assert (await get(here, "/v1/audit/export"))[0] == 409
            status, part = await get(here, "/v1/audit/export?partial=true")
            assert (status, json.loads(part.decode().splitlines()[0])["partial"]) == (200, {"entries": 1, "of": 2})

    play(scene)


def test_a_log_that_was_altered_is_not_signed_for_an_export(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            store.record(record_of("Answer 0"))
            make_checkpoint(store, KEYS, "default")
            store.record(record_of("Answer 1"))
            with store.engine.begin() as connection:
                connection.execute(tables.audit_tiles.update().values(hashes=bytes(64)))
            status, told = await get(here, "/v1/audit/export")
            assert (status, "not signed" in told["detail"]) == (409, True)

    play(scene)


def test_one_verification_at_a_time_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        begun.set()
        assert goes_on.wait(30)
        return verify_log(*given)

    monkeypatch.setattr(router, "verify_log", slow)

    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            store.record(record_of("Answer"))
            first = asyncio.create_task(send(here, "POST", "/v1/audit/verify"))
            await asyncio.to_thread(begun.wait, 30)
            status, told, headers = await send(here, "POST", "/v1/audit/verify")
            assert (status, told["type"].rpartition(":")[2], headers["retry-after"]) == (503, "audit.verifying", "10")
            goes_on.set()
            assert (await first)[1]["holds"] is True

    play(scene)


def test_without_a_checkpoint_and_without_a_log_it_is_said_what_is_missing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            empty: Any = {"origin": None, "size": 0, "signed": 0, "keys": []}
            assert await get(here, "/v1/audit", "auditor/other") == (200, empty)
            assert (await get(here, "/v1/audit/checkpoint", "auditor/other"))[0] == 404
            assert (await get(here, "/v1/audit/export", "auditor/other"))[0] == 409
            assert (await get(here, "/v1/audit/proof"))[0] == 422
            assert (await get(here, "/v1/audit/proof?entry=3"))[0] == 404

    play(scene)


def test_policies_are_listed_and_read_by_their_digest(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            await here.post("/v1/check", BODY)
            _, page = await get(here, "/v1/policies")
            (line,) = page["items"]
            _, found = await get(here, f"/v1/policies/{line['digest']}")
            assert (found["name"], found["policy"]["name"]) == ("general", "general")
            assert (await get(here, f"/v1/policies/{'0' * 64}"))[0] == 404
            assert (await get(here, "/v1/policies/general"))[0] == 404

    play(scene)


def test_rules_of_retention_are_changed_by_who_saw_them_last(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kept(tmp_path) as (here, _):
            body = {"rules": [{"days": 30}, {"days": 7, "what": "evidence", "action": "emit"}]}
            assert (await send(here, "PUT", "/v1/retention", body))[0] == 428
            status, rules, headers = await send(here, "PUT", "/v1/retention", body, if_match='"0"')
            assert (status, headers["etag"], len(rules["rules"])) == (200, '"1"', 2)
            assert (await send(here, "PUT", "/v1/retention", body, if_match='"0"'))[0] == 412
            assert (await send(here, "PUT", "/v1/retention", body, if_match="*"))[0] == 412
            assert (await get(here, "/v1/retention"))[1] == rules
            status, _, _ = await send(
                here, "PUT", "/v1/retention", body, if_match='"1"', x_test_caller="auditor/default"
            )
            assert status == 403

    play(scene)


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/v1/reports", Permission.READ),
        ("GET", "/v1/reports/{id}", Permission.READ),
        ("GET", "/v1/reports/{id}/claims", Permission.READ),
        ("GET", "/v1/reports/{id}/evidence", Permission.READ),
        ("GET", "/v1/reports/{id}/tool-calls", Permission.READ),
        ("GET", "/v1/reports/{id}/receipts", Permission.READ),
        ("GET", "/v1/reports/{id}/entries", Permission.READ),
        ("GET", "/v1/feedback", Permission.READ),
        ("POST", "/v1/reports/{id}/feedback", Permission.FEEDBACK),
        ("DELETE", "/v1/reports/{id}", Permission.ADMINISTER),
        ("GET", "/v1/policies", Permission.READ),
        ("GET", "/v1/retention", Permission.READ),
        ("PUT", "/v1/retention", Permission.ADMINISTER),
        ("GET", "/v1/audit", Permission.AUDIT),
        ("GET", "/v1/audit/entries", Permission.AUDIT),
        ("GET", "/v1/audit/checkpoint", Permission.AUDIT),
        ("GET", "/v1/audit/checkpoints", Permission.AUDIT),
        ("POST", "/v1/audit/checkpoints", Permission.AUDIT),
        ("GET", "/v1/audit/proof?report={id}", Permission.READ),
        ("GET", "/v1/audit/proof?entry=0", Permission.AUDIT),
        ("GET", "/v1/audit/consistency?old=0", Permission.AUDIT),
        ("GET", "/v1/audit/export", Permission.AUDIT),
        ("POST", "/v1/check", Permission.CHECK),
    ],
)
def test_each_route_asks_for_its_permission_and_shows_no_other_tenants_report(
    tmp_path: Path, method: str, path: str, needed: Permission
) -> None:
    body: Any = {"POST": BODY if path == "/v1/check" else {"verdict": "wrong"}, "PUT": {"rules": []}}.get(method)

    async def scene() -> None:
        async with kept(tmp_path) as (here, store):
            id_ = store.record(record_of()).id
            make_checkpoint(store, KEYS, "default")
            where = path.replace("{id}", id_)
            for role in ("viewer", "auditor", "nobody"):
                may = role != "nobody" and needed in PERMISSIONS[Role(role)]
                status, _, _ = await send(here, method, where, body, x_test_caller=f"{role}/default")
                assert (status == 403) is not may, role
            if "{id}" in path:
                status, _, _ = await send(here, method, where, body, x_test_caller="admin/other")
                assert status == 404

    play(scene)


# Timers


def audited(**settings: Any) -> Any:
    return lambda told: replace(told, audit=AuditSettings(**settings))


def test_the_log_of_each_tenant_is_signed_now_and_then_and_at_the_stop_and_taken_out(tmp_path: Path) -> None:
    anchor = tmp_path / "worm" / "log.txt"

    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            store.record(record_of())
            store.record(record_of(tenant="acme"))
            settings = audited(checkpoint_minutes=0.01, anchors=(anchor,))
            async with site(store=store, keys=KEYS, settings=settings, access=Named()) as here:
                for _ in range(500):
                    if read_notes(anchor) and read_notes(anchor_of(anchor, "acme")):
                        break
                    await asyncio.sleep(0.02)
                await here.post("/v1/check", BODY)
            sizes = [open_checkpoint(note, RING).size for note in read_notes(anchor)]
            assert (sizes[0], sizes[-1]) == (1, 2)
            assert open_checkpoint(read_notes(anchor_of(anchor, "acme"))[-1], RING).size == 1

    play(scene)


def test_the_rules_of_each_tenant_are_applied_by_one_of_several_processes(tmp_path: Path) -> None:
    from datetime import timedelta

    from tests.store.making import DAY

    now = [DAY]
    with Store(str(tmp_path / "x.db"), clock=lambda: now[0]) as store:
        id_ = store.record(record_of()).id
        write_rules(store, "default", [Rule(1)], 0, "ann")
        now[0] += timedelta(days=2)
        apply_all_rules(store, "one", 60)
        assert store.report(id_) is None
        other = store.record(record_of()).id
        now[0] += timedelta(seconds=30)
        write_rules(store, "default", [], 1, "ann")
        apply_all_rules(store, "two", 60)
        assert store.report(other) is not None


def test_the_section_audit_of_a_gateway_file_is_read() -> None:
    given = {"audit": {"checkpoint_minutes": 5, "anchors": ["a.txt"], "witnesses": [{"url": "https://w.example"}]}}
    told = parse_settings(given, {}, ServerSettings())
    assert told.audit.anchors == (Path("a.txt"),)
    assert told.audit.witnesses[0].url == "https://w.example"
