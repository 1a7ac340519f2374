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
"""Runs of attack suites (`assay.store.redteam`). `at` is when a run ended, `suite` the digest of its suite, `due` the
moment for which it was scheduled, `weight` how much of the error budget each failed case spends. `body` has the scores
by category and the comparison with its baselines."""

redteam_cases = table(
    "redteam_cases",
    """
    run text, position int, case_id text, category text, outcome text, match number?, flaky flag, rule text?,
    told json?
    """,
    key="run position",
    indexes=("case_id",),
)
"""The result of each case of a run, in the order of the suite; `told` is the conversation of a case that did not
pass."""

redteam_proposals = table(
    "redteam_proposals",
    """
    id text, created long, run text?, category text, target text, match number?, rule text?, flaky flag, state text,
    decided long?, decider text?, actor text?, reason text?, kept text?, version int, body json?, seal bytes?
    """,
    key="id",
    indexes=("state created id", "created id", "kept"),
)
"""Cases that broke a system, proposed for the approved suite. `kept` is the id of an approved case in that suite;
`body` has the case as proposed and as approved, and the answer that failed."""

redteam_answers = table(
    "redteam_answers",
    "run text, case_id text, trial int, at long, body json?",
    key="run case_id trial",
)
"""Answers of scheduled runs in progress, so that another process can continue a run whose own process was killed."""
