"""`assay receipt`, and the receipts of `assay check --receipt`."""
