"""The kinds of text files, by the ending of their names, and what reads each."""

from __future__ import annotations

from typing import Final

from assay.text.files.marked import FileText, read_marked

TEXT: Final = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
PAGES: Final = frozenset({".html", ".htm", ".xhtml"})
TABLES: Final = frozenset({".csv", ".tsv"})


def read_kind(text: str, ending: str) -> FileText:
    r"""The text of a file as a document, its lines ended by `\n` alone.

    >>> read_kind("<title>Leave</title><p>Two weeks.", ".html").title
    'Leave'

    Args:
        text: what the file holds.
        ending: of its name, in small letters, with the dot; what is of no other kind is read as Markdown.

    Raises:
        InputError: it is nothing of the kind that its ending says.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if ending in PAGES:
        from assay.text.files.pages import read_html

        return read_html(text)
    if ending in TABLES:
        from assay.text.files.tables import read_table

        return read_table(text, "\t" if ending == ".tsv" else ",")
    return read_marked(text)
