"""A memory for the tokens of words: a check encodes the same words in sentences, in windows and in pairs.

Only for tokenizers that encode a text word by word, as those of BERT and similar models do: no token reaches across a
space, so the tokens of a text are those of its words in order. Words from memory take a tenth of the time.
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
"""Divided only at the spaces where every normalizer divides; it removes some other spaces without dividing there."""
LONGEST_KEPT: Final = 40
"""The most characters of a word that is remembered; longer ones (links, lines without spaces) rarely recur."""
MOST_KEPT: Final = 50_000
"""Words that are remembered, with their tokens about 200 bytes each; all are forgotten when there are more."""


@dataclass(frozen=True, slots=True)
class PairForm:
    """The special tokens around premise and claim in an encoded pair."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    behind: tuple[int, ...]
    types: tuple[int, int, int, int, int]
    """The token types of `before`, the premise, `between`, the claim and `behind`."""

    def ids(self, premise: Sequence[int], claim: Sequence[int]) -> list[int]:
        """The tokens of a pair."""
        return [*self.before, *premise, *self.between, *claim, *self.behind]

    def type_ids(self, premise: int, claim: int) -> list[int]:
        """The token types of a pair whose texts have `premise` and `claim` tokens."""
        sizes = (len(self.before), premise, len(self.between), claim, len(self.behind))
        return [kind for kind, size in zip(self.types, sizes, strict=True) for _ in range(size)]


def pair_form(tokenizer: Tokenizer) -> PairForm | None:
    """How a tokenizer encodes a pair; none where it is more than premise and claim with constant tokens around them."""
    encoding = tokenizer.encode("a a", "b")
    sequences = encoding.sequence_ids
    premise = [i for i, text in enumerate(sequences) if text == 0]
    claim = [i for i, text in enumerate(sequences) if text == 1]
    if not premise or not claim or premise[-1] > claim[0]:
        return None
    if premise != [*range(premise[0], premise[-1] + 1)] or claim != [*range(claim[0], claim[-1] + 1)]:
        return None
    cuts = (0, premise[0], premise[-1] + 1, claim[0], claim[-1] + 1, len(sequences))
    parts = [slice(a, b) for a, b in pairwise(cuts)]
    kinds = [set(encoding.type_ids[part]) for part in parts]
    if any(len(kind) > 1 for kind in kinds):
        return None
    ids = [tuple(encoding.ids[part]) for part in parts]
    first, second, third, fourth, fifth = (kind.pop() if kind else 0 for kind in kinds)
    return PairForm(ids[0], ids[2], ids[4], (first, second, third, fourth, fifth))


def divides_at_spaces(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer encodes a text word by word; true only of BERT's own normalizer, splitter and model."""
    parts = json.loads(tokenizer.to_str())
    kinds = [(parts.get(name) or {}).get("type") for name in ("normalizer", "pre_tokenizer", "model")]
    # An added token may hold spaces, unless it is special: those are read as ordinary words.
    only_special = all(token.get("special") for token in parts.get("added_tokens") or ())
    return kinds == ["BertNormalizer", "BertPreTokenizer", "WordPiece"] and only_special


class WordMemory:
    """Encodes texts word by word, from memory where it can. Safe to use from several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Start empty, for a tokenizer of which `divides_at_spaces` is true."""
        self._tokenizer = tokenizer
        self._kept: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        """The number of words that are remembered."""
        return len(self._kept)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text without special ones; the same as the tokenizer gives for the whole text."""
        return [list(chain.from_iterable(words)) for words in self._word_ids(texts)]

    def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, without special ones."""
        return [sum(map(len, words)) for words in self._word_ids(texts)]

    def _word_ids(self, texts: Sequence[str]) -> list[list[tuple[int, ...]]]:
        """For each text the tokens of each of its words."""
        words_by_text = [_WORD.findall(text) for text in texts]
        kept = self._kept
        words = set(chain.from_iterable(words_by_text))
        ids_by_word = {word: ids for word in words if (ids := kept.get(word)) is not None}
        missing = words.difference(ids_by_word)
        if missing:
            fresh = self._encode(sorted(missing))
            ids_by_word |= fresh
            kept.update((word, ids) for word, ids in fresh.items() if len(word) <= LONGEST_KEPT)
            if len(kept) > MOST_KEPT:
                self._kept = {}
        return [[ids_by_word[word] for word in words_of_text] for words_of_text in words_by_text]

    def _encode(self, words: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """The tokens of each word. All are encoded as one text, which is several times as fast as one by one."""
        encoding = self._tokenizer.encode("\n".join(words), add_special_tokens=False)
        ids = encoding.ids
        starts = [start for start, _ in encoding.offsets]
        result: dict[str, tuple[int, ...]] = {}
        token, end = 0, -1
        for word in words:
            end += len(word) + 1
            first = token
            while token < len(starts) and starts[token] < end:
                token += 1
            result[word] = tuple(ids[first:token])
        return result
