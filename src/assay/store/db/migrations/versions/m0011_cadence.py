"""What is done by the clock: schedules, runs of the golden set, and digests of what passes through the gateway."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _long(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null)


def _int(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _number(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=True)


def _body() -> sa.Column[bytes]:
    return sa.Column("body", sa.LargeBinary(), nullable=True)


def upgrade() -> None:
    """Make the tables, and the columns of observations that are no output of production."""
    op.add_column("observations", sa.Column("cadence", sa.Text(), nullable=True))
    op.add_column("observations", _number("misjudged"))
    op.create_table(
        "schedules",
        _text("tenant"),
        _text("name"),
        _long("slot"),
        _long("begun"),
        _long("finished", null=True),
        _body(),
        sa.PrimaryKeyConstraint("tenant", "name", name="pk_schedules"),
    )
    op.create_table(
        "golden_runs",
        _text("tenant"),
        _text("id"),
        _long("slot"),
        _text("state"),
        _text("rows_digest"),
        _text("policy"),
        _text("verifier"),
        _int("count"),
        _long("begun"),
        _long("finished", null=True),
        _body(),
        sa.PrimaryKeyConstraint("tenant", "id", name="pk_golden_runs"),
    )
    op.create_index("ix_golden_runs_tenant_begun_id", "golden_runs", ["tenant", "begun", "id"])
    op.create_table(
        "golden_results",
        _text("tenant"),
        _text("run"),
        _int("position"),
        _text("row"),
        _number("bad"),
        _number("score"),
        _number("withheld"),
        _number("misjudged"),
        sa.PrimaryKeyConstraint("tenant", "run", "position", name="pk_golden_results"),
    )
    op.create_table(
        "passing",
        _text("tenant"),
        _text("kind"),
        _text("scope"),
        _long("at"),
        _text("source"),
        _int("count"),
        _body(),
        sa.PrimaryKeyConstraint("tenant", "kind", "scope", "at", "source", name="pk_passing"),
    )
    op.create_table(
        "passing_states",
        _text("tenant"),
        _text("kind"),
        _text("scope"),
        _long("until"),
        _body(),
        sa.PrimaryKeyConstraint("tenant", "kind", "scope", name="pk_passing_states"),
    )


def downgrade() -> None:
    """Drop them: runs of golden sets are gone, and what passes through is learned anew."""
    for name in ("passing_states", "passing", "golden_results", "golden_runs", "schedules"):
        op.drop_table(name)
    op.execute("DELETE FROM observations WHERE cadence IS NOT NULL")
    op.drop_column("observations", "misjudged")
    op.drop_column("observations", "cadence")
