"""What data in a block of code states: pairs of a key and a value, rows, labels of diagrams.

A block of JSON, YAML, CSV or a chart says what a table says. A block of a program does too where it gives a long name a
plain value (`PARTNER_LEAVE_WEEKS = 4`): nobody names a passing variable so. Calls and control flow state nothing here.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MOST_PAIRS: Final = 60
"""Statements of one block; the rest of a longer one is one statement more, its text as it stands."""
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
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LABELS: Final = re.compile(
    r"\|(?P<edge>[^|\n]{2,300})\||\[+[\"(]*(?P<box>[^\[\]\n]{2,300}?)[\")]*\]+|\{+\"?(?P<choice>[^{}\n]{2,300}?)\"?\}+"
    r"|(?<=\w)\(+\"?(?P<round>[^()\n]{2,300}?)\"?\)+|\"(?P<quoted>[^\"\n]{2,300})\"(?P<share>[ \t]*:[ \t]*[\d.]+)?"
    r"|:[ \t]*(?P<said>[^:\n]{2,300})$|^[ \t]*(?:title|section)[ \t]+(?P<title>[^\n]{2,300})$"
)
_SPEAKS: Final = re.compile(r"[^\W_]")
_ROW: Final = re.compile(r"[^\n,;\t]{1,80}(?:[,;\t][^\n,;\t]{0,80}){1,20}")
_OF_DATA: Final = frozenset("json yaml yml toml ini conf properties env http text txt".split()) | {""}  # noqa: SIM905
"""Languages whose lines of keys and values are data; in those of programs they set variables."""
_NO_DATA: Final = re.compile(
    r"[(){}]|=>|->|\b(?:import|def|return|class|function|const|let|var|for|while|if|SELECT|FROM)\b"
)
_BARE: Final = re.compile(r"(?:your|my|xxx|todo|example|placeholder|<|\$|\.\.\.)", re.IGNORECASE)
"""What a value begins with that stands for one to be filled in."""


@dataclass(frozen=True, slots=True)
class Datum:
    """A statement of data and where it is in the block."""

    text: str
    start: int
    end: int


def code_data(code: str) -> list[Datum]:
    """What the data of a block states, in its order.

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
        found = list(_labels(body))
    else:
        language = fence["language"].lower() if fence is not None else ""
        found = _json(body) or (_pairs(body) if language in _OF_DATA else []) or _rows(body) or list(_constants(body))
    placed = [Datum(one.text, start + one.start, start + one.end) for one in found]
    if len(placed) <= MOST_PAIRS:
        return placed
    rest = placed[MOST_PAIRS - 1]
    return [*placed[: MOST_PAIRS - 1], Datum(code[rest.start : placed[-1].end], rest.start, placed[-1].end)]


def is_diagram(body: str) -> bool:
    """Whether the text is a diagram in the language of one: Mermaid, Graphviz.

    >>> is_diagram("graph LR; A --> B"), is_diagram("x = 4")
    (True, False)
    """
    fence = _FENCE.match(body)
    return _DIAGRAM.match(body, fence.end() if fence is not None else 0) is not None


def prose_rows(text: str) -> list[Datum]:
    """The rows of a paragraph that is nothing but rows of values; none of any other.

    >>> [one.text for one in prose_rows("who,weeks\\npartners,4")], prose_rows("First, we walk.\\nThen, we run.")
    (['who: partners; weeks: 4'], [])
    """
    lines = [line for _, line in _lines(text)]
    plain = any(" " in line.strip() and line.rstrip().endswith((".", "!", "?")) for line in lines)
    return [] if plain else _rows(text)


def _json(body: str) -> list[Datum]:
    """Each innermost object of a document as one statement; none where the text is no JSON."""
    stripped = body.strip()
    if stripped[:1] not in {"{", "["}:
        return []
    try:
        stated = [text for text in _stated(json.loads(stripped), "") if _SPEAKS.search(text)]
    except (ValueError, RecursionError):  # no JSON, or nested deeper than the parser or the walk can follow
        return []
    start = body.index(stripped[0])
    return [Datum(text, start, start + len(stripped)) for text in stated]


def _stated(value: object, name: str) -> Iterator[str]:
    """The statements of a JSON value: what an object says of itself, then what its members say."""
    if isinstance(value, dict):
        plain = {key: one for key, one in value.items() if not isinstance(one, dict | list)}
        if plain:
            yield "; ".join(f"{name + ' ' if name else ''}{key}: {_value(one)}" for key, one in plain.items())
        for key, one in value.items():
            if isinstance(one, dict | list):
                yield from _stated(one, f"{name} {key}".strip())
    elif isinstance(value, list):
        plain_items = [one for one in value if not isinstance(one, dict | list)]
        if plain_items:
            listed = ", ".join(_value(one) for one in plain_items)
            yield f"{name}: {listed}" if name else listed
        for one in value:
            if isinstance(one, dict | list):
                yield from _stated(one, name)
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


def _pairs(body: str) -> list[Datum]:
    """The lines of a block that has nothing but keys with values, sections and comments; none of any other block."""
    found: list[Datum] = []
    above: list[tuple[int, str]] = []
    for at, line in _lines(body):
        indent = len(line) - len(line.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        opening = re.fullmatch(
            r"[ \t\-]*[\"']?(?P<key>\w[\w .\-]{0,60})[\"']?:[ \t]*|\[(?P<section>[^\]\n]{1,80})\]", line
        )
        if opening is not None:
            above.append((indent if opening["key"] else -1, opening["key"] or opening["section"]))
            continue
        if line.lstrip().startswith(("#", "//", ";", "---", "HTTP/")):
            continue
        pair = _PAIR.fullmatch(line)
        if pair is None or _NO_DATA.search(line):
            return []
        value = pair["value"].strip("\"' ")
        named = _words(" ".join([*(key for _, key in above), pair["key"]]))
        if _SPEAKS.search(value) and not _BARE.match(value) and "://" not in value:
            found.append(Datum(f"{named}: {value}", at + indent, at + len(line)))
    return found


def _words(key: str) -> str:
    """The words of a key that is written as one."""
    if "_" not in key and re.search("[a-z][A-Z]", key) is None:
        return key
    return " ".join(part.lower() for part in _PARTS.findall(key))


def _rows(body: str) -> list[Datum]:
    """Rows of values between commas, semicolons or tabs, each with the names of the first row if that has no number."""
    lines = _lines(body)
    split = [re.split(r"[,;\t]", line) for _, line in lines]
    even = len({len(cells) for cells in split}) == 1 and len(lines) > 1
    if not even or any(_ROW.fullmatch(line) is None or _NO_DATA.search(line) for _, line in lines):
        return []
    named = not any(any(c.isdigit() for c in cell) for cell in split[0])
    found = []
    for (at, line), cells in list(zip(lines, split, strict=True))[int(named) :]:
        said = _row(split[0], cells) if named else ", ".join(cell.strip() for cell in cells)
        if _SPEAKS.search(said):
            found.append(Datum(said, at, at + len(line)))
    return found


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    return "; ".join(f"{name.strip()}: {cell.strip()}" for name, cell in zip(names, cells, strict=True) if cell.strip())


def _constants(body: str) -> Iterator[Datum]:
    for match in _CONSTANT.finditer(body):
        value = match["value"].strip("\"'")
        if _SPEAKS.search(value) and not _BARE.match(value) and "://" not in value:
            yield Datum(f"{_words(match['key'])}: {value}", match.start(), match.end())


def _labels(body: str) -> Iterator[Datum]:
    """What the boxes and arrows of each line of a diagram say, joined as they are read."""
    for at, line in _lines(body):
        said = [
            next(value for name, value in match.groupdict().items() if value and name != "share")
            + (match["share"] or "")
            for match in _LABELS.finditer(line)
        ]
        text = " ".join(part.strip() for part in said)
        if _SPEAKS.search(text):
            yield Datum(text, at, at + len(line))
