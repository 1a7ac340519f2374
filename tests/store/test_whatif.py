"""What another policy would have done to stored decisions is what it does when the outputs are checked again."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.store.making import POLICY, record_of

from assay.guard import Guard
from assay.policy import Policy, preset
from assay.schema import Action
from assay.schema.coerce import coerce_evidence
from assay.store.db.store import Store
from assay.store.insights import what_if
from assay.store.insights.what_if import WhatIf, find_policy, policy_history, setting_changes
from assay.store.records.erasure import erase_runs
from assay.store.records.interface import CheckRecord
from assay.testing import FakeScorer

BEFORE = preset("general")
GUARD = Guard(BEFORE, scorer=FakeScorer())
EVIDENCE = ["The hall is painted red.", "The door costs 7 euros, and the key is in the box."]
ANSWERS = (
    "The hall is painted red.",
    "The door costs 5 euros.",
    "The key is in the old box.",
    "The hall is red and tall.",
    "Perhaps the key is in a box.",
    "I do not know.",
)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        yield opened


def record(store: Store, guard: Guard = GUARD, **asked: Any) -> str:
    report = guard.check(**asked)
    rest = {name: value for name, value in asked.items() if name != "evidence"}
    evidence = tuple(coerce_evidence(asked["evidence"]))
    return store.record(CheckRecord(report, rest, evidence, guard.policy)).id


def with_changes(**changes: Any) -> Policy:
    return Policy.model_validate({**BEFORE.model_dump(), **changes})


def test_stored_decisions_are_made_again_as_a_check_would(store: Store) -> None:
    asked: list[dict[str, Any]] = [
        {"answer": answer, "evidence": EVIDENCE, "stakes": stakes, "revisions_failed": failed}
        for answer in ANSWERS
        for stakes, failed in (("low", 0), ("high", 2))
    ]
    for one in asked:
        record(store, **one)
    after = with_changes(emit_threshold=0.5, revise_threshold=0.3, block_threshold=0.1, critical_action="revise")
    version = find_policy(store, "default", BEFORE.digest)
    assert version is not None
    assert version.policy == BEFORE
    tried = WhatIf(store).ask("default", version, BEFORE, after)
    other = Guard(after, scorer=FakeScorer())
    expected = Counter((GUARD.check(**one).action, other.check(**one).action) for one in asked)
    assert tried.moves == expected
    assert (tried.recheck, tried.unknown, tried.decided) == (0, 0, len(asked))
    assert tried.different == len(tried.changed) > 0
    assert tried.before(Action.BLOCK) > tried.after(Action.BLOCK)


def test_a_trial_that_is_told_early_goes_on_where_it_was(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "BATCH", 2)
    for answer in ANSWERS:
        record(store, answer=answer, evidence=EVIDENCE)
    version = find_policy(store, "default", BEFORE.digest)
    assert version is not None
    after = with_changes(emit_threshold=0.95)
    whole = WhatIf(store).ask("default", version, BEFORE, after)
    asking = WhatIf(store)
    first = asking.ask("default", version, BEFORE, after, seconds=0)
    assert (first.decided, first.left) == (2, 4)
    # One that is recorded meanwhile waits for the next trial, and another policy has a trial of its own.
    record(store, answer=ANSWERS[0], evidence=EVIDENCE)
    assert asking.ask("default", version, BEFORE, BEFORE, seconds=0).left == 5
    assert asking.ask("default", version, BEFORE, after, seconds=0).left == 2
    assert asking.ask("default", version, BEFORE, after, seconds=0) == whole
    assert asking.ask("default", version, BEFORE, after).decided == whole.decided + 1


def test_no_more_trials_are_held_than_a_few(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "BATCH", 1)
    monkeypatch.setattr(what_if, "TRIALS", 1)
    for answer in ANSWERS[:3]:
        record(store, answer=answer, evidence=EVIDENCE)
    version = find_policy(store, "default", BEFORE.digest)
    assert version is not None
    asking = WhatIf(store)
    for threshold in (0.9, 0.91, 0.9):
        assert asking.ask("default", version, BEFORE, with_changes(emit_threshold=threshold), seconds=0).left == 2


def test_later_decisions_count_and_erased_ones_are_told_apart(store: Store) -> None:
    asking = WhatIf(store, most=3)
    ids = [record(store, answer=answer, evidence=EVIDENCE) for answer in ANSWERS[:2]]
    version = find_policy(store, "default", BEFORE.digest)
    assert version is not None
    assert asking.ask("default", version, BEFORE, BEFORE).decided == 2
    erase_runs(store, ids[:1], "request", "default")
    record(store, answer=ANSWERS[2], evidence=EVIDENCE)
    tried = WhatIf(store, most=3).ask("default", version, BEFORE, BEFORE)
    assert (tried.decided, tried.unknown, tried.different) == (2, 1, 0)
    assert asking.ask("default", version, BEFORE, with_changes(citations="strict")).recheck == 3
    record(store, answer=ANSWERS[3], evidence=EVIDENCE)
    assert asking.ask("default", version, BEFORE, BEFORE).decided == 3


def test_a_decision_that_was_not_the_gates_alone_is_left_out(store: Store) -> None:
    store.record(record_of())
    version = find_policy(store, "default", POLICY.digest)
    assert version is not None
    tried = WhatIf(store).ask("default", version, POLICY, POLICY)
    assert (tried.decided, tried.unknown) == (0, 1)


def test_the_history_tells_what_was_in_force_and_what_changed(store: Store) -> None:
    record(store, answer=ANSWERS[0], evidence=EVIDENCE)
    after = with_changes(name="house", emit_threshold=0.9)
    record(store, Guard(after, scorer=FakeScorer()), answer=ANSWERS[0], evidence=EVIDENCE)
    newest, oldest = policy_history(store, "default", most=0)
    assert (newest.name, newest.decisions, oldest.digest) == ("house", 1, BEFORE.digest)
    assert newest.settings is not None
    assert oldest.settings is not None
    found = {one.name: (one.before, one.after) for one in setting_changes(oldest.settings, newest.settings)}
    assert found == {"name": ("general", "house"), "emit_threshold": (0.85, 0.9)}
    assert find_policy(store, "other", after.digest) is None
    assert policy_history(store, "other") == []
