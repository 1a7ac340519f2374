"""Pages of datasets and experiments."""
