"""What changes over time: observations, charts, changes, alarms."""

from assay.store.db.tables.definition import table

observations = table(
    "observations",
    """
    id text, at long, added long, stakes text, agent text?, route text?, model text?, categories text,
    probability number?, sampled flag, bad number?, score number?, unfaithful number?, unfactual number?,
    withheld number?, fabricated number?, unretrieved number?, cadence text?, misjudged number?
    """,
    key="id",
    indexes=("at id",),
)
"""What was observed of each output, as numbers (`assay.monitor.observations`); drawn from its report when it was new,
so that an erasure leaves it. `added` is when it was drawn, `categories` are words with spaces between them. `cadence`
is null for what was observed in the path; others count in series of their own alone."""

chart_states = table("chart_states", "until long, dirty long?, body json?", key="until")
"""Where the charts stand (`assay.monitor.charts`): the row with the last `until` is in force, those before it are
snapshots to go back to. `dirty` is the moment of the earliest observation that came late."""

changes = table(
    "changes",
    "id text, at long, kind text, ref text, note text, source text, created long, actor text?, seal bytes?",
    key="id",
    indexes=("at id",),
)
"""What was changed in the system whose outputs are checked: told by somebody, or seen in what passes through."""

alarms = table(
    "alarms",
    """
    id text, series text, direction text, at long, raised long, state text, changed long?, actor text?, body json?,
    seal bytes?
    """,
    key="id",
    indexes=("at id", "state at"),
)
"""Alarms of charts; `body` is `assay.monitor.alarms.Alarm.wire`, `state` one of `AlarmState`."""

consequences = table(
    "consequences",
    "name text, active flag, since long, actor text?, body json?, seal bytes?",
    key="name",
)
"""What follows from a spent error budget (`assay.monitor.budget`), whether it is in force, and since when."""
