"""A cache of exact-tier indices by content: all sentences of a stream are checked against the same evidence."""

import hashlib
from collections.abc import Sequence

from assay._lru import LruCache
from assay.schema import Evidence
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.index_builder import index_evidence

OVERHEAD = 100
"""Characters that an index counts in addition to its text: a sentence takes 9 KB, a long text 46 bytes per
character."""


class ExactIndexCache:
    """Keeps the most recently used indices. Safe across threads: a built index is only read."""

    def __init__(self, max_characters: int = 1_000_000) -> None:
        """Keep indices of at most `max_characters` of evidence in total: about 45 MB by default."""
        self._indices = LruCache[ExactIndex](max_characters)

    @property
    def size(self) -> int:
        """The characters of all cached evidence, plus `OVERHEAD` for each index."""
        return self._indices.weight

    def get(self, evidence: Sequence[Evidence], locale: str, key: bytes | None = None) -> ExactIndex:
        """The index of the evidence, cached or new; equal to that of `index_evidence`.

        Args:
            evidence: the evidence, in any order.
            locale: the locale of its numbers and dates.
            key: its `content_key`, if it is already known.
        """
        key = content_key(evidence, locale) if key is None else key
        size = OVERHEAD + sum(len(item.text) for item in evidence)
        return self._indices.get(key, lambda: index_evidence(evidence, locale), size)


def content_key(evidence: Sequence[Evidence], locale: str) -> bytes:
    """A digest of everything that an index depends on."""
    state = hashlib.blake2b(repr(locale).encode(), digest_size=16)
    for item in sorted(evidence, key=lambda e: (e.id, e.text)):
        fields = (item.id, item.title, item.effective_date, len(item.text))
        state.update(repr(fields).encode("utf-8", "surrogatepass"))
        state.update(item.text.encode("utf-8", "surrogatepass"))
    return state.digest()
