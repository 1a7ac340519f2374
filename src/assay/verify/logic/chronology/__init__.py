"""Dates and orders that a text states, held against each other."""
