"""Whole data sets: reading rows, evaluating a guard on them, and the report of it."""
