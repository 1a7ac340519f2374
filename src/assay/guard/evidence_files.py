"""A file as evidence: the one rule by which all readers of files turn a file into a passage.

The header of a file is metadata and not evidence. Its title comes from the header, or else the heading, or else the
file name. A version or a day in the file name counts where the document itself states none.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Final

from assay.guard.conflicts.superseded_sources import age_of
from assay.schema import Evidence
from assay.text.files import FileText, title_of_name

LONGEST_TITLE: Final = 300
_VERSIONS: Final = frozenset({"version", "docversion", "documentversion", "revision", "rev"})


def passage_of_file(read: FileText, source: str, name: str) -> dict[str, Any]:
    r"""A file as a passage that `assay.retrieve.read_passages` takes.

    >>> from assay.text.files import read_file_text
    >>> file = read_file_text("---\nowner: HR\n---\n# Leave\nTwo weeks.", ".md")
    >>> made = passage_of_file(file, "leave_v3.md", "leave")
    >>> made["title"], made["metadata"]
    ('Leave', {'owner': 'HR', 'version': '3'})

    Args:
        read: the content of the file.
        source: its name within the folder.
        name: the id of the passage.
    """
    fields = dict(read.fields)
    own, by_name = (read.title or "").strip()[:LONGEST_TITLE], title_of_name(source)
    if own:  # otherwise the file name is the title and is read as such
        _dated_by_name(fields, own, by_name)
    return {"id": name, "text": read.text, "title": own or by_name, "source": source, "metadata": fields}


def _dated_by_name(fields: dict[str, Any], title: str, name: str) -> None:
    day, version = age_of(Evidence(id="-", text="-", title=name))
    own_day, own_version = age_of(Evidence(id="-", text="-", title=title))
    known = {re.sub(r"[^a-z0-9]+", "", field.casefold()) for field in fields}
    if version and not own_version and not known & _VERSIONS:
        fields["version"] = ".".join(map(str, version))
    if day != date.min and own_day == date.min:
        fields.setdefault("document date", day.isoformat())
