"""Tool declarations as the chat formats write them."""

from typing import Any

from assay.schema.run.model import Executor, Step, ToolDeclaration
from assay.schema.traces.content import opaque
from assay.schema.traces.fields import Fields, merged, numbered

SCHEMA_FIELDS = ("parameters", "input_schema", "inputSchema")
"""The names of the arguments' schema: OpenAI and OpenTelemetry, Anthropic, MCP."""


def read_tools(tools: list[Any], place: str, *, executor: Executor = Executor.CLIENT) -> list[Step]:
    """Reads an array of declarations; a namespace becomes its members."""
    found: list[Step] = []
    for where, tool in numbered(tools, place):
        if not isinstance(tool, dict):
            found.append(opaque(tool, where))
        elif tool.get("type") == "namespace" and isinstance(tool.get("tools"), list):
            found += _read_namespace(tool, where, executor)
        else:
            found.append(read_tool(tool, where, executor=executor))
    return found


def read_tool(
    tool: dict[str, Any], place: str, *, executor: Executor = Executor.CLIENT, namespace: str | None = None
) -> ToolDeclaration:
    """Reads one declaration: flat, or nested under the name of its type as in OpenAI chat messages."""
    outer = Fields(tool, place)
    kind = outer.text("type")
    nested = outer.object(kind) if kind in ("function", "custom") else outer.object("function")
    fields = outer if nested is None else Fields(nested, f"{place}/{kind if kind == 'custom' else 'function'}")
    schema = next((key for key in SCHEMA_FIELDS if key in fields), "parameters")
    provided = kind not in (None, "function", "custom") and not any(key in fields for key in SCHEMA_FIELDS)
    label = fields.text("server_label") if kind == "mcp" else None
    name = fields.text("name") or label or kind or ""
    if not name:
        fields.fault("declaration.no_name", "a tool is declared without a name")
    values: dict[str, Any] = {
        "name": name,
        "type": _type_of(kind, fields, schema),
        "description": fields.text("description"),
        "parameters": _schema(fields, schema),
        "output_schema": _schema(fields, "output_schema" if "output_schema" in fields else "outputSchema"),
        "strict": fields.boolean("strict"),
        "namespace": namespace or label,
        "executor": Executor.PROVIDER if provided and not _runs_at_client(kind) else executor,
    }
    rest = fields.rest() if fields is outer else merged(outer, fields, fields.place.rpartition("/")[2])
    faults = tuple(outer.faults if fields is outer else (*outer.faults, *fields.faults))
    return ToolDeclaration(**values, place=place, faults=faults, extra=rest)


def _read_namespace(tool: dict[str, Any], place: str, executor: Executor) -> list[Step]:
    fields = Fields(tool, place)
    fields.drop("type", "namespace")
    name = fields.text("name")
    members = numbered(fields.items("tools") or [], fields.at("tools"))
    found: list[Step] = [
        read_tool(member, where, executor=executor, namespace=name)
        if isinstance(member, dict)
        else opaque(member, where)
        for where, member in members
    ]
    if not found or not isinstance(found[0], ToolDeclaration):
        return [opaque(tool, place, known=True)]
    # The description of the group stands with its first member.
    extra = {**found[0].extra, "namespace": fields.rest()} if fields.rest() else found[0].extra
    return [found[0].model_copy(update={"extra": extra}), *found[1:]]


def _type_of(kind: str | None, fields: Fields, schema: str) -> str:
    """Anthropic calls tools with a schema `custom`; OpenAI gives that name to tools that take free text."""
    if kind is None or (kind == "custom" and schema in ("input_schema", "inputSchema") and schema in fields):
        return "function"
    return kind


def _schema(fields: Fields, key: str) -> dict[str, Any] | None:
    return fields.object(key)


def _runs_at_client(kind: str | None) -> bool:
    """The tools that a provider defines and the agent's own program executes."""
    starts = ("bash_", "text_editor_", "computer_", "browser_", "memory_")
    return kind is not None and (kind in ("local_shell", "shell", "apply_patch", "computer") or kind.startswith(starts))
