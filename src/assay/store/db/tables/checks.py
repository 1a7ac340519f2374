"""What was checked, and what is counted of it."""

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
"""One occasion on which something was checked. `asked` is what the log commits to: all that the check was given
(`asked`), and the ids and digests of its evidence (`evidence`). Without `salt` the commitments say nothing.
`bare` says that its evidence alone was erased. `tape` is what chat models said in the course of it, where one took part
(`assay.models.chat.tape`): with it the check can be run again."""

reports = table(
    "reports",
    """
    id text, run text, created long, action text, route text, score number?, policy text, verifier text, claims int,
    body json?, timing json?, caller text?, verdicts int
    """,
    key="id",
    indexes=("created id", "run", "action created id", "route created id", "policy created id", "caller created id"),
)
"""The report of one check; `body` is its wire form without `timing`. The first report of a run has the run's id.
`verdicts` says which verdicts its claims have (`assay.store.records.recording.VERDICT_BITS`)."""

IS_GAP: Final = sql("((action <> 'emit' AND (verdicts & 4) <> 0) OR route = 'serve_abstention')")
"""Whether a report says what its evidence could not answer: a claim in it has no support and it was not emitted, or it
abstains. Written out, with the bit of `unsupported`, because an index of some rows is used only by the same text."""
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
"""The words of reports (`assay.store.records.search_words`). It is a virtual table in SQLite. In PostgreSQL it is
walled like the others, and what is looked for is a part of its wall (`assay.store.db.row_security.set_search_query`).
Its tenant is its `owner`."""

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
"""Evidence by the digest of its content, stored once however many runs had it; all of it but the id."""

run_evidence = table(
    "run_evidence",
    "run text, position int, evidence_id text?, digest text?",
    key="run position",
    indexes=("digest",),
)
"""Which evidence a run had, in order, and under which ids."""

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
"""What was decided on a run: first by the gate, then by people."""

policies = table("policies", "digest text, name text, created long, body json?", key="digest")
"""Policies by digest."""

verifiers = table("verifiers", "digest text, name text, created long", key="digest")
"""Verifiers by digest."""

hourly = table("hourly", "hour long, kind text, name text, count long", key="hour kind name")
"""How much was counted in each hour since 1970 (`assay.store.insights.hourly_counting`)."""

sketches = table(
    "sketches",
    "step int, metric text, kind text, name text, hour long, bin int, count long, total long, squares long",
    key="step metric kind name hour bin",
)
"""Histograms of what was measured, by the hour and by the day (`assay.store.sketches`). `step` is the hours that a row
spans, `hour` its first one since 1970; `kind` and `name` say of what: of all outputs, or of one caller's. `total` and
`squares` sum the values of a bin, in ten-thousandths."""

sketch_cursors = table("sketch_cursors", "position long, version int", key="")
"""How far a tenant's log was counted into its sketches, and under which definition of them."""

worst_outputs = table("worst_outputs", "hour long, report text, score number?", key="hour report")
"""The outputs of each hour with the lowest scores, a few of each (`assay.store.sketches`)."""

retention = table("retention", "version int, changed long, rules json?, seal bytes?", key="")
"""How long content is kept (`assay.store.records.retention`)."""

turns = table("turns", "name text, holder text, until long", key="name")
"""Whose turn it is to do what only one of several processes may do (`assay.store.db.leases`)."""

verdict_cache = table(
    "verdict_cache",
    "key text, created long, size long, seal bytes, body bytes",
    key="key",
    indexes=("created",),
)
"""Reports kept by what they depend on, for equal requests (`assay.store.records.verdict_cache`)."""

idempotency_keys = table(
    "idempotency_keys",
    """
    caller text, key text, position int, fingerprint text, created long, holder text, until long, run text?,
    receipt text?
    """,
    key="caller key position",
    indexes=("caller created", "run"),
)
"""What became of requests that a caller sent under a key (`assay.store.records.idempotency_keys`)."""

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
"""Which receipts were used for a commit (`assay.store.records.receipt_uses`): once each in the whole database,
whoever's row it is. `digest` is of the whole receipt and tells nothing of its output, `claim` is drawn again for each
try, `holder` is the process that claimed it, `until` is when the receipt can no longer be committed, `outcome` is what
the sink came to."""
