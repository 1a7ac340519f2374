"""Declarations from OpenAPI, Python and sloppy schemas."""

from enum import Enum
from typing import Any, Literal

import pytest

from assay.errors import InputError
from assay.schema.run.arguments import read_arguments
from assay.schema.run.model import ToolCall, ToolDeclaration
from assay.verify.tools import (
    Sources,
    Toolbox,
    check_call,
    standard_schema,
    tool_from_function,
    tools_from_openapi,
)

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "paths": {
        "/rooms/{room}": {
            "parameters": [{"name": "room", "in": "path", "schema": {"type": "string"}}],
            "get": {"operationId": "showRoom", "summary": "Shows a room."},
            "put": {
                "parameters": [{"$ref": "#/components/parameters/Dry"}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}},
                },
            },
        },
        "/rooms": {
            "post": {
                "operationId": "addRooms",
                "requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": {}}}}},
            }
        },
    },
    "components": {
        "parameters": {"Dry": {"name": "dry", "in": "query", "schema": {"type": "boolean"}}},
        "schemas": {
            "Room": {
                "type": "object",
                "required": ["beds"],
                "properties": {
                    "beds": {"type": "integer"},
                    "view": {"type": "string", "nullable": True},
                    "next": {"$ref": "#/components/schemas/Room"},
                },
            }
        },
    },
}


def codes(declaration: ToolDeclaration, arguments: str) -> set[str]:
    call = ToolCall(name=declaration.name, arguments=read_arguments(arguments))
    return {issue.code for issue in check_call(call, Toolbox([declaration]), Sources()).issues}


def test_each_operation_of_openapi_becomes_a_tool() -> None:
    show, put, add = tools_from_openapi(DOCUMENT)
    assert [show.name, put.name, add.name] == ["showRoom", "put /rooms/{room}", "addRooms"]
    assert show.description == "Shows a room."
    assert show.parameters is not None
    assert show.parameters["required"] == ["room"]


def test_parameters_and_the_fields_of_a_body_stand_side_by_side() -> None:
    put = tools_from_openapi(DOCUMENT)[1]
    assert codes(put, '{"room": "a", "beds": 1, "view": null, "dry": true, "next": {"beds": 1}}') == set()
    assert codes(put, '{"room": "a"}') == {"tool.missing_argument"}
    assert codes(put, '{"room": "a", "beds": 1, "next": {"beds": "1"}}') == {"tool.type"}
    assert codes(put, '{"room": "a", "beds": 1, "colour": "red"}') == {"tool.surplus_argument"}


def test_a_body_that_is_no_object_stands_under_its_own_name() -> None:
    add = tools_from_openapi(DOCUMENT)[2]
    assert add.parameters is not None
    assert set(add.parameters["properties"]) == {"body"}


@pytest.mark.parametrize("document", [{}, {"swagger": "2.0", "paths": {}}, {"openapi": "3.1.0"}])
def test_what_is_no_openapi_document_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"openapi: 3\.x"):
        tools_from_openapi(document)


def test_two_operations_of_one_name_are_refused() -> None:
    same = {"operationId": "x"}
    with pytest.raises(InputError, match="twice"):
        tools_from_openapi({"openapi": "3.1.0", "paths": {"/a": {"get": same}, "/b": {"get": same}}})


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


def order(item: str, count: int = 1, *, size: Size = Size.SMALL, way: Literal["post", "van"] = "post") -> None:
    """Orders an item."""


def test_a_signature_becomes_a_schema() -> None:
    tool = tool_from_function(order)
    assert (tool.name, tool.description) == ("order", "Orders an item.")
    assert codes(tool, '{"item": "lamp", "count": 1, "size": "l", "way": "van"}') == set()
    assert codes(tool, '{"count": 1}') == {"tool.missing_argument"}
    assert codes(tool, '{"item": "lamp", "size": "xl"}') == {"tool.enum"}
    assert codes(tool, '{"item": "lamp", "colour": "red"}') == {"tool.surplus_argument"}


def test_a_method_has_no_self_and_keywords_stay_open() -> None:
    class Shop:
        def sell(self, item: str, **extra: str) -> None: ...

    tool = tool_from_function(Shop().sell)
    assert codes(tool, '{"item": "lamp", "gift": "yes"}') == set()


def test_what_cannot_be_called_by_name_is_refused() -> None:
    def first(item: str, /) -> None: ...

    with pytest.raises(InputError, match="names of its arguments"):
        tool_from_function(first)


def test_type_names_of_other_dialects_are_understood() -> None:
    made = standard_schema({"type": "OBJECT", "properties": {"type": {"type": "float"}, "l": {"type": "tuple"}}})
    assert made == {"type": "object", "properties": {"type": {"type": "number"}, "l": {"type": "array"}}}


def test_the_data_of_a_schema_is_left_alone() -> None:
    schema = {"enum": [{"type": "dict"}], "default": {"type": "dict"}}
    assert standard_schema(schema) == schema


def test_a_schema_without_end_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"items": deep}
    assert codes(ToolDeclaration(name="t", parameters=deep), "{}") == {"tool.schema_unusable"}
