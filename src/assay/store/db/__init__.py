"""The database: tables, migrations, row-level security, and the one writing thread of a process."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.db.engine import database_url as database_url
    from assay.store.db.engine import make_engine as make_engine
    from assay.store.db.leases import take_lease as take_lease
    from assay.store.db.migrate import HEAD as HEAD
    from assay.store.db.migrate import revision as revision
    from assay.store.db.store import MOST_LISTED as MOST_LISTED
    from assay.store.db.store import Store as Store
    from assay.store.db.store import StoredCheck as StoredCheck
    from assay.store.db.store import read_check as read_check
    from assay.store.db.store import run_of as run_of
    from assay.store.db.store import stored_checks as stored_checks
    from assay.store.db.tables import alerts as alerts
    from assay.store.db.tables import audit_anchors as audit_anchors
    from assay.store.db.tables import audit_checkpoints as audit_checkpoints
    from assay.store.db.tables import audit_logs as audit_logs
    from assay.store.db.tables import outbox as outbox
    from assay.store.db.tables import receipt_uses as receipt_uses
    from assay.store.db.tables import review_items as review_items
    from assay.store.db.tables import runs as runs
    from assay.store.db.writer import Act as Act
    from assay.store.db.writer import Change as Change
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".engine": ("database_url", "make_engine"),
            ".leases": ("take_lease",),
            ".migrate": ("HEAD", "revision"),
            ".store": ("MOST_LISTED", "Store", "StoredCheck", "read_check", "run_of", "stored_checks"),
            ".tables": (
                "alerts",
                "audit_anchors",
                "audit_checkpoints",
                "audit_logs",
                "outbox",
                "receipt_uses",
                "review_items",
                "runs",
            ),
            ".writer": ("Act", "Change"),
        },
    )
