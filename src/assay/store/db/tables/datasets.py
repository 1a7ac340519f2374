"""Saved views of lists, datasets of recorded runs, and experiments on them."""

from sqlalchemy import Index

from assay.store.db.tables.definition import table

saved_views = table(
    "saved_views",
    "id text, owner text, page text, name text, created long, query text, seal bytes?",
    key="id",
    indexes=("owner page",),
)
"""Filters and columns of a list that a user saved under a name; `owner` is the user's id, `query` the query string of
the list's URL."""

datasets = table(
    "datasets",
    "id text, name text, created long, maker text?, seal bytes?",
    key="id",
)
Index("ux_datasets_tenant_name", datasets.c.tenant, datasets.c.name, unique=True)
"""Named sets of recorded runs, to be labelled, exported and checked again (`assay.store.datasets`)."""

dataset_rows = table(
    "dataset_rows",
    """
    dataset text, run text, added long, adder text?, label text?, wrong_claims text?, labelled long?, labeller text?
    """,
    key="dataset run",
    indexes=("run",),
)
"""The runs of a dataset. No text of a run is copied here, so an erasure of the run is complete. `wrong_claims` are
positions of claims, separated by spaces."""

experiments = table(
    "experiments",
    """
    id text, dataset text, name text, created long, maker text?, state text, policy text, policy_name text, judge text,
    verifier text?, count int, finished long?, seal bytes?
    """,
    key="id",
    indexes=("dataset created", "state"),
)
"""Datasets checked again under another policy or verifier. `judge` says which claims are put to the judge."""

experiment_rows = table(
    "experiment_rows",
    "experiment text, run text, action text?, route text?, score number?, verdicts text?, fault text?",
    key="experiment run",
)
"""The result of each run, without its text. `verdicts` are those of its claims in order, separated by spaces."""
