"""Constrained decoding: are all documents valid that a random model writes under a mask, and what does the mask cost?

    python -m benchmarks.structured [--documents N] [--tokenizer FILE] [--xgrammar]

Three parts. Documents: a network with random weights and a byte-level vocabulary writes N documents (10,000 by
default) over the fifty schemas of `structured_schemas`, each held against its schema by the validator of the check.
The mask: microseconds of processor time a token, by schema, with a large vocabulary (`--tokenizer`, a `tokenizer.json`
of a byte-level model; a made one of 128,000 tokens by default), beside the time that choosing a token takes without it.
With `--xgrammar` the same walks with xgrammar, interleaved in one run; this needs PyTorch and is why it is not used.
"""

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.structured_schemas import SCHEMAS
from numpy.typing import NDArray

from assay.errors import AnswerError, InputError
from assay.models.grammar import GrammarEngine, Vocabulary, sample_document
from assay.models.grammar.sampling import choose
from assay.verify.documents.json_schema import check_structure

END = 256
MOST_TOKENS, HURRY = 600, 120


def bytes_vocabulary() -> Vocabulary:
    """Every byte, some longer pieces of JSON, and an end."""
    longer = (b'"}', b'": ', b'":"', b'","', b"},{", b"true", b"false", b"null", b"[]", b"{}", b"20", b"the ")
    return Vocabulary((*(bytes([i]) for i in range(256)), b"<end>", *longer), frozenset({END}), frozenset({END}))


def made_vocabulary(size: int) -> Vocabulary:
    """A vocabulary of a large model's size: every byte and random words, a third of them with a space before."""
    random = np.random.default_rng(1)
    letters = np.frombuffer(b"etaoinshrdlucmfwypvbgkqjxz0123456789-_.,:", dtype=np.uint8)
    words: dict[bytes, None] = {bytes([i]): None for i in range(256)}
    while len(words) < size - 1:
        word = random.choice(letters, size=int(random.integers(2, 10))).tobytes()
        words[(b" " if random.random() < 0.33 else b"") + word] = None
    return Vocabulary((*words, b"<end>"), frozenset({size - 1}), frozenset({size - 1}))


class RandomNetwork:
    """A small network with random weights that sees the last four tokens."""

    def __init__(self, seed: int, size: int) -> None:
        random = np.random.default_rng(seed)
        self._embedding, self._hidden = random.normal(size=(size, 16)), random.normal(size=(64, 32))
        self._out = random.normal(size=(32, size))

    def __call__(self, taken: Sequence[int]) -> NDArray[np.floating[Any]]:
        """The logits of the next token."""
        seen = ([0] * 4 + list(taken[-4:]))[-4:]
        return np.asarray(np.tanh(self._embedding[seen].reshape(-1) @ self._hidden) @ self._out)


def documents(count: int) -> None:
    """Prints how many documents are valid, with and without the mask."""
    vocabulary = bytes_vocabulary()
    engine = GrammarEngine(vocabulary)
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    lengths: list[int] = []
    distinct: set[str] = set()
    for place, (name, schema) in enumerate(SCHEMAS.items()):
        grammar = engine.compile(schema)
        for number in range(place, count, len(SCHEMAS)):
            network, random = RandomNetwork(number, vocabulary.size), np.random.default_rng(number)
            try:
                text = sample_document(network, grammar, random, tokens=MOST_TOKENS, hurry=HURRY)
            except AnswerError:
                outcomes["not ended"] += 1
                wrong.append(f"{name} {number}: not ended")
                continue
            issues = check_structure(text, schema)
            outcomes["invalid" if issues else "valid"] += 1
            lengths.append(len(text))
            distinct.add(text)
            if issues:
                wrong.append(f"{name} {number}: {issues[0].message} <- {text[:120]}")
    print(
        f"{count:,} documents over {len(SCHEMAS)} schemas: {dict(outcomes)}; {len(distinct):,} different ones, ", end=""
    )
    print(f"median {statistics.median(lengths):.0f} characters, longest {max(lengths)}")
    for line in wrong[:20]:
        print("   ", line)
    print(f"without the mask, the same network: {unmasked(vocabulary)} of {len(SCHEMAS) * 10} valid")


def unmasked(vocabulary: Vocabulary) -> int:
    """How many of ten documents a schema are valid that are written without the mask."""
    valid, everything = 0, np.ones(vocabulary.size, dtype=bool)
    for schema in SCHEMAS.values():
        for number in range(10):
            network, random = RandomNetwork(number, vocabulary.size), np.random.default_rng(number)
            taken: list[int] = []
            while len(taken) < HURRY and (token := choose(network(taken), everything, random, 1.0)) != END:
                taken.append(token)
            valid += not check_structure(vocabulary.text(taken), schema)
    return valid


def mask_time(vocabulary: Vocabulary, others: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
    """Prints the time of a mask, beside that of engines of the same form."""
    engines: dict[str, Callable[[dict[str, Any]], Any]] = {"assay (llguidance)": _ours(vocabulary), **others}
    times: dict[str, list[float]] = {name: [] for name in engines}
    compiled: dict[str, list[float]] = {name: [] for name in engines}
    refused: Counter[str] = Counter()
    small = bytes_vocabulary()
    writer = GrammarEngine(small)
    for schema in SCHEMAS.values():
        text = sample_document(
            RandomNetwork(1, small.size), writer.compile(schema), np.random.default_rng(1), hurry=HURRY
        )
        for name, engine in engines.items():
            begun = time.thread_time()
            try:
                walk = engine(schema)
            except (InputError, RuntimeError, ValueError):
                refused[name] += 1
                continue
            compiled[name].append(time.thread_time() - begun)
            times[name].extend(walk(text.encode()))
    for name, found in times.items():
        ordered = sorted(found)
        print(
            f"  {name:20} a mask of {vocabulary.size:,} tokens: median {_micro(ordered, 0.5)}, 95% below "
            f"{_micro(ordered, 0.95)}, slowest {_micro(ordered, 1.0)} microseconds; compiling a schema: median "
            f"{statistics.median(compiled[name]) * 1e3:.1f} ms; refused {refused[name]} schemas"
        )
    random, logits = np.random.default_rng(0), np.random.default_rng(0).normal(size=vocabulary.size)
    everything = np.ones(vocabulary.size, dtype=bool)
    begun = time.thread_time()
    for _ in range(50):
        choose(logits, everything, random, 1.0)
    print(
        f"  for comparison: choosing among all tokens takes {(time.thread_time() - begun) / 50 * 1e6:.0f} microseconds"
    )


def _micro(ordered: Sequence[float], share: float) -> str:
    return f"{ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e6:.0f}"


def _ours(vocabulary: Vocabulary) -> Callable[[dict[str, Any]], Any]:
    single = {token: index for index, token in enumerate(vocabulary.tokens) if len(token) == 1}
    ready = GrammarEngine(vocabulary)

    def engine(schema: dict[str, Any]) -> Callable[[bytes], list[float]]:
        grammar = ready.compile(schema)

        def walk(text: bytes) -> list[float]:
            mask, spent = grammar.mask(), []
            for byte in text:
                begun = time.thread_time()
                mask.allowed()
                spent.append(time.thread_time() - begun)
                mask.accept(single[bytes([byte])])
            return spent

        return walk

    return engine


def _xgrammar(vocabulary: Vocabulary) -> Callable[[dict[str, Any]], Any]:
    import xgrammar  # type: ignore[import-not-found, unused-ignore]

    single = {token: index for index, token in enumerate(vocabulary.tokens) if len(token) == 1}
    info = xgrammar.TokenizerInfo(
        list(vocabulary.tokens), vocab_size=vocabulary.size, stop_token_ids=list(vocabulary.ends)
    )
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def engine(schema: dict[str, Any]) -> Callable[[bytes], list[float]]:
        compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=False, separators=(",", ":"))

        def walk(text: bytes) -> list[float]:
            matcher, bits = xgrammar.GrammarMatcher(compiled), xgrammar.allocate_token_bitmask(1, vocabulary.size)
            spent = []
            for byte in text:
                begun = time.thread_time()
                matcher.fill_next_token_bitmask(bits)
                np.unpackbits(bits.numpy().view(np.uint8), bitorder="little", count=vocabulary.size).astype(bool)
                spent.append(time.thread_time() - begun)
                if not matcher.accept_token(single[bytes([byte])]):
                    break  # a valid document that this engine does not allow
            return spent

        return walk

    return engine


def xgrammar_documents(count: int) -> None:
    """Prints how many documents are valid that a random network writes under xgrammar's mask."""
    import xgrammar

    vocabulary = bytes_vocabulary()
    info = xgrammar.TokenizerInfo(list(vocabulary.tokens), vocab_size=vocabulary.size, stop_token_ids=[END])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    outcomes: Counter[str] = Counter()
    by_schema: Counter[str] = Counter()
    for place, (name, schema) in enumerate(SCHEMAS.items()):
        compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=False, separators=(",", ":"))
        for number in range(place, count, len(SCHEMAS)):
            network, random = RandomNetwork(number, vocabulary.size), np.random.default_rng(number)
            matcher, bits = xgrammar.GrammarMatcher(compiled), xgrammar.allocate_token_bitmask(1, vocabulary.size)
            taken: list[int] = []
            while len(taken) < MOST_TOKENS:
                matcher.fill_next_token_bitmask(bits)
                may = np.unpackbits(bits.numpy().view(np.uint8), bitorder="little", count=vocabulary.size).astype(bool)
                token = choose(network(taken), may, random, 1.0)
                matcher.accept_token(token)
                if token == END:
                    break
                taken.append(token)
            ended = len(taken) < MOST_TOKENS
            issues = check_structure(vocabulary.text(taken), schema) if ended else []
            outcomes["not ended" if not ended else "invalid" if issues else "valid"] += 1
            if issues and not by_schema[name]:
                print(f"    {name}: {issues[0].message} <- {vocabulary.text(taken)[:80]!r}")
            by_schema[name] += bool(issues)
    print(f"xgrammar, {count:,} documents: {dict(outcomes)}; invalid by schema {dict(+by_schema)}")


def main() -> None:
    """Reads the arguments and prints the parts in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--tokenizer", type=Path, default=None, help="a tokenizer.json of a byte-level model")
    parser.add_argument("--xgrammar", action="store_true", help="beside xgrammar; needs PyTorch")
    options = parser.parse_args()
    if options.tokenizer is None:
        vocabulary = made_vocabulary(128_000)
    else:
        from tokenizers import Tokenizer

        read = Tokenizer.from_file(str(options.tokenizer))
        vocabulary = Vocabulary.of_tokenizer(read, [read.get_vocab_size() - 1])
    documents(options.documents)
    mask_time(vocabulary, {"xgrammar": _xgrammar(vocabulary)} if options.xgrammar else {})
    if options.xgrammar:
        xgrammar_documents(min(options.documents, 2_000))


if __name__ == "__main__":
    main()
