"""Whether a tool's result is a failure, as far as the result itself says so.

Three grades: the protocol's own mark (`is_error`); an error field or a status in JSON; words at the beginning of a
text. A result that says nothing of failing counts as a success, because tools that fail silently cannot be told from
tools that work.
"""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from assay.schema.run import ToolResult

MOST_READ: Final = 200_000
"""Characters of a result that are read as JSON."""

_ERROR_FIELDS: Final = frozenset({"error", "errors", "exception", "error_message", "errormessage", "fault"})
_STATUS_FIELDS: Final = frozenset({"status", "state", "result", "outcome"})
_FAILED: Final = re.compile(
    r"(?i)(?:fail(?:ed|ure)?|error|denied|rejected|unauthori[sz]ed|forbidden|timeout|timed.out|aborted)\b"
)
_OPENING: Final = re.compile(
    r"""(?ix) \s* (?: \W{0,3} (?:error|exception|failure|failed|fatal|traceback|denied|forbidden|unauthori[sz]ed)\b
    | (?:[45]\d\d)\b [:\s-]* (?:error|bad|unauthori[sz]ed|forbidden|not\sfound|internal|service|too\smany|conflict)
    | (?:could\snot|cannot|can't|couldn't|unable\sto|failed\sto|permission\sdenied|access\sdenied|not\sfound|no\ssuch)\b
    | (?:the\s)? (?:request|call|operation|tool|command)\s (?:has\s|was\s)?
      (?:failed|denied|rejected|not\s|timed\sout) )"""
)


class OutcomeGrade(StrEnum):
    """How plainly a result says that the tool failed."""

    MARKED = "marked"
    """The protocol marks it as an error."""
    FIELD = "field"
    """A field of a JSON result says so."""
    WORDS = "words"
    """It begins with words of an error."""


@dataclass(frozen=True, slots=True)
class Failure:
    """That a result is a failure, and what says so."""

    grade: OutcomeGrade
    words: str
    """The part of the result that says it, at most 200 characters."""


def failure_of(result: ToolResult) -> Failure | None:
    """The failure that a result reports; none where it reports none.

    >>> from assay.schema.run.model import TextPart
    >>> failure_of(ToolResult(content=(TextPart(text='{"success": false, "reason": "full"}'),))).grade.value
    'field'
    """
    text = result.text
    if result.is_error:
        return Failure(OutcomeGrade.MARKED, text[:200])
    value = result.structured if result.structured is not None else _json(text)
    if isinstance(value, dict):
        said = _field(value)
        return Failure(OutcomeGrade.FIELD, said) if said is not None else None
    if isinstance(value, list | int | float | bool):
        return None
    words = value if isinstance(value, str) else text
    match = _OPENING.match(words[:400])
    return Failure(OutcomeGrade.WORDS, words.strip()[:200]) if match else None


def _json(text: str) -> Any:
    if len(text) > MOST_READ or text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _field(value: dict[str, Any]) -> str | None:
    """The field of an object that says that the tool failed; only the outermost, since records inside have states of
    their own."""
    for key, member in value.items():
        low = key.lower()
        if low in _ERROR_FIELDS and member not in (None, False, "", [], {}, 0):
            return _said(key, member)
        if low in ("success", "ok", "succeeded") and member is False:
            return _said(key, member)
        if low in _STATUS_FIELDS and isinstance(member, str) and _FAILED.match(member.strip()):
            return _said(key, member)
        if low in ("status_code", "statuscode", "http_status", "code") and _is_error_code(member):
            return _said(key, member)
    return None


def _is_error_code(member: object) -> bool:
    return isinstance(member, int) and not isinstance(member, bool) and 400 <= member < 600


def _said(key: str, member: object) -> str:
    return f"{key}: {json.dumps(member, ensure_ascii=False, default=str)}"[:200]
