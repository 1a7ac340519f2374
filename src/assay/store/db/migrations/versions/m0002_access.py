"""Users, sessions and keys; row-level security from here on."""

from alembic import op

from assay.store.db.migrations.table_creation import create_table

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables. `assay.store.db.row_security` gives all tables their policies after the last migration."""
    _people()
    _credentials()


def downgrade() -> None:
    """Drop the tables with all their rows."""
    for name in ("access_tokens", "login_tries", "api_keys", "sessions", "users", "tenants"):
        op.drop_table(name)


def _people() -> None:
    create_table("tenants", "title text, created long", key="")
    create_table(
        "users",
        "id text, name text?, password text?, roles text, expertise text, created long, disabled long?, version int",
        key="id",
    )
    op.create_index("ux_users_tenant_name", "users", ["tenant", "name"], unique=True)


def _credentials() -> None:
    create_table(
        "sessions",
        "id text, digest text, user text, created long, seen long, ends long, revoked long?",
        key="id",
    )
    op.create_index("ix_sessions_tenant_user", "sessions", ["tenant", "user"])
    op.create_index("ux_sessions_digest", "sessions", ["digest"], unique=True)
    create_table(
        "api_keys",
        """
        id text, name text, digest text, permissions text, maker text, created long, expires long?, revoked long?,
        used long?
        """,
        key="id",
    )
    op.create_index("ux_api_keys_id", "api_keys", ["id"], unique=True)
    create_table("login_tries", "digest text, failed int, last long, until long", key="digest")
    create_table(
        "access_tokens",
        "digest text, kind text, user text?, created long, ends long, used long?",
        key="digest",
    )
    op.create_index("ux_access_tokens_digest", "access_tokens", ["digest"], unique=True)
