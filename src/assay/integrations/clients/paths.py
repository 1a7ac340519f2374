"""Which requests of a client are for text of a model: those that are checked, and those that no check could read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from assay.wire import Wire

_DEPLOYMENT: Final = re.compile(r"^deployments/[^/]+/")
"""How Azure puts the model into the path."""
_UPWARD: Final = re.compile(r"(?:^|/)\.{1,2}(?:/|$)|//|%")


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of one provider, behind the client's base address."""

    base: str
    """The path of the base address."""
    answers: Mapping[str, Wire]
    """The paths whose answers are checked, each with its format."""
    plain: tuple[str, ...]
    """The paths, with everything below them, whose answers are no text of a model; behind a method and a blank where
    only that method counts, as in `GET models`."""

    def wire(self, method: str, path: str) -> Wire | None:
        """The format of a request whose answer is checked; none for any other.

        Wherever the path may begin: a proxy may stand before the provider.
        """
        if method.upper() != "POST":
            return None
        found = (wire for end, wire in self.answers.items() if path.rstrip("/").endswith(f"/{end}"))
        return next(found, None)

    def is_plain(self, method: str, path: str) -> bool:
        """Whether the answer to a request is no text of a model."""
        if method.upper() == "DELETE":
            return True
        base = self.base.strip("/")
        inner = path.strip("/").removeprefix(base).lstrip("/") if base else path.strip("/")
        inner = _DEPLOYMENT.sub("", inner)
        return any(_covers(one, method, inner) for one in self.plain) and not _UPWARD.search(inner)

    def shape(self, wire: Wire | None) -> Wire:
        """The format in which errors about a request are told."""
        return wire if wire is not None else next(iter(self.answers.values()))


def _covers(plain: str, method: str, inner: str) -> bool:
    only, _, path = plain.rpartition(" ")
    return (not only or only == method.upper()) and (inner == path or inner.startswith(f"{path}/"))
