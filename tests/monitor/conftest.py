"""The databases of the store's tests, for timed work."""

from tests.store.conftest import empty_postgres, postgres, url

__all__ = ["empty_postgres", "postgres", "url"]
