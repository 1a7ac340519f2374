"""`assay redteam`: writes attacks, runs them, promotes those that succeed. A verb imports what it needs when it runs."""
