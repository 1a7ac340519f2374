"""Checks a structured output against its JSON Schema (docs/concepts.md#structured-output): the structural
hallucinations.

It checks required and additional fields, types, enumerations, patterns, ranges and formats, in every draft of JSON
Schema, and faults that a schema cannot express: text that is not JSON, duplicate keys, numbers that cannot be
represented, and excessive nesting. Every violation has its JSON Pointer, its span in the output, the expected value and
the actual one.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import jsonschema_rs

from assay.errors import InputError
from assay.schema import Issue, Span
from assay.verify.documents.json_text import (
    Finding,
    JsonTextError,
    Parsed,
    Path,
    Place,
    find_places,
    find_suspects,
    parse,
    pointer,
)

MOST_ISSUES: Final = 200
"""The most violations that are listed; a further issue reports that there are more."""

DRAFTS: Final[Mapping[str, Callable[..., jsonschema_rs.Validator]]] = {
    "draft4": jsonschema_rs.Draft4Validator,
    "draft6": jsonschema_rs.Draft6Validator,
    "draft7": jsonschema_rs.Draft7Validator,
    "draft2019-09": jsonschema_rs.Draft201909Validator,
    "draft2020-12": jsonschema_rs.Draft202012Validator,
}
"""The supported drafts of JSON Schema, by name."""

_NEWEST_FIRST: Final[tuple[Callable[..., jsonschema_rs.Validator], ...]] = (
    jsonschema_rs.validator_for,
    jsonschema_rs.Draft7Validator,
    jsonschema_rs.Draft4Validator,
)
_CODES: Final = {
    "required": "required",
    "type": "type",
    "enum": "enum",
    "const": "enum",
    "pattern": "pattern",
    "maximum": "range",
    "minimum": "range",
    "exclusiveMaximum": "range",
    "exclusiveMinimum": "range",
    "multipleOf": "range",
    "maxLength": "range",
    "minLength": "range",
    "maxItems": "range",
    "minItems": "range",
    "maxProperties": "range",
    "minProperties": "range",
    "contains": "range",
    "uniqueItems": "unique",
    "additionalProperties": "additional",
    "unevaluatedProperties": "additional",
    "additionalItems": "additional",
    "unevaluatedItems": "additional",
    "falseSchema": "additional",
    "format": "format",
    "contentEncoding": "format",
    "contentMediaType": "format",
    "fromUtf8": "format",
    "propertyNames": "name",
    "anyOf": "choice",
    "oneOfNotValid": "choice",
    "oneOfMultipleValid": "choice",
    "oneOf": "choice",
    "not": "forbidden",
    "backtrackLimitExceeded": "unchecked",
    "regexEngineFailure": "unchecked",
    "referencing": "unchecked",
}
_LIMITS: Final = {
    "maximum": "at most {}",
    "minimum": "at least {}",
    "exclusiveMaximum": "less than {}",
    "exclusiveMinimum": "more than {}",
    "multipleOf": "a multiple of {}",
    "maxLength": "at most {} characters",
    "minLength": "at least {} characters",
    "maxItems": "at most {} items",
    "minItems": "at least {} items",
    "maxProperties": "at most {} fields",
    "minProperties": "at least {} fields",
}
_TYPES: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}

_MORE: Final = Issue(
    code="structure.more",
    message=f"Only the first {MOST_ISSUES} violations of the schema are listed; there are more.",
    path="",
)


def check_structure(output: str, schema: Mapping[str, Any] | bool) -> list[Issue]:
    """The violations of a schema by an output; empty where it conforms.

    The output is JSON as a whole, or contains it in exactly one fenced block. Formats are checked. References are
    followed inside the schema only; nothing is fetched.

    Raises:
        InputError: the schema itself is broken.

    >>> [issue] = check_structure('{"n": "three"}', {"properties": {"n": {"type": "integer"}}})
    >>> issue.code, issue.path, issue.message
    ('structure.type', '/n', 'Expected a whole number at /n, got the text "three".')
    >>> '{"n": "three"}'[issue.span.start : issue.span.end]
    '"three"'
    """
    validator = compile_schema(schema)
    try:
        parsed = parse(output)
    except JsonTextError as error:
        return [_unreadable_issue(output, error)]
    return check_parsed(parsed, validator)


def check_parsed(parsed: Parsed, validator: jsonschema_rs.Validator) -> list[Issue]:
    """The violations of a compiled schema by parsed JSON."""
    issues = [_suspect_issue(finding) for finding in find_suspects(parsed)] if parsed.suspect else []
    violations, more = _find_violations(parsed.value, validator)
    place_of = find_places(parsed, {path for path, _, _ in violations}) if violations else {}
    issues.extend(_issue(path, code, message, place_of.get(path)) for path, code, message in violations)
    if more or len(issues) > MOST_ISSUES:
        issues = [*issues[:MOST_ISSUES], _MORE.model_copy(update={"span": _whole_span(parsed)})]
    return issues


def check_value(value: object, validator: jsonschema_rs.Validator) -> list[Issue]:
    """The violations of a compiled schema by a value, with their paths and without spans."""
    violations, more = _find_violations(value, validator)
    issues = [_issue(path, code, message, None) for path, code, message in violations]
    return [*issues, _MORE] if more else issues


def _find_violations(value: object, validator: jsonschema_rs.Validator) -> tuple[list[tuple[Path, str, str]], bool]:
    """The violations as path, code and message, and whether there are more than are listed."""
    try:
        errors = list(islice(validator.iter_errors(value), MOST_ISSUES + 1))
    except (ValueError, TypeError) as error:
        return [((), "unchecked", f"The output could not be checked against its schema: {error}.")], False
    return [item for error in errors[:MOST_ISSUES] for item in _violations(error)], len(errors) > MOST_ISSUES


def compile_schema(schema: object, draft: str | None = None, *, formats: bool = True) -> jsonschema_rs.Validator:
    """The compiled schema. One that names no draft is read as the newest draft under which it is valid.

    `draft` is one of `DRAFTS`, for a schema that names none; `formats` is whether formats are checked. References are
    followed inside the schema, and to the published drafts themselves; nothing is fetched.

    Raises:
        InputError: the schema is broken, or refers to a document that it does not contain.
    """
    if not isinstance(schema, Mapping | bool):
        raise InputError(f"a JSON Schema must be a mapping or a bool, got {type(schema).__name__}")
    plain = schema if isinstance(schema, bool) else dict(schema)
    if draft is not None and draft not in DRAFTS:
        raise InputError(f"a draft of JSON Schema is one of {', '.join(DRAFTS)}, got {draft!r}")
    names_draft = isinstance(plain, dict) and "$schema" in plain
    candidates = (DRAFTS[draft],) if draft and not names_draft else _NEWEST_FIRST
    first_error: ValueError | TypeError | None = None
    for candidate in candidates:
        try:
            return candidate(plain, validate_formats=formats, offline=True)
        except (ValueError, TypeError) as error:
            first_error = first_error or error
        if names_draft:
            break
    if isinstance(first_error, jsonschema_rs.ValidationError):
        place = pointer(tuple(first_error.instance_path))
        raise InputError(f"the JSON Schema is broken{f' at {place}' if place else ''}: {first_error.message}") from None
    raise InputError(f"the JSON Schema cannot be read: {first_error}") from None


def _unreadable_issue(output: str, error: JsonTextError) -> Issue:
    at = min(error.at, len(output))
    span = Span(start=at, end=min(at + 1, len(output)))
    line = output.count("\n", 0, at) + 1
    column = at - (output.rfind("\n", 0, at) + 1) + 1
    detail = f"{error} at line {line}, column {column}."
    if error.code == "structure.not_json" and not output.strip():
        detail = "it is empty."
    return Issue(code=error.code, message=f"The output is not JSON that can be read: {detail}", span=span, path="")


def _suspect_issue(finding: Finding) -> Issue:
    path = pointer(finding.path)
    if finding.code == "structure.duplicate_key":
        start = finding.place.key_start if finding.place.key_start is not None else finding.place.start
        message = f"The field {_quote(finding.detail)} comes twice at {path}; readers keep only one of them."
        return Issue(code=finding.code, message=message, span=Span(start=start, end=finding.place.end), path=path)
    message = (
        f"The number {_quote(finding.detail, quoted=False)} at {path or 'the top'} is too large to be read exactly."
    )
    return Issue(code=finding.code, message=message, span=_span(finding.place), path=path)


def _violations(error: jsonschema_rs.ValidationError) -> Iterator[tuple[Path, str, str]]:
    """The path, the code and the message of one error; every unexpected field is a violation of its own."""
    path: Path = tuple(error.instance_path)
    details: dict[str, Any] = error.kind.as_dict()
    name = error.kind.name
    code = _CODES.get(name, "schema")
    if name in ("additionalProperties", "unevaluatedProperties"):
        for field in details.get("unexpected") or ():
            inner = (*path, str(field))
            yield inner, code, f"The field {_quote(field)} at {pointer(inner)} is not allowed."
        return
    yield path, code, f"{_sentence(name, details, error, path)}."


def _sentence(name: str, details: Mapping[str, Any], error: jsonschema_rs.ValidationError, path: Path) -> str:
    where = f"at {pointer(path)}" if path else "at the top"
    actual = _describe(error.instance)
    if name == "required":
        return f"The field {_quote(details.get('property'))} is missing {where}"
    if name == "type":
        types = " or ".join(_TYPES.get(kind, str(kind)) for kind in sorted(details.get("types") or ()))
        return f"Expected {types} {where}, got {actual}"
    if name in ("enum", "const"):
        options = details.get("options") if name == "enum" else [details.get("expected_value")]
        return f"Expected {_one_of(options)} {where}, got {actual}"
    if name == "pattern":
        return f"Expected a text of the pattern {_quote(details.get('pattern'))} {where}, got {actual}"
    if name in _LIMITS:
        limit = details.get("limit", details.get("multiple_of"))
        return f"Expected {_LIMITS[name].format(limit)} {where}, got {_measure(name, error.instance, actual)}"
    if name in ("format", "contentEncoding", "contentMediaType"):
        form = details.get("format") or details.get("content_encoding") or details.get("content_media_type")
        return f"Expected the format {form} {where}, got {actual}"
    if name == "uniqueItems":
        return f"Expected items that differ {where}, got a list with equal ones"
    if name == "falseSchema":
        return f"Nothing may stand {where}, got {actual}"
    if name in ("anyOf", "oneOfNotValid", "oneOfMultipleValid", "oneOf"):
        count = "more than one" if "more than one" in error.message else "none"
        return f"Expected one of the forms that the schema allows {where}, got {actual}, which fits {count}"
    if _CODES.get(name) == "unchecked":
        return f"What stands {where} could not be checked: {error.message}"
    return f"{error.message[:300]} ({where})"


def _one_of(options: object) -> str:
    values = list(options) if isinstance(options, Sequence) and not isinstance(options, str) else [options]
    shown = ", ".join(_quote(value) for value in values[:12])
    rest = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return f"one of {shown}{rest}" if len(values) != 1 else shown


def _describe(value: object) -> str:
    """A value with its type, in words."""
    if isinstance(value, str):
        return f"the text {_quote(value)}"
    if value is None or isinstance(value, bool):
        return _quote(value)
    if isinstance(value, int | float):
        return f"the number {_quote(value)}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"an object of {len(value)} fields" if isinstance(value, dict) else type(value).__name__


def _measure(name: str, value: object, got: str) -> str:
    if isinstance(value, str) and name in ("maxLength", "minLength"):
        return f"{len(value)}"
    return f"{len(value)}" if isinstance(value, list | dict) else got


def _quote(value: object, *, quoted: bool = True) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str) if quoted else str(value)
    except ValueError:  # a whole number too long to be written
        text = "a number"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _issue(path: Path, code: str, message: str, place: Place | None) -> Issue:
    return Issue(code=f"structure.{code}", message=message, span=_span(place) if place else None, path=pointer(path))


def _span(place: Place) -> Span:
    return Span(start=place.start, end=place.end)


def _whole_span(parsed: Parsed) -> Span:
    return Span(start=parsed.start, end=parsed.start + len(parsed.text))
