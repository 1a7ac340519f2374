"""Statements of several rows of a table: how many, which, and what they sum to."""
