"""The network that tells whether two passages of two sources cannot both be right.

A verifier asks whether a claim follows from evidence that is given as being about it, so it takes what merely differs
for a contradiction: the fee of another office, the rule for another case. This network was trained to tell such near
texts from conflicts (docs/adr/0126). It shares its table of words with the default verifier, whose file it reads that
part of, and is loaded when the first conflict is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol
from unicodedata import name

from assay.errors import ModelError
from assay.models.cache import CachedScorer, CacheOptions
from assay.models.cross_encoder import OnnxCrossEncoder, usable_cpus
from assay.models.interface import PairScorer
from assay.models.labels import LabelOrder
from assay.models.manifest import EMBEDDED, read_json, read_manifest, sha256_of, verify_files
from assay.models.pair_tokens import load_tokenizer, position_limit
from assay.models.runtime import DEFAULT_RUNTIME, start_session

GRAPH: Final = "conflicts.onnx"
MANIFEST: Final = "conflicts.json"
"""The manifest of the graph, of the verifier's file that it reads its table of words from, and of the tokenizer."""
FILES: Final = (GRAPH, "model.onnx", "tokenizer.json", "config.json")
LONGEST: Final = 400
"""The most characters of a passage that is read; pairs of training were at most 160 tokens long."""
KEPT: Final = CacheOptions(max_entries=8_192, max_bytes=4 * 1024 * 1024)
_LEAST: Final = 1e-6


class ConflictScorer(Protocol):
    """Tells how likely two passages are to contradict each other."""

    @property
    def digest(self) -> str:
        """Identifies everything that a probability depends on."""
        ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """For each pair of passages the probability, in [0, 1], that they cannot both be right.

        It does not depend on which of the two comes first. None for a pair that cannot be read as a whole: nothing is
        known of it.

        Raises:
            VerifierError: the network failed.
        """
        ...


class ConflictNetwork:
    """A network with one output, read in both directions.

    Args:
        scorer: gives the probability of a conflict in the first column.
        knows: whether the network knows every sign of a text; of any text by default.
    """

    def __init__(self, scorer: PairScorer, knows: Callable[[str], bool] | None = None) -> None:
        self._scorer = scorer
        self._knows = knows

    @property
    def digest(self) -> str:
        """The digest of the network."""
        return self._scorer.digest

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """As `ConflictScorer.probabilities`: the geometric mean of the odds of both directions.

        Passages of more than `LONGEST` characters, such as have letters of another script than Latin, and such as have
        signs that the network does not know are not read.
        """
        read = {text for pair in pairs for text in pair if self._can_be_read(text)}
        both = [pair for pair in pairs if read.issuperset(pair)]
        asked = list(dict.fromkeys(one for first, second in both for one in ((first, second), (second, first))))
        counts = self._scorer.count_tokens([f"{first} {second}" for first, second in asked]) if asked else []
        fitting = [one for one, size in zip(asked, counts, strict=True) if size <= self._scorer.max_pair_tokens - 8]
        scores = self._scorer.score(fitting)[:, 0].tolist() if fitting else []
        odds = {one: _odds(score) for one, score in zip(fitting, scores, strict=True)}
        return [
            1 - 1 / (1 + math.sqrt(odds[first, second] * odds[second, first]))
            if (first, second) in odds and (second, first) in odds
            else None
            for first, second in pairs
        ]

    def _can_be_read(self, text: str) -> bool:
        """Whether a text is short enough, of a script that the network learned, and of signs that it knows."""
        latin = all("LATIN" in name(sign, "") for sign in text if sign.isalpha())
        return len(text) <= LONGEST and latin and (self._knows is None or self._knows(text))


def _odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return bounded / (1 - bounded)


def read_conflict_network(folder: Path, *, threads: int | None = None) -> ConflictNetwork:
    """The conflict network of a folder of weights, its files checked against their manifest first.

    Args:
        folder: where `conflicts.onnx`, `conflicts.json` and the default verifier's files are.
        threads: how many pairs are judged at once; the usable CPUs by default.

    Raises:
        ModelError: a file is missing, broken or altered.
    """
    manifest = read_manifest(folder, MANIFEST)
    if manifest is None:
        raise ModelError(f"{folder / MANIFEST}: missing; install the package again, its weights are not complete")
    digest = verify_files(folder, [folder / name for name in FILES], manifest)
    threads = threads or usable_cpus()
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    scorer = OnnxCrossEncoder(
        name=f"{manifest.name} {manifest.version}",
        digest=digest,
        session=start_session(folder / GRAPH, DEFAULT_RUNTIME, threads),
        tokenizer=tokenizer,
        labels=LabelOrder(size=1),
        max_pair_tokens=position_limit(read_json(folder / "config.json"), folder),
        threads=threads,
    )
    return ConflictNetwork(CachedScorer(scorer, KEPT), tokenizer.knows)


_LOADED: Final[dict[int, ConflictNetwork]] = {}
"""The conflict networks of this process by their number of threads."""


def load_conflict_network(threads: int | None = None) -> ConflictNetwork:
    """The conflict network that ships with the package, loaded and verified once for a process and number of threads.

    Args:
        threads: how many pairs are judged at once; by default as many as the one that is loaded already, such as one
            that was loaded before this process was forked, else the usable CPUs.

    Raises:
        ModelError: its files are missing or altered.
    """
    if threads is None:
        threads = next(iter(_LOADED), None) or usable_cpus()
    if threads not in _LOADED:
        _LOADED[threads] = read_conflict_network(EMBEDDED, threads=threads)
    return _LOADED[threads]


class EmbeddedConflicts:
    """The conflict network that ships with the package, loaded when the first pair is asked about.

    Its digest is that of the manifest, with which the files are compared when they are loaded: a check of one source
    needs no second network.

    Args:
        threads: how many pairs are judged at once; by default as `load_conflict_network` says.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads

    def load(self) -> None:
        """Loads the network now, for processes that will be forked from this one and share its memory.

        Raises:
            ModelError: the network's files are missing or altered.
        """
        load_conflict_network(self._threads)

    @property
    def digest(self) -> str:
        """The digest of the manifest.

        Raises:
            ModelError: it is missing.
        """
        return _manifest_digest()

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """As `ConflictScorer.probabilities`.

        Raises:
            ModelError: the network's files are missing or altered.
            VerifierError: the network failed.
        """
        return load_conflict_network(self._threads).probabilities(pairs) if pairs else []


@lru_cache(maxsize=1)
def _manifest_digest() -> str:
    return sha256_of(EMBEDDED / MANIFEST)
