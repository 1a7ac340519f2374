"""The verbs of what changes over time: `assay monitor`, `changes`, `bisect` and `budget`."""
