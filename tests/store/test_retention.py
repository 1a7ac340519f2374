"""Rules of retention, the erasure of evidence alone, and turns."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.store.making import DAY, EVIDENCE, KEYS, RING, record_of
from tests.store.test_reading import check
from typer.testing import CliRunner

from assay.cli.operations.audit import app
from assay.errors import StoreError
from assay.schema import Action
from assay.store.audit.entries import read_entry_data
from assay.store.audit.export import export_run
from assay.store.audit.log import read_entries
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db.leases import take_lease
from assay.store.db.store import Store
from assay.store.records.erasure import erase_evidence
from assay.store.records.retention import (
    Applied,
    ChangedError,
    Rule,
    Rules,
    apply_rules,
    read_rules,
    tenants_with_rules,
    write_rules,
)


class Clock:
    """Stands where it is put."""

    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    with Store(url, clock=clock) as opened:
        yield opened


def rules(store: Store, tenant: str = "default") -> Rules:
    with store.reading(tenant) as connection:
        return read_rules(connection, tenant)


def holds(store: Store) -> bool:
    make_checkpoint(store, KEYS, "default")
    with store.reading("default") as connection:
        found = verify_contents(connection, "default", verify_log(connection, "default", RING))
    assert found.holds, found.findings
    return found.holds


def kinds(store: Store) -> list[str]:
    """The kinds of the entries, but for those that bind rows: one follows each act."""
    with store.reading("default") as connection:
        found = [read_entry_data(data)["kind"] for _, data in read_entries(connection, "default")]
    return [kind for kind in found if kind != "rows"]


def test_rules_are_kept_by_tenant_with_a_version_and_an_entry_for_each_change(store: Store) -> None:
    assert rules(store) == Rules(0)
    first = write_rules(store, "default", [Rule(30), Rule(30), Rule(7, "evidence", "emit")], 0, "ann")
    assert (first.version, first.rules) == (1, (Rule(30), Rule(7, "evidence", "emit")))
    assert rules(store, "other") == Rules(0)
    with pytest.raises(ChangedError, match="in version 0, and they are in 1"):
        write_rules(store, "default", [], 0, "bob")
    assert write_rules(store, "default", [], 1, "bob").rules == ()
    with store.reading_across() as connection:
        assert tenants_with_rules(connection) == ["default"]
    assert kinds(store) == ["retention"] * 2
    assert holds(store)


@pytest.mark.parametrize("given", [(0,), (True,), (40_000,), (1, "all"), (1, "content", "emitted")])
def test_a_rule_that_says_nothing_that_can_be_done_is_refused(given: tuple[int]) -> None:
    with pytest.raises(StoreError, match="expected a rule of retention"):
        Rule(*given)


def test_what_is_older_than_its_rule_is_erased_and_nothing_else(store: Store, clock: Clock) -> None:
    old = check("It is 4 weeks.", action=Action.BLOCK)
    kept = record_of("Partners get 2 weeks.")
    store.record(old)
    store.record(kept)
    clock.now += timedelta(days=5)
    young = store.record(check("It is 5 weeks.", action=Action.BLOCK))
    write_rules(store, "default", [Rule(3, action="block"), Rule(2, "evidence", "emit")], 0, "ann")
    assert apply_rules(store, "default", most=1) == Applied(content=1, done=False)
    assert apply_rules(store, "default") == Applied(evidence=1)
    assert apply_rules(store, "default") == Applied()
    assert store.report(old.id) is None
    assert store.report(young.id) is not None
    assert kinds(store) == ["decision"] * 3 + ["retention", "erasure", "erasure"]
    assert holds(store)
    clock.now += timedelta(days=3650)
    write_rules(store, "default", [Rule(1)], 1, "ann")
    assert apply_rules(store, "default") == Applied(content=2)
    assert holds(store)


def test_evidence_goes_alone_where_no_other_run_has_it(store: Store) -> None:
    one, other = record_of("One."), record_of("Other.", evidence=EVIDENCE[:1])
    store.record(one)
    store.record(other)
    assert erase_evidence(store, [one.id, "unknown"], "licence", "default").runs == (one.id,)
    assert erase_evidence(store, [one.id], "licence", "default").runs == ()
    found, still = store.check(one.id), store.check(other.id)
    assert found is not None
    assert still is not None
    # The other run keeps the first piece; this one has none any more, and says so.
    assert (found.evidence_erased, still.evidence_erased) == (True, False)
    assert [content is None for _, _, content in found.evidence] == [True, True]
    assert (found.report, still.evidence[0][2]) == (one.report, EVIDENCE[0])
    assert holds(store)
    with store.reading("default") as connection:
        assert not any(line.startswith('{"content"') for line in export_run(connection, "default", one.id))


def test_one_process_has_a_turn_until_its_time_is_up(store: Store, clock: Clock) -> None:
    assert take_lease(store, "default", "work", "one", 60)
    assert not take_lease(store, "default", "work", "two", 60)
    assert take_lease(store, "default", "other", "two", 60)
    clock.now += timedelta(seconds=30)
    assert take_lease(store, "default", "work", "one", 60)
    clock.now += timedelta(seconds=45)
    assert not take_lease(store, "default", "work", "two", 60)
    clock.now += timedelta(seconds=20)
    assert take_lease(store, "default", "work", "two", 60)


def test_the_command_shows_changes_and_applies_the_rules(tmp_path: Path) -> None:
    database = str(tmp_path / "x.db")
    with Store(database, clock=lambda: DAY) as store:
        id_ = store.record(record_of()).id

    def run(*arguments: str) -> tuple[int, str]:
        made = CliRunner().invoke(app, ["retention", "--database", database, *arguments])
        return made.exit_code, made.output

    assert run() == (0, "no rules: nothing is erased by itself\n")
    assert run("--rule", "30", "--rule", "7:evidence:emit") == (
        0,
        "after 30 days: content of all runs\nafter 7 days: evidence of emit\n",
    )
    assert run("--rule", "x")[0] == run("--rule", "3:all")[0] == run("--rule", "3", "--clear")[0] == 2
    assert run("--apply")[1].endswith("erased 1 runs, and the evidence of 0\n")
    with Store(database) as store:
        assert store.report(id_) is None
    assert run("--clear") == (0, "no rules: nothing is erased by itself\n")
