"""How a table is declared: its columns as a text, its key and its indexes as names with spaces between them."""

from sqlalchemy import Column, Index, MetaData, PrimaryKeyConstraint, Table, Text

from assay.store.db.columns import columns

metadata = MetaData(naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "pk": "pk_%(table_name)s"})


def table(name: str, listed: str, *, key: str, indexes: tuple[str, ...] = ()) -> Table:
    """A table with the tenant first, in its key and in its indexes.

    Args:
        listed: Its other columns (`assay.store.db.columns`).
        key: What of them identifies a row of a tenant; empty where a tenant has one row.
        indexes: The columns of each index.
    """
    return Table(
        name,
        metadata,
        Column("tenant", Text, nullable=False),
        *columns(listed),
        PrimaryKeyConstraint("tenant", *key.split()),
        *(Index(None, "tenant", *one.split()) for one in indexes),
    )
