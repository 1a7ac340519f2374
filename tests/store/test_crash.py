"""A writer that is killed loses nothing that it acknowledged, and leaves nothing half-written."""

import os

import pytest
from tests.store.crashing import crash

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked"),
    # From Python 3.12 on: the child starts its own threads and touches none of ours.
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]


def test_killed_writers_keep_their_promises(url: str) -> None:
    found = crash(url, kills=4, seed=1)
    assert found.problems == []
    assert found.kills == 4
    assert found.stored >= found.acknowledged


@pytest.mark.slow
def test_many_killed_writers_keep_their_promises(url: str) -> None:
    found = crash(url, kills=40, seed=2)
    assert found.problems == []
    assert found.acknowledged > 0
