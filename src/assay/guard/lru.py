"""Results that depend on their key alone, kept up to a number; the oldest use goes first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class LruCache(Generic[T]):
    """A bounded memory of results. Safe to use from several threads; two that miss at once both make the result.

    >>> lengths = LruCache[int](2)
    >>> [lengths.get(word, lambda word=word: len(word)) for word in ("a", "bb", "a", "ccc")]
    [1, 2, 1, 3]
    >>> len(lengths)
    2
    """

    def __init__(self, most: int) -> None:
        """Keep at most `most` results."""
        self._most = most
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result under a key: the one that is kept, or what `make` gives. An exception of `make` is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made
