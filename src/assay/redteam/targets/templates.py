"""Templates of requests: a JSON value with placeholders for the parts of a case, and JSON Pointers into responses.

A string that is nothing but a placeholder, such as `"{turns}"`, becomes the value itself; within a longer string a
placeholder becomes text. A value that was filled in is never searched for placeholders.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from assay.errors import InputError
from assay.redteam.targets.interface import Request, TargetError

PLACES: Final[Mapping[str, str]] = {
    "id": "the id of the case",
    "prompt": "what the user says last",
    "turns": "what was said before: a list of role and content; as text a line for each",
    "context": "the passages: a list of id, text and source; as text one under the other",
    "messages": "a chat with the passages in the system message; only where a place stands alone",
}
"""The placeholders, with the meaning of each."""
_PLACE: Final = re.compile(r"\{(\w+)\}")
_CARRIES_PROMPT: Final = frozenset({"prompt", "messages"})
_CARRIES_TURNS: Final = frozenset({"turns", "messages"})


class Template:
    """A JSON value with placeholders."""

    def __init__(self, tree: Any, where: str) -> None:
        """Checks the placeholders of a JSON value.

        Args:
            tree: the value.
            where: the name of the target, for messages.

        Raises:
            InputError: a placeholder is unknown, there is none for the prompt, or `{messages}` is within a longer text.
        """
        self._tree = tree
        self._places = frozenset(places_of(tree))
        unknown = sorted(self._places - set(PLACES))
        if unknown:
            raise InputError(f"{where}: there is no place {{{unknown[0]}}}; there are {', '.join(PLACES)}")
        if not self._places & _CARRIES_PROMPT:
            raise InputError(f"{where}: needs a place for what the user says: {{prompt}} or {{messages}}")
        if "messages" in self._places and not _stands_alone(tree, "messages"):
            raise InputError(f'{where}: {{messages}} is a list and has to stand alone, as in "{{messages}}"')

    def filled(self, request: Request, messages: Any, name: str) -> Any:
        """The value filled in for one request.

        Args:
            request: the request.
            messages: the value of `{messages}`.
            name: the name of the target, for messages of errors.

        Raises:
            TargetError: the request has earlier turns and the template no placeholder for them: without them, the case
                would be a different one.
        """
        if request["turns"] and not self._places & _CARRIES_TURNS:
            raise TargetError(f"{name}: takes no earlier turns: give {{turns}} or {{messages}} a place in the request")
        values = {**request, "messages": messages}
        return _filled(self._tree, values)


def places_of(tree: Any) -> list[str]:
    """The names of the placeholders in a JSON value."""
    if isinstance(tree, str):
        return _PLACE.findall(tree)
    if isinstance(tree, Mapping):
        return [name for key, value in tree.items() for name in (*places_of(key), *places_of(value))]
    if isinstance(tree, list | tuple):
        return [name for one in tree for name in places_of(one)]
    return []


def _stands_alone(tree: Any, place: str) -> bool:
    """Whether a placeholder never occurs within a longer string."""
    if isinstance(tree, str):
        return tree == f"{{{place}}}" or f"{{{place}}}" not in tree
    if isinstance(tree, Mapping):
        return all(_stands_alone(one, place) for one in (*tree.keys(), *tree.values()))
    return all(_stands_alone(one, place) for one in tree) if isinstance(tree, list | tuple) else True


def _filled(tree: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(tree, str):
        whole = _PLACE.fullmatch(tree)
        if whole is not None:
            return values[whole[1]]
        return _PLACE.sub(lambda found: in_words(values[found[1]]), tree)
    if isinstance(tree, Mapping):
        return {str(_filled(key, values)): _filled(value, values) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_filled(one, values) for one in tree]
    return tree


def in_words(value: Any) -> str:
    """A value as text: a conversation with one line for each message, or passages separated by blank lines.

    >>> in_words([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])
    'user: Hi\\nassistant: Hello'
    """
    if isinstance(value, list):
        lines = [
            f"{one['role']}: {one['content']}" if "role" in one else f"[{one['id']}]\n{one['text']}" for one in value
        ]
        return ("\n" if not value or "role" in value[0] else "\n\n").join(lines)
    return str(value)


def checked_pointer(pointer: str, where: str) -> str:
    """Checks a JSON Pointer (RFC 6901). As an extension, a negative index counts from the end of a list.

    Args:
        pointer: the pointer.
        where: its source, for messages.

    Raises:
        InputError: it is not a JSON Pointer.
    """
    if pointer and not pointer.startswith("/"):
        raise InputError(f"{where}: expected a JSON Pointer such as /data/answer, got {pointer!r}")
    return pointer


def at_pointer(value: Any, pointer: str) -> Any:
    """The value at a pointer; none where there is none.

    >>> at_pointer({"a": [{"b/c": 1}, 2]}, "/a/0/b~1c"), at_pointer({"a": [1, 2]}, "/a/-1"), at_pointer({}, "/x")
    (1, 2, None)
    """
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and re.fullmatch(r"-?\d{1,9}", name) and -len(value) <= int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def text_at(value: Any, pointer: str, name: str) -> Any:
    """The answer at a pointer: text as it is, anything else as JSON.

    Raises:
        TargetError: there is no value at the pointer.
    """
    found = at_pointer(value, pointer)
    if found is None:
        raise TargetError(f"{name}: the response has nothing at {pointer}")
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
