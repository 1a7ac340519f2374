"""The Stop hook of Claude Code: checks the answer of an agent against its tool results when it ends its turn.

The hook gets one JSON object on standard input (`session_id`, `transcript_path`, `hook_event_name`, `stop_hook_active`,
`last_assistant_message`) and answers with one: `{"decision": "block", "reason": ...}` makes the agent continue, with
the reason in its context, `{"systemMessage": ...}` shows the user a message, and `{}` lets the agent end. An agent is
sent back once a turn at most, so that it cannot loop. Where the transcript cannot be read the user is told and the
agent may end.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assay.errors import AssayError, InputError
from assay.harmless import one_line
from assay.schema import coerce_text
from assay.skill.checking import Verification
from assay.skill.settings import SkillSettings

MOST_TRANSCRIPT: Final = 64 * 1024 * 1024
"""Bytes from the end of a transcript that are read."""
MOST_CONTEXT: Final = 2_000_000
"""Characters of tool results that are evidence, the latest first."""
SHOWN: Final = 10
"""Claims that a message lists."""
_NO_CHARACTER: Final = re.compile("[\x00\ud800-\udfff]")
LONGEST_REASON: Final = 400
"""Characters of one reason. A reason quotes a claim, whose words are not to be trusted: it is cut to one line."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What happened since the user last wrote."""

    question: str | None
    contexts: tuple[str, ...]
    """What tools returned in this session, the latest last."""
    answer: str


def read_turn(event: Mapping[str, Any]) -> Turn:
    """The turn that has just ended.

    Args:
        event: the input of the hook, parsed.

    Raises:
        InputError: the transcript cannot be read, or there is no answer.
    """
    path = event.get("transcript_path")
    if not isinstance(path, str) or not path or "\0" in path:
        raise InputError("the hook's input has no transcript_path")
    try:
        transcript = Path(path).expanduser()
    except RuntimeError as error:
        raise InputError(f"{path}: {error}") from error
    entries = list(_entries(transcript))
    message = event.get("last_assistant_message")
    answer = message if isinstance(message, str) and message.strip() else _last_answer(entries)
    if not answer.strip():
        raise InputError(f"{path}: has no message of the assistant")
    return Turn(_question(entries), _results(entries), answer)


def _entries(path: Path) -> Iterator[Mapping[str, Any]]:
    """The messages of the main agent; other lines are skipped, also a first line that is cut off."""
    try:
        # Without blocking: opening a pipe would wait for somebody to write into it.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{path}: is no regular file")
            stream.seek(max(0, status.st_size - MOST_TRANSCRIPT))
            text = stream.read(MOST_TRANSCRIPT).decode("utf-8", errors="replace")
    except UnicodeEncodeError as error:
        raise InputError(f"{str(path)!a}: is no path: {error.reason}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    # Not `splitlines`: a JSON string may hold other line separators (U+2028, U+0085) unescaped.
    for line in text.split("\n"):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and isinstance(entry.get("message"), dict) and not entry.get("isSidechain"):
            yield entry


def _blocks(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = entry["message"].get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _role(entry: Mapping[str, Any]) -> object:
    return entry["message"].get("role")


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(one.get("text", "")) for one in blocks if one.get("type") == "text")


def _last_answer(entries: Sequence[Mapping[str, Any]]) -> str:
    for entry in reversed(entries):
        if _role(entry) == "assistant" and (answer := _text(_blocks(entry))).strip():
            return answer
    return ""


def _question(entries: Sequence[Mapping[str, Any]]) -> str | None:
    for entry in reversed(entries):
        if _role(entry) == "user" and not entry.get("isMeta") and (question := _text(_blocks(entry))).strip():
            return question
    return None


def _results(entries: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What tools returned, the latest last, up to `MOST_CONTEXT` characters.

    Raises:
        InputError: tools returned something, and none of it is text.
    """
    results: list[str] = []
    left, binary = MOST_CONTEXT, False
    for entry in reversed(entries):
        for block in reversed(_blocks(entry)):
            if block.get("type") != "tool_result" or not (text := _result_text(block.get("content"))).strip():
                continue
            if not _is_text(text):
                binary = True  # no evidence, and no reason not to check the answer against the other results
                continue
            if len(text) > left:
                # The latest is cut and not left out: its length must be no reason not to check the answer at all.
                return tuple(reversed(results)) or (text[:left],)
            left -= len(text)
            results.append(text)
    if binary and not results:
        raise InputError("the tools returned binary content only: there is no text to check the answer against")
    return tuple(reversed(results))


def _result_text(content: object) -> str:
    """The text of a tool result, with a replacement character for NUL and for each half of a surrogate pair.

    Clients cut long results between the halves of a pair, and programs print NUL.
    """
    text = content if isinstance(content, str) else ""
    if isinstance(content, list):
        text = _text([one for one in content if isinstance(one, dict)])
    return _NO_CHARACTER.sub("\ufffd", text)


def _is_text(result: str) -> bool:
    try:
        coerce_text(result, "a tool result")
    except InputError:
        return False
    return True


def answer_hook(raw: str, settings: SkillSettings, verify: Callable[[Turn], Verification]) -> dict[str, Any]:
    """What the hook answers.

    Args:
        raw: the text from standard input.
        settings: the settings of the skill.
        verify: checks a turn.

    Raises:
        InputError: the input is not that of a Stop hook.
    """
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"the hook's input is no JSON: {error}; it is what Claude Code sends to a Stop hook"
        ) from error
    if not isinstance(event, dict) or event.get("hook_event_name", "Stop") not in {"Stop", "SubagentStop"}:
        raise InputError("the hook's input is not that of a Stop hook; register it under hooks.Stop")
    if not (settings.detection.enabled and settings.detection.auto_active):
        return {}
    try:
        turn = read_turn(event)
        if not turn.contexts:
            return {}  # no tool was used: there is nothing to check the answer against
        verification = verify(turn)
    except AssayError as error:
        return {"systemMessage": f"assay did not check this answer: {one_line(str(error), LONGEST_REASON)}"}
    return _answer(verification, settings, again=bool(event.get("stop_hook_active")))


def _answer(verification: Verification, settings: SkillSettings, *, again: bool) -> dict[str, Any]:
    if verification.verdict == "PASS":
        return {}
    head = (
        f"assay: {verification.verdict}, {verification.num_unsupported} of {verification.num_claims} claims are not "
        "supported"
    )
    if verification.verdict == "UNCHECKED":
        head = "assay: UNCHECKED, a part of this answer could not be checked"
    shown = [f"- {one_line(reason, LONGEST_REASON)}" for reason in verification.reasons[:SHOWN]]
    if len(verification.reasons) > SHOWN:
        shown.append(f"- and {len(verification.reasons) - SHOWN} more")
    message = "\n".join([head, *shown])
    if verification.verdict == "FAIL" and settings.detection.on_fail == "revise" and not again:
        advice = (
            "Correct what is wrong or say where it comes from; look it up where you can, and say so where you cannot."
        )
        return {"decision": "block", "reason": f"{message}\n{advice}"}
    return {"systemMessage": message}
