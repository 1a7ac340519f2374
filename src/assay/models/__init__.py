"""The verifier network behind one small interface."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.models.cache import CachedScorer as CachedScorer
    from assay.models.conflicts.network import ConflictScorer as ConflictScorer
    from assay.models.conflicts.network import EmbeddedConflicts as EmbeddedConflicts
    from assay.models.cross_encoder import load_embedded as load_embedded
    from assay.models.cross_encoder import usable_cpus as usable_cpus
    from assay.models.fair_queue import FairQueue as FairQueue
    from assay.models.fair_queue import Ticket as Ticket
    from assay.models.fair_queue import in_turns as in_turns
    from assay.models.interface import PairScorer as PairScorer
    from assay.models.interface import WordScores as WordScores
    from assay.models.interface import score_words as score_words
    from assay.models.interface import words_of as words_of
    from assay.models.load import load_scorer as load_scorer
    from assay.models.registry import DEFAULT as DEFAULT
    from assay.models.registry import embedded_name as embedded_name
    from assay.models.runtime import DEFAULT_RUNTIME as DEFAULT_RUNTIME
    from assay.models.runtime import Runtime as Runtime
    from assay.models.runtime import read_runtime as read_runtime
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".cache": ("CachedScorer",),
            ".conflicts.network": ("ConflictScorer", "EmbeddedConflicts"),
            ".cross_encoder": ("load_embedded", "usable_cpus"),
            ".fair_queue": ("FairQueue", "Ticket", "in_turns"),
            ".interface": ("PairScorer", "WordScores", "score_words", "words_of"),
            ".load": ("load_scorer",),
            ".registry": ("DEFAULT", "embedded_name"),
            ".runtime": ("DEFAULT_RUNTIME", "Runtime", "read_runtime"),
        },
    )
