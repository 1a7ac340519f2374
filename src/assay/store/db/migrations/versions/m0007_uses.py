"""Uses of receipts: each is used once by all processes over a database (`assay.store.records.receipt_uses`)."""

from alembic import op

from assay.store.db.migrations.creating import create_table

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. `assay.store.db.row_security` then walls it, as every table with a tenant."""
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
    """Drop the table: a receipt that was used within the hour could be used once more."""
    op.drop_table("receipt_uses")
