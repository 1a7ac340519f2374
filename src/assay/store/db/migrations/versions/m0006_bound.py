"""Seals: with them the log commits to the rows of runs, people, keys and rules (`assay.store.audit.units`).

What is there already is bound once all migrations were made, as it is found (`assay.store.audit.adoption`).
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_SEALED = ("runs", "users", "sessions", "api_keys", "access_tokens", "tenants", "retention")


def upgrade() -> None:
    """Add the columns."""
    for table in _SEALED:
        op.add_column(table, sa.Column("seal", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Drop the columns: nothing that was bound can be verified any more."""
    for table in _SEALED:
        op.drop_column(table, "seal")
