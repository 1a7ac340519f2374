"""Checks a structured output against its JSON Schema (docs/concepts.md#structured-output): the structural
hallucinations.

Required and additional fields, types, enumerations, patterns, ranges and formats, of every draft of JSON Schema; and
what a schema does not see: text that is no JSON, keys that come twice, numbers that no reader holds, nesting without
end. Every violation names its JSON Pointer, its place in the output, what was expected and what came.
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
    parse,
    places,
    pointer,
    suspects,
)

MOST_ISSUES: Final = 200
"""The most violations that are listed; one more issue says that there are others."""

DRAFTS: Final[Mapping[str, Callable[..., jsonschema_rs.Validator]]] = {
    "draft4": jsonschema_rs.Draft4Validator,
    "draft6": jsonschema_rs.Draft6Validator,
    "draft7": jsonschema_rs.Draft7Validator,
    "draft2019-09": jsonschema_rs.Draft201909Validator,
    "draft2020-12": jsonschema_rs.Draft202012Validator,
}
"""The drafts of JSON Schema that are read, by name."""

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
    """Every way in which an output breaks its schema; empty where it keeps to it.

    The output is JSON as a whole, or holds it in exactly one fenced block. Formats are checked. References are
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
        return [_unreadable(output, error)]
    return check_parsed(parsed, validator)


def check_parsed(parsed: Parsed, validator: jsonschema_rs.Validator) -> list[Issue]:
    """Every way in which JSON that was read already breaks a schema that was compiled already."""
    issues = [_suspicious(finding) for finding in suspects(parsed)] if parsed.suspect else []
    found, more = _found(parsed.value, validator)
    where = places(parsed, {path for path, _, _ in found}) if found else {}
    issues.extend(_issue(path, code, message, where.get(path)) for path, code, message in found)
    if more or len(issues) > MOST_ISSUES:
        issues = [*issues[:MOST_ISSUES], _MORE.model_copy(update={"span": _whole(parsed)})]
    return issues


def check_value(value: object, validator: jsonschema_rs.Validator) -> list[Issue]:
    """Every way in which a value breaks a schema that was compiled already; each with its path, none with a span."""
    found, more = _found(value, validator)
    issues = [_issue(path, code, message, None) for path, code, message in found]
    return [*issues, _MORE] if more else issues


def _found(value: object, validator: jsonschema_rs.Validator) -> tuple[list[tuple[Path, str, str]], bool]:
    """The violations as path, code and sentence, and whether there are more than are listed."""
    try:
        errors = list(islice(validator.iter_errors(value), MOST_ISSUES + 1))
    except (ValueError, TypeError) as error:
        return [((), "unchecked", f"The output could not be checked against its schema: {error}.")], False
    return [item for error in errors[:MOST_ISSUES] for item in _violations(error)], len(errors) > MOST_ISSUES


def compile_schema(schema: object, draft: str | None = None, *, formats: bool = True) -> jsonschema_rs.Validator:
    """The compiled schema. One that names no draft is read as the newest that it is valid under.

    `draft` is one of `DRAFTS`, for a schema that does not say it itself; `formats` says whether formats are checked
    rather than noted. References are followed inside the schema, and to the published drafts themselves; nothing is
    fetched.

    Raises:
        InputError: the schema is broken, or refers to a document that it does not hold.
    """
    if not isinstance(schema, Mapping | bool):
        raise InputError(f"a JSON Schema must be a mapping or a bool, got {type(schema).__name__}")
    plain = schema if isinstance(schema, bool) else dict(schema)
    if draft is not None and draft not in DRAFTS:
        raise InputError(f"a draft of JSON Schema is one of {', '.join(DRAFTS)}, got {draft!r}")
    named = isinstance(plain, dict) and "$schema" in plain
    candidates = (DRAFTS[draft],) if draft and not named else _NEWEST_FIRST
    first: ValueError | TypeError | None = None
    for candidate in candidates:
        try:
            return candidate(plain, validate_formats=formats, offline=True)
        except (ValueError, TypeError) as error:
            first = first or error
        if named:
            break
    if isinstance(first, jsonschema_rs.ValidationError):
        place = pointer(tuple(first.instance_path))
        raise InputError(f"the JSON Schema is broken{f' at {place}' if place else ''}: {first.message}") from None
    raise InputError(f"the JSON Schema cannot be read: {first}") from None


def _unreadable(output: str, error: JsonTextError) -> Issue:
    at = min(error.at, len(output))
    span = Span(start=at, end=min(at + 1, len(output)))
    line = output.count("\n", 0, at) + 1
    column = at - (output.rfind("\n", 0, at) + 1) + 1
    detail = f"{error} at line {line}, column {column}."
    if error.code == "structure.not_json" and not output.strip():
        detail = "it is empty."
    return Issue(code=error.code, message=f"The output is not JSON that can be read: {detail}", span=span, path="")


def _suspicious(finding: Finding) -> Issue:
    path = pointer(finding.path)
    if finding.code == "structure.duplicate_key":
        start = finding.place.key_start if finding.place.key_start is not None else finding.place.start
        message = f"The field {_shown(finding.detail)} comes twice at {path}; readers keep only one of them."
        return Issue(code=finding.code, message=message, span=Span(start=start, end=finding.place.end), path=path)
    message = (
        f"The number {_shown(finding.detail, quoted=False)} at {path or 'the top'} is too large to be read exactly."
    )
    return Issue(code=finding.code, message=message, span=_span(finding.place), path=path)


def _violations(error: jsonschema_rs.ValidationError) -> Iterator[tuple[Path, str, str]]:
    """The path, the code and the sentence of one error; every unexpected field is a violation of its own."""
    path: Path = tuple(error.instance_path)
    details: dict[str, Any] = error.kind.as_dict()
    name = error.kind.name
    code = _CODES.get(name, "schema")
    if name in ("additionalProperties", "unevaluatedProperties"):
        for field in details.get("unexpected") or ():
            inner = (*path, str(field))
            yield inner, code, f"The field {_shown(field)} at {pointer(inner)} is not allowed."
        return
    yield path, code, f"{_sentence(name, details, error, path)}."


def _sentence(name: str, details: Mapping[str, Any], error: jsonschema_rs.ValidationError, path: Path) -> str:
    where = f"at {pointer(path)}" if path else "at the top"
    got = _described(error.instance)
    if name == "required":
        return f"The field {_shown(details.get('property'))} is missing {where}"
    if name == "type":
        wanted = " or ".join(_TYPES.get(kind, str(kind)) for kind in sorted(details.get("types") or ()))
        return f"Expected {wanted} {where}, got {got}"
    if name in ("enum", "const"):
        options = details.get("options") if name == "enum" else [details.get("expected_value")]
        return f"Expected {_either(options)} {where}, got {got}"
    if name == "pattern":
        return f"Expected a text of the pattern {_shown(details.get('pattern'))} {where}, got {got}"
    if name in _LIMITS:
        limit = details.get("limit", details.get("multiple_of"))
        return f"Expected {_LIMITS[name].format(limit)} {where}, got {_measured(name, error.instance, got)}"
    if name in ("format", "contentEncoding", "contentMediaType"):
        form = details.get("format") or details.get("content_encoding") or details.get("content_media_type")
        return f"Expected the format {form} {where}, got {got}"
    if name == "uniqueItems":
        return f"Expected items that differ {where}, got a list with equal ones"
    if name == "falseSchema":
        return f"Nothing may stand {where}, got {got}"
    if name in ("anyOf", "oneOfNotValid", "oneOfMultipleValid", "oneOf"):
        count = "more than one" if "more than one" in error.message else "none"
        return f"Expected one of the forms that the schema allows {where}, got {got}, which fits {count}"
    if _CODES.get(name) == "unchecked":
        return f"What stands {where} could not be checked: {error.message}"
    return f"{error.message[:300]} ({where})"


def _either(options: object) -> str:
    values = list(options) if isinstance(options, Sequence) and not isinstance(options, str) else [options]
    shown = ", ".join(_shown(value) for value in values[:12])
    rest = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return f"one of {shown}{rest}" if len(values) != 1 else shown


def _described(value: object) -> str:
    """A value in words, with its type."""
    if isinstance(value, str):
        return f"the text {_shown(value)}"
    if value is None or isinstance(value, bool):
        return _shown(value)
    if isinstance(value, int | float):
        return f"the number {_shown(value)}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"an object of {len(value)} fields" if isinstance(value, dict) else type(value).__name__


def _measured(name: str, value: object, got: str) -> str:
    if isinstance(value, str) and name in ("maxLength", "minLength"):
        return f"{len(value)}"
    return f"{len(value)}" if isinstance(value, list | dict) else got


def _shown(value: object, *, quoted: bool = True) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str) if quoted else str(value)
    except ValueError:  # a whole number too long to be written
        text = "a number"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _issue(path: Path, code: str, message: str, place: Place | None) -> Issue:
    return Issue(code=f"structure.{code}", message=message, span=_span(place) if place else None, path=pointer(path))


def _span(place: Place) -> Span:
    return Span(start=place.start, end=place.end)


def _whole(parsed: Parsed) -> Span:
    return Span(start=parsed.start, end=parsed.start + len(parsed.text))
