"""Reports as text and as HTML files."""
