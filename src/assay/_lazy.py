"""Doors of rooms: what a package offers to others, loaded when it is first used."""

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any


def lazy(
    package: str, offered: Mapping[str, tuple[str, ...]], renamed: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package whose names are in modules below it.

    Importing one module of a package imports the package first, so a door that loaded everything behind it would
    make each import as dear as the dearest. What type checkers need is next to it under `TYPE_CHECKING`;
    `tests/test_doors.py` holds the two against each other.

    Args:
        package: the `__name__` of the package.
        offered: for each module, relative to the package (".rows") or absolute, the names that it gives.
        renamed: what names of the release before are now; they still work, with a `DeprecationWarning`.
    """
    homes = {name: module for module, names in offered.items() for name in names}
    names = sorted(homes)

    def load(name: str) -> Any:
        if name in renamed:
            warnings.warn(f"{package}.{name} is {package}.{renamed[name]} now", DeprecationWarning, stacklevel=2)
            name = renamed[name]
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name], package), name)
        vars(sys.modules[package])[name] = value  # found without this function from then on
        return value

    return names, load, lambda: names
