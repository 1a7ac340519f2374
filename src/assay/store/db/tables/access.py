"""Who may do what: tenants, users, sessions, keys."""

from sqlalchemy import Index

from assay.store.db.tables.definition import table

tenants = table("tenants", "title text, created long, seal bytes?", key="")
"""The tenants. One that is not here may have rows all the same: a server without people has only `default`."""

users = table(
    "users",
    """
    id text, name text?, password text?, roles text, expertise text, created long, disabled long?, version int,
    seal bytes?
    """,
    key="id",
)
Index("ux_users_tenant_name", users.c.tenant, users.c.name, unique=True)
"""People. `password` is its hash, `roles` and `expertise` are words with spaces between them. One who was removed keeps
the row without the name: the log says what the id did."""

sessions = table(
    "sessions",
    "id text, digest text, user text, created long, seen long, ends long, revoked long?, seal bytes?",
    key="id",
    indexes=("user",),
)
Index("ux_sessions_digest", sessions.c.digest, unique=True)
"""Sessions of people. `digest` is of what the cookie holds; `ends` is when it ends at the latest."""

api_keys = table(
    "api_keys",
    """
    id text, name text, digest text, permissions text, maker text, created long, expires long?, revoked long?,
    used long?, seal bytes?
    """,
    key="id",
)
Index("ux_api_keys_id", api_keys.c.id, unique=True)
"""Keys of programs. `digest` is of the secret, `permissions` are words with spaces between them."""

login_tries = table("login_tries", "digest text, failed int, last long, until long", key="digest")
"""Tries to sign in that failed, by a digest of the name, whether or not there is such a user."""

access_tokens = table(
    "access_tokens",
    "digest text, kind text, user text?, created long, ends long, used long?, seal bytes?",
    key="digest",
)
Index("ux_access_tokens_digest", access_tokens.c.digest, unique=True)
"""What may be used once: to make the first user, or to set a password again. `digest` is of the token."""
