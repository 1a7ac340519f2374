"""Readers of one sentence each, by the block that it is in: prose, code, headings, list items, table rows."""
