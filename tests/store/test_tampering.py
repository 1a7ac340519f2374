"""Whatever is done to a log below a checkpoint that is kept elsewhere is noticed, by three verifiers alike."""

from pathlib import Path

import pytest
from tests.store.tampering import ALTERATIONS, COVERS, OTHERS, bundle_trials, make_log, run_trials

EACH = len(ALTERATIONS) * len(COVERS) + len(OTHERS)


def test_every_alteration_is_noticed_however_it_is_covered_up(tmp_path: Path) -> None:
    log = make_log(tmp_path, 60)
    outcome = run_trials(log, 4 * EACH, seed=1)
    log.store.close()
    assert outcome.missed == []
    assert len(outcome.trials) == EACH


def test_the_stand_alone_verifier_refuses_every_altered_bundle(tmp_path: Path) -> None:
    log = make_log(tmp_path, 40)
    outcome = bundle_trials(log, 300, seed=2)
    log.store.close()
    assert outcome.missed == []
    assert len(outcome.trials) == 5


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 257, 600])
def test_logs_of_other_sizes_are_no_easier(tmp_path: Path, size: int) -> None:
    log = make_log(tmp_path, size + size % 4)
    outcome = run_trials(log, 10 * EACH, seed=size)
    log.store.close()
    assert outcome.missed == []
