"""The fields of the messages of a format, and who reads each; a field that is not listed makes an answer unreadable.

The lists are in `forms/`, one file a format, derived from the types of the official SDKs (`tests.wire.sdk_types`), with
a decision on each text; `forms/more.json` lists fields that other servers of the same formats add. Record 32 has the
reasons. The decisions are:

- `read`: a check reads it, as text or as a part of a call.
- `reasoning`: text of the model's reasoning, which is removed unless the operator lets it pass.
- `name`: an identifier, without blanks and of at most 256 characters; `label`: that, or two or three capitalized words
  like the name of a person; `opaque`: signed or encrypted, without blanks.
- `echo`: a text of the request itself, or a name.
- `source`: what a tool of the provider did and found; only where the request offers such a tool, or sources to cite.
- `tokens`: the tokens of a text with their probabilities; only where the request asks for them, and only if they are
  the tokens of that text (`assay.wire.parts.side_fields`).
- `error`: why there is no answer; only where there is none.
- `unread`: no check reads it, so no answer with it goes out as checked.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Final, Self

from assay.wire.interface import FIELD, Json, quotable
from assay.wire.parts.side_fields import side_field_fault

_NAME: Final = re.compile(r"\S{0,256}")
_LABEL: Final = re.compile(r"\S{0,64}|[A-Z][\w.-]{0,24}(?: [A-Z][\w.-]{0,24}){1,2}")
_OPAQUE: Final = re.compile(r"\S*")
_PLAIN_TOOLS: Final = re.compile(r"function|custom|local_shell|apply_patch|(?:bash|text_editor|memory)_\d+")
"""Types of tools that the client executes, so that their results do not come from the provider."""
_PROVIDER_TOOL_MEMBERS: Final = (
    "web_search_options",
    "search_parameters",
    "plugins",
    "mcp_servers",
    "prompt",
    "container",
)
"""Members of requests that bring in a provider's tools without listing them."""
_SEARCHING_MODELS: Final = re.compile(r"search|sonar|:online", re.IGNORECASE)
"""Models that search the web by themselves and cite what they find."""
_CITABLE_PARTS: Final = frozenset({"document", "search_result", "input_file", "file"})
"""Parts of a request that an answer may cite."""

Form = str
"""One alternative type of a field, in the notation of the files."""


class RequestContent:
    """What an answer may take from its request: the texts it may echo, and the sources and tokens it may show."""

    def __init__(self, request: Json | None = None) -> None:
        """Read a request; with none, nothing may be echoed and nothing is offered."""
        self._request = {name: value for name, value in (request or {}).items() if name != FIELD}

    @cached_property
    def texts(self) -> frozenset[str]:
        """Every text in it, including the names of members."""
        return frozenset(_texts_of(self._request))

    @cached_property
    def offers_sources(self) -> bool:
        """Whether the provider's own tools or sources may take part in its answer."""
        request = self._request
        tools = request.get("tools")
        kinds = [tool.get("type") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        if any(isinstance(kind, str) and not _PLAIN_TOOLS.fullmatch(kind) for kind in kinds):
            return True
        if any(request.get(name) for name in _PROVIDER_TOOL_MEMBERS):
            return True
        model = request.get("model")
        return (isinstance(model, str) and bool(_SEARCHING_MODELS.search(model))) or _offers_citations(request)

    @cached_property
    def asks_tokens(self) -> bool:
        """Whether it asks for the probabilities of tokens."""
        include = self._request.get("include")
        listed = isinstance(include, list) and any("logprobs" in str(name) for name in include)
        return listed or any(self._request.get(name) for name in ("logprobs", "top_logprobs", "prompt_logprobs"))

    @property
    def uses_stored_prompt(self) -> bool:
        """Whether it names a prompt stored at the provider, whose text is not in the request."""
        return bool(self._request.get("prompt"))


NO_REQUEST: Final = RequestContent()
"""Stands for a request that is not available."""


@dataclass(frozen=True)
class Fields:
    """The fields of one format."""

    roots: Mapping[str, tuple[Form, ...]]
    types: Mapping[str, Mapping[str, tuple[Form, ...]]]
    _type_indexes: dict[tuple[Form, ...], dict[str, list[Form]]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    @cache
    def of(cls, name: str) -> Self:
        """The fields of a format, by the name of its reader in `assay.schema.traces`."""
        folder = files("assay.wire").joinpath("forms")
        described = json.loads(folder.joinpath(f"{name}.json").read_text("utf-8"))
        more = json.loads(folder.joinpath("more.json").read_text("utf-8"))[name]
        types = {
            kind: {name: tuple(forms) for name, forms in fields.items()} for kind, fields in described["types"].items()
        }
        for kind, fields in more["types"].items():
            own = types.setdefault(kind, {})
            for member, forms in fields.items():
                own[member] = tuple(dict.fromkeys((*own.get(member, ()), *forms)))
        roots = {
            root: tuple(dict.fromkeys((*forms, *more["roots"].get(root, ()))))
            for root, forms in described["roots"].items()
        }
        return cls(roots, types)

    def fault(self, root: str, value: object, request: RequestContent) -> str | None:
        """Why a message cannot count as checked, as a phrase with the place; none where all of it is known.

        Args:
            root: `answer`, or `event` of a stream.
            value: the message.
            request: the content of its request.

        >>> Fields.of("openai_chat").fault("answer", {"choices": [{"index": 0, "plan": "buy"}]}, RequestContent())
        "the unknown field 'plan' at choices.0"
        """
        fault = self._fault(value, self.roots[root], request, "")
        return fault if fault is not None or not isinstance(value, dict) else side_field_fault(value)

    def metadata(self, root: str, value: Json, names: Iterable[str]) -> Json:
        """The members of a message, among these names, that hold no text that a reader could take for an answer.

        Echoes of the request are left out too, except names: the request is not available where an answer is withheld.
        """
        kinds = [self.types[form.partition(":")[0]] for form in self.roots[root]]
        kept: Json = {}
        for name in names:
            member = value.get(name)
            for fields in kinds:
                if name in value and name in fields and self._fault(member, fields[name], NO_REQUEST, name) is None:
                    kept[name] = member
                    break
        return kept

    def _fault(self, value: object, forms: tuple[Form, ...], request: RequestContent, place: str) -> str | None:
        if value is None or value == "" or value == [] or value == {}:
            return None
        if isinstance(value, dict):
            return self._object_fault(value, forms, request, place)
        if isinstance(value, list):
            inner = tuple(form[2:] for form in forms if form.startswith("[]"))
            inner += tuple(form for form in forms if form.startswith("any"))
            if not inner:
                return _wrong_type(value, place)
            return self._first_fault(enumerate(value), inner, request, place)
        return _scalar_fault(value, forms, request, place)

    def _first_fault(
        self, items: Iterable[tuple[object, object]], forms: tuple[Form, ...], request: RequestContent, place: str
    ) -> str | None:
        for key, item in items:
            fault = self._fault(item, forms, request, f"{place}.{key}" if place else str(key))
            if fault is not None:
                return fault
        return None

    def _object_fault(self, value: Json, forms: tuple[Form, ...], request: RequestContent, place: str) -> str | None:
        members = tuple(form[2:] for form in forms if form.startswith("{}"))
        members += tuple(form for form in forms if form.startswith("any"))
        if members:
            keys = _key_fault(value, members, request, place)
            return keys if keys is not None else self._first_fault(value.items(), members, request, place)
        kinds = self._candidates(forms, value.get("type"))
        fault = None
        for form in kinds:
            name, _, kind = form.partition(":")
            if kind == "source" and not request.offers_sources:
                found: str | None = (
                    f"what a tool of the provider did, which the request does not offer,{_at_place(place)}"
                )
            else:
                found = self._fields_fault(value, self.types[name], request, place)
            if found is None:
                return None
            fault = fault or found
        if fault is not None:
            return fault
        type_ = value.get("type")
        return (
            f"the unknown type {quotable(type_)}{_at_place(place)}"
            if isinstance(type_, str)
            else _wrong_type(value, place)
        )

    def _candidates(self, forms: tuple[Form, ...], kind: object) -> list[Form]:
        """The types that an object may have, by its member `type`, which may be missing."""
        index = self._type_indexes.get(forms)
        if index is None:
            index = self._type_indexes[forms] = self._index_types(forms)
        if kind is None:
            return [form for form in forms if _is_object_type(form)]
        return [*index.get(kind, ()), *index[""]] if isinstance(kind, str) else []

    def _index_types(self, forms: tuple[Form, ...]) -> dict[str, list[Form]]:
        """The object types among alternatives, by the value of their `type`; under "" those without a fixed value."""
        index: dict[str, list[Form]] = {"": []}
        for form in forms:
            if not _is_object_type(form):
                continue
            type_forms = self.types[form.partition(":")[0]].get("type", ())
            words = [word for one in type_forms if one.startswith("=") for word in one[1:].split("|")]
            for word in words or [""]:
                index.setdefault(word, []).append(form)
        return index

    def _fields_fault(
        self, value: Json, fields: Mapping[str, tuple[Form, ...]], request: RequestContent, place: str
    ) -> str | None:
        rest = fields.get("*")
        for name, inner in value.items():
            if inner is None or inner == "" or inner == [] or inner == {}:
                continue
            forms = fields.get(name)
            if forms is None and rest is not None and _NAME.fullmatch(name):
                forms = rest
            if forms is None:
                return f"the unknown field {quotable(name)}{_at_place(place)}"
            fault = self._fault(inner, forms, request, f"{place}.{name}" if place else name)
            if fault is not None:
                return fault
        return None


def _is_object_type(form: Form) -> bool:
    """Whether an alternative is a named object type."""
    return "." in form and form[0] not in "[{="


def _scalar_fault(value: object, forms: tuple[Form, ...], request: RequestContent, place: str) -> str | None:
    if isinstance(value, bool):
        kinds = [form for form in forms if form == "flag" or form.startswith("any")]
    elif isinstance(value, int | float):
        kinds = [form for form in forms if form == "number" or form.startswith("any")]
    elif isinstance(value, str):
        faults = [_text_fault(value, form, request) for form in forms]
        return None if None in faults else f"{next(iter(faults), 'a value of the wrong type')}{_at_place(place)}"
    else:
        kinds = []
    if any(form.endswith(":unread") for form in kinds) and len(kinds) == 1:
        return f"what no check reads{_at_place(place)}"
    return None if kinds else _wrong_type(value, place)


def _text_fault(value: str, form: Form, request: RequestContent) -> str | None:
    """Why a text does not fit a form; none where it does."""
    if form.startswith("="):
        return None if value in form[1:].split("|") else f"the unknown word {quotable(value)}"
    leaf, _, kind = form.partition(":")
    if leaf == "word":
        kind = "name"
    elif leaf not in ("text", "any"):
        return "a value of the wrong type"
    match kind:
        case "read" | "reasoning" | "error":
            return None
        case "name":
            return None if _NAME.fullmatch(value) else "words where a name is expected"
        case "label":
            return None if _LABEL.fullmatch(value) or value in request.texts else "words where a label is expected"
        case "opaque":
            return None if _OPAQUE.fullmatch(value) else "words where a signature is expected"
        case "echo":
            is_echo = request.uses_stored_prompt or _NAME.fullmatch(value) or value in request.texts
            return None if is_echo else "words that the request does not say"
        case "source":
            return None if request.offers_sources else "what a source says, where the request offers none,"
        case "tokens":
            return None if request.asks_tokens else "tokens that the request does not ask for"
        case _:
            return "what no check reads"


def _key_fault(value: Json, forms: tuple[Form, ...], request: RequestContent, place: str) -> str | None:
    """Why a member's name is not allowed where any name is: it has to be a name, or fit the form of the values.

    Only the values of reasoning are emptied, so that its members' names have to be names.
    """
    forms = tuple(form for form in forms if not form.endswith(":reasoning"))
    for key in value:
        if not _NAME.fullmatch(key) and all(_text_fault(key, form, request) is not None for form in forms):
            return f"the unknown field {quotable(key)}{_at_place(place)}"
    return None


def _texts_of(value: object) -> Iterator[str]:
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            left += item.values()
        elif isinstance(item, list):
            left += item


def _offers_citations(request: Json) -> bool:
    left: list[object] = [request.get(name) for name in ("messages", "input", "system")]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            kind = item.get("type")
            if isinstance(kind, str) and kind in _CITABLE_PARTS:
                return True
            left += item.values()
        elif isinstance(item, list):
            left += item
    return False


def _wrong_type(value: object, place: str) -> str:
    return f"a value of the wrong type ({type(value).__name__}){_at_place(place)}"


def _at_place(place: str) -> str:
    return f" at {place}" if quotable(place) == repr(place) else " at (no name)" if place else ""
