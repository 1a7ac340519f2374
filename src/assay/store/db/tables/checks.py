"""Checks and their reports, the counts and sketches made of them, and the keys under which they were requested."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, MetaData, Table, Text
from sqlalchemy import text as sql

from assay.store.db.tables.definition import table

runs = table(
    "runs",
    """
    id text, run_id text?, kind text, caller text?, created long, stakes text, task text, question text?,
    salt bytes?, asked json?, erased long?, bare flag, tape json?, seal bytes?
    """,
    key="id",
    indexes=("created id", "run_id", "erased bare created"),
)
"""Runs: each is one occasion on which something was checked. The log commits to `asked`: the arguments of the check
(`asked`), and the ids and digests of its evidence (`evidence`). Without `salt` the commitments reveal nothing.
`bare` means that only its evidence was erased. `tape` records the answers of chat models during the check, if any took
part (`assay.models.chat.tape`), so that the check can be replayed."""

reports = table(
    "reports",
    """
    id text, run text, created long, action text, route text, score number?, policy text, verifier text, claims int,
    body json?, timing json?, caller text?, verdicts int
    """,
    key="id",
    indexes=("created id", "run", "action created id", "route created id", "policy created id", "caller created id"),
)
"""Reports; `body` is the wire form of a report without `timing`. The first report of a run has the run's id.
`verdicts` is a bit set of the verdicts of its claims (`assay.store.records.check_rows.VERDICT_BITS`)."""

IS_GAP: Final = sql("((action <> 'emit' AND (verdicts & 4) <> 0) OR route = 'serve_abstention')")
"""The condition for an unanswered question: the report has an unsupported claim and was not emitted, or it abstains.
Written out in SQL, with the bit of `unsupported`, because a partial index is used only for the same expression."""
Index(
    "ix_reports_gaps",
    reports.c.tenant,
    reports.c.created,
    reports.c.id,
    reports.c.action,
    reports.c.score,
    sqlite_where=IS_GAP,
    postgresql_where=IS_GAP,
)

report_search = Table(
    "report_search",
    MetaData(),
    Column("owner", Text),
    Column("id", Text),
    Column("created", BigInteger),
    Column("words", Text, info={"postgresql": "to_tsvector('simple', {}::text)"}),
)
"""The search index: the words of reports (`assay.store.records.search_words`). A virtual table in SQLite. In PostgreSQL
it has a policy like the other tables, and the policy contains the search query
(`assay.store.db.row_security.set_search_query`). Its column `owner` holds the tenant."""

claims = table(
    "claims",
    """
    report text, position int, text text?, kind text, critical flag, verdict text, status text, category text?,
    severity text?, score number?, contradiction number?, start int, end int
    """,
    key="report position",
)
"""The claims of a report, in order."""

evidence = table("evidence", "digest text, created long, body json?", key="digest")
"""Evidence without its id, by the digest of its content; stored once however many runs had it."""

run_evidence = table(
    "run_evidence",
    "run text, position int, evidence_id text?, digest text?",
    key="run position",
    indexes=("digest",),
)
"""The evidence of each run, in order, under the ids that the run gave it."""

tool_calls = table(
    "tool_calls",
    "report text, position int, tool text, status text, errors int, step int?, executed flag?",
    key="report position",
)
"""The validated tool calls of a report, in order; their arguments are in its body."""

decisions = table(
    "decisions",
    "run text, position int, created long, actor text, action text, route text, reasons json?",
    key="run position",
)
"""The decisions on a run: the gate's first, then those of people."""

policies = table("policies", "digest text, name text, created long, body json?", key="digest")
"""Policies by digest."""

verifiers = table("verifiers", "digest text, name text, created long", key="digest")
"""Verifiers by digest."""

hourly = table("hourly", "hour long, kind text, name text, count long", key="hour kind name")
"""Counts for each hour since 1970 (`assay.store.insights.hourly_increments`)."""

sketches = table(
    "sketches",
    "step int, metric text, kind text, name text, hour long, bin int, count long, total long, squares long",
    key="step metric kind name hour bin",
)
"""Histograms of measurements by the hour and by the day (`assay.store.sketches`). `step` is the number of hours that a
row spans, `hour` the first of them since 1970; `kind` and `name` select the outputs: all, or those of one caller.
`total` and `squares` are the sums of the values of a bin and of their squares, in units of a ten-thousandth."""

sketch_cursors = table("sketch_cursors", "position long, version int", key="")
"""How many entries of a tenant's log were counted into its sketches, and under which definition of them."""

worst_outputs = table("worst_outputs", "hour long, report text, score number?", key="hour report")
"""The few outputs of each hour that have the lowest scores (`assay.store.sketches`)."""

retention = table("retention", "version int, changed long, rules json?, seal bytes?", key="")
"""The retention rules of a tenant (`assay.store.records.retention`)."""

turns = table("turns", "name text, holder text, until long", key="name")
"""Leases: which process may do the work that only one of several may do at a time (`assay.store.db.leases`)."""

verdict_cache = table(
    "verdict_cache",
    "key text, created long, size long, seal bytes, body bytes",
    key="key",
    indexes=("created",),
)
"""Cached reports for equal requests, keyed by everything they depend on (`assay.store.records.verdict_cache`)."""

idempotency_keys = table(
    "idempotency_keys",
    """
    caller text, key text, position int, fingerprint text, created long, holder text, until long, run text?,
    receipt text?
    """,
    key="caller key position",
    indexes=("caller created", "run"),
)
"""Requests that a caller sent under an idempotency key (`assay.store.records.idempotency_keys`)."""

receipt_uses = table(
    "receipt_uses",
    """
    key text, receipt text, digest text, claim text, holder text, issued long, claimed long, until long,
    outcome text?, settled long?
    """,
    key="key receipt",
    indexes=("until issued",),
)
Index("ux_receipt_uses_key_receipt", receipt_uses.c.key, receipt_uses.c.receipt, unique=True)
"""Receipts that were used for a commit (`assay.store.records.receipt_uses`): each at most once in the whole database,
across tenants. `digest` is of the whole receipt and reveals nothing about its output, `claim` is drawn anew for each
attempt, `holder` is the process that claimed it, `until` is when the receipt expires, `outcome` is the result of the
sink."""
