"""Readers of a single sentence, by the block that it is in: prose, code, headings, list items, table rows."""
