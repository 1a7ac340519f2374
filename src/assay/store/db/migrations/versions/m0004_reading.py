"""Columns, indexes and tables for lists, searches and retention rules."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from assay.store.db.migrations.table_creation import create_table
from assay.store.db.raw_statements import insert_rows
from assay.store.db.tables import report_search, reports
from assay.store.records.search_words import words_of

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, and fill them from the reports that are there."""
    create_table("hourly", "hour long, kind text, name text, count long", key="hour kind name")
    for statement in _COUNTED:
        op.execute(statement)
    _columns()
    _search()
    create_table("retention", "version int, changed long, rules bytes?", key="")
    create_table("turns", "name text, holder text, until long", key="name")
    op.add_column("runs", sa.Column("bare", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index("ix_runs_tenant_erased_bare_created", "runs", ["tenant", "erased", "bare", "created"])


def downgrade() -> None:
    """Drop the tables and columns with all their content."""
    op.drop_index("ix_runs_tenant_erased_bare_created", "runs")
    op.drop_column("runs", "bare")
    op.drop_table("turns")
    op.drop_table("retention")
    op.drop_table("report_search")
    for name in _BY_TIME:
        op.drop_index(f"ix_reports_tenant_{name}_created_id", "reports")
    op.drop_column("reports", "verdicts")
    op.drop_column("reports", "caller")
    op.drop_table("hourly")
    op.drop_index("ix_audit_entries_tenant_record_idx", "audit_entries")
    op.create_index("ix_audit_entries_tenant_record", "audit_entries", ["tenant", "record"])
    op.create_index("ix_reports_tenant_action_created", "reports", ["tenant", "action", "created"])


_REPORTS = (
    "INSERT INTO hourly SELECT tenant, created / 3600000000, 'action', action, count(*) FROM reports GROUP BY 1, 2, 4"
)
_CLAIMS = (
    "INSERT INTO hourly SELECT r.tenant, r.created / 3600000000, '{0}', c.{0}, count(*) FROM reports r "
    "JOIN claims c ON c.tenant = r.tenant AND c.report = r.id WHERE c.{0} IS NOT NULL GROUP BY 1, 2, 4"
)
_COUNTED = (_REPORTS, _CLAIMS.format("verdict"), _CLAIMS.format("category"))
"""Counts of the reports that are there already; the duration of those checks is not counted."""

_BY_TIME = ("action", "route", "policy", "caller")
"""Columns by which the latest reports are found."""


def _columns() -> None:
    """Add columns and indexes that lists are filtered by."""
    op.add_column("reports", sa.Column("caller", sa.Text(), nullable=True))
    op.add_column("reports", sa.Column("verdicts", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE reports SET caller = (SELECT caller FROM runs WHERE runs.tenant = reports.tenant AND runs.id = "
        "reports.run)"
    )
    bits = " + ".join(
        f"MAX(CASE verdict WHEN '{verdict}' THEN {1 << place} ELSE 0 END)" for place, verdict in enumerate(_VERDICTS)
    )
    op.execute(
        f"UPDATE reports SET verdicts = COALESCE((SELECT {bits} FROM claims WHERE claims.tenant = reports.tenant "  # noqa: S608 only names from our own tables
        "AND claims.report = reports.id), 0)"
    )
    # The indexes include the order of a list: without it SQLite would rather scan the whole list than sort the result.
    op.drop_index("ix_reports_tenant_action_created", "reports")
    for name in _BY_TIME:
        op.create_index(f"ix_reports_tenant_{name}_created_id", "reports", ["tenant", name, "created", "id"])
    op.drop_index("ix_audit_entries_tenant_record", "audit_entries")
    op.create_index("ix_audit_entries_tenant_record_idx", "audit_entries", ["tenant", "record", "idx"])


_VERDICTS = ("supported", "contradicted", "unsupported", "not_checkable", "unchecked")


def _search() -> None:
    """Create the search index, and fill it with the reports that are there."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE report_search USING fts5(owner, id, created UNINDEXED, words, "
            "tokenize = \"ascii tokenchars '._-'\")"
        )
    else:
        op.execute("CREATE TABLE report_search (owner text, id text, created bigint, words tsvector)")
        op.execute("CREATE UNIQUE INDEX ux_report_search_owner_id ON report_search (owner, id)")
        op.execute("CREATE INDEX ix_report_search_owner_created_id ON report_search (owner, created, id)")
        op.execute("CREATE INDEX ix_report_search_words ON report_search USING gin (words)")
    _index_existing_reports(connection)


def _index_existing_reports(connection: sa.Connection) -> None:
    last: tuple[str, str] = ("", "")
    query = (
        sa.select(reports.c.tenant, reports.c.id, reports.c.created, reports.c.body, reports.c.timing)
        .order_by(reports.c.tenant, reports.c.id)
        .limit(500)
    )
    while True:
        after = sa.tuple_(reports.c.tenant, reports.c.id) > sa.tuple_(*(sa.literal(value) for value in last))
        rows = connection.execute(query.where(after)).all()
        if not rows:
            return
        last = (rows[-1].tenant, rows[-1].id)
        insert_rows(connection, report_search, [_row(row) for row in rows if row.body is not None])


def _row(row: Any) -> dict[str, Any]:
    text = "\n".join(part for part in (row.body.get("question"), row.body.get("output")) if part)
    return {"owner": row.tenant, "id": row.id, "created": row.created, "words": " ".join(words_of(text))}
