"""Finds the evidence that a citation names: by id, title, file name, URL, author and year, or number."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Evidence
from assay.text.citations import fold

_SEPARATORS: Final = re.compile(r"[\s_\-]+")
_EXTENSION: Final = re.compile(r"\.[a-z0-9]{1,5}$")
_LAST_NUMBER: Final = re.compile(r"^(.*?)(\d{1,9})$")
_AUTHOR: Final = re.compile(r"([^\W\d_][\w'’-]+).*?((?:19|20)\d\d)")
_STEP: Final = re.compile(r"^step:\d+/")
"""The prefix of ids of evidence from an agent run; citations use the name after it."""
_TOKEN: Final = re.compile(r"\d+|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SCHEME: Final = re.compile(r"^(?:https?://)?(?:www\.)?")
_NUMBERED: Final = re.compile(
    r"(?:\b(?:sections?|clauses?|articles?|paragraphs?|chapters?|annex|appendix|rule|sec\.|art\.)|§)\s?\d"
    r"|^\s*\d{1,3}(?:\.\d{1,3})+\b",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL: Final = re.compile(
    r"^[ \t>*#(\[]{0,8}(?:passage|document|doc|source|excerpt|snippet|context|search result)\s{0,2}#?(\d{1,3})"
    r"[)\]*]{0,3}\s{0,2}[:.–—-]",
    re.IGNORECASE | re.MULTILINE,
)
"""The label of each passage where several were put into one text."""
_SHORTEST_PART: Final = 8
"""The fewest characters that count as a part of a title."""


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """The evidence that a name refers to: several where they are pieces of one document."""

    evidence_ids: tuple[str, ...]
    matched_by: str
    """id, name, number, position, label, author, part or mention; empty where nothing matched."""


NO_MATCH: Final = SourceMatch((), "")


class SourceIndex:
    """The names by which citations may refer to the evidence, indexed once."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self.evidence = evidence
        self.by_id = {item.id: item for item in evidence}
        self._cache: dict[str, SourceMatch] = {}
        self._folded: dict[str, str] = {}
        self._ids = _group((key(item.id), item.id) for item in evidence)
        self._names = _group((key(name), item.id) for item in evidence for name in _names(item))
        self._numbers = _group(
            (match[2].lstrip("0") or "0", item.id) for item in evidence if (match := _LAST_NUMBER.match(item.id))
        )
        prefixes = {match[1] if (match := _LAST_NUMBER.match(item.id)) else None for item in evidence}
        self._single_series = len(prefixes) == 1 and None not in prefixes
        self._has_numeric_ids = any(item.id.isdigit() for item in evidence)
        self._labels: dict[str, tuple[str, ...]] | None = None

    def find(self, name: str) -> SourceMatch:
        """The evidence that a name written in a citation refers to."""
        if name not in self._cache:
            self._cache[name] = self._look_up(name)
        return self._cache[name]

    def find_authority(self, document: str, location: str | None) -> SourceMatch:
        """The evidence that a document named in a sentence refers to, else the evidence that mentions the document."""
        found = self.find(document)
        if found.evidence_ids:
            return found
        name = fold(document)
        mentions = [item.id for item in self.evidence if _mentions(self._folded_text(item), name)]
        holding_section = tuple(
            i for i in mentions if location is not None and holds_section(self.by_id[i].text, location)
        )
        return SourceMatch(holding_section or tuple(mentions), "mention") if mentions else NO_MATCH

    def section(self, evidence_ids: Iterable[str], location: str) -> bool | None:
        """Whether a numbered part is in the evidence; none where the evidence has no numbered parts."""
        items = [self.by_id[i] for i in evidence_ids]
        if any(holds_section(f"{item.title or ''}\n{item.source or ''}\n{item.text}", location) for item in items):
            return True
        return False if any(_NUMBERED.search(item.text) for item in items) else None

    def _look_up(self, name: str) -> SourceMatch:
        if name in self.by_id:
            return SourceMatch((name,), "id")
        folded = key(name)
        for table, matched_by in ((self._ids, "id"), (self._names, "name")):
            if folded in table:
                return SourceMatch(table[folded], matched_by)
        number = name.strip().lstrip("#").strip()
        if re.fullmatch(r"\d{1,9}(?::\d{1,9})?", number):
            return self._by_number(number)
        return self._by_author(name) or self._by_part(name) or NO_MATCH

    def _by_number(self, number: str) -> SourceMatch:
        """The evidence that a number alone refers to: the one with that number in its id, else at that position."""
        _, colon, inner = number.partition(":")
        if colon:  # message and source of OpenAI's file search, counted from 0
            return self._by_position(int(inner))
        if self._single_series and number.lstrip("0") in self._numbers:
            return SourceMatch(self._numbers[number.lstrip("0")], "number")
        # Where ids are numbers, a number is an id; else the answer counted the passages in the order of the input.
        found = NO_MATCH if self._has_numeric_ids else self._by_position(int(number) - 1)
        return found if found.evidence_ids else self._by_label(number.lstrip("0"))

    def _by_label(self, number: str) -> SourceMatch:
        """The evidence that contains a passage with that number: `passage 2: ...` at the start of a line."""
        if self._labels is None:
            pairs = ((match[1].lstrip("0"), item.id) for item in self.evidence for match in _LABEL.finditer(item.text))
            self._labels = _group(dict.fromkeys(pairs))
        return SourceMatch(self._labels[number], "label") if number in self._labels else NO_MATCH

    def _by_position(self, position: int) -> SourceMatch:
        return (
            SourceMatch((self.evidence[position].id,), "position") if 0 <= position < len(self.evidence) else NO_MATCH
        )

    def _by_author(self, name: str) -> SourceMatch | None:
        match = _AUTHOR.match(name) if len(name) <= 120 else None
        if match is None:
            return None
        author, year = fold(match[1]), match[2]
        ids = tuple(
            item.id
            for item in self.evidence
            if {author, year} <= set(_TOKEN.findall(fold(f"{item.id} {item.title or ''} {item.source or ''}")))
        )
        return SourceMatch(ids, "author") if ids else None

    def _by_part(self, name: str) -> SourceMatch | None:
        """The evidence by a part of its title or file name, or by its title inside a longer name."""
        folded = key(name)
        if len(folded) < _SHORTEST_PART or " " not in fold(name):
            return None
        ids: list[str] = []
        for known, owners in self._names.items():
            if len(known) >= _SHORTEST_PART and (folded in known or known in folded):
                ids.extend(owners)
        return SourceMatch(tuple(dict.fromkeys(ids)), "part") if ids else None

    def _folded_text(self, item: Evidence) -> str:
        if item.id not in self._folded:
            self._folded[item.id] = fold(item.text)
        return self._folded[item.id]


def source_names(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """Every name that a citation may use for the evidence: what `find_citations` takes as `known_ids`.

    >>> source_names([Evidence(id="hr-2", text="", title="Leave policy", source="https://x.example/docs/leave.pdf")])
    ('hr-2', 'Leave policy', 'https://x.example/docs/leave.pdf', 'leave.pdf')
    """
    return tuple(dict.fromkeys(name for item in evidence for name in (item.id, *_plain_names(item))))


def key(name: str) -> str:
    """The name without case, spaces, hyphens, underscores, scheme and final slash.

    >>> key("HR_2") == key("hr 2") == key("hr-2")
    True
    """
    stripped = _SCHEME.sub("", name.casefold().strip()).partition("#")[0] if "://" in name else name.casefold()
    return _SEPARATORS.sub("", stripped.strip().rstrip("/")) or name


def holds_section(text: str, location: str) -> bool:
    """Whether the numbered part is named in the text.

    >>> holds_section("8.4.3 Reviews. Access is reviewed yearly.", "Section 8.4.3")
    True
    >>> holds_section("Leave lasts 4 weeks.", "Section 4")
    False
    """
    number = re.search(r"\d[\w.\-]*(?:\(\w{1,3}\))*", location)
    if number is None:
        return fold(location) in fold(text)
    exact = re.escape(number.group().rstrip("."))
    if "." in number.group().rstrip(".") or "(" in number.group():
        return re.search(rf"(?<![\w.]){exact}(?!\w)", text) is not None
    named = (
        r"(?:\b(?:sections?|clauses?|articles?|paragraphs?|chapters?|annex|appendix|rule|part|sec\.|art\.)\s?|§+\s?)"
    )
    return re.search(rf"(?:{named}|^[ \t#*]{{0,8}}){exact}(?!\w)", text, re.IGNORECASE | re.MULTILINE) is not None


def _mentions(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum():
            return True
        at = text.find(name, end)
    return False


def _group(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for name, owner in pairs:
        if name:
            table.setdefault(name, {})[owner] = None
    return {name: tuple(owners) for name, owners in table.items()}


def _plain_names(item: Evidence) -> list[str]:
    names = [name for name in (_STEP.sub("", item.id), item.title, item.source) if name and name.strip()]
    if names and names[0] == item.id:
        del names[0]
    if item.source:
        last = re.split(r"[/\\]", item.source.rstrip("/\\"))[-1]
        if last and last != item.source and "." in last:
            names.append(last)
    return names


def _names(item: Evidence) -> list[str]:
    names = _plain_names(item)
    return names + [_EXTENSION.sub("", name.casefold()) for name in names if _EXTENSION.search(name.casefold())]
