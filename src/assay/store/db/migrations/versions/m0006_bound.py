"""Seals, with which the log commits to the rows of runs, users, keys and rules (`assay.store.audit.units`).

Rows that are there already are bound as they are, after the last migration (`assay.store.audit.adoption`).
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
    """Drop the columns: bound rows can no longer be verified."""
    for table in _SEALED:
        op.drop_column(table, "seal")
