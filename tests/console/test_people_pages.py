"""Review, gaps, policies, audit, access: each page shows what there is, says what there is not, and stays harmless."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.console.site import app_over, record, site
from tests.store.making import KEYS

from assay.config import Guard
from assay.policy import preset
from assay.schema import Evidence
from assay.schema.access import PERMISSIONS, Permission, Role
from assay.server.access.settings import AccessSettings
from assay.server.caller import LOCAL, Caller
from assay.server.settings import ServerSettings
from assay.store.access.users import create_user
from assay.store.audit.log import last_checkpoint, read_checkpoints
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord
from assay.store.reviews.items import list_items
from assay.testing import FakeScorer

PAGES = (
    "/console/review",
    "/console/review?show=mine",
    "/console/review?show=decided",
    "/console/review?show=overdue",
    "/console/gaps",
    "/console/gaps?days=all&page=3",
    "/console/policies",
    "/console/audit",
    "/console/users",
    "/console/users/keys",
    "/console/users/sessions",
)
HOSTILE = "</td><script>alert(1)</script>{{7*7}}${7*7}\u202etxt' OR 1=1 --\x1b[31m"
VIEWER = Caller("vera", PERMISSIONS[Role.VIEWER], kind="user", id="u1")
REVIEWER = Caller("rosa", PERMISSIONS[Role.REVIEWER], kind="user", id="u2", expertise=("health",))
OTHER = Caller("olaf", PERMISSIONS[Role.REVIEWER], kind="user", id="u3")
EVIDENCE = {"dose": "The dose is 5 mg a day.", "shop": "The shop opens at 9."}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with site(tmp_path) as (_, opened):
        yield opened


def client_of(store: Store, caller: Caller) -> TestClient:
    return TestClient(app_over(store, caller, keys=KEYS), base_url="http://127.0.0.1", follow_redirects=False)


HOUSE = Guard(preset("general").model_copy(update={"critical_action": "revise"}), scorer=FakeScorer(), environ={})


def escalated(store: Store, answer: str = "The dose is 7 mg a day.", question: str = "What is the dose?") -> str:
    """An output that a person has to decide on; the id of its item."""
    given = tuple(Evidence(id=name, text=text) for name, text in EVIDENCE.items())
    report = HOUSE.check(answer, given, question=question, stakes="high")
    asked = {"answer": answer, "question": question, "stakes": "high"}
    store.record(CheckRecord(report, asked, given, HOUSE.policy, caller="support-bot"))
    with store.reading("default") as connection:
        return list_items(connection, "default")[-1].id


def text_of(body: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def version_of(body: str) -> str:
    found = re.search(r'name="version" value="(\d+)"', body)
    assert found
    return found[1]


@pytest.mark.parametrize("path", PAGES)
def test_an_empty_store_is_told_and_never_an_error(tmp_path: Path, path: str) -> None:
    with site(tmp_path, keys=KEYS) as (client, _):
        answer = client.get(path)
        assert answer.status_code == 200
        assert 'class="empty"' in answer.text


@pytest.mark.parametrize("path", PAGES)
def test_hostile_content_is_text_on_every_page(tmp_path: Path, path: str) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        for number in range(2):
            record(store, f"The key is {HOSTILE} number {number}.", {HOSTILE: f"A lock. {HOSTILE}"}, HOSTILE)
        create_user(store, "eve <b>bold</b>", [Role.VIEWER])
        answer = client.get(path)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "<b>bold" not in answer.text
        assert " style=" not in answer.text
        assert "onclick" not in answer.text


@pytest.mark.parametrize(
    ("path", "needs"),
    [
        ("/console/audit", Permission.AUDIT),
        ("/console/users", Permission.ADMINISTER),
        ("/console/users/keys", Permission.ADMINISTER),
    ],
)
def test_who_lacks_the_permission_is_told_so(store: Store, path: str, needs: Permission) -> None:
    answer = client_of(store, VIEWER).get(path)
    assert answer.status_code == 403
    assert needs.value in answer.text


# Gaps


def test_questions_without_support_stand_together(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        run = record(store, "A space costs 40 euros.", EVIDENCE, "What does a parking space cost?")
        record(store, "A space costs 50 euros.", EVIDENCE, "what does a PARKING space cost")
        page = client.get("/console/gaps")
        assert "asked 2 times" in page.text
        assert f"/console/runs/{run}" in page.text


# Policies


def test_a_policy_shows_its_settings_and_what_others_would_decide(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        for _ in range(3):
            record(store, "The shop opens at 9.", EVIDENCE, "When does the shop open?")
        digest = preset("rag").digest
        assert digest in client.get("/console/policies").text
        assert "emit_threshold" in client.get(f"/console/policies/{digest}").text
        path = f"/console/policies/{digest}/what-if"
        assert "0 of 3 decisions" not in client.get(path).text
        strict = client.get(path, params={"emit_threshold": "1", "part": "result"})
        assert "3 of 3 decisions would change" in text_of(strict.text)
        assert "<html" not in strict.text
        assert "Such a policy is not valid" in client.get(path, params={"emit_threshold": "0.1"}).text
        assert client.get("/console/policies/nothing").status_code == 404


def test_the_versions_of_a_policy_tell_what_each_changed(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        given = (Evidence(id="shop", text="The shop opens at 9."),)
        digests = []
        for threshold in (0.8, 0.9):
            policy = preset("general").model_copy(update={"name": "house", "emit_threshold": threshold})
            guard = Guard(policy, scorer=FakeScorer(), environ={})
            report = guard.check("The shop opens at 9.", given)
            store.record(CheckRecord(report, {"answer": report.output}, given, policy))
            digests.append(policy.digest)
        listed = text_of(client.get("/console/policies").text)
        assert "emit_threshold 0.8 → 0.9" in listed
        assert listed.count("first version") == 1
        assert "emit 1" in client.get("/console/policies").text
        page = client.get(f"/console/policies/{digests[1]}").text
        assert f"/console/policies/{digests[0]}" in page
        assert "emit_threshold 0.8 → 0.9" in text_of(page)


# Audit


def test_an_entry_tells_scores_as_the_rest_of_the_console_does(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        record(store, "The shop opens at 9. The shop opens at 7.", EVIDENCE)
        page = text_of(client.get("/console/audit/entries/0").text)
        told = page.split("What it says", 1)[1].split("As it is hashed", 1)[0]
        scores = [float(one) for one in re.findall(r"\b\d\.\d+\b", told)]
        assert scores
        assert all(0 <= one <= 1 for one in scores)
        assert "{" not in told


def test_the_log_is_signed_verified_proved_and_exported(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        run = record(store, "The shop opens at 9.", EVIDENCE)
        assert "not proved yet" in client.get("/console/audit/entries/0").text
        assert client.post("/console/audit/checkpoint").headers["location"] == "/console/audit?done=audit.signed"
        told = client.post("/console/audit/verify").text
        assert told.index("No checkpoint from outside") < told.index("The log agrees with itself.")
        assert "The log holds." not in told
        with store.reading("default") as connection:
            kept = read_checkpoints(connection, "default")[-1]
        # A form's line breaks are CRLF.
        told = client.post("/console/audit/verify", data={"checkpoints": kept.replace("\n", "\r\n")}).text
        assert "The log holds." in told
        assert "No checkpoint from outside" not in told
        assert "bad_checkpoint" in client.post("/console/audit/verify", data={"checkpoints": "<b>x"}).text
        assert "proof holds" in client.get("/console/audit/entries/0").text
        assert client.get("/console/audit/entries/0/proof").text.startswith("c2sp.org/tlog-proof@v1")
        assert client.get("/console/audit/export").text.startswith('{"bundle"')
        assert client.get("/console/audit/export", params={"run": run}).status_code == 200
        assert run[:12] in client.get("/console/audit", params={"run": run}).text
        assert client.get("/console/audit/entries/99").status_code == 404
        assert client.get("/console/audit/entries/x").status_code == 404


def test_an_export_from_the_console_is_signed_first(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        for number in range(5):
            record(store, f"The shop opens at {number}.", EVIDENCE)
        assert len(client.get("/console/audit/export").text.splitlines()) == 6
    with site(tmp_path) as (client, store):
        record(store, "The shop opens at 9.", EVIDENCE)
        assert client.get("/console/audit/export").status_code == 409
        assert "Export what is signed" in client.get("/console/audit").text
        part = client.get("/console/audit/export", params={"partial": "true"}).text.splitlines()
        assert '"partial":{"entries":5,"of":6}' in part[0]


def test_a_log_without_its_head_is_not_called_empty(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        assert "The log is empty" in client.get("/console/audit").text
        record(store, "The shop opens at 9.", EVIDENCE)
        with store.engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM audit_logs")
        page = client.get("/console/audit").text
        assert "it was altered" in page
        assert "The log is empty" not in page


def test_a_log_that_was_removed_whole_does_not_pass_a_checkpoint_from_outside(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        record(store, "The shop opens at 9.", EVIDENCE)
        client.post("/console/audit/checkpoint")
        with store.reading("default") as connection:
            kept = last_checkpoint(connection, "default")
        assert kept is not None
        with store.engine.begin() as connection:
            for table in ("audit_logs", "audit_entries", "audit_checkpoints", "audit_tiles", "audit_anchors"):
                connection.exec_driver_sql(f"DELETE FROM {table}")  # noqa: S608 fixed names
        page = client.post("/console/audit/verify", data={"checkpoints": kept}).text
        assert "The log does not hold." in page
        assert "other_log" in page


def test_a_log_that_was_altered_is_told(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        record(store, "The shop opens at 9.", EVIDENCE)
        client.post("/console/audit/checkpoint")
        with store.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE audit_entries SET data = CAST('{}' AS BLOB)")
        assert "The log does not hold." in client.post("/console/audit/verify").text
        assert client.get("/console/audit").status_code == 200


# Access


def test_a_link_for_a_password_is_good_for_as_long_as_the_server_is_set_to(store: Store) -> None:
    settings = ServerSettings(access=AccessSettings(token_hours=2))
    client = TestClient(app_over(store, LOCAL, settings=settings), base_url="http://127.0.0.1")
    made = client.post("/console/users/new", data={"name": "ada", "role.admin": "on"}).text
    until = re.search(r"good once, until <time[^>]*datetime=\"([^\"]+)", made)
    assert until is not None
    assert timedelta(hours=1.9) < datetime.fromisoformat(until[1]) - datetime.now(UTC) <= timedelta(hours=2)


def test_people_and_keys_are_made_changed_and_ended(tmp_path: Path) -> None:
    with site(tmp_path) as (client, _):
        assert (
            "/console/reset?token=" in client.post("/console/users/new", data={"name": "ada", "role.admin": "on"}).text
        )
        again = client.post("/console/users/new", data={"name": "ada", "role.admin": "on"})
        assert again.status_code == 409
        assert client.post("/console/users/new", data={"name": "bela"}).status_code == 422
        taken = client.post("/console/users/keys/new", data={"name": "ada", "may.check": "on", "days": "30"})
        assert (taken.status_code, "a user has this one" in taken.text) == (409, True)
        made = client.post("/console/users/keys/new", data={"name": "bot", "may.check": "on", "days": "30"})
        assert client.post("/console/users/new", data={"name": "bot", "role.admin": "on"}).status_code == 409
        endless = client.post("/console/users/keys/new", data={"name": "bot", "may.check": "on", "days": "45"})
        assert endless.status_code == 422
        assert "assay_" not in endless.text
        key = re.search(r"assay_[0-9a-f]+_[\w-]+", made.text)
        assert key
        assert key[0] not in client.get("/console/users/keys").text
        id_ = key[0].split("_")[1]
        assert client.post(f"/console/users/keys/{id_}/rotate", data={"x": ""}).status_code == 200
        assert client.post(f"/console/users/keys/{id_}/revoke", data={"x": ""}).status_code == 303
        assert client.post("/console/users/keys/none/revoke", data={"x": ""}).status_code == 404
        (ada,) = re.findall(r"/console/users/([0-9a-f]{32})/roles", client.get("/console/users").text)
        kept = client.post(f"/console/users/{ada}/disable", data={"version": "1"})
        assert kept.status_code == 409  # the last administrator
        assert client.post(f"/console/users/{ada}/link", data={"name": "ada"}).status_code == 200


# Review


def test_a_reviewer_takes_an_item_and_approves_it_with_a_reason(store: Store) -> None:
    id_ = escalated(store)
    rosa = client_of(store, REVIEWER)
    assert "What is the dose?" in rosa.get("/console/review").text
    page = rosa.get(f"/console/review/{id_}").text
    assert "7 mg" in page
    assert rosa.post(f"/console/review/{id_}/claim", data={"version": version_of(page)}).status_code == 303
    held = client_of(store, OTHER).get(f"/console/review/{id_}").text
    assert "rosa" in held
    assert "Nobody else can decide before" in held
    page = rosa.get(f"/console/review/{id_}").text
    asked = rosa.post(f"/console/review/{id_}/confirm", data={"act": "approve", "version": version_of(page)})
    assert "released as it is" in asked.text
    without = rosa.post(f"/console/review/{id_}/decide", data={"act": "approve", "version": version_of(asked.text)})
    assert without.status_code == 422
    done = rosa.post(
        f"/console/review/{id_}/decide",
        data={
            "act": "approve",
            "version": version_of(asked.text),
            "reason": "The label says so.",
            "claim.0": "supported",
        },
    )
    assert done.headers["location"].endswith("?done=review.approve")
    page = rosa.get(f"/console/review/{id_}").text
    assert "The label says so." in page
    assert "approved" in page
    assert "Nothing waits" in rosa.get("/console/review").text


def test_only_what_the_findings_speak_for_stands_out(store: Store) -> None:
    page = client_of(store, REVIEWER).get(f"/console/review/{escalated(store)}").text
    said = re.search(r"Recommended: <b>([a-z ]+)</b>", page)
    assert said
    assert said[1] != "approve"
    acts = re.search(r'<section class="acts".*?</section>', page, re.DOTALL)
    assert acts
    (strong,) = re.findall(r'class="button primary"[^>]*>([A-Z][a-z ]+)', acts[0])
    assert strong.strip().lower() == said[1]


def test_the_queue_tells_deadlines_so_that_a_script_can_count_them_down(store: Store) -> None:
    escalated(store)
    page = client_of(store, REVIEWER).get("/console/review").text
    assert re.search(r'<time datetime="[^"]+" title="[^"]+ UTC" data-due="20[^"]+">', page)
    assert page.count("data-live") == 2


def test_two_reviewers_never_decide_the_same_item(store: Store) -> None:
    id_ = escalated(store)
    rosa, olaf = client_of(store, REVIEWER), client_of(store, OTHER)
    version = version_of(rosa.get(f"/console/review/{id_}").text)
    fields = {"act": "reject", "version": version, "reason": "Wrong."}
    assert rosa.post(f"/console/review/{id_}/decide", data=fields).status_code == 303
    late = olaf.post(f"/console/review/{id_}/decide", data=fields)
    assert late.status_code in (409, 412)
    assert olaf.post(f"/console/review/{id_}/confirm", data=fields).status_code == 409


def test_an_edit_shows_its_difference_and_what_the_gate_says(store: Store) -> None:
    id_ = escalated(store)
    rosa = client_of(store, REVIEWER)
    version = version_of(rosa.get(f"/console/review/{id_}").text)
    fields = {"act": "edit", "version": version, "output": "The dose is 5 mg a day."}
    asked = rosa.post(f"/console/review/{id_}/confirm", data=fields)
    assert re.search(r"<del>.*7", asked.text)
    assert re.search(r"<ins>.*5", asked.text)
    assert "The gate lets it out" in asked.text
    done = rosa.post(f"/console/review/{id_}/decide", data={**fields, "reason": "By the leaflet."})
    assert done.status_code == 303
    assert "5 mg" in rosa.get(f"/console/review/{id_}").text
    assert rosa.post(f"/console/review/{id_}/confirm", data=fields).status_code == 409


def test_digits_that_are_no_number_are_read_as_none(store: Store) -> None:
    """`str.isdigit` is true of a superscript two, which `int` refuses."""
    id_ = escalated(store)
    rosa = client_of(store, REVIEWER)
    assert rosa.get("/console/gaps?page=²").status_code == 200
    version = version_of(rosa.get(f"/console/review/{id_}").text)
    assert rosa.post(f"/console/review/{id_}/assign", data={"to": "", "version": "²"}).status_code == 303
    fields = {"act": "reject", "version": version, "reason": "Wrong.", "claim.²": "supported"}
    version = version_of(rosa.get(f"/console/review/{id_}").text)
    assert rosa.post(f"/console/review/{id_}/decide", data={**fields, "version": version}).status_code == 303


def test_who_may_only_read_cannot_decide(store: Store) -> None:
    id_ = escalated(store)
    vera = client_of(store, VIEWER)
    page = vera.get(f"/console/review/{id_}").text
    assert "data-acts" not in page
    assert vera.post(f"/console/review/{id_}/decide", data={"act": "reject"}).status_code == 403


def test_items_of_another_tenant_are_not_there(store: Store) -> None:
    id_ = escalated(store)
    stranger = client_of(store, Caller("sue", PERMISSIONS[Role.ADMIN], tenant="other", kind="user", id="u9"))
    assert stranger.get(f"/console/review/{id_}").status_code == 404
    assert stranger.post(f"/console/review/{id_}/claim", data={"version": "1"}).status_code == 404
    with store.reading("other") as connection:
        assert list_items(connection, "other") == []
