"""Tapes: what chat models said in the course of a check, so that it can be run again (`runs.tape`)."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what was recorded before has no tape, and its commitments hold as they are."""
    op.add_column("runs", sa.Column("tape", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Drop the column: runs that had a tape no longer hold against the log."""
    op.drop_column("runs", "tape")
