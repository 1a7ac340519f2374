"""The types of text files by the ending of their names, with the reader of each."""

from __future__ import annotations

from typing import Final

from assay.text.files.markdown import FileText, read_markdown

TEXT_ENDINGS: Final = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
HTML_ENDINGS: Final = frozenset({".html", ".htm", ".xhtml"})
TABLE_ENDINGS: Final = frozenset({".csv", ".tsv"})


def read_file_text(text: str, ending: str) -> FileText:
    r"""A text file as a document, with lines that end in `\n` alone.

    >>> read_file_text("<title>Leave</title><p>Two weeks.", ".html").title
    'Leave'

    Args:
        text: the content of the file.
        ending: the ending of its name in lower case, with the dot; an unknown one is read as Markdown.

    Raises:
        InputError: the content is not of the type that the ending names.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if ending in HTML_ENDINGS:
        from assay.text.files.html_page import read_html

        return read_html(text)
    if ending in TABLE_ENDINGS:
        from assay.text.files.tables import read_table

        return read_table(text, "\t" if ending == ".tsv" else ",")
    return read_markdown(text)
