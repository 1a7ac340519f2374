"""Whether quoted words are in a source.

A quotation is verbatim: the words in their order. What may differ is case, white space, typographic signs, emphasis
marks, an article, and the misspelling of a long word; `...` stands for words left out, in the order of the source, and
square brackets for the letter that an editor changed. A number, a negation or any other word that differs makes it a
misquotation, and so does stitching it together from several places without saying so.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

SIMILARITY: Final = 90.0
"""From this similarity of characters on (0 to 100) a passage is compared word by word; chosen so that two changed
letters in a quotation of twenty still meet their passage. It finds the passage, the words decide."""

NEAREST: Final = 60.0
"""From this similarity on a passage is shown as what the source says instead."""

WORDS_PER_SLIP: Final = 12
"""One misspelling or missing article is forgiven for so many words."""

SHORTEST_PIECE: Final = 3
"""The fewest words of one place that count as a piece of a stitched quotation."""

LONGEST_STITCH_SEARCH: Final = 2_000_000
"""Characters of a source up to which the pieces of a stitched quotation are looked for; only the message needs them."""

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
    exact: bool
    """Whether it is there word for word."""
    reason: str
    """Why it does not match, as the end of a sentence; empty where it does."""


class QuotedSource:
    """A source made ready for comparison once, for any number of quotations."""

    def __init__(self, text: str) -> None:
        self.text = fold_quote(text)

    def match(self, quote: str) -> QuoteMatch:
        """Compares one quotation with the source; linear in the source for every piece between ellipses.

        >>> source = QuotedSource("Partners are entitled to 2 weeks of leave, and must apply in writing.")
        >>> source.match("partners are entitled to 2 weeks ... apply in writing").exact
        True
        >>> source.match("Partners are entitled to 4 weeks").reason
        "it says '4' where the source says '2'"
        """
        pieces = [piece for piece in (_stripped(part) for part in _ELLIPSIS.split(quote)) if piece]
        exact = True
        at = 0
        for piece in pieces:
            end = self._find(piece, at)
            if end < 0:
                exact = False
                end, reason = self._nearly(piece, at)
                if reason:
                    return QuoteMatch(quote, False, False, self._explain(piece, at, reason))
            at = end
        if not pieces:
            return QuoteMatch(quote, False, False, "it quotes no words")
        return QuoteMatch(quote, True, exact, "")

    def _find(self, piece: str, at: int) -> int:
        """The end of the piece where it stands word for word at or behind a place; -1 where it does not."""
        start = self.text.find(piece, at)
        while start >= 0:
            end = start + len(piece)
            if _edge(self.text, start) and _edge(self.text, end):
                return end
            start = self.text.find(piece, end)
        return -1

    def _nearly(self, piece: str, at: int) -> tuple[int, str]:
        """The end of the passage that the piece renders with slips that are forgiven; else the reason."""
        from rapidfuzz import fuzz

        rest = self.text[at:]
        if len(piece) > len(rest):
            return at, "these words do not stand in the source"
        found = fuzz.partial_ratio_alignment(piece, rest, score_cutoff=NEAREST)
        if found is None:
            return at, "these words do not stand in the source"
        start, end = _whole_words(rest, found.dest_start, found.dest_end)
        passage = rest[start:end]
        changes = _changes(piece, passage)
        if found.score >= SIMILARITY and changes is None:
            return at + end, ""
        if found.score >= SIMILARITY and changes:
            return at, changes
        return at, f"the source says '{_shown(passage.strip())}'"

    def _explain(self, piece: str, at: int, reason: str) -> str:
        if at and self._find(piece, 0) >= 0:
            return "its parts stand in the source in another order"
        places = self._stitched(piece)
        return f"it is stitched together from {places} places of the source" if places > 1 else reason

    def _stitched(self, piece: str) -> int:
        """From how many places the words come, each longer than two words; 0 where they do not all come from it."""
        words = piece.split(" ")
        if len(self.text) > LONGEST_STITCH_SEARCH or len(words) > 200:
            return 0
        places = at = 0
        while at < len(words):
            low, high = at, len(words)
            # The longest run that is in the source: a run is there only if every shorter one does.
            while low < high:
                middle = (low + high + 1) // 2
                if " ".join(words[at:middle]) in self.text:
                    low = middle
                else:
                    high = middle - 1
            if low - at < SHORTEST_PIECE:
                return 0
            at, places = low, places + 1
        return places


def fold_quote(text: str) -> str:
    """The text without what a faithful quotation may change: case, white space, typographic signs, emphasis.

    >>> fold_quote("The  “Leave” **policy** – 2024")
    'the "leave" policy - 2024'
    """
    return " ".join(unicodedata.normalize("NFKC", text).translate(_FOLDED_SIGNS).casefold().split())


def _stripped(part: str) -> str:
    """One piece between ellipses, without signs at its ends."""
    return fold_quote(_EDITED.sub(r"\1", part)).strip(" .,;:!?\"'()[]-")


def _edge(text: str, at: int) -> bool:
    """Whether no word and no number goes on across the place."""
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
    """What differs between the words; none where all of it is forgiven.

    Words at the ends of the passage that the quotation has not do not count: the alignment may reach too far.
    """
    from rapidfuzz.distance import Levenshtein

    quoted, said = _words(piece), _words(passage)
    steps = [step for step in Levenshtein.opcodes(quoted, said) if step.tag != "equal"]
    slips = 0
    for step in steps:
        ours, theirs = quoted[step.src_start : step.src_end], said[step.dest_start : step.dest_end]
        if not ours and (step.dest_start == 0 or step.dest_end == len(said)):
            continue
        pairs = list(zip(ours, theirs, strict=False))
        extra = ours[len(pairs) :] + theirs[len(pairs) :]
        if all(_misspelt(a, b) for a, b in pairs) and all(word in _ARTICLES for word in extra):
            slips += len(pairs) + len(extra)
            continue
        return _difference(" ".join(ours), " ".join(theirs))
    return None if slips <= max(1, len(quoted) // WORDS_PER_SLIP) else "too many words are written differently"


def _difference(ours: str, theirs: str) -> str:
    if not ours:
        return f"it leaves out '{_shown(theirs)}'"
    if not theirs:
        return f"it adds '{_shown(ours)}'"
    return f"it says '{_shown(ours)}' where the source says '{_shown(theirs)}'"


def _misspelt(one: str, other: str) -> bool:
    """Whether two words are the same but for a letter too many in one of them, inside or at the end of a long word.

    A changed letter may be another word (employer, employee), and so may a new beginning (legal, illegal).
    """
    plain, second = _plain(one), _plain(other)
    if plain == second:
        return True
    if any(c.isdigit() for c in one + other) or min(len(plain), len(second)) < 5:
        return False
    if plain.endswith(second) or second.endswith(plain):
        return False
    from rapidfuzz.distance import Levenshtein

    return abs(len(plain) - len(second)) == 1 and Levenshtein.distance(plain, second) == 1


def _plain(word: str) -> str:
    """The word without accents, hyphens and apostrophes; numbers keep their signs."""
    if any(c.isdigit() for c in word):
        return word
    return "".join(
        c for c in unicodedata.normalize("NFD", word) if c.isalnum() or unicodedata.category(c)[0] not in "MP"
    )


def _shown(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."
