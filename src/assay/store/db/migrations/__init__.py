"""The migrations of the database, in order; `assay.store.db.migrate` runs them."""
