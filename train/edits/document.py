"""One document as the edits see it: cleaned, cut into sentences, with its names and verbs found once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from assay.text.claims.clauses import find_verb, subject_of
from assay.text.lexicon.tokens import Token, tokenise
from train.edits.names import Name, names_of
from train.edits.records import Record, read_record
from train.premises import sentences
from train.rows import detokenise

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NUMBER = re.compile(
    r"(?<![\w.,:/–-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w–-]|:\d)|(?<![\w.,:/–-])\d+(?:\.\d+)?(?![\w–-]|[.,:/]\d)"
)
YEAR = re.compile(
    r"(?<![\w.,$£€/-])(1[1-9]\d\d|20[0-4]\d)(?![\w-]|[.,]\d| (?:people|metres|meters|feet|miles|km|million|men)\b)"
)
_LEADING = re.compile(
    r"^(?:he|she|it|they|this|these|those|that|such|his|her|its|their|however|but|and|also|then|another|other|others|"
    r"here|there|both|one|meanwhile|instead|similarly|so|yet|or|as such|additionally|furthermore|moreover|therefore|"
    r"thus|hence|the (?:latter|former|same|other|two)|for (?:example|instance)|in (?:addition|contrast|turn|fact)|"
    r"as a result|on the other hand|now|again|still|to|what|why|how|when asked)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:I|we|We|my|My|our|Our|you|You|your|Your|us|me|myself|I'm|let's)\b")
_SPEAKER = re.compile(r"^[\w .'-]{1,30}:\s")
_WORDS = re.compile(r"\w+")


def clean(text: str) -> str:
    r"""Text of tokenised corpora as people write it; other text stays as it is, runs of blanks apart.

    >>> clean("The `` Blue Door '' ( 1999 ) cost $ 3 million , didn 't it ?")
    'The "Blue Door" (1999) cost $3 million, didn\'t it?'
    """
    if " ," in text or " ." in text or "``" in text or "-LRB-" in text:
        text = detokenise(text)
        text = re.sub(r"(?:``|'') ?([^`\n]{1,200}?) ?''", r'"\1"', text)
        text = re.sub(r" ?(?<=\w) ('(?:s|t|re|ve|ll|d|m)|n't)\b", r"\1", text)
        text = re.sub(r"([$£€]) (?=\d)", r"\1", text)
        text = re.sub(r"(\d) ?-- ?(\d)", r"\1-\2", text).replace(" -- ", " – ")
        text = re.sub(r"\( ", "(", re.sub(r" ([,.;:!?%)])", r"\1", text))
    return re.sub(r"[^\S\n]+", " ", text).strip()


def words_of(text: str) -> frozenset[str]:
    """The lower-case words of a text."""
    return frozenset(w.lower() for w in _WORDS.findall(text))


def usable(sentence: str) -> bool:
    """Whether a sentence stands on its own as a claim."""
    words = sentence.split()
    return (
        5 <= len(words) <= 40
        and len(sentence) <= 400
        and sentence[0].isupper()
        and sentence[-1] == "."
        and not sentence.endswith("...")
        and sentence.count('"') % 2 == 0
        and sentence.count("(") == sentence.count(")")
        and not any(c in sentence for c in "|#•[]{}<>\\*?!`\t")
        and sentence.count(":") == 0
        and not _LEADING.match(sentence)
        and not _PERSONAL.search(sentence)
        and detokenise(sentence) == sentence
    )


@dataclass(frozen=True)
class Parsed:
    """A sentence with its tokens, its main verb and its names."""

    text: str
    tokens: tuple[Token, ...]
    verb: int
    """Index of the main verb's token; -1 where none was found."""
    names: tuple[Name, ...]

    @property
    def subject_end(self) -> int:
        """Where the subject ends, in characters; 0 where there is no verb."""
        if self.verb < 1:
            return 0
        return subject_of(self.tokens, self.verb)[-1].end

    @property
    def verb_start(self) -> int:
        """Where the main verb begins, in characters; -1 without one."""
        return self.tokens[self.verb].start if self.verb >= 1 else -1


@lru_cache(maxsize=4096)
def parse(text: str) -> Parsed:
    """Tokens, main verb and names of one sentence."""
    tokens = tuple(tokenise(text))
    return Parsed(text, tokens, find_verb(tokens) if len(tokens) > 2 else -1, names_of(text))


@dataclass
class Document:
    """Evidence of one row, cut into sentences; what the edits ask of it is worked out once."""

    evidence: tuple[str, ...]
    pieces: tuple[str, ...] = field(init=False)
    record: Record | None = field(init=False, default=None)
    """What it states where it is no prose but a record or a table; its pieces are then its lines."""

    def __post_init__(self) -> None:
        lines = [line for e in self.evidence for line in e.split("\n") if line.strip()]
        self.record = read_record(lines) if len(self.evidence) == 1 and len(lines) >= 4 else None
        if self.record is not None:
            self.pieces = tuple(lines)
            return
        self.evidence = tuple(clean(e) for e in self.evidence)
        self.pieces = tuple(s for e in self.evidence for s in sentences(e))

    @cached_property
    def text(self) -> str:
        """All pieces as one text."""
        return " ".join(self.pieces)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its lower-case words."""
        return words_of(self.text)

    @cached_property
    def usable(self) -> tuple[int, ...]:
        """Indices of the pieces that stand on their own as claims and have a verb."""
        if self.record is not None:
            return ()
        return tuple(i for i, s in enumerate(self.pieces) if usable(s) and not _SPEAKER.match(s) and parse(s).verb >= 1)

    @cached_property
    def names(self) -> tuple[tuple[int, Name], ...]:
        """Every sure name with the index of its piece."""
        return tuple((i, n) for i, s in enumerate(self.pieces) if len(s) <= 600 for n in parse(s).names if n.sure)


def excerpt(pieces: Sequence[str], needed: Sequence[int], words: int) -> tuple[int, int]:
    """The first and last index (half-open) of a run of pieces around the needed ones, about `words` words long."""
    first, last = min(needed), max(needed) + 1
    size = sum(len(p.split()) for p in pieces[first:last])
    while True:
        grown = False
        if first > 0 and size + len(pieces[first - 1].split()) <= words:
            first -= 1
            size += len(pieces[first].split())
            grown = True
        if last < len(pieces) and size + len(pieces[last].split()) <= words:
            size += len(pieces[last].split())
            last += 1
            grown = True
        if not grown:
            return first, last
