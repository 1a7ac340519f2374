"""Arithmetic: checks the calculations that a text states, and derives numbers of a claim from those of the evidence."""
