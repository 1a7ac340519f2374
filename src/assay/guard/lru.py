"""The memory of results that the guard uses."""

from assay._lru import LruCache

__all__ = ["LruCache"]
