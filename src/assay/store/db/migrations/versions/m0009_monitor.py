"""Monitoring over time: observations, charts, changes, alarms, and the consequences of a spent error budget."""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    create_table(
        "observations",
        """
        id text, at long, added long, stakes text, agent text?, route text?, model text?, categories text,
        probability number?, sampled flag, bad number?, score number?, unfaithful number?, unfactual number?,
        withheld number?, fabricated number?, unretrieved number?
        """,
        key="id",
    )
    op.create_index("ix_observations_tenant_at_id", "observations", ["tenant", "at", "id"])
    create_table("chart_states", "until long, dirty long?, body bytes?", key="until")
    create_table(
        "changes",
        "id text, at long, kind text, ref text, note text, source text, created long, actor text?, seal bytes?",
        key="id",
    )
    op.create_index("ix_changes_tenant_at_id", "changes", ["tenant", "at", "id"])
    create_table(
        "alarms",
        """
        id text, series text, direction text, at long, raised long, state text, changed long?, actor text?, body bytes?,
        seal bytes?
        """,
        key="id",
    )
    op.create_index("ix_alarms_tenant_at_id", "alarms", ["tenant", "at", "id"])
    op.create_index("ix_alarms_tenant_state_at", "alarms", ["tenant", "state", "at"])
    create_table(
        "consequences",
        "name text, active flag, since long, actor text?, body bytes?, seal bytes?",
        key="name",
    )


def downgrade() -> None:
    """Drop the tables: the log keeps its entries on changes, alarms and consequences, but their rows are gone."""
    for name in ("consequences", "alarms", "changes", "chart_states", "observations"):
        op.drop_table(name)
