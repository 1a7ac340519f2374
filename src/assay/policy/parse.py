"""Parses the text of `assay.yaml` into a policy and reports the place of every error.

    version: 1
    policy:
      preset: rag
      emit_threshold: 0.9

or, for an unchanged preset, `policy: rag`. All errors are reported at once, each with its line and column. The text may
be hostile: anchors, aliases, tags and deep nesting are refused.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from assay.errors import PolicyError
from assay.policy.calibration.provenance import BLOCK, Calibration, read_calibration
from assay.policy.model import Policy
from assay.policy.presets import PRESETS, shown, suggestion

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails
    from yaml.nodes import Node

VERSION = 1
"""The version of the file format."""
MAX_CHARACTERS = 100_000
"""The longest text accepted; a policy with all fields and comments has about 3,000 characters."""
OTHERS = ("knowledge", "monitor", "redteam")
"""Parts of the file that do not belong to the policy; each is read by the package of its name through `parse_part`."""
MAX_DEPTH = 20
"""How deeply values may be nested; a policy needs 3 levels."""

Path = tuple[str | int, ...]

_NAMES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "NoneType": "nothing",
    "dict": "a mapping",
    "tuple": "a list",
}


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in the text, counted from 1 as in editors."""

    line: int
    column: int


@dataclass(slots=True)
class _Reading:
    """The state of the parser: the places of keys and values, and the errors found so far."""

    source: str
    keys: dict[Path, _Mark] = field(default_factory=dict)
    values: dict[Path, _Mark] = field(default_factory=dict)
    faults: list[tuple[_Mark, str]] = field(default_factory=list)

    def fault(self, mark: _Mark, message: str) -> None:
        self.faults.append((mark, message))

    def error(self) -> PolicyError:
        ordered = sorted(self.faults, key=lambda fault: (fault[0].line, fault[0].column))
        return PolicyError("\n".join(f"{self.source}:{mark.line}:{mark.column}: {text}" for mark, text in ordered))

    def fail_on_faults(self) -> None:
        if self.faults:
            raise self.error()


def parse_policy(text: str, source: str) -> Policy:
    """The policy that a text in the format of `assay.yaml` describes: a preset with some fields overridden.

    Without `preset` the fields are set on `general`. Without `name` a changed preset is called `<preset>-adjusted`;
    its digest identifies it in any case.

    Args:
        text: the content of the file.
        source: its name in error messages, such as its path.

    Raises:
        PolicyError: the text is not YAML, has an unknown or repeated key, a value of the wrong type or out of range, or
            settings that contradict each other. Each error is a line `source:line:column: expected, got`.

    >>> parse_policy("version: 1\\npolicy: {preset: rag, emit_threshold: 0.9}", "assay.yaml").emit_threshold
    0.9
    >>> parse_policy("version: 1\\npolicy:\\n  emit_treshold: 0.9", "assay.yaml")
    Traceback (most recent call last):
    ...
    assay.errors.PolicyError: assay.yaml:3:3: unknown setting 'emit_treshold'; did you mean 'emit_threshold'?
    """
    reading = _Reading(source)
    if len(text) > MAX_CHARACTERS:
        reading.fault(_Mark(1, 1), f"expected at most {MAX_CHARACTERS:,} characters, got {len(text):,}")
        reading.fail_on_faults()
    document = _plain(reading, _compose(reading, text))
    reading.fail_on_faults()
    settings = _settings(reading, document)
    reading.fail_on_faults()
    base = PRESETS["general"]
    preset = settings.pop("preset", None)
    if preset is not None:
        base = _base(reading, preset)
    return _validated(reading, base, settings)


def parse_calibration(text: str, source: str) -> Calibration | None:
    """The provenance of the thresholds in a policy file, as written by `assay calibrate`; None if it has none.

    Raises:
        PolicyError: as `parse_policy`.

    >>> parse_calibration("version: 1\\npolicy: rag", "assay.yaml") is None
    True
    """
    parse_policy(text, source)
    document = _plain(reading := _Reading(source), _compose(reading, text))
    return _provenance(reading, document[BLOCK]) if isinstance(document, dict) and BLOCK in document else None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the file that does not belong to the policy: its value, and methods that report errors in it."""

    value: object
    """Mappings, tuples, strings, numbers, booleans and None."""
    _reading: _Reading

    def fault(self, path: Path, message: str) -> None:
        """Records an error at a path; `raise_faults` reports all recorded errors at once."""
        self._reading.fault(_nearest(self._reading.values, path), message)

    def raise_faults(self) -> None:
        """Reports the recorded errors.

        Raises:
            PolicyError: there are any; each error is a line `source:line:column: expected, got`.
        """
        self._reading.fail_on_faults()


def parse_part(text: str, source: str, name: str) -> Part | None:
    """A part of the file that does not belong to the policy; None if the file has no part of that name.

    Paths of errors begin with the part's name.

    Raises:
        PolicyError: as `parse_policy`.

    >>> parse_part("version: 1\\npolicy: rag\\nknowledge: [{name: a}]", "assay.yaml", "knowledge").value
    ({'name': 'a'},)
    """
    parse_policy(text, source)
    document = _plain(reading := _Reading(source), _compose(reading, text))
    return Part(document[name], reading) if isinstance(document, dict) and name in document else None


def _compose(reading: _Reading, text: str) -> "Node | None":
    """The YAML nodes of the text with their places; PyYAML is imported here so that `import assay` stays fast."""
    import yaml

    try:
        # Only nodes are composed and nothing is constructed, so a tag has no effect.
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _Mark(mark.line + 1, mark.column + 1) if mark else _Mark(1, 1)
        reading.fault(place, f"expected YAML, but {error.problem or error.context}")
    except yaml.YAMLError as error:
        # An error about a character that YAML forbids has only an offset.
        offset = getattr(error, "position", None) or 0
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        reading.fault(_Mark(line, column), f"expected YAML, but {getattr(error, 'reason', error)}")
    except RecursionError:
        reading.fault(_Mark(1, 1), f"expected values nested at most {MAX_DEPTH} deep, got far more")
    reading.fail_on_faults()
    return None


def _plain(reading: _Reading, node: "Node | None") -> object:
    """The nodes as mappings, tuples, strings, numbers, booleans and None; each node may occur only once."""
    import yaml

    seen: set[int] = set()
    # Scalars are read by the rules of YAML 1.1, and only those with the tags below, so nothing else is constructed.
    constructor = yaml.constructor.SafeConstructor()
    scalar_tags = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null")}

    def scalar(node: yaml.ScalarNode, mark: _Mark) -> object:
        if node.tag not in scalar_tags:
            reading.fault(mark, f"expected text, a number, true, false or null, got {shown(node.value)}")
            return None
        if node.tag.endswith(":bool") and node.value.lower() not in {"true", "false"}:
            # YAML 1.1 reads `off` as false, but `citations: off` means the word.
            return str(node.value)
        try:
            return constructor.construct_object(node)
        except ValueError:
            reading.fault(mark, f"expected a number that can be read, got {shown(node.value)}")
            return None

    def visit(node: yaml.Node, path: Path) -> object:
        mark = _Mark(node.start_mark.line + 1, node.start_mark.column + 1)
        reading.values[path] = mark
        if id(node) in seen:
            reading.fault(mark, "anchors and aliases are not supported here; write the value out")
            return None
        seen.add(id(node))
        if len(path) > MAX_DEPTH:
            reading.fault(mark, f"expected values nested at most {MAX_DEPTH} deep")
            return None
        if isinstance(node, yaml.ScalarNode):
            return scalar(node, mark)
        if isinstance(node, yaml.SequenceNode):
            return tuple(visit(item, (*path, index)) for index, item in enumerate(node.value))
        return mapping(node, path)

    def mapping(node: yaml.Node, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            mark = _Mark(key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            if not isinstance(key_node, yaml.ScalarNode) or id(key_node) in seen:
                reading.fault(mark, "expected a setting's name")
                continue
            key = str(key_node.value)
            if key in found:
                reading.fault(mark, f"{shown(key)} is set twice; the first is in line {reading.keys[*path, key].line}")
                continue
            reading.keys[*path, key] = mark
            found[key] = visit(value_node, (*path, key))
        return found

    return None if node is None else visit(node, ())


def _settings(reading: _Reading, document: object) -> dict[str, object]:
    """The fields below `policy`, after checking the rest of the document."""
    start = reading.values.get((), _Mark(1, 1))
    if not isinstance(document, dict):
        came = "an empty text" if document is None else _NAMES[type(document).__name__]
        reading.fault(start, f"expected a mapping with `version: {VERSION}` and `policy:`, got {came}")
        return {}
    for key in document:
        if key not in {"version", "policy", BLOCK, *OTHERS}:
            close = suggestion(key, dict.fromkeys(("version", "policy", *OTHERS), 0))
            reading.fault(reading.keys[key,], f"unknown setting {shown(key)}{_question(close)}")
    version = document.get("version")
    if version is None:
        reading.fault(start, f"expected `version: {VERSION}`, got no version")
    elif type(version) is not int or version != VERSION:
        reading.fault(reading.values["version",], f"expected version {VERSION}, got {shown(version)}")
    if BLOCK in document:
        _provenance(reading, document[BLOCK])
    policy = document.get("policy")
    if isinstance(policy, str):
        return {"preset": policy}
    if isinstance(policy, dict):
        return dict(policy)
    if policy is None:
        # An absent or empty policy would silently select the default one.
        reading.fault(reading.keys.get(("policy",), start), "expected a policy: a preset's name or its settings")
    else:
        reading.fault(reading.values["policy",], f"expected a preset's name or a mapping, got {shown(policy)}")
    return {}


def _provenance(reading: _Reading, block: object) -> Calibration | None:
    """The provenance block of a file; a block that cannot be read is an error like any other."""
    try:
        return read_calibration(block)
    except PolicyError as error:
        reading.fault(reading.keys[BLOCK,], str(error))
        return None


def _base(reading: _Reading, name: object) -> Policy:
    if isinstance(name, str) and name in PRESETS:
        return PRESETS[name]
    place = reading.values.get(("policy", "preset"), reading.values["policy",])
    close = _question(suggestion(name, PRESETS)) if isinstance(name, str) else "."
    reading.fault(place, f"expected a preset ({', '.join(PRESETS)}), got {shown(name)}{close}")
    raise reading.error()


def _validated(reading: _Reading, base: Policy, settings: dict[str, object]) -> Policy:
    """The preset overridden by the settings, nested ones field by field, and validated as a whole."""
    fields: dict[str, object] = {name: getattr(base, name) for name in Policy.model_fields}
    if settings and "name" not in settings:
        fields["name"] = f"{base.name}-adjusted"
    for name, value in settings.items():
        inherited = fields.get(name)
        if isinstance(inherited, BaseModel) and isinstance(value, dict):
            fields[name] = {**inherited.model_dump(), **value}
            continue
        fields[name] = value
    try:
        # Strict, so that a quoted number is reported as an error and not converted.
        return Policy.model_validate(fields, strict=True)
    except ValidationError as error:
        for details in error.errors():
            reading.fault(*_located(reading, details))
    raise reading.error()


def _located(reading: _Reading, details: "ErrorDetails") -> tuple[_Mark, str]:
    """The place of a pydantic error in the text, and its message."""
    path: Path = ("policy", *details["loc"])
    context = details.get("ctx", {})
    if details["type"] == "contradiction":
        places = [reading.values[*path, name] for name in context["fields"] if (*path, name) in reading.values]
        return (places[-1] if places else _nearest(reading.values, path)), str(context["reason"])
    if details["type"] == "extra_forbidden":
        key = str(path[-1])
        return reading.keys[path], f"unknown setting {shown(key)}{_question(_close_field(path))}"
    came = shown(details["input"])
    name = ".".join(str(part) for part in path[1:])
    return _nearest(reading.values, path), f"{name}: expected {_expected(details)}, got {came}"


_EXPECTED = {
    "float_type": "a finite number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "tuple_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
}
"""What was expected, by the type of a pydantic error; errors about bounds and choices state theirs."""


def _expected(details: "ErrorDetails") -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    match kind:
        case "greater_than_equal":
            return f"a number of at least {context['ge']:g}"
        case "greater_than":
            return f"a number above {context['gt']:g}"
        case "less_than_equal":
            return f"a number of at most {context['le']:g}"
        case "literal_error":
            return f"one of {context['expected']}"
        case _:
            return details["msg"]


def _nearest(marks: Mapping[Path, _Mark], path: Path) -> _Mark:
    """The place of a path or of its nearest known parent; pydantic adds the alternatives of unions to its paths."""
    while path and path not in marks:
        path = path[:-1]
    return marks.get(path, _Mark(1, 1))


def _close_field(path: Path) -> str:
    known: Iterable[str] = ("preset", *Policy.model_fields)
    if len(path) > 2:
        nested = Policy.model_fields[str(path[1])].annotation
        known = nested.model_fields if isinstance(nested, type) and issubclass(nested, BaseModel) else ()
    close = difflib.get_close_matches(str(path[-1])[:100], list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(sorted(known))}."


def _question(ending: str) -> str:
    return ending if ending != "." else ""
