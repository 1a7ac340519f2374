"""`assay redteam`: writes attacks, runs them, and promotes those that succeed; a verb imports what it needs."""
