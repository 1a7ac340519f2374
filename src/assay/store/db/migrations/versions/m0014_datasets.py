"""Saved views, datasets and experiments (`assay.store.datasets`), and requests sent under a key.

What became of the latter: `assay.store.records.idempotency_keys`.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _long(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null)


def _seal() -> sa.Column[bytes]:
    return sa.Column("seal", sa.LargeBinary(), nullable=True)


def upgrade() -> None:
    """Make the tables. `assay.store.db.row_security` then walls them, as every table with a tenant."""
    op.create_table(
        "saved_views",
        _text("tenant"),
        _text("id"),
        _text("owner"),
        _text("page"),
        _text("name"),
        _long("created"),
        _text("query"),
        _seal(),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_saved_views"),
    )
    op.create_index("ix_saved_views_tenant_owner_page", "saved_views", ["tenant", "owner", "page"])
    op.create_table(
        "datasets",
        _text("tenant"),
        _text("id"),
        _text("name"),
        _long("created"),
        _text("maker", null=True),
        _seal(),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_datasets"),
    )
    op.create_index("ux_datasets_tenant_name", "datasets", ["tenant", "name"], unique=True)
    op.create_table(
        "dataset_rows",
        _text("tenant"),
        _text("dataset"),
        _text("run"),
        _long("added"),
        _text("adder", null=True),
        _text("label", null=True),
        _text("wrong_claims", null=True),
        _long("labelled", null=True),
        _text("labeller", null=True),
        sa.PrimaryKeyConstraint("tenant", "dataset", "run", name="pk_dataset_rows"),
    )
    op.create_index("ix_dataset_rows_tenant_run", "dataset_rows", ["tenant", "run"])
    _experiments()
    _idempotency_keys()


def _idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        _text("tenant"),
        _text("caller"),
        _text("key"),
        sa.Column("position", sa.Integer(), nullable=False),
        _text("fingerprint"),
        _long("created"),
        _text("holder"),
        _long("until"),
        _text("run", null=True),
        _text("receipt", null=True),
        sa.PrimaryKeyConstraint("tenant", "caller", "key", "position", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_tenant_caller_created", "idempotency_keys", ["tenant", "caller", "created"])
    op.create_index("ix_idempotency_keys_tenant_run", "idempotency_keys", ["tenant", "run"])


def _experiments() -> None:
    op.create_table(
        "experiments",
        _text("tenant"),
        _text("id"),
        _text("dataset"),
        _text("name"),
        _long("created"),
        _text("maker", null=True),
        _text("state"),
        _text("policy"),
        _text("policy_name"),
        _text("judge"),
        _text("verifier", null=True),
        sa.Column("count", sa.Integer(), nullable=False),
        _long("finished", null=True),
        _seal(),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_experiments"),
    )
    op.create_index("ix_experiments_tenant_dataset_created", "experiments", ["tenant", "dataset", "created"])
    op.create_index("ix_experiments_tenant_state", "experiments", ["tenant", "state"])
    op.create_table(
        "experiment_rows",
        _text("tenant"),
        _text("experiment"),
        _text("run"),
        _text("action", null=True),
        _text("route", null=True),
        sa.Column("score", sa.Double(), nullable=True),
        _text("verdicts", null=True),
        _text("fault", null=True),
        sa.PrimaryKeyConstraint("tenant", "experiment", "run", name="pk_experiment_rows"),
    )


def downgrade() -> None:
    """Drop them: the log still tells that they were made, and no longer finds their rows."""
    for name in ("idempotency_keys", "experiment_rows", "experiments", "dataset_rows", "datasets", "saved_views"):
        op.drop_table(name)
