"""Uses of receipts: each is used once by all processes over a database (`assay.store.records.receipt_uses`)."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. `assay.store.db.row_security` then walls it, as every table with a tenant."""
    op.create_table(
        "receipt_uses",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("receipt", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("issued", sa.BigInteger(), nullable=False),
        sa.Column("claimed", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("settled", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "key", "receipt", name="pk_receipt_uses"),
    )
    op.create_index("ix_receipt_uses_tenant_until_issued", "receipt_uses", ["tenant", "until", "issued"])
    op.create_index("ux_receipt_uses_key_receipt", "receipt_uses", ["key", "receipt"], unique=True)


def downgrade() -> None:
    """Drop the table: a receipt that was used within the hour could be used once more."""
    op.drop_table("receipt_uses")
