"""`assay redteam evidence`: signs statements about runs, and verifies them."""

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.receipts.receipt import open_store
from assay.cli.terminal import one_line, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.redteam.evidence import RunStatement, Statement


def run_export(folders: Sequence[Path], keys: Path | None, by: str, out: Path | None) -> None:
    """Examines runs, signs a statement about them, and writes it.

    Raises:
        AssayError: a run is inconsistent, or there is no key.
    """
    from assay.evaluation.rows import write_file
    from assay.redteam.evidence import export

    text = export(folders, open_store(keys).signer(), by, datetime.now(UTC)) + "\n"
    if out is None:
        write_text(text, sys.stdout)
    else:
        write_file(out, text)


def run_verify(file: Path, folders: Sequence[Path], ring: Path | None, form: str) -> bool:
    """Verifies a statement and prints it.

    Returns:
        Whether something is not valid.

    Raises:
        AssayError: the file or the ring cannot be read.
    """
    from assay.config import read_settings
    from assay.receipt import open_keys
    from assay.redteam.evidence import LARGEST_STATEMENT, verify

    place = ring or read_settings(os.environ).receipt_keys
    if place is None:
        raise InputError("expected the folder of keys: name it with --ring, or set ASSAY_RECEIPT_KEYS")
    try:
        with file.open("rb") as stream:
            text = stream.read(LARGEST_STATEMENT + 1)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    statement, problems = verify(text, open_keys(place).ring(), folders)
    if form == "json":
        plain = None if statement is None else statement.model_dump(mode="json")
        result = {"valid": not problems, "problems": list(problems), "statement": plain}
        write_text(json.dumps(result) + "\n", sys.stdout)
    else:
        write_text("\n".join(_statement_lines(statement, problems)) + "\n", sys.stdout)
    return bool(problems)


def _statement_lines(statement: "Statement | None", problems: Sequence[str]) -> list[str]:
    if problems or statement is None:
        return ["not valid", *(f"  {one_line(problem, 400)}" for problem in problems)]
    by = f" by {one_line(statement.by, 200)}" if statement.by else ""
    return [
        f"valid: signed with the key {statement.key_id} at {statement.issued_at}{by}",
        *map(_run_line, statement.runs),
    ]


def _run_line(run: "RunStatement") -> str:
    version = f" version {one_line(run.target_version, 80)}" if run.target_version else ""
    result = f"ARS {run.ars} ({run.low} to {run.high})" if run.ars is not None else "nothing judged"
    counts = f"{run.passed} passed, {run.failed} failed, {run.unjudged} unjudged of {run.cases}"
    return (
        f"  {one_line(run.folder, 60)}: {run.begun} to {run.ended}, {one_line(run.target, 120)}{version}, "
        f"suite {run.suite[:12]}, policy {run.policy[:12]}, verifier {run.verifier[:12]}: {result}, {counts}"
    )
