"""Datasets, experiments and saved views in the store: what they take, what they refuse, and what the log says of it."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.making import record_of

from assay.errors import DatasetError
from assay.store.datasets import (
    ExperimentState,
    Fault,
    Label,
    Outcome,
    add_rows,
    drop_dataset,
    drop_rows,
    drop_view,
    end_experiment,
    keep_outcomes,
    label_rows,
    list_datasets,
    list_experiments,
    list_views,
    make_dataset,
    rates_of,
    read_dataset,
    read_experiment,
    read_outcomes,
    read_rows,
    running_experiments,
    runs_to_check,
    save_view,
    start_experiment,
)
from assay.store.datasets import values as limits
from assay.store.db.store import Store
from assay.store.records.erasure import erase_runs
from assay.store.records.report_details import has_run

T, OTHER = "default", "globex"
WHO: dict[str, Any] = {"actor": "u-1"}


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as made:
        yield made


def recorded(store: Store, count: int = 3, tenant: str = T) -> list[str]:
    runs = [record_of(f"Output {number}.", tenant=tenant) for number in range(count)]
    for run in runs:
        store.record(run)
    return [run.id for run in runs]


def made(store: Store, name: str = "Leave") -> tuple[str, list[str]]:
    runs = recorded(store)
    id_ = make_dataset(store, T, name, maker="ada", **WHO)
    add_rows(store, T, id_, runs, adder="ada", **WHO)
    return id_, runs


def test_a_dataset_takes_each_run_once_and_in_order(store: Store) -> None:
    id_, runs = made(store)
    assert add_rows(store, T, id_, runs[:2], adder="rosa", **WHO) == 0
    with store.reading(T) as connection:
        assert {row.run for row in read_rows(connection, T, id_)} == set(runs)
        [found] = list_datasets(connection, T)
    assert (found.name, found.rows, found.labelled, found.maker) == ("Leave", 3, 0, "ada")


def test_runs_of_another_tenant_are_refused_and_nothing_is_stored(store: Store) -> None:
    id_, _ = made(store)
    foreign = recorded(store, 1, OTHER)
    with pytest.raises(DatasetError) as told:
        add_rows(store, T, id_, foreign, adder="ada", **WHO)
    assert told.value.code == "missing"
    with store.reading(OTHER) as connection:
        assert list_datasets(connection, OTHER) == []
        assert read_dataset(connection, OTHER, id_) is None
        assert read_rows(connection, OTHER, id_) == []


def test_two_datasets_cannot_have_one_name(store: Store) -> None:
    make_dataset(store, T, " Leave  2026 ", maker="ada", **WHO)
    with pytest.raises(DatasetError) as told:
        make_dataset(store, T, "Leave 2026", maker="rosa", **WHO)
    assert told.value.code == "taken"
    make_dataset(store, OTHER, "Leave 2026", maker="kim", **WHO)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_name_has_to_be_one(store: Store, name: str) -> None:
    with pytest.raises(DatasetError):
        make_dataset(store, T, name, maker="ada", **WHO)


def test_a_dataset_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.store.datasets.sets.MOST_ROWS", 2)
    runs, id_ = recorded(store), make_dataset(store, T, "Small", maker="ada", **WHO)
    with pytest.raises(DatasetError) as told:
        add_rows(store, T, id_, runs, adder="ada", **WHO)
    assert told.value.code == "refused"
    assert limits.MOST_ROWS == 1_000


def test_a_label_says_who_and_which_claims(store: Store) -> None:
    id_, runs = made(store)
    label_rows(store, T, id_, {runs[0]: (Label.WRONG, [0]), runs[1]: (Label.RIGHT, [])}, labeller="rosa", **WHO)
    with store.reading(T) as connection:
        rows = {row.run: row for row in read_rows(connection, T, id_)}
    assert (rows[runs[0]].label, rows[runs[0]].wrong_claims, rows[runs[0]].labeller) == (Label.WRONG, (0,), "rosa")
    assert (rows[runs[1]].label, rows[runs[2]].label) == (Label.RIGHT, None)
    label_rows(store, T, id_, {runs[0]: (None, [])}, labeller="rosa", **WHO)
    with store.reading(T) as connection:
        again = {row.run: row for row in read_rows(connection, T, id_)}[runs[0]]
    assert (again.label, again.wrong_claims, again.labeller) == (None, (), None)


@pytest.mark.parametrize(("label", "claims"), [(Label.RIGHT, [0]), (Label.WRONG, [99]), (Label.WRONG, [-1])])
def test_claims_that_cannot_be_wrong_are_refused(store: Store, label: Label, claims: list[int]) -> None:
    id_, runs = made(store)
    with pytest.raises(DatasetError):
        label_rows(store, T, id_, {runs[0]: (label, claims)}, labeller="rosa", **WHO)


def test_what_was_erased_stays_as_a_row_without_content(store: Store) -> None:
    id_, runs = made(store)
    erase_runs(store, runs[:1], "request", T)
    with store.reading(T) as connection:
        gone = next(row for row in read_rows(connection, T, id_) if row.run == runs[0])
    assert (gone.erased, gone.question) == (True, None)


def test_an_experiment_is_done_when_each_run_has_an_outcome(store: Store) -> None:
    id_, runs = made(store)
    one = start_experiment(store, T, id_, "Strict", policy="p", policy_name="strict", maker="ada", **WHO)
    with store.reading_across() as connection:
        assert running_experiments(connection) == [(T, one)]
    with store.reading(T) as connection:
        assert set(runs_to_check(connection, T, one, 10)) == set(runs)
    assert keep_outcomes(store, T, one, [Outcome(runs[0], "block", "block", 0.1, ("contradicted", "supported"))])
    assert not keep_outcomes(store, T, one, [Outcome(run, fault=Fault.ERASED) for run in runs[1:]], verifier="v")
    with store.reading(T) as connection:
        found = read_experiment(connection, T, one)
        outcomes = read_outcomes(connection, T, one)
    assert found is not None
    assert (found.state, found.done, found.count, found.verifier) == (ExperimentState.DONE, 3, 3, "v")
    assert outcomes[runs[0]].verdicts == ("contradicted", "supported")
    assert outcomes[runs[1]].fault is Fault.ERASED


def test_rows_added_later_belong_to_the_next_experiment(store: Store) -> None:
    id_, runs = made(store)
    one = start_experiment(store, T, id_, "First", policy="p", policy_name="x", maker="ada", **WHO)
    add_rows(store, T, id_, recorded(store, 1), adder="ada", **WHO)
    with store.reading(T) as connection:
        assert set(runs_to_check(connection, T, one, 10)) == set(runs)


def test_what_was_stopped_takes_no_further_outcomes(store: Store) -> None:
    id_, runs = made(store)
    one = start_experiment(store, T, id_, "First", policy="p", policy_name="x", maker="ada", **WHO)
    end_experiment(store, T, one, ExperimentState.STOPPED, **WHO)
    assert not keep_outcomes(store, T, one, [Outcome(runs[0], "emit", "emit", 0.9)])
    with store.reading(T) as connection:
        assert read_outcomes(connection, T, one) == {}
    with pytest.raises(DatasetError):
        end_experiment(store, T, one, ExperimentState.STOPPED, **WHO)


def test_an_empty_dataset_cannot_be_run_again(store: Store) -> None:
    id_ = make_dataset(store, T, "Empty", maker="ada", **WHO)
    with pytest.raises(DatasetError):
        start_experiment(store, T, id_, "x", policy="p", policy_name="x", maker="ada", **WHO)


def test_dropping_a_dataset_takes_its_experiments_along_and_leaves_the_runs(store: Store) -> None:
    id_, runs = made(store)
    start_experiment(store, T, id_, "First", policy="p", policy_name="x", maker="ada", **WHO)
    drop_rows(store, T, id_, runs[:1], **WHO)
    drop_dataset(store, T, id_, **WHO)
    with store.reading(T) as connection:
        assert list_datasets(connection, T) == []
        assert list_experiments(connection, T, id_) == []
        assert has_run(connection, T, runs[0])


def test_views_are_their_owners_alone(store: Store) -> None:
    kept = save_view(store, T, "u-1", "runs", "Blocked", "action=block")
    assert save_view(store, T, "u-1", "runs", "Blocked", "action=block&within=7d") == kept
    with store.reading(T) as connection:
        assert [one.query for one in list_views(connection, T, "u-1", "runs")] == ["action=block&within=7d"]
        assert list_views(connection, T, "u-2", "runs") == []
    with pytest.raises(DatasetError):
        drop_view(store, T, "u-2", kept)
    drop_view(store, T, "u-1", kept)
    with store.reading(T) as connection:
        assert list_views(connection, T, "u-1", "runs") == []


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=2),
        st.tuples(st.sampled_from([None, *Label]), st.sampled_from([None, "emit", "revise", "block", "escalate"])),
    )
)
def test_the_two_rates_count_each_decided_row_once(rows: dict[str, tuple[Label | None, str | None]]) -> None:
    found = rates_of({run: label for run, (label, _) in rows.items()}, {run: act for run, (_, act) in rows.items()})
    decided = [(label, act) for label, act in rows.values() if label is not None and act is not None]
    assert found.right + found.wrong == len(decided)
    assert found.emitted + (found.wrong - found.stopped) == sum(act == "emit" for _, act in decided)
