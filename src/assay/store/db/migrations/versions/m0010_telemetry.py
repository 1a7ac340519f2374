"""Sketches of measurements, and alerts (`assay.store.sketches`, `assay.store.alerts`)."""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, empty: the next server that runs counts the runs that are there."""
    create_table(
        "sketches",
        """
        step int, metric text, kind text, name text, hour long, bin int, count long, total long, squares long
        """,
        key="step metric kind name hour bin",
        sqlite_with_rowid=False,
    )
    create_table("sketch_cursors", "position long, version int", key="")
    create_table("worst_outputs", "hour long, report text, score number?", key="hour report")
    create_table(
        "alerts",
        """
        id text, key text, kind text, severity text, state text, opened long, seen long, told long?, closed long?,
        times int, owner text?, version int, body bytes?
        """,
        key="id",
    )
    op.create_index("ix_alerts_tenant_key_opened", "alerts", ["tenant", "key", "opened"])
    op.create_index("ix_alerts_tenant_opened_id", "alerts", ["tenant", "opened", "id"])
    create_table("alert_silences", "key text, until long, maker text?, made long", key="key")


def downgrade() -> None:
    """Drop the tables: the sketches can be counted again, the alerts are gone (the log keeps their entries)."""
    for name in ("alert_silences", "alerts", "worst_outputs", "sketch_cursors", "sketches"):
        op.drop_table(name)
