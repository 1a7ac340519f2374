"""Files of a corpus as text: Markdown, plain text, HTML, CSV, DOCX and PDF."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.corpus.formats.files import ENDINGS as ENDINGS
    from assay.corpus.formats.files import needs_package as needs_package
    from assay.corpus.formats.files import read_file as read_file
else:
    __all__, __getattr__, __dir__ = lazy(__name__, {".files": ("ENDINGS", "needs_package", "read_file")})
