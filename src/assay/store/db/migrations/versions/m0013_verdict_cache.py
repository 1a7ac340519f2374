"""Reports kept by content for equal requests (`assay.store.records.verdict_cache`)."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. `assay.store.db.row_security` then walls it, as every table with a tenant."""
    op.create_table(
        "verdict_cache",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name="pk_verdict_cache"),
    )
    op.create_index("ix_verdict_cache_tenant_created", "verdict_cache", ["tenant", "created"])


def downgrade() -> None:
    """Drop the table: what it held can be made again."""
    op.drop_table("verdict_cache")
