"""The review queue: items, acts of reviewers, deadlines, messages about them, and labelled rows made from decisions."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.reviews.actions import LONGEST_REASON as LONGEST_REASON
    from assay.store.reviews.actions import reviewers as reviewers
    from assay.store.reviews.deadlines import next_sweep as next_sweep
    from assay.store.reviews.deadlines import sweep as sweep
    from assay.store.reviews.investigations import open_investigation as open_investigation
    from assay.store.reviews.items import OPEN_STATES as OPEN_STATES
    from assay.store.reviews.items import ReviewFilter as ReviewFilter
    from assay.store.reviews.items import changed_since as changed_since
    from assay.store.reviews.items import counts as counts
    from assay.store.reviews.items import evidence_of as evidence_of
    from assay.store.reviews.items import list_items as list_items
    from assay.store.reviews.items import newest_report as newest_report
    from assay.store.reviews.items import read_events as read_events
    from assay.store.reviews.items import read_item as read_item
    from assay.store.reviews.items import read_package as read_package
    from assay.store.reviews.items import read_row as read_row
    from assay.store.reviews.outbox import HOLD as HOLD
    from assay.store.reviews.outbox import PART as PART
    from assay.store.reviews.outbox import Message as Message
    from assay.store.reviews.outbox import mark_failed as mark_failed
    from assay.store.reviews.outbox import mark_sent as mark_sent
    from assay.store.reviews.outbox import purge as purge
    from assay.store.reviews.outbox import spread as spread
    from assay.store.reviews.outbox import take as take
    from assay.store.reviews.queue import Reviewer as Reviewer
    from assay.store.reviews.queue import Reviews as Reviews
    from assay.store.reviews.queue import Verdicts as Verdicts
    from assay.store.reviews.training_rows import labelled_rows as labelled_rows
    from assay.store.reviews.user_rows import feedback_rows as feedback_rows
    from assay.store.reviews.user_rows import rows_by as rows_by
    from assay.store.reviews.user_rows import user_scores as user_scores
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".actions": ("LONGEST_REASON", "reviewers"),
            ".deadlines": ("next_sweep", "sweep"),
            ".investigations": ("open_investigation",),
            ".items": (
                "OPEN_STATES",
                "ReviewFilter",
                "changed_since",
                "counts",
                "evidence_of",
                "list_items",
                "newest_report",
                "read_events",
                "read_item",
                "read_package",
                "read_row",
            ),
            ".outbox": ("HOLD", "Message", "PART", "mark_failed", "mark_sent", "purge", "spread", "take"),
            ".queue": ("Reviewer", "Reviews", "Verdicts"),
            ".training_rows": ("labelled_rows",),
            ".user_rows": ("feedback_rows", "rows_by", "user_scores"),
        },
    )
