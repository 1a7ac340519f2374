"""Runs of the red team, and proposals for the approved suite (`assay.store.redteam`)."""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    create_table(
        "redteam_runs",
        """
        id text, at long, recorded long, suite text, suite_name text, target text, target_version text?, verifier text,
        source text, schedule text?, due long?, actor text?, ars number?, low number?, high number?, cases int,
        passed int, failed int, unjudged int, flaky int, regressed flag?, weight number?, body bytes?, seal bytes?
        """,
        key="id",
    )
    op.create_index("ix_redteam_runs_tenant_at_id", "redteam_runs", ["tenant", "at", "id"])
    op.create_index("ix_redteam_runs_tenant_schedule_at", "redteam_runs", ["tenant", "schedule", "at"])
    op.create_index("ix_redteam_runs_tenant_weight_at", "redteam_runs", ["tenant", "weight", "at"])
    create_table(
        "redteam_cases",
        """
        run text, position int, case_id text, category text, outcome text, match number?, flaky flag, rule text?,
        told bytes?
        """,
        key="run position",
    )
    op.create_index("ix_redteam_cases_tenant_case_id", "redteam_cases", ["tenant", "case_id"])
    create_table(
        "redteam_proposals",
        """
        id text, created long, run text?, category text, target text, match number?, rule text?, flaky flag, state text,
        decided long?, decider text?, actor text?, reason text?, kept text?, version int, body bytes?, seal bytes?
        """,
        key="id",
    )
    op.create_index(
        "ix_redteam_proposals_tenant_state_created_id", "redteam_proposals", ["tenant", "state", "created", "id"]
    )
    op.create_index("ix_redteam_proposals_tenant_created_id", "redteam_proposals", ["tenant", "created", "id"])
    op.create_index("ix_redteam_proposals_tenant_kept", "redteam_proposals", ["tenant", "kept"])
    create_table(
        "redteam_answers",
        "run text, case_id text, trial int, at long, body bytes?",
        key="run case_id trial",
    )


def downgrade() -> None:
    """Drop the tables: the log keeps its entries on runs and decisions, but their rows are gone."""
    for name in ("redteam_answers", "redteam_proposals", "redteam_cases", "redteam_runs"):
        op.drop_table(name)
