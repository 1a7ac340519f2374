"""Uses of receipts: all processes over a database use each receipt once (`assay.store.records.receipt_uses`)."""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    create_table(
        "receipt_uses",
        """
        key text, receipt text, digest text, claim text, holder text, issued long, claimed long, until long,
        outcome text?, settled long?
        """,
        key="key receipt",
    )
    op.create_index("ix_receipt_uses_tenant_until_issued", "receipt_uses", ["tenant", "until", "issued"])
    op.create_index("ux_receipt_uses_key_receipt", "receipt_uses", ["key", "receipt"], unique=True)


def downgrade() -> None:
    """Drop the table: a receipt that was used within the last hour could then be used again."""
    op.drop_table("receipt_uses")
