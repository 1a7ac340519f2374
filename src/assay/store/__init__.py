"""What is remembered: runs, reports, evidence, decisions, and an audit log that proves that they were not altered."""
