"""The stored state of the monitor: observations, charts, changes, alarms, consequences, schedules, golden runs."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.monitoring.changes import LIFTED as LIFTED
    from assay.store.monitoring.changes import active_consequences as active_consequences
    from assay.store.monitoring.changes import add_changes as add_changes
    from assay.store.monitoring.changes import checked_id as checked_id
    from assay.store.monitoring.changes import detected_changes as detected_changes
    from assay.store.monitoring.changes import read_alarms as read_alarms
    from assay.store.monitoring.changes import read_changes as read_changes
    from assay.store.monitoring.changes import read_consequences as read_consequences
    from assay.store.monitoring.changes import set_alarm as set_alarm
    from assay.store.monitoring.changes import set_consequences as set_consequences
    from assay.store.monitoring.charts import MOST_READ as MOST_READ
    from assay.store.monitoring.charts import ChartsMovedError as ChartsMovedError
    from assay.store.monitoring.charts import StoredState as StoredState
    from assay.store.monitoring.charts import advance_charts as advance_charts
    from assay.store.monitoring.charts import each_observation as each_observation
    from assay.store.monitoring.charts import read_observations as read_observations
    from assay.store.monitoring.charts import read_state as read_state
    from assay.store.monitoring.charts import rewind_charts as rewind_charts
    from assay.store.monitoring.golden import REGRESSED as REGRESSED
    from assay.store.monitoring.golden import GoldenResult as GoldenResult
    from assay.store.monitoring.golden import GoldenRun as GoldenRun
    from assay.store.monitoring.golden import accept_golden as accept_golden
    from assay.store.monitoring.golden import begin_golden as begin_golden
    from assay.store.monitoring.golden import complete_golden as complete_golden
    from assay.store.monitoring.golden import count_results as count_results
    from assay.store.monitoring.golden import golden_reference as golden_reference
    from assay.store.monitoring.golden import keep_result as keep_result
    from assay.store.monitoring.golden import read_golden_runs as read_golden_runs
    from assay.store.monitoring.golden import read_results as read_results
    from assay.store.monitoring.human_verdicts import corrected_outputs as corrected_outputs
    from assay.store.monitoring.human_verdicts import judged_scores as judged_scores
    from assay.store.monitoring.judgements import JudgeCandidate as JudgeCandidate
    from assay.store.monitoring.judgements import has_judgement as has_judgement
    from assay.store.monitoring.judgements import keep_judgement as keep_judgement
    from assay.store.monitoring.judgements import read_judge_candidates as read_judge_candidates
    from assay.store.monitoring.observations import HORIZON_S as HORIZON_S
    from assay.store.monitoring.observations import observe as observe
    from assay.store.monitoring.schedules import TimedWork as TimedWork
    from assay.store.monitoring.schedules import note_timed_work as note_timed_work
    from assay.store.monitoring.schedules import read_timed_work as read_timed_work
    from assay.store.monitoring.series import SeriesValue as SeriesValue
    from assay.store.monitoring.series import read_series as read_series
    from assay.store.monitoring.sums import drawn_outputs as drawn_outputs
    from assay.store.monitoring.sums import window_sums as window_sums
    from assay.store.monitoring.traffic import TrafficBatch as TrafficBatch
    from assay.store.monitoring.traffic import absorb_traffic as absorb_traffic
    from assay.store.monitoring.traffic import add_traffic as add_traffic
    from assay.store.monitoring.traffic import read_traffic as read_traffic
    from assay.store.monitoring.traffic import read_traffic_state as read_traffic_state
    from assay.store.monitoring.values import AlarmRow as AlarmRow
    from assay.store.monitoring.values import ChangeRow as ChangeRow
    from assay.store.monitoring.values import ConsequenceRow as ConsequenceRow
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".changes": (
                "LIFTED",
                "active_consequences",
                "add_changes",
                "checked_id",
                "read_alarms",
                "read_changes",
                "read_consequences",
                "detected_changes",
                "set_alarm",
                "set_consequences",
            ),
            ".charts": (
                "MOST_READ",
                "ChartsMovedError",
                "StoredState",
                "each_observation",
                "rewind_charts",
                "advance_charts",
                "read_observations",
                "read_state",
            ),
            ".golden": (
                "REGRESSED",
                "GoldenResult",
                "GoldenRun",
                "accept_golden",
                "begin_golden",
                "complete_golden",
                "count_results",
                "golden_reference",
                "keep_result",
                "read_golden_runs",
                "read_results",
            ),
            ".judgements": (
                "JudgeCandidate",
                "has_judgement",
                "keep_judgement",
                "read_judge_candidates",
            ),
            ".human_verdicts": (
                "corrected_outputs",
                "judged_scores",
            ),
            ".observations": (
                "HORIZON_S",
                "observe",
            ),
            ".series": ("SeriesValue", "read_series"),
            ".sums": (
                "drawn_outputs",
                "window_sums",
            ),
            ".traffic": (
                "TrafficBatch",
                "absorb_traffic",
                "add_traffic",
                "read_traffic",
                "read_traffic_state",
            ),
            ".schedules": (
                "TimedWork",
                "note_timed_work",
                "read_timed_work",
            ),
            ".values": (
                "AlarmRow",
                "ChangeRow",
                "ConsequenceRow",
            ),
        },
        renamed={
            "move": "advance_charts",
            "go_back": "rewind_charts",
            "MovedError": "ChartsMovedError",
            "PassingRow": "TrafficBatch",
            "absorb_passing": "absorb_traffic",
            "add_passing": "add_traffic",
            "read_passing": "read_traffic",
            "read_passing_state": "read_traffic_state",
            "seen_changes": "detected_changes",
            "Hearable": "JudgeCandidate",
            "is_heard": "has_judgement",
            "keep_heard": "keep_judgement",
            "read_hearable": "read_judge_candidates",
        },
    )
