"""The Stop hook of Claude Code: as an agent ends its turn, what it says is held against what its tools returned.

The hook gets one JSON object on standard input (`session_id`, `transcript_path`, `hook_event_name`, `stop_hook_active`,
`last_assistant_message`) and answers with one: `{"decision": "block", "reason": ...}` has the agent go on with the
reason before it, `{"systemMessage": ...}` tells the user, `{}` lets it end. An agent is sent back once a turn, so that
it cannot go round in circles; a transcript that cannot be read is told to the user and holds nobody up.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assay.errors import AssayError, InputError
from assay.harmless import one_line
from assay.skill.checking import Verification
from assay.skill.settings import SkillSettings

MOST_TRANSCRIPT: Final = 64 * 1024 * 1024
"""Bytes from the end of a transcript that are read."""
MOST_CONTEXT: Final = 2_000_000
"""Characters of tool results that are evidence, the latest first."""
SHOWN: Final = 10
"""Claims that a message lists."""
LONGEST_REASON: Final = 400
"""Characters of one reason. The words of a claim are foreign: they are told on one line, as a quotation."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What happened since the user last wrote."""

    question: str | None
    contexts: tuple[str, ...]
    """What tools returned in this session, the latest last."""
    answer: str


def read_turn(event: Mapping[str, Any]) -> Turn:
    """The turn that a hook's input tells of.

    Args:
        event: the input, as it was read.

    Raises:
        InputError: the transcript cannot be read, or there is no answer.
    """
    path = event.get("transcript_path")
    if not isinstance(path, str) or not path or "\0" in path:
        raise InputError("the hook's input has no transcript_path")
    try:
        place = Path(path).expanduser()
    except RuntimeError as error:
        raise InputError(f"{path}: {error}") from error
    entries = list(_entries(place))
    last = event.get("last_assistant_message")
    answer = last if isinstance(last, str) and last.strip() else _last_answer(entries)
    if not answer.strip():
        raise InputError(f"{path}: has no message of the assistant")
    return Turn(_question(entries), _results(entries), answer)


def _entries(path: Path) -> Iterator[Mapping[str, Any]]:
    """Messages of the main agent; lines that are none are passed over, the first of a cut file too."""
    try:
        # Not to wait for a pipe that nobody writes into.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{path}: is no regular file")
            stream.seek(max(0, status.st_size - MOST_TRANSCRIPT))
            text = stream.read(MOST_TRANSCRIPT).decode("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    # JSON may hold every other separator of lines as it is (U+2028, U+0085): such a line is not to be torn apart.
    lines = text.split("\n")
    for line in lines:
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
        if _role(entry) == "assistant" and (said := _text(_blocks(entry))).strip():
            return said
    return ""


def _question(entries: Sequence[Mapping[str, Any]]) -> str | None:
    for entry in reversed(entries):
        if _role(entry) == "user" and not entry.get("isMeta") and (asked := _text(_blocks(entry))).strip():
            return asked
    return None


def _results(entries: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    found: list[str] = []
    left = MOST_CONTEXT
    for entry in reversed(entries):
        for block in reversed(_blocks(entry)):
            if block.get("type") == "tool_result" and (text := _result_text(block.get("content"))).strip():
                if len(text) > left:
                    # The latest is cut and not left out: its length must be no reason not to check the answer at all.
                    return tuple(reversed(found)) or (text[:left],)
                left -= len(text)
                found.append(text)
    return tuple(reversed(found))


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    return _text([one for one in content if isinstance(one, dict)]) if isinstance(content, list) else ""


def answer_hook(raw: str, settings: SkillSettings, verify: Callable[[Turn], Verification]) -> dict[str, Any]:
    """What the hook answers.

    Args:
        raw: what stood on standard input.
        settings: the skill's.
        verify: checks a turn.

    Raises:
        InputError: the input is no hook's.
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
            return {}  # no tool was used: there is nothing that the answer could be held against
        found = verify(turn)
    except AssayError as error:
        return {"systemMessage": f"assay did not check this answer: {one_line(str(error), LONGEST_REASON)}"}
    return _answer(found, settings, again=bool(event.get("stop_hook_active")))


def _answer(found: Verification, settings: SkillSettings, *, again: bool) -> dict[str, Any]:
    if found.verdict == "PASS":
        return {}
    head = f"assay: {found.verdict}, {found.num_unsupported} of {found.num_claims} claims are not supported"
    if found.verdict == "UNCHECKED":
        head = "assay: UNCHECKED, a part of this answer could not be checked"
    shown = [f"- {one_line(reason, LONGEST_REASON)}" for reason in found.reasons[:SHOWN]]
    if len(found.reasons) > SHOWN:
        shown.append(f"- and {len(found.reasons) - SHOWN} more")
    message = "\n".join([head, *shown])
    if found.verdict == "FAIL" and settings.detection.on_fail == "revise" and not again:
        advice = (
            "Correct what is wrong or say where it comes from; look it up where you can, and say so where you cannot."
        )
        return {"decision": "block", "reason": f"{message}\n{advice}"}
    return {"systemMessage": message}
