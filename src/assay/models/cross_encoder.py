"""Any Hugging Face cross-encoder exported to ONNX, as a scorer of pairs on the CPU.

Each pair is one run of the network by one thread: with the usual dynamic int8 weights the scale of the activations is
taken over a whole batch, so that a score would depend on its neighbours and on padding. Threads share one loaded
graph. See docs/adr/0006-deterministic-batches.md for the measurements.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import ModelError, VerifierError
from assay.models.fair_queue import Ticket, current_ticket, turn_of
from assay.models.interface import MIN_PAIR_TOKENS, WordScores
from assay.models.labels import LabelOrder, read_labels
from assay.models.manifest import Manifest, read_json, read_manifest, verify_files
from assay.models.pair_tokens import PairTokenizer, Tokens, load_tokenizer, position_limit
from assay.models.registry import DEFAULT, embedded_directory
from assay.models.runtime import DEFAULT_RUNTIME, NetworkSession, Runtime, known_as, start_session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Output = tuple[NDArray[np.float32], NDArray[np.float32] | None]

GRAPHS = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
    "onnx/model_qint8_avx512_vnni.onnx",
    "onnx/model_quint8_avx2.onnx",
)
"""Where published models keep their graph, in order of preference."""
BLOCK = 2_048
"""Pairs that are tokenised and judged at once: bounds memory however many pairs are to be scored."""
WORDS_KEPT = 1_024
"""Claims whose words are remembered: a claim is judged under several premises."""
KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


def usable_cpus() -> int:
    """The CPUs that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_graph(directory: Path) -> Path | None:
    """The ONNX file of a model directory; none where the directory has no such file.

    Raises:
        ModelError: there are several, and none has one of the names in `GRAPHS`.
    """
    for name in GRAPHS:
        if (directory / name).exists():
            return directory / name
    others = sorted([*directory.glob("*.onnx"), *directory.glob("onnx/*.onnx")])
    if len(others) > 1:
        listed = ", ".join(p.relative_to(directory).as_posix() for p in others)
        raise ModelError(
            f"{directory}: several ONNX files ({listed}) and none is called model.onnx; rename the one to use"
        )
    return others[0] if others else None


class OnnxCrossEncoder:
    """A scorer of pairs over one ONNX graph. Build it with `load`."""

    def __init__(
        self,
        *,
        name: str,
        digest: str,
        session: NetworkSession,
        tokenizer: PairTokenizer,
        labels: LabelOrder,
        max_pair_tokens: int,
        threads: int,
    ) -> None:
        self._name = name
        self._digest = digest
        self._session = session
        self._tokenizer = tokenizer
        self._labels = labels
        self._max_pair_tokens = max_pair_tokens
        self._threads = threads
        self._words = lru_cache(maxsize=WORDS_KEPT)(tokenizer.words)

    @classmethod
    def load(
        cls, directory: Path | str, *, threads: int | None = None, runtime: Runtime = DEFAULT_RUNTIME
    ) -> OnnxCrossEncoder:
        """Read a model directory: `model.onnx`, `tokenizer.json`, `config.json` and, where present, `manifest.json`.

        Args:
            directory: as `save_pretrained` and the ONNX exporters write it.
            threads: how many pairs are judged at once; the usable CPUs by default.
            runtime: what runs the graph; `openvino` needs the extra of that name.

        Raises:
            ModelError: a file is missing, broken or altered, the network is of a shape that cannot judge claims, or
                the runtime is not installed.
        """
        directory = Path(directory)
        graph = find_graph(directory) if directory.is_dir() else None
        if graph is None:
            got = "no ONNX file" if directory.is_dir() else "no directory"
            raise ModelError(
                f"{directory}: expected model.onnx in it, got {got}; "
                f"give the directory of a cross-encoder exported to ONNX"
            )
        if threads is not None and threads < 1:
            raise ModelError(f"threads is {threads}, expected at least 1")
        manifest = read_manifest(directory)
        digest = _digest(directory, graph, manifest)
        config_path = directory / "config.json"
        config = read_json(config_path) if config_path.exists() else {}
        tokenizer = load_tokenizer(directory / "tokenizer.json")
        threads = threads or usable_cpus()
        session = start_session(graph, runtime, threads)
        _check_inputs(session, graph)
        limit = position_limit(config, directory)
        if limit < MIN_PAIR_TOKENS:
            raise ModelError(
                f"{config_path}: the network reads {limit} tokens at once, expected at least {MIN_PAIR_TOKENS}"
            )
        labels = read_labels(config, config_path, _probe(session, tokenizer, graph))
        name = f"{manifest.name} {manifest.version}" if manifest else str(config.get("_name_or_path") or directory.name)
        name, digest = known_as(name, digest, runtime)
        return cls(
            name=name,
            digest=digest,
            session=session,
            tokenizer=tokenizer,
            labels=labels,
            max_pair_tokens=limit,
            threads=threads,
        )

    @property
    def name(self) -> str:
        """The name in the manifest, else in the config, else of the directory; with the runtime if not the default."""
        return self._name

    @property
    def digest(self) -> str:
        """A SHA-256 over the digests of graph, tokenizer and config; and over the runtime if not the default."""
        return self._digest

    @property
    def three_way(self) -> bool:
        """Whether the network has an output for contradiction."""
        return self._labels.three_way

    @property
    def max_pair_tokens(self) -> int:
        """The positions that the network has."""
        return self._max_pair_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, without special tokens."""
        return self._tokenizer.count(texts)

    def words(self, claim: str) -> tuple[tuple[int, int], ...]:
        """The words of the claim that the network has a score for; none where it has no scores of tokens."""
        return self._words(claim).spans if self._session.tells_tokens else ()

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Probabilities of shape (len(pairs), 3): entailment, neutral, contradiction. Equal pairs are judged once.

        Raises:
            VerifierError: a pair is longer than `max_pair_tokens`, or the network failed or gave no numbers.
        """
        return self.score_words(pairs)[0]

    def score_words(self, pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float32], list[WordScores]]:
        """As `score`, and for each pair the probability of each of the claim's words to be wrong.

        Raises:
            VerifierError: a pair is longer than `max_pair_tokens`, or the network failed or gave no numbers.
        """
        import numpy as np

        unique = list(dict.fromkeys(pairs))
        logits = np.zeros((len(unique), self._labels.size), dtype=np.float32)
        words: list[WordScores] = []
        for begin in range(0, len(unique), BLOCK):
            block = unique[begin : begin + BLOCK]
            outputs = self._judge_block(block)
            for i, (row, tokens) in enumerate(outputs):
                logits[begin + i] = row
                words.append(() if tokens is None else self._word_scores(block[i][1], tokens))
        if not np.isfinite(logits).all():
            raise VerifierError(f"{self._name}: the network gave a score that is no number; export it again")
        place = {pair: i for i, pair in enumerate(unique)}
        places = [place[pair] for pair in pairs]
        return self._labels.probabilities(logits)[places], [words[i] for i in places]

    def _word_scores(self, claim: str, token_logits: NDArray[np.float32]) -> WordScores:
        """The probability of each word to be wrong: that of its worst token.

        The tokens of the claim are the last of the pair, before one closing token.
        """
        words = self._words(claim)
        claim_logits = token_logits.tolist()[-1 - len(words.of_token) : -1]
        worst = [-math.inf] * len(words.spans)
        for word, logit in zip(words.of_token, claim_logits, strict=True):
            if word >= 0:
                worst[word] = max(worst[word], logit)
        scores = tuple(1 / (1 + math.exp(-max(logit, -500.0))) for logit in worst)
        if any(math.isnan(score) for score in scores):
            raise VerifierError(f"{self._name}: the network gave a score that is no number; export it again")
        return scores

    def _judge_block(self, pairs: Sequence[tuple[str, str]]) -> list[Output]:
        tokens = self._tokenizer.encode(pairs)
        longest = max(range(len(tokens)), key=lambda i: len(tokens[i].ids))
        if len(tokens[longest].ids) > self._max_pair_tokens:
            raise VerifierError(
                f"{self._name}: a pair has {len(tokens[longest].ids)} tokens, the network reads "
                f"{self._max_pair_tokens}; cut the evidence into shorter windows"
            )
        # The longest first, so that no thread is still busy with a long pair when the others are done.
        order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i].ids))
        workers = min(self._threads, len(order))
        ticket = current_ticket()  # read here: context variables do not reach the threads of the pool
        if workers <= 1:
            done = [self._judge_in_turn(tokens[i], ticket) for i in order]
        else:
            with ThreadPoolExecutor(workers, thread_name_prefix="assay-network") as pool:
                done = list(pool.map(self._judge_in_turn, (tokens[i] for i in order), repeat(ticket)))
        by_place = dict(zip(order, done, strict=True))
        return [by_place[i] for i in range(len(tokens))]

    def _judge_in_turn(self, tokens: Tokens, ticket: Ticket | None) -> Output:
        with turn_of(ticket):
            return self._judge_one(tokens)

    def _judge_one(self, tokens: Tokens) -> Output:
        output, token_output = self._session.run(_feed(self._session, tokens))
        if output.shape != (1, self._labels.size):
            raise VerifierError(
                f"{self._name}: expected {self._labels.size} scores for a pair, got shape {output.shape}"
            )
        if token_output is None:
            return output[0], None
        if token_output.shape != (1, len(tokens.ids)):
            raise VerifierError(
                f"{self._name}: expected a score for each of {len(tokens.ids)} tokens, got shape {token_output.shape}"
            )
        return output[0], token_output[0]


def _feed(session: NetworkSession, tokens: Tokens) -> dict[str, NDArray[np.int64]]:
    """The values of the inputs that the graph has; some graphs take no token types."""
    import numpy as np

    values = {
        "input_ids": tokens.ids,
        "attention_mask": [1] * len(tokens.ids),
        "token_type_ids": tokens.types,
    }
    dtypes = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
    return {name: np.array([values[name]], dtype=dtypes[kind]) for name, kind in session.inputs.items()}


def _digest(directory: Path, graph: Path, manifest: Manifest | None) -> str:
    """Verify the files and return one digest of them all; weights in files of their own beside the graph count too."""
    beside = sorted(graph.parent.glob(f"{graph.name}[._]data"))
    files = [graph, *beside, *(directory / name for name in ("tokenizer.json", "config.json", "tokenizer_config.json"))]
    return verify_files(directory, files, manifest)


def _check_inputs(session: NetworkSession, graph: Path) -> None:
    unknown = sorted(set(session.inputs) - KNOWN_INPUTS)
    if unknown or "input_ids" not in session.inputs:
        raise ModelError(
            f"{graph}: its inputs are {sorted(session.inputs)}, expected input_ids, attention_mask and token_type_ids; "
            f"export the model for text classification"
        )
    kinds = {kind for kind in session.inputs.values() if kind not in ("tensor(int64)", "tensor(int32)")}
    if kinds:
        raise ModelError(
            f"{graph}: its inputs are of type {sorted(kinds)}, expected tensor(int64); export the model again"
        )


def _probe(session: NetworkSession, tokenizer: PairTokenizer, graph: Path) -> int:
    """The number of outputs, from judging one small pair."""
    try:
        output, _ = session.run(_feed(session, tokenizer.encode([("One premise.", "One claim.")])[0]))
    except VerifierError as error:
        raise ModelError(f"{error}; the graph and the tokenizer may belong to different models") from error
    if output.ndim != 2 or output.shape[0] != 1:
        raise ModelError(
            f"{graph}: its output has shape {output.shape}, expected (batch, labels); "
            f"export the model for text classification"
        )
    return int(output.shape[1])


def load_embedded(
    name: str = DEFAULT, *, threads: int | None = None, runtime: Runtime = DEFAULT_RUNTIME
) -> OnnxCrossEncoder:
    """A network that ships with the package, its files checked against the manifest first.

    Args:
        name: which one; see `assay.models.registry`.
        threads: how many pairs are judged at once; the usable CPUs by default.
        runtime: what runs it; `openvino` needs the extra of that name.

    Raises:
        ModelError: there is no such network, its weights are missing or altered, or the runtime is not installed.
    """
    return OnnxCrossEncoder.load(embedded_directory(name), threads=threads, runtime=runtime)
