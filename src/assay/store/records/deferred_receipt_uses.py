"""Uses of receipts in a database that is opened at the first use; no database code is imported before that."""

import atexit
import os
from contextlib import suppress
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Final

from assay.errors import MissingPackageError
from assay.receipt import Claim, Outcome, Use
from assay.store.records.interface import DEFAULT_TENANT

if TYPE_CHECKING:  # SQLAlchemy is loaded with the first use
    from assay.store.db.store import Store


class UsesAt:
    """The uses of receipts in the database at a URL. An `assay.receipt.interface.Uses`.

    All instances in a process share one store for each database. A forked process opens its own.
    """

    def __init__(self, url: str, tenant: str = DEFAULT_TENANT) -> None:
        """Set the database; it is opened, and created if necessary, when a use is claimed.

        Args:
            url: as for `assay.store.db.store.Store`.
            tenant: the tenant of the commits.
        """
        self._url, self._tenant = url, tenant

    def claim(self, use: Use, now: datetime) -> Claim:
        """Claim the use of a receipt; returns once it is on disk.

        Raises:
            StoreError: the database cannot be opened or written, or the name of the tenant is malformed.
            MissingPackageError: the packages of the store are not installed.
        """
        store = _OPEN.store(self._url)
        from assay.store.records.receipt_uses import UsesInStore

        return UsesInStore(store, self._tenant).claim(use, now)

    def settle(self, use: Use, outcome: Outcome) -> None:
        """Note the outcome of the sink.

        Raises:
            StoreError: the database cannot be written.
        """
        store = _OPEN.store(self._url)
        from assay.store.records.receipt_uses import UsesInStore

        UsesInStore(store, self._tenant).settle(use, outcome)


class _Stores:
    """The stores that this process has opened, by URL."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin without open stores; in a forked child, those of the parent are unusable: their writer threads are
        gone."""
        self._lock = Lock()
        self._open: dict[str, Store] = {}

    def store(self, url: str) -> "Store":
        with self._lock:
            if url not in self._open:
                try:
                    from assay.store.db.store import Store
                except ImportError as error:
                    raise MissingPackageError(
                        "used receipts are remembered in a database, which needs SQLAlchemy and Alembic: "
                        "pip install 'assay-ai[store]'"
                    ) from error
                # A store that cannot be opened is tried again at the next use.
                self._open[url] = Store(url)
            return self._open[url]

    def close(self) -> None:
        with self._lock:
            stores, self._open = list(self._open.values()), {}
        for store in stores:
            # At exit: drivers raise errors of their own here. Claims and outcomes that were acknowledged are on disk
            # already; one that could not be stored raised its error where it was claimed or settled.
            with suppress(Exception):
                store.close()


_OPEN: Final = _Stores()
atexit.register(_OPEN.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_OPEN.start)
