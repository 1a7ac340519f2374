"""A worker's work, over a network that is loaded before the workers are forked.

Python's fork server imports this module once and forks every worker from there, also one that replaces another later:
all of them share the pages of one loaded network. The server has no thread but its own, which is what makes a fork
safe; the driver, which has threads of Arrow, is never forked.
"""

import gc
import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from assay.batch.values import Work

if TYPE_CHECKING:
    from assay.models import PairScorer

PRELOAD: Final = "ASSAY_BATCH_PRELOAD"
"""Set for the fork server: the threads of one worker, and behind a colon the network's name or folder."""


def begun(work: Work) -> Callable[[Any], list[Any]]:
    """What answers the rows of pieces. The network has judged one pair then, on the device that it runs on.

    Raises:
        ModelError: the network cannot be used.
        VerifierError: it fails, such as for want of a device.
        AssayError: something else that the work needs cannot be used.
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
    threads, _, model = settings.partition(":")
    _scorer(model or None, int(threads))
    gc.collect()
    gc.freeze()  # the collector writes into what it looks at, and every page written to becomes a copy


if PRELOAD in os.environ:
    _preload(os.environ[PRELOAD])
