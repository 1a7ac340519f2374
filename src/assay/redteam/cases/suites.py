"""Suites of cases: JSON Lines with one case a line, versioned by the digest of their content."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from assay.errors import InputError
from assay.redteam.cases.values import Case


def read_suite(path: Path) -> tuple[Case, ...]:
    """Reads the cases of a suite, in order.

    Raises:
        InputError: the file cannot be read or holds no case, a line is not a case, an id does not match its content,
            or a case occurs twice.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{path}: cannot be read: {reason or error}") from error
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
    """Parses one case from JSON.

    Args:
        line: the JSON.
        where: the place of the line, for messages.

    Raises:
        InputError: it is not a case.
    """
    try:
        return Case.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{where}: expected a case: {first_fault(error)}") from error


def first_fault(error: ValidationError) -> str:
    """The first fault that pydantic found, with its place, in one line."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def suite_text(cases: Iterable[Case]) -> str:
    """A suite as JSON Lines."""
    dumped = (case.model_dump(mode="json", exclude_defaults=False) for case in cases)
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in dumped)


def suite_digest(cases: Iterable[Case]) -> str:
    """The digest of a suite, independent of the order of its cases: SHA-256 over the sorted ids."""
    return digest_of_ids(case.id for case in cases)


def digest_of_ids(ids: Iterable[str]) -> str:
    """The digest of a suite, from the ids of its cases; each id follows from the content of its case."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()
