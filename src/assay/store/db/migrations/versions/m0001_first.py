"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    _checks()
    _evidence()
    _decisions()
    _people()
    _log()


def downgrade() -> None:
    """Drop the tables, and all that is in them."""
    for name in _TABLES:
        op.drop_table(name)


_TABLES = (
    "runs",
    "reports",
    "claims",
    "evidence",
    "run_evidence",
    "tool_calls",
    "decisions",
    "policies",
    "verifiers",
    "review_items",
    "feedback",
    "audit_logs",
    "audit_entries",
    "audit_tiles",
    "audit_checkpoints",
    "audit_anchors",
)


def _checks() -> None:
    op.create_table(
        "runs",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("stakes", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("salt", sa.LargeBinary(), nullable=True),
        sa.Column("asked", sa.LargeBinary(), nullable=True),
        sa.Column("erased", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_runs"),
    )
    op.create_index("ix_runs_tenant_created_id", "runs", ["tenant", "created", "id"])
    op.create_index("ix_runs_tenant_run_id", "runs", ["tenant", "run_id"])
    op.create_table(
        "reports",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("verifier", sa.Text(), nullable=False),
        sa.Column("claims", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("timing", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_reports"),
    )
    op.create_index("ix_reports_tenant_action_created", "reports", ["tenant", "action", "created"])
    op.create_index("ix_reports_tenant_created_id", "reports", ["tenant", "created", "id"])
    op.create_index("ix_reports_tenant_run", "reports", ["tenant", "run"])
    op.create_table(
        "claims",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("critical", sa.Boolean(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("severity", sa.Text(), nullable=True),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("contradiction", sa.Double(), nullable=True),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "report", "position", name="pk_claims"),
    )


def _evidence() -> None:
    op.create_table(
        "evidence",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "digest", name="pk_evidence"),
    )
    op.create_table(
        "run_evidence",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("evidence_id", sa.Text(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "run", "position", name="pk_run_evidence"),
    )
    op.create_index("ix_run_evidence_tenant_digest", "run_evidence", ["tenant", "digest"])


def _decisions() -> None:
    op.create_table(
        "tool_calls",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("executed", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "report", "position", name="pk_tool_calls"),
    )
    op.create_table(
        "decisions",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("reasons", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "run", "position", name="pk_decisions"),
    )
    op.create_table(
        "policies",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "digest", name="pk_policies"),
    )
    op.create_table(
        "verifiers",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "digest", name="pk_verifiers"),
    )


def _people() -> None:
    op.create_table(
        "review_items",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("expertise", sa.Text(), nullable=True),
        sa.Column("assignee", sa.Text(), nullable=True),
        sa.Column("claimed", sa.BigInteger(), nullable=True),
        sa.Column("decided", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("package", sa.LargeBinary(), nullable=True),
        sa.Column("outcome", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_review_items"),
    )
    op.create_index("ix_review_items_tenant_run", "review_items", ["tenant", "run"])
    op.create_index("ix_review_items_tenant_state_deadline", "review_items", ["tenant", "state", "deadline"])
    op.create_table(
        "feedback",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("claim", sa.Integer(), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_feedback"),
    )
    op.create_index("ix_feedback_tenant_created_id", "feedback", ["tenant", "created", "id"])
    op.create_index("ix_feedback_tenant_run", "feedback", ["tenant", "run"])


def _log() -> None:
    op.create_table(
        "audit_logs",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name="pk_audit_logs"),
    )
    op.create_table(
        "audit_entries",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("idx", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "idx", name="pk_audit_entries"),
    )
    op.create_index("ix_audit_entries_tenant_record", "audit_entries", ["tenant", "record"])
    op.create_table(
        "audit_tiles",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("idx", sa.BigInteger(), nullable=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "level", "idx", name="pk_audit_tiles"),
    )
    op.create_table(
        "audit_checkpoints",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "size", name="pk_audit_checkpoints"),
    )
    op.create_table(
        "audit_anchors",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "size", "target", name="pk_audit_anchors"),
    )
