"""Whole data sets: rows in, verdicts, figures and a report out; and the baselines that a verifier has to beat."""
