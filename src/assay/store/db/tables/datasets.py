"""What people keep of recorded runs: saved views of lists, datasets, experiments."""

from sqlalchemy import Index

from assay.store.db.tables.definition import table

saved_views = table(
    "saved_views",
    "id text, owner text, page text, name text, created long, query text, seal bytes?",
    key="id",
    indexes=("owner page",),
)
"""Filters and columns of a list that somebody keeps under a name; `owner` is the id of a user, `query` the part of its
address behind the question mark."""

datasets = table(
    "datasets",
    "id text, name text, created long, maker text?, seal bytes?",
    key="id",
)
Index("ux_datasets_tenant_name", datasets.c.tenant, datasets.c.name, unique=True)
"""Sets of recorded runs under a name, to be labelled, exported and run again (`assay.store.datasets`)."""

dataset_rows = table(
    "dataset_rows",
    """
    dataset text, run text, added long, adder text?, label text?, wrong_claims text?, labelled long?, labeller text?
    """,
    key="dataset run",
    indexes=("run",),
)
"""The runs of a dataset: no text of theirs, so that an erasure reaches it. `wrong_claims` are positions of claims with
spaces between them."""

experiments = table(
    "experiments",
    """
    id text, dataset text, name text, created long, maker text?, state text, policy text, policy_name text, judge text,
    verifier text?, count int, finished long?, seal bytes?
    """,
    key="id",
    indexes=("dataset created", "state"),
)
"""Datasets that were checked again under another policy or verifier. `judge` is which claims the judge is asked of."""

experiment_rows = table(
    "experiment_rows",
    "experiment text, run text, action text?, route text?, score number?, verdicts text?, fault text?",
    key="experiment run",
)
"""What became of each run: no text of it. `verdicts` are those of its claims, in order, with spaces between them."""
