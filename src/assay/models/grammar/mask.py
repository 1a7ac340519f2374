"""A schema as a mask over the next token: P'(y) is zero for every token that no valid document goes on with.

The grammar engine is llguidance: of the two that are well kept it is the one that needs neither PyTorch nor
transformers, refuses keywords that it cannot enforce instead of passing over them, and has a mask in tens of
microseconds (benchmarks/structured.py, record 23). What it makes is still checked against the schema by the validator
of the check: a mask that is wrong must not be believed either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, MissingPackageError, ModelError, VerifierError
from assay.models.grammar.formats import exact_formats
from assay.models.grammar.vocabulary import Vocabulary

_BACKSLASH: Final = 0x5C
_QUOTE: Final = 0x22
_BRACE: Final = 0x7B
_COMMA: Final = 0x2C
_NONE: Final = np.zeros(0, dtype=np.intp)
_IN_NUMBERS: Final = frozenset(b"+-.0123456789")
_EXPONENT: Final = re.compile(rb'[^"]*[0-9][eE]')
LONGEST_NUMBER: Final = 24
"""Characters of a number after which it is ended: a float holds 17 digits, and a model that repeats itself would go on
to one that no reader can hold."""


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A vocabulary in the form that the engine reads."""

    tokens: Sequence[bytes]
    special_token_ids: Sequence[int]
    eos_token_id: int
    bos_token_id: int | None = None

    def __call__(self, text: bytes | str) -> list[int]:
        """Byte by byte: the engine asks this only for tokens that it would skip ahead with, which is not used."""
        data = text.encode() if isinstance(text, str) else text
        return [self.tokens.index(bytes([byte])) for byte in data]


@dataclass(frozen=True, slots=True)
class _Signs:
    """The tokens that end an answer, and those that are a sign of JSON and nothing else."""

    ends: NDArray[np.bool_]
    quote: NDArray[np.bool_]
    closers: NDArray[np.bool_]
    separators: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    """Those that open nothing: no object, no list."""
    exponents: NDArray[np.bool_]
    """Those that hold an exponent where they stand outside of a string."""
    marks: NDArray[np.bool_]
    """Those that begin one behind a number."""
    digits: NDArray[np.bool_]
    """Those that go on with a number."""
    escapes: NDArray[np.bool_]
    """Those with a backslash, behind which two spellings of one key could hide."""
    several: NDArray[np.bool_]
    """Those that hold a whole text, quotation marks included."""
    closing: Mapping[bytes, NDArray[np.intp]]
    """Those with a quotation mark, by what stands before it."""
    whole: Mapping[bytes, Sequence[int]]
    """All of them, by their bytes."""

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> _Signs:
        ends = np.zeros(vocabulary.size, dtype=bool)
        ends[list(vocabulary.ends)] = True

        def named(*names: bytes) -> NDArray[np.bool_]:
            return np.array([token in names for token in vocabulary.tokens], dtype=bool)

        exponents = np.array([bool(_EXPONENT.match(token)) for token in vocabulary.tokens], dtype=bool)
        plain = np.array([not (b"{" in token or b"[" in token) for token in vocabulary.tokens], dtype=bool)
        marks = np.array([token[:1] in (b"e", b"E") for token in vocabulary.tokens], dtype=bool)
        digits = np.array([token[:1].isdigit() or token[:1] == b"." for token in vocabulary.tokens], dtype=bool)
        escapes = np.array([b"\\" in token for token in vocabulary.tokens], dtype=bool)
        several = np.array([token.count(b'"') > 1 for token in vocabulary.tokens], dtype=bool)
        closing: dict[bytes, list[int]] = {}
        whole: dict[bytes, list[int]] = {}
        for index, token in enumerate(vocabulary.tokens):
            whole.setdefault(token, []).append(index)
            before, mark, _ = token.partition(b'"')
            if mark:
                closing.setdefault(before, []).append(index)
        return cls(
            ends,
            named(b'"'),
            named(b"}", b"]"),
            named(b",", b":"),
            plain,
            exponents,
            marks,
            digits,
            escapes,
            several,
            {before: np.array(places) for before, places in closing.items()},
            whole,
        )


@dataclass(slots=True)
class _Lexer:
    """Where in a document the text so far ends."""

    inside: bool = False
    """Whether in a text, quotation marks around it."""
    number: int = 0
    """How long the number is that it ends with."""
    key: bytearray | None = None
    """The key so far, where it ends inside of one."""
    _escaped: bool = False
    _wants_key: bool = False
    _keys: list[set[bytes] | None] = field(default_factory=list)
    """The keys of each open object; none for a list."""

    @property
    def taken(self) -> set[bytes]:
        """The keys that the innermost object has already."""
        return (self._keys[-1] if self._keys else None) or set()

    def read(self, data: bytes) -> None:
        for byte in data:
            if self.inside:
                self._in_text(byte)
            else:
                self._outside(byte)

    def _in_text(self, byte: int) -> None:
        if self._escaped:
            self._escaped = False
        elif byte == _BACKSLASH:
            self._escaped = True
        elif byte == _QUOTE:
            self.inside = False
            if self.key is not None and self._keys and self._keys[-1] is not None:
                self._keys[-1].add(bytes(self.key))
            self.key = None
            return
        if self.key is not None:
            self.key.append(byte)

    def _outside(self, byte: int) -> None:
        self.number = self.number + 1 if byte in _IN_NUMBERS else 0
        if byte == _QUOTE:
            self.inside = True
            self.key = bytearray() if self._wants_key else None
            self._wants_key = False
        elif byte in b"{[":
            self._keys.append(set() if byte == _BRACE else None)
            self._wants_key = byte == _BRACE
        elif byte in b"}]":
            if self._keys:
                self._keys.pop()
            self._wants_key = False
        elif byte == _COMMA:
            self._wants_key = bool(self._keys) and self._keys[-1] is not None


class GrammarEngine:
    """A vocabulary made ready for grammars: about half a second for 128,000 tokens, once for all schemas."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Index a vocabulary.

        Raises:
            MissingPackageError: the engine is not installed.
            ModelError: the engine takes no such vocabulary.
        """
        self.vocabulary = vocabulary
        self._engine = _engine()
        self._tokenizer = _tokenizer(self._engine, vocabulary)
        self._signs = _Signs.of(vocabulary)

    def compile(self, schema: Mapping[str, Any], *, spaces: bool = False) -> JsonGrammar:
        """Compile a schema.

        Args:
            schema: the JSON Schema; with keywords only that can be enforced token by token.
            spaces: whether white space may stand between the parts of a document.

        Raises:
            InputError: the schema is broken, or asks for something that no mask can hold to (such as `not` or
                `uniqueItems`); the message names it.
        """
        matchers = self._engine.LLMatcher
        try:
            written = json.dumps(exact_formats(schema))
            grammar = matchers.grammar_from_json_schema(written, overrides={"whitespace_flexible": spaces})
        except (TypeError, ValueError) as error:
            raise InputError(f"the JSON Schema cannot be read: {error}") from error
        wrong, notes = matchers.validate_grammar_with_warnings(grammar, self._tokenizer)
        if wrong or notes:
            warnings = "; ".join(str(note).split("\n")[0][:200] for note in notes)
            raise InputError(f"the JSON Schema cannot be held to token by token: {warnings}")

        def begin() -> Any:
            return matchers(self._tokenizer, grammar, log_level=0)

        return JsonGrammar(self.vocabulary, begin, self._signs)


@dataclass(frozen=True, slots=True)
class JsonGrammar:
    """A JSON Schema compiled for one vocabulary; may be shared, masks are made from it."""

    vocabulary: Vocabulary
    _begin: Callable[[], Any]
    _signs: _Signs

    def mask(self) -> TokenMask:
        """A mask at the beginning of a document.

        Raises:
            InputError: the schema goes beyond what the engine holds.
        """
        matcher = self._begin()
        if matcher.is_error():
            raise InputError(f"the JSON Schema cannot be held to token by token: {matcher.get_error()[:200]}")
        return TokenMask(self.vocabulary, matcher, self._signs)


@dataclass(slots=True)
class TokenMask:
    """Where one document stands, and what may come next."""

    vocabulary: Vocabulary
    _matcher: Any
    _signs: _Signs
    _lexer: _Lexer = field(default_factory=_Lexer)
    ended: bool = False
    """Whether a token that ends the answer was taken."""

    @property
    def complete(self) -> bool:
        """Whether what was taken is a whole document."""
        return bool(self._matcher.is_accepting())

    def allowed(self) -> NDArray[np.bool_]:
        """Which tokens may come next; only those that end the answer once it has ended.

        Raises:
            VerifierError: the engine has given up: nothing that follows could be vouched for.
        """
        size = self.vocabulary.size
        if self.ended:
            return self._signs.ends.copy()
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        self._refuse_error()
        may = np.unpackbits(bits, bitorder="little", count=size).astype(bool)
        ends = self._signs.ends
        if may[ends].any():  # the engine knows one token that ends an answer; all of them do
            may |= ends
        if not may.any():
            raise VerifierError("the grammar allows no token here: the vocabulary cannot write the document")
        return self._readable(may)

    def _readable(self, may: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Without what schemas allow and no reader holds: numbers such as 1e9999, a key that comes twice."""
        lexer = self._lexer
        if lexer.inside and lexer.key is None:
            return may
        if lexer.key is not None:
            kept = may & ~self._signs.escapes
            so_far = bytes(lexer.key)
            for known in lexer.taken:
                if known.startswith(so_far):
                    rest = known[len(so_far) :]
                    kept[self._signs.closing.get(rest, _NONE)] = False
                    for token in self._signs.whole.get(rest, ()):
                        kept[token] = bool(kept[token]) and not self._only_closes(token)
            return kept if kept.any() else may
        kept = may & ~self._signs.exponents
        if lexer.taken:
            kept &= ~self._signs.several
        if lexer.number:
            kept &= ~self._signs.marks
        if lexer.number >= LONGEST_NUMBER:
            kept &= ~self._signs.digits
        return kept if kept.any() else may

    def accept(self, token: int) -> None:
        """Take the token that was chosen.

        Raises:
            InputError: it is not allowed here.
        """
        if self.ended:
            if token in self.vocabulary.ends:
                return
            raise InputError(f"the document has ended; token {token} cannot follow")
        if token in self.vocabulary.ends:
            if not self.complete:
                raise InputError("the answer ends before its document does")
            self.ended = True
            return
        if not self._matcher.consume_token(token):
            raise InputError(f"token {token} is not allowed here: {self._matcher.get_error()[:200]}")
        self._lexer.read(self.vocabulary.tokens[token])

    def masked(self, logits: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """The logits with minus infinity for every token that may not come next."""
        return np.where(self._fitted(self.allowed(), logits.shape[-1]), logits, -np.inf)

    def hurried(self) -> NDArray[np.bool_]:
        """As `allowed`, with only those tokens that bring the document to its end soonest, where there are such.

        A string is closed as soon as it may be, then an object or a list, then what is required is begun. Only a
        schema that requires a value within itself without end keeps a document from ending.
        """
        may = self.allowed()
        for choice in self._soonest():
            hit = may & choice
            if hit.any():
                return hit
        return may

    def _soonest(self) -> tuple[NDArray[np.bool_], ...]:
        if self._lexer.inside:
            return (self._signs.quote,)
        return self._signs.ends, self._signs.closers, self._signs.separators, self._signs.plain

    @staticmethod
    def _fitted(may: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
        """The mask for as many logits as there are: a model may have more of them than its tokenizer has tokens."""
        if len(may) >= size:
            return may[:size]
        return np.concatenate([may, np.zeros(size - len(may), dtype=bool)])

    def _only_closes(self, token: int) -> bool:
        """Whether a text has to end behind a token: then a key that is taken already could not be avoided any more."""
        ahead = self._matcher.deep_copy()
        if not ahead.consume_token(token):
            return False
        bits = np.frombuffer(ahead.compute_bitmask(), dtype=np.uint8)
        may = np.unpackbits(bits, bitorder="little", count=self.vocabulary.size).astype(bool)
        may[self._signs.closing.get(b"", _NONE)] = False
        return not may.any()

    def _refuse_error(self) -> None:
        if self._matcher.is_error():
            raise VerifierError(f"the grammar engine has given up: {self._matcher.get_error()[:200]}")


def _engine() -> Any:
    try:
        import llguidance
    except ModuleNotFoundError as error:
        raise MissingPackageError("constrained decoding needs llguidance: pip install 'assay-ai[grammar]'") from error
    return llguidance


def _tokenizer(engine: Any, vocabulary: Vocabulary) -> Any:
    wrapper = _Wrapper(vocabulary.tokens, sorted(vocabulary.special | vocabulary.ends), min(vocabulary.ends))
    try:
        return engine.LLTokenizer(
            engine.TokenizerWrapper(wrapper), n_vocab=vocabulary.size, slices=engine.LLTokenizer.json_slices()
        )
    except (TypeError, ValueError) as error:
        raise ModelError(f"the grammar engine cannot use this vocabulary: {error}") from error
