"""Datasets: runs that people keep under a name and label. A dataset names runs and holds no text of theirs."""

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
    places_of,
)
from assay.store.db import tables
from assay.store.db.store import Store, batches
from assay.store.db.writer import Change
from assay.store.records.interface import new_id
from assay.store.records.recording import checked_tenant, micros, moment_at, storable

DATASETS: Final = "dataset"
"""The kind of the log's entries about datasets and experiments."""
_LONGEST_SHOWN: Final = 400
_NAMED: Final = 5
"""Runs that a refusal names."""


def make_dataset(store: Store, tenant: str, name: str, *, maker: str, actor: str) -> str:
    """Make a dataset without rows.

    Args:
        store: the store.
        tenant: whose.
        name: what it is called; no two of a tenant have one name.
        maker: the person's name.
        actor: what the log names them by.

    Returns:
        Its id.

    Raises:
        DatasetError: the name is taken or malformed, or there are too many.
    """
    id_, now, called = new_id(), store.now(), checked_name(name)

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.datasets.c
        if _named(connection, tenant, called) is not None:
            raise DatasetError(f"expected a name that no other dataset has, and {called!r} is taken", "taken")
        count = connection.execute(select(func.count()).where(table.tenant == tenant)).scalar_one()
        if count >= MOST_DATASETS:
            raise DatasetError(f"expected at most {MOST_DATASETS} datasets; remove one first", "refused")
        touch(connection, DATASET, [id_])
        connection.execute(
            insert(tables.datasets),
            {"tenant": tenant, "id": id_, "name": called, "created": micros(now), "maker": storable(maker)},
        )
        return [entry(DATASETS, id_, {"at": instant(now), "act": "made", "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))
    return id_


def drop_dataset(store: Store, tenant: str, id_: str, *, actor: str) -> None:
    """Drop a dataset with its labels and experiments; the runs stay.

    Raises:
        DatasetError: there is none such.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        _required(connection, tenant, id_)
        table = tables.experiments.c
        own = list(connection.execute(select(table.id).where(table.tenant == tenant, table.dataset == id_)).scalars())
        touch(connection, DATASET, [id_])
        touch(connection, EXPERIMENT, own)
        for gone, column, values in (
            (tables.experiment_rows, tables.experiment_rows.c.experiment, own),
            (tables.experiments, tables.experiments.c.id, own),
            (tables.dataset_rows, tables.dataset_rows.c.dataset, [id_]),
            (tables.datasets, tables.datasets.c.id, [id_]),
        ):
            connection.execute(delete(gone).where(gone.c.tenant == tenant, column.in_(values)))
        return [entry(DATASETS, id_, {"at": instant(now), "act": "dropped", "actor": actor})]

    store.apply(Change(checked_tenant(tenant), act=act))


def add_rows(store: Store, tenant: str, id_: str, runs: Sequence[str], *, adder: str, actor: str) -> int:
    """Add runs to a dataset; those that it has already are left as they are.

    Returns:
        How many are new.

    Raises:
        DatasetError: there is no such dataset or run, the content or evidence of a run was erased, or the dataset
            would be too large.
    """
    now, added = store.now(), list[int]()

    def act(connection: Connection) -> Sequence[Entry]:
        added.clear()
        _required(connection, tenant, id_)
        wanted = list(dict.fromkeys(runs))
        there = set(_own(connection, tenant, id_))
        new = [run for run in wanted if run not in there]
        unknown = set(new) - _known(connection, tenant, new)
        if unknown:
            raise DatasetError(f"expected runs of {tenant}, and {len(unknown)} of these are not recorded", "missing")
        gone = _gone(connection, tenant, new)
        if gone:
            named = ", ".join(run[:12] for run in gone[:_NAMED]) + (" and others" if len(gone) > _NAMED else "")
            raise DatasetError(
                f"expected runs with their content and evidence; of {len(gone)} of these it was erased, and nothing "
                f"can be labelled or checked again: leave out {named}",
                "refused",
            )
        if len(there) + len(new) > MOST_ROWS:
            raise DatasetError(
                f"expected at most {MOST_ROWS:,} runs in a dataset, and it would have {len(there) + len(new):,}; "
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
    """Take runs out of a dataset, with their labels.

    Returns:
        How many were in it.

    Raises:
        DatasetError: there is no such dataset.
    """
    now, gone = store.now(), list[int]()

    def act(connection: Connection) -> Sequence[Entry]:
        gone.clear()
        _required(connection, tenant, id_)
        touch(connection, DATASET, [id_])
        table = tables.dataset_rows
        done = connection.execute(
            delete(table).where(table.c.tenant == tenant, table.c.dataset == id_, table.c.run.in_(list(runs)))
        )
        gone.append(done.rowcount)
        if not done.rowcount:
            return []
        data = {"at": instant(now), "act": "taken out", "runs": done.rowcount, "actor": actor}
        return [entry(DATASETS, id_, data)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return gone[0]


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
        tenant: whose.
        id_: of the dataset.
        labels: by run, the label and the positions of the claims that are wrong; none takes a label away.
        labeller: the person's name.
        actor: what the log names them by.

    Raises:
        DatasetError: there is no such dataset, row or claim, or claims are named of an output that is not wrong.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        _required(connection, tenant, id_)
        there = set(_own(connection, tenant, id_))
        if set(labels) - there:
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
    found = connection.execute(
        select(table.id, table.name, table.created, table.maker)
        .where(table.tenant == tenant)
        .order_by(table.name)
        .limit(MOST_DATASETS)
    )
    return [Dataset(row.id, row.name, moment_at(row.created), row.maker, *counts.get(row.id, (0, 0))) for row in found]


def read_dataset(connection: Connection, tenant: str, id_: str) -> Dataset | None:
    """A dataset by its id; none where the tenant has none such."""
    return next((one for one in list_datasets(connection, tenant) if one.id == id_), None)


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
        wrong_claims=places_of(row.wrong_claims),
        labelled=None if row.labelled is None else moment_at(row.labelled),
        labeller=row.labeller,
        action=row.action,
        score=row.score,
        question=row.question,
        erased=row.erased is not None,
        evidence_erased=bool(row.bare),
        kind=row.kind,
    )


def _named(connection: Connection, tenant: str, name: str) -> str | None:
    table = tables.datasets.c
    found = connection.execute(select(table.id).where(table.tenant == tenant, table.name == name))
    return found.scalar_one_or_none()


def _required(connection: Connection, tenant: str, id_: str) -> None:
    table = tables.datasets.c
    if connection.execute(select(table.id).where(table.tenant == tenant, table.id == id_)).first() is None:
        raise DatasetError(f"expected a dataset of {tenant}, and there is none with this id", "missing")


def _own(connection: Connection, tenant: str, id_: str) -> list[str]:
    table = tables.dataset_rows.c
    return list(connection.execute(select(table.run).where(table.tenant == tenant, table.dataset == id_)).scalars())


def _known(connection: Connection, tenant: str, runs: Sequence[str]) -> set[str]:
    table, found = tables.runs.c, set[str]()
    for part in batches(runs):
        found.update(connection.execute(select(table.id).where(table.tenant == tenant, table.id.in_(part))).scalars())
    return found


def _gone(connection: Connection, tenant: str, runs: Sequence[str]) -> list[str]:
    """Those whose content or evidence was erased."""
    table, found = tables.runs.c, set[str]()
    for part in batches(runs):
        here = (table.tenant == tenant, table.id.in_(part), table.erased.is_not(None) | table.bare.is_(True))
        found.update(connection.execute(select(table.id).where(*here)).scalars())
    return [run for run in runs if run in found]
