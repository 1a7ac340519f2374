"""Datasets and experiments of a server: rows for `assay eval`, experiments in the background, and the routes."""
