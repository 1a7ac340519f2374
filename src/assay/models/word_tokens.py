"""The tokens of words, remembered: a check reads the same words in sentences, in windows and in pairs.

Only for tokenizers that read a text word by word, as those of BERT and its kin do: a space divides for good there, and
the tokens of a text are those of its words one after the other. Reading words from memory takes a tenth of the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WORD: Final = re.compile("[^ \t\r\n]+")
"""What every cleaning of a text keeps apart. Other spaces are left inside: some of them are removed, not divided at."""
LONGEST_KEPT: Final = 40
"""Characters of a word that is remembered; what is longer (a link, a line without spaces) rarely comes again."""
MOST_KEPT: Final = 50_000
"""Words that are remembered, with their tokens about 200 bytes each; all are forgotten when there are more."""


@dataclass(frozen=True, slots=True)
class PairForm:
    """The special tokens of a pair and where the texts stand between them."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    behind: tuple[int, ...]
    types: tuple[int, int, int, int, int]
    """The token types of what is before, the premise, what is between, the claim and what is behind."""

    def ids(self, premise: Sequence[int], claim: Sequence[int]) -> list[int]:
        """The tokens of a pair."""
        return [*self.before, *premise, *self.between, *claim, *self.behind]

    def type_ids(self, premise: int, claim: int) -> list[int]:
        """The types of the tokens of a pair, given how many tokens the texts have."""
        sizes = (len(self.before), premise, len(self.between), claim, len(self.behind))
        return [kind for kind, size in zip(self.types, sizes, strict=True) for _ in range(size)]


def pair_form(tokenizer: Tokenizer) -> PairForm | None:
    """How a tokenizer puts a pair together; none where it is not premise and claim with constant tokens around."""
    found = tokenizer.encode("a a", "b")
    places = found.sequence_ids
    premise = [i for i, text in enumerate(places) if text == 0]
    claim = [i for i, text in enumerate(places) if text == 1]
    if not premise or not claim or premise[-1] > claim[0]:
        return None
    if premise != [*range(premise[0], premise[-1] + 1)] or claim != [*range(claim[0], claim[-1] + 1)]:
        return None
    cuts = (0, premise[0], premise[-1] + 1, claim[0], claim[-1] + 1, len(places))
    parts = [slice(a, b) for a, b in pairwise(cuts)]
    kinds = [set(found.type_ids[part]) for part in parts]
    if any(len(kind) > 1 for kind in kinds):
        return None
    ids = [tuple(found.ids[part]) for part in parts]
    first, second, third, fourth, fifth = (kind.pop() if kind else 0 for kind in kinds)
    return PairForm(ids[0], ids[2], ids[4], (first, second, third, fourth, fifth))


def divides_at_spaces(tokenizer: Tokenizer) -> bool:
    """Whether no token can reach, and nothing be read differently, across a space: known of BERT's own parts alone."""
    parts = json.loads(tokenizer.to_str())
    kinds = [(parts.get(name) or {}).get("type") for name in ("normalizer", "pre_tokenizer", "model")]
    # A token that was added by hand may hold spaces; special ones are read as ordinary words.
    own = all(token.get("special") for token in parts.get("added_tokens") or ())
    return kinds == ["BertNormalizer", "BertPreTokenizer", "WordPiece"] and own


class WordMemory:
    """Tokens of texts, put together from those of their words. Safe to use from several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Remember for a tokenizer of which `divides_at_spaces` is true."""
        self._tokenizer = tokenizer
        self._kept: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        """Words that are remembered."""
        return len(self._kept)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text without special ones; the same as the tokenizer gives for the whole text."""
        return [list(chain.from_iterable(own)) for own in self._of_words(texts)]

    def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, without special ones."""
        return [sum(map(len, own)) for own in self._of_words(texts)]

    def _of_words(self, texts: Sequence[str]) -> list[list[tuple[int, ...]]]:
        """For each text the tokens of its words, one after the other."""
        words = [_WORD.findall(text) for text in texts]
        kept = self._kept
        wanted = set(chain.from_iterable(words))
        found = {word: ids for word in wanted if (ids := kept.get(word)) is not None}
        missing = wanted.difference(found)
        if missing:
            fresh = self._read(sorted(missing))
            found |= fresh
            kept.update((word, ids) for word, ids in fresh.items() if len(word) <= LONGEST_KEPT)
            if len(kept) > MOST_KEPT:
                self._kept = {}
        return [[found[word] for word in own] for own in words]

    def _read(self, words: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """The tokens of words, read as one text: several times as fast as one by one."""
        found = self._tokenizer.encode("\n".join(words), add_special_tokens=False)
        ids = found.ids
        starts = [start for start, _ in found.offsets]
        result: dict[str, tuple[int, ...]] = {}
        at, end = 0, -1
        for word in words:
            end += len(word) + 1
            first = at
            while at < len(starts) and starts[at] < end:
                at += 1
            result[word] = tuple(ids[first:at])
        return result
