"""Checks one tool call before it is executed (docs/concepts.md#agent-runs).

1. The tool is declared. 2. The arguments can be read. 3. They keep to the declared schema, and name nothing that it
does not. 4. Each entity in them comes from somewhere.

A call is accepted when all four hold and rejected when one does not; where one could not be checked (a schema that is
broken or refers to a document that it does not hold, a declaration that is missing) the call is unchecked, which is
never a pass. Nothing is executed, fetched or remembered here.
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
from assay.verify.tools.tracing.argument_entities import properties_of
from assay.verify.tools.tracing.arguments import Traced, trace_arguments
from assay.verify.tools.tracing.sources import Sources
from assay.verify.tools.tracing_rules import Rules, ToolRule

_SHARED_CACHE: Final = ValidatorCache()
_LIKE: Final = 65.0
"""The least likeness, of 100, at which a name is offered in place of another."""

_CODES: Final = {"structure.required": "tool.missing_argument", "structure.additional": "tool.surplus_argument"}
_OPEN: Final = ("patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "unevaluatedProperties")
"""Words of a schema beside which the fields that it names need not be all."""


class CallStatus(StrEnum):
    """What the checks make of a call."""

    ACCEPTED = "accepted"
    """Every check passed: it may be executed."""
    REJECTED = "rejected"
    """A check found something wrong: it goes back to the model."""
    UNCHECKED = "unchecked"
    """A check could not be made; never a pass."""


@dataclass(frozen=True, slots=True)
class CallCheck:
    """What was found of one tool call."""

    tool: str
    arguments: dict[str, Any] | str
    """The arguments as they were read, or the text as it came where it could not be read or is no JSON by design."""
    status: CallStatus
    issues: tuple[Issue, ...] = ()
    """What is wrong, each with the JSON Pointer of the argument."""
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
        """The finding as the report carries it."""
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
    """The tools that a model may call, by name, with their schemas in standard words."""

    def __init__(self, declarations: Iterable[ToolDeclaration], cache: ValidatorCache | None = None) -> None:
        """A later declaration of a name replaces an earlier one; `cache` holds the compiled validators."""
        self.declarations = {declaration.name: declaration for declaration in declarations}
        self._cache = cache if cache is not None else _SHARED_CACHE
        self._schemas: dict[str, dict[str, Any] | InputError | None] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.declarations

    def schema(self, name: str) -> dict[str, Any] | None:
        """The schema of a tool's arguments; none where the declaration does not say.

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
        """Every way in which arguments break the tool's schema; empty where it says nothing.

        Raises:
            InputError: the schema cannot be read, or refers to a document that it does not hold.
        """
        schema = self.schema(name)
        if schema is None:
            return []
        return check_value(dict(arguments), self._cache.get(schema))

    def nearest(self, name: str) -> str | None:
        """The declared name that is most like an undeclared one; none where none is like it."""
        return nearest(name, self.declarations)


def _schema(declaration: ToolDeclaration) -> dict[str, Any] | InputError | None:
    if declaration.parameters is None:
        if declaration.faults:
            return InputError(declaration.faults[0].message)
        return {"type": "object", "properties": {}} if declaration.type == "function" else None
    try:
        made = standard_schema(declaration.parameters)
    except (InputError, RecursionError) as error:
        return InputError(str(error))
    return made if isinstance(made, dict) else InputError("the parameters are no JSON Schema")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name most like another; none where none is like it.

    >>> nearest("get_wether", ["get_weather", "send_mail"])
    'get_weather'
    """
    found = process.extractOne(name[:200], [n for n in names if len(n) <= 200], scorer=fuzz.WRatio, score_cutoff=_LIKE)
    return found[0] if found else None


def check_call(call: ToolCall, tools: Toolbox, sources: Sources, rules: Rules | None = None) -> CallCheck:
    """Checks one call against the declarations and against what the run has seen so far.

    `sources` must hold only what came before the call.

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
    rule = (rules or Rules()).of(call.name)
    kept = call.arguments.value if call.arguments.value is not None else (call.arguments.verbatim or "")
    if call.name not in tools:
        issue = Issue(code="tool.unknown", message=_unknown(call.name, tools), path="")
        return CallCheck(call.name, kept, CallStatus.REJECTED, (issue,), call_id=call.id)
    try:
        schema = tools.schema(call.name)
        value = _read(call.arguments, schema)
        if value is None:
            return _unreadable(call, kept, schema)
        found = [] if isinstance(value, str) else _violations(call.name, value, tools, rule, schema)
    except InputError as error:
        message = f"The declared schema of {as_quote(call.name)} cannot be used: {error}."
        issue = Issue(code="tool.schema_unusable", message=message, path="")
        return CallCheck(call.name, kept, CallStatus.UNCHECKED, (issue,), call_id=call.id)
    description = tools.declarations[call.name].description or ""
    named = {"": value} if isinstance(value, str) else value
    traced = trace_arguments(call.name, named, sources, rule, schema, description)
    return _checked(call, value, found, traced, schema)


def _checked(
    call: ToolCall, value: dict[str, Any] | str, found: list[Issue], traced: Traced, schema: dict[str, Any] | None
) -> CallCheck:
    wrong = {issue.path for issue in found}
    # What the schema refuses already needs no second reason.
    issues = (*found, *(issue for issue in traced.issues if issue.path not in wrong))
    status = CallStatus.REJECTED if issues else CallStatus.ACCEPTED
    if any(issue.code == "tool.unchecked" for issue in issues):
        status = CallStatus.UNCHECKED
    return CallCheck(call.name, value, status, issues, traced.provenance, schema, call.id)


def _read(arguments: Arguments, schema: Mapping[str, Any] | None) -> dict[str, Any] | str | None:
    """The arguments to check; none where they cannot be read. No text at all is read as no arguments, for a tool that
    needs none: this is how some models call one."""
    if arguments.form is ArgumentsForm.TEXT:
        return arguments.verbatim or ""
    empty = [fault.code for fault in arguments.faults] == ["arguments.empty"]
    return {} if empty and schema is not None and not schema.get("required") else arguments.value


def _unreadable(call: ToolCall, kept: dict[str, Any] | str, schema: dict[str, Any] | None) -> CallCheck:
    issues = tuple(
        Issue(
            code="tool." + fault.code.partition(".")[2],
            message=f"The arguments of {as_quote(call.name)} cannot be read: {fault.message}.",
            path=fault.place if fault.place is not None else "",
        )
        for fault in call.arguments.faults
    )
    return CallCheck(call.name, kept, CallStatus.REJECTED, issues, expected=schema, call_id=call.id)


def _violations(
    name: str, value: dict[str, Any], tools: Toolbox, rule: ToolRule, schema: dict[str, Any] | None
) -> list[Issue]:
    issues = [_renamed(issue) for issue in tools.violations(name, value)]
    if schema is None or not rule.closed or _is_open(schema):
        return issues
    known = properties_of(schema, schema)
    said = {issue.path for issue in issues}
    for key in value:
        path = pointer((key,))
        if key not in known and path not in said:
            issues.append(Issue(code="tool.surplus_argument", message=_surplus(key, name, known), path=path))
    return issues


def _renamed(issue: Issue) -> Issue:
    code = _CODES.get(issue.code, "tool." + issue.code.partition(".")[2])
    return issue.model_copy(update={"code": code, "message": issue.message.replace("The field", "The argument")})


def _is_open(schema: Mapping[str, Any]) -> bool:
    return "properties" not in schema or "additionalProperties" in schema or any(word in schema for word in _OPEN)


def _surplus(key: str, tool: str, known: Iterable[str]) -> str:
    names = sorted(known)
    like = nearest(key, names)
    hint = f"; did you mean {as_quote(like)}?" if like else ""
    offered = ", ".join(as_quote(name) for name in names[:20]) or "none"
    return f"{as_quote(tool)} has no argument {as_quote(key)}{hint} (its arguments: {offered})"


def _unknown(name: str, tools: Toolbox) -> str:
    like = tools.nearest(name)
    hint = f" Did you mean {as_quote(like)}?" if like else ""
    offered = ", ".join(as_quote(known) for known in sorted(tools.declarations)[:30]) or "none"
    return f"There is no tool {as_quote(name)}.{hint} The declared tools are: {offered}."
