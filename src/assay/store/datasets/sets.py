"""Datasets: named sets of recorded runs with labels. A dataset refers to runs and holds no text of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from assay.errors import DatasetError
from assay.receipt import instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import entry
from assay.store.audit.log import Entry
from assay.store.audit.units import DATASET, EXPERIMENT
from assay.store.datasets.values import (
    MOST_DATASETS,
    MOST_ROWS,
    Dataset,
    DatasetRow,
    Label,
    checked_name,
    parse_positions,
)
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at, moment_or_none, storable
from assay.store.db.store import Store, batches
from assay.store.db.writer import Change
from assay.store.records.interface import new_id

DATASETS: Final = "dataset"
"""The kind of the log entries about datasets and experiments."""
_LONGEST_SHOWN: Final = 400
"""The most characters of a question in a row."""
_MOST_NAMED: Final = 5
"""The most runs that an error message names."""


def make_dataset(store: Store, tenant: str, name: str, *, maker: str, actor: str) -> str:
    """Create a dataset without rows.

    Args:
        store: the store.
        tenant: whose dataset.
        name: its name, unique in the tenant.
        maker: the name of the person who creates it.
        actor: the id of that person in the log.

    Returns:
        The id of the dataset.

    Raises:
        DatasetError: the name is taken or malformed, or there are too many datasets.
    """
    id_, now, stored_name = new_id(), store.now(), checked_name(name)

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.datasets.c
        if _has_name(connection, tenant, stored_name):
            raise DatasetError(f"expected a name that no other dataset has, and {stored_name!r} is taken", "taken")
        count = connection.execute(select(func.count()).where(table.tenant == tenant)).scalar_one()
        if count >= MOST_DATASETS:
            raise DatasetError(f"expected at most {MOST_DATASETS} datasets; remove one first", "refused")
        touch(connection, DATASET, [id_])
        connection.execute(
            insert(tables.datasets),
            {"tenant": tenant, "id": id_, "name": stored_name, "created": micros(now), "maker": storable(maker)},
        )
        return [entry(DATASETS, id_, {"at": instant(now), "act": "made", "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))
    return id_


def drop_dataset(store: Store, tenant: str, id_: str, *, actor: str) -> None:
    """Delete a dataset with its labels and experiments; the runs stay.

    Raises:
        DatasetError: there is no such dataset.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        _required(connection, tenant, id_)
        table = tables.experiments.c
        own = select(table.id).where(table.tenant == tenant, table.dataset == id_)
        experiments = list(connection.execute(own).scalars())
        touch(connection, DATASET, [id_])
        touch(connection, EXPERIMENT, experiments)
        for dropped, column, values in (
            (tables.experiment_rows, tables.experiment_rows.c.experiment, experiments),
            (tables.experiments, tables.experiments.c.id, experiments),
            (tables.dataset_rows, tables.dataset_rows.c.dataset, [id_]),
            (tables.datasets, tables.datasets.c.id, [id_]),
        ):
            connection.execute(delete(dropped).where(dropped.c.tenant == tenant, column.in_(values)))
        return [entry(DATASETS, id_, {"at": instant(now), "act": "dropped", "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))


def add_rows(store: Store, tenant: str, id_: str, runs: Sequence[str], *, adder: str, actor: str) -> int:
    """Add runs to a dataset; rows for runs that it already has are left as they are.

    Returns:
        The number of new rows.

    Raises:
        DatasetError: there is no such dataset or run, the content or evidence of a run was erased, or the dataset
            would be too large.
    """
    now, added = store.now(), list[int]()

    def act(connection: Connection) -> Sequence[Entry]:
        added.clear()
        _required(connection, tenant, id_)
        existing = set(_runs_of(connection, tenant, id_))
        new = [run for run in dict.fromkeys(runs) if run not in existing]
        unknown = set(new) - _recorded(connection, tenant, new)
        if unknown:
            raise DatasetError(f"expected runs of {tenant}, and {len(unknown)} of these are not recorded", "missing")
        erased = _erased(connection, tenant, new)
        if erased:
            named = ", ".join(run[:12] for run in erased[:_MOST_NAMED])
            named += " and others" if len(erased) > _MOST_NAMED else ""
            raise DatasetError(
                f"expected runs with their content and evidence; of {len(erased)} of these it was erased, and nothing "
                f"can be labelled or checked again: leave out {named}",
                "refused",
            )
        if len(existing) + len(new) > MOST_ROWS:
            raise DatasetError(
                f"expected at most {MOST_ROWS:,} runs in a dataset, and it would have {len(existing) + len(new):,}; "
                "make another one",
                "refused",
            )
        added.append(len(new))
        if not new:
            return []
        touch(connection, DATASET, [id_])
        at = micros(now)
        connection.execute(
            insert(tables.dataset_rows),
            [{"tenant": tenant, "dataset": id_, "run": run, "added": at, "adder": storable(adder)} for run in new],
        )
        data = {"at": instant(now), "act": "added", "runs": len(new), "actor": actor}
        return [entry(DATASETS, id_, data)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return added[0]


def drop_rows(store: Store, tenant: str, id_: str, runs: Sequence[str], *, actor: str) -> int:
    """Remove runs from a dataset, with their labels.

    Returns:
        The number of removed rows.

    Raises:
        DatasetError: there is no such dataset.
    """
    now, removed = store.now(), list[int]()

    def act(connection: Connection) -> Sequence[Entry]:
        _required(connection, tenant, id_)
        touch(connection, DATASET, [id_])
        table = tables.dataset_rows
        chosen = delete(table).where(table.c.tenant == tenant, table.c.dataset == id_, table.c.run.in_(list(runs)))
        result = connection.execute(chosen)
        removed[:] = [result.rowcount]
        if not result.rowcount:
            return []
        data = {"at": instant(now), "act": "taken out", "runs": result.rowcount, "actor": actor}
        return [entry(DATASETS, id_, data)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return removed[0]


def label_rows(
    store: Store,
    tenant: str,
    id_: str,
    labels: Mapping[str, tuple[Label | None, Sequence[int]]],
    *,
    labeller: str,
    actor: str,
) -> None:
    """Label runs of a dataset.

    Args:
        store: the store.
        tenant: whose dataset.
        id_: the id of the dataset.
        labels: by run, the label and the positions of the wrong claims; a label of None removes the label.
        labeller: the name of the person who labels.
        actor: the id of that person in the log.

    Raises:
        DatasetError: there is no such dataset, row or claim, or wrong claims are given for an output not labelled
            wrong.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        _required(connection, tenant, id_)
        if set(labels) - set(_runs_of(connection, tenant, id_)):
            raise DatasetError("expected runs of this dataset, and some of these are not in it", "missing")
        touch(connection, DATASET, [id_])
        for run, (label, claims) in labels.items():
            _require_claims(connection, tenant, run, label, claims)
            table = tables.dataset_rows
            connection.execute(
                update(table)
                .where(table.c.tenant == tenant, table.c.dataset == id_, table.c.run == run)
                .values(
                    label=None if label is None else label.value,
                    wrong_claims=" ".join(map(str, sorted(set(claims)))) or None,
                    labelled=None if label is None else micros(now),
                    labeller=None if label is None else storable(labeller),
                )
            )
        data = {"at": instant(now), "act": "labelled", "runs": len(labels), "actor": actor}
        return [entry(DATASETS, id_, data)]

    if labels:
        store.apply(Change(checked_tenant(tenant), act=act))


def _require_claims(connection: Connection, tenant: str, run: str, label: Label | None, claims: Sequence[int]) -> None:
    if not claims:
        return
    if label is not Label.WRONG:
        raise DatasetError("expected wrong claims only of an output that is labelled wrong", "refused")
    table = tables.reports.c
    count = connection.execute(select(table.claims).where(table.tenant == tenant, table.id == run)).scalar_one_or_none()
    if count is None or not all(0 <= claim < count for claim in claims):
        raise DatasetError(f"expected claims of the run, which has {count or 0}", "missing")


# Reading


def list_datasets(connection: Connection, tenant: str) -> list[Dataset]:
    """All datasets of a tenant, by name."""
    table, rows = tables.datasets.c, tables.dataset_rows.c
    counts = {
        row.dataset: (row.all_, row.labelled)
        for row in connection.execute(
            select(rows.dataset, func.count().label("all_"), func.count(rows.label).label("labelled"))
            .where(rows.tenant == tenant)
            .group_by(rows.dataset)
        )
    }
    datasets = connection.execute(
        select(table.id, table.name, table.created, table.maker)
        .where(table.tenant == tenant)
        .order_by(table.name)
        .limit(MOST_DATASETS)
    )
    return [
        Dataset(row.id, row.name, moment_at(row.created), row.maker, *counts.get(row.id, (0, 0))) for row in datasets
    ]


def read_dataset(connection: Connection, tenant: str, id_: str) -> Dataset | None:
    """A dataset by its id; None if the tenant has no such dataset."""
    return next((dataset for dataset in list_datasets(connection, tenant) if dataset.id == id_), None)


def read_rows(connection: Connection, tenant: str, id_: str) -> list[DatasetRow]:
    """The rows of a dataset, in the order in which they were added."""
    rows, runs, reports = tables.dataset_rows.c, tables.runs.c, tables.reports.c
    query: Select[Any] = (
        select(
            *(rows[name] for name in ("run", "added", "adder", "label", "wrong_claims", "labelled", "labeller")),
            reports.action,
            reports.score,
            func.substr(runs.question, 1, _LONGEST_SHOWN).label("question"),
            runs.erased,
            runs.bare,
            runs.kind,
        )
        .select_from(
            tables.dataset_rows.outerjoin(tables.runs, (runs.tenant == rows.tenant) & (runs.id == rows.run)).outerjoin(
                tables.reports, (reports.tenant == rows.tenant) & (reports.id == rows.run)
            )
        )
        .where(rows.tenant == tenant, rows.dataset == id_)
        .order_by(rows.added, rows.run)
    )
    return [_row(row) for row in connection.execute(query)]


def _row(row: Row[Any]) -> DatasetRow:
    return DatasetRow(
        run=row.run,
        added=moment_at(row.added),
        adder=row.adder,
        label=None if row.label is None else Label(row.label),
        wrong_claims=parse_positions(row.wrong_claims),
        labelled=moment_or_none(row.labelled),
        labeller=row.labeller,
        action=row.action,
        score=row.score,
        question=row.question,
        erased=row.erased is not None,
        evidence_erased=bool(row.bare),
        kind=row.kind,
    )


def _has_name(connection: Connection, tenant: str, name: str) -> bool:
    table = tables.datasets.c
    return connection.execute(select(table.id).where(table.tenant == tenant, table.name == name)).first() is not None


def _required(connection: Connection, tenant: str, id_: str) -> None:
    table = tables.datasets.c
    if connection.execute(select(table.id).where(table.tenant == tenant, table.id == id_)).first() is None:
        raise DatasetError(f"expected a dataset of {tenant}, and there is none with this id", "missing")


def _runs_of(connection: Connection, tenant: str, id_: str) -> list[str]:
    table = tables.dataset_rows.c
    return list(connection.execute(select(table.run).where(table.tenant == tenant, table.dataset == id_)).scalars())


def _recorded(connection: Connection, tenant: str, runs: Sequence[str]) -> set[str]:
    """Those of the given runs that the tenant has."""
    table, found = tables.runs.c, set[str]()
    for part in batches(runs):
        found.update(connection.execute(select(table.id).where(table.tenant == tenant, table.id.in_(part))).scalars())
    return found


def _erased(connection: Connection, tenant: str, runs: Sequence[str]) -> list[str]:
    """Those of the given runs whose content or evidence was erased."""
    table, erased = tables.runs.c, set[str]()
    for part in batches(runs):
        condition = (table.tenant == tenant, table.id.in_(part), table.erased.is_not(None) | table.bare.is_(True))
        erased.update(connection.execute(select(table.id).where(*condition)).scalars())
    return [run for run in runs if run in erased]
