"""The second wall between tenants: PostgreSQL's row-level security.

Every query names its tenant. This is the wall behind that: each transaction says for whom it acts, and the database
shows it, and lets it write, rows of that tenant only. A query that forgot its WHERE finds its own tenant's rows; a
transaction that said nothing finds none. Tables are walled when they are made, whatever migration made them.

The index of words has what is looked for in its wall. Behind a policy PostgreSQL uses an index only for conditions
that it knows to tell nothing of other rows, and it does not know that of `@@`; the conditions of the policy itself are
free of this. So a transaction says what it looks for (`set_search_query`), and is then shown only rows of its tenant
that have these words.

The policies bind the owner of the tables too. They do not bind a superuser or a role that bypasses them; a connection
of such a role becomes `assay_rows` for good before it is used. SQLite knows no such wall: there the first one stands
alone.
"""

from typing import Any, Final

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.pool import ConnectionPoolEntry

SETTING: Final = "assay.tenant"
"""The setting of a transaction that names its tenant."""
EVERY_TENANT: Final = "*"
"""Acts for all tenants: the operator's own work, such as finding whose key came in. No tenant can have this name."""
ROWS_ROLE: Final = "assay_rows"
"""Whom the policies bind where the connecting role is above them."""

SEARCH: Final = "assay.words"
"""The setting of a transaction that names the words that it looks for; every row is shown where there are none."""

_POLICY: Final = "assay_tenant"
_INDEX_OF_WORDS: Final = "report_search"
_ANY_WORDS: Final = "$$!' '$$"
"""What every row fits, in SQL: a blank is no word of any."""
_LOOKED_FOR: Final = f"words @@ coalesce(nullif(current_setting('{SEARCH}', true), ''), {_ANY_WORDS})::tsquery"
_ABOVE: Final = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_TABLES: Final = text(
    "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AND EXISTS ("
    "SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = :policy) AS walled "
    "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped "
    "AND a.attname = CASE WHEN c.relname = :words THEN 'owner' ELSE 'tenant' END "
    "WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname"
)


def set_acting_tenant(connection: Connection, tenant: str) -> None:
    """Say for whom a transaction acts, until it ends. Nothing happens in SQLite.

    Args:
        connection: the transaction.
        tenant: a tenant, or `EVERY_TENANT`.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT set_config('{SETTING}', %s, true)", (tenant,))


def set_search_query(connection: Connection, query: str) -> None:
    """Say which words a transaction looks for in the index of words, until it says so again or ends.

    Plans are made again for each query from then on: what is best for a rare word takes seconds for a common one.

    Args:
        connection: the transaction, in PostgreSQL.
        query: a `tsquery`, in its text form.
    """
    connection.exec_driver_sql(
        f"SELECT set_config('{SEARCH}', %s, true), set_config('plan_cache_mode', 'force_custom_plan', true)", (query,)
    )


def enable_row_security(connection: Connection) -> None:
    """Wall every table that has a tenant. Nothing happens where all are walled, and in SQLite."""
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
    if connection.exec_driver_sql(_ABOVE).scalar():
        _make_role(connection)


def _policy(name: str, table: str) -> str:
    column = "owner" if name == _INDEX_OF_WORDS else "tenant"
    # In a SELECT of its own the setting is worked out once for a query and not for every row.
    own = (
        f"({column} = (SELECT current_setting('{SETTING}', true)) "
        f"OR (SELECT current_setting('{SETTING}', true)) = '{EVERY_TENANT}')"
    )
    # Without a SELECT of its own, so that the planner knows for which words it plans.
    shown = f"({own} AND {_LOOKED_FOR})" if name == _INDEX_OF_WORDS else own
    return f"CREATE POLICY {_POLICY} ON {table} USING {shown} WITH CHECK {own}"


def tables_without_row_security(connection: Connection) -> list[str]:
    """The tables of a PostgreSQL database that have a tenant and no wall."""
    found = connection.execute(_TABLES, {"policy": _POLICY, "words": _INDEX_OF_WORDS})
    return [row.relname for row in found if not row.walled]


def _make_role(connection: Connection) -> None:
    quote = connection.dialect.identifier_preparer.quote
    schema = quote(connection.exec_driver_sql("SELECT current_schema()").scalar_one())
    # Roles belong to the whole server: another database may have made it, or be making it now.
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
    """Make sure that the walls bind every connection from now on. Nothing happens in SQLite."""
    if engine.dialect.name == "postgresql":
        event.listen(engine, "connect", _take_role)
        engine.dispose()  # Those that migrated stood above the walls.


def _take_role(connection: Any, _: ConnectionPoolEntry) -> None:
    with connection.cursor() as cursor:
        above = cursor.execute(_ABOVE).fetchone()
        if above is None or above[0]:
            cursor.execute(f"SET ROLE {ROWS_ROLE}")
    connection.commit()
