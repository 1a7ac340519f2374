"""What of a request is the system's and not the conversation's: instructions, declarations of tools, the model."""

from typing import Any, Final

from assay.wire.interface import Json

MOST_CHARACTERS: Final = 65_536
"""Of longer instructions the beginning is taken."""
_SYSTEM: Final = ("system", "developer")


def instructions_of(request: Json) -> str:
    """The instructions of a request in any of the gateway's formats: its system prompt, up to the conversation.

    >>> instructions_of({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]})
    'Be brief.'
    >>> instructions_of({"system": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "messages": []})
    'A\\nB'
    """
    found = [_text(request.get("system")), _text(request.get("instructions"))]
    for name in ("messages", "input"):
        turns = request.get(name)
        for turn in turns if isinstance(turns, list) else ():
            if not isinstance(turn, dict) or turn.get("role") not in _SYSTEM:
                break
            found.append(_text(turn.get("content")))
    return "\n".join(text for text in found if text)[:MOST_CHARACTERS]


def tools_of(request: Json) -> list[Any]:
    """The declarations of tools of a request, as they are in it."""
    tools = request.get("tools")
    return tools if isinstance(tools, list) else []


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(one["text"] for one in value if isinstance(one, dict) and isinstance(one.get("text"), str))
    return ""
