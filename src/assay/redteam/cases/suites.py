"""Suites of cases: JSON Lines, one case a line, versioned by their content."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from assay.errors import InputError
from assay.redteam.cases.values import Case


def read_suite(path: Path) -> tuple[Case, ...]:
    """The cases of a suite, in order.

    Raises:
        InputError: the file is missing, a line is no case, an id is not that of its content, or two are the same.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{path}: cannot be read: {why or error}") from error
    cases: dict[str, Case] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        case = parse_case(line, f"{path}, line {number}")
        if case.id in cases:
            raise InputError(f"{path}, line {number}: the case {case.id} is there already; each may stand once")
        cases[case.id] = case
    if not cases:
        raise InputError(f"{path}: holds no case; `assay redteam generate` writes some")
    return tuple(cases.values())


def parse_case(line: str, where: str) -> Case:
    """One case of JSON.

    Raises:
        InputError: it is none.
    """
    try:
        return Case.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: expected a case: {place + ': ' if place else ''}{first['msg']}") from error


def suite_text(cases: Iterable[Case]) -> str:
    """A suite as JSON Lines."""
    dumped = (case.model_dump(mode="json", exclude_defaults=False) for case in cases)
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in dumped)


def suite_digest(cases: Iterable[Case]) -> str:
    """Identifies the content of a suite whatever the order of its cases: SHA-256 over the sorted ids."""
    return digest_of_ids(case.id for case in cases)


def digest_of_ids(ids: Iterable[str]) -> str:
    """The digest of a suite out of the ids of its cases, each of which follows from the case's content."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()
