"""Documented testing: what was run when, against which version, with what result, signed with the project's keys.

Before anything is signed the folder of a run is held against itself: the suite against the record, the answers of the
judgements against the record, the summary against the judgements. The statement carries digests of the files, so that
whoever has them can do all of that again. Scores stand in it as text, since its canonical JSON (RFC 8785) holds texts
and whole numbers alone.
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
"""Stands before the signed bytes, so that a signature over anything else is never one of such a statement."""
LONGEST: Final = 8_000_000
"""Bytes of a signed statement that are read."""
_FILES: Final = (RECORD, SUITE, JUDGEMENTS, SUMMARY)


class CategoryResult(Value):
    """The result of one category."""

    ars: str | None
    cases: int
    passed: int
    unjudged: int


class RunStatement(Value):
    """One run."""

    folder: str
    """The name of its folder."""
    begun: str
    """By the clock of the machine that ran it, as in its record."""
    ended: str
    target: str
    target_version: str
    """As it was declared; empty where it was not."""
    suite: str
    """The digest of the suite."""
    policy: str
    """The digest of the policy that it was judged by."""
    verifier: str
    """The digest of what judged."""
    calls: int
    cases: int
    passed: int
    failed: int
    unjudged: int
    flaky: int
    ars: str | None
    """To four places; none where nothing was judged."""
    low: str | None
    high: str | None
    categories: dict[str, CategoryResult]
    files: dict[str, str]
    """SHA-256 of the files of the folder, by name."""


class Statement(Value):
    """What is signed."""

    form: Literal["assay redteam evidence 1"] = "assay redteam evidence 1"
    assay: str
    """The version of assay that examined the runs."""
    by: str = Field(max_length=200)
    """Who answers for it, as given."""
    issued_at: str
    key_id: str
    runs: tuple[RunStatement, ...]


def export(folders: Sequence[Path], key: SigningKey, by: str, now: datetime) -> str:
    """A signed statement of runs that have ended, canonical JSON on one line.

    Args:
        folders: those of runs (`--out`).
        key: what signs.
        by: who answers for it.
        now: the time, with its zone.

    Raises:
        InputError: a folder is none of a run, or does not agree with itself.
        ReceiptError: it cannot be signed.
    """
    runs = tuple(examined(folder) for folder in folders)
    if len({one.folder for one in runs}) != len(runs):
        raise InputError("two folders have one name: they could not be told apart in the statement")
    stated = Statement(assay=__version__, by=by, issued_at=instant(now), key_id=key.key_id, runs=runs)
    plain = stated.model_dump(mode="json")
    return canonical({"statement": plain, "signature": key.sign(DOMAIN + canonical(plain)).hex()}).decode()


def examined(folder: Path) -> RunStatement:
    """What is to be stated of a run, once its folder agrees with itself.

    Raises:
        InputError: it does not.
    """
    cases, judgements = read_campaign(folder)
    record = read_record(folder / RECORD)
    card = read_card(_bytes(folder / SUMMARY).decode("utf-8", "replace"), str(folder / SUMMARY))
    for problem in _disagreements(cases, judgements, record, card):
        raise InputError(f"{folder}: {problem}; run it again before it is shown to anybody")
    categories = {
        name: CategoryResult(ars=_figure(mean.ars), cases=mean.cases, passed=mean.passed, unjudged=mean.unjudged)
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
        ars=_figure(card.ars),
        low=_figure(card.low),
        high=_figure(card.high),
        categories=categories,
        files={name: _digest(folder / name) for name in (*_FILES, *_decided(folder))},
    )


def _decided(folder: Path) -> tuple[str, ...]:
    """The file of what people decided, where anybody did."""
    return (DECISIONS,) if (folder / DECISIONS).exists() else ()


def _disagreements(
    cases: Sequence[Case], judgements: Sequence[Judgement], record: Record, card: Scorecard
) -> Iterator[str]:
    if record.suite != suite_digest(cases):
        yield "the record is of another suite than the one beside it"
    for one in judgements:
        said = record.answers.get((one.case, 1))
        if one.outcome is not Outcome.UNJUDGED and (said is None or said.text is None):
            yield f"the case {one.case} is judged, and the record has no answer of it"
        elif said is not None and one.answer is not None and said.text != one.answer:
            yield f"the answer that was judged in the case {one.case} is not the one of the record"
    if (record.suite, record.target, record.version) != (card.suite, card.target, card.target_version):
        yield "the summary is of another suite, target or version than the record"
    again = rescore(card, cases, judgements)
    if again != card:
        yield "the summary is not what the judgements come to"


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _digest(path: Path) -> str:
    return hashlib.sha256(_bytes(path)).hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def verify(text: str | bytes, ring: KeyRing, folders: Sequence[Path] = ()) -> tuple[Statement | None, tuple[str, ...]]:
    """The statement, and all that does not hold; nothing where it does.

    Args:
        text: what `export` gave.
        ring: the public keys that are trusted.
        folders: the runs that it is about, where they are at hand: their files are held against the statement.
    """
    try:
        stated, plain, signature = _read(text)
    except ReceiptError as error:
        return None, (str(error),)
    problems = [*_of_key(stated, plain, signature, ring)]
    if folders:
        problems += _of_folders(stated, folders)
    return stated, tuple(problems)


def _read(text: str | bytes) -> tuple[Statement, Any, str]:
    value = read_json(text, "the evidence", LONGEST)
    given = text.encode() if isinstance(text, str) else bytes(text)
    is_object = isinstance(value, dict) and set(value) == {"statement", "signature"}
    if not is_object or not isinstance(value["signature"], str):
        raise ReceiptError("expected an object with a statement and a signature")
    if given.removesuffix(b"\n") != canonical(value):
        raise ReceiptError("expected the evidence in the form in which it was written, got another spacing or order")
    try:
        stated = Statement.model_validate_json(canonical(value["statement"]))
    except ValidationError as error:
        raise ReceiptError(f"expected a statement of runs, but {faults(error)}") from error
    return stated, value["statement"], value["signature"]


def _of_key(stated: Statement, plain: Any, signature: str, ring: KeyRing) -> Iterator[str]:
    key = ring.find(stated.key_id)
    if key is None:
        yield "the ring does not hold the key that the statement names"
        return
    try:
        raw = bytes.fromhex(signature)
    except ValueError:
        raw = b""
    if len(raw) != 64 or not fits(bytes.fromhex(key.public), raw, DOMAIN + canonical(plain)):
        yield f"the signature is not one of the key {key.key_id} over this statement: one was changed"
    if key.state is KeyState.REVOKED:
        yield f"the key {key.key_id} was revoked"
    if key.retired is not None and stated.issued_at > key.retired:
        yield f"issued at {stated.issued_at}, when the key {key.key_id} was retired since {key.retired}"
    if stated.issued_at < key.created:
        yield f"issued at {stated.issued_at}, before the key {key.key_id} was created at {key.created}"


def _of_folders(stated: Statement, folders: Sequence[Path]) -> Iterator[str]:
    found = {folder.resolve().name: folder for folder in folders}
    for name in sorted(set(found) - {one.folder for one in stated.runs}):
        yield f"the statement says nothing of the run {name}"
    for one in stated.runs:
        folder = found.get(one.folder)
        if folder is None:
            yield f"the run {one.folder} is not among the folders"
            continue
        try:
            changed = [name for name, digest in one.files.items() if _digest(folder / name) != digest]
            if changed:
                yield f"the run {one.folder}: {', '.join(changed)} changed since it was signed"
            elif examined(folder) != one:
                yield f"the run {one.folder}: its files come to another result than the one that was signed"
        except InputError as error:
            yield str(error)
