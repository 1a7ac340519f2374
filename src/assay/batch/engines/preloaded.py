"""A worker's guard, over a network that is loaded before the workers are forked.

Python's fork server imports this module once and forks every worker from there, also one that replaces another later:
all of them share the pages of one loaded network. The server has no thread but its own, which is what makes a fork
safe; the driver, which has threads of Arrow, is never forked.
"""

import gc
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from assay.batch.values import Recipe

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.models import PairScorer

PRELOAD: Final = "ASSAY_BATCH_PRELOAD"
"""Set for the fork server: the threads of one worker, and behind a colon the network's name or folder."""


def guard_of(recipe: Recipe) -> "Guard":
    """The guard that a recipe describes.

    Raises:
        PolicyError: there is no such policy, or what its file says is wrong.
        ModelError: the network cannot be used.
    """
    from assay.config import Guard

    os.environ.update(recipe.environ)
    return Guard(recipe.policy, scorer=_scorer(recipe.model, recipe.threads))


@lru_cache(maxsize=1)
def _scorer(model: str | None, threads: int) -> "PairScorer":
    from assay.config import scorer_of

    return scorer_of(model, os.environ, threads=threads)


def _preload(told: str) -> None:
    threads, _, model = told.partition(":")
    _scorer(model or None, int(threads))
    gc.collect()
    gc.freeze()  # the collector writes into what it looks at, and every page written to becomes a copy


if PRELOAD in os.environ:
    _preload(os.environ[PRELOAD])
