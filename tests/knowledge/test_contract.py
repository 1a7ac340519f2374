"""What every kind of source promises, held against a real one of each kind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.knowledge.kinds import KINDS

from assay.errors import SourceError
from assay.knowledge.inquiries import PARAMETERS
from assay.knowledge.interface import Deadline, Inquiry, Limits
from assay.knowledge.kinds.files import FilesSource
from assay.knowledge.kinds.mcp import McpSource

HOSTILE = (
    "Aria 2'; DROP TABLE products; --",
    'Aria 2" } UNION { ?s ?p ?o } #',
    "../../etc/passwd",
    "..",
    "%2e%2e/",
    "\\u0022 } INSERT DATA { <a:a> <a:b> <a:c> } #",
    "a\x00b",
    "\ud800",
    "{claim}",
    "*) OR name:",
    '") OR 1=1 --',
    "?q=1&admin=true#",
    "http://127.0.0.1:1/",
    "' OR '1'='1",
    "\r\nX-Admin: yes\r\n\r\n",
    "{{7*7}}",
    "$entity",
    ":entity",
)


@pytest.fixture(params=sorted(KINDS))
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with KINDS[request.param](tmp_path, Limits()) as made:
        yield made
        made.close()


def asked(source: Any, *entities: str, seconds: float = 60) -> Any:
    return source.ask(Inquiry(entities=entities), Deadline(seconds))


def test_it_finds_what_it_has_and_says_what_it_was_asked(source: Any) -> None:
    found = asked(source, "Lark")
    assert [one.text.replace("\n", " ") for one in found.passages if "Lark costs EUR 20" in one.text.replace("\n", " ")]
    assert all(one.id for one in found.passages)
    assert any("Lark" in str(value) or "lark" in str(value) for one in found.asked for value in one.values())
    assert found.size > 0


def test_it_has_nothing_on_what_it_does_not_know(source: Any) -> None:
    found = asked(source, "Quagga")
    assert found.passages == ()
    assert found.asked


def test_without_anything_to_ask_with_nothing_is_asked(source: Any) -> None:
    found = source.ask(Inquiry(), Deadline(20))
    assert (found.passages, found.asked) == ((), ())


def test_the_first_name_that_it_knows_is_enough(source: Any) -> None:
    found = asked(source, "Quagga", "Lark")
    assert any("Lark" in one.text for one in found.passages)


def test_hostile_names_find_nothing_and_break_nothing(source: Any) -> None:
    before = {one.text for one in asked(source, "Heron").passages}
    for name in HOSTILE if not isinstance(source, McpSource) else ("\x00".join(HOSTILE), *HOSTILE[:2]):
        try:
            found = asked(source, name)
        except SourceError:
            continue
        # A folder is searched by words, of which an address may share some with any document.
        texts = [] if isinstance(source, FilesSource) else [one.text for one in found.passages]
        assert not any("Heron" in text or "Lark" in text for text in texts), name
    assert {one.text for one in asked(source, "Heron").passages} == before


def test_a_deadline_that_has_passed_is_an_error_and_no_answer(source: Any) -> None:
    begun = time.monotonic()
    with pytest.raises(SourceError, match="time"):
        asked(source, "Lark", seconds=0)
    assert time.monotonic() - begun < 5


def test_threads_may_share_it(source: Any) -> None:
    seen: list[set[str]] = []

    def work() -> None:
        seen.append({one.text for one in asked(source, "Lark").passages})

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(seen) == 3
    assert all(texts == seen[0] for texts in seen)


def test_it_says_which_parameters_it_takes_and_has_a_digest(source: Any) -> None:
    assert source.names
    assert set(source.names) <= PARAMETERS
    assert len(source.digest) == 64
    assert source.digest == source.digest


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_more_passages_are_given_than_are_allowed_and_no_longer_ones(kind: str, tmp_path: Path) -> None:
    with KINDS[kind](tmp_path, Limits(passages=1, passage_characters=10)) as made:
        found = asked(made, "Lark")
        assert len(found.passages) == 1
        assert len(found.passages[0].text) <= 10
        assert found.notes
        made.close()
