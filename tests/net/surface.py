"""What others rely on by name: schemas, operations, verbs, presets and public names, each as a JSON value."""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, Final

from tests.net import rooms
from tests.net.material import PRESETS

import assay
from assay.schema.base import Value

OPTIONAL: Final = ("assay.integrations",)
"""Packages whose members need a framework each; their public names are frozen where a package can be imported."""


def surface() -> Iterator[tuple[str, Any]]:
    """Everything of the surface: a name that stays and what stands there."""
    for name, schema in rooms.published().items():
        yield from _parts(f"schema:{name}", schema)
    yield from _operations(rooms.openapi())
    yield from _verbs()
    for preset in PRESETS:
        policy = assay.Guard(preset, scorer=rooms.fake_scorer(), environ={}).policy
        yield f"preset:{preset}", {"digest": policy.digest, **policy.model_dump(mode="json")}
    yield from _names()


def _parts(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield name, {key: value for key, value in schema.items() if key != "$defs"}
    for part, defined in schema.get("$defs", {}).items():
        yield f"{name}/{part}", defined


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"openapi:{method.upper()} {path}", operation
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        yield f"openapi:{name}", schema
    info = {key: value for key, value in document.items() if key not in ("paths", "components")}
    yield "openapi", {**info, "info": {key: value for key, value in info["info"].items() if key != "version"}}


def _verbs() -> Iterator[tuple[str, Any]]:
    """`--help` of every verb as it is printed, beside its parameters as values."""
    from typer.testing import CliRunner

    runner = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
    pending: list[tuple[Any, tuple[str, ...]]] = [(rooms.command(), ("assay",))]
    for command, names in pending:
        told = runner.invoke(rooms.COMMAND, [*names[1:], "--help"])
        parameters = [_parameter(one) for one in command.params]
        yield f"help:{' '.join(names)}", {"parameters": parameters, "text_page": told.output.splitlines()}
        pending += [(verb, (*names, name)) for name, verb in getattr(command, "commands", {}).items()]


def _parameter(one: Any) -> dict[str, Any]:
    default = getattr(one, "default", None)
    annotation = getattr(getattr(one, "type_descriptor", None), "annotation", None)
    members: dict[str, Any] = getattr(annotation, "__members__", {})
    choices = [str(member.value) for member in members.values()]
    return {
        "name": one.name,
        "options": sorted([*one.opts, *one.secondary_opts]),
        "required": one.required,
        "multiple": getattr(one, "multiple", False),
        "flag": getattr(one, "is_flag", False),
        "nargs": one.nargs,
        "metavar": one.metavar,
        "environ": one.envvar,
        "choices": choices,
        "default": None if default is None or callable(default) else str(default),
    }


def _names() -> Iterator[tuple[str, Any]]:
    """The public names of each package, told by what a caller can do with them."""
    for package in ("assay", *_packages("assay")):
        try:
            module = importlib.import_module(package)
        except ImportError:
            if package.startswith(OPTIONAL):
                continue
            raise
        for name in sorted(getattr(module, "__all__", ())):
            if name != "__version__":
                yield f"name:{package}.{name}", _told(getattr(module, name))


def _packages(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    for found in pkgutil.iter_modules(module.__path__, f"{name}."):
        if found.ispkg and not found.name.rsplit(".", 1)[-1].startswith("_"):
            yield found.name
            yield from _packages(found.name)


def _told(value: Any) -> Any:
    if isinstance(value, type):
        return _class(value)
    if callable(value) and hasattr(value, "__name__"):
        return {"is": "function", "takes": _signature(value)}
    if hasattr(value, "__origin__") or type(value).__module__ == "typing":
        return {"is": "type", "of": _plain(str(value))}
    if isinstance(value, str | int | float | bool | frozenset | tuple | None):
        shown = sorted(map(str, value)) if isinstance(value, frozenset) else _plain(repr(value))
        return {"is": type(value).__name__, "value": shown}
    return {"is": type(value).__name__}


def _class(value: type) -> dict[str, Any]:
    made: dict[str, Any] = {"is": "class", "takes": _signature(value), "raises": issubclass(value, BaseException)}
    if issubclass(value, enum.Enum):
        return {"is": "enum", "members": {name: str(member.value) for name, member in value.__members__.items()}}
    if issubclass(value, Value):
        made["fields"] = {name: _plain(str(field.annotation)) for name, field in value.model_fields.items()}
    methods = {}
    for name, member in inspect.getmembers_static(value):
        if name.startswith("_") or not _is_ours(value, name):
            continue
        inner = getattr(member, "__func__", member)
        kind = "property" if isinstance(member, property) else "method" if inspect.isfunction(inner) else "value"
        methods[name] = {"is": kind, **({"takes": _signature(inner)} if kind == "method" else {})}
    return {**made, "members": methods}


def _is_ours(value: type, name: str) -> bool:
    """Whether a member comes from a class of the package, not from pydantic or a protocol of the language."""
    owner = next((one for one in value.__mro__ if name in vars(one)), value)
    return owner.__module__.split(".")[0] == "assay" and not name.startswith("model_")


def _signature(value: Any) -> str:
    try:
        return _plain(str(inspect.signature(value)))
    except (TypeError, ValueError):
        return "unknown"


def _plain(text: str) -> str:
    """The text without what a caller cannot see: the modules in which names live, which a move changes, whether an
    annotation is a text, addresses of objects, and the order of a set."""
    text = re.sub(r"\b(?:assay|pathlib|typing|collections|datetime)(?:\.\w+)*\.(?=[A-Za-z_])", "", text)
    text = re.sub(r"<class '([^']*)'>", r"\1", text)
    text = re.sub(r"<(\w+\.\w+): [^<>]*>", r"\1", text)  # a member of an enumeration
    text = re.sub(r" at 0x[0-9a-f]+|['~]", "", text)
    return re.sub(r"\{([^{}:]*)\}", lambda found: "{" + ", ".join(sorted(found[1].split(", "))) + "}", text)
