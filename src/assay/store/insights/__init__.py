"""Queries over many checks: hourly counts, pass rates, unanswered questions, what-if decisions."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.insights.actors import actors_of as actors_of
    from assay.store.insights.console_queries import Backlog as Backlog
    from assay.store.insights.console_queries import ClaimsSummary as ClaimsSummary
    from assay.store.insights.console_queries import History as History
    from assay.store.insights.console_queries import LogEntry as LogEntry
    from assay.store.insights.console_queries import RecordedDecision as RecordedDecision
    from assay.store.insights.console_queries import UserFeedback as UserFeedback
    from assay.store.insights.console_queries import describe as describe
    from assay.store.insights.console_queries import latest_actions as latest_actions
    from assay.store.insights.console_queries import read_backlog as read_backlog
    from assay.store.insights.console_queries import read_history as read_history
    from assay.store.insights.evidence_use import RetrievedPassage as RetrievedPassage
    from assay.store.insights.evidence_use import retrieved_passages as retrieved_passages
    from assay.store.insights.hourly_counts import Counts as Counts
    from assay.store.insights.hourly_counts import moment_of_hour as moment_of_hour
    from assay.store.insights.hourly_counts import period as period
    from assay.store.insights.hourly_counts import read_counts as read_counts
    from assay.store.insights.hourly_increments import ACTION as ACTION
    from assay.store.insights.hourly_increments import CATEGORY as CATEGORY
    from assay.store.insights.hourly_increments import VERDICT as VERDICT
    from assay.store.insights.pass_rates import SCORE_BINS as SCORE_BINS
    from assay.store.insights.pass_rates import PassCount as PassCount
    from assay.store.insights.pass_rates import PassRates as PassRates
    from assay.store.insights.pass_rates import read_pass_rates as read_pass_rates
    from assay.store.insights.run_figures import Figures as Figures
    from assay.store.insights.run_figures import read_figures as read_figures
    from assay.store.insights.unanswered_questions import Gap as Gap
    from assay.store.insights.unanswered_questions import GapReason as GapReason
    from assay.store.insights.unanswered_questions import Gaps as Gaps
    from assay.store.insights.unanswered_questions import UnansweredQuestion as UnansweredQuestion
    from assay.store.insights.unanswered_questions import find_gaps as find_gaps
    from assay.store.insights.what_if import MOST_DECISIONS as MOST_DECISIONS
    from assay.store.insights.what_if import PolicyVersion as PolicyVersion
    from assay.store.insights.what_if import TrialResult as TrialResult
    from assay.store.insights.what_if import WhatIf as WhatIf
    from assay.store.insights.what_if import find_policy as find_policy
    from assay.store.insights.what_if import policy_history as policy_history
    from assay.store.insights.what_if import setting_changes as setting_changes
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".actors": ("actors_of",),
            ".console_queries": (
                "Backlog",
                "RecordedDecision",
                "ClaimsSummary",
                "LogEntry",
                "History",
                "UserFeedback",
                "describe",
                "latest_actions",
                "read_backlog",
                "read_history",
            ),
            ".evidence_use": ("RetrievedPassage", "retrieved_passages"),
            ".hourly_increments": ("ACTION", "CATEGORY", "VERDICT"),
            ".hourly_counts": ("Counts", "moment_of_hour", "period", "read_counts"),
            ".pass_rates": ("PassRates", "PassCount", "SCORE_BINS", "read_pass_rates"),
            ".run_figures": ("Figures", "read_figures"),
            ".unanswered_questions": ("Gap", "Gaps", "UnansweredQuestion", "GapReason", "find_gaps"),
            ".what_if": (
                "MOST_DECISIONS",
                "PolicyVersion",
                "TrialResult",
                "WhatIf",
                "find_policy",
                "policy_history",
                "setting_changes",
            ),
        },
        renamed={
            "Decided": "RecordedDecision",
            "Entered": "LogEntry",
            "Described": "ClaimsSummary",
            "Passed": "PassCount",
            "Tried": "TrialResult",
            "Why": "GapReason",
        },
    )
