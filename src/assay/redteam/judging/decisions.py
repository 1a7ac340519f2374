"""What people decided of answers of which the rules were not sure, or wrong: kept in the folder of a run.

A decision is of one answer, by its digest: an answer that is another one later is judged anew. It is never of a case
whose target failed: there is nothing to be decided.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from assay.errors import InputError
from assay.redteam.judging.verdicts import PASSES, Judgement, Outcome
from assay.schema.base import Value

DECISIONS: Final = "decisions.jsonl"
"""The file of decisions, in the folder of a run."""
LONGEST_NAME: Final = 200
"""Characters of the name of who decides."""
LONGEST_REASON: Final = 2_000
"""Characters of a reason."""


class Decision(Value):
    """What a person decided of one answer."""

    case: str
    answer: str
    """SHA-256 of the answer."""
    behavior_match: float = Field(ge=0, le=1)
    by: str = Field(min_length=1, max_length=LONGEST_NAME)
    reason: str = Field(default="", max_length=LONGEST_REASON)
    at: str
    """When, in UTC."""


def require_texts(by: str, reason: str) -> None:
    """Requires that a name and a reason can stand in a decision.

    Raises:
        InputError: the name is blank, one of them is too long, or is no Unicode text (has a lone surrogate, as Python
            has it for a byte of the command line that is not UTF-8).
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
    """By what a decision knows an answer."""
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def as_decided(judgement: Judgement, decisions: Sequence[Decision]) -> Judgement:
    """A judgement as the latest decision of its answer has it; as it is where there is none."""
    if judgement.answer is None:
        return judgement
    digest = digest_of(judgement.answer)
    for one in reversed(decisions):
        if (one.case, one.answer) == (judgement.case, digest):
            return judgement.model_copy(
                update={
                    "outcome": Outcome.PASSED if one.behavior_match >= PASSES else Outcome.FAILED,
                    "behavior_match": one.behavior_match,
                    "rule": f"decided by {one.by}" + (f": {one.reason}" if one.reason else ""),
                    "unsure": False,
                }
            )
    return judgement


def read_decisions(folder: Path) -> tuple[Decision, ...]:
    """The decisions in the folder of a run, in their order; none where nobody decided.

    Raises:
        InputError: they cannot be read.
    """
    path = folder / DECISIONS
    try:
        # Not `splitlines`: U+2028 and its like stand within a JSON string as they are.
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
        return tuple(Decision.model_validate_json(line) for line in lines if line.strip())
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"{path}: cannot be read as decisions: {error}") from error


def add_decision(folder: Path, decision: Decision) -> None:
    """Adds one at the end of the file.

    Raises:
        InputError: it cannot be written.
    """
    path = folder / DECISIONS
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(decision.model_dump_json() + "\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
