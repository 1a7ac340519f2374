"""Whether a tool's result reports a failure.

There are three grades: the protocol's own flag (`is_error`), an error field or a status in JSON, and words of an error
at the beginning of a text. A result without any of them counts as a success, because a tool that fails silently looks
like one that works.
"""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from assay.schema.run import ToolResult

MOST_READ: Final = 200_000
"""Characters of the longest result that is parsed as JSON."""

_ERROR_FIELDS: Final = frozenset({"error", "errors", "exception", "error_message", "errormessage", "fault"})
_STATUS_FIELDS: Final = frozenset({"status", "state", "result", "outcome"})
_FAILURE_STATUS: Final = re.compile(
    r"(?i)(?:fail(?:ed|ure)?|error|denied|rejected|unauthori[sz]ed|forbidden|timeout|timed.out|aborted)\b"
)
_FAILURE_OPENING: Final = re.compile(
    r"""(?ix) \s* (?: \W{0,3} (?:error|exception|failure|failed|fatal|traceback|denied|forbidden|unauthori[sz]ed)\b
    | (?:[45]\d\d)\b [:\s-]* (?:error|bad|unauthori[sz]ed|forbidden|not\sfound|internal|service|too\smany|conflict)
    | (?:could\snot|cannot|can't|couldn't|unable\sto|failed\sto|permission\sdenied|access\sdenied|not\sfound|no\ssuch)\b
    | (?:the\s)? (?:request|call|operation|tool|command)\s (?:has\s|was\s)?
      (?:failed|denied|rejected|not\s|timed\sout) )"""
)


class OutcomeGrade(StrEnum):
    """How a result reports that the tool failed."""

    MARKED = "marked"
    """By the protocol's error flag."""
    FIELD = "field"
    """By a field of a JSON result."""
    WORDS = "words"
    """By words of an error at its beginning."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that a result reports."""

    grade: OutcomeGrade
    words: str
    """The part of the result that reports it, at most 200 characters."""


def failure_of(result: ToolResult) -> Failure | None:
    """The failure that a result reports, if any.

    >>> from assay.schema.run.model import TextPart
    >>> failure_of(ToolResult(content=(TextPart(text='{"success": false, "reason": "full"}'),))).grade.value
    'field'
    """
    text = result.text
    if result.is_error:
        return Failure(OutcomeGrade.MARKED, text[:200])
    value = result.structured if result.structured is not None else _parse_json(text)
    if isinstance(value, dict):
        field = _failure_field(value)
        return Failure(OutcomeGrade.FIELD, field) if field is not None else None
    if isinstance(value, list | int | float | bool):
        return None
    words = value if isinstance(value, str) else text
    match = _FAILURE_OPENING.match(words[:400])
    return Failure(OutcomeGrade.WORDS, words.strip()[:200]) if match else None


def _parse_json(text: str) -> Any:
    if len(text) > MOST_READ or text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _failure_field(value: dict[str, Any]) -> str | None:
    """The field that reports a failure; only fields of the outermost object count, since nested records have a status
    of their own."""
    for key, member in value.items():
        low = key.lower()
        if low in _ERROR_FIELDS and member not in (None, False, "", [], {}, 0):
            return _quote_field(key, member)
        if low in ("success", "ok", "succeeded") and member is False:
            return _quote_field(key, member)
        if low in _STATUS_FIELDS and isinstance(member, str) and _FAILURE_STATUS.match(member.strip()):
            return _quote_field(key, member)
        if low in ("status_code", "statuscode", "http_status", "code") and _is_error_code(member):
            return _quote_field(key, member)
    return None


def _is_error_code(member: object) -> bool:
    return isinstance(member, int) and not isinstance(member, bool) and 400 <= member < 600


def _quote_field(key: str, member: object) -> str:
    return f"{key}: {json.dumps(member, ensure_ascii=False, default=str)}"[:200]
