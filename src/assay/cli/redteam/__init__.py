"""`assay redteam`: write attacks, run them, promote what broke. What a verb needs is imported when it runs."""
