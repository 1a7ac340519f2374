"""The fields of the messages that the official SDKs know, derived from their types.

`python -m tests.wire.sdk_types` writes what is new into the files of `assay.wire.forms`, and marks each new text as
unread: answers that hold one are withheld until somebody has decided what reads it.
"""

import inspect
import json
import sys
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

import assay.wire

FOLDER: Final = Path(inspect.getfile(assay.wire)).parent / "forms"
_ECHOES: Final = {
    "response.Response": frozenset(
        {"instructions", "metadata", "prompt", "prompt_cache_key", "reasoning", "safety_identifier", "text"}
        | {"tool_choice", "tools", "user", "prompt_cache_options", "previous_response_id", "conversation"}
    ),
    "chat_completion.ChatCompletion": frozenset({"metadata"}),
}
"""Fields that say again what the request said: they are held against it as a whole, whatever they are made of."""
_SCALARS: Final[Mapping[Any, str]] = {str: "text", int: "number", float: "number", bool: "flag"}

Types = dict[str, dict[str, list[str]]]


def roots() -> dict[str, dict[str, Any]]:
    """What an answer and the parts of a stream are, by file."""
    from anthropic.types import Message, RawMessageStreamEvent
    from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent

    return {
        "openai_chat": {"answer": ChatCompletion, "event": ChatCompletionChunk},
        "openai_responses": {"answer": Response, "event": ResponseStreamEvent},
        "anthropic_messages": {
            "answer": Union[Message, BetaMessage],  # noqa: UP007 unions of the SDK's own values
            "event": Union[RawMessageStreamEvent, BetaRawMessageStreamEvent],  # noqa: UP007
        },
    }


def derived(root: Mapping[str, Any]) -> tuple[dict[str, list[str]], Types]:
    """The roots of a format, and the fields of every type that is reached from them.

    A field has alternatives: `text`, `number`, `flag` and `any` are values; `word` is one
    of a list of words, `=a|b` one of this very list; a name with a
    dot is another type; `[]` in front is an array, `{}` an object of any members. Null is always allowed.
    """
    found: Types = {}
    seen: dict[str, type[BaseModel]] = {}

    def named(model: type[BaseModel]) -> str:
        name = f"{model.__module__.rpartition('.')[2]}.{model.__name__}"
        assert seen.setdefault(name, model) is model, f"two types are called {name}"
        if name not in found:
            found[name] = {}
            for field, info in model.model_fields.items():
                said_again = field in _ECHOES.get(name, ())
                forms = ["any"] if said_again else sorted(set(alternatives(info.annotation, field)))
                found[name][info.alias or field] = forms
        return name

    def alternatives(wanted: Any, field: str = "") -> Iterator[str]:
        origin = get_origin(wanted)
        if wanted is type(None):
            return
        if isinstance(wanted, typing.ForwardRef | str) or wanted in (Any, object):
            yield "any"
        elif origin is Annotated:
            yield from alternatives(get_args(wanted)[0], field)
        elif origin in (Union, UnionType):
            for one in get_args(wanted):
                yield from alternatives(one, field)
        elif origin is Literal:
            # Only the word that tells one type from another is held to; the others come and go with each release.
            yield "=" + "|".join(map(str, get_args(wanted))) if field == "type" else "word"
        elif origin in (list, typing.Sequence):
            yield from (f"[]{one}" for one in alternatives(get_args(wanted)[0]))
        elif origin is dict:
            yield from (f"{{}}{one}" for one in alternatives(get_args(wanted)[1]))
        elif isinstance(wanted, type) and issubclass(wanted, BaseModel):
            yield named(wanted)
        elif hasattr(wanted, "__value__"):
            yield from alternatives(wanted.__value__)
        elif wanted in _SCALARS:
            yield _SCALARS[wanted]
        else:
            yield "any"

    return {name: sorted(set(alternatives(wanted))) for name, wanted in root.items()}, dict(sorted(found.items()))


def bare(form: str) -> str:
    """An alternative without what was decided on it."""
    return form.partition(":")[0]


def decided(new: Types, old: Types) -> Types:
    """The fields as they are now, each text with what was decided on it; unread where nothing was."""
    made: Types = {}
    for name, fields in new.items():
        made[name] = {}
        for field, forms in fields.items():
            kinds = {bare(form): form for form in old.get(name, {}).get(field, [])}
            made[name][field] = [
                kinds.get(form, f"{form}:unread" if form.lstrip("[]{}") in ("text", "any") else form) for form in forms
            ]
    return made


def main() -> int:
    """Writes the files anew; the status is 1 where something is unread that was not there before."""
    status = 0
    for name, root in roots().items():
        path = FOLDER / f"{name}.json"
        told = json.loads(path.read_text("utf-8")) if path.exists() else {"types": {}}
        starts, found = derived(root)
        types = decided(found, told["types"])
        for kind, fields in types.items():
            for field, forms in fields.items():
                before = told["types"].get(kind, {}).get(field, [])
                for form in forms:
                    if form.endswith(":unread") and form not in before:
                        status = 1
                        print(f"{name}: {kind}.{field} is new: {form}")
        path.write_text(json.dumps({"roots": starts, "types": types}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
