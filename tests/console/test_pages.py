"""Every page, over a store with real checks: what it shows, to whom, and what becomes of hostile text."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.console.site import app_over, record, site
from tests.store.making import KEYS, POLICY, report_of

from assay.schema import Evidence, EvidenceSpan
from assay.schema.access import PERMISSIONS, Permission, Role
from assay.server.caller import Caller
from assay.server.console.layout import HEADERS
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.merkle.proofs import read_proof
from assay.store.db.store import Store
from assay.store.records.erasure import erase_runs
from assay.store.records.interface import CheckRecord

NOW = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
EVIDENCE = {"hr-2": "Partners are entitled to 2 weeks of leave. It may be split into two parts."}
ANSWER = "Partners get 4 weeks of leave [hr-2]. It may be split into two parts."
QUESTION = "How long is partner leave?"

HOSTILE = (
    '<script>alert("1")</script>',
    '"><img src=x onerror=alert(1)>',
    "{{7*7}} {% raise %} ${7*7} <%= 7*7 %>",
    "'; DROP TABLE reports; --",
    "</textarea></title><svg/onload=alert(1)>",
    "\x00\x01\x1b[31m\x9b\ufffe \ud800",
    "\u202egnp.exe\u202c \u2066\u2067 \u200f",
    "javascript:alert(1)",
    "&lt;b&gt; &amp;amp; <!-- --> ]]>",
)


class Strict(HTMLParser):
    """Collects what a page has: elements, attributes, and the text of scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(html: str) -> Strict:
    found = Strict()
    found.feed(html)
    return found


def is_harmless(html: str) -> bool:
    """No script, style or handler in the page itself, and nothing that leads elsewhere."""
    for tag, attributes in read(html).tags:
        assert tag not in {"iframe", "object", "embed", "style", "base", "img", "video"}, tag
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name != "style", tag
            if name in {"href", "src", "action", "formaction"}:
                assert value is not None
                assert re.match(r"(/console|/v1/reports/|/v1/monitor/|/v1/redteam/|#)", value), (tag, name, value)
        if tag == "script":
            assert attributes.keys() == {"type", "src"}
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", html)
    return True


def test_every_page_answers_with_the_headers_that_keep_it_harmless(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        id_ = record(store, ANSWER, EVIDENCE, QUESTION)
        make_checkpoint(store, KEYS, "default")
        for path in ("/console", "/console/runs", f"/console/runs/{id_}", "/console/playground", "/console/nothing"):
            answer = client.get(path)
            assert answer.status_code == (404 if path.endswith("nothing") else 200), path
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS
            assert is_harmless(answer.text)
            assert "unsafe" not in answer.headers["content-security-policy"]


def test_the_overview_counts_what_was_checked(tmp_path: Path) -> None:
    with site(tmp_path, now=NOW) as (client, store):
        assert "Nothing was checked yet" in client.get("/console").text
        ids = [record(store, ANSWER, EVIDENCE, QUESTION) for _ in range(3)]
        page = client.get("/console?range=7d")
        assert "block" in page.text
        assert all(f"/console/runs/{id_}" in page.text for id_ in ids)
        assert client.get("/console?range=%3Cb%3E").status_code == 200


def test_a_run_shows_what_decides_about_each_claim(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        id_ = record(store, ANSWER, EVIDENCE, QUESTION)
        page = client.get(f"/console/runs/{id_}")
        found = read(page.text)
        said = "".join(found.text)
        assert ANSWER.split(".", maxsplit=1)[0] in said.replace("contradicted claim ", "")
        assert any(attributes.get("class") == "piece contradicted" for _, attributes in found.tags)
        assert any(attributes.get("class") == "here" for _, attributes in found.tags)
        assert "2 weeks" in said
        assert "the next checkpoint will prove it" in said
        make_checkpoint(store, KEYS, "default")
        proved = client.get(f"/console/runs/{id_}").text
        assert "signature verified" in proved
        link = re.search(rf"/console/runs/{id_}/proofs/(\d+)", proved)
        assert link is not None
        proof = client.get(link[0])
        assert proof.headers["content-disposition"].startswith("attachment")
        assert read_proof(proof.text).verify(KEYS.ring()).size >= 1
        assert client.get(f"/console/runs/{id_}/proofs/999").status_code == 404


def test_nothing_is_called_proved_whose_signature_was_not_verified(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        id_ = record(store, ANSWER, EVIDENCE, QUESTION)
        make_checkpoint(store, KEYS, "default")
        for path in (f"/console/runs/{id_}", "/console/audit/entries/0"):
            page = client.get(path).text
            assert "no keys to verify" in page
            assert not re.search(r'class="badge good"[^/]*/span>(proved|proof holds)', page)
            assert not re.search(r'class="badge bad"[^/]*/span>(not proved|proof does not hold)', page)


def test_an_entry_after_the_last_checkpoint_has_no_proof_yet(tmp_path: Path) -> None:
    with site(tmp_path, keys=KEYS) as (client, store):
        id_ = record(store, ANSWER, EVIDENCE, QUESTION)
        make_checkpoint(store, KEYS, "default")
        client.post(f"/console/runs/{id_}/feedback", data={"verdict": "wrong"})
        page = client.get(f"/console/runs/{id_}").text
        assert "signature verified" in page
        (proved,) = re.findall(rf"/console/runs/{id_}/proofs/(\d+)", page)
        answer = client.get(f"/console/runs/{id_}/proofs/{int(proved) + 1}")
        assert answer.status_code == 404
        assert "no checkpoint has entry" in answer.text


def test_feedback_is_recorded_and_shown(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        id_ = record(store, ANSWER, EVIDENCE, QUESTION)
        sent = client.post(
            f"/console/runs/{id_}/feedback", data={"verdict": "wrong", "claim": "0", "comment": "No: 2."}
        )
        assert sent.status_code == 303
        assert sent.headers["location"].startswith(f"/console/runs/{id_}?done=feedback.given")
        page = client.get(sent.headers["location"]).text
        assert "No: 2." in page
        assert "recorded in the audit log" in page
        assert client.post(f"/console/runs/{id_}/feedback", data={"verdict": "maybe"}).status_code in (422, 503)
        assert client.post(f"/console/runs/{id_}/feedback", json={"verdict": "wrong"}).status_code == 415


def test_an_erased_run_says_so_and_keeps_its_decision(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        id_ = record(store, ANSWER, EVIDENCE, QUESTION)
        erase_runs(store, [id_], "request of the person", "default")
        page = client.get(f"/console/runs/{id_}")
        assert page.status_code == 200
        assert "were erased" in page.text
        assert "4 weeks" not in page.text
        assert client.get("/console/runs").status_code == 200
        assert "erased" in client.get("/console/runs").text


def test_filters_narrow_the_list_and_pages_follow_each_other(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        for number in range(53):
            record(store, f"Partners get {number + 3} weeks of leave.", EVIDENCE, f"Question number {number}?")
        first = client.get("/console/runs").text
        older = re.search(r'href="(/console/runs\?after=[^"]+)"', first)
        assert older is not None
        second = client.get(older[1]).text
        ids = [set(re.findall(r"/console/runs/([0-9a-f]{32})", page)) for page in (first, second)]
        assert (len(ids[0]), len(ids[1])) == (50, 3)
        assert not ids[0] & ids[1]
        assert "Question number 17?" in client.get("/console/runs?q=17").text
        assert "No run matches" in client.get("/console/runs?action=emit&within=1h").text
        assert client.get("/console/runs?action=drop").status_code == 422
        assert client.get("/console/runs?after=nonsense").status_code == 422
        assert client.get("/console/runs", params={"q": "a" * 301}).status_code == 422


def test_tenants_do_not_see_each_other(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        id_ = record(store, ANSWER, EVIDENCE, QUESTION, tenant="other")
        make_checkpoint(store, KEYS, "other")
        assert id_ not in client.get("/console/runs").text
        for path in (f"/console/runs/{id_}", f"/console/runs/{id_}/proofs/0"):
            assert client.get(path).status_code == 404
        assert client.post(f"/console/runs/{id_}/feedback", data={"verdict": "wrong"}).status_code == 404


def test_what_a_role_may_not_do_is_neither_shown_nor_done(tmp_path: Path) -> None:
    auditor = Caller("ann", PERMISSIONS[Role.AUDITOR], kind="user")
    with Store(f"sqlite:///{tmp_path / 'a.db'}") as store:
        id_ = record(store, ANSWER, EVIDENCE, QUESTION)
        client = TestClient(app_over(store, auditor), base_url="http://127.0.0.1", follow_redirects=False)
        page = client.get(f"/console/runs/{id_}").text
        assert "/feedback" not in page
        assert "/console/playground" not in page
        assert "Sign out" in page
        assert client.post(f"/console/runs/{id_}/feedback", data={"verdict": "wrong"}).status_code == 403
        assert client.get("/console/playground").status_code == 403
        nobody = Caller("key", frozenset({Permission.CHECK}), kind="key")
        client = TestClient(app_over(store, nobody), base_url="http://127.0.0.1")
        assert {client.get(path).status_code for path in ("/console", "/console/runs", f"/console/runs/{id_}")} == {403}


def test_without_a_database_the_playground_is_there_and_the_rest_says_why_not() -> None:
    client = TestClient(app_over(None), base_url="http://127.0.0.1")
    assert "keeps no record" in client.get("/console").text
    assert "keeps no record" in client.get("/console/runs").text
    assert client.get("/console/playground").status_code == 200


def test_hostile_text_in_every_field_is_text(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        for text in HOSTILE:
            said = text.encode("utf-8", "ignore").decode()
            # A check takes no NUL and little that is binary; what it takes is kept, and drawn.
            clean = "".join(one for one in said if one.isprintable())
            named = clean.strip() or "e"
            id_ = record(store, f"{clean} Partners get 4 weeks.", {named: f"{clean} 2 weeks."}, clean, caller=text)
            client.post(f"/console/runs/{id_}/feedback", data={"verdict": "wrong", "comment": said})
            own = client.get(f"/console/runs/{id_}")
            assert own.status_code == 200
            assert named[:20] in "".join(read(own.text).text)
            pages = [
                own,
                client.get("/console/runs", params={"q": said, "policy": said, "caller": said}),
                client.get("/console/" + quote(said, safe="")),
                client.post("/console/playground", data={"answer": f"{said} 4.", "evidence": said, "question": said}),
            ]
            for page in pages:
                assert page.status_code in (200, 404, 422)
                assert is_harmless(page.text)
        assert is_harmless(client.get("/console").text)
        assert is_harmless(client.get("/console/runs").text)


def test_a_megabyte_in_every_field_is_cut_and_the_page_stays_small(tmp_path: Path) -> None:
    with site(tmp_path) as (client, store):
        long = "x" * 1_000_000
        given_ = (Evidence(id="e", text="y" * 1_000_000, title="t" * 10_000),)
        report = report_of(long, question="z" * 1_000_000)
        span = EvidenceSpan(evidence_id="e", start=0, end=500_000, text="y" * 500_000, relation="supports", score=0.9)
        claim = report.claims[0].model_copy(update={"evidence_spans": (span,)})
        report = report.model_copy(update={"claims": (claim,)})
        made = CheckRecord(report, {"answer": long}, given_, POLICY, caller="c" * 10_000)
        store.record(made)
        for path in ("/console", "/console/runs", f"/console/runs/{made.id}"):
            page = client.get(path)
            assert page.status_code == 200
            assert len(page.text) < 300_000, path
        assert "880,000 more characters" in client.get(f"/console/runs/{made.id}").text


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_whatever_is_typed_in_the_playground_stays_text(answer: str, evidence: str, question: str) -> None:
    client = TestClient(app_over(None), base_url="http://127.0.0.1")
    given_ = {"answer": answer, "evidence": evidence, "question": question}
    sent = {name: value.encode("utf-8", "replace").decode() for name, value in given_.items()}
    page = client.post("/console/playground", data=sent)
    assert page.status_code == 200
    assert is_harmless(page.text)


def test_the_playground_gives_the_report_alone_to_its_script() -> None:
    client = TestClient(app_over(None), base_url="http://127.0.0.1")
    sent = {
        "answer": "Partners get 4 weeks of leave.",
        "evidence": "[hr-2] Partners get 2 weeks of leave.",
        "stakes": "low",
    }
    part = client.post("/console/playground", data=sent, headers={"x-assay-part": "report"})
    assert part.text.startswith("<section")
    assert "hr-2" in part.text
    assert "<html" in client.post("/console/playground", data=sent).text
    assert "It was not checked" in client.post("/console/playground", data={**sent, "stakes": "huge"}).text
    assert "Write or paste" in client.post("/console/playground", data={"answer": "  "}).text


def test_a_theme_is_kept_and_leads_back_to_the_console_alone() -> None:
    client = TestClient(app_over(None), base_url="http://127.0.0.1", follow_redirects=False)
    for back, leads in (
        ("/console/runs?q=a", "/console/runs?q=a"),
        ("https://evil.example", "/console"),
        ("//e", "/console"),
    ):
        answer = client.post("/console/theme", data={"theme": "dark", "back": back})
        assert answer.headers["location"] == leads
    assert 'data-theme="dark"' in client.get("/console/playground").text
    assert 'data-theme="auto"' in client.get("/console/playground", headers={"cookie": 'assay_theme="><b>'}).text


def test_files_keep_under_their_digest_alone() -> None:
    client = TestClient(app_over(None), base_url="http://127.0.0.1")
    page = client.get("/console/playground").text
    for href in re.findall(r'(?:href|src)="(/console/static/[^"]+)"', page):
        answer = client.get(href)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert client.get(re.sub("/[0-9a-f]{16}/", "/0000000000000000/", href)).headers["cache-control"] == "no-cache"
    assert client.get("/console/static/0/..%2f..%2frouter.py").status_code == 404
    assert client.get("/console/static/0/none.css").status_code == 404


def test_times_are_told_in_utc_and_as_how_long_ago(tmp_path: Path) -> None:
    with site(tmp_path, now=NOW) as (client, store):
        record(store, ANSWER, EVIDENCE)
        page = client.get("/console/runs").text
        assert 'datetime="2026-03-04T12:30:00+00:00"' in page
