"""A session asks within its budget, whatever the sources do, and only what each of them may see."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.knowledge.sites import MISBEHAVING, raw, refuses, served, shop

from assay.errors import InputError, SourceError
from assay.knowledge import Inquiry, Knowledge, Passage, Profile, RecordedKnowledge, formulate
from assay.knowledge.extraction import Extraction
from assay.knowledge.interface import Deadline, Limits, Scope, SourceAnswer
from assay.knowledge.kinds.http import HttpSettings, HttpSource
from assay.knowledge.outcome import Outcome

LATE = 3.0
"""Seconds beyond the budget that a busy machine may take to say that it has ended; who is asked hangs for longer."""


class Told:
    """A source that says what it is told to, and remembers what it was shown."""

    def __init__(self, answer: Callable[[Inquiry, Deadline], SourceAnswer]) -> None:
        self.shown: list[Inquiry] = []
        self._answer = answer
        self.digest = "told"

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        self.shown.append(inquiry)
        return self._answer(inquiry, deadline)

    def close(self) -> None:
        return


def says(text: str = "Yes.") -> Callable[[Inquiry, Deadline], SourceAnswer]:
    return lambda inquiry, _: SourceAnswer((Passage("p", text),), ({"asked": "x"},), len(text))


def profile(name: str = "one", **more: Any) -> Profile:
    settings = {"kind": "http", "authority": "api", "latency_s": 0.0, "timeout_s": 1.0, "scope": Scope(None, "claim")}
    return Profile(name, **{**settings, **more})


def asked(source: Any, of: Profile | None = None, claim: str = "Aria costs 5 euros.", **more: Any) -> Outcome:
    base = Knowledge([(of or profile(), source)])
    return base.session(more.get("tenant"), more.get("budget", 2.0)).ask(0, [formulate(claim)])[0]


def test_sources_are_asked_in_the_order_of_their_authority() -> None:
    names = ("web", "organisation", "public", "database", "api")
    base = Knowledge([(profile(name, authority=name), Told(says())) for name in names])
    assert [one.name for one in base.profiles] == ["organisation", "database", "api", "public", "web"]


@pytest.mark.parametrize("name", [*sorted(MISBEHAVING), "refuses"])
def test_no_answer_comes_after_the_budget_and_none_out_of_a_server_that_does_not_behave(name: str) -> None:
    server = refuses() if name == "refuses" else raw(MISBEHAVING[name])
    with server as url:
        answer = Extraction("/items", (("name", "/name"),))
        source = HttpSource(HttpSettings(f"{url}/{{entity}}", answer=answer), Limits(response_bytes=100_000))
        base = Knowledge([(profile(timeout_s=30.0), source)])
        begun = time.monotonic()
        outcomes = base.session(None, 0.5).ask(0, [formulate(f"Aria {n} costs 5 euros.") for n in range(6)])
        assert time.monotonic() - begun < 0.5 + LATE
        assert {one.status for one in outcomes} <= {"failed", "skipped"}
        assert all(one.reason for one in outcomes)


def test_a_source_that_ignores_its_deadline_is_not_waited_for() -> None:
    stop = threading.Event()

    def hang(*_: Any) -> SourceAnswer:
        stop.wait(20)
        return SourceAnswer((Passage("p", "late"),))

    begun = time.monotonic()
    outcome = asked(Told(hang), budget=0.3)
    assert time.monotonic() - begun < 0.3 + LATE
    stop.set()
    assert (outcome.status, outcome.found.passages) == ("failed", ())
    assert "latency budget" in (outcome.reason or "")


def test_its_own_time_limit_ends_it_before_the_budget_does_so_that_others_can_be_asked() -> None:
    stop = threading.Event()

    def wait(*_: Any) -> SourceAnswer:
        stop.wait(20)
        return SourceAnswer()

    slow = Told(wait)
    base = Knowledge([(profile("slow", timeout_s=0.2, authority="database"), slow), (profile("quick"), Told(says()))])
    session = base.session(None, 3.0)
    first = session.ask(0, [formulate("Aria costs 5 euros.")])[0]
    second = session.ask(1, [formulate("Aria costs 5 euros.")])[0]
    stop.set()
    assert (first.status, second.status) == ("failed", "answered")


def test_a_source_that_could_not_answer_in_time_is_not_asked() -> None:
    source = Told(says())
    outcome = asked(source, profile(latency_s=5.0), budget=1.0)
    assert (outcome.status, source.shown) == ("skipped", [])
    assert "latency budget" in (outcome.reason or "")


def test_after_failures_in_a_row_a_source_is_left_alone_until_it_has_rested() -> None:
    now = [0.0]

    def fail(*_: Any) -> SourceAnswer:
        raise SourceError("it refused the connection")

    source = Told(fail)
    base = Knowledge([(profile(failures=2, rest_s=30, at_once=1), source)], clock=lambda: now[0])
    outcomes = base.session(None, 1e9).ask(0, [formulate(f"Aria {n} costs 5 euros.") for n in range(5)])
    assert [one.status for one in outcomes] == ["failed", "failed", "skipped", "skipped", "skipped"]
    assert len(source.shown) == 2
    now[0] = 31
    again = base.session(None, 1e9).ask(0, [formulate("Lark costs 5 euros.")])[0]
    assert again.status == "failed"
    assert len(source.shown) == 3


def test_a_defect_of_a_source_is_a_failure_and_not_the_end_of_the_check() -> None:
    def broken(*_: Any) -> SourceAnswer:
        raise ZeroDivisionError

    outcome = asked(Told(broken))
    assert (outcome.status, outcome.reason) == ("failed", "one failed: ZeroDivisionError.")


def test_only_as_much_of_a_claim_is_shown_as_the_scope_says() -> None:
    claim = "Aria 2 costs 5 euros and is lovely."
    for sends, expected in (("entities", ("", ())), ("terms", ("", formulate(claim).terms)), ("claim", None)):
        source = Told(says())
        outcome = asked(source, profile(scope=Scope(None, sends)), claim)  # type: ignore[arg-type]
        (shown,) = source.shown
        assert expected is None or (shown.claim, shown.terms) == expected
        assert outcome.shown == shown.as_json()


def test_text_of_a_tenant_that_the_scope_does_not_name_never_reaches_a_source() -> None:
    source = Told(says())
    of = profile(scope=Scope(("acme",), "claim"))
    assert asked(source, of, tenant="acme").status == "answered"
    shown = len(source.shown)
    for other in ("globex", None):
        outcome = asked(source, of, tenant=other)
        assert (outcome.status, outcome.shown) == ("skipped", {})
    assert len(source.shown) == shown


def test_an_answer_is_remembered_for_a_while_and_its_age_is_told() -> None:
    now = [100.0]
    source = Told(says())
    base = Knowledge([(profile(cache_s=60.0), source)], clock=lambda: now[0])
    inquiry = formulate("Aria costs 5 euros.")
    first = base.session(None, 1e9).ask(0, [inquiry])[0]
    now[0] += 30
    second = base.session(None, 1e9).ask(0, [inquiry])[0]
    now[0] += 31
    third = base.session(None, 1e9).ask(0, [inquiry])[0]
    assert [one.age_s for one in (first, second, third)] == [None, 30.0, None]
    assert len(source.shown) == 2
    assert first.digest == second.digest


def test_what_one_tenant_asked_is_not_remembered_for_another() -> None:
    source = Told(says())
    base = Knowledge([(profile(), source)])
    for tenant in ("acme", "globex", "acme"):
        base.session(tenant, 2.0).ask(0, [formulate("Aria costs 5 euros.")])
    assert len(source.shown) == 2


def test_a_rate_is_kept() -> None:
    source = Told(says())
    base = Knowledge([(profile(per_minute=10), source)])
    outcomes = base.session(None, 0.5).ask(0, [formulate(f"Aria {n} costs 5 euros.") for n in range(4)])
    assert sorted(one.status for one in outcomes) == ["answered", "skipped", "skipped", "skipped"]


def test_never_more_questions_are_under_way_than_may_be() -> None:
    lock, counts = threading.Lock(), [0, 0]

    def count(*_: Any) -> SourceAnswer:
        with lock:
            counts[0] += 1
            counts[1] = max(counts)
        time.sleep(0.02)
        with lock:
            counts[0] -= 1
        return SourceAnswer((Passage("p", "x"),))

    base = Knowledge([(profile(at_once=3, cache_s=0.0), Told(count))])
    threads = [
        threading.Thread(
            target=lambda n=n: base.session(None, 5.0).ask(0, [formulate(f"Aria {n}{m} costs 5.") for m in range(6)])
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert 1 <= counts[1] <= 3


def test_the_same_question_is_asked_once_in_a_check() -> None:
    source = Told(says())
    session = Knowledge([(profile(cache_s=0.0), source)]).session(None, 2.0)
    inquiry = formulate("Aria costs 5 euros.")
    assert session.ask(0, [inquiry, inquiry])[0] == session.ask(0, [inquiry])[0]
    assert len(source.shown) == 1


def test_a_source_of_another_subject_is_not_asked() -> None:
    source = Told(says())
    of = profile(about=frozenset({"price", "cost"}))
    assert asked(source, of, "Aria weighs 5 kg.").status == "skipped"
    assert asked(source, of, "Aria costs 5 euros.").status == "answered"


def test_what_was_recorded_is_said_again_without_asking() -> None:
    source = Told(says("Aria costs 5 euros."))
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    base = Knowledge([(profile(), source)], now=lambda: moment)
    session = base.session("acme", 2.0)
    inquiries = [formulate("Aria costs 5 euros."), formulate("Lark costs 6 euros.")]
    then = session.ask(0, inquiries)
    tape = session.tape()
    assert tape is not None
    again = RecordedKnowledge(tape).session(None, 0.001)
    assert again.ask(0, inquiries) == then
    assert again.tape() == tape
    assert len(source.shown) == 2
    assert then[0].at == "2026-03-01T00:00:00.000+00:00"
    with pytest.raises(InputError, match="no answer of one"):
        again.ask(0, [formulate("Heron costs 7 euros.")])


def test_a_tape_whose_text_was_changed_is_refused() -> None:
    session = Knowledge([(profile(), Told(says("Aria costs 5 euros.")))]).session(None, 2.0)
    session.ask(0, [formulate("Aria costs 5 euros.")])
    tape: Any = session.tape()
    tape["outcomes"][0]["passages"][0]["text"] = "Aria costs 9 euros."
    with pytest.raises(InputError, match="not what its digest says"):
        RecordedKnowledge(tape)


def test_a_working_server_behind_all_of_it_is_asked_and_answers() -> None:
    with served(shop) as url:
        answer = Extraction("/items", (("name", "/name"), ("price", "/price/amount")), "{name} costs EUR {price}.")
        source = HttpSource(HttpSettings(f"{url}/products/{{entity}}", answer=answer))
        outcome = asked(source, replace(profile(), timeout_s=5.0), "The Lark costs 20 euros.", budget=5.0)
    assert [one.text for one in outcome.found.passages] == ["Lark costs EUR 20."]
