"""Indices of the exact tier kept by content: the sentences of a stream are all checked against the same evidence."""

import hashlib
from collections.abc import Sequence

from assay._lru import LruCache
from assay.schema import Evidence
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.index_builder import index_evidence

OVERHEAD = 100
"""Characters that an index counts for beside its text: a sentence takes 9 KB, a long text 46 bytes a character."""


class ExactIndexCache:
    """Keeps the indices that were used last. Safe to share between threads: an index is only read once it is made."""

    def __init__(self, max_characters: int = 1_000_000) -> None:
        """Keep indices of at most `max_characters` of evidence, taken together: about 45 MB by default."""
        self._kept = LruCache[ExactIndex](max_characters)

    @property
    def size(self) -> int:
        """Characters of evidence of which indices are kept, and `OVERHEAD` for each index."""
        return self._kept.weight

    def get(self, evidence: Sequence[Evidence], locale: str, key: bytes | None = None) -> ExactIndex:
        """The index of this evidence, kept or new; the same as `index_evidence` makes.

        Args:
            evidence: in any order.
            locale: how numbers in it are written.
            key: its `content_key`, where it is known already.
        """
        key = content_key(evidence, locale) if key is None else key
        size = OVERHEAD + sum(len(item.text) for item in evidence)
        return self._kept.get(key, lambda: index_evidence(evidence, locale), size)


def content_key(evidence: Sequence[Evidence], locale: str) -> bytes:
    """A digest of all that an index depends on."""
    state = hashlib.blake2b(repr(locale).encode(), digest_size=16)
    for item in sorted(evidence, key=lambda e: (e.id, e.text)):
        fields = (item.id, item.title, item.effective_date, len(item.text))
        state.update(repr(fields).encode("utf-8", "surrogatepass"))
        state.update(item.text.encode("utf-8", "surrogatepass"))
    return state.digest()
