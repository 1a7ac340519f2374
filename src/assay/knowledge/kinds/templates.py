"""Templates that an operator writes with placeholders: addresses, JSON bodies and the wording of passages.

A value can change neither the host nor the number of segments of an address nor the structure of a JSON body: templates
are parsed when the configuration is read, and each value is encoded for its placeholder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from assay.errors import PolicyError, SourceError
from assay.knowledge.inquiries import PARAMETERS

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_FIELD_PLACEHOLDER: Final = re.compile(r"\{([^{}:]*)(:,)?\}")
"""A placeholder in the wording of a passage; `{population:,}` groups the digits of a whole number."""
_DOTS: Final = re.compile(r"\.{1,2}")
_UNSENDABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def placeholders_in(text: str, known: frozenset[str] | None = PARAMETERS) -> tuple[str, ...]:
    """The names of the placeholders in a text, in order.

    Raises:
        PolicyError: one is not a parameter.

    >>> placeholders_in("/v1/{entity}?year={year}")
    ('entity', 'year')
    """
    found = tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))
    if known is not None and (unknown := [name for name in found if name not in known]):
        raise PolicyError(f"{{{unknown[0]}}} is no parameter; there are {', '.join(sorted(known))}")
    return found


def is_sendable(value: object) -> bool:
    """Whether a value has neither control characters nor lone surrogates.

    >>> is_sendable("Aria 2"), is_sendable("a\\x00b")
    (True, False)
    """
    return not _UNSENDABLE.search(str(value))


def sendable(value: object) -> str:
    """A value as text that a request can contain.

    Raises:
        SourceError: it has control characters or lone surrogates.
    """
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    if _UNSENDABLE.search(text):
        raise SourceError("the claim has characters that no request can have")
    return text


def fill(text: str, values: Mapping[str, object]) -> str:
    """A text with its placeholders filled, in one pass: braces in a value are not placeholders.

    >>> fill("about {entity}", {"entity": "{claim}"})
    'about {claim}'
    """
    return _PLACEHOLDER.sub(lambda found: sendable(values[found.group(1)]), text)


@dataclass(frozen=True, slots=True)
class UrlTemplate:
    """An address with placeholders in the segments of its path and in the values of its query."""

    base: str
    """Scheme, host and port."""
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> UrlTemplate:
        """Parse an address.

        Raises:
            PolicyError: it is malformed, or has a placeholder in its scheme, its host or the name of a query parameter.
        """
        try:
            parts = urlsplit(text)
        except ValueError as error:
            raise PolicyError(f"expected an address such as https://host/path, got {text!r}: {error}") from error
        try:
            port = parts.port
        except ValueError as error:
            raise PolicyError(f"expected an address with a port from 1 to 65535, got {text!r}") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
            raise PolicyError(
                f"expected an address such as https://host/path, without a name or password in it, got {text!r}"
            )
        if "{" in parts.netloc or "}" in parts.netloc or parts.fragment:
            raise PolicyError(f"expected no place in the host and no fragment, got {text!r}")
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        for name, _ in query:
            if "{" in name:
                raise PolicyError(
                    f"a placeholder belongs in the value of a query parameter, never in its name: {name!r}"
                )
        for piece in (*parts.path.split("/"), *(value for _, value in query)):
            placeholders_in(piece)
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        if not host.isascii():
            try:
                host = host.encode("idna").decode()
            except UnicodeError as error:
                raise PolicyError(f"expected the name of a host, got {host[:80]!r}") from error
        base = f"{parts.scheme}://{host}{'' if port is None else f':{port}'}"
        return cls(base, tuple(parts.path.split("/"))[1:], query)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the address."""
        pieces = "".join((*self.segments, *(value for _, value in self.query)))
        return placeholders_in(pieces)

    def fill(self, values: Mapping[str, object]) -> str:
        """The address with its placeholders filled, in ASCII.

        Raises:
            SourceError: an address cannot contain a value, or it would be a step in a path.
        """
        segments = []
        for one in self.segments:
            plain = fill(one, values)
            if "{" in one and (_DOTS.fullmatch(plain) or not plain):
                raise SourceError("the claim has a name that is a step in a path")
            segments.append(quote(plain, safe=":@!$'()*,;=~" if "{" not in one else ""))
        query = "&".join(f"{quote(name, safe='')}={quote(fill(value, values), safe='')}" for name, value in self.query)
        return f"{self.base}/{'/'.join(segments)}{'?' + query if query else ''}"


def check_tree(tree: Any) -> tuple[str, ...]:
    """The parameters in the texts of a JSON value.

    Raises:
        PolicyError: a placeholder is in a key, or is not a parameter.
    """
    found: list[str] = []
    for text, is_key in _texts(tree):
        if is_key and "{" in text:
            raise PolicyError(f"a placeholder belongs in a value, never in a key: {text!r}")
        if not is_key:
            found += placeholders_in(text)
    return tuple(dict.fromkeys(found))


def _texts(tree: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(tree, str):
        yield tree, False
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            yield str(key), True
            yield from _texts(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from _texts(value)


def fill_tree(tree: Any, values: Mapping[str, object]) -> Any:
    """A JSON value with the placeholders in its texts filled; its structure does not change."""
    if isinstance(tree, str):
        return fill(tree, values)
    if isinstance(tree, Mapping):
        return {key: fill_tree(value, values) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [fill_tree(value, values) for value in tree]
    return tree


def render_row(template: str | None, row: Mapping[str, object]) -> str:
    """A row in words: by the template, or as lines of names and values, which the exact tier reads as a record.

    >>> render_row("{name} costs EUR {price}.", {"name": "Aria 2", "price": 59})
    'Aria 2 costs EUR 59.'
    >>> render_row(None, {"name": "Aria 2", "price_eur": 59, "colour": None})
    'name: Aria 2\\nprice eur: 59'
    >>> render_row("{town} has {population:,} inhabitants.", {"town": "Ghent", "population": 265000})
    'Ghent has 265,000 inhabitants.'
    """
    shown = {name: _display(value) for name, value in row.items()}
    if template is None:
        return "\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in shown.items() if value)
    return _FIELD_PLACEHOLDER.sub(
        lambda found: _in_placeholder(shown.get(found.group(1), ""), grouped=found.group(2) is not None), template
    )


def fields_in(template: str) -> tuple[str, ...]:
    """The names of the fields in a wording.

    >>> fields_in("{town} has {population:,} inhabitants.")
    ('town', 'population')
    """
    return tuple(dict.fromkeys(found[0] for found in _FIELD_PLACEHOLDER.findall(template)))


def _in_placeholder(text: str, *, grouped: bool) -> str:
    return f"{int(text):,}" if grouped and re.fullmatch(r"-?[0-9]{1,30}", text) else text


def _display(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class Pointer:
    """A JSON Pointer (RFC 6901), with `*` for every item of a list or value of an object."""

    def __init__(self, text: str) -> None:
        """Parse a pointer.

        Raises:
            PolicyError: it is malformed.
        """
        if text and not text.startswith("/"):
            raise PolicyError(f"expected a JSON Pointer such as /items/0/name, got {text!r}")
        self.text = text
        self._steps = tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])

    def all(self, value: Any) -> list[Any]:
        """All values in a JSON value that the pointer refers to.

        >>> Pointer("/rows/*/n").all({"rows": [{"n": 1}, {"n": 2}, {}]})
        [1, 2]
        """
        found = [value]
        for step in self._steps:
            found = [after for one in found for after in _step_into(one, step)]
        return found

    def first(self, value: Any) -> Any:
        """The first value that the pointer refers to; none where there is none."""
        return next(iter(self.all(value)), None)


def _step_into(value: Any, step: str) -> Iterator[Any]:
    if isinstance(value, Mapping):
        if step == "*":
            yield from value.values()
        elif step in value:
            yield value[step]
    elif isinstance(value, list):
        if step == "*":
            yield from value
        elif step.isascii() and step.isdigit() and int(step) < len(value):
            yield value[int(step)]


def parse_json(body: bytes) -> Any:
    """The JSON value of a body.

    Raises:
        SourceError: it is not JSON in UTF-8, or nested too deeply.
    """
    try:
        return json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SourceError("its answer is not JSON") from error
