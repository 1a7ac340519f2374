"""What all tests share."""

import gc
import os
import signal
from collections.abc import Generator
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine, not of the code. CI draws the same examples each time, so
# that a change is judged by what it changed; at a desk every run draws new ones, which is where surprises belong.
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("steady")

# A shell ignores interrupts for what runs in the background, and children inherit that: tests that interrupt a command
# would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Looks for doctests in the package alone.

    There a module that needs an extra may fail to be imported and is left out. A test file that was left out for that
    would pass in silence: read for doctests first, it is then taken for imported, and has no tests.
    """
    found = yield
    return [node for node in found if not isinstance(node, DoctestModule)]


def pytest_collection_finish() -> None:
    """Takes what was collected out of the collector's sight.

    Thousands of tests with their modules stay to the end; looked through again and again, they made each test that
    starts a server three times as slow.
    """
    gc.collect()
    gc.freeze()
