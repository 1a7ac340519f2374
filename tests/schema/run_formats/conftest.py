"""What the tests of the readers share: the check that nothing of a transcript is lost."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay.schema.run.model import Run

STRUCTURE = frozenset({"role", "type", "jsonrpc", "method", "object", "phase", "media_type", "execution", "index"})
"""Members whose values the normal form says in its own words."""


def leaves(value: Any, key: str = "") -> Iterator[Any]:
    """Every text and number in a JSON value, but those that only say what kind of thing something is."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member, key)
    elif key in STRUCTURE:
        return
    elif isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    else:
        yield str(value)


@pytest.fixture(scope="session")
def nothing_lost() -> Callable[[Any, Run], None]:
    """Checks that every text and number of a transcript stands in the run, and that the wire keeps the run."""

    def check(raw: Any, run: Run) -> None:
        assert Run.model_validate_json(run.model_dump_json()) == run
        assert Run.model_validate(json.loads(json.dumps(run.model_dump(mode="json")))) == run
        kept = set(_texts(run.model_dump(mode="json")))
        numbers = {float(text) for text in kept if _is_number(text)}
        joined = "\n".join(kept)
        missing = []
        for leaf in leaves(raw):
            found = leaf in kept or leaf in joined if isinstance(leaf, str) else float(leaf) in numbers
            if not found:
                missing.append(leaf)
        assert not missing, f"lost on the way: {missing[:5]!r}"

    return check


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
