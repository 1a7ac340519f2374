"""Checks one tool call before it is executed (docs/concepts.md#agent-runs).

1. The tool is declared. 2. The arguments can be parsed. 3. They conform to the declared schema and have no undeclared
names. 4. Each entity in them can be traced to a source.

A call is accepted if all four hold and rejected if one does not. Where one could not be checked (a schema that is
broken or refers to a document that it does not contain) the call is unchecked, which is never a pass. Nothing is
executed, fetched or stored here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from rapidfuzz import fuzz, process

from assay.errors import InputError
from assay.schema import Issue, ToolCallValidation
from assay.schema.report_parts import ArgumentProvenance
from assay.schema.run import Arguments, ArgumentsForm, ToolCall, ToolDeclaration
from assay.verify.documents.json_schema import check_value
from assay.verify.documents.json_text import pointer
from assay.verify.tools.declarations import standard_schema
from assay.verify.tools.quoting import as_quote
from assay.verify.tools.schema_validators import ValidatorCache
from assay.verify.tools.tracing.argument_entities import declared_properties
from assay.verify.tools.tracing.arguments import ArgumentTrace, trace_arguments
from assay.verify.tools.tracing.sources import Sources
from assay.verify.tools.tracing_rules import Rules, ToolRule

_SHARED_CACHE: Final = ValidatorCache()
_LEAST_SIMILARITY: Final = 65.0
"""The least similarity, of 100, of a name that is suggested in place of another."""

_CODES: Final = {"structure.required": "tool.missing_argument", "structure.additional": "tool.surplus_argument"}
_OPEN_KEYWORDS: Final = (
    "patternProperties",
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "unevaluatedProperties",
)
"""Keywords of a schema with which it may have more fields than its `properties` name."""


class CallStatus(StrEnum):
    """The outcome of the checks of a call."""

    ACCEPTED = "accepted"
    """Every check passed: it may be executed."""
    REJECTED = "rejected"
    """A check failed: it goes back to the model."""
    UNCHECKED = "unchecked"
    """A check could not be made; never a pass."""


@dataclass(frozen=True, slots=True)
class CallCheck:
    """The result of the checks of one tool call."""

    tool: str
    arguments: dict[str, Any] | str
    """The parsed arguments, or their text where it cannot be parsed or is not JSON by design."""
    status: CallStatus
    issues: tuple[Issue, ...] = ()
    """The problems, each with the JSON Pointer of the argument."""
    provenance: tuple[ArgumentProvenance, ...] = ()
    """Where each entity of the arguments comes from."""
    expected: Mapping[str, Any] | None = None
    """The schema that the arguments were checked against."""
    call_id: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether the call may be executed."""
        return self.status is CallStatus.ACCEPTED

    def validation(self) -> ToolCallValidation:
        """The result in the form of the report."""
        args = self.arguments if isinstance(self.arguments, dict) else {}
        return ToolCallValidation(
            tool=self.tool,
            args=args,
            status=self.status.value,
            errors=tuple(issue.message for issue in self.issues),
            issues=self.issues,
            provenance=self.provenance,
            call_id=self.call_id,
        )


class Toolbox:
    """The tools that a model may call, by name, with their schemas as standard JSON Schema."""

    def __init__(self, declarations: Iterable[ToolDeclaration], cache: ValidatorCache | None = None) -> None:
        """A later declaration of a name replaces an earlier one; `cache` holds the compiled validators."""
        self.declarations = {declaration.name: declaration for declaration in declarations}
        self._cache = cache if cache is not None else _SHARED_CACHE
        self._schemas: dict[str, dict[str, Any] | InputError | None] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.declarations

    def schema(self, name: str) -> dict[str, Any] | None:
        """The schema of a tool's arguments; none where the declaration has none.

        Raises:
            InputError: the schema cannot be read.
        """
        if name not in self._schemas:
            self._schemas[name] = _schema(self.declarations[name])
        found = self._schemas[name]
        if isinstance(found, InputError):
            raise InputError(str(found))
        return found

    def violations(self, name: str, arguments: Mapping[str, Any]) -> list[Issue]:
        """The violations of the tool's schema by arguments; empty for a tool without a schema.

        Raises:
            InputError: the schema cannot be read, or refers to a document that it does not contain.
        """
        schema = self.schema(name)
        if schema is None:
            return []
        return check_value(dict(arguments), self._cache.get(schema))

    def nearest(self, name: str) -> str | None:
        """The declared name that is most similar to an undeclared one; none where none is similar."""
        return nearest(name, self.declarations)


def _schema(declaration: ToolDeclaration) -> dict[str, Any] | InputError | None:
    if declaration.parameters is None:
        if declaration.faults:
            return InputError(declaration.faults[0].message)
        return {"type": "object", "properties": {}} if declaration.type == "function" else None
    try:
        schema = standard_schema(declaration.parameters)
    except (InputError, RecursionError) as error:
        return InputError(str(error))
    return schema if isinstance(schema, dict) else InputError("the parameters are no JSON Schema")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most similar to another; none where none is similar.

    >>> nearest("get_wether", ["get_weather", "send_mail"])
    'get_weather'
    """
    found = process.extractOne(
        name[:200], [n for n in names if len(n) <= 200], scorer=fuzz.WRatio, score_cutoff=_LEAST_SIMILARITY
    )
    return found[0] if found else None


def check_call(call: ToolCall, tools: Toolbox, sources: Sources, rules: Rules | None = None) -> CallCheck:
    """Check one call against the declarations and against the sources of the run so far.

    `sources` must contain only what came before the call.

    >>> from assay.schema.run.arguments import read_arguments
    >>> from assay.schema.report_parts.provenance import SourceKind
    >>> from assay.verify.tools.tracing.sources import SourceText
    >>> schema = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    >>> tools = Toolbox([ToolDeclaration(name="cancel", parameters=schema)])
    >>> seen = Sources([SourceText(SourceKind.USER, "user", "Cancel order W-17, please.")])
    >>> call = ToolCall(name="cancel", arguments=read_arguments('{"order_id": "W-17"}'))
    >>> check_call(call, tools, seen).status.value
    'accepted'
    """
    rule = (rules or Rules()).rule_for(call.name)
    arguments = call.arguments.value if call.arguments.value is not None else (call.arguments.verbatim or "")
    if call.name not in tools:
        issue = Issue(code="tool.unknown", message=_unknown_message(call.name, tools), path="")
        return CallCheck(call.name, arguments, CallStatus.REJECTED, (issue,), call_id=call.id)
    try:
        schema = tools.schema(call.name)
        value = _read_arguments(call.arguments, schema)
        if value is None:
            return _unreadable(call, arguments, schema)
        violations = [] if isinstance(value, str) else _violations(call.name, value, tools, rule, schema)
    except InputError as error:
        message = f"The declared schema of {as_quote(call.name)} cannot be used: {error}."
        issue = Issue(code="tool.schema_unusable", message=message, path="")
        return CallCheck(call.name, arguments, CallStatus.UNCHECKED, (issue,), call_id=call.id)
    description = tools.declarations[call.name].description or ""
    named_values = {"": value} if isinstance(value, str) else value
    traced = trace_arguments(call.name, named_values, sources, rule, schema, description)
    return _result(call, value, violations, traced, schema)


def _result(
    call: ToolCall,
    value: dict[str, Any] | str,
    violations: list[Issue],
    traced: ArgumentTrace,
    schema: dict[str, Any] | None,
) -> CallCheck:
    violated_paths = {issue.path for issue in violations}
    # What the schema refuses already needs no second reason.
    issues = (*violations, *(issue for issue in traced.issues if issue.path not in violated_paths))
    status = CallStatus.REJECTED if issues else CallStatus.ACCEPTED
    if any(issue.code == "tool.unchecked" for issue in issues):
        status = CallStatus.UNCHECKED
    return CallCheck(call.name, value, status, issues, traced.provenance, schema, call.id)


def _read_arguments(arguments: Arguments, schema: Mapping[str, Any] | None) -> dict[str, Any] | str | None:
    """The arguments to check; none where they cannot be parsed.

    An empty text counts as no arguments for a tool that requires none: some models call such a tool like this.
    """
    if arguments.form is ArgumentsForm.TEXT:
        return arguments.verbatim or ""
    empty = [fault.code for fault in arguments.faults] == ["arguments.empty"]
    return {} if empty and schema is not None and not schema.get("required") else arguments.value


def _unreadable(call: ToolCall, arguments: dict[str, Any] | str, schema: dict[str, Any] | None) -> CallCheck:
    issues = tuple(
        Issue(
            code="tool." + fault.code.partition(".")[2],
            message=f"The arguments of {as_quote(call.name)} cannot be read: {fault.message}.",
            path=fault.place if fault.place is not None else "",
        )
        for fault in call.arguments.faults
    )
    return CallCheck(call.name, arguments, CallStatus.REJECTED, issues, expected=schema, call_id=call.id)


def _violations(
    name: str, value: dict[str, Any], tools: Toolbox, rule: ToolRule, schema: dict[str, Any] | None
) -> list[Issue]:
    issues = [_as_tool_issue(issue) for issue in tools.violations(name, value)]
    if schema is None or not rule.closed or _is_open(schema):
        return issues
    known = declared_properties(schema, schema)
    violated_paths = {issue.path for issue in issues}
    for key in value:
        path = pointer((key,))
        if key not in known and path not in violated_paths:
            issues.append(Issue(code="tool.surplus_argument", message=_surplus_message(key, name, known), path=path))
    return issues


def _as_tool_issue(issue: Issue) -> Issue:
    code = _CODES.get(issue.code, "tool." + issue.code.partition(".")[2])
    return issue.model_copy(update={"code": code, "message": issue.message.replace("The field", "The argument")})


def _is_open(schema: Mapping[str, Any]) -> bool:
    return (
        "properties" not in schema or "additionalProperties" in schema or any(word in schema for word in _OPEN_KEYWORDS)
    )


def _surplus_message(key: str, tool: str, known: Iterable[str]) -> str:
    names = sorted(known)
    similar = nearest(key, names)
    hint = f"; did you mean {as_quote(similar)}?" if similar else ""
    listed = ", ".join(as_quote(name) for name in names[:20]) or "none"
    return f"{as_quote(tool)} has no argument {as_quote(key)}{hint} (its arguments: {listed})"


def _unknown_message(name: str, tools: Toolbox) -> str:
    similar = tools.nearest(name)
    hint = f" Did you mean {as_quote(similar)}?" if similar else ""
    listed = ", ".join(as_quote(known) for known in sorted(tools.declarations)[:30]) or "none"
    return f"There is no tool {as_quote(name)}.{hint} The declared tools are: {listed}."
