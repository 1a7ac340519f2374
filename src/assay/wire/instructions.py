"""The parts of a request that are not the conversation: its instructions and its declarations of tools."""

from typing import Any, Final

from assay.wire.interface import Json

MOST_CHARACTERS: Final = 65_536
"""Characters of instructions that are kept, from the beginning."""
_SYSTEM: Final = ("system", "developer")


def instructions_of(request: Json) -> str:
    """The instructions of a request in any of the gateway's formats: its system prompt, before the conversation.

    >>> instructions_of({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]})
    'Be brief.'
    >>> instructions_of({"system": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "messages": []})
    'A\\nB'
    """
    texts = [_text(request.get("system")), _text(request.get("instructions"))]
    for name in ("messages", "input"):
        turns = request.get(name)
        for turn in turns if isinstance(turns, list) else ():
            if not isinstance(turn, dict) or turn.get("role") not in _SYSTEM:
                break
            texts.append(_text(turn.get("content")))
    return "\n".join(text for text in texts if text)[:MOST_CHARACTERS]


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
