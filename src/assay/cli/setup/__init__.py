"""Getting started: `assay init`, `explain` and `completion`."""
