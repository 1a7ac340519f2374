"""The snapshot of accepted claims: those that a person has read and lets stand although they are not supported.

One JSON file for each test file, `__assay__/NAME.json` beside it, made to be reviewed and committed. A claim is
accepted for one test, with its verdict and the digest of the evidence that it was checked against: where any of these
changes, it fails again.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.schema import Evidence
from assay.schema.views import Problem

SNAPSHOT_FOLDER: Final = "__assay__"
"""The folder beside a test file."""
FORMAT_VERSION: Final = 1
"""The version of the file format."""

Entry = tuple[str, str, str]
"""Kind, text and digest of the evidence."""


def snapshot_path(test_file: Path) -> Path:
    """The path of the snapshot of a test file."""
    return test_file.parent / SNAPSHOT_FOLDER / f"{test_file.stem}.json"


def evidence_digest(evidence: Iterable[Evidence]) -> str:
    """A digest of the ids and texts of evidence, whatever their order: 16 hexadecimal digits of SHA-256."""
    pieces = sorted([piece.id, piece.text] for piece in evidence)
    return hashlib.sha256(json.dumps(pieces, ensure_ascii=True).encode("ascii")).hexdigest()[:16]


def entry_of(problem: Problem, digest: str) -> Entry:
    """The entry of a problem; runs of white space in its text become one blank."""
    return problem.kind, " ".join(problem.text.split()) or problem.kind, digest


def read_accepted(path: Path) -> dict[str, list[Entry]]:
    """The accepted entries by the name of the test; nothing where there is no file.

    Raises:
        InputError: the file is damaged.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    try:
        value = json.loads(text)
        if value["assay_accepted"] != FORMAT_VERSION:
            raise ValueError(f"form {value['assay_accepted']!r}")  # noqa: TRY301 reported with the file's name below
        return {
            str(test): [(str(one["verdict"]), str(one["claim"]), str(one["evidence"])) for one in entries]
            for test, entries in value["tests"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: not a snapshot of accepted claims ({error}); restore it, or remove it and run pytest with "
            "--assay-accept after reading what fails"
        ) from error


def write_accepted(path: Path, tests_run: Iterable[str], accepted: Mapping[str, Sequence[Sequence[str]]]) -> int:
    """Writes the entries of the tests that ran; those of others stay as they are.

    Args:
        path: the file; removed where nothing is accepted any more.
        tests_run: names of the tests that ran to their end or failed for their claims.
        accepted: the entries of each.

    Returns:
        How many entries the file has.

    Raises:
        InputError: the file is damaged or cannot be written.
    """
    entries_by_test = {name: entries for name, entries in read_accepted(path).items() if name not in set(tests_run)}
    for name, entries in accepted.items():
        unique = list(dict.fromkeys((str(kind), str(text), str(digest)) for kind, text, digest in entries))
        if unique:
            entries_by_test[name] = unique
    count = sum(len(entries) for entries in entries_by_test.values())
    if not entries_by_test:
        path.unlink(missing_ok=True)
        return 0
    tests: dict[str, Any] = {
        name: [{"claim": text, "verdict": kind, "evidence": digest} for kind, text, digest in entries_by_test[name]]
        for name in sorted(entries_by_test)
    }
    write_file(
        path, json.dumps({"assay_accepted": FORMAT_VERSION, "tests": tests}, indent=2, ensure_ascii=False) + "\n"
    )
    return count
