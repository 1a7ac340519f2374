"""The WordNet dictionary as the makers of rows read it: senses with their frequency, related words, inflection.

The dictionary is a folder of text files in the format of WordNet 3.0 (`man wndb`), for instance of Debian's package
`wordnet-base`. It is needed to make training rows only; nothing of it is in this repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from assay.text.lexicon import verbs

Pos = Literal["n", "v", "a"]
Form = Literal["base", "plural", "third", "past", "participle", "ing"]

_FILES: tuple[tuple[Pos, str], ...] = (("n", "noun"), ("v", "verb"), ("a", "adj"))
_POS_OF_KEY: dict[str, Pos] = {"1": "n", "2": "v", "3": "a", "5": "a"}
_DOMINANCE = 3
"""How many times as often the first sense must have been tagged as the second for it to be taken for granted."""
_ENDINGS: dict[Pos, tuple[tuple[str, str, Form], ...]] = {
    "n": (
        ("men", "man", "plural"),
        ("ies", "y", "plural"),
        ("ses", "s", "plural"),
        ("xes", "x", "plural"),
        ("zes", "z", "plural"),
        ("ches", "ch", "plural"),
        ("shes", "sh", "plural"),
        ("s", "", "plural"),
    ),
    "v": (
        ("ies", "y", "third"),
        ("es", "e", "third"),
        ("es", "", "third"),
        ("s", "", "third"),
        ("ied", "y", "past"),
        ("ed", "e", "past"),
        ("ed", "", "past"),
        ("ing", "e", "ing"),
        ("ing", "", "ing"),
    ),
    "a": (),
}
_VOWELS = "aeiou"
_REGULAR_MAN = frozenset({"human", "german", "roman", "ottoman", "talisman", "shaman", "caiman"})
_PAST_OF = {entry[0]: entry[1] for entry in verbs._irregular}  # noqa: SLF001 the tables are read here alone
_PARTICIPLE_OF = {entry[0]: entry[2] for entry in verbs._irregular}  # noqa: SLF001


class Link(NamedTuple):
    """A pointer of one synset to another."""

    symbol: str
    """`@` wider, `~` narrower, `!` opposite, `&` similar and so on."""
    pos: Pos
    offset: int
    source: int
    """Number of the word that it goes out from, from 1; 0 for the whole synset."""
    target: int


@dataclass(frozen=True)
class Synset:
    """Words of one meaning."""

    pos: Pos
    offset: int
    topic: int
    """Number of the lexicographer's file: 5 animals, 6 artefacts, 18 persons and so on."""
    words: tuple[str, ...]
    links: tuple[Link, ...]
    frames: frozenset[int]
    """Of a verb: the sentence frames that all its words fit."""
    gloss: str

    def linked(self, symbol: str) -> Iterator[Link]:
        """The pointers of one kind; those to named instances (`@i`, `~i`) are another kind."""
        return (link for link in self.links if link.symbol == symbol)


@dataclass(frozen=True)
class Entry:
    """What the index says of one word as one part of speech."""

    offsets: tuple[int, ...]
    """Its synsets, the most frequent sense first."""
    tags: tuple[int, ...]
    """How often each sense was tagged in WordNet's corpora, in the same order."""

    @property
    def clear(self) -> bool:
        """Whether the first sense stands for the word: its only one, or far more frequent than the next."""
        return len(self.offsets) == 1 or self.tags[0] >= _DOMINANCE * max(1, *self.tags[1:])


@dataclass
class Lexicon:
    """Words with their senses, related words and inflected forms."""

    entries: Mapping[Pos, Mapping[str, Entry]]
    texts: Mapping[Pos, bytes]
    """The data files, read where an offset points to."""
    irregular: Mapping[Pos, Mapping[str, str]]
    """Base forms by irregular form."""
    _bases: dict[Pos, dict[str, list[str]]] = field(init=False)
    """Irregular forms by base form."""

    def __post_init__(self) -> None:
        self._bases = {pos: {} for pos in self.irregular}
        for pos, forms in self.irregular.items():
            for form, base in forms.items():
                self._bases[pos].setdefault(base, []).append(form)
        self.synset = lru_cache(maxsize=1 << 16)(self._synset)  # type: ignore[method-assign]
        self.analyse = lru_cache(maxsize=1 << 16)(self._analyse)  # type: ignore[method-assign]
        self.ancestors = lru_cache(maxsize=1 << 16)(self._ancestors)  # type: ignore[method-assign]

    @classmethod
    def read(cls, folder: Path) -> Lexicon:
        """Reads the index, data and exception files of nouns, verbs and adjectives, and `cntlist.rev`.

        Raises:
            FileNotFoundError: one of the files is not in the folder; the message names it and says where to get it.
            ValueError: a line of the index or of the counts is not of the expected format.
        """
        names = ["cntlist.rev", *(f"{kind}.{name}" for _, name in _FILES for kind in ("index", "data"))]
        names += [f"{name}.exc" for _, name in _FILES]
        for name in names:
            if not (folder / name).is_file():
                raise FileNotFoundError(
                    f"{folder / name} lacks: give the folder of a WordNet 3.0 dictionary (Debian: package wordnet-base)"
                )
        tags: dict[tuple[str, Pos], dict[int, int]] = {}
        for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
            key, sense, count = line.split()
            lemma, _, rest = key.partition("%")
            if rest[:1] in _POS_OF_KEY:
                tags.setdefault((lemma, _POS_OF_KEY[rest[0]]), {})[int(sense)] = int(count)
        entries: dict[Pos, dict[str, Entry]] = {}
        irregular: dict[Pos, dict[str, str]] = {}
        for pos, name in _FILES:
            found: dict[str, Entry] = {}
            for line in (folder / f"index.{name}").read_text(encoding="utf-8").splitlines():
                if line.startswith(" "):
                    continue  # the licence
                parts = line.split()
                offsets = tuple(map(int, parts[len(parts) - int(parts[2]) :]))
                counts = tags.get((parts[0], pos), {})
                found[parts[0]] = Entry(offsets, tuple(counts.get(i + 1, 0) for i in range(len(offsets))))
            entries[pos] = found
            lines = (folder / f"{name}.exc").read_text(encoding="utf-8").splitlines()
            irregular[pos] = {p[0]: p[1] for p in map(str.split, reversed(lines)) if len(p) >= 2}
        texts = {pos: (folder / f"data.{name}").read_bytes() for pos, name in _FILES}
        return cls(entries, texts, irregular)

    def entry(self, lemma: str, pos: Pos) -> Entry | None:
        """The entry of a base form; blanks of compounds are written `_`."""
        return self.entries[pos].get(lemma)

    def weight(self, lemma: str, pos: Pos) -> int:
        """How often the word was tagged as this part of speech, in all senses; 0 for one that is not in it."""
        entry = self.entries[pos].get(lemma)
        return sum(entry.tags) if entry is not None else 0

    def synset(self, pos: Pos, offset: int) -> Synset:
        """The synset at an offset of the data file."""
        return self._synset(pos, offset)

    def _synset(self, pos: Pos, offset: int) -> Synset:
        text = self.texts[pos]
        line = text[offset : text.index(b"\n", offset)].decode("utf-8")
        head, _, gloss = line.partition(" | ")
        parts = head.split()
        if int(parts[0]) != offset:
            raise ValueError(f"no synset at {offset} of the data file of {pos!r}")
        count = int(parts[3], 16)
        words = tuple(parts[4 + 2 * i].partition("(")[0] for i in range(count))
        at = 4 + 2 * count
        links = []
        for i in range(int(parts[at])):
            symbol, target, kind, ends = parts[at + 1 + 4 * i : at + 5 + 4 * i]
            if kind != "r":
                source, word = divmod(int(ends, 16), 256)
                links.append(Link(symbol, _pos(kind), int(target), source, word))
        rest = parts[at + 1 + 4 * int(parts[at]) :]
        frames = frozenset(int(rest[i + 1]) for i, mark in enumerate(rest) if mark == "+" and rest[i + 2] == "00")
        return Synset(pos, offset, int(parts[1]), words, tuple(links), frames, gloss)

    def clear_sense(self, lemma: str, pos: Pos) -> Synset | None:
        """The synset that a word surely stands for as this part of speech, or nothing."""
        entry = self.entries[pos].get(lemma)
        return self.synset(pos, entry.offsets[0]) if entry is not None and entry.clear else None

    def ancestors(self, pos: Pos, offset: int) -> frozenset[int]:
        """Offsets of all wider synsets and of the synset itself."""
        return self._ancestors(pos, offset)

    def _ancestors(self, pos: Pos, offset: int) -> frozenset[int]:
        found = {offset}
        open_ = [offset]
        while open_:
            for link in self.synset(pos, open_.pop()).links:
                if link.symbol in ("@", "@i") and link.offset not in found:
                    found.add(link.offset)
                    open_.append(link.offset)
        return frozenset(found)

    def analyse(self, form: str, pos: Pos) -> tuple[str, Form] | None:
        """The base form and the inflection of a lower-case word form, or nothing where it is none of this kind.

        A regular past form that may be a participle too is `past`; the sentence says which.
        """
        return self._analyse(form, pos)

    def _analyse(self, form: str, pos: Pos) -> tuple[str, Form] | None:
        if pos == "n" and form == "people":
            return "person", "plural"
        base = self.irregular[pos].get(form)
        known = self.entries[pos]
        if base is not None and base in known and base != form:
            return base, "plural" if pos == "n" else "ing" if form.endswith("ing") else "past"
        if form in known and not (pos == "n" and form.endswith("s") and form[:-1] in known):
            return form, "base"
        for ending, instead, name in _ENDINGS[pos]:
            stem = form[: -len(ending)] + instead
            if form.endswith(ending) and len(stem) > 2 and stem in known and self.inflect(stem, pos, name) == form:
                return stem, name
        return None

    def inflect(self, base: str, pos: Pos, form: Form) -> str | None:
        """The inflected form of a base form; nothing where it is irregular in a way that is not known.

        >>> Lexicon({}, {}, {"n": {}, "v": {"begging": "beg"}}).inflect("carry", "v", "past")
        'carried'
        """
        if form == "base":
            return base
        odd = self._bases[pos].get(base, [])
        if pos == "n":
            if base == "person":
                return "people"
            if base.endswith("man") and base not in _REGULAR_MAN:
                return base[:-3] + "men"
            return odd[0] if odd and _with_s(base) not in odd else _with_s(base)
        if form == "third":
            return _with_s(base)
        if form == "ing":
            doubled = [o for o in odd if o.endswith("ing")]
            if doubled:
                return doubled[0]
            if base.endswith("ie"):
                return base[:-2] + "ying"
            return (base[:-1] if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) else base) + "ing"
        if base in _PAST_OF:
            return _PAST_OF[base] if form == "past" else _PARTICIPLE_OF[base]
        doubled = [o for o in odd if not o.endswith("ing")]
        if doubled:
            return doubled[0] if len(doubled) == 1 and doubled[0].endswith("ed") else None
        if base.endswith("e"):
            return base + "d"
        return base[:-1] + "ied" if base.endswith("y") and base[-2:-1] not in _VOWELS else base + "ed"


def _pos(kind: str) -> Pos:
    return "n" if kind == "n" else "v" if kind == "v" else "a"


def _with_s(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2:-1] not in _VOWELS else base + "s"
