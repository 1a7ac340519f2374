"""What changes over time, as it is remembered: observations, where charts stand, changes, alarms, consequences."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.monitoring.changes import add_changes as add_changes
    from assay.store.monitoring.changes import checked_id as checked_id
    from assay.store.monitoring.changes import known_alarm as known_alarm
    from assay.store.monitoring.changes import read_alarms as read_alarms
    from assay.store.monitoring.changes import read_changes as read_changes
    from assay.store.monitoring.changes import read_consequences as read_consequences
    from assay.store.monitoring.changes import seen_changes as seen_changes
    from assay.store.monitoring.changes import set_alarm as set_alarm
    from assay.store.monitoring.changes import set_consequences as set_consequences
    from assay.store.monitoring.charts import MOST_READ as MOST_READ
    from assay.store.monitoring.charts import MovedError as MovedError
    from assay.store.monitoring.charts import StoredState as StoredState
    from assay.store.monitoring.charts import each_observation as each_observation
    from assay.store.monitoring.charts import go_back as go_back
    from assay.store.monitoring.charts import move as move
    from assay.store.monitoring.charts import read_observations as read_observations
    from assay.store.monitoring.charts import read_state as read_state
    from assay.store.monitoring.judged import corrected_outputs as corrected_outputs
    from assay.store.monitoring.judged import judged_scores as judged_scores
    from assay.store.monitoring.observing import HORIZON_S as HORIZON_S
    from assay.store.monitoring.observing import observe as observe
    from assay.store.monitoring.sums import drawn_outputs as drawn_outputs
    from assay.store.monitoring.sums import window_sums as window_sums
    from assay.store.monitoring.values import AlarmRow as AlarmRow
    from assay.store.monitoring.values import ChangeRow as ChangeRow
    from assay.store.monitoring.values import ConsequenceRow as ConsequenceRow
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".changes": (
                "add_changes",
                "checked_id",
                "known_alarm",
                "read_alarms",
                "read_changes",
                "read_consequences",
                "seen_changes",
                "set_alarm",
                "set_consequences",
            ),
            ".charts": (
                "MOST_READ",
                "MovedError",
                "StoredState",
                "each_observation",
                "go_back",
                "move",
                "read_observations",
                "read_state",
            ),
            ".judged": (
                "corrected_outputs",
                "judged_scores",
            ),
            ".observing": (
                "HORIZON_S",
                "observe",
            ),
            ".sums": (
                "drawn_outputs",
                "window_sums",
            ),
            ".values": (
                "AlarmRow",
                "ChangeRow",
                "ConsequenceRow",
            ),
        },
    )
