"""Lists and search: the same pages from both databases, each report once, and nothing of what was erased."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.making import DAY, record_of, report_of

from assay.errors import InputError
from assay.schema import Action, ClaimStatus, Decision, Verdict
from assay.store.db.store import Store
from assay.store.records import report_lists
from assay.store.records.erasure import erase_runs
from assay.store.records.interface import CheckRecord
from assay.store.records.report_lists import ReportFilter, ReportRow, read_page
from assay.store.records.search_words import LONGEST_QUERY, MOST_WORDS, for_postgresql, for_sqlite, terms_of, words_of


class Clock:
    """Goes on by a minute with each look."""

    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> Any:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url, clock=Clock()) as opened:
        yield opened


def check(
    output: str, *, action: Action = Action.EMIT, verdict: Verdict = Verdict.SUPPORTED, score: float = 0.9, **more: Any
) -> CheckRecord:
    report = report_of(output)
    claim = report.claims[0].model_copy(
        update={"verdict": verdict, "status": ClaimStatus.PASS if verdict is Verdict.SUPPORTED else ClaimStatus.BLOCK}
    )
    decision = Decision(action=action, route="serve" if action is Action.EMIT else "withhold", reasons=("So.",))
    changed = {"action": action, "decision": decision, "claims": (claim,), "overall_score": score}
    return record_of(output, report=report.model_copy(update=changed), **more)


def every(store: Store, wanted: ReportFilter, limit: int = 3, tenant: str = "default") -> list[ReportRow]:
    """All pages of a list."""
    found: list[ReportRow] = []
    after = None
    with store.reading(tenant) as connection:
        for _ in range(1_000):
            page = read_page(connection, tenant, wanted, after, limit)
            assert len(page.items) <= limit
            found += page.items
            after = page.next
            if after is None:
                return found
    raise AssertionError("the list does not end")


def told(store: Store, limit: int = 3, tenant: str = "default", **wanted: Any) -> list[str]:
    return [line.id for line in every(store, ReportFilter(**wanted), limit, tenant)]


def test_a_list_holds_every_report_once_newest_first_whatever_the_length_of_its_pages(store: Store) -> None:
    ids = [store.record(record_of(f"Answer {number}")).id for number in range(10)]
    for limit in (1, 3, 10, 50):
        assert told(store, limit) == ids[::-1]


def test_filters_alone_and_together(store: Store) -> None:
    blocked = check("It is 4 weeks.", action=Action.BLOCK, verdict=Verdict.CONTRADICTED, score=0.1, caller="desk")
    emitted = check("It is 2 weeks.", caller="desk")
    other = check("Something else.", score=0.7, caller="shop")
    for one in (blocked, emitted, other):
        store.record(one)
    names = {blocked.id: "blocked", emitted.id: "emitted", other.id: "other"}
    for wanted, found in (
        ({"action": "block"}, ["blocked"]),
        ({"route": "serve"}, ["other", "emitted"]),
        ({"verdict": "contradicted"}, ["blocked"]),
        ({"verdict": "unchecked"}, []),
        ({"caller": "desk"}, ["emitted", "blocked"]),
        ({"caller": "desk", "action": "emit"}, ["emitted"]),
        ({"min_score": 0.5, "max_score": 0.8}, ["other"]),
        ({"policy": "general"}, ["other", "emitted", "blocked"]),
        ({"policy": blocked.report.policy.digest, "verdict": "supported"}, ["other", "emitted"]),
        ({"policy": "nonesuch"}, []),
        ({"run_id": "run-1", "action": "block"}, ["blocked"]),
        ({"run_id": "run-2"}, []),
        ({"since": DAY + timedelta(minutes=2)}, ["other", "emitted"]),
        ({"until": DAY + timedelta(minutes=2)}, ["blocked"]),
        ({"words": "weeks", "since": DAY + timedelta(minutes=2)}, ["emitted"]),
        ({"words": "weeks", "caller": "desk", "verdict": "contradicted"}, ["blocked"]),
        ({"words": "something", "run_id": "run-1"}, ["other"]),
    ):
        assert [names[id_] for id_ in told(store, 1, **wanted)] == found, wanted


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("weeks", True),
        ("WEEKS", True),
        ("week", False),
        ("week*", True),
        ('"2 weeks"', True),
        ('"weeks 2"', False),
        ("2 partner", True),
        ("partner shark", False),
        ("café", True),
        ("cafe", True),
        ("東京", True),
        ("京東", False),
        ("naïve", False),
        ("' OR 1=1 --", False),
        ('owner:"other"', False),
        ("weeks NOT partner", False),
        ("\U0001f600 partners", True),
    ],
)
def test_a_search_finds_whole_words_phrases_and_beginnings(store: Store, words: str, found: bool) -> None:
    id_ = store.record(record_of("Partners get 2 weeks of leave; café 東京 included. \U0001f600 For a partner.")).id
    assert told(store, words=words) == ([id_] if found else [])


def test_questions_are_searched_too_and_tenants_find_their_own_only(store: Store) -> None:
    own = store.record(record_of("It is 2.", tenant="acme")).id
    store.record(record_of("It is 2.", tenant="acme.other"))
    assert told(store, tenant="acme", words="how long") == [own]
    assert told(store, tenant="acme") == [own]
    assert told(store, tenant="nobody", words="how long") == []


def test_what_was_erased_is_found_no_more_by_its_words_its_caller_or_its_name(store: Store) -> None:
    secret, other = record_of("Mrs Smith has leave.", caller="smith"), record_of("Partners have leave.", caller="desk")
    store.record(secret)
    store.record(other)
    erase_runs(store, [secret.id], "request", "default")
    assert told(store, words="leave") == [other.id]
    assert told(store, caller="smith") == told(store, words="smith") == []
    line = every(store, ReportFilter())[1]
    assert (line.id, line.erased, line.question, line.caller, line.run_id) == (secret.id, True, None, None, None)


def test_erased_words_leave_the_file_of_sqlite(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        ids = [store.record(record_of(f"Xylophone{number} is meant.")).id for number in range(20)]
        erase_runs(store, ids, "request", "default")
    assert all(b"ylophone" not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_filter_that_hardly_anything_fits_looks_at_so_many_rows_and_goes_on_from_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_lists, "MOST_EXAMINED", 4)
    monkeypatch.setattr(report_lists, "MOST_MATCHES", 4)
    rare = store.record(check("It is 2 weeks.", score=0.2)).id
    for number in range(11):
        store.record(check(f"It is {number} weeks."))
    for wanted in (ReportFilter(max_score=0.5), ReportFilter(max_score=0.5, words="weeks")):
        with store.reading("default") as connection:
            first = read_page(connection, "default", wanted, None, 2)
        assert (first.items, first.next is not None, first.reached is not None) == ((), True, True)
        assert [line.id for line in every(store, wanted, 2)] == [rare]


@pytest.mark.parametrize("after", ["", "x", "1.2", "s", "9" * 30, "s1", "1." + "0" * 31])
def test_a_place_that_no_page_gave_is_refused(store: Store, after: str) -> None:
    with store.reading("default") as connection, pytest.raises(InputError, match="`next` of the page before"):
        read_page(connection, "default", ReportFilter(), after)


@pytest.mark.parametrize("words", ["", "  ", "?!", "x" * (LONGEST_QUERY + 1), "\x00"])
def test_a_search_without_a_word_is_refused(words: str) -> None:
    with pytest.raises(InputError, match="a search"):
        terms_of(words)


def test_only_the_last_word_of_a_search_is_the_beginning_of_one() -> None:
    assert for_postgresql(terms_of("a-a*")) == "('a' <-> 'a':*)"
    assert for_sqlite(terms_of("a-a*"), "acme") == 'owner : "acme" AND words : ("a a" *)'


def test_long_texts_are_searched_up_to_their_bound(store: Store) -> None:
    assert len(words_of("word " * 10_000)) == MOST_WORDS
    assert len(words_of("語" * 10_000)) == MOST_WORDS
    output = "start " + "middle " * 100_000 + "end"
    id_ = store.record(record_of(output)).id
    assert told(store, words="start middle") == [id_]
    assert told(store, words="end") == []


@given(st.text(max_size=300))
def test_words_are_plain_and_each_finds_its_text(text: str) -> None:
    words = words_of(text)
    assert all(word.isascii() and word.isalnum() and word[0].isalpha() and word == word.lower() for word in words)
    assert words_of(text + " zzz")[: len(words)] == words or len(words) >= MOST_WORDS


@given(st.text(max_size=200))
def test_every_search_is_well_formed_or_refused(text: str) -> None:
    try:
        terms = terms_of(text)
    except InputError:
        return
    assert re.fullmatch(r"(\('[a-z0-9]+'(:\*)?( <-> '[a-z0-9]+'(:\*)?)*\)( & |$))+", for_postgresql(terms))
    assert re.fullmatch(r'owner : "a" AND words : \(("[a-z0-9 ]+"( \*)?( AND |\)$))+', for_sqlite(terms, "a"))
