"""Encodes texts with the `tokenizer.json` of a model, whole: nothing is cut off or padded.

A published tokenizer file often says "cut at 512" and "pad to 512"; both are switched off here. The names of special
tokens in a text ("[SEP]") are read as ordinary words, so that evidence cannot end its own premise. WordPiece turns a
word of more than 100 letters into one unknown token; such words are read in pieces of 80.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import ModelError
from assay.models.manifest import read_json
from assay.models.word_tokens import WordMemory, divides_at_spaces, pair_form

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

LONGEST_WORD = 80
"""Characters of a word beyond which it is read in pieces."""
ASSUMED_POSITIONS = 512
"""The token limit of a model whose config gives none: that of BERT and similar models."""
OFFSET_MODELS = frozenset({"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "mpnet", "longformer"})
"""Model types whose positions start after the padding index."""
_INSIDE = r"[^\s!-/:-@\[-`{-~]"  # neither white space nor ASCII punctuation, where every tokenizer divides
_LONG_WORD = re.compile(rf"({_INSIDE}{{{LONGEST_WORD}}})(?={_INSIDE})")
_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"[$\u20ac\u00a3]?[^\W_](?:.*[^\W_])?[%\u00b0]?|[%$\u20ac\u00a3]", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    """The text as the tokenizer can read it whole: long words in pieces, lone surrogates replaced.

    >>> len(readable("a" * 200).split())
    3
    """
    return _LONG_WORD.sub(r"\1 ", _SURROGATE.sub("\ufffd", text))


@dataclass(frozen=True, slots=True)
class Tokens:
    """One pair as token numbers; the attention mask is all ones because pairs are never padded."""

    ids: list[int]
    types: list[int]


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """The words of a claim and the tokens that each is made of."""

    spans: tuple[tuple[int, int], ...]
    """Start and end of each word in characters of the claim, without the punctuation around it."""
    of_token: tuple[int, ...]
    """For each token of the claim the index of its word; -1 for punctuation between words."""


NO_WORDS = ClaimWords((), ())


class PairTokenizer:
    """Counts tokens and encodes pairs of premise and claim."""

    def __init__(self, tokenizer: Tokenizer, special: int) -> None:
        self._tokenizer = tokenizer
        self.special = special
        """The number of special tokens in an encoded pair."""
        self._form = pair_form(tokenizer) if divides_at_spaces(tokenizer) else None
        self._memory = WordMemory(tokenizer)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text without special tokens."""
        if self._form is not None:
            return self._memory.count([readable(t) for t in texts])
        encodings = self._tokenizer.encode_batch_fast([readable(t) for t in texts], add_special_tokens=False)
        return [len(e) for e in encodings]

    def knows(self, text: str) -> bool:
        """Whether every sign of a text is read: none of its tokens stands for something unknown."""
        unknown = self._tokenizer.token_to_id("[UNK]")
        return unknown not in self._tokenizer.encode(readable(text), add_special_tokens=False).ids

    def words(self, claim: str) -> ClaimWords:
        """The words of a claim, divided at white space, without the punctuation around them.

        No words where the claim holds a word of more than `LONGEST_WORD` characters: it is read in pieces then.
        """
        encoded = readable(claim)
        if len(encoded) != len(claim):
            return NO_WORDS
        spans = []
        for chunk in _CHUNK.finditer(claim):
            word = _WORD.search(claim, *chunk.span())
            if word is not None:
                spans.append(word.span())
        offsets = self._tokenizer.encode(encoded, add_special_tokens=False).offsets
        of_token, word_index = [], 0
        for start, end in offsets:
            while word_index < len(spans) and spans[word_index][1] <= start:
                word_index += 1
            inside = word_index < len(spans) and start < spans[word_index][1] and end > spans[word_index][0]
            of_token.append(word_index if inside else -1)
        return ClaimWords(tuple(spans), tuple(of_token))

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Tokens]:
        """Premise and claim with their special tokens, never cut."""
        readable_pairs = [(readable(premise), readable(claim)) for premise, claim in pairs]
        if self._form is not None:
            texts = list(dict.fromkeys(text for pair in readable_pairs for text in pair))
            ids = dict(zip(texts, self._memory.ids(texts), strict=True))
            form = self._form
            return [
                Tokens(form.ids(ids[p], ids[c]), form.type_ids(len(ids[p]), len(ids[c]))) for p, c in readable_pairs
            ]
        encodings: list[Encoding] = self._tokenizer.encode_batch_fast(readable_pairs)
        return [Tokens(e.ids, e.type_ids) for e in encodings]


def load_tokenizer(path: Path) -> PairTokenizer:
    """Read a `tokenizer.json`.

    Raises:
        ModelError: the file is missing or is no tokenizer.
    """
    from tokenizers import Tokenizer

    if not path.exists():
        raise ModelError(
            f"{path}: missing; save the fast tokenizer beside the network "
            f"(AutoTokenizer.from_pretrained(NAME).save_pretrained({str(path.parent)!r}))"
        )
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the tokenizers package raises plain `Exception`; it becomes a ModelError
        raise ModelError(
            f"{path}: expected a tokenizer in the tokenizers format, got {error}; restore the file"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return PairTokenizer(tokenizer, tokenizer.num_special_tokens_to_add(is_pair=True))


def position_limit(config: Mapping[str, object], directory: Path) -> int:
    """The most tokens of a pair: the positions of the network, or less where the tokenizer's own limit is lower.

    Raises:
        ModelError: the config gives a limit that is no positive number.
    """
    limits = []
    positions = config.get("max_position_embeddings")
    if positions is not None:
        if not isinstance(positions, int) or positions <= 0:
            raise ModelError(
                f"{directory / 'config.json'}: max_position_embeddings is {positions!r}, expected a positive number"
            )
        padding = config.get("pad_token_id")
        offset = (padding if isinstance(padding, int) else 1) + 1 if config.get("model_type") in OFFSET_MODELS else 0
        limits.append(positions - offset)
    beside = directory / "tokenizer_config.json"
    if beside.exists():
        own = read_json(beside).get("model_max_length")
        if isinstance(own, int) and own > 0:
            limits.append(own)  # "no limit" is written as a huge number and loses the minimum
    finite_limits = [limit for limit in limits if limit < 1_000_000]
    return min(finite_limits) if finite_limits else ASSUMED_POSITIONS
