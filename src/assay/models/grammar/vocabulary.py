"""The tokens of a local model as bytes: all that a grammar has to know of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assay.errors import ModelError


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Every token of a model, by its id."""

    tokens: tuple[bytes, ...]
    """The bytes of each token; for special tokens their names."""
    ends: frozenset[int]
    """The ids that end an answer; one or more."""
    special: frozenset[int] = frozenset()
    """Ids that stand for no text; those that end are among them."""

    def __post_init__(self) -> None:
        """Refuse a vocabulary with which no answer could end.

        Raises:
            ModelError: there is no token that ends an answer, or an id is out of range.
        """
        if not self.ends:
            raise ModelError("a vocabulary needs at least one token that ends an answer; got none")
        outside = [token for token in self.ends | self.special if not 0 <= token < len(self.tokens)]
        if outside:
            raise ModelError(f"token ids are from 0 to {len(self.tokens) - 1}, got {outside[0]}")

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return len(self.tokens)

    def text(self, ids: Sequence[int]) -> str:
        """What tokens say, special ones left out.

        >>> Vocabulary((b"{", b"}", b"<end>"), frozenset({2})).text([0, 1, 2])
        '{}'
        """
        silent = self.special | self.ends
        return b"".join(self.tokens[i] for i in ids if i not in silent).decode("utf-8", errors="replace")

    @classmethod
    def of_tokenizer(cls, tokenizer: Any, ends: Sequence[int], size: int | None = None) -> Vocabulary:
        """The vocabulary of a tokenizer.

        Args:
            tokenizer: a `tokenizers.Tokenizer`, or a fast tokenizer of transformers.
            ends: the ids that end an answer.
            size: how many logits the model gives, where these are more than the tokenizer has tokens; the ids
                beyond are never allowed.

        Raises:
            ModelError: its tokens are not made of bytes, or it has none.
        """
        backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
        known: Mapping[str, int] = backend.get_vocab(with_added_tokens=True)
        if not known:
            raise ModelError("the tokenizer has no tokens")
        added = dict(backend.get_added_tokens_decoder())
        model = json.loads(backend.to_str())
        read = _reader(model)
        count = max(max(known.values()) + 1, size or 0)
        tokens, special = [b""] * count, set(range(count))
        for text, index in known.items():
            extra = added.get(index)
            tokens[index] = text.encode() if extra is not None else read(text)
            if extra is None or not extra.special:
                special.discard(index)
        return cls(tuple(tokens), frozenset(ends), frozenset(special | set(ends)))


def _reader(model: Mapping[str, Any]) -> Any:
    """The function from a token's name to its bytes: byte-level BPE, or sentence pieces with byte fallback."""
    decoder = json.dumps(model.get("decoder"))
    if '"ByteLevel"' in decoder or '"ByteLevel"' in json.dumps(model.get("pre_tokenizer")):
        table = byte_letters()

        def byte_level(text: str) -> bytes:
            return bytes(table[letter] for letter in text) if all(c in table for c in text) else text.encode()

        return byte_level
    if "\u2581" in decoder or '"Metaspace"' in decoder:

        def sentence_piece(text: str) -> bytes:
            if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
                return bytes([int(text[3:5], 16)])
            return text.replace("\u2581", " ").encode()

        return sentence_piece
    raise ModelError(
        "a grammar needs a tokenizer whose tokens stand for bytes (byte-level BPE, or sentence pieces with byte "
        "fallback); this one does not, so a document could not be put together from its tokens"
    )


@lru_cache(maxsize=1)
def byte_letters() -> dict[str, int]:
    """The letters that byte-level BPE writes bytes with (the table of GPT-2).

    >>> byte_letters()["\u0120"], byte_letters()["A"]
    (32, 65)
    """
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in plain}
    shifted = [byte for byte in range(256) if byte not in set(plain)]
    table.update({chr(256 + place): byte for place, byte in enumerate(shifted)})
    return table
