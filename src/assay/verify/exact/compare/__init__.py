"""Comparisons of a claim with the evidence, one module for each kind of mention."""
