"""Readers of one sentence each, by the block that it stands in: prose, code, headings, list items, table rows."""
