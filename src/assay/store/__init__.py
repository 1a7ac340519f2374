"""What is stored: runs, reports, evidence, decisions, and an audit log that proves that none of them was altered."""
