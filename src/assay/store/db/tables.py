"""The tables. Every table has its tenant first in its key, so that no query need ever look at another tenant's rows.

Moments are whole microseconds since 1970 in UTC. What a person may ask to have erased (texts, arguments, comments)
stands in columns that can be null; what is left then are decisions, scores and digests of policies and verifiers.
"""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)
from sqlalchemy import text as sql

from assay.store.db.packing import LARGEST_BODY as LARGEST_BODY  # noqa: PLC0414 read as `tables.…` everywhere
from assay.store.db.packing import Packed as Packed  # noqa: PLC0414 read as `tables.…` everywhere
from assay.store.db.packing import pack as pack  # noqa: PLC0414 read as `tables.…` everywhere
from assay.store.db.packing import unpack as unpack  # noqa: PLC0414 read as `tables.…` everywhere
from assay.store.db.packing import unpack_bytes as unpack_bytes  # noqa: PLC0414 read as `tables.…` everywhere

metadata = MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "pk": "pk_%(table_name)s"}
)  # fmt: skip


def _table(name: str, key: tuple[str, ...], *columns: Column[Any], indexes: tuple[tuple[str, ...], ...] = ()) -> Table:
    return Table(
        name, metadata, Column("tenant", Text, nullable=False), *columns, PrimaryKeyConstraint("tenant", *key),
        *(Index(None, "tenant", *names) for names in indexes),
    )  # fmt: skip


def _text(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def _long(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def _int(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=null)


def _number(name: str) -> Column[float]:
    return Column(name, Double, nullable=True)


def _flag(name: str, *, null: bool = False) -> Column[bool]:
    return Column(name, Boolean, nullable=null)


def _bytes(name: str, *, null: bool = False) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=null)


def _seal() -> Column[bytes]:
    """The key of what the log commits to of the row and of all that belongs to it (`assay.store.audit.units`)."""
    return _bytes("seal", null=True)


def _packed(name: str) -> Column[Any]:
    return Column(name, Packed, nullable=True)


# What was checked

runs = _table(
    "runs", ("id",),
    _text("id"), _text("run_id", null=True), _text("kind"), _text("caller", null=True), _long("created"),
    _text("stakes"), _text("task"), _text("question", null=True), _bytes("salt", null=True), _packed("asked"),
    _long("erased", null=True), _flag("bare"), _packed("tape"), _seal(),
    indexes=(("created", "id"), ("run_id",), ("erased", "bare", "created")),
)  # fmt: skip
"""One occasion on which something was checked. `asked` is what the log commits to: all that the check was given
(`asked`), and the ids and digests of its evidence (`evidence`). Without `salt` the commitments say nothing.
`bare` says that its evidence alone was erased. `tape` is what chat models said in the course of it, where one took part
(`assay.models.chat.tape`): with it the check can be run again."""

reports = _table(
    "reports", ("id",),
    _text("id"), _text("run"), _long("created"), _text("action"), _text("route"), _number("score"), _text("policy"),
    _text("verifier"), _int("claims"), _packed("body"), _packed("timing"), _text("caller", null=True),
    _int("verdicts"),
    indexes=(
        ("created", "id"), ("run",), ("action", "created", "id"), ("route", "created", "id"),
        ("policy", "created", "id"), ("caller", "created", "id"),
    ),
)  # fmt: skip
"""The report of one check; `body` is its wire form without `timing`. The first report of a run has the run's id.
`verdicts` says which verdicts its claims have (`assay.store.records.recording.VERDICT_BITS`)."""

IS_GAP: Final = sql("((action <> 'emit' AND (verdicts & 4) <> 0) OR route = 'serve_abstention')")
"""Whether a report says what its evidence could not answer: a claim in it has no support and it was not emitted, or it
abstains. Written out, with the bit of `unsupported`, because an index of some rows is used only by the same text."""
Index(
    "ix_reports_gaps", reports.c.tenant, reports.c.created, reports.c.id, reports.c.action, reports.c.score,
    sqlite_where=IS_GAP, postgresql_where=IS_GAP,
)  # fmt: skip

report_search = Table(
    "report_search", MetaData(), Column("owner", Text), Column("id", Text), Column("created", BigInteger),
    Column("words", Text, info={"postgresql": "to_tsvector('simple', {}::text)"}),
)  # fmt: skip
"""The words of reports (`assay.store.records.search_words`). It is a virtual table in SQLite. In PostgreSQL it is
walled like the others, and what is looked for is a part of its wall (`assay.store.db.row_security.set_search_query`).
Its tenant is its `owner`."""

claims = _table(
    "claims", ("report", "position"),
    _text("report"), _int("position"), _text("text", null=True), _text("kind"), _flag("critical"), _text("verdict"),
    _text("status"), _text("category", null=True), _text("severity", null=True), _number("score"),
    _number("contradiction"), _int("start"), _int("end"),
)  # fmt: skip
"""The claims of a report, in order."""

evidence = _table("evidence", ("digest",), _text("digest"), _long("created"), _packed("body"))
"""Evidence by the digest of its content, stored once however many runs had it; all of it but the id."""

run_evidence = _table(
    "run_evidence", ("run", "position"),
    _text("run"), _int("position"), _text("evidence_id", null=True), _text("digest", null=True),
    indexes=(("digest",),),
)  # fmt: skip
"""Which evidence a run had, in order, and under which ids."""

tool_calls = _table(
    "tool_calls", ("report", "position"),
    _text("report"), _int("position"), _text("tool"), _text("status"), _int("errors"), _int("step", null=True),
    _flag("executed", null=True),
)  # fmt: skip
"""The validated tool calls of a report, in order; their arguments stand in its body."""

decisions = _table(
    "decisions", ("run", "position"),
    _text("run"), _int("position"), _long("created"), _text("actor"), _text("action"), _text("route"),
    _packed("reasons"),
)  # fmt: skip
"""What was decided on a run: first by the gate, then by people."""

policies = _table(
    "policies", ("digest",), _text("digest"), _text("name"), _long("created"), _packed("body")
)  # fmt: skip
"""Policies by digest."""

verifiers = _table("verifiers", ("digest",), _text("digest"), _text("name"), _long("created"))
"""Verifiers by digest."""

hourly = _table(
    "hourly", ("hour", "kind", "name"), _long("hour"), _text("kind"), _text("name"), _long("count")
)  # fmt: skip
"""How much was counted in each hour since 1970 (`assay.store.insights.hourly_counting`)."""

sketches = _table(
    "sketches", ("step", "metric", "kind", "name", "hour", "bin"),
    _int("step"), _text("metric"), _text("kind"), _text("name"), _long("hour"), _int("bin"), _long("count"),
    _long("total"), _long("squares"),
)  # fmt: skip
"""Histograms of what was measured, by the hour and by the day (`assay.store.sketches`). `step` is the hours that a row
spans, `hour` its first one since 1970; `kind` and `name` say of what: of all outputs, or of one caller's. `total` and
`squares` sum the values of a bin, in ten-thousandths."""

sketch_cursors = _table("sketch_cursors", (), _long("position"), _int("version"))
"""How far a tenant's log was counted into its sketches, and under which definition of them."""

worst_outputs = _table(
    "worst_outputs", ("hour", "report"), _long("hour"), _text("report"), _number("score")
)  # fmt: skip
"""The outputs of each hour with the lowest scores, a few of each (`assay.store.sketches`)."""

retention = _table("retention", (), _int("version"), _long("changed"), _packed("rules"), _seal())
"""How long content is kept (`assay.store.records.retention`)."""

turns = _table("turns", ("name",), _text("name"), _text("holder"), _long("until"))
"""Whose turn it is to do what only one of several processes may do (`assay.store.db.leases`)."""

verdict_cache = _table(
    "verdict_cache", ("key",),
    _text("key"), _long("created"), _long("size"), _bytes("seal"), _bytes("body"),
    indexes=(("created",),),
)  # fmt: skip
"""Reports kept by what they depend on, for equal requests (`assay.store.records.verdict_cache`)."""

idempotency_keys = _table(
    "idempotency_keys", ("caller", "key", "position"),
    _text("caller"), _text("key"), _int("position"), _text("fingerprint"), _long("created"), _text("holder"),
    _long("until"), _text("run", null=True), _text("receipt", null=True), indexes=(("caller", "created"), ("run",)),
)  # fmt: skip
"""What became of requests that a caller sent under a key (`assay.store.records.idempotency_keys`)."""

receipt_uses = _table(
    "receipt_uses", ("key", "receipt"),
    _text("key"), _text("receipt"), _text("digest"), _text("claim"), _text("holder"), _long("issued"), _long("claimed"),
    _long("until"), _text("outcome", null=True), _long("settled", null=True),
    indexes=(("until", "issued"),),
)  # fmt: skip
Index("ux_receipt_uses_key_receipt", receipt_uses.c.key, receipt_uses.c.receipt, unique=True)
"""Which receipts were used for a commit (`assay.store.records.receipt_uses`): once each in the whole database,
whoever's row it is. `digest` is of the whole receipt and tells nothing of its output, `claim` is drawn anew for each
try, `holder` is the process that claimed it, `until` is when the receipt can no longer be committed, `outcome` is what
the sink came to."""

# What people do

review_items = _table(
    "review_items", ("id",),
    _text("id"), _text("run"), _long("created"), _text("tier"), _text("state"), _long("deadline", null=True),
    _text("expertise", null=True), _text("assignee", null=True), _long("claimed", null=True),
    _long("decided", null=True), _int("version"), _packed("package"), _packed("outcome"),
    _text("report", null=True), _number("risk"), _long("due", null=True), _long("updated", null=True),
    _text("holder", null=True), _long("held_until", null=True), _text("caller", null=True),
    _text("callback", null=True),
    indexes=(("state", "deadline"), ("run",), ("updated",), ("created", "id")),
)  # fmt: skip
Index("ix_review_items_state_deadline", review_items.c.state, review_items.c.deadline)
"""What waits for a person. `version` grows with every change, so that two people never change the same state.
`deadline` is when something happens next, `due` was the first; `package` has what the policy says of passed deadlines,
`report` is the newest report of the run, `holder` has the item until `held_until`."""

outbox = _table(
    "outbox", ("id", "target"),
    _text("id"), _text("target"), _text("event"), _text("run"), _long("created"), _text("state"), _int("attempts"),
    _long("due"), _long("held_until", null=True), _long("sent", null=True), _text("error", null=True),
    _packed("body"),
    indexes=(("run",),),
)  # fmt: skip
Index("ix_outbox_state_due", outbox.c.state, outbox.c.due)
"""What is to be told to people and programs, written with what it tells of. A row without a target is for whoever is
configured to hear of it; each of those then has a row of its own. Texts that were checked are never in it."""

alerts = _table(
    "alerts", ("id",),
    _text("id"), _text("key"), _text("kind"), _text("severity"), _text("state"), _long("opened"), _long("seen"),
    _long("told", null=True), _long("closed", null=True), _int("times"), _text("owner", null=True), _int("version"),
    _packed("body"),
    indexes=(("key", "opened"), ("opened", "id")),
)  # fmt: skip
"""What the monitor says that a person has to know (`assay.store.alerts`). `key` is what it is about: of one key one
alert is open at most. `seen` is when it held last, `told` when people were last told, `owner` who acknowledged it."""

alert_silences = _table(
    "alert_silences", ("key",), _text("key"), _long("until"), _text("maker", null=True), _long("made")
)  # fmt: skip
"""Which alerts nobody is to be told of for a while."""

feedback = _table(
    "feedback", ("id",),
    _text("id"), _text("run"), _int("claim", null=True), _long("created"), _text("author", null=True),
    _text("verdict"), _text("comment", null=True),
    indexes=(("run",), ("created", "id")),
)  # fmt: skip
"""What users said of an output: that it, or one claim of it, is wrong or right."""

# What changes over time

observations = _table(
    "observations", ("id",),
    _text("id"), _long("at"), _long("added"), _text("stakes"), _text("agent", null=True), _text("route", null=True),
    _text("model", null=True), _text("categories"), _number("probability"), _flag("sampled"),
    _number("bad"), _number("score"), _number("unfaithful"), _number("unfactual"), _number("withheld"),
    _number("fabricated"), _number("unretrieved"), _text("cadence", null=True), _number("misjudged"),
    indexes=(("at", "id"),),
)  # fmt: skip
"""What was observed of each output, as numbers (`assay.monitor.observations`); drawn from its report when it was new,
so that an erasure leaves it. `added` is when it was drawn, `categories` are words with spaces between them. `cadence`
is null for what was observed in the path; others count in series of their own alone."""

chart_states = _table("chart_states", ("until",), _long("until"), _long("dirty", null=True), _packed("body"))
"""Where the charts stand (`assay.monitor.charts`): the row with the last `until` is in force, those before it are
snapshots to go back to. `dirty` is the moment of the earliest observation that came late."""

changes = _table(
    "changes", ("id",),
    _text("id"), _long("at"), _text("kind"), _text("ref"), _text("note"), _text("source"), _long("created"),
    _text("actor", null=True), _seal(),
    indexes=(("at", "id"),),
)  # fmt: skip
"""What was changed in the system whose outputs are checked: told by somebody, or seen in what passes through."""

alarms = _table(
    "alarms", ("id",),
    _text("id"), _text("series"), _text("direction"), _long("at"), _long("raised"), _text("state"),
    _long("changed", null=True), _text("actor", null=True), _packed("body"), _seal(),
    indexes=(("at", "id"), ("state", "at")),
)  # fmt: skip
"""Alarms of charts; `body` is `assay.monitor.alarms.Alarm.wire`, `state` one of `AlarmState`."""

consequences = _table(
    "consequences", ("name",),
    _text("name"), _flag("active"), _long("since"), _text("actor", null=True), _packed("body"), _seal(),
)  # fmt: skip
"""What follows from a spent error budget (`assay.monitor.budgeting`), whether it is in force, and since when."""

# What is done by the clock

schedules = _table(
    "schedules", ("name",), _text("name"), _long("slot"), _long("begun"), _long("finished", null=True), _packed("body")
)  # fmt: skip
"""What is done by a schedule (`assay.server.cadence`): the moment of the plan for which it was begun last, and what the
work has to know the next time."""

golden_runs = _table(
    "golden_runs", ("id",),
    _text("id"), _long("slot"), _text("state"), _text("rows_digest"), _text("policy"), _text("verifier"),
    _int("count"), _long("begun"), _long("finished", null=True), _packed("body"),
    indexes=(("begun", "id"),),
)  # fmt: skip
"""Runs of the golden set (`assay.store.monitoring.golden`): of which rows, under which policy and verifier."""

golden_results = _table(
    "golden_results", ("run", "position"),
    _text("run"), _int("position"), _text("row"), _number("bad"), _number("score"), _number("withheld"),
    _number("misjudged"),
)  # fmt: skip
"""What a run found of each row, as numbers. They become observations all at once, when the run is complete."""

passing = _table(
    "passing", ("kind", "scope", "at", "source"),
    _text("kind"), _text("scope"), _long("at"), _text("source"), _int("count"), _packed("body"),
)  # fmt: skip
"""Digests of prompts, tools and models that passed through the gateway, counted by the process that saw them, until
the monitor has added them to `passing_states` (`assay.monitor.takeovers`)."""

passing_states = _table(
    "passing_states", ("kind", "scope"), _text("kind"), _text("scope"), _long("until"), _packed("body")
)  # fmt: skip
"""What is known of the prompts, tools or models of one route and caller: digests and counts, no words."""
# The red team

redteam_runs = _table(
    "redteam_runs", ("id",),
    _text("id"), _long("at"), _long("recorded"), _text("suite"), _text("suite_name"), _text("target"),
    _text("target_version", null=True), _text("verifier"), _text("source"), _text("schedule", null=True),
    _long("due", null=True), _text("actor", null=True), _number("ars"), _number("low"), _number("high"),
    _int("cases"), _int("passed"), _int("failed"), _int("unjudged"), _int("flaky"), _flag("regressed", null=True),
    _number("weight"), _packed("body"), _seal(),
    indexes=(("at", "id"), ("schedule", "at"), ("weight", "at")),
)  # fmt: skip
"""Runs of suites of attacks (`assay.store.redteam`). `at` is when a run ended, `suite` the digest of its suite, `due`
the moment for which a schedule had it run, `weight` what each case that failed spends of the error budget. `body` has
the scores by category and how the run stands to its baselines."""

redteam_cases = _table(
    "redteam_cases", ("run", "position"),
    _text("run"), _int("position"), _text("case_id"), _text("category"), _text("outcome"), _number("match"),
    _flag("flaky"), _text("rule", null=True), _packed("told"),
    indexes=(("case_id",),),
)  # fmt: skip
"""What became of each case of a run, in order of its suite; `told` is the conversation of one that did not pass."""

redteam_proposals = _table(
    "redteam_proposals", ("id",),
    _text("id"), _long("created"), _text("run", null=True), _text("category"), _text("target"), _number("match"),
    _text("rule", null=True), _flag("flaky"), _text("state"), _long("decided", null=True), _text("decider", null=True),
    _text("actor", null=True), _text("reason", null=True), _text("kept", null=True), _int("version"), _packed("body"),
    _seal(),
    indexes=(("state", "created", "id"), ("created", "id"), ("kept",)),
)  # fmt: skip
"""Cases that broke a system, proposed for the approved suite. `kept` is the id under which one that was approved is in
it, `body` the case as it was proposed and as it was approved, and the answer that broke."""

redteam_answers = _table(
    "redteam_answers", ("run", "case_id", "trial"),
    _text("run"), _text("case_id"), _int("trial"), _long("at"), _packed("body"),
)  # fmt: skip
"""Answers of runs of schedules that are under way, so that any process goes on with one whose own was killed."""

# What people keep of it

saved_views = _table(
    "saved_views", ("id",),
    _text("id"), _text("owner"), _text("page"), _text("name"), _long("created"), _text("query"), _seal(),
    indexes=(("owner", "page"),),
)  # fmt: skip
"""Filters and columns of a list that somebody keeps under a name; `owner` is the id of a user, `query` the part of its
address behind the question mark."""

datasets = _table(
    "datasets", ("id",),
    _text("id"), _text("name"), _long("created"), _text("maker", null=True), _seal(),
)  # fmt: skip
Index("ux_datasets_tenant_name", datasets.c.tenant, datasets.c.name, unique=True)
"""Sets of recorded runs under a name, to be labelled, exported and run again (`assay.store.datasets`)."""

dataset_rows = _table(
    "dataset_rows", ("dataset", "run"),
    _text("dataset"), _text("run"), _long("added"), _text("adder", null=True), _text("label", null=True),
    _text("wrong_claims", null=True), _long("labelled", null=True), _text("labeller", null=True),
    indexes=(("run",),),
)  # fmt: skip
"""The runs of a dataset: no text of theirs, so that an erasure reaches it. `wrong_claims` are positions of claims with
spaces between them."""

experiments = _table(
    "experiments", ("id",),
    _text("id"), _text("dataset"), _text("name"), _long("created"), _text("maker", null=True), _text("state"),
    _text("policy"), _text("policy_name"), _text("judge"), _text("verifier", null=True), _int("count"),
    _long("finished", null=True), _seal(),
    indexes=(("dataset", "created"), ("state",)),
)  # fmt: skip
"""Datasets that were checked again under another policy or verifier. `judge` is which claims the judge is asked of."""

experiment_rows = _table(
    "experiment_rows", ("experiment", "run"),
    _text("experiment"), _text("run"), _text("action", null=True), _text("route", null=True), _number("score"),
    _text("verdicts", null=True), _text("fault", null=True),
)  # fmt: skip
"""What became of each run: no text of it. `verdicts` are those of its claims, in order, with spaces between them."""

# Who may do what

tenants = _table("tenants", (), _text("title"), _long("created"), _seal())
"""The tenants. One that is not here may have rows all the same: a server without people has only `default`."""

users = _table(
    "users", ("id",),
    _text("id"), _text("name", null=True), _text("password", null=True), _text("roles"), _text("expertise"),
    _long("created"), _long("disabled", null=True), _int("version"), _seal(),
)  # fmt: skip
Index("ux_users_tenant_name", users.c.tenant, users.c.name, unique=True)
"""People. `password` is its hash, `roles` and `expertise` are words with spaces between them. One who was removed keeps
the row without the name: the log says what the id did."""

sessions = _table(
    "sessions", ("id",),
    _text("id"), _text("digest"), _text("user"), _long("created"), _long("seen"), _long("ends"),
    _long("revoked", null=True), _seal(),
    indexes=(("user",),),
)  # fmt: skip
Index("ux_sessions_digest", sessions.c.digest, unique=True)
"""Sessions of people. `digest` is of what the cookie holds; `ends` is when it ends at the latest."""

api_keys = _table(
    "api_keys", ("id",),
    _text("id"), _text("name"), _text("digest"), _text("permissions"), _text("maker"), _long("created"),
    _long("expires", null=True), _long("revoked", null=True), _long("used", null=True), _seal(),
)  # fmt: skip
Index("ux_api_keys_id", api_keys.c.id, unique=True)
"""Keys of programs. `digest` is of the secret, `permissions` are words with spaces between them."""

login_tries = _table("login_tries", ("digest",), _text("digest"), _int("failed"), _long("last"), _long("until"))
"""Tries to sign in that failed, by a digest of the name, whether or not there is such a user."""

access_tokens = _table(
    "access_tokens", ("digest",),
    _text("digest"), _text("kind"), _text("user", null=True), _long("created"), _long("ends"), _long("used", null=True),
    _seal(),
)  # fmt: skip
Index("ux_access_tokens_digest", access_tokens.c.digest, unique=True)
"""What may be used once: to make the first user, or to set a password anew. `digest` is of the token."""

# The audit log

audit_logs = _table("audit_logs", (), _text("origin"), _long("size"))
"""One log for each tenant; the row is locked by who appends."""

audit_entries = _table(
    "audit_entries", ("idx",),
    _long("idx"), _text("kind"), _text("record", null=True), _bytes("data"),
    indexes=(("record", "idx"),),
)  # fmt: skip
"""The entries of a log; `data` is what is hashed."""

audit_tiles = _table("audit_tiles", ("level", "idx"), _int("level"), _long("idx"), _bytes("hashes"))
"""The hashes of a log's tree (`assay.store.audit.merkle.tiles`)."""

audit_checkpoints = _table("audit_checkpoints", ("size",), _long("size"), _long("created"), _text("note"))
"""The signed checkpoints of a log."""

audit_anchors = _table(
    "audit_anchors", ("size", "target"), _long("size"), _text("target"), _long("created"), _text("answer", null=True)
)  # fmt: skip
"""Where checkpoints were taken to, outside this database, and what was answered."""
