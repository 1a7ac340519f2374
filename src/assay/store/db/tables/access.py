"""Who may do what: tenants, users, sessions, keys."""

from sqlalchemy import Index

from assay.store.db.tables.definition import table

tenants = table("tenants", "title text, created long, seal bytes?", key="")
"""The tenants. A tenant without a row here may still have other rows: a server without users has only `default`."""

users = table(
    "users",
    """
    id text, name text?, password text?, roles text, expertise text, created long, disabled long?, version int,
    seal bytes?
    """,
    key="id",
)
Index("ux_users_tenant_name", users.c.tenant, users.c.name, unique=True)
"""Users. `password` is the hash; `roles` and `expertise` are words separated by spaces. The row of a removed user stays
without its name, because the log refers to the id."""

sessions = table(
    "sessions",
    "id text, digest text, user text, created long, seen long, ends long, revoked long?, seal bytes?",
    key="id",
    indexes=("user",),
)
Index("ux_sessions_digest", sessions.c.digest, unique=True)
"""Console sessions of users. `digest` is of the secret in the cookie; `ends` is the latest moment at which it ends."""

api_keys = table(
    "api_keys",
    """
    id text, name text, digest text, permissions text, maker text, created long, expires long?, revoked long?,
    used long?, seal bytes?
    """,
    key="id",
)
Index("ux_api_keys_id", api_keys.c.id, unique=True)
"""API keys of programs. `digest` is of the secret; `permissions` are words separated by spaces."""

login_tries = table("login_tries", "digest text, failed int, last long, until long", key="digest")
"""Failed sign-in attempts, by a digest of the name, whether or not such a user exists."""

access_tokens = table(
    "access_tokens",
    "digest text, kind text, user text?, created long, ends long, used long?, seal bytes?",
    key="digest",
)
Index("ux_access_tokens_digest", access_tokens.c.digest, unique=True)
"""Single-use tokens, for creating the first user or resetting a password. `digest` is of the token."""
