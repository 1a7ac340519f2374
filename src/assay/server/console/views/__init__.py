"""Parts of several pages that show one thing: a report, its revisions, its tool calls."""
