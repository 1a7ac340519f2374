"""Datasets and experiments of a server: rows for `assay eval`, checks again in the background, routes."""
