"""Whether quoted words are in a source.

A quotation is verbatim: the words of the source in their order. Case, white space, typographic signs, emphasis marks,
an article and the misspelling of a long word may differ. `...` marks omitted words, in the order of the source, and
square brackets a letter that an editor changed. Any other difference, such as a number or a negation, makes it a
misquotation, and so does joining pieces from several places without an ellipsis.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

SIMILARITY: Final = 90.0
"""The least similarity of characters (0 to 100) of a passage that is compared word by word. Two changed letters in a
quotation of twenty still reach it. It only finds the passage; the comparison of words decides."""

NEAREST: Final = 60.0
"""The least similarity (0 to 100) of a passage that the message shows as what the source says instead."""

WORDS_PER_SLIP: Final = 12
"""One misspelling or missing article is tolerated for every so many words."""

SHORTEST_PIECE: Final = 3
"""The fewest consecutive words that count as a piece of a stitched quotation."""

LONGEST_STITCH_SEARCH: Final = 2_000_000
"""Characters of the longest source that is searched for the pieces of a stitched quotation, which only the message
needs."""

_ELLIPSIS: Final = re.compile(r"\s*(?:\[\s?(?:\.{3}|…)\s?\]|\(\s?(?:\.{3}|…)\s?\)|\.{3,4}|…|\. \. \.)\s*")
_EDITED: Final = re.compile(r"\[(\w{1,40})\]")
_WORD: Final = re.compile(r"\w+(?:[.,:/'-]\w+)*|[%$€£¥°+<>=]")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_FOLDED_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»「」『』", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff*_", None),
    }
)
_ARTICLES: Final = frozenset(("a", "an", "the", "that"))


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """Whether one quotation is in one source."""

    quote: str
    matches: bool
    """Whether it is there, but for differences that are tolerated."""
    exact: bool
    """Whether it is there word for word."""
    reason: str
    """Why it does not match, as the end of a sentence; empty where it does."""


class QuotedSource:
    """A source normalised once, for any number of quotations."""

    def __init__(self, text: str) -> None:
        self.text = fold_quote(text)

    def match(self, quote: str) -> QuoteMatch:
        """Compare one quotation with the source; linear in the source for every piece between ellipses.

        >>> source = QuotedSource("Partners are entitled to 2 weeks of leave, and must apply in writing.")
        >>> source.match("partners are entitled to 2 weeks ... apply in writing").exact
        True
        >>> source.match("Partners are entitled to 4 weeks").reason
        "it says '4' where the source says '2'"
        """
        pieces = [piece for piece in map(_stripped, quote_pieces(quote)) if piece]
        exact = True
        position = 0
        for piece in pieces:
            end = self._find(piece, position)
            if end < 0:
                exact = False
                end, reason = self._near_match(piece, position)
                if reason:
                    return QuoteMatch(quote, False, False, self._explain(piece, position, reason))
            position = end
        if not pieces:
            return QuoteMatch(quote, False, False, "it quotes no words")
        return QuoteMatch(quote, True, exact, "")

    def _find(self, piece: str, at: int) -> int:
        """The end of the first verbatim occurrence of the piece from a place on; -1 where there is none."""
        start = self.text.find(piece, at)
        while start >= 0:
            end = start + len(piece)
            if _is_boundary(self.text, start) and _is_boundary(self.text, end):
                return end
            start = self.text.find(piece, end)
        return -1

    def _near_match(self, piece: str, at: int) -> tuple[int, str]:
        """The end of the passage that the piece quotes with tolerated slips, and no reason; else the reason."""
        from rapidfuzz import fuzz

        rest = self.text[at:]
        if len(piece) > len(rest):
            return at, "these words do not stand in the source"
        alignment = fuzz.partial_ratio_alignment(piece, rest, score_cutoff=NEAREST)
        if alignment is None:
            return at, "these words do not stand in the source"
        start, end = _whole_words(rest, alignment.dest_start, alignment.dest_end)
        passage = rest[start:end]
        changes = _changes(piece, passage)
        if alignment.score >= SIMILARITY and changes is None:
            return at + end, ""
        if alignment.score >= SIMILARITY and changes:
            return at, changes
        return at, f"the source says '{_shorten(passage.strip())}'"

    def _explain(self, piece: str, at: int, reason: str) -> str:
        if at and self._find(piece, 0) >= 0:
            return "its parts stand in the source in another order"
        places = self._count_pieces(piece)
        return f"it is stitched together from {places} places of the source" if places > 1 else reason

    def _count_pieces(self, piece: str) -> int:
        """How many runs of at least `SHORTEST_PIECE` words of the source make up the piece; 0 where they do not."""
        words = piece.split(" ")
        if len(self.text) > LONGEST_STITCH_SEARCH or len(words) > 200:
            return 0
        places = position = 0
        while position < len(words):
            low, high = position, len(words)
            # The longest run that is in the source: a run is there only if every shorter one is.
            while low < high:
                middle = (low + high + 1) // 2
                if " ".join(words[position:middle]) in self.text:
                    low = middle
                else:
                    high = middle - 1
            if low - position < SHORTEST_PIECE:
                return 0
            position, places = low, places + 1
        return places


def fold_quote(text: str) -> str:
    """The text without what a faithful quotation may change: case, white space, typographic signs, emphasis.

    >>> fold_quote("The  “Leave” **policy** – 2024")
    'the "leave" policy - 2024'
    """
    return " ".join(unicodedata.normalize("NFKC", text).translate(_FOLDED_SIGNS).casefold().split())


def quote_pieces(quote: str) -> list[str]:
    """The parts of a quotation between its ellipses, with the letters that an editor put in brackets.

    >>> quote_pieces("[r]efunds are granted … of purchase")
    ['refunds are granted', 'of purchase']
    """
    return [_EDITED.sub(r"\1", part) for part in _ELLIPSIS.split(quote)]


def _stripped(part: str) -> str:
    """One piece between ellipses, normalised, without punctuation at its ends."""
    return fold_quote(part).strip(" .,;:!?\"'()[]-")


def _is_boundary(text: str, at: int) -> bool:
    """Whether the place is not inside a word or a number."""
    before, after = text[at - 1 : at], text[at : at + 1]
    if before.isdigit() and after in {".", ","} and text[at + 1 : at + 2].isdigit():
        return False
    if after.isdigit() and before in {".", ","} and text[at - 2 : at - 1].isdigit() and at >= 2:
        return False
    wide = any("\u3040" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af" for c in before + after)
    return wide or not (before.isalnum() and after.isalnum())


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The range widened to whole words, at most forty characters on either side."""
    low, high = max(0, start - 40), min(len(text), end + 40)
    while start > low and not text[start - 1].isspace() and not text[start].isspace():
        start -= 1
    while end < high and end > 0 and not text[end].isspace() and not text[end - 1].isspace():
        end += 1
    return start, end


def _words(text: str) -> list[str]:
    return [_THOUSANDS.sub("", word) for word in _WORD.findall(text)]


def _changes(piece: str, passage: str) -> str | None:
    """The first difference between the words that is not tolerated; none where all are.

    Extra words at the ends of the passage do not count: the alignment may reach too far.
    """
    from rapidfuzz.distance import Levenshtein

    quoted_words, source_words = _words(piece), _words(passage)
    steps = [step for step in Levenshtein.opcodes(quoted_words, source_words) if step.tag != "equal"]
    slips = 0
    for step in steps:
        quoted_run, source_run = (
            quoted_words[step.src_start : step.src_end],
            source_words[step.dest_start : step.dest_end],
        )
        if not quoted_run and (step.dest_start == 0 or step.dest_end == len(source_words)):
            continue
        pairs = list(zip(quoted_run, source_run, strict=False))
        extra = quoted_run[len(pairs) :] + source_run[len(pairs) :]
        if all(_misspelt(a, b) for a, b in pairs) and all(word in _ARTICLES for word in extra):
            slips += len(pairs) + len(extra)
            continue
        return _difference(" ".join(quoted_run), " ".join(source_run))
    return None if slips <= max(1, len(quoted_words) // WORDS_PER_SLIP) else "too many words are written differently"


def _difference(quoted: str, source: str) -> str:
    if not quoted:
        return f"it leaves out '{_shorten(source)}'"
    if not source:
        return f"it adds '{_shorten(quoted)}'"
    return f"it says '{_shorten(quoted)}' where the source says '{_shorten(source)}'"


def _misspelt(first: str, second: str) -> bool:
    """Whether two words are equal but for one extra letter, inside or at the end of a long word.

    A changed letter may make another word (employer, employee), and so may a prefix (legal, illegal).
    """
    plain_first, plain_second = _without_accents(first), _without_accents(second)
    if plain_first == plain_second:
        return True
    if any(c.isdigit() for c in first + second) or min(len(plain_first), len(plain_second)) < 5:
        return False
    if plain_first.endswith(plain_second) or plain_second.endswith(plain_first):
        return False
    from rapidfuzz.distance import Levenshtein

    return abs(len(plain_first) - len(plain_second)) == 1 and Levenshtein.distance(plain_first, plain_second) == 1


def _without_accents(word: str) -> str:
    """The word without accents, hyphens and apostrophes; numbers keep their signs."""
    if any(c.isdigit() for c in word):
        return word
    return "".join(
        c for c in unicodedata.normalize("NFD", word) if c.isalnum() or unicodedata.category(c)[0] not in "MP"
    )


def _shorten(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."
