"""Runs of the red team, and proposals for the approved suite (`assay.store.redteam`)."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _long(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null)


def _int(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _number(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=True)


def _flag(name: str, *, null: bool = False) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=null)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=True)


def upgrade() -> None:
    """Make the tables. `assay.store.db.row_security` then walls them, as every table with a tenant."""
    op.create_table(
        "redteam_runs",
        _text("tenant"), _text("id"), _long("at"), _long("recorded"), _text("suite"), _text("suite_name"),
        _text("target"), _text("target_version", null=True), _text("verifier"), _text("source"),
        _text("schedule", null=True), _long("due", null=True), _text("actor", null=True), _number("ars"),
        _number("low"), _number("high"), _int("cases"), _int("passed"), _int("failed"), _int("unjudged"),
        _int("flaky"), _flag("regressed", null=True), _number("weight"), _bytes("body"), _bytes("seal"),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_redteam_runs"),
    )  # fmt: skip
    op.create_index("ix_redteam_runs_tenant_at_id", "redteam_runs", ["tenant", "at", "id"])
    op.create_index("ix_redteam_runs_tenant_schedule_at", "redteam_runs", ["tenant", "schedule", "at"])
    op.create_index("ix_redteam_runs_tenant_weight_at", "redteam_runs", ["tenant", "weight", "at"])
    op.create_table(
        "redteam_cases",
        _text("tenant"), _text("run"), _int("position"), _text("case_id"), _text("category"), _text("outcome"),
        _number("match"), _flag("flaky"), _text("rule", null=True), _bytes("told"),
        sa.PrimaryKeyConstraint("tenant", "run", "position", name="pk_redteam_cases"),
    )  # fmt: skip
    op.create_index("ix_redteam_cases_tenant_case_id", "redteam_cases", ["tenant", "case_id"])
    op.create_table(
        "redteam_proposals",
        _text("tenant"), _text("id"), _long("created"), _text("run", null=True), _text("category"), _text("target"),
        _number("match"), _text("rule", null=True), _flag("flaky"), _text("state"), _long("decided", null=True),
        _text("decider", null=True), _text("actor", null=True), _text("reason", null=True), _text("kept", null=True),
        _int("version"), _bytes("body"), _bytes("seal"),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_redteam_proposals"),
    )  # fmt: skip
    op.create_index(
        "ix_redteam_proposals_tenant_state_created_id", "redteam_proposals", ["tenant", "state", "created", "id"]
    )
    op.create_index("ix_redteam_proposals_tenant_created_id", "redteam_proposals", ["tenant", "created", "id"])
    op.create_index("ix_redteam_proposals_tenant_kept", "redteam_proposals", ["tenant", "kept"])
    op.create_table(
        "redteam_answers",
        _text("tenant"), _text("run"), _text("case_id"), _int("trial"), _long("at"), _bytes("body"),
        sa.PrimaryKeyConstraint("tenant", "run", "case_id", "trial", name="pk_redteam_answers"),
    )  # fmt: skip


def downgrade() -> None:
    """Drop them: the log still tells of runs and decisions, and no longer finds their rows."""
    for name in ("redteam_answers", "redteam_proposals", "redteam_cases", "redteam_runs"):
        op.drop_table(name)
