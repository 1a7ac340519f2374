"""Cached reports for equal requests (`assay.store.records.verdict_cache`)."""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    create_table(
        "verdict_cache",
        "key text, created long, size long, seal bytes, body bytes",
        key="key",
    )
    op.create_index("ix_verdict_cache_tenant_created", "verdict_cache", ["tenant", "created"])


def downgrade() -> None:
    """Drop the table: the checks can be run again."""
    op.drop_table("verdict_cache")
