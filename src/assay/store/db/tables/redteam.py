"""The red team: runs, cases, proposals, answers."""

from assay.store.db.tables.definition import table

redteam_runs = table(
    "redteam_runs",
    """
    id text, at long, recorded long, suite text, suite_name text, target text, target_version text?, verifier text,
    source text, schedule text?, due long?, actor text?, ars number?, low number?, high number?, cases int,
    passed int, failed int, unjudged int, flaky int, regressed flag?, weight number?, body json?, seal bytes?
    """,
    key="id",
    indexes=("at id", "schedule at", "weight at"),
)
"""Runs of suites of attacks (`assay.store.redteam`). `at` is when a run ended, `suite` the digest of its suite, `due`
the moment for which a schedule had it run, `weight` what each case that failed spends of the error budget. `body` has
the scores by category and how the run stands to its baselines."""

redteam_cases = table(
    "redteam_cases",
    """
    run text, position int, case_id text, category text, outcome text, match number?, flaky flag, rule text?,
    told json?
    """,
    key="run position",
    indexes=("case_id",),
)
"""What became of each case of a run, in order of its suite; `told` is the conversation of one that did not pass."""

redteam_proposals = table(
    "redteam_proposals",
    """
    id text, created long, run text?, category text, target text, match number?, rule text?, flaky flag, state text,
    decided long?, decider text?, actor text?, reason text?, kept text?, version int, body json?, seal bytes?
    """,
    key="id",
    indexes=("state created id", "created id", "kept"),
)
"""Cases that broke a system, proposed for the approved suite. `kept` is the id under which one that was approved is in
it, `body` the case as it was proposed and as it was approved, and the answer that broke."""

redteam_answers = table(
    "redteam_answers",
    "run text, case_id text, trial int, at long, body json?",
    key="run case_id trial",
)
"""Answers of runs of schedules that are under way, so that any process goes on with one whose own was killed."""
