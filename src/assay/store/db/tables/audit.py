"""The audit log."""

from assay.store.db.tables.definition import table

audit_logs = table("audit_logs", "origin text, size long", key="")
"""One log for each tenant; the row is locked by who appends."""

audit_entries = table(
    "audit_entries",
    "idx long, kind text, record text?, data bytes",
    key="idx",
    indexes=("record idx",),
)
"""The entries of a log; `data` is what is hashed."""

audit_tiles = table("audit_tiles", "level int, idx long, hashes bytes", key="level idx")
"""The hashes of a log's tree (`assay.store.audit.merkle.tiles`)."""

audit_checkpoints = table("audit_checkpoints", "size long, created long, note text", key="size")
"""The signed checkpoints of a log."""

audit_anchors = table("audit_anchors", "size long, target text, created long, answer text?", key="size target")
"""Where checkpoints were taken to, outside this database, and what was answered."""
