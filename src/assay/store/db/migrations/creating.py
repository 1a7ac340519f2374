"""How a migration makes a table: its columns as a text, as the tables of this version are declared."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from assay.store.db.columns import columns


def create_table(name: str, listed: str, *, key: str, **options: Any) -> None:
    """Make a table with the tenant first, in its key too.

    Args:
        listed: Its other columns (`assay.store.db.columns`).
        key: What of them identifies a row of a tenant; names with spaces between them.
        options: Of the table, for one kind of database.
    """
    op.create_table(
        name,
        sa.Column("tenant", sa.Text(), nullable=False),
        *columns(listed),
        sa.PrimaryKeyConstraint("tenant", *key.split(), name=f"pk_{name}"),
        **options,
    )
