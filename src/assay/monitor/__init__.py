"""What changes over time, as numbers: sampling, series with their charts, alarms, causes, bisection, the error budget.

It reads and writes nothing; what it is fed and where it is kept is the work of the store and the server.
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
    from assay.monitor.budgeting import BudgetReading as BudgetReading
    from assay.monitor.budgeting import BudgetSettings as BudgetSettings
    from assay.monitor.budgeting import Consequence as Consequence
    from assay.monitor.budgeting import read_budget as read_budget
    from assay.monitor.charts import Charts as Charts
    from assay.monitor.charts import Raised as Raised
    from assay.monitor.charts import SeriesState as SeriesState
    from assay.monitor.charts import Watching as Watching
    from assay.monitor.charts import advanced as advanced
    from assay.monitor.charts import chart_for as chart_for
    from assay.monitor.charts import rate_of as rate_of
    from assay.monitor.observations import DIMENSIONS as DIMENSIONS
    from assay.monitor.observations import METRICS as METRICS
    from assay.monitor.observations import Observation as Observation
    from assay.monitor.observations import Series as Series
    from assay.monitor.sampling import Sampling as Sampling
    from assay.monitor.sampling import place as place
    from assay.monitor.schedule import Cron as Cron
    from assay.monitor.schedule import Every as Every
    from assay.monitor.schedule import When as When
    from assay.monitor.schedule import read_seconds as read_seconds
    from assay.monitor.schedule import read_when as read_when
    from assay.monitor.settings import MonitorSettings as MonitorSettings
    from assay.monitor.settings import monitor_settings as monitor_settings
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
            ".budgeting": (
                "BudgetReading",
                "BudgetSettings",
                "Consequence",
                "read_budget",
            ),
            ".charts": (
                "Charts",
                "Raised",
                "SeriesState",
                "Watching",
                "advanced",
                "chart_for",
                "rate_of",
            ),
            ".observations": (
                "DIMENSIONS",
                "METRICS",
                "Observation",
                "Series",
            ),
            ".sampling": (
                "Sampling",
                "place",
            ),
            ".schedule": ("Cron", "Every", "When", "read_seconds", "read_when"),
            ".settings": (
                "MonitorSettings",
                "monitor_settings",
            ),
        },
    )
