"""Which fields a message of a format has, and who reads each: what is not listed makes an answer unreadable.

The lists are in `forms/`, one file a format, derived from the types of the official SDKs (`tests.wire.sdk_types`)
with what was decided on each text; `forms/more.json` has what servers of the same formats send beside them. Record 32
says why. The decisions are:

- `read`: a check reads it, as text or as a part of a call.
- `reasoning`: words that the model thinks, which are taken out unless the operator lets them pass.
- `name`: an identifier, without blanks and of at most 256 characters; `label`: that, or up to three words that are
  written as the name of somebody; `opaque`: signed or encrypted, without blanks.
- `echo`: what the request says itself, or a name.
- `source`: what a tool of the provider did and found; only where the request offers such a tool, or sources to cite.
- `tokens`: the tokens of a text with their probabilities; only where the request asks for them, and they are its own
  (`assay.wire.parts.side_fields`).
- `error`: why there is no answer; only where there is none.
- `unread`: nobody reads it, so no answer with it goes out as checked.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Final, Self

from assay.wire.interface import FIELD, Json, sayable
from assay.wire.parts.side_fields import fault_beside

_NAME: Final = re.compile(r"\S{0,256}")
_LABEL: Final = re.compile(r"\S{0,64}|[A-Z][\w.-]{0,24}(?: [A-Z][\w.-]{0,24}){1,2}")
_OPAQUE: Final = re.compile(r"\S*")
_PLAIN_TOOLS: Final = re.compile(r"function|custom|local_shell|apply_patch|(?:bash|text_editor|memory)_\d+")
"""Types of tools that the client executes and that show nothing of a provider's."""
_SEARCHING: Final = ("web_search_options", "search_parameters", "plugins", "mcp_servers", "prompt", "container")
"""Members of requests by which a provider's tools take part without being listed."""
_SEARCHERS: Final = re.compile(r"search|sonar|:online", re.IGNORECASE)
"""Models that search by themselves and say where."""
_CITED: Final = frozenset({"document", "search_result", "input_file", "file"})
"""Parts of a request that an answer may cite."""

Form = str
"""One alternative of a field, as the files write it."""


class Said:
    """What a request says, as far as an answer may say it again, and what it offers."""

    def __init__(self, request: Json | None = None) -> None:
        """Of a request; of none, where nothing is known of it."""
        self._request = {name: value for name, value in (request or {}).items() if name != FIELD}

    @cached_property
    def texts(self) -> frozenset[str]:
        """Every text of it, the names of members among them."""
        return frozenset(_texts_of(self._request))

    @cached_property
    def offers_sources(self) -> bool:
        """Whether the provider's own tools or sources may take part in its answer."""
        request = self._request
        tools = request.get("tools")
        kinds = [tool.get("type") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        if any(isinstance(kind, str) and not _PLAIN_TOOLS.fullmatch(kind) for kind in kinds):
            return True
        if any(request.get(name) for name in _SEARCHING):
            return True
        model = request.get("model")
        return (isinstance(model, str) and bool(_SEARCHERS.search(model))) or _cites(request)

    @cached_property
    def asks_tokens(self) -> bool:
        """Whether it asks for the probabilities of tokens."""
        include = self._request.get("include")
        listed = isinstance(include, list) and any("logprobs" in str(name) for name in include)
        return listed or any(self._request.get(name) for name in ("logprobs", "top_logprobs", "prompt_logprobs"))

    @property
    def stored_prompt(self) -> bool:
        """Whether it names a prompt that the provider keeps, whose words it does not say itself."""
        return bool(self._request.get("prompt"))


NOTHING: Final = Said()
"""What is known of a request that is not at hand."""


@dataclass(frozen=True)
class Fields:
    """The fields of one format."""

    roots: Mapping[str, tuple[Form, ...]]
    types: Mapping[str, Mapping[str, tuple[Form, ...]]]
    _named: dict[tuple[Form, ...], dict[str, list[Form]]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    @cache
    def of(cls, name: str) -> Self:
        """Those of a format, by the name of its reader in `assay.schema.traces`."""
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

    def fault(self, root: str, value: object, said: Said) -> str | None:
        """What in a message no check reads; none where all of it is known.

        Args:
            root: `answer`, or `event` of a stream.
            value: the message.
            said: what its request said.

        >>> Fields.of("openai_chat").fault("answer", {"choices": [{"index": 0, "plan": "buy"}]}, Said())
        "the unknown field 'plan' at choices.0"
        """
        fault = self._fault(value, self.roots[root], said, "")
        return fault if fault is not None or not isinstance(value, dict) else fault_beside(value)

    def quiet(self, root: str, value: Json, names: Iterable[str]) -> Json:
        """The members of a message that say nothing beside its content, and those of these names only.

        What the request said is left out too, but for names: it is not at hand where an answer is withheld.
        """
        kinds = [self.types[form.partition(":")[0]] for form in self.roots[root]]
        kept: Json = {}
        for name in names:
            inner = value.get(name)
            for fields in kinds:
                if name in value and name in fields and self._fault(inner, fields[name], NOTHING, name) is None:
                    kept[name] = inner
                    break
        return kept

    def _fault(self, value: object, forms: tuple[Form, ...], said: Said, place: str) -> str | None:
        if value is None or value == "" or value == [] or value == {}:
            return None
        if isinstance(value, dict):
            return self._object_fault(value, forms, said, place)
        if isinstance(value, list):
            inner = tuple(form[2:] for form in forms if form.startswith("[]"))
            inner += tuple(form for form in forms if form.startswith("any"))
            if not inner:
                return _strange(value, place)
            return self._first(enumerate(value), inner, said, place)
        return _scalar_fault(value, forms, said, place)

    def _first(
        self, items: Iterable[tuple[object, object]], forms: tuple[Form, ...], said: Said, place: str
    ) -> str | None:
        for key, item in items:
            fault = self._fault(item, forms, said, f"{place}.{key}" if place else str(key))
            if fault is not None:
                return fault
        return None

    def _object_fault(self, value: Json, forms: tuple[Form, ...], said: Said, place: str) -> str | None:
        members = tuple(form[2:] for form in forms if form.startswith("{}"))
        members += tuple(form for form in forms if form.startswith("any"))
        if members:
            keys = _first_key_fault(value, members, said, place)
            return keys if keys is not None else self._first(value.items(), members, said, place)
        kinds = self._candidates(forms, value.get("type"))
        fault = None
        for form in kinds:
            name, _, kind = form.partition(":")
            if kind == "source" and not said.offers_sources:
                found: str | None = f"what a tool of the provider did, which the request does not offer,{_at(place)}"
            else:
                found = self._fields_fault(value, self.types[name], said, place)
            if found is None:
                return None
            fault = fault or found
        if fault is not None:
            return fault
        type_ = value.get("type")
        return f"the unknown type {sayable(type_)}{_at(place)}" if isinstance(type_, str) else _strange(value, place)

    def _candidates(self, forms: tuple[Form, ...], kind: object) -> list[Form]:
        """The types that an object may be of, by what it says of itself; it need not say."""
        named = self._named.get(forms)
        if named is None:
            named = self._named[forms] = self._by_name(forms)
        if kind is None:
            return [form for form in forms if _is_type(form)]
        return [*named.get(kind, ()), *named[""]] if isinstance(kind, str) else []

    def _by_name(self, forms: tuple[Form, ...]) -> dict[str, list[Form]]:
        """The types among alternatives, by the word of their member `type`; under none those that have no such word."""
        found: dict[str, list[Form]] = {"": []}
        for form in forms:
            if not _is_type(form):
                continue
            wanted = self.types[form.partition(":")[0]].get("type", ())
            words = [word for one in wanted if one.startswith("=") for word in one[1:].split("|")]
            for word in words or [""]:
                found.setdefault(word, []).append(form)
        return found

    def _fields_fault(self, value: Json, fields: Mapping[str, tuple[Form, ...]], said: Said, place: str) -> str | None:
        rest = fields.get("*")
        for name, inner in value.items():
            if inner is None or inner == "" or inner == [] or inner == {}:
                continue
            forms = fields.get(name)
            if forms is None and rest is not None and _NAME.fullmatch(name):
                forms = rest
            if forms is None:
                return f"the unknown field {sayable(name)}{_at(place)}"
            fault = self._fault(inner, forms, said, f"{place}.{name}" if place else name)
            if fault is not None:
                return fault
        return None


def _is_type(form: Form) -> bool:
    """Whether an alternative is an object of a type of its own."""
    return "." in form and form[0] not in "[{="


def _scalar_fault(value: object, forms: tuple[Form, ...], said: Said, place: str) -> str | None:
    if isinstance(value, bool):
        kinds = [form for form in forms if form == "flag" or form.startswith("any")]
    elif isinstance(value, int | float):
        kinds = [form for form in forms if form == "number" or form.startswith("any")]
    elif isinstance(value, str):
        faults = [_text_fault(value, form, said) for form in forms]
        return None if None in faults else f"{next(iter(faults), 'a value of the wrong type')}{_at(place)}"
    else:
        kinds = []
    if any(form.endswith(":unread") for form in kinds) and len(kinds) == 1:
        return f"what no check reads{_at(place)}"
    return None if kinds else _strange(value, place)


def _text_fault(value: str, form: Form, said: Said) -> str | None:
    """Why a text may not stand where a form does; none where it may."""
    if form.startswith("="):
        return None if value in form[1:].split("|") else f"the unknown word {sayable(value)}"
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
            return None if _LABEL.fullmatch(value) or value in said.texts else "words where a label is expected"
        case "opaque":
            return None if _OPAQUE.fullmatch(value) else "words where a signature is expected"
        case "echo":
            said_before = said.stored_prompt or _NAME.fullmatch(value) or value in said.texts
            return None if said_before else "words that the request does not say"
        case "source":
            return None if said.offers_sources else "what a source says, where the request offers none,"
        case "tokens":
            return None if said.asks_tokens else "tokens that the request does not ask for"
        case _:
            return "what no check reads"


def _first_key_fault(value: Json, forms: tuple[Form, ...], said: Said, place: str) -> str | None:
    """The names of members that may be any: they are held to what the values are held to, or are names.

    Reasoning is emptied in its values alone, so its names are names.
    """
    forms = tuple(form for form in forms if not form.endswith(":reasoning"))
    for key in value:
        if not _NAME.fullmatch(key) and all(_text_fault(key, form, said) is not None for form in forms):
            return f"the unknown field {sayable(key)}{_at(place)}"
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


def _cites(request: Json) -> bool:
    left: list[object] = [request.get(name) for name in ("messages", "input", "system")]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            kind = item.get("type")
            if isinstance(kind, str) and kind in _CITED:
                return True
            left += item.values()
        elif isinstance(item, list):
            left += item
    return False


def _strange(value: object, place: str) -> str:
    return f"a value of the wrong type ({type(value).__name__}){_at(place)}"


def _at(place: str) -> str:
    return f" at {place}" if sayable(place) == repr(place) else " at (no name)" if place else ""
