"""A store with two weeks of a team's work in it, and one with nothing in it but hostile content."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.browser.showcase import show
from tests.guard.runs import transcript

from assay.config import Guard
from assay.models.interface import PairScorer
from assay.policy import preset
from assay.schema import Evidence
from assay.schema.access import Permission
from assay.server.reviews.service import ReviewService
from assay.store.access.api_keys import create_key
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord
from assay.store.records.run_events import give_feedback
from assay.store.reviews.items import list_items, read_package
from assay.store.reviews.queue import Reviewer, Reviews
from assay.testing import FakeScorer

EVIDENCE = (
    Evidence(
        id="leave-2026",
        title="Leave policy",
        source="handbook",
        text=(
            "Employees are entitled to 16 weeks of paid parental leave. The request is made at least 8 weeks before it "
            "begins. Partners receive 4 weeks of paid leave, to be taken within 6 months of the birth."
        ),
    ),
    Evidence(
        id="travel-2026",
        title="Travel rules",
        source="handbook",
        text=(
            "Journeys of more than 400 euros are approved by the head of the department. Trains are booked in second "
            "class. Receipts are handed in within 30 days."
        ),
    ),
    Evidence(
        id="amoxa-leaflet",
        title="Leaflet of Amoxa",
        source="pharmacy",
        version="3",
        text=(
            "Adults take one tablet of 500 mg every 8 hours for 7 days. Amoxa must not be taken with an allergy to "
            "penicillin. It may be taken with food."
        ),
    ),
    Evidence(
        id="returns",
        title="Returns",
        source="shop",
        text=(
            "Goods may be returned within 30 days of delivery. The refund is paid within 5 working days to the card "
            "that was used. Opened software is not taken back."
        ),
    ),
)

_PARTNERS = "Partners receive {} weeks of paid leave, to be taken within 6 months of the birth."

ASKED = (
    ("How long is parental leave for partners?", _PARTNERS.format(4), "medium"),
    ("How long is parental leave for partners?", _PARTNERS.format(6), "medium"),
    ("How long is parental leave?", "Employees are entitled to 16 weeks of paid parental leave.", "medium"),
    ("When do I have to ask for parental leave?", "The request is made at least 8 weeks before it begins.", "medium"),
    ("Who approves my journey?", "Journeys of more than 400 euros are approved by the head of the department.", "low"),
    ("May I travel in first class?", "Trains are booked in second class.", "low"),
    ("May I travel in first class?", "Directors may book first class on journeys of more than 4 hours.", "low"),
    ("By when do I hand in receipts?", "Receipts are handed in within 30 days.", "low"),
    ("By when do I hand in receipts?", "Receipts are handed in within 60 days.", "low"),
    ("How do I take Amoxa?", "Adults take one tablet of 500 mg every 8 hours for 7 days.", "high"),
    ("How do I take Amoxa?", "Adults take two tablets of 500 mg every 8 hours for 10 days.", "high"),
    ("May I take Amoxa with food?", "It may be taken with food.", "high"),
    ("May children take Amoxa?", "Amoxa is safe for children and may be given in a smaller amount.", "high"),
    ("May I drive after taking Amoxa?", "Amoxa does not affect the ability to drive or to use machines.", "high"),
    ("Can I return a shirt?", "Goods may be returned within 30 days of delivery.", "medium"),
    ("When is my refund paid?", "The refund is paid within 5 working days to the card that was used.", "medium"),
    ("When is my refund paid?", "The refund is paid within 2 working days to any account you name.", "medium"),
    ("What does a parking space at the office cost?", "A parking space at the office costs 40 euros a month.", "low"),
    ("How much is a parking space at the office?", "I do not know what a parking space costs.", "low"),
    ("office parking space: what does it cost?", "A parking space costs 55 euros a month for employees.", "low"),
    ("Does the company pay for a gym?", "The company pays half of the membership of a gym.", "low"),
    ("Does the company pay for the gym", "I do not know.", "low"),
)

WAITING = (
    ("How do I take Amoxa?", "Adults take two tablets of 500 mg every 8 hours for 10 days.", "high"),
    ("May children take Amoxa?", "Amoxa is safe for children and may be given in a smaller amount.", "high"),
    ("May I travel in first class?", "Directors may book first class on journeys of more than 4 hours.", "medium"),
    ("When is my refund paid?", "The refund is paid within 2 working days to any account you name.", "medium"),
)
"""What waits for a person when somebody looks."""

HOSTILE = (
    "</script><script>document.title='pwned';fetch('/pwned')</script>",
    "<img src=x onerror=\"alert('x')\">",
    "<svg/onload=alert(1)>",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 7*7 %>",
    "'; DROP TABLE reports; --",
    "javascript:alert(1)",
    "\u202egnp.exe\u2066\u2067 a bell \u0007 in words that are otherwise harmless \u001b]0;x",
    '"><a href="//evil.example/x" ping="//evil.example/p">x</a><iframe src=//evil.example></iframe>',
    "<style>@import '//evil.example/a.css';*{background:url(//evil.example/b)}</style>",
    "<!--<base href=//evil.test>",
    "\u0645\u0631\u062d\u0628\u0627 5 \u200f<b>",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "a" * 5_000,
)
"""What an attacker might have put into whatever is stored."""

PHARMACY = preset("high-stakes").model_copy(
    update={"name": "pharmacy", "critical_action": "revise", "block_on_overall": False, "citations": "verify"}
)
"""A policy of the house: what is doubtful where much is at stake goes to a person."""

GENERAL_BEFORE = preset("general").model_copy(update={"emit_threshold": 0.8, "critical_action": "revise"})
PHARMACY_BEFORE = PHARMACY.model_copy(update={"emit_threshold": 0.9, "support_threshold": 0.55})
"""The same two as they were in the first days."""

KEYS_OF_PROGRAMS = (
    ("support-bot", [Permission.CHECK, Permission.GATEWAY], timedelta(days=90)),
    ("pharmacy-app", [Permission.CHECK, Permission.READ], timedelta(days=365)),
    ("nightly-export", [Permission.READ, Permission.AUDIT], None),
)
"""The keys of programs: name, what each may, and how long."""

SAID = (
    ("right", "Thank you, this is what the handbook says."),
    ("wrong", "The desk told me something else."),
    ("right", ""),
    ("wrong", "This was changed in spring."),
)
"""What users say about what they got."""


class Clock:
    """A clock that stands where it was put, or goes on from now."""

    def __init__(self) -> None:
        self.at: datetime | None = None

    def __call__(self) -> datetime:
        return self.at or datetime.now(UTC)

    def put(self, at: datetime) -> None:
        """Puts it to a moment."""
        self.at = at


def open_store(path: Path) -> tuple[Store, Clock]:
    """A store whose clock can be set."""
    clock = Clock()
    return Store(f"sqlite:///{path / 'console.db'}", clock=clock), clock


def fill(store: Store, clock: Clock, scorer: PairScorer, keys: object, *, checks: int = 160) -> None:
    """Two weeks of checks under policies that were changed meanwhile, with checkpoints, reviews and feedback."""
    chance = random.Random(7)
    now = datetime.now(UTC)
    clock.at = now - timedelta(days=15)
    for name, allowed, lasts in KEYS_OF_PROGRAMS:
        create_key(store, name, allowed, actor="ada", lasts=lasts)
    guards = [
        (Guard(general, scorer=scorer, environ={}), Guard(strict, scorer=scorer, environ={}))
        for general, strict in ((GENERAL_BEFORE, PHARMACY_BEFORE), (preset("general"), PHARMACY))
    ]
    moments = sorted(now - timedelta(hours=336 * chance.random() ** 1.3) for _ in range(checks))
    for number, moment in enumerate(moments):
        clock.at = moment
        general, strict = guards[number * 5 > checks]
        question, answer, stakes = chance.choice(ASKED)
        guard = strict if stakes == "high" else general
        run = ask(
            store, guard, question, answer, stakes, caller=chance.choice(["support-bot", "intranet", "pharmacy-app"])
        )
        if number % 9 == 0:
            verdict, said = chance.choice(SAID)
            give_feedback(store, run, verdict, author=chance.choice(["lena", "theo"]), comment=said)
        settle(store, chance)
        if number % 40 == 39:
            make_checkpoint(store, keys, "default")  # type: ignore[arg-type]
    show(store, scorer, clock.put, now, keys)
    clock.at = None
    # What waits now: the deadlines run from here.
    for question, answer, stakes in WAITING:
        ask(store, guards[1][1], question, answer, stakes, caller="pharmacy-app")
    make_checkpoint(store, keys, "default")  # type: ignore[arg-type]


def settle(store: Store, chance: random.Random) -> None:
    """A reviewer decides on what waits, a few minutes after it came: puts the right text in its place, or rejects."""
    with store.reading("default") as connection:
        waiting = list_items(connection, "default")
        outputs = {item.id: read_package(connection, "default", item.id) for item in waiting}
    desk = ReviewService(Reviews(store), lambda _: Guard(PHARMACY, scorer=FakeScorer(), environ={}))
    for item in waiting:
        package, who = outputs[item.id], Reviewer(chance.choice(["rosa", "olaf"]), admin=True)
        if package is not None and "two tablets" in package.output and chance.random() < 0.6:
            checked = desk.check_edit("default", item.id, EVIDENCE[2].text.split(". ")[0] + ".")
            desk.edit("default", item.id, who, "The leaflet gives another dose.", checked, accept=True)
        else:
            desk.reject("default", item.id, who, chance.choice(["The leaflet says otherwise.", "No source says this."]))


def ask(store: Store, guard: Guard, question: str, answer: str, stakes: str, *, caller: str = "support-bot") -> str:
    """One check, recorded; the id of its run."""
    report = guard.check(answer, EVIDENCE, question=question, stakes=stakes)
    asked = {"answer": answer, "question": question, "stakes": stakes}
    return store.record(CheckRecord(report, asked, EVIDENCE, guard.policy, "check", caller)).id


def fill_hostile(store: Store, scorer: PairScorer, keys: object, tell: Callable[[str], None] = lambda _: None) -> None:
    """Hostile content in every field that others write: question, answer, evidence, names, comments, reasons."""
    policy = preset("general").model_copy(
        update={"name": HOSTILE[0], "description": HOSTILE[1], "critical_action": "revise"}
    )
    guard = Guard(policy, scorer=scorer, environ={})
    for text in HOSTILE:
        plain = text.replace("\x00", "")
        given = (
            Evidence(
                id=plain[:200], text=f"The room holds 5 people. {plain}", title=plain, source=plain, version=plain
            ),
        )
        for stakes in ("medium", "high"):
            answer = f"The room holds 7 people. {plain} [{plain[:40]}]"
            report = guard.check(answer, given, question=plain, stakes=stakes)
            asked = {"answer": answer, "question": plain, "stakes": stakes}
            run = store.record(CheckRecord(report, asked, given, guard.policy, "check", plain[:120])).id
            give_feedback(store, run, "wrong", author=plain[:120], comment=plain)
        tell(text)
    _fill_sorts(store, guard)
    make_checkpoint(store, keys, "default")  # type: ignore[arg-type]


def _fill_sorts(store: Store, guard: Guard) -> None:
    """All of it at once in the parts of a run that a plain check has not, and a megabyte in every field."""
    words = " ".join(HOSTILE[:-1])
    call = (words[:60], {words[:80]: words, "order_id": words}, words)
    messages = transcript(f"Order W-17 arrives on 9 May. {words}", call, user=words)
    asked: dict[str, Any] = {"run": messages, "question": words, "stakes": "medium"}
    report = guard.check_run(messages, question=words)
    store.record(CheckRecord(report, asked, (), guard.policy, "run", "agent"))

    given = (Evidence(id="room", text="The room holds 5 people.", title=words),)
    wrong = f"The room holds 7 people. {words}"
    report = guard.revise(wrong, given, question=words, author=lambda told: told.output.replace("7 people", words))
    asked = {"answer": wrong, "question": words, "stakes": "medium"}
    store.record(CheckRecord(report, asked, given, guard.policy, "check", "repaired"))

    long = "a" * 1_000_000
    given = (Evidence(id="long", text=long, title=long, source=long),)
    report = guard.check(long, given, question=long[:100_000])
    asked = {"answer": long, "question": long[:100_000], "stakes": "medium"}
    store.record(CheckRecord(report, asked, given, guard.policy, "check", "megabyte"))
