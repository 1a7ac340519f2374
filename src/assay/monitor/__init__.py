"""Monitoring of outputs over time: sampling, series and their charts, alarms, causes, bisection, the error budget.

It is pure and does no input or output: the store and the server provide the observations and keep the state.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.monitor.alarms import WORST as WORST
    from assay.monitor.alarms import Alarm as Alarm
    from assay.monitor.alarms import AlarmState as AlarmState
    from assay.monitor.alarms import alarm_id as alarm_id
    from assay.monitor.alarms import alarm_of as alarm_of
    from assay.monitor.alarms import number_or_none as number_or_none
    from assay.monitor.attribution import KINDS as KINDS
    from assay.monitor.attribution import Attribution as Attribution
    from assay.monitor.attribution import Cause as Cause
    from assay.monitor.attribution import SystemChange as SystemChange
    from assay.monitor.attribution import attribute as attribute
    from assay.monitor.bisection import Ask as Ask
    from assay.monitor.bisection import FoundCause as FoundCause
    from assay.monitor.bisection import SearchOptions as SearchOptions
    from assay.monitor.bisection import SearchResult as SearchResult
    from assay.monitor.bisection import Step as Step
    from assay.monitor.bisection import search as search
    from assay.monitor.budget import BudgetReading as BudgetReading
    from assay.monitor.budget import BudgetSettings as BudgetSettings
    from assay.monitor.budget import Consequence as Consequence
    from assay.monitor.budget import read_budget as read_budget
    from assay.monitor.cadences import Cadences as Cadences
    from assay.monitor.cadences import GoldenSet as GoldenSet
    from assay.monitor.cadences import JudgeSampling as JudgeSampling
    from assay.monitor.cadences import TimedStep as TimedStep
    from assay.monitor.cadences import read_cadences as read_cadences
    from assay.monitor.charts import Charts as Charts
    from assay.monitor.charts import RaisedAlarm as RaisedAlarm
    from assay.monitor.charts import SeriesState as SeriesState
    from assay.monitor.charts import WatchSettings as WatchSettings
    from assay.monitor.charts import advanced as advanced
    from assay.monitor.charts import chart_for as chart_for
    from assay.monitor.charts import rate_json as rate_json
    from assay.monitor.charts import rate_of as rate_of
    from assay.monitor.designs import DesignedChart as DesignedChart
    from assay.monitor.observations import CADENCES as CADENCES
    from assay.monitor.observations import DIMENSIONS as DIMENSIONS
    from assay.monitor.observations import METRICS as METRICS
    from assay.monitor.observations import Observation as Observation
    from assay.monitor.observations import Series as Series
    from assay.monitor.paired import PairedComparison as PairedComparison
    from assay.monitor.paired import compare_rows as compare_rows
    from assay.monitor.paired import level_of as level_of
    from assay.monitor.paired import sign_test as sign_test
    from assay.monitor.sampling import Sampling as Sampling
    from assay.monitor.sampling import place as place
    from assay.monitor.schedule import Cron as Cron
    from assay.monitor.schedule import Every as Every
    from assay.monitor.schedule import When as When
    from assay.monitor.schedule import read_seconds as read_seconds
    from assay.monitor.schedule import read_when as read_when
    from assay.monitor.settings import MonitorSettings as MonitorSettings
    from assay.monitor.settings import monitor_settings as monitor_settings
    from assay.monitor.takeovers import MOST_PARTS as MOST_PARTS
    from assay.monitor.takeovers import PassingBatch as PassingBatch
    from assay.monitor.takeovers import TakeOver as TakeOver
    from assay.monitor.takeovers import advanced_passing as advanced_passing
    from assay.monitor.takeovers import varying as varying
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".alarms": (
                "Alarm",
                "AlarmState",
                "WORST",
                "alarm_id",
                "alarm_of",
                "number_or_none",
            ),
            ".attribution": (
                "Attribution",
                "Cause",
                "KINDS",
                "SystemChange",
                "attribute",
            ),
            ".bisection": (
                "Ask",
                "FoundCause",
                "SearchOptions",
                "SearchResult",
                "Step",
                "search",
            ),
            ".budget": (
                "BudgetReading",
                "BudgetSettings",
                "Consequence",
                "read_budget",
            ),
            ".cadences": ("Cadences", "GoldenSet", "JudgeSampling", "TimedStep", "read_cadences"),
            ".charts": (
                "Charts",
                "RaisedAlarm",
                "SeriesState",
                "WatchSettings",
                "advanced",
                "chart_for",
                "rate_of",
                "rate_json",
            ),
            ".designs": ("DesignedChart",),
            ".observations": (
                "CADENCES",
                "DIMENSIONS",
                "METRICS",
                "Observation",
                "Series",
            ),
            ".paired": ("PairedComparison", "compare_rows", "level_of", "sign_test"),
            ".sampling": (
                "Sampling",
                "place",
            ),
            ".schedule": ("Cron", "Every", "When", "read_seconds", "read_when"),
            ".settings": (
                "MonitorSettings",
                "monitor_settings",
            ),
            ".takeovers": ("MOST_PARTS", "PassingBatch", "TakeOver", "advanced_passing", "varying"),
        },
        renamed={
            "Watching": "WatchSettings",
            "Raised": "RaisedAlarm",
            "Stated": "DesignedChart",
            "told_rate": "rate_json",
        },
    )
