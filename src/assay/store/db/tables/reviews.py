"""Review items, messages about them, alerts and feedback."""

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
"""Outputs that wait for a reviewer. `version` grows with every change, so that two people never act on the same state.
`deadline` is the current deadline, `due` the first one; `package` holds the policy's rules for missed deadlines,
`report` is the newest report of the run, `holder` has claimed the item until `held_until`."""

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
"""Messages to people and programs, written in the transaction of the event that they report. A row without a target is
for every configured recipient; each of them then gets a row of its own. Checked texts never appear in it."""

alerts = table(
    "alerts",
    """
    id text, key text, kind text, severity text, state text, opened long, seen long, told long?, closed long?,
    times int, owner text?, version int, body json?
    """,
    key="id",
    indexes=("key opened", "opened id"),
)
"""Alerts that the monitor raises (`assay.store.alerts`). `key` is the subject: at most one alert for a key is open.
`seen` is when its condition last held, `told` when people were last notified, `owner` who acknowledged it."""

alert_silences = table("alert_silences", "key text, until long, maker text?, made long", key="key")
"""Keys of alerts about which nobody is notified for a while."""

feedback = table(
    "feedback",
    "id text, run text, claim int?, created long, author text?, verdict text, comment text?",
    key="id",
    indexes=("run", "created id"),
)
"""Feedback of users: that an output, or one claim of it, is wrong or right."""
