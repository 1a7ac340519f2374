"""`assay redteam evidence`."""

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
    """Examines runs, signs what is stated of them, and writes it.

    Raises:
        AssayError: a run does not agree with itself, or there is no key.
    """
    from assay.evaluation.rows import write_file
    from assay.redteam.evidence import export

    text = export(folders, open_store(keys).signer(), by, datetime.now(UTC)) + "\n"
    if out is None:
        write_text(text, sys.stdout)
    else:
        write_file(out, text)


def run_verify(file: Path, folders: Sequence[Path], ring: Path | None, form: str) -> bool:
    """Verifies a statement and says what it states.

    Returns:
        Whether something does not hold.

    Raises:
        AssayError: the file or the ring cannot be read.
    """
    from assay.config import read_settings
    from assay.receipt import open_keys
    from assay.redteam.evidence import LONGEST, verify

    place = ring or read_settings(os.environ).receipt_keys
    if place is None:
        raise InputError("expected the folder of keys: name it with --ring, or set ASSAY_RECEIPT_KEYS")
    try:
        with file.open("rb") as stream:
            text = stream.read(LONGEST + 1)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    stated, problems = verify(text, open_keys(place).ring(), folders)
    if form == "json":
        plain = None if stated is None else stated.model_dump(mode="json")
        result = {"valid": not problems, "problems": list(problems), "statement": plain}
        write_text(json.dumps(result) + "\n", sys.stdout)
    else:
        write_text("\n".join(_lines(stated, problems)) + "\n", sys.stdout)
    return bool(problems)


def _lines(stated: "Statement | None", problems: Sequence[str]) -> list[str]:
    if problems or stated is None:
        return ["not valid", *(f"  {one_line(one, 400)}" for one in problems)]
    by = f" by {one_line(stated.by, 200)}" if stated.by else ""
    return [f"valid: signed with the key {stated.key_id} at {stated.issued_at}{by}", *map(_line, stated.runs)]


def _line(run: "RunStatement") -> str:
    version = f" version {one_line(run.target_version, 80)}" if run.target_version else ""
    result = f"ARS {run.ars} ({run.low} to {run.high})" if run.ars is not None else "nothing judged"
    counts = f"{run.passed} passed, {run.failed} failed, {run.unjudged} unjudged of {run.cases}"
    return (
        f"  {one_line(run.folder, 60)}: {run.begun} to {run.ended}, {one_line(run.target, 120)}{version}, "
        f"suite {run.suite[:12]}, policy {run.policy[:12]}, verifier {run.verifier[:12]}: {result}, {counts}"
    )
