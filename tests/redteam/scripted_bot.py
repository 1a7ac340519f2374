"""A system under test whose behaviour a test sets: right, but for what `WRONG` holds."""

import threading
from collections import Counter
from typing import Any

from tests.server.attacks import suite

CASES = suite(4)
CALLS: Counter[str] = Counter()
WRONG: set[str] = set()
STOP: list[threading.Event] = []
"""What is set at the twelfth call."""
_RIGHT = {case.id: case.accepted[0] for case in CASES}


def answer(request: dict[str, Any]) -> str:
    CALLS[request["id"]] += 1
    if STOP and CALLS.total() == 12:
        STOP[0].set()
    return "90 weeks" if request["id"] in WRONG else _RIGHT[request["id"]]


def reset() -> None:
    CALLS.clear()
    WRONG.clear()
    STOP.clear()
