"""The snapshot of accepted claims: what a person has read, found not to be supported, and lets stand.

One JSON file for each test file, `__assay__/NAME.json` beside it, made to be reviewed and committed. A claim is
accepted for one test, with its verdict and the digest of the evidence that it was checked against: where any of these
changes, it counts again.
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

FOLDER: Final = "__assay__"
"""The folder beside a test file."""
FORM: Final = 1
"""The version of the file's form."""

Entry = tuple[str, str, str]
"""Kind, text and digest of the evidence."""


def snapshot_path(test_file: Path) -> Path:
    """Where the snapshot of a test file stands."""
    return test_file.parent / FOLDER / f"{test_file.stem}.json"


def evidence_digest(evidence: Iterable[Evidence]) -> str:
    """Names evidence by its ids and texts, in any order."""
    pieces = sorted([piece.id, piece.text] for piece in evidence)
    return hashlib.sha256(json.dumps(pieces, ensure_ascii=True).encode("ascii")).hexdigest()[:16]


def entry_of(problem: Problem, digest: str) -> Entry:
    """The entry of a problem, with white space made even."""
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
        if value["assay_accepted"] != FORM:
            raise ValueError(f"form {value['assay_accepted']!r}")  # noqa: TRY301 told with the file's name below
        return {
            str(test): [(str(one["verdict"]), str(one["claim"]), str(one["evidence"])) for one in entries]
            for test, entries in value["tests"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: not a snapshot of accepted claims ({error}); restore it, or remove it and run pytest with "
            "--assay-accept after reading what fails"
        ) from error


def write_accepted(path: Path, ran: Iterable[str], accepted: Mapping[str, Sequence[Sequence[str]]]) -> int:
    """Writes the entries of the tests that ran; those of others stay as they are.

    Args:
        path: the file; removed where nothing is accepted any more.
        ran: names of the tests that ran to their end or failed for their claims.
        accepted: the entries of each.

    Returns:
        How many entries the file has.

    Raises:
        InputError: the file is damaged or cannot be written.
    """
    kept = {name: entries for name, entries in read_accepted(path).items() if name not in set(ran)}
    for name, entries in accepted.items():
        listed = list(dict.fromkeys((str(kind), str(text), str(digest)) for kind, text, digest in entries))
        if listed:
            kept[name] = listed
    count = sum(len(entries) for entries in kept.values())
    if not kept:
        path.unlink(missing_ok=True)
        return 0
    tests: dict[str, Any] = {
        name: [{"claim": text, "verdict": kind, "evidence": digest} for kind, text, digest in kept[name]]
        for name in sorted(kept)
    }
    write_file(path, json.dumps({"assay_accepted": FORM, "tests": tests}, indent=2, ensure_ascii=False) + "\n")
    return count
