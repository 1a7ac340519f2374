"""Scheduled work, runs of the golden set, and digests of the gateway's traffic."""

from assay.store.db.tables.definition import table

schedules = table("schedules", "name text, slot long, begun long, finished long?, body json?", key="name")
"""Scheduled work (`assay.server.cadence`): `slot` is the scheduled moment for which it last began, `body` the state
that it keeps for the next time."""

golden_runs = table(
    "golden_runs",
    """
    id text, slot long, state text, rows_digest text, policy text, verifier text, count int, begun long,
    finished long?, body json?
    """,
    key="id",
    indexes=("begun id",),
)
"""Runs of the golden set (`assay.store.monitoring.golden`), with the digest of its rows, the policy and the
verifier."""

golden_results = table(
    "golden_results",
    "run text, position int, row text, bad number?, score number?, withheld number?, misjudged number?",
    key="run position",
)
"""The results of a run for each row, as numbers. They all become observations at once, when the run is complete."""

passing = table(
    "passing",
    "kind text, scope text, at long, source text, count int, body json?",
    key="kind scope at source",
)
"""Digests of prompts, tools and models in the gateway's traffic, counted by the process that saw them, until the
monitor has added them to `passing_states` (`assay.monitor.takeovers`)."""

passing_states = table("passing_states", "kind text, scope text, until long, body json?", key="kind scope")
"""Digests and counts of the prompts, tools or models of one route and caller; no texts."""
