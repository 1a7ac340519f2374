"""Results that depend on their key alone, kept up to a bound; the oldest use goes first."""

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
        """Keep results that weigh at most `most` together; each weighs 1 where nothing else is said."""
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[int, T]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """What is kept weighs so much."""
        return self._weight

    def get(self, key: Hashable, make: Callable[[], T], weight: int = 1) -> T:
        """The result under a key: the one that is kept, or what `make` gives. An exception of `make` is not kept, nor
        is a result that alone weighs more than the bound."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        made = make()
        with self._lock:
            if key not in self._kept and weight <= self._most:
                self._kept[key] = (weight, made)
                self._weight += weight
            while self._weight > self._most:
                self._weight -= self._kept.popitem(last=False)[1][0]
        return made
