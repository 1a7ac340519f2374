"""`assay receipt`, and receipts that other verbs issue."""
