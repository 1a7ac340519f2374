"""What changes over time: observations, charts, changes, alarms, and the consequences of a spent error budget."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_METRICS = ("bad", "score", "unfaithful", "unfactual", "withheld", "fabricated", "unretrieved")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _long(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=True)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "observations",
        _text("tenant"),
        _text("id"),
        _long("at"),
        _long("added"),
        _text("stakes"),
        _text("agent", null=True),
        _text("route", null=True),
        _text("model", null=True),
        _text("categories"),
        sa.Column("probability", sa.Double(), nullable=True),
        sa.Column("sampled", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.Double(), nullable=True) for name in _METRICS),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_observations"),
    )
    op.create_index("ix_observations_tenant_at_id", "observations", ["tenant", "at", "id"])
    op.create_table(
        "chart_states",
        _text("tenant"),
        _long("until"),
        _long("dirty", null=True),
        _bytes("body"),
        sa.PrimaryKeyConstraint("tenant", "until", name="pk_chart_states"),
    )
    op.create_table(
        "changes",
        _text("tenant"),
        _text("id"),
        _long("at"),
        _text("kind"),
        _text("ref"),
        _text("note"),
        _text("source"),
        _long("created"),
        _text("actor", null=True),
        _bytes("seal"),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_changes"),
    )
    op.create_index("ix_changes_tenant_at_id", "changes", ["tenant", "at", "id"])
    op.create_table(
        "alarms",
        _text("tenant"),
        _text("id"),
        _text("series"),
        _text("direction"),
        _long("at"),
        _long("raised"),
        _text("state"),
        _long("changed", null=True),
        _text("actor", null=True),
        _bytes("body"),
        _bytes("seal"),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_alarms"),
    )
    op.create_index("ix_alarms_tenant_at_id", "alarms", ["tenant", "at", "id"])
    op.create_index("ix_alarms_tenant_state_at", "alarms", ["tenant", "state", "at"])
    op.create_table(
        "consequences",
        _text("tenant"),
        _text("name"),
        sa.Column("active", sa.Boolean(), nullable=False),
        _long("since"),
        _text("actor", null=True),
        _bytes("body"),
        _bytes("seal"),
        sa.PrimaryKeyConstraint("tenant", "name", name="pk_consequences"),
    )


def downgrade() -> None:
    """Drop them: the log still tells of changes, alarms and consequences, and no longer finds their rows."""
    for name in ("consequences", "alarms", "changes", "chart_states", "observations"):
        op.drop_table(name)
