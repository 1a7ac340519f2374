"""A day's work in a real browser: why was it blocked, may this go out, and can it be proved?"""

import http.client
import json
import re
import threading
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from tests.browser.conftest import Running
from tests.browser.test_console_pages import SHOTS
from tests.store.making import RING

from assay.schema.access import Permission
from assay.store.access.api_keys import create_key
from assay.store.audit.merkle.proofs import read_proof

QUESTION = "How many minutes do I wait?"
ANSWER = "The wait is short in the morning."
EVIDENCE = [{"id": "desk", "text": "The desk opens at 9. Bring a card."}]


def ready(page: Any, path: str) -> None:
    """Waits until a page is there with its scripts: a key that is pressed before does nothing."""
    page.wait_for_url(f"**{path}")
    page.wait_for_load_state("networkidle")


class Program:
    """A program that asks, and may wait until a person has decided."""

    def __init__(self, running: Running) -> None:
        self._host = urlsplit(running.url).netloc
        self._key, _ = create_key(running.store, "desk-bot", [Permission.CHECK, Permission.READ])
        self.answer: dict[str, Any] | None = None

    def ask(self, answer: str, question: str, stakes: str = "medium", wait: int = 0) -> dict[str, Any]:
        body = {"answer": answer, "question": question, "evidence": EVIDENCE, "stakes": stakes}
        headers = {"x-assay-key": self._key, "content-type": "application/json"}
        with closing(http.client.HTTPConnection(self._host, timeout=120)) as connection:
            connection.request("POST", f"/v1/check?wait={wait}", json.dumps(body), headers)
            with connection.getresponse() as response:
                found: dict[str, Any] = json.loads(response.read())
        return found

    def wait(self) -> threading.Thread:
        """Asks on a thread of its own what only a person may release."""

        def asking() -> None:
            self.answer = self.ask(ANSWER, QUESTION, "high", 100)

        thread = threading.Thread(target=asking, daemon=True)
        thread.start()
        return thread


def test_a_person_finds_releases_and_proves(empty: Running, opened: Any) -> None:
    watched = opened(empty, "rosa")
    page = watched.page
    program = Program(empty)
    assert program.ask("The desk opens at 11.", "When does the desk open?")["action"] == "block"
    # Somebody finds the blocked run, and sees why.
    page.goto("/console/runs?action=block")
    page.click("a.row")
    ready(page, "/console/runs/*")
    assert "The desk opens at 11." in page.inner_text(".answer")
    assert "opens at 9" in page.inner_text("main")
    # A program asks something that only a person may release, and waits.
    waiting = program.wait()
    page.goto("/console/review")
    for _ in range(100):
        if page.locator("a.row").count():
            break
        page.wait_for_timeout(200)
        page.reload()
    page.click("a.row")
    ready(page, "/console/review/*")
    page.keyboard.press("t")
    page.wait_for_url("**/*done=review.claim")
    assert waiting.is_alive()
    ready(page, "/console/review/*done=review.claim")
    page.keyboard.press("a")
    ready(page, "/console/review/*/confirm")
    page.keyboard.type("I asked at the desk: it is short.")
    page.screenshot(path=SHOTS / "review-confirm-1440.png")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/*done=review.approve")
    assert "Approved" in page.inner_text("[role=status]")
    waiting.join(60)
    assert program.answer is not None
    assert program.answer["action"] == "emit"
    assert program.answer["output"] == ANSWER
    run = re.search(r"/console/runs/([0-9a-f]{32})", page.content())
    assert run
    assert watched.faults == []
    # An auditor signs the log, verifies it, and takes the proof away.
    audited = opened(empty, "ada")
    page = audited.page
    page.goto(f"/console/audit?run={run[1]}")
    page.click("text=Sign a checkpoint")
    page.wait_for_url("**/*done=audit.signed")
    page.click("text=Verify the log")
    page.wait_for_selector("text=The log agrees with itself.")
    page.goto(f"/console/audit?run={run[1]}")
    page.click("a.row")
    ready(page, "/console/audit/entries/*")
    assert page.locator("text=proof holds").is_visible()
    with page.expect_download() as download:
        page.click("text=Download")
    proof = read_proof(download.value.path().read_text(encoding="utf-8"))
    assert proof.verify(RING).size > proof.index
    assert audited.faults == []


def test_two_reviewers_see_who_has_an_item(demo: Running, opened: Any) -> None:
    rosa, olaf = opened(demo, "rosa"), opened(demo, "olaf")
    rosa.page.goto("/console/review")
    rosa.page.locator("a.row").last.click()
    ready(rosa.page, "/console/review/*")
    address = rosa.page.url
    olaf.page.goto(address)
    ready(olaf.page, "/console/review/*")
    rosa.page.keyboard.press("t")
    rosa.page.wait_for_url("**/*done=review.claim")
    # Olaf's page is older: what he sends is refused, and the item tells who has it.
    olaf.page.keyboard.press("t")
    olaf.page.wait_for_selector("main >> text=It has changed meanwhile")
    olaf.page.goto(address)
    assert "rosa has it until" in olaf.page.inner_text("main")
    assert olaf.page.locator("[data-acts]").count() == 0
    rosa.page.click("text=Give it back")
    rosa.page.wait_for_url("**/*done=review.release")
    assert rosa.faults == []


def test_a_form_of_another_site_changes_nothing(empty: Running, opened: Any) -> None:
    watched = opened(empty, "ada")
    answer = watched.page.request.post(
        "/console/users/new", form={"name": "eve", "role.admin": "on"}, headers={"origin": "https://evil.example"}
    )
    assert answer.status in (401, 403)
    assert not re.search(r"\beve\b", watched.page.request.get("/console/users").text())
