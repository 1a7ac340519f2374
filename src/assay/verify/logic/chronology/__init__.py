"""Checks the dates and orders of a text for consistency."""
