"""Tapes: the answers of chat models during a check, so that it can be replayed (`runs.tape`)."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; runs that are there have no tape, and their commitments stay valid."""
    op.add_column("runs", sa.Column("tape", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Drop the column: runs that had a tape no longer match the log."""
    op.drop_column("runs", "tape")
