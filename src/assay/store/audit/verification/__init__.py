"""Verifying a log: the entries against the tree, and the tables against the entries."""
