"""What is done by the clock: schedules, the golden set, digests of what passes through the gateway."""

from assay.store.db.tables.definition import table

schedules = table("schedules", "name text, slot long, begun long, finished long?, body json?", key="name")
"""What is done by a schedule (`assay.server.cadence`): the moment of the plan for which it was begun last, and what the
work has to know the next time."""

golden_runs = table(
    "golden_runs",
    """
    id text, slot long, state text, rows_digest text, policy text, verifier text, count int, begun long,
    finished long?, body json?
    """,
    key="id",
    indexes=("begun id",),
)
"""Runs of the golden set (`assay.store.monitoring.golden`): of which rows, under which policy and verifier."""

golden_results = table(
    "golden_results",
    "run text, position int, row text, bad number?, score number?, withheld number?, misjudged number?",
    key="run position",
)
"""What a run found of each row, as numbers. They become observations all at once, when the run is complete."""

passing = table(
    "passing",
    "kind text, scope text, at long, source text, count int, body json?",
    key="kind scope at source",
)
"""Digests of prompts, tools and models that passed through the gateway, counted by the process that saw them, until
the monitor has added them to `passing_states` (`assay.monitor.takeovers`)."""

passing_states = table("passing_states", "kind text, scope text, until long, body json?", key="kind scope")
"""What is known of the prompts, tools or models of one route and caller: digests and counts, no words."""
