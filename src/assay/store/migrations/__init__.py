"""The migrations of the database, in order; `assay.store.migrate` runs them."""
