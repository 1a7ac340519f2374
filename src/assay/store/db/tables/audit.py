"""The audit log: entries, hash tree, checkpoints."""

from assay.store.db.tables.definition import table

audit_logs = table("audit_logs", "origin text, size long", key="")
"""One log for each tenant; an append locks its row."""

audit_entries = table(
    "audit_entries",
    "idx long, kind text, record text?, data bytes",
    key="idx",
    indexes=("record idx",),
)
"""The entries of a log; the tree hashes `data`."""

audit_tiles = table("audit_tiles", "level int, idx long, hashes bytes", key="level idx")
"""The stored hashes of a log's tree (`assay.store.audit.merkle.tiles`)."""

audit_checkpoints = table("audit_checkpoints", "size long, created long, note text", key="size")
"""The signed checkpoints of a log."""

audit_anchors = table("audit_anchors", "size long, target text, created long, answer text?", key="size target")
"""The places outside this database that checkpoints were copied to, and the answers of witnesses."""
