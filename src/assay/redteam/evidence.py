"""Documented testing: a signed statement of what was run when, against which version and with what result.

Before anything is signed, the folder of a run is checked for consistency: the suite against the record, the judged
answers against the record, and the summary against the judgements. The statement contains digests of the files, so
that anyone who has the files can repeat these checks. Scores are written as text, since its canonical JSON (RFC 8785)
is restricted to text and whole numbers.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from assay._version import __version__
from assay.errors import InputError, ReceiptError
from assay.receipt import KeyRing, KeyState, SigningKey, canonical, faults, fits, instant, read_json
from assay.redteam.campaigns import JUDGEMENTS, RECORD, SUITE, SUMMARY, read_campaign
from assay.redteam.cases import Case, suite_digest
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.judging.decisions import DECISIONS
from assay.redteam.runs import Record, read_record
from assay.redteam.scores import Scorecard, read_card, rescore
from assay.schema.base import Value

DOMAIN: Final = b"assay redteam evidence 1\n"
"""The prefix of the signed bytes, so that no signature over anything else is valid for such a statement."""
LARGEST_STATEMENT: Final = 8_000_000
"""The most bytes of a signed statement that are read."""
_FILES: Final = (RECORD, SUITE, JUDGEMENTS, SUMMARY)


class CategoryResult(Value):
    """The result of one category."""

    ars: str | None
    cases: int
    passed: int
    unjudged: int


class RunStatement(Value):
    """What is stated about one run."""

    folder: str
    """The name of its folder."""
    begun: str
    """By the clock of the machine that ran it, as in its record."""
    ended: str
    target: str
    target_version: str
    """As its owner declared it; empty if it was not declared."""
    suite: str
    """The digest of the suite."""
    policy: str
    """The digest of the policy that it was judged under."""
    verifier: str
    """The digest of the verifier that judged it."""
    calls: int
    cases: int
    passed: int
    failed: int
    unjudged: int
    flaky: int
    ars: str | None
    """To four decimal places; none where nothing was judged."""
    low: str | None
    high: str | None
    categories: dict[str, CategoryResult]
    files: dict[str, str]
    """SHA-256 of the files of the folder, by name."""


class Statement(Value):
    """The statement that is signed."""

    form: Literal["assay redteam evidence 1"] = "assay redteam evidence 1"
    assay: str
    """The version of assay that examined the runs."""
    by: str = Field(max_length=200)
    """Who is responsible for the statement, as they name themselves."""
    issued_at: str
    key_id: str
    runs: tuple[RunStatement, ...]


def export(folders: Sequence[Path], key: SigningKey, by: str, now: datetime) -> str:
    """Signs a statement about runs that have ended: canonical JSON on one line.

    Args:
        folders: the folders of the runs (`--out`).
        key: the signing key.
        by: who is responsible for the statement.
        now: the current time, with its time zone.

    Raises:
        InputError: a folder holds no run or is inconsistent, or two folders have the same name.
        ReceiptError: it cannot be signed.
    """
    runs = tuple(run_statement(folder) for folder in folders)
    if len({run.folder for run in runs}) != len(runs):
        raise InputError("two folders have one name: they could not be told apart in the statement")
    statement = Statement(assay=__version__, by=by, issued_at=instant(now), key_id=key.key_id, runs=runs)
    statement_json = statement.model_dump(mode="json")
    return canonical(
        {"statement": statement_json, "signature": key.sign(DOMAIN + canonical(statement_json)).hex()}
    ).decode()


def run_statement(folder: Path) -> RunStatement:
    """The statement about a run, after its folder was found consistent.

    Raises:
        InputError: the folder is inconsistent or cannot be read.
    """
    cases, judgements = read_campaign(folder)
    record = read_record(folder / RECORD)
    card = read_card(_read_bytes(folder / SUMMARY).decode("utf-8", "replace"), str(folder / SUMMARY))
    for problem in _disagreements(cases, judgements, record, card):
        raise InputError(f"{folder}: {problem}; run it again before it is shown to anybody")
    categories = {
        name: CategoryResult(ars=_decimal_text(mean.ars), cases=mean.cases, passed=mean.passed, unjudged=mean.unjudged)
        for name, mean in card.categories.items()
    }
    return RunStatement(
        folder=folder.resolve().name,
        begun=record.begun,
        ended=record.ended,
        target=record.target,
        target_version=record.version,
        suite=record.suite,
        policy=card.policy,
        verifier=card.verifier,
        calls=record.calls,
        cases=card.cases,
        passed=card.passed,
        failed=card.cases - card.passed - card.unjudged,
        unjudged=card.unjudged,
        flaky=card.flaky,
        ars=_decimal_text(card.ars),
        low=_decimal_text(card.low),
        high=_decimal_text(card.high),
        categories=categories,
        files={name: _digest(folder / name) for name in (*_FILES, *_decision_files(folder))},
    )


def _decision_files(folder: Path) -> tuple[str, ...]:
    """The file of decisions, if the folder has one."""
    return (DECISIONS,) if (folder / DECISIONS).exists() else ()


def _disagreements(
    cases: Sequence[Case], judgements: Sequence[Judgement], record: Record, card: Scorecard
) -> Iterator[str]:
    if record.suite != suite_digest(cases):
        yield "the record is of another suite than the one beside it"
    for judgement in judgements:
        recorded = record.answers.get((judgement.case, 1))
        if judgement.outcome is not Outcome.UNJUDGED and (recorded is None or recorded.text is None):
            yield f"the case {judgement.case} is judged, and the record has no answer of it"
        elif recorded is not None and judgement.answer is not None and recorded.text != judgement.answer:
            yield f"the answer that was judged in the case {judgement.case} is not the one of the record"
    if (record.suite, record.target, record.version) != (card.suite, card.target, card.target_version):
        yield "the summary is of another suite, target or version than the record"
    recomputed = rescore(card, cases, judgements)
    if recomputed != card:
        yield "the summary is not what the judgements come to"


def _decimal_text(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _digest(path: Path) -> str:
    return hashlib.sha256(_read_bytes(path)).hexdigest()


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def verify(text: str | bytes, ring: KeyRing, folders: Sequence[Path] = ()) -> tuple[Statement | None, tuple[str, ...]]:
    """Verifies a signed statement.

    Args:
        text: the output of `export`.
        ring: the trusted public keys.
        folders: the folders of its runs, if available: their files are checked against the statement.

    Returns:
        The statement, none where it cannot be read, and the problems found: none where everything holds.
    """
    try:
        statement, statement_json, signature = _parse(text)
    except ReceiptError as error:
        return None, (str(error),)
    problems = [*_key_problems(statement, statement_json, signature, ring)]
    if folders:
        problems += _folder_problems(statement, folders)
    return statement, tuple(problems)


def _parse(text: str | bytes) -> tuple[Statement, Any, str]:
    value = read_json(text, "the evidence", LARGEST_STATEMENT)
    written = text.encode() if isinstance(text, str) else bytes(text)
    is_object = isinstance(value, dict) and set(value) == {"statement", "signature"}
    if not is_object or not isinstance(value["signature"], str):
        raise ReceiptError("expected an object with a statement and a signature")
    if written.removesuffix(b"\n") != canonical(value):
        raise ReceiptError("expected the evidence in the form in which it was written, got another spacing or order")
    try:
        statement = Statement.model_validate_json(canonical(value["statement"]))
    except ValidationError as error:
        raise ReceiptError(f"expected a statement of runs, but {faults(error)}") from error
    return statement, value["statement"], value["signature"]


def _key_problems(statement: Statement, statement_json: Any, signature: str, ring: KeyRing) -> Iterator[str]:
    key = ring.find(statement.key_id)
    if key is None:
        yield "the ring does not hold the key that the statement names"
        return
    try:
        signature_bytes = bytes.fromhex(signature)
    except ValueError:
        signature_bytes = b""
    if len(signature_bytes) != 64 or not fits(
        bytes.fromhex(key.public), signature_bytes, DOMAIN + canonical(statement_json)
    ):
        yield f"the signature is not one of the key {key.key_id} over this statement: one was changed"
    if key.state is KeyState.REVOKED:
        yield f"the key {key.key_id} was revoked"
    if key.retired is not None and statement.issued_at > key.retired:
        yield f"issued at {statement.issued_at}, when the key {key.key_id} was retired since {key.retired}"
    if statement.issued_at < key.created:
        yield f"issued at {statement.issued_at}, before the key {key.key_id} was created at {key.created}"


def _folder_problems(statement: Statement, folders: Sequence[Path]) -> Iterator[str]:
    by_name = {folder.resolve().name: folder for folder in folders}
    for name in sorted(set(by_name) - {run.folder for run in statement.runs}):
        yield f"the statement says nothing of the run {name}"
    for run in statement.runs:
        folder = by_name.get(run.folder)
        if folder is None:
            yield f"the run {run.folder} is not among the folders"
            continue
        try:
            changed = [name for name, digest in run.files.items() if _digest(folder / name) != digest]
            if changed:
                yield f"the run {run.folder}: {', '.join(changed)} changed since it was signed"
            elif run_statement(folder) != run:
                yield f"the run {run.folder}: its files come to another result than the one that was signed"
        except InputError as error:
            yield str(error)
