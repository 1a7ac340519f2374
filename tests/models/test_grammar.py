"""Token masks: what a random model writes under one is valid, and what cannot be held to is refused."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE, WordLevel
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from assay.errors import AnswerError, InputError, ModelError
from assay.models.grammar import GrammarEngine, TokenMask, Vocabulary, sample_document
from assay.models.grammar.sampling import choose
from assay.verify.documents.json_schema import check_structure

END = 256
BYTES = Vocabulary(
    (*(bytes([value]) for value in range(256)), b"<end>", b'"}', b'": ', b'","', b"true", b"]}"),
    frozenset({END}),
    frozenset({END}),
)
ENGINE = GrammarEngine(BYTES)
LEAVE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "weeks": {"type": "integer", "minimum": 0, "maximum": 52},
        "kind": {"enum": ["parental", "sick"]},
        "from": {"type": "string", "format": "date"},
        "notes": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "code": {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"},
    },
    "required": ["name", "weeks", "kind", "code"],
    "additionalProperties": False,
}
TREE: dict[str, Any] = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"value": {"type": "number"}, "sons": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["value"],
            "additionalProperties": False,
        }
    },
}


class RandomNetwork:
    """A small network with random weights: it sees the last tokens, and has learned nothing."""

    def __init__(self, seed: int, size: int) -> None:
        self._random = np.random.default_rng(seed)
        self._embedding = self._random.normal(size=(size, 16))
        self._hidden = self._random.normal(size=(64, 32))
        self._out = self._random.normal(size=(32, size))

    def __call__(self, taken: Any) -> NDArray[np.floating[Any]]:
        seen = ([0] * 4 + list(taken))[-4:]
        hidden = np.tanh(self._embedding[seen].reshape(-1) @ self._hidden)
        return np.asarray(hidden @ self._out)


def written(schema: Mapping[str, Any], seed: int, **options: Any) -> str:
    return sample_document(
        RandomNetwork(seed, BYTES.size), ENGINE.compile(schema), np.random.default_rng(seed), **options
    )


@pytest.mark.parametrize("schema", [LEAVE, TREE], ids=["flat", "recursive"])
@pytest.mark.parametrize("seed", range(5))
def test_a_random_network_can_only_write_valid_documents(schema: dict[str, Any], seed: int) -> None:
    assert check_structure(written(schema, seed, tokens=400, hurry=80), schema) == []


def test_without_the_mask_the_same_network_writes_none() -> None:
    network, random = RandomNetwork(0, BYTES.size), np.random.default_rng(0)
    taken: list[int] = []
    for _ in range(100):
        taken.append(choose(network(taken), np.ones(BYTES.size, dtype=bool), random, 1.0))
    assert check_structure(BYTES.text(taken), LEAVE)


@settings(max_examples=25, deadline=None)
@given(
    names=st.lists(st.text("abcxyz_é", min_size=1, max_size=6), min_size=1, max_size=4, unique=True),
    low=st.integers(-50, 50),
    width=st.integers(0, 100),
    most=st.integers(0, 8),
    seed=st.integers(0, 2**16),
)
def test_any_schema_of_the_kinds_is_kept_to(names: list[str], low: int, width: int, most: int, seed: int) -> None:
    kinds: list[dict[str, Any]] = [
        {"type": "integer", "minimum": low, "maximum": low + width},
        {"type": "string", "maxLength": most},
        {"type": "array", "items": {"type": ["boolean", "null"]}, "maxItems": most},
        {"anyOf": [{"const": names[0]}, {"type": "number"}]},
    ]
    properties = {name: kinds[place % len(kinds)] for place, name in enumerate(names)}
    schema = {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
    assert check_structure(written(schema, seed, tokens=600, hurry=60), schema) == []


@pytest.mark.parametrize("form", ["date", "time", "date-time", "email", "hostname", "uuid", "ipv4", "uri", "duration"])
def test_every_text_of_a_format_has_it(form: str) -> None:
    schema = {"type": "string", "format": form}
    for seed in range(40):
        assert check_structure(written(schema, seed, tokens=300, hurry=30), schema) == []


def test_a_format_and_a_pattern_hold_together() -> None:
    schema = {"type": "string", "format": "date", "pattern": "^2024-02-"}
    for seed in range(10):
        assert check_structure(written(schema, seed), schema) == []


@pytest.mark.parametrize(
    "keyword",
    [
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        {"not": {"type": "string"}},
        {"type": "string", "format": "no-such-format"},
        {"type": "object", "dependentRequired": {"a": ["b"]}},
    ],
    ids=["unique items", "negation", "an unknown format", "dependent fields"],
)
def test_a_schema_that_no_mask_can_hold_to_is_refused(keyword: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="token by token"):
        ENGINE.compile(keyword)


def test_a_document_that_does_not_end_is_no_document() -> None:
    with pytest.raises(AnswerError, match="did not end"):
        written({"type": "string", "minLength": 500}, 1, tokens=20)


def test_a_hurried_string_is_closed_at_once() -> None:
    text = written({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, 3, hurry=0)
    assert json.loads(text) == {"a": ""}


def walked(mask: TokenMask, text: str) -> None:
    for byte in text.encode():
        assert mask.allowed()[byte], text
        mask.accept(byte)


def test_the_mask_follows_a_document_to_its_end() -> None:
    mask = ENGINE.compile(LEAVE).mask()
    walked(mask, '{"name":"Anna","weeks":2,"kind":"sick","code":"ABC-1234"')
    assert not mask.complete
    assert not mask.allowed()[END]
    walked(mask, "}")
    assert mask.complete
    mask.accept(END)
    assert mask.ended
    assert list(np.flatnonzero(mask.allowed())) == [END]


def test_a_token_that_is_not_allowed_is_refused() -> None:
    mask = ENGINE.compile(LEAVE).mask()
    with pytest.raises(InputError, match="not allowed"):
        mask.accept(ord("["))
    with pytest.raises(InputError, match="before its document"):
        ENGINE.compile(LEAVE).mask().accept(END)


def test_a_number_beyond_its_range_cannot_be_begun() -> None:
    mask = ENGINE.compile({"type": "integer", "minimum": 0, "maximum": 52}).mask()
    walked(mask, "5")
    assert [chr(i) for i in np.flatnonzero(mask.allowed()) if i < END] == ["0", "1", "2"]


def test_a_number_that_no_reader_holds_is_never_written() -> None:
    mask = ENGINE.compile({"type": "array", "items": {"type": "number"}}).mask()
    walked(mask, "[2.5")
    assert not mask.allowed()[ord("e")]
    assert not mask.allowed()[ord("E")]
    walked(mask, "0" * 21)
    assert not mask.allowed()[ord("0")]
    walked(mask, ",")
    assert mask.allowed()[ord("0")]


def test_a_key_comes_once() -> None:
    mask = ENGINE.compile({"type": "object", "additionalProperties": {"type": "integer"}}).mask()
    walked(mask, '{"ab":1,"a')
    assert mask.allowed()[ord('"')]
    walked(mask, "b")
    assert not mask.allowed()[ord('"')]
    assert not mask.allowed()[BYTES.tokens.index(b'": ')]
    walked(mask, 'c":2}')
    assert mask.complete


def test_a_key_that_could_only_come_twice_is_not_gone_on_with() -> None:
    schema = {"type": "object", "patternProperties": {"^k[ab]$": {"const": 1}}, "additionalProperties": False}
    mask = ENGINE.compile(schema).mask()
    walked(mask, '{"ka":1,"k')
    assert [chr(i) for i in np.flatnonzero(mask.allowed()) if i < END] == ["b"]


def test_inner_objects_have_keys_of_their_own() -> None:
    mask = ENGINE.compile({"type": "object", "additionalProperties": {"type": ["object", "array"]}}).mask()
    walked(mask, '{"a":{"a":[{"a":1,"b":"a"}]},"b":[1,2]}')
    assert mask.complete


def test_an_exponent_that_the_schema_demands_is_written() -> None:
    assert float(json.loads(written({"const": 1e300}, 0))) == 1e300


def test_masked_logits_are_minus_infinity_and_the_others_as_they_were() -> None:
    mask = ENGINE.compile({"enum": ["a"]}).mask()
    logits = np.arange(BYTES.size + 3, dtype=np.float64)  # a model with more logits than tokens
    masked = mask.masked(logits)
    assert [i for i in range(len(masked)) if np.isfinite(masked[i])] == [ord('"')]
    assert masked[ord('"')] == logits[ord('"')]


def test_several_tokens_that_end_an_answer_are_allowed_together() -> None:
    tokens = (*(bytes([value]) for value in range(256)), b"<end>", b"<turn>")
    mask = GrammarEngine(Vocabulary(tokens, frozenset({256, 257}), frozenset({256, 257}))).compile({"const": 1}).mask()
    walked(mask, "1")
    assert list(np.flatnonzero(mask.allowed())) == [256, 257]


def test_a_model_that_rules_out_all_that_is_allowed_is_overruled() -> None:
    may = np.array([False, True, True])
    assert choose(np.full(3, -np.inf), may, np.random.default_rng(0), 1.0) in (1, 2)
    assert choose(np.array([9.0, np.nan, 1.0]), may, np.random.default_rng(0), 1.0) == 2


def bpe() -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(
        vocab_size=400, special_tokens=["<end>"], initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(['{"name": "Zoë", "weeks": 12}', "leave of two weeks 💧"] * 3, trainer)
    return tokenizer


def end_of(tokenizer: Tokenizer) -> int:
    found = tokenizer.token_to_id("<end>")
    assert found is not None
    return found


def test_a_byte_level_tokenizer_is_read_to_the_byte() -> None:
    tokenizer = bpe()
    end = end_of(tokenizer)
    vocabulary = Vocabulary.of_tokenizer(tokenizer, [end])
    for text in ('{"name": "Zoë"}', "💧 two\tweeks\n", "naïve\u2028"):
        assert vocabulary.text(tokenizer.encode(text).ids) == text
    network = RandomNetwork(2, vocabulary.size)
    document = sample_document(
        network, GrammarEngine(vocabulary).compile(LEAVE), np.random.default_rng(2), tokens=400, hurry=40
    )
    assert check_structure(document, LEAVE) == []


def test_logits_beyond_the_tokenizer_are_never_allowed() -> None:
    tokenizer = bpe()
    vocabulary = Vocabulary.of_tokenizer(tokenizer, [end_of(tokenizer)], size=512)
    assert vocabulary.size == 512
    may = GrammarEngine(vocabulary).compile({"type": "string"}).mask().allowed()
    assert not may[tokenizer.get_vocab_size() :].any()


def test_a_tokenizer_of_words_is_refused() -> None:
    with pytest.raises(ModelError, match="stand for bytes"):
        Vocabulary.of_tokenizer(Tokenizer(WordLevel({"a": 0, "b": 1}, unk_token="a")), [1])  # noqa: S106


def test_a_vocabulary_without_an_end_is_refused() -> None:
    with pytest.raises(ModelError, match="ends an answer"):
        Vocabulary((b"a",), frozenset())
    with pytest.raises(ModelError, match="from 0 to 0"):
        Vocabulary((b"a",), frozenset({7}))
