"""How a migration creates a table: with columns declared in a string, as the tables of this version are."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from assay.store.db.columns import columns


def create_table(name: str, declaration: str, *, key: str, **options: Any) -> None:
    """Create a table whose columns and key begin with the tenant.

    Args:
        name: the name of the table.
        declaration: its other columns (`assay.store.db.columns`).
        key: the columns that identify a row of a tenant, separated by spaces.
        options: options of the table for one dialect.
    """
    op.create_table(
        name,
        sa.Column("tenant", sa.Text(), nullable=False),
        *columns(declaration),
        sa.PrimaryKeyConstraint("tenant", *key.split(), name=f"pk_{name}"),
        **options,
    )
