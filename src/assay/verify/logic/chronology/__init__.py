"""Dates and orders that a text states, checked against each other."""
