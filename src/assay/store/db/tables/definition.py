"""How a table is declared: columns, key and indexes as strings."""

from sqlalchemy import Column, Index, MetaData, PrimaryKeyConstraint, Table, Text

from assay.store.db.columns import columns

metadata = MetaData(naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "pk": "pk_%(table_name)s"})


def table(name: str, declaration: str, *, key: str, indexes: tuple[str, ...] = ()) -> Table:
    """A table whose columns, key and indexes begin with the tenant.

    Args:
        name: the name of the table.
        declaration: its other columns (`assay.store.db.columns`).
        key: the columns that identify a row of a tenant, separated by spaces; empty if a tenant has one row.
        indexes: the columns of each index, separated by spaces.
    """
    return Table(
        name,
        metadata,
        Column("tenant", Text, nullable=False),
        *columns(declaration),
        PrimaryKeyConstraint("tenant", *key.split()),
        *(Index(None, "tenant", *names.split()) for names in indexes),
    )
