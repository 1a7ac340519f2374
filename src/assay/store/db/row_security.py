"""PostgreSQL's row-level security: the second barrier between tenants.

The first barrier is that every query names its tenant. This is the second: each transaction sets the tenant that it
acts for, and the database lets it read and write rows of that tenant only. A query without its WHERE clause finds its
own tenant's rows; a transaction that set no tenant finds none. A table gets its policy when it is created, whatever
migration created it.

The policy of the search index holds the search query too. Under a policy, PostgreSQL uses an index only for operators
that it knows to leak nothing about other rows (`LEAKPROOF`), and `@@` is none of them; the conditions of the policy
itself are exempt. So a transaction sets its search query (`set_search_query`), and then sees only those rows of its
tenant that match it.

The policies apply to the owner of the tables too. They do not apply to a superuser or a role with BYPASSRLS, so a
connection of such a role switches to `assay_rows` before it is used. SQLite has no row-level security: there the first
barrier is the only one.
"""

from typing import Any, Final

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.pool import ConnectionPoolEntry

SETTING: Final = "assay.tenant"
"""The setting that holds the tenant of a transaction."""
EVERY_TENANT: Final = "*"
"""Acts for all tenants: for the operator's own work, such as finding the tenant of an API key. No tenant can have this
name."""
ROWS_ROLE: Final = "assay_rows"
"""The role to switch to if the connecting role bypasses the policies."""

SEARCH: Final = "assay.words"
"""The setting that holds the search query of a transaction; without one, every row of the tenant is visible."""

_POLICY: Final = "assay_tenant"
_SEARCH_TABLE: Final = "report_search"
_MATCHES_ALL: Final = "$$!' '$$"
"""A query that every row matches, in SQL: no row contains a blank as a word."""
_MATCHES_SEARCH: Final = f"words @@ coalesce(nullif(current_setting('{SEARCH}', true), ''), {_MATCHES_ALL})::tsquery"
_BYPASSES: Final = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_TABLES: Final = text(
    "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AND EXISTS ("
    "SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = :policy) AS secured "
    "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped "
    "AND a.attname = CASE WHEN c.relname = :search THEN 'owner' ELSE 'tenant' END "
    "WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname"
)


def set_acting_tenant(connection: Connection, tenant: str) -> None:
    """Set the tenant that a transaction acts for until it ends. Nothing happens in SQLite.

    Args:
        connection: the transaction.
        tenant: a tenant, or `EVERY_TENANT`.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT set_config('{SETTING}', %s, true)", (tenant,))


def set_search_query(connection: Connection, query: str) -> None:
    """Set the search query of a transaction until it is set again or the transaction ends.

    From then on each query is planned anew: the plan that is best for a rare word takes seconds for a common one.

    Args:
        connection: the transaction, in PostgreSQL.
        query: a `tsquery`, in its text form.
    """
    connection.exec_driver_sql(
        f"SELECT set_config('{SEARCH}', %s, true), set_config('plan_cache_mode', 'force_custom_plan', true)", (query,)
    )


def enable_row_security(connection: Connection) -> None:
    """Give every table with a tenant its policy. Nothing happens if all have one, or in SQLite."""
    if connection.dialect.name != "postgresql":
        return
    quote = connection.dialect.identifier_preparer.quote
    for name in tables_without_row_security(connection):
        table = quote(name)
        for statement in (
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
            f"DROP POLICY IF EXISTS {_POLICY} ON {table}",
            _policy(name, table),
        ):
            connection.exec_driver_sql(statement)
    if connection.exec_driver_sql(_BYPASSES).scalar():
        _create_role(connection)


def _policy(name: str, table: str) -> str:
    column = "owner" if name == _SEARCH_TABLE else "tenant"
    # In a SELECT of its own the setting is evaluated once for each query and not for every row.
    own = (
        f"({column} = (SELECT current_setting('{SETTING}', true)) "
        f"OR (SELECT current_setting('{SETTING}', true)) = '{EVERY_TENANT}')"
    )
    # Without a SELECT of its own, so that the planner knows the words that it plans for.
    visible = f"({own} AND {_MATCHES_SEARCH})" if name == _SEARCH_TABLE else own
    return f"CREATE POLICY {_POLICY} ON {table} USING {visible} WITH CHECK {own}"


def tables_without_row_security(connection: Connection) -> list[str]:
    """The tables of a PostgreSQL database that have a tenant and no policy."""
    rows = connection.execute(_TABLES, {"policy": _POLICY, "search": _SEARCH_TABLE})
    return [row.relname for row in rows if not row.secured]


def _create_role(connection: Connection) -> None:
    quote = connection.dialect.identifier_preparer.quote
    schema = quote(connection.exec_driver_sql("SELECT current_schema()").scalar_one())
    # Roles belong to the whole server: another database may have created it, or be creating it now.
    connection.exec_driver_sql(
        f"DO $$ BEGIN CREATE ROLE {ROWS_ROLE} NOLOGIN; "
        "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    )
    for statement in (
        f"GRANT {ROWS_ROLE} TO current_user",
        f"GRANT USAGE ON SCHEMA {schema} TO {ROWS_ROLE}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {ROWS_ROLE}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {ROWS_ROLE}",
    ):
        connection.exec_driver_sql(statement)


def enforce_row_security(engine: Engine) -> None:
    """Make sure that the policies apply to every connection from now on. Nothing happens in SQLite."""
    if engine.dialect.name == "postgresql":
        event.listen(engine, "connect", _switch_role)
        engine.dispose()  # the connections that migrated may bypass the policies


def _switch_role(connection: Any, _: ConnectionPoolEntry) -> None:
    with connection.cursor() as cursor:
        bypasses = cursor.execute(_BYPASSES).fetchone()
        if bypasses is None or bypasses[0]:
            cursor.execute(f"SET ROLE {ROWS_ROLE}")
    connection.commit()
