"""Scheduled work, runs of the golden set, and digests of the gateway's traffic."""

from alembic import op

from assay.store.db.columns import columns
from assay.store.db.migrations.table_creation import create_table

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


_OBSERVED = "cadence text?, misjudged number?"


def upgrade() -> None:
    """Create the tables, and add columns for observations of other outputs than those of production."""
    for column in columns(_OBSERVED):
        op.add_column("observations", column)
    create_table(
        "schedules",
        "name text, slot long, begun long, finished long?, body bytes?",
        key="name",
    )
    create_table(
        "golden_runs",
        """
        id text, slot long, state text, rows_digest text, policy text, verifier text, count int, begun long,
        finished long?, body bytes?
        """,
        key="id",
    )
    op.create_index("ix_golden_runs_tenant_begun_id", "golden_runs", ["tenant", "begun", "id"])
    create_table(
        "golden_results",
        "run text, position int, row text, bad number?, score number?, withheld number?, misjudged number?",
        key="run position",
    )
    create_table(
        "passing",
        "kind text, scope text, at long, source text, count int, body bytes?",
        key="kind scope at source",
    )
    create_table("passing_states", "kind text, scope text, until long, body bytes?", key="kind scope")


def downgrade() -> None:
    """Drop the tables: runs of golden sets are gone, and the gateway's traffic is learned anew."""
    for name in ("passing_states", "passing", "golden_results", "golden_runs", "schedules"):
        op.drop_table(name)
    op.execute("DELETE FROM observations WHERE cadence IS NOT NULL")
    op.drop_column("observations", "misjudged")
    op.drop_column("observations", "cadence")
