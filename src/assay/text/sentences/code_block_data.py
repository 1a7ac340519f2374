"""The statements of data in a code block: pairs of a key and a value, rows, labels of diagrams.

A block of JSON, YAML, CSV or a diagram states facts like a table. A program does so where it assigns a plain value to a
long name (`PARTNER_LEAVE_WEEKS = 4`), which is not the name of a temporary variable. Calls and control flow state
nothing here.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MAX_STATEMENTS: Final = 60
"""The most statements of one block; in a longer one, the last statement is the rest of the block as written."""
_FENCE: Final = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(?P<language>[\w+.#-]*)[^\n]*$", re.MULTILINE)
_DIAGRAM: Final = re.compile(
    r"\s*(?:graph|flowchart|pie|sequenceDiagram|gantt|mindmap|timeline|stateDiagram(?:-v2)?|classDiagram|erDiagram|journey|"
    r"quadrantChart|xychart-beta|gitGraph|digraph)\b"
)
_PAIR: Final = re.compile(
    r"[ \t\-]*(?P<quote>[\"']?)(?P<key>[^\W\d_][\w .\-/()%]{0,60}?)(?P=quote)[ \t]*(?::(?!:|//)|=(?!=)|\t)[ \t]*"
    r"(?P<value>[^\n{}\[\]();]{1,200}?)[ \t]*,?[ \t]*"
)
_CONSTANT: Final = re.compile(
    r"\b(?P<key>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+){2,}|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+){2,})"
    r"[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?P<value>-?\d[\d_.,]*|\"[^\"\n]{1,120}\"|'[^'\n]{1,120}'|[Tt]rue|[Ff]alse)"
    r"[ \t]*;?[ \t]*(?=$|\#|//|--)",
    re.MULTILINE,
)
_KEY_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LABELS: Final = re.compile(
    r"\|(?P<edge>[^|\n]{2,300})\||\[+[\"(]*(?P<box>[^\[\]\n]{2,300}?)[\")]*\]+|\{+\"?(?P<choice>[^{}\n]{2,300}?)\"?\}+"
    r"|(?<=\w)\(+\"?(?P<round>[^()\n]{2,300}?)\"?\)+|\"(?P<quoted>[^\"\n]{2,300})\"(?P<share>[ \t]*:[ \t]*[\d.]+)?"
    r"|:[ \t]*(?P<said>[^:\n]{2,300})$|^[ \t]*(?:title|section)[ \t]+(?P<title>[^\n]{2,300})$"
)
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")
_ROW: Final = re.compile(r"[^\n,;\t]{1,80}(?:[,;\t][^\n,;\t]{0,80}){1,20}")
_DATA_LANGUAGES: Final = frozenset("json yaml yml toml ini conf properties env http text txt".split()) | {""}  # noqa: SIM905
"""Languages whose lines of keys and values are data; in programming languages they set variables."""
_PROGRAM_SIGNS: Final = re.compile(
    r"[(){}]|=>|->|\b(?:import|def|return|class|function|const|let|var|for|while|if|SELECT|FROM)\b"
)
_PLACEHOLDER: Final = re.compile(r"(?:your|my|xxx|todo|example|placeholder|<|\$|\.\.\.)", re.IGNORECASE)
"""How a placeholder begins, which is to be replaced by a value."""


@dataclass(frozen=True, slots=True)
class Datum:
    """A statement of data and its place in the block."""

    text: str
    start: int
    end: int


def code_data(code: str) -> list[Datum]:
    """The statements of the data in a code block, in order.

    >>> [one.text for one in code_data('{"role": "partner", "weeks": 4}')]
    ['role: partner; weeks: 4']
    >>> [one.text for one in code_data("PARTNER_LEAVE_WEEKS = 4")], code_data("x = f(4)")
    (['partner leave weeks: 4'], [])
    """
    fence = _FENCE.match(code)
    start = fence.end() if fence is not None else 0
    closing = [match.start() for match in _FENCE.finditer(code, start)]
    body = code[start : closing[0] if closing else len(code)]
    if is_diagram(body):
        found = list(_diagram_labels(body))
    else:
        language = fence["language"].lower() if fence is not None else ""
        found = (
            _json_data(body)
            or (_key_values(body) if language in _DATA_LANGUAGES else [])
            or _delimited_rows(body)
            or list(_constants(body))
        )
    data = [Datum(one.text, start + one.start, start + one.end) for one in found]
    if len(data) <= MAX_STATEMENTS:
        return data
    rest = data[MAX_STATEMENTS - 1]
    return [*data[: MAX_STATEMENTS - 1], Datum(code[rest.start : data[-1].end], rest.start, data[-1].end)]


def is_diagram(body: str) -> bool:
    """Whether the text is a diagram in Mermaid or Graphviz.

    >>> is_diagram("graph LR; A --> B"), is_diagram("x = 4")
    (True, False)
    """
    fence = _FENCE.match(body)
    return _DIAGRAM.match(body, fence.end() if fence is not None else 0) is not None


def prose_rows(text: str) -> list[Datum]:
    """The rows of a paragraph that consists only of rows of values; empty for any other.

    >>> [one.text for one in prose_rows("who,weeks\\npartners,4")], prose_rows("First, we walk.\\nThen, we run.")
    (['who: partners; weeks: 4'], [])
    """
    lines = [line for _, line in _lines(text)]
    plain = any(" " in line.strip() and line.rstrip().endswith((".", "!", "?")) for line in lines)
    return [] if plain else _delimited_rows(text)


def _json_data(body: str) -> list[Datum]:
    """The statements of a JSON document, one for each object; empty where the text is not JSON."""
    stripped = body.strip()
    if stripped[:1] not in {"{", "["}:
        return []
    try:
        statements = [text for text in _json_statements(json.loads(stripped), "") if _LETTER_OR_DIGIT.search(text)]
    except (ValueError, RecursionError):  # no JSON, or nested deeper than the parser or the walk can follow
        return []
    start = body.index(stripped[0])
    return [Datum(text, start, start + len(stripped)) for text in statements]


def _json_statements(value: object, name: str) -> Iterator[str]:
    """The statements of a JSON value: first its plain members, then those of the values nested in it."""
    if isinstance(value, dict):
        plain = {key: one for key, one in value.items() if not isinstance(one, dict | list)}
        if plain:
            yield "; ".join(f"{name + ' ' if name else ''}{key}: {_value(one)}" for key, one in plain.items())
        for key, one in value.items():
            if isinstance(one, dict | list):
                yield from _json_statements(one, f"{name} {key}".strip())
    elif isinstance(value, list):
        plain_items = [one for one in value if not isinstance(one, dict | list)]
        if plain_items:
            items = ", ".join(_value(one) for one in plain_items)
            yield f"{name}: {items}" if name else items
        for one in value:
            if isinstance(one, dict | list):
                yield from _json_statements(one, name)
    else:
        yield _value(value)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _lines(body: str) -> list[tuple[int, str]]:
    found, at = [], 0
    for line in body.splitlines(keepends=True):
        if line.strip():
            found.append((at, line.rstrip("\r\n")))
        at += len(line)
    return found


def _key_values(body: str) -> list[Datum]:
    """The lines of a block that has only keys with values, sections and comments; empty for any other block."""
    found: list[Datum] = []
    parents: list[tuple[int, str]] = []
    for at, line in _lines(body):
        indent = len(line) - len(line.lstrip())
        while parents and parents[-1][0] >= indent:
            parents.pop()
        opening = re.fullmatch(
            r"[ \t\-]*[\"']?(?P<key>\w[\w .\-]{0,60})[\"']?:[ \t]*|\[(?P<section>[^\]\n]{1,80})\]", line
        )
        if opening is not None:
            parents.append((indent if opening["key"] else -1, opening["key"] or opening["section"]))
            continue
        if line.lstrip().startswith(("#", "//", ";", "---", "HTTP/")):
            continue
        pair = _PAIR.fullmatch(line)
        if pair is None or _PROGRAM_SIGNS.search(line):
            return []
        value = pair["value"].strip("\"' ")
        key_text = _key_words(" ".join([*(key for _, key in parents), pair["key"]]))
        if _LETTER_OR_DIGIT.search(value) and not _PLACEHOLDER.match(value) and "://" not in value:
            found.append(Datum(f"{key_text}: {value}", at + indent, at + len(line)))
    return found


def _key_words(key: str) -> str:
    """The words of a key in snake case or camel case; any other key unchanged."""
    if "_" not in key and re.search("[a-z][A-Z]", key) is None:
        return key
    return " ".join(part.lower() for part in _KEY_PARTS.findall(key))


def _delimited_rows(body: str) -> list[Datum]:
    """Rows of values between commas, semicolons or tabs; a first row without numbers gives the column names."""
    lines = _lines(body)
    split = [re.split(r"[,;\t]", line) for _, line in lines]
    is_regular = len({len(cells) for cells in split}) == 1 and len(lines) > 1
    if not is_regular or any(_ROW.fullmatch(line) is None or _PROGRAM_SIGNS.search(line) for _, line in lines):
        return []
    key_text = not any(any(c.isdigit() for c in cell) for cell in split[0])
    found = []
    for (at, line), cells in list(zip(lines, split, strict=True))[int(key_text) :]:
        row_text = _row_statement(split[0], cells) if key_text else ", ".join(cell.strip() for cell in cells)
        if _LETTER_OR_DIGIT.search(row_text):
            found.append(Datum(row_text, at, at + len(line)))
    return found


def _row_statement(names: Sequence[str], cells: Sequence[str]) -> str:
    return "; ".join(f"{name.strip()}: {cell.strip()}" for name, cell in zip(names, cells, strict=True) if cell.strip())


def _constants(body: str) -> Iterator[Datum]:
    for match in _CONSTANT.finditer(body):
        value = match["value"].strip("\"'")
        if _LETTER_OR_DIGIT.search(value) and not _PLACEHOLDER.match(value) and "://" not in value:
            yield Datum(f"{_key_words(match['key'])}: {value}", match.start(), match.end())


def _diagram_labels(body: str) -> Iterator[Datum]:
    """The labels of the boxes and arrows in each line of a diagram, joined in reading order."""
    for at, line in _lines(body):
        row_text = [
            next(value for name, value in match.groupdict().items() if value and name != "share")
            + (match["share"] or "")
            for match in _LABELS.finditer(line)
        ]
        text = " ".join(part.strip() for part in row_text)
        if _LETTER_OR_DIGIT.search(text):
            yield Datum(text, at, at + len(line))
