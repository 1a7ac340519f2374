"""The shape of the sources: how long functions and modules may be, how full a folder, and that no imports go round."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import assay

ROOT: Final = Path(assay.__file__ or "").parent
LONGEST_FUNCTION: Final = 70
"""Lines from `def` to the last line of the body; decorators do not count."""
P90_FUNCTION: Final = 25
LONGEST_MODULE: Final = 500
FULLEST_FOLDER: Final = 15

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[str, ast.Module]:
    """The modules as syntax trees, by their path below the package."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }


def lines_of(name: str) -> int:
    return len((ROOT / name).read_text(encoding="utf-8").splitlines())


@cache
def functions() -> dict[str, list[tuple[int, str]]]:
    """The functions of each module: their lines and their names."""
    return {
        name: [
            ((node.end_lineno or node.lineno) - node.lineno + 1, node.name)
            for node in ast.walk(tree)
            if isinstance(node, Function)
        ]
        for name, tree in trees().items()
    }


@cache
def too_long() -> dict[str, set[str]]:
    """Modules and functions over their limit, by module."""
    found: dict[str, set[str]] = {}
    for name, found_here in functions().items():
        over = {f"{function}: {length} lines" for length, function in found_here if length > LONGEST_FUNCTION}
        if lines_of(name) > LONGEST_MODULE:
            over.add(f"{lines_of(name)} lines")
        if over:
            found[name] = over
    return found


def test_no_module_and_no_function_is_longer_than_its_limit() -> None:
    assert too_long() == {}


def test_nine_functions_of_ten_are_short() -> None:
    found = sorted(length for inside in functions().values() for length, _ in inside)
    assert found[int(len(found) * 0.9)] <= P90_FUNCTION


def test_no_folder_has_more_files_than_one_looks_over() -> None:
    folders = {path.parent for path in ROOT.rglob("*.py")}
    full = {str(one.relative_to(ROOT)): len(list(one.glob("*.py"))) for one in folders}
    assert {name: many for name, many in full.items() if many > FULLEST_FOLDER} == {}


def module_name(path: str) -> str:
    return ".".join(("assay", *Path(path).with_suffix("").parts)).removesuffix(".__init__")


@cache
def behind_doors() -> dict[tuple[str, str], str]:
    """For each name of a lazy door, the module that is loaded when it is asked for."""
    found: dict[tuple[str, str], str] = {}
    for path, tree in trees().items():
        door = module_name(path)
        for node in ast.walk(tree) if path.endswith("__init__.py") else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lazy":
                for module, names in ast.literal_eval(node.args[1]).items():
                    found |= {(door, name): door + module if module.startswith(".") else module for name in names}
    return found


def loaded(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when a module is loaded: none of functions, and none for type checkers alone."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If):
            yield from loaded(node.orelse)
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from loaded(node.body)
        elif isinstance(node, ast.Try | ast.With | ast.ClassDef):
            yield from loaded(node.body)


def targets(tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """The modules that are loaded with one."""
    for node in loaded(tree.body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif node.module in modules:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else behind_doors().get((node.module, alias.name), node.module)


def first_cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_imports_go_round() -> None:
    modules = {module_name(path): tree for path, tree in trees().items()}
    known = set(modules)
    graph = {name: set(targets(tree, known)) - {name} for name, tree in modules.items()}
    assert sum(map(len, graph.values())) > len(graph)
    assert first_cycle(graph) == []


@pytest.mark.parametrize(
    ("graph", "goes_round"),
    [({"a": {"b"}, "b": {"c"}, "c": set()}, False), ({"a": {"b"}, "b": {"c"}, "c": {"a"}}, True)],
)
def test_a_cycle_is_found_where_there_is_one(graph: dict[str, set[str]], goes_round: bool) -> None:
    assert bool(first_cycle(graph)) is goes_round
