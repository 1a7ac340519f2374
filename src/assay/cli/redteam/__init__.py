"""`assay redteam`: write attacks, run them, let people promote what broke. What a verb needs is imported when it runs."""
