"""An index of unanswered questions, and row-level security for the search index: both for a million reports."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index. `assay.store.db.row_security` then gives the search index its policy, which it left out
    before."""
    op.execute(
        "CREATE INDEX ix_reports_gaps ON reports (tenant, created, id, action, score) "
        "WHERE ((action <> 'emit' AND (verdicts & 4) <> 0) OR route = 'serve_abstention')"
    )


def downgrade() -> None:
    """Drop the index, and the policy behind which an older version would find no words."""
    op.drop_index("ix_reports_gaps", "reports")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP POLICY IF EXISTS assay_tenant ON report_search")
        op.execute("ALTER TABLE report_search NO FORCE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE report_search DISABLE ROW LEVEL SECURITY")
