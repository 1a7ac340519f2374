"""What all tests share."""

import gc
import os

from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine, not of the code. CI draws the same examples each time, so
# that a change is judged by what it changed; at a desk every run draws new ones, which is where surprises belong.
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """Takes what was collected out of the collector's sight.

    Thousands of tests with their modules stay to the end; looked through again and again, they made each test that
    starts a server three times as slow.
    """
    gc.collect()
    gc.freeze()
