"""People's decisions on answers that the rules judged wrongly or were unsure of, kept in the folder of a run.

A decision is about one answer, identified by its digest: if a later answer differs, it is judged anew. There are none
about cases whose target failed, since there is nothing to decide.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from assay.errors import InputError
from assay.redteam.judging.verdicts import Judgement
from assay.schema.base import Value

DECISIONS: Final = "decisions.jsonl"
"""The file of decisions, in the folder of a run."""
LONGEST_NAME: Final = 200
"""The most characters of the name of the person who decides."""
LONGEST_REASON: Final = 2_000
"""The most characters of a reason."""


class Decision(Value):
    """A person's decision on one answer."""

    case: str
    answer: str
    """SHA-256 of the answer."""
    behavior_match: float = Field(ge=0, le=1)
    by: str = Field(min_length=1, max_length=LONGEST_NAME)
    reason: str = Field(default="", max_length=LONGEST_REASON)
    at: str
    """The time, in UTC."""


def require_texts(by: str, reason: str) -> None:
    """Checks that a name and a reason are valid in a decision.

    Raises:
        InputError: the name is blank, or one of them is too long or not Unicode text (it contains a lone surrogate,
            which is how Python represents a byte of the command line that is not UTF-8).
    """
    if not by.strip():
        raise InputError("expected the name of the person who decides: --by NAME")
    for option, text, most in (("--by", by, LONGEST_NAME), ("--reason", reason, LONGEST_REASON)):
        if len(text) > most:
            raise InputError(f"{option}: expected at most {most:,} characters, got {len(text):,}")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{option}: expected Unicode text, got what is not UTF-8: {ascii(text)[:60]}") from None


def digest_of(answer: str) -> str:
    """The digest that identifies an answer in a decision: SHA-256 of its UTF-8."""
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def as_decided(judgement: Judgement, decisions: Sequence[Decision]) -> Judgement:
    """The judgement after the latest decision on its answer; unchanged where there is none."""
    if judgement.answer is None:
        return judgement
    digest = digest_of(judgement.answer)
    for decision in reversed(decisions):
        if (decision.case, decision.answer) == (judgement.case, digest):
            rule = f"decided by {decision.by}" + (f": {decision.reason}" if decision.reason else "")
            return judgement.settled(decision.behavior_match, rule)
    return judgement


def read_decisions(folder: Path) -> tuple[Decision, ...]:
    """Reads the decisions in the folder of a run, in their order; none where the file is missing.

    Raises:
        InputError: they cannot be read.
    """
    path = folder / DECISIONS
    try:
        # Not `splitlines`: a JSON string may contain U+2028 and other line separators unescaped.
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
        return tuple(Decision.model_validate_json(line) for line in lines if line.strip())
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"{path}: cannot be read as decisions: {error}") from error


def add_decision(folder: Path, decision: Decision) -> None:
    """Appends a decision to the file.

    Raises:
        InputError: it cannot be written.
    """
    path = folder / DECISIONS
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(decision.model_dump_json() + "\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
