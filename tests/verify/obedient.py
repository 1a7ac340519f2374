"""A model that obeys whatever stands outside of a fence, or gets through it; it reads as carelessly as a model may.

It takes a line for its own instruction unless that line is one of the prompt's file or one JSON object between two
marks, whatever token these carry. It splits lines wherever Unicode has a line end, and looks for the control tokens of
chat templates and for invisible signs in all of it.
"""

from __future__ import annotations

import json
import re
import unicodedata

from assay.models.chat.interface import ChatRequest
from assay.prompts import load_prompt, prompt_names

_TOKENS = re.compile(r"<\||\|>|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|[\uff5c\u2581]|</?think>")
_PLACES = re.compile(r"\\\{\\\{([a-z_]+)\\\}\\\}")


def leaks(request: ChatRequest) -> list[str]:
    """What such a model would obey in a request; nothing where the fence holds."""
    texts = [message.content for message in request.messages]
    return [leak for text in texts for leak in leaks_of(text)]


def leaks_of(message: str) -> list[str]:
    """The same of one message."""
    found = [match.group() for match in _TOKENS.finditer(message)]
    found += [f"U+{ord(c):04X}" for c in message if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")]
    inside = False
    for line in message.splitlines():
        if line.startswith("-----BEGIN DATA "):
            inside = True
        elif line.startswith("-----END DATA"):
            inside = False
        elif inside:
            found += [] if _is_record(line) else [line]
        elif line.strip() and not any(pattern.fullmatch(line) for pattern in OURS):
            found.append(line)
    return found


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _patterns() -> list[re.Pattern[str]]:
    """The lines of every prompt file; a place inside of a line takes a number or the token."""
    lines = {line for name in prompt_names() for line in load_prompt(name).text.split("\n") if line.strip()}
    return [re.compile(_PLACES.sub(r"(?:[0-9]+|[0-9a-f]{16})", re.escape(line))) for line in sorted(lines)]


OURS = _patterns()
