"""The verbs of operators: server, users, keys, reviews, backups, batches and the audit log."""
