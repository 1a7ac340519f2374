"""The review queue: items, acts of reviewers, deadlines, messages about them, and labelled rows made from decisions."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.reviews.actions import LONGEST_REASON as LONGEST_REASON
    from assay.store.reviews.actions import reviewers as reviewers
    from assay.store.reviews.deadlines import next_sweep as next_sweep
    from assay.store.reviews.deadlines import sweep_deadlines as sweep_deadlines
    from assay.store.reviews.investigations import open_investigation as open_investigation
    from assay.store.reviews.items import OPEN_STATES as OPEN_STATES
    from assay.store.reviews.items import ReviewFilter as ReviewFilter
    from assay.store.reviews.items import changed_since as changed_since
    from assay.store.reviews.items import count_open_items as count_open_items
    from assay.store.reviews.items import evidence_of as evidence_of
    from assay.store.reviews.items import list_items as list_items
    from assay.store.reviews.items import newest_report as newest_report
    from assay.store.reviews.items import read_events as read_events
    from assay.store.reviews.items import read_item as read_item
    from assay.store.reviews.items import read_package as read_package
    from assay.store.reviews.items import read_row as read_row
    from assay.store.reviews.outbox import HOLD as HOLD
    from assay.store.reviews.outbox import MESSAGE_BATCH as MESSAGE_BATCH
    from assay.store.reviews.outbox import Message as Message
    from assay.store.reviews.outbox import mark_failed as mark_failed
    from assay.store.reviews.outbox import mark_sent as mark_sent
    from assay.store.reviews.outbox import purge_messages as purge_messages
    from assay.store.reviews.outbox import spread_messages as spread_messages
    from assay.store.reviews.outbox import take_messages as take_messages
    from assay.store.reviews.queue import ReviewDecision as ReviewDecision
    from assay.store.reviews.queue import Reviewer as Reviewer
    from assay.store.reviews.queue import Reviews as Reviews
    from assay.store.reviews.training_rows import labelled_rows as labelled_rows
    from assay.store.reviews.user_rows import feedback_rows as feedback_rows
    from assay.store.reviews.user_rows import rows_by as rows_by
    from assay.store.reviews.user_rows import user_scores as user_scores
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".actions": ("LONGEST_REASON", "reviewers"),
            ".deadlines": ("next_sweep", "sweep_deadlines"),
            ".investigations": ("open_investigation",),
            ".items": (
                "OPEN_STATES",
                "ReviewFilter",
                "changed_since",
                "count_open_items",
                "evidence_of",
                "list_items",
                "newest_report",
                "read_events",
                "read_item",
                "read_package",
                "read_row",
            ),
            ".outbox": (
                "HOLD",
                "Message",
                "MESSAGE_BATCH",
                "mark_failed",
                "mark_sent",
                "purge_messages",
                "spread_messages",
                "take_messages",
            ),
            ".queue": ("Reviewer", "Reviews", "ReviewDecision"),
            ".training_rows": ("labelled_rows",),
            ".user_rows": ("feedback_rows", "rows_by", "user_scores"),
        },
        renamed={
            "Verdicts": "ReviewDecision",
            "take": "take_messages",
            "spread": "spread_messages",
            "purge": "purge_messages",
            "sweep": "sweep_deadlines",
            "counts": "count_open_items",
            "PART": "MESSAGE_BATCH",
        },
    )
