"""The doors of rooms: what other packages may import stands in a package's `__init__`."""

import ast
import importlib
from pathlib import Path

import pytest

import assay

ROOT = Path(assay.__file__ or "").parent
DOORS = {
    "assay." + ".".join(path.parent.relative_to(ROOT).parts): path
    for path in sorted(ROOT.rglob("__init__.py"))
    if "= lazy(" in path.read_text(encoding="utf-8")
}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_offers_what_type_checkers_see(door: str) -> None:
    tree = ast.parse(DOORS[door].read_text(encoding="utf-8"))
    seen = {
        (one.module, alias.name)
        for node in tree.body
        if isinstance(node, ast.If)
        for one in node.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    }
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    offered = {
        (module if module.startswith("assay") else door + module, name)
        for module, names in ast.literal_eval(call.args[1]).items()
        for name in names
    }
    assert offered == seen


@pytest.mark.parametrize("door", DOORS)
def test_every_name_of_a_door_can_be_loaded(door: str) -> None:
    room = importlib.import_module(door)
    for name in room.__all__:
        assert getattr(room, name) is not None, name


@pytest.mark.parametrize("door", DOORS)
def test_no_name_of_a_door_is_also_a_module_behind_it(door: str) -> None:
    """Importing the module would put it in the place of the name."""
    folder = DOORS[door].parent
    modules = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.iterdir() if path.is_dir()}
    assert modules.isdisjoint(importlib.import_module(door).__all__)


def test_a_name_that_no_door_offers_is_an_attribute_error() -> None:
    room = importlib.import_module(next(iter(DOORS)))
    with pytest.raises(AttributeError, match="everything_else"):
        _ = room.everything_else
