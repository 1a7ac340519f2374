"""What reviews need beside their items, and the messages that tell people and programs of them."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    for column in _COLUMNS:
        op.add_column("review_items", column())
    op.create_index("ix_review_items_tenant_updated", "review_items", ["tenant", "updated"])
    op.create_index("ix_review_items_tenant_created_id", "review_items", ["tenant", "created", "id"])
    op.create_index("ix_review_items_state_deadline", "review_items", ["state", "deadline"])
    op.create_table(
        "outbox",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", sa.BigInteger(), nullable=False),
        sa.Column("held_until", sa.BigInteger(), nullable=True),
        sa.Column("sent", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", "target", name="pk_outbox"),
    )
    op.create_index("ix_outbox_tenant_run", "outbox", ["tenant", "run"])
    op.create_index("ix_outbox_state_due", "outbox", ["state", "due"])


def downgrade() -> None:
    """Drop the tables, and all that is in them."""
    op.drop_table("outbox")
    for name in _INDEXES:
        op.drop_index(name, "review_items")
    for column in _COLUMNS:
        op.drop_column("review_items", column().name)


_INDEXES = ("ix_review_items_tenant_updated", "ix_review_items_tenant_created_id", "ix_review_items_state_deadline")
_COLUMNS: tuple[Callable[[], sa.Column[Any]], ...] = (
    lambda: sa.Column("report", sa.Text(), nullable=True),
    lambda: sa.Column("risk", sa.Double(), nullable=True),
    lambda: sa.Column("due", sa.BigInteger(), nullable=True),
    lambda: sa.Column("updated", sa.BigInteger(), nullable=True),
    lambda: sa.Column("holder", sa.Text(), nullable=True),
    lambda: sa.Column("held_until", sa.BigInteger(), nullable=True),
    lambda: sa.Column("caller", sa.Text(), nullable=True),
    lambda: sa.Column("callback", sa.Text(), nullable=True),
)
"""A column belongs to one table: each is made anew where it is used."""
