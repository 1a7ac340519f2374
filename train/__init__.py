"""Recipes that make the embedded verifier: rows, controlled edits, training, export and the fitted combination."""
