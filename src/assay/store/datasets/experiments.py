"""Experiments: a dataset is checked again under another policy or verifier, run by run."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from assay.errors import DatasetError
from assay.receipt import instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import entry
from assay.store.audit.log import Entry
from assay.store.audit.units import EXPERIMENT
from assay.store.datasets.sets import DATASETS
from assay.store.datasets.values import (
    MOST_EXPERIMENTS,
    Experiment,
    ExperimentState,
    Fault,
    Outcome,
    checked_name,
)
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at, moment_or_none, storable
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.interface import new_id


def start_experiment(
    store: Store,
    tenant: str,
    dataset: str,
    name: str,
    *,
    policy: str,
    policy_name: str,
    judge: str = "policy",
    maker: str,
    actor: str,
) -> str:
    """Begin an experiment on the current rows of a dataset; a task of the server then checks them.

    Args:
        store: the store.
        tenant: whose dataset.
        dataset: the id of the dataset.
        name: the name of the experiment.
        policy: the name of a preset, or the digest of a policy under which the gate decided.
        policy_name: the name of that policy.
        judge: `policy`, or `all` to put every claim to the judge.
        maker: the name of the person who begins it.
        actor: the id of that person in the log.

    Returns:
        The id of the experiment.

    Raises:
        DatasetError: there is no such dataset, it has no rows, or too many experiments.
    """
    id_, now, stored_name = new_id(), store.now(), checked_name(name)

    def act(connection: Connection) -> Sequence[Entry]:
        runs = _runs_of(connection, tenant, dataset)
        touch(connection, EXPERIMENT, [id_])
        connection.execute(
            insert(tables.experiments),
            {
                "tenant": tenant,
                "id": id_,
                "dataset": dataset,
                "name": stored_name,
                "created": micros(now),
                "maker": storable(maker),
                "state": ExperimentState.RUNNING.value,
                "policy": policy,
                "policy_name": storable(policy_name),
                "judge": judge,
                "count": len(runs),
            },
        )
        # The runs are fixed here: rows that the dataset gets later belong to later experiments only.
        connection.execute(
            insert(tables.experiment_rows), [{"tenant": tenant, "experiment": id_, "run": run} for run in runs]
        )
        data = {"at": instant(now), "act": "experiment begun", "of": dataset, "policy": policy, "actor": actor}
        return [entry(DATASETS, id_, data)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return id_


def _runs_of(connection: Connection, tenant: str, dataset: str) -> list[str]:
    """The runs of a dataset that an experiment will check.

    Raises:
        DatasetError: there are none, or there are too many experiments.
    """
    rows, table = tables.dataset_rows.c, tables.experiments.c
    query = select(rows.run).where(rows.tenant == tenant, rows.dataset == dataset).order_by(rows.added, rows.run)
    runs = list(connection.execute(query).scalars())
    if not runs:
        raise DatasetError("expected a dataset with runs in it; add some first", "refused")
    count = select(func.count()).where(table.tenant == tenant, table.dataset == dataset)
    if connection.execute(count).scalar_one() >= MOST_EXPERIMENTS:
        raise DatasetError(f"expected at most {MOST_EXPERIMENTS} experiments on a dataset", "refused")
    return runs


def keep_outcomes(
    store: Store, tenant: str, id_: str, outcomes: Sequence[Outcome], *, verifier: str | None = None
) -> bool:
    """Store the outcomes of some runs of an experiment; the last ones complete it.

    Returns:
        Whether runs remain to be checked.

    Raises:
        DatasetError: there is no such experiment.
    """
    now, unfinished = store.now(), list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        unfinished.clear()
        experiment = _required(connection, tenant, id_)
        if experiment.state is not ExperimentState.RUNNING:
            unfinished.append(False)
            return []
        touch(connection, EXPERIMENT, [id_])
        rows = tables.experiment_rows
        for outcome in outcomes:
            connection.execute(
                update(rows)
                .where(rows.c.tenant == tenant, rows.c.experiment == id_, rows.c.run == outcome.run)
                .values(
                    action=outcome.action,
                    route=outcome.route,
                    score=outcome.score,
                    verdicts=" ".join(outcome.verdicts) or None,
                    fault=None if outcome.fault is None else outcome.fault.value,
                )
            )
        left = connection.execute(
            select(func.count()).where(
                rows.c.tenant == tenant,
                rows.c.experiment == id_,
                rows.c.action.is_(None),
                rows.c.fault.is_(None),
            )
        ).scalar_one()
        values: dict[str, Any] = {} if verifier is None else {"verifier": storable(verifier)}
        if not left:
            values |= {"state": ExperimentState.DONE.value, "finished": micros(now)}
        unfinished.append(bool(left))
        if values:
            _update(connection, tenant, id_, values)
        return [] if left else [entry(DATASETS, id_, {"at": instant(now), "act": "experiment done"})]

    store.apply(Change(checked_tenant(tenant), act=act))
    return unfinished[0]


def end_experiment(store: Store, tenant: str, id_: str, state: ExperimentState, *, actor: str) -> None:
    """End a running experiment, because a person stops it or it cannot continue.

    Raises:
        DatasetError: there is no such experiment, or it has ended.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        if _required(connection, tenant, id_).state is not ExperimentState.RUNNING:
            raise DatasetError("expected an experiment that is running, and this one has ended", "refused")
        touch(connection, EXPERIMENT, [id_])
        _update(connection, tenant, id_, {"state": state.value, "finished": micros(now)})
        return [entry(DATASETS, id_, {"at": instant(now), "act": f"experiment {state.value}", "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))


def _update(connection: Connection, tenant: str, id_: str, values: dict[str, Any]) -> None:
    table = tables.experiments
    connection.execute(update(table).where(table.c.tenant == tenant, table.c.id == id_).values(**values))


# Reading


def list_experiments(connection: Connection, tenant: str, dataset: str) -> list[Experiment]:
    """The experiments on a dataset, newest first."""
    table = tables.experiments.c
    rows = connection.execute(
        select(tables.experiments)
        .where(table.tenant == tenant, table.dataset == dataset)
        .order_by(table.created.desc(), table.id)
        .limit(MOST_EXPERIMENTS)
    ).all()
    done = _done_counts(connection, tenant, [row.id for row in rows])
    return [_experiment(row, done.get(row.id, 0)) for row in rows]


def read_experiment(connection: Connection, tenant: str, id_: str) -> Experiment | None:
    """An experiment by its id; None if the tenant has no such experiment."""
    table = tables.experiments.c
    row = connection.execute(select(tables.experiments).where(table.tenant == tenant, table.id == id_)).one_or_none()
    return None if row is None else _experiment(row, _done_counts(connection, tenant, [id_]).get(id_, 0))


def running_experiments(connection: Connection) -> list[tuple[str, str]]:
    """Tenant and id of the running experiments of all tenants (`Store.reading_across`), oldest first."""
    table = tables.experiments.c
    rows = connection.execute(
        select(table.tenant, table.id)
        .where(table.state == ExperimentState.RUNNING.value)
        .order_by(table.created, table.id)
        .limit(MOST_EXPERIMENTS)
    )
    return [(row.tenant, row.id) for row in rows]


def runs_to_check(connection: Connection, tenant: str, id_: str, limit: int) -> list[str]:
    """Runs of an experiment that are still to be checked, at most `limit`."""
    rows = tables.experiment_rows.c
    runs = connection.execute(
        select(rows.run)
        .where(rows.tenant == tenant, rows.experiment == id_, rows.action.is_(None), rows.fault.is_(None))
        .order_by(rows.run)
        .limit(limit)
    )
    return list(runs.scalars())


def read_outcomes(connection: Connection, tenant: str, id_: str) -> dict[str, Outcome]:
    """The outcomes of an experiment by run; runs that are still to be checked are left out."""
    rows = tables.experiment_rows.c
    stored = connection.execute(
        select(tables.experiment_rows).where(rows.tenant == tenant, rows.experiment == id_).order_by(rows.run)
    )
    return {
        row.run: Outcome(
            row.run,
            row.action,
            row.route,
            row.score,
            tuple((row.verdicts or "").split()),
            None if row.fault is None else Fault(row.fault),
        )
        for row in stored
        if row.action is not None or row.fault is not None
    }


def _done_counts(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, int]:
    rows = tables.experiment_rows.c
    counted = connection.execute(
        select(rows.experiment, (func.count(rows.action) + func.count(rows.fault)).label("done"))
        .where(rows.tenant == tenant, rows.experiment.in_(list(ids)))
        .group_by(rows.experiment)
    )
    return {row.experiment: row.done for row in counted}


def _required(connection: Connection, tenant: str, id_: str) -> Experiment:
    experiment = read_experiment(connection, tenant, id_)
    if experiment is None:
        raise DatasetError(f"expected an experiment of {tenant}, and there is none with this id", "missing")
    return experiment


def _experiment(row: Row[Any], done: int) -> Experiment:
    return Experiment(
        id=row.id,
        dataset=row.dataset,
        name=row.name,
        created=moment_at(row.created),
        maker=row.maker,
        state=ExperimentState(row.state),
        policy=row.policy,
        policy_name=row.policy_name,
        judge=row.judge,
        verifier=row.verifier,
        count=row._mapping["count"],  # noqa: SLF001 `count` is a method of a row
        finished=moment_or_none(row.finished),
        done=done,
    )
