"""Sketches of what was measured, and alerts (`assay.store.sketches`, `assay.store.alerts`)."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables. `assay.store.db.row_security` then walls them, as every table with a tenant.

    They are empty: what was recorded before is counted by the next server that runs.
    """
    op.create_table(
        "sketches",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hour", sa.BigInteger(), nullable=False),
        sa.Column("bin", sa.Integer(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("squares", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "step", "metric", "kind", "name", "hour", "bin", name="pk_sketches"),
        # Rows in the order of their key: a panel reads one stretch of pages.
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sketch_cursors",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name="pk_sketch_cursors"),
    )
    op.create_table(
        "worst_outputs",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("hour", sa.BigInteger(), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "hour", "report", name="pk_worst_outputs"),
    )
    op.create_table(
        "alerts",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("opened", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("told", sa.BigInteger(), nullable=True),
        sa.Column("closed", sa.BigInteger(), nullable=True),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_alerts"),
    )
    op.create_index("ix_alerts_tenant_key_opened", "alerts", ["tenant", "key", "opened"])
    op.create_index("ix_alerts_tenant_opened_id", "alerts", ["tenant", "opened", "id"])
    op.create_table(
        "alert_silences",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("maker", sa.Text(), nullable=True),
        sa.Column("made", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name="pk_alert_silences"),
    )


def downgrade() -> None:
    """Drop the tables: the sketches can be counted again, the alerts are gone (the log keeps their entries)."""
    for name in ("alert_silences", "alerts", "worst_outputs", "sketch_cursors", "sketches"):
        op.drop_table(name)
