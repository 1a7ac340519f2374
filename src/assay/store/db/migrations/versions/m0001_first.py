"""The first tables."""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    _checks()
    _evidence()
    _decisions()
    _people()
    _log()


def downgrade() -> None:
    """Drop the tables with all their rows."""
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
    create_table(
        "runs",
        """
        id text, run_id text?, kind text, caller text?, created long, stakes text, task text, question text?,
        salt bytes?, asked bytes?, erased long?
        """,
        key="id",
    )
    op.create_index("ix_runs_tenant_created_id", "runs", ["tenant", "created", "id"])
    op.create_index("ix_runs_tenant_run_id", "runs", ["tenant", "run_id"])
    create_table(
        "reports",
        """
        id text, run text, created long, action text, route text, score number?, policy text, verifier text, claims int,
        body bytes?, timing bytes?
        """,
        key="id",
    )
    op.create_index("ix_reports_tenant_action_created", "reports", ["tenant", "action", "created"])
    op.create_index("ix_reports_tenant_created_id", "reports", ["tenant", "created", "id"])
    op.create_index("ix_reports_tenant_run", "reports", ["tenant", "run"])
    create_table(
        "claims",
        """
        report text, position int, text text?, kind text, critical flag, verdict text, status text, category text?,
        severity text?, score number?, contradiction number?, start int, end int
        """,
        key="report position",
    )


def _evidence() -> None:
    create_table("evidence", "digest text, created long, body bytes?", key="digest")
    create_table(
        "run_evidence",
        "run text, position int, evidence_id text?, digest text?",
        key="run position",
    )
    op.create_index("ix_run_evidence_tenant_digest", "run_evidence", ["tenant", "digest"])


def _decisions() -> None:
    create_table(
        "tool_calls",
        "report text, position int, tool text, status text, errors int, step int?, executed flag?",
        key="report position",
    )
    create_table(
        "decisions",
        "run text, position int, created long, actor text, action text, route text, reasons bytes?",
        key="run position",
    )
    create_table("policies", "digest text, name text, created long, body bytes?", key="digest")
    create_table("verifiers", "digest text, name text, created long", key="digest")


def _people() -> None:
    create_table(
        "review_items",
        """
        id text, run text, created long, tier text, state text, deadline long?, expertise text?, assignee text?,
        claimed long?, decided long?, version int, package bytes?, outcome bytes?
        """,
        key="id",
    )
    op.create_index("ix_review_items_tenant_run", "review_items", ["tenant", "run"])
    op.create_index("ix_review_items_tenant_state_deadline", "review_items", ["tenant", "state", "deadline"])
    create_table(
        "feedback",
        "id text, run text, claim int?, created long, author text?, verdict text, comment text?",
        key="id",
    )
    op.create_index("ix_feedback_tenant_created_id", "feedback", ["tenant", "created", "id"])
    op.create_index("ix_feedback_tenant_run", "feedback", ["tenant", "run"])


def _log() -> None:
    create_table("audit_logs", "origin text, size long", key="")
    create_table("audit_entries", "idx long, kind text, record text?, data bytes", key="idx")
    op.create_index("ix_audit_entries_tenant_record", "audit_entries", ["tenant", "record"])
    create_table("audit_tiles", "level int, idx long, hashes bytes", key="level idx")
    create_table("audit_checkpoints", "size long, created long, note text", key="size")
    create_table(
        "audit_anchors",
        "size long, target text, created long, answer text?",
        key="size target",
    )
