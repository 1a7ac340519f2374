"""What became of requests that a caller sent under a key (`assay.store.records.idempotency_keys`)."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. `assay.store.db.row_security` then walls it, as every table with a tenant."""
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("receipt", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "caller", "key", "position", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_tenant_caller_created", "idempotency_keys", ["tenant", "caller", "created"])
    op.create_index("ix_idempotency_keys_tenant_run", "idempotency_keys", ["tenant", "run"])


def downgrade() -> None:
    """Drop the table: a request that is repeated across it is recorded anew."""
    op.drop_table("idempotency_keys")
