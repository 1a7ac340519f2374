"""Begins the work of a worker, over a network that is loaded before the workers are forked.

Python's fork server imports this module once and forks every worker from there, including one that replaces another
later: all of them share the memory pages of one loaded network. The server has a single thread, which makes a fork
safe; the driver, in which Arrow runs threads, is never forked.
"""

import contextlib
import gc
import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from assay.batch.values import Work

if TYPE_CHECKING:
    from assay.models import PairScorer

PRELOAD: Final = "ASSAY_BATCH_PRELOAD"
"""The environment variable that tells the fork server what to load: `THREADS:NETWORK`, a network by name or folder."""


def begin_work(work: Work) -> Callable[[Any], list[Any]]:
    """The function that answers the rows of a piece. The network has judged one pair by then, on its device.

    Raises:
        ModelError: the network cannot be used.
        VerifierError: it fails, for example because a device is missing.
        AssayError: anything else that the work needs cannot be used.
    """
    os.environ.update(work.environ)
    scorer = _scorer(work.model, work.threads)
    scorer.score([("One premise.", "One claim.")])
    return work.begin(scorer)


@lru_cache(maxsize=1)
def _scorer(model: str | None, threads: int) -> "PairScorer":
    from assay.config import scorer_of

    return scorer_of(model, os.environ, threads=threads)


def _preload(settings: str) -> None:
    from assay.errors import ModelError
    from assay.models import EmbeddedConflicts

    threads, _, model = settings.partition(":")
    _scorer(model or None, int(threads))
    with contextlib.suppress(ModelError):  # who needs it is told then: most rows have no conflict
        EmbeddedConflicts(int(threads)).load()
    gc.collect()
    gc.freeze()  # the collector writes into objects that it visits, which would copy their shared pages


if PRELOAD in os.environ:
    _preload(os.environ[PRELOAD])
