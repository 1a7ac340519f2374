"""What people do: review items, messages about them, alerts, feedback."""

from sqlalchemy import Index

from assay.store.db.tables.definition import table

review_items = table(
    "review_items",
    """
    id text, run text, created long, tier text, state text, deadline long?, expertise text?, assignee text?,
    claimed long?, decided long?, version int, package json?, outcome json?, report text?, risk number?, due long?,
    updated long?, holder text?, held_until long?, caller text?, callback text?
    """,
    key="id",
    indexes=("state deadline", "run", "updated", "created id"),
)
Index("ix_review_items_state_deadline", review_items.c.state, review_items.c.deadline)
"""What waits for a person. `version` grows with every change, so that two people never change the same state.
`deadline` is when something happens next, `due` was the first; `package` has what the policy says of passed deadlines,
`report` is the newest report of the run, `holder` has the item until `held_until`."""

outbox = table(
    "outbox",
    """
    id text, target text, event text, run text, created long, state text, attempts int, due long, held_until long?,
    sent long?, error text?, body json?
    """,
    key="id target",
    indexes=("run",),
)
Index("ix_outbox_state_due", outbox.c.state, outbox.c.due)
"""What is to be told to people and programs, written with what it tells of. A row without a target is for whoever is
configured to hear of it; each of those then has a row of its own. Texts that were checked are never in it."""

alerts = table(
    "alerts",
    """
    id text, key text, kind text, severity text, state text, opened long, seen long, told long?, closed long?,
    times int, owner text?, version int, body json?
    """,
    key="id",
    indexes=("key opened", "opened id"),
)
"""What the monitor says that a person has to know (`assay.store.alerts`). `key` is what it is about: of one key one
alert is open at most. `seen` is when it held last, `told` when people were last told, `owner` who acknowledged it."""

alert_silences = table("alert_silences", "key text, until long, maker text?, made long", key="key")
"""Which alerts nobody is to be told of for a while."""

feedback = table(
    "feedback",
    "id text, run text, claim int?, created long, author text?, verdict text, comment text?",
    key="id",
    indexes=("run", "created id"),
)
"""What users said of an output: that it, or one claim of it, is wrong or right."""
