"""Makes tool declarations from OpenAPI operations, Python functions and schemas in dialects of JSON Schema.

Each becomes a `ToolDeclaration` whose `parameters` are a JSON Schema, so that one check serves all.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from pydantic import PydanticInvalidForJsonSchema, PydanticUserError, TypeAdapter

from assay.errors import InputError
from assay.schema.run import ToolDeclaration

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The operations of an OpenAPI path item."""

DEEPEST_SCHEMA: Final = 100
"""The most levels of a schema that are rewritten."""

_TYPE_NAMES: Final = {
    "dict": "object",
    "map": "object",
    "hashmap": "object",
    "mapping": "object",
    "struct": "object",
    "list": "array",
    "tuple": "array",
    "arraylist": "array",
    "set": "array",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "int": "integer",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "bool": "boolean",
    "str": "string",
    "char": "string",
    "text": "string",
    "none": "null",
}
_STANDARD_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DATA_KEYWORDS: Final = frozenset({"enum", "const", "default", "examples", "example", "required"})


def standard_schema(schema: object, *, openapi: bool = False) -> Any:
    """A schema as standard JSON Schema, whatever dialect it is written in.

    Type names of other languages (`dict`, `float`, `STRING`) become those of JSON Schema, and a type that permits
    anything is left out. With `openapi`, `nullable` becomes a null type and references into the components become
    references into `$defs`. Everything else stays as it is; the argument is not changed.

    >>> standard_schema({"type": "dict", "properties": {"n": {"type": "float"}, "x": {"type": "any"}}})
    {'type': 'object', 'properties': {'n': {'type': 'number'}, 'x': {}}}
    """
    return _standardise(schema, openapi, 0)


def _standardise(schema: object, openapi: bool, depth: int) -> Any:
    if depth > DEEPEST_SCHEMA:
        raise InputError(f"a tool's schema may be nested {DEEPEST_SCHEMA} levels deep, got a deeper one")
    if isinstance(schema, list):
        return [_standardise(item, openapi, depth + 1) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            kind = _standard_type(value)
            if kind is not None:
                result["type"] = kind
        elif key in _SCHEMA_MAPS and isinstance(value, Mapping):
            result[key] = {name: _standardise(inner, openapi, depth + 1) for name, inner in value.items()}
        elif key == "$ref" and openapi and isinstance(value, str):
            result[key] = value.replace("#/components/schemas/", "#/$defs/")
        else:
            result[key] = deepcopy(value) if key in _DATA_KEYWORDS else _standardise(value, openapi, depth + 1)
    return _nullable(result) if openapi and result.get("nullable") is True else result


def _standard_type(value: object) -> Any:
    """The type or types by their names in JSON Schema; none where any type is permitted."""
    if isinstance(value, list):
        kinds = [_standard_type(item) for item in value]
        return None if None in kinds else kinds
    if not isinstance(value, str) or value in _STANDARD_TYPES:
        return value
    low = value.lower()
    known = low if low in _STANDARD_TYPES else _TYPE_NAMES.get(low)
    return known if known is not None else (None if low in {"any", "object | null", ""} else value)


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in schema.items() if key != "nullable"}
    kind = rest.get("type")
    if isinstance(kind, str):
        enum = {"enum": [*rest["enum"], None]} if isinstance(rest.get("enum"), list) else {}
        return rest | {"type": [kind, "null"]} | enum
    return {"anyOf": [rest, {"type": "null"}]}


def tools_from_openapi(document: Mapping[str, Any]) -> tuple[ToolDeclaration, ...]:
    """A declaration for each operation of an OpenAPI 3 document, in the document's order.

    A tool is named after its `operationId`, or its method and path. Parameters of path, query, header and cookie are
    arguments next to the fields of a JSON request body; a body that is not an object, or that has a field with the name
    of a parameter, is the argument `body`. References inside the document are followed; others stay and make the
    tool's schema unusable, because nothing is fetched.

    Raises:
        InputError: the document is not an OpenAPI 3 document, or two operations have the same name.
    """
    version = str(document.get("openapi", ""))
    if not version.startswith("3.") or not isinstance(document.get("paths"), Mapping):
        raise InputError(f"an OpenAPI document has openapi: 3.x and paths, got openapi: {version[:20] or 'none'}")
    declarations: dict[str, ToolDeclaration] = {}
    for path, method, item, operation in _operations(document):
        declaration = _operation(document, path, method, item, operation)
        if declaration.name in declarations:
            raise InputError(f"each operation needs a name of its own, got {declaration.name!r} twice")
        declarations[declaration.name] = declaration
    return tuple(declarations.values())


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any], Mapping[str, Any]]]:
    for path, item in document["paths"].items():
        resolved = _resolve(document, item)
        if isinstance(resolved, Mapping):
            for method in METHODS:
                if isinstance(resolved.get(method), Mapping):
                    yield path, method, resolved, resolved[method]


def _operation(
    document: Mapping[str, Any], path: str, method: str, item: Mapping[str, Any], operation: Mapping[str, Any]
) -> ToolDeclaration:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in _parameters(document, item, operation):
        name = str(parameter.get("name", ""))
        properties[name] = _with_description(_parameter_schema(parameter), parameter.get("description"))
        if parameter.get("required") is True or parameter.get("in") == "path":
            required.append(name)
    _add_body(document, operation, properties, required)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    components = document.get("components")
    schemas = components.get("schemas") if isinstance(components, Mapping) else None
    if isinstance(schemas, Mapping) and "#/$defs/" in str(schema):
        schema["$defs"] = {name: standard_schema(value, openapi=True) for name, value in schemas.items()}
    description = " ".join(str(operation[key]).strip() for key in ("summary", "description") if operation.get(key))
    return ToolDeclaration(
        name=str(operation.get("operationId") or f"{method} {path}"), description=description or None, parameters=schema
    )


def _parameters(
    document: Mapping[str, Any], item: Mapping[str, Any], operation: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """The parameters of an operation; one of the operation replaces one of the path with the same name and place."""
    parameters: dict[tuple[str, str], Mapping[str, Any]] = {}
    for holder in (item, operation):
        for entry in holder.get("parameters") or ():
            parameter = _resolve(document, entry)
            if isinstance(parameter, Mapping):
                parameters[str(parameter.get("name")), str(parameter.get("in"))] = parameter
    return list(parameters.values())


def _parameter_schema(parameter: Mapping[str, Any]) -> Any:
    if "schema" in parameter:
        return standard_schema(parameter["schema"], openapi=True)
    for media in (parameter.get("content") or {}).values():
        return standard_schema(media.get("schema", {}), openapi=True)
    return {}


def _add_body(
    document: Mapping[str, Any], operation: Mapping[str, Any], properties: dict[str, Any], required: list[str]
) -> None:
    body = _resolve(document, operation.get("requestBody"))
    content = body.get("content") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(content, Mapping) or not content:
        return
    media = next((value for name, value in content.items() if "json" in name), next(iter(content.values())))
    raw = media.get("schema", {})
    schema = standard_schema(_resolve(document, raw), openapi=True)
    fields = schema.get("properties") if isinstance(schema, dict) else None
    composed = isinstance(schema, dict) and any(key in schema for key in ("allOf", "anyOf", "oneOf"))
    if not isinstance(fields, dict) or composed or set(fields) & set(properties):
        properties["body"] = standard_schema(raw, openapi=True)
        if body.get("required") is True:
            required.append("body")
        return
    properties.update(fields)
    if body.get("required") is True:
        required.extend(name for name in schema.get("required") or () if name in fields)


def _resolve(document: Mapping[str, Any], value: Any) -> Any:
    """The target of a reference into the document; the value itself where it is not a reference or has no target."""
    for _ in range(DEEPEST_SCHEMA):
        reference = value.get("$ref") if isinstance(value, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return value
        target: Any = document
        for part in reference[2:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, Mapping) or name not in target:
                return value
            target = target[name]
        value = target
    return value


def _with_description(schema: Any, description: object) -> Any:
    described = isinstance(schema, dict) and ("description" in schema or "$ref" in schema)
    return schema if described or not isinstance(description, str) else {**schema, "description": description}


def _signature_schema(function: Callable[..., Any], tool_name: str) -> dict[str, Any]:
    """The JSON Schema of the arguments of a function.

    Raises:
        InputError: the signature cannot be expressed as named arguments of JSON types.
    """
    target: Any = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    try:
        schema = TypeAdapter(target).json_schema()
    except (PydanticUserError, PydanticInvalidForJsonSchema, NameError, TypeError, ValueError) as error:
        raise InputError(f"the signature of {tool_name} cannot be written as a JSON Schema: {error}") from None
    if schema.get("type") != "object":
        raise InputError(f"a tool is called by the names of its arguments, got {tool_name} with positional parameters")
    return schema


def tool_from_function(function: Callable[..., Any], *, name: str | None = None) -> ToolDeclaration:
    """The declaration of a Python function: the annotations and defaults of its signature as a JSON Schema.

    Parameters without an annotation accept anything; `*args` and positional-only parameters cannot be passed by name
    and are refused; `**kwargs` allow further arguments of the annotated type.

    Raises:
        InputError: the signature cannot be expressed as named arguments of JSON types.

    >>> def book(room: str, nights: int = 1) -> None:
    ...     "Books a room."
    >>> tool_from_function(book).parameters["required"]
    ['room']
    """
    tool_name = str(name or getattr(function, "__name__", type(function).__name__))
    schema = _signature_schema(function, tool_name)
    for parameter in schema.get("properties", {}).values():
        parameter.pop("title", None)
    return ToolDeclaration(
        name=tool_name, description=inspect.getdoc(function), parameters={"properties": {}, **schema}
    )
