# ruff: noqa: E501 one alternative of a pattern a line
"""The sentences of a text with exact character spans.

Lines, lists and Markdown are read first (`assay.text.sentences.line_structure`), then prose is split. nupunkt splits
texts in scripts with spaces; the terminators of scripts that it does not know are added here, and its known errors
around citation markers, abbreviations before numbers and times of day are corrected (docs/adr/0003 has the figures).
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from assay.text.sentences.line_structure import Block, blocks


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: a half-open range of code points and the kind of block that it is in."""

    start: int
    end: int
    block: str
    """prose, heading, list_item, table_row, code or quote."""


_CLOSERS = r"[\"'”’»」』）)\]】]*"
_FOREIGN = re.compile(r"(?:[。！？｡．]|[।॥۔։።؟])+[”’」』）)\]】»\"']*(?![とって。！？])\s*")
_FOREIGN_BEFORE_LATIN = re.compile(r"[。！？｡．।॥۔։።؟](?=[A-Za-zÀ-ɏ])")
_MARKER = r"(?:\[\^?[\w.:,;#/ \-–]{1,60}\](?![(\[:])|[⁰¹²³⁴-⁹]++)"
_MARKERS_AFTER = re.compile(rf"(?:\s{{0,2}}{_MARKER})+(?=\s|\Z)\s*")
_CITED_END = re.compile(rf"[.!?]{_CLOSERS}\s{{0,2}}{_MARKER}(?:\s{{0,2}}{_MARKER}){{0,9}}\s+(?=[\"“(]?[A-Z])")
_DAY_TIME = re.compile(r"\b[ap]\.m\.\s+(?=[A-Z][a-z]+\b)(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Eastern|Pacific)")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:approx|cf|figs?|nos?|vols?|ch|chs|secs?|arts?|eqs?|pp?|lbs?|oz|ft|in|tbsp|tsp|est|max|min|avg|ca|c"
    r"|lt|col|gen|sgt|capt|maj|cmdr|ul|ул|г|nr|bzw|ggf|z\. ?b|usw|vgl|dept|asst|resp|incl|excl|ext|tel|temp|para)\.\s*$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"(?:^|[\s(])(?:Cf|cf|Lt|Col|Gen|Sgt|Capt|Maj|Cmdr|ул|Nr|Fig|Figs|Vol|Ch|Sec|Art|Eq)\.\s*$")
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.\s+$")
_ORDINAL_MONTH = re.compile(r"Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Quartal|Jahrhundert|Tag|Woche|Platz")
_UNDIVIDED = re.compile(
    r"\^\[[^\[\]]{1,400}\]|</?[A-Za-z][A-Za-z0-9]{0,9}\s[^<>]{0,400}>|"
    r"\]\([^()\s]{0,2000}\s{1,3}(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}')\)"
)
"""Parts that are never split, whatever full stops they contain: a note, a tag, the target of a link with its title."""
_MARK_RUN = re.compile(r"[.?!…]{5,}")
_CHARACTERS_BEFORE = 16
_WINDOW = 4000
"""Characters that nupunkt is given at once."""


def _is_false_break(text: str, at: int) -> bool:
    """Whether a break at this offset would separate an abbreviation or an ordinal from its word."""
    before = text[max(0, at - _CHARACTERS_BEFORE) : at]
    follower = text[at : at + 1]
    if _TITLE.search(before):
        return True
    if not follower.isupper() and _ABBREVIATED.search(before):
        return True
    return _ORDINAL.search(before) is not None and _ORDINAL_MONTH.match(text, at) is not None


def _window_starts(window: str) -> list[int]:
    """Offsets in the window at which nupunkt starts a new sentence, moved past white space."""
    from nupunkt import sent_spans  # takes some 80 ms, which importing the package must not cost

    found = []
    for _, end in sent_spans(window):
        at = end
        while at < len(window) and window[at].isspace():
            at += 1
        if 0 < at < len(window):
            found.append(at)
    return found


def _nupunkt_starts(text: str) -> list[int]:
    """Sentence starts in the text, read in windows because nupunkt takes quadratic time on runs of punctuation.

    Each window begins at the last start in the one before, so that no window boundary counts as a sentence boundary.
    """
    plain = _MARK_RUN.sub(lambda m: "x" * (len(m.group()) - 3) + m.group()[-3:], text)
    # nupunkt reads a foreign terminator and the word after it as one word, and would not recognise "Dr." there.
    plain = _FOREIGN_BEFORE_LATIN.sub(" ", plain)
    found: list[int] = []
    at = 0
    while len(plain) - at > _WINDOW:
        starts = _window_starts(plain[at : at + _WINDOW])
        found.extend(at + start for start in starts)
        if starts:
            at += starts[-1]
        else:
            blank = plain.rfind(" ", at + 1, at + _WINDOW)
            at = blank if blank > 0 else at + _WINDOW
    found.extend(at + start for start in _window_starts(plain[at:]))
    return found


def _sentence_starts(text: str) -> list[int]:
    """Offsets at which a new sentence starts in a block of prose."""
    cuts = {at for at in _nupunkt_starts(text) if not _is_false_break(text, at)}
    cuts.update(m.end() for m in _FOREIGN.finditer(text))
    cuts.update(m.end() for m in _DAY_TIME.finditer(text))
    moved = set()
    for at in cuts:
        marker = _MARKERS_AFTER.match(text, at)
        moved.add(marker.end() if marker is not None else at)
    for cited in _CITED_END.finditer(text):
        moved -= set(range(cited.start() + 1, cited.end()))
        moved.add(cited.end())
    return sorted(at for at in moved if 0 < at < len(text))


def _outside_notes(text: str, cuts: list[int]) -> list[int]:
    """The cuts that are not within a note, a tag or a link target: `^[which goes on. And on.]`."""
    if not any(sign in text for sign in ("^[", "<", "](")):
        return cuts
    kept: list[int] = []
    undivided = [match.span() for match in _UNDIVIDED.finditer(text)]
    for at in cuts:
        while undivided and undivided[0][1] <= at:
            undivided.pop(0)
        if not undivided or at <= undivided[0][0]:
            kept.append(at)
    return kept


def _block_sentences(block: Block) -> list[Sentence]:
    if block.kind in {"code", "table_row", "heading"}:
        cuts: list[int] = []
    else:
        cuts = _outside_notes(block.masked, _sentence_starts(block.masked))
    edges = [block.start, *(block.start + at for at in cuts), block.end]
    return [Sentence(a, b, block.kind) for a, b in pairwise(edges)]


def _trim(text: str, found: list[Sentence]) -> list[Sentence]:
    """The sentences without white space at their ends; one without letters and digits is joined to the one before."""
    kept: list[Sentence] = []
    for s in found:
        raw = text[s.start : s.end]
        stripped = raw.strip()
        if not stripped:
            continue
        start = s.start + len(raw) - len(raw.lstrip())
        trimmed = Sentence(start, start + len(stripped), s.block)
        if kept and not any(c.isalnum() for c in stripped):
            kept[-1] = Sentence(kept[-1].start, trimmed.end, kept[-1].block)
        else:
            kept.append(trimmed)
    return kept


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of the text, in order and disjoint; every character but white space is in exactly one.

    A heading, a table row and a run of code lines are one sentence each. Takes time linear in the length of the text.

    >>> text = "It rose by approx. 5 mg. No one objected [2].\\n- Leave: 16 weeks"
    >>> [text[s.start : s.end] for s in split_sentences(text)]
    ['It rose by approx. 5 mg.', 'No one objected [2].', '- Leave: 16 weeks']
    """
    return [s for block in blocks(text) for s in _trim(text, _block_sentences(block))]
