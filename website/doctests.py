"""For mkdocstrings: the examples of docstrings as blocks of code, whatever section they stand in."""

from __future__ import annotations

from typing import Any

from griffe import Extension, Object

from website.fences import fenced


class Doctests(Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for each module, class, function and value."""
        if obj.docstring is not None and ">>> " in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
