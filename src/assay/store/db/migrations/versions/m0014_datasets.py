"""Saved views, datasets and experiments (`assay.store.datasets`), and requests sent under an idempotency key.

For the latter see `assay.store.records.idempotency_keys`.
"""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    create_table(
        "saved_views",
        "id text, owner text, page text, name text, created long, query text, seal bytes?",
        key="id",
    )
    op.create_index("ix_saved_views_tenant_owner_page", "saved_views", ["tenant", "owner", "page"])
    create_table("datasets", "id text, name text, created long, maker text?, seal bytes?", key="id")
    op.create_index("ux_datasets_tenant_name", "datasets", ["tenant", "name"], unique=True)
    create_table(
        "dataset_rows",
        """
        dataset text, run text, added long, adder text?, label text?, wrong_claims text?, labelled long?, labeller text?
        """,
        key="dataset run",
    )
    op.create_index("ix_dataset_rows_tenant_run", "dataset_rows", ["tenant", "run"])
    _experiments()
    create_table(
        "idempotency_keys",
        """
        caller text, key text, position int, fingerprint text, created long, holder text, until long, run text?,
        receipt text?
        """,
        key="caller key position",
    )
    op.create_index("ix_idempotency_keys_tenant_caller_created", "idempotency_keys", ["tenant", "caller", "created"])
    op.create_index("ix_idempotency_keys_tenant_run", "idempotency_keys", ["tenant", "run"])


def _experiments() -> None:
    create_table(
        "experiments",
        """
        id text, dataset text, name text, created long, maker text?, state text, policy text, policy_name text,
        judge text, verifier text?, count int, finished long?, seal bytes?
        """,
        key="id",
    )
    op.create_index("ix_experiments_tenant_dataset_created", "experiments", ["tenant", "dataset", "created"])
    op.create_index("ix_experiments_tenant_state", "experiments", ["tenant", "state"])
    create_table(
        "experiment_rows",
        "experiment text, run text, action text?, route text?, score number?, verdicts text?, fault text?",
        key="experiment run",
    )


def downgrade() -> None:
    """Drop the tables: the log keeps its entries on datasets and experiments, but their rows are gone."""
    for name in ("idempotency_keys", "experiment_rows", "experiments", "dataset_rows", "datasets", "saved_views"):
        op.drop_table(name)
