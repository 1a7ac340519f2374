"""The rows of a run, kept next to its results without their evidence, so that two runs can be compared even where the
files of the rows are not available."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.evaluation.rows.atomic_files import write_file
from assay.evaluation.rows.reading import Row

FILE_NAME: Final = "rows.jsonl"
"""The name of the file in the folder of a run."""


@dataclass(frozen=True, slots=True)
class KeptRow:
    """The fields of a `Row` that a comparison needs, under the same names."""

    digest: str
    set: str
    id: str
    text: str
    question: str | None
    label: str | None
    document: str
    spans: tuple[tuple[int, int], ...] | None
    place: tuple[str, int] | None = None

    @property
    def wrong(self) -> bool:
        """Whether the label is anything but `supported`."""
        return self.label is not None and self.label != "supported"


def kept_row(row: Row) -> KeptRow:
    """A row without its evidence."""
    return KeptRow(row.digest, row.set, row.id, row.text, row.question, row.label, row.document, row.spans, row.place)


def keep_rows(folder: Path, rows: Iterable[Row]) -> None:
    """Writes the rows of a run into its folder.

    Raises:
        InputError: the folder cannot be written to.
    """
    names = KeptRow.__slots__
    lines = (
        json.dumps({name: getattr(one, name) for name in names}, ensure_ascii=True) + "\n"
        for one in (kept_row(row) for row in rows)
    )
    write_file(folder / FILE_NAME, "".join(lines))


def read_kept(folder: Path) -> list[KeptRow]:
    """The rows of a run.

    Raises:
        InputError: the file is missing or damaged.
    """
    path = folder / FILE_NAME
    try:
        with path.open(encoding="utf-8") as stream:
            return [_from_json(json.loads(line)) for line in stream]
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: no such file; it is written by `assay eval FILE... --out {folder}`. For a run of an earlier "
            "version name the files of its rows before --compare"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not the rows of a run: {error}") from error


def _from_json(value: dict[str, Any]) -> KeptRow:
    spans, place = value["spans"], value["place"]
    return KeptRow(
        digest=str(value["digest"]),
        set=str(value["set"]),
        id=str(value["id"]),
        text=str(value["text"]),
        question=value["question"],
        label=value["label"],
        document=str(value["document"]),
        spans=None if spans is None else tuple((int(start), int(end)) for start, end in spans),
        place=None if place is None else (str(place[0]), int(place[1])),
    )
