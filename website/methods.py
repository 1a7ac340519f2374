"""For mkdocstrings: methods that stand with their subject, at the class that lists them (docs/adr/0080)."""

from __future__ import annotations

from copy import copy
from typing import Any, Final

from griffe import Class, Extension, Function, GriffeLoader, Module

LISTING: Final = "guard.api.Guard"
"""The class, below the package, whose body lists functions of other modules: `check_run = runs.check_run`."""


class Methods(Extension):
    """Puts the functions that the class lists in the place of the values that they look like."""

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **_: Any) -> None:
        """Called when a package is loaded."""
        found = pkg[LISTING] if "guard" in pkg.members else None
        if not isinstance(found, Class):
            return
        imports = found.module.imports
        for name, member in list(found.members.items()):
            room, _dot, function = str(getattr(member, "value", "")).partition(".")
            if room not in imports or not function.isidentifier():
                continue
            listed = loader.modules_collection[f"{imports[room]}.{function}"]
            if isinstance(listed, Function):
                method = copy(listed)
                method.name = name
                found.set_member(name, method)
