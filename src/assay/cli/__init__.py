"""The `assay` command: one file per verb."""
