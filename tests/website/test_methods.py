"""The reference shows the methods of a guard that stand in other modules."""

import inspect
from pathlib import Path

import pytest

from assay.guard import Guard

griffe = pytest.importorskip("griffe")
SOURCES = Path(__file__).parent.parent.parent / "src"


def test_every_public_method_of_a_guard_is_a_method_with_its_words_in_the_reference() -> None:
    extensions = griffe.load_extensions("website.methods")
    package = griffe.load("assay", search_paths=[str(SOURCES)], extensions=extensions, resolve_aliases=False)
    shown = package["guard.api.Guard"]
    for name, method in inspect.getmembers(Guard, inspect.isfunction):
        if name.startswith("_"):
            continue
        found = shown[name]
        assert found.is_function, name
        assert found.docstring.value.split() == (inspect.getdoc(method) or "").split(), name
        assert [one.name for one in found.parameters] == list(inspect.signature(method).parameters), name
