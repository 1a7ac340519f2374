"""The verbs of who runs assay: the server, people, keys, reviews, receipts and the audit log."""
