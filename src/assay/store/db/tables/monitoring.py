"""Monitoring over time: observations, chart states, changes, alarms, consequences."""

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
"""Numbers observed for each output (`assay.monitor.observations`), derived from its report when it was new, so that
they outlast an erasure. `added` is when they were derived; `categories` are words separated by spaces. `cadence` is
null for outputs of production; all others (golden set, judge) count only in series of their own."""

chart_states = table("chart_states", "until long, dirty long?, body json?", key="until")
"""The states of the charts (`assay.monitor.charts`): the row with the latest `until` is current, earlier rows are
snapshots to go back to. `dirty` is the moment of the earliest observation that came late."""

changes = table(
    "changes",
    "id text, at long, kind text, ref text, note text, source text, created long, actor text?, seal bytes?",
    key="id",
    indexes=("at id",),
)
"""Changes of the system whose outputs are checked: reported by somebody, or detected in its traffic."""

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
"""Consequences of a spent error budget (`assay.monitor.budget`): whether each is in force, and since when."""
