"""assay tests every claim of an answer for the evidence that it contains."""
