"""More columns for review items, and the outbox for messages about them."""

from alembic import op

from assay.store.db.columns import columns
from assay.store.db.migrations.table_creation import create_table

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, and create the table."""
    for column in columns(_COLUMNS):
        op.add_column("review_items", column)
    op.create_index("ix_review_items_tenant_updated", "review_items", ["tenant", "updated"])
    op.create_index("ix_review_items_tenant_created_id", "review_items", ["tenant", "created", "id"])
    op.create_index("ix_review_items_state_deadline", "review_items", ["state", "deadline"])
    create_table(
        "outbox",
        """
        id text, target text, event text, run text, created long, state text, attempts int, due long, held_until long?,
        sent long?, error text?, body bytes?
        """,
        key="id target",
    )
    op.create_index("ix_outbox_tenant_run", "outbox", ["tenant", "run"])
    op.create_index("ix_outbox_state_due", "outbox", ["state", "due"])


def downgrade() -> None:
    """Drop the table and the columns with all their content."""
    op.drop_table("outbox")
    for name in _INDEXES:
        op.drop_index(name, "review_items")
    for column in columns(_COLUMNS):
        op.drop_column("review_items", column.name)


_INDEXES = ("ix_review_items_tenant_updated", "ix_review_items_tenant_created_id", "ix_review_items_state_deadline")
_COLUMNS = """
    report text?, risk number?, due long?, updated long?, holder text?, held_until long?, caller text?, callback text?
"""
