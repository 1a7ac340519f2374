"""Equal checks of one tenant are made once: a report is cached under everything that it depends on.

Only checks without a chat model and without sources of knowledge are cached, and only reports in which every claim was
checked: what failed may succeed the next time. A cached report is recorded and signed like a new one. Whatever is wrong
with the cache (it is slow, full, away, or its content was altered) is a miss: the check is made.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from assay.errors import AssayError
from assay.guard import Guard
from assay.schema import Evidence, HallucinationReport, coerce_evidence
from assay.server.checking import Checker
from assay.server.telemetry.telemetry import Telemetry
from assay.server.verdicts.settings import CacheSettings

if TYPE_CHECKING:
    from assay.server.checks.bodies import CheckBody
    from assay.store.db import Store

CheckResult = tuple[HallucinationReport, tuple[Evidence, ...]]
"""A report and its evidence."""
WAIT_S: Final = 0.5
"""Seconds that a check waits for the cache before it is made."""
MOST_WAITING: Final = 256
"""Verdicts that may wait to be stored; further ones are not stored."""
PRUNE_EVERY: Final = 64
"""Verdicts that a process stores for a tenant between two prunings: by so many may it exceed the bounds."""
LARGEST_REPORT: Final = 64 * 1024 * 1024
"""The largest report, in bytes, that is unpacked."""
_log = logging.getLogger("assay.server")


class VerdictCache:
    """Runs checks, or finds the report of an equal one."""

    def __init__(
        self, checker: Checker, store: "Store | None", settings: CacheSettings | None, telemetry: Telemetry
    ) -> None:
        """A cache over a store; without a store or settings every check is made.

        Args:
            checker: runs checks.
            store: where verdicts are stored.
            settings: the secret and the bounds.
            telemetry: counts the results of lookups.
        """
        self._checker, self._telemetry = checker, telemetry
        self._store: Store | None = None if settings is None else store
        self._settings: CacheSettings | None = None if store is None else settings
        self._readers: ThreadPoolExecutor | None = None
        self._keepers: ThreadPoolExecutor | None = None
        self._waiting = 0
        self._since_pruned: dict[str, int] = {}
        self._lock = threading.Lock()
        if self._settings is not None:
            self._name_key, self._seal_key = (
                hmac.digest(self._settings.secret.encode(), purpose, "sha256")
                for purpose in (b"assay verdict cache: names", b"assay verdict cache: seals")
            )
            self._readers = ThreadPoolExecutor(4, thread_name_prefix="assay-verdicts")
            self._keepers = ThreadPoolExecutor(1, thread_name_prefix="assay-verdicts-kept")

    async def check(self, guard: Guard, body: "CheckBody", tenant: str, *, size: int | None = None) -> CheckResult:
        """The report of a check.

        Args:
            guard: the guard that checks.
            body: the request.
            tenant: the tenant; a verdict of one tenant is never found for another.
            size: the size of the check, as for `Checker.run`.

        Raises:
            InputError, CheckFailedError: as `Checker.run` does.
        """
        if self._store is None or not guard.asks_nobody:
            return await self._checker.run(_work(guard, body), size=size)
        begun = time.perf_counter()
        key, found = await self._look_up(guard, body, tenant)
        if found is not None:
            report, evidence = found
            spent = {"total_ms": 1000 * (time.perf_counter() - begun)}
            return HallucinationReport.model_validate({**report, "timing": spent}), evidence
        result = await self._checker.run(_work(guard, body), size=size)
        if key is not None and not result[0].coverage.unchecked:
            self._keep_later(tenant, key, result[0])
        return result

    async def _look_up(self, guard: Guard, body: "CheckBody", tenant: str) -> tuple[str | None, Any]:
        """The cache key of a check, none where it is not to be cached, and the cached result, none on a miss."""

        def look() -> tuple[str | None, Any]:
            evidence = coerce_evidence(body.evidence)
            key = self._name(guard, body, evidence, tenant)
            report = self._read(tenant, key)
            return key, None if report is None else (report, evidence)

        assert self._readers is not None  # noqa: S101 there is a store
        try:
            running = asyncio.get_running_loop().run_in_executor(self._readers, look)
            async with asyncio.timeout(WAIT_S):
                key, found = await running
        except TimeoutError:
            self._telemetry.verdict("slow")
            return None, None
        except (AssayError, ValueError, RecursionError) as error:
            # If the request is at fault, the check reports it.
            self._telemetry.verdict("failed")
            _log.debug("no kept verdict could be looked up: %s", error)
            return None, None
        self._telemetry.verdict("miss" if found is None else "hit")
        return key, found

    def _name(self, guard: Guard, body: "CheckBody", evidence: tuple[Evidence, ...], tenant: str) -> str:
        parts = {
            "tenant": tenant,
            "verifier": guard.verifier.digest,
            "policy": [guard.policy.name, guard.policy.digest],
            "asked": body.asked(),
            "evidence": [one.model_dump(mode="json") for one in evidence],
        }
        text = json.dumps(parts, sort_keys=False, ensure_ascii=True).encode()
        return hmac.digest(self._name_key, text, "sha256").hex()

    def _seal(self, key: str, created: int, body: bytes) -> bytes:
        return hmac.digest(self._seal_key, b"%s:%d:%s" % (key.encode(), created, body), hashlib.sha256)

    def _read(self, tenant: str, key: str) -> dict[str, Any] | None:
        from assay.store.records import find_verdict

        assert self._store is not None  # noqa: S101 `check` has looked
        row = find_verdict(self._store, tenant, key, self._oldest())
        if row is None:
            return None
        if not hmac.compare_digest(row.seal, self._seal(key, row.created, row.body)):
            _log.warning("a kept verdict was altered, or kept under another secret: it is not used")
            return None
        unpacker = zlib.decompressobj()
        report: dict[str, Any] = json.loads(unpacker.decompress(row.body, LARGEST_REPORT))
        return report

    def _oldest(self) -> int:
        from assay.store.records import micros

        assert self._store is not None  # noqa: S101
        assert self._settings is not None  # noqa: S101
        return micros(self._store.now() - timedelta(seconds=self._settings.max_age_s))

    def _keep_later(self, tenant: str, key: str, report: HallucinationReport) -> None:
        assert self._keepers is not None  # noqa: S101
        with self._lock:
            if self._waiting >= MOST_WAITING:
                return
            self._waiting += 1
        self._keepers.submit(self._keep, tenant, key, report)

    def _keep(self, tenant: str, key: str, report: HallucinationReport) -> None:
        from assay.store.records import KeptVerdict, keep_verdict, micros, prune_verdicts

        store, settings = self._store, self._settings
        assert store is not None  # noqa: S101
        assert settings is not None  # noqa: S101
        try:
            created = micros(store.now())
            body = zlib.compress(report.model_dump_json(exclude={"timing"}).encode(), 1)
            keep_verdict(store, tenant, KeptVerdict(key, created, self._seal(key, created, body), body))
            if self._is_due(tenant):
                prune_verdicts(store, tenant, self._oldest(), settings.max_entries, int(settings.max_mb * 1_000_000))
        except Exception:  # noqa: BLE001 the edge of a thread that nobody waits for: logged, and the verdict is not cached
            _log.warning("a verdict could not be kept", exc_info=True)
        finally:
            with self._lock:
                self._waiting -= 1

    def _is_due(self, tenant: str) -> bool:
        count = self._since_pruned.get(tenant, PRUNE_EVERY - 1) + 1
        self._since_pruned[tenant] = count % PRUNE_EVERY
        return count >= PRUNE_EVERY

    def close(self) -> None:
        """Ends the threads; verdicts that wait to be stored are dropped."""
        for pool in (self._readers, self._keepers):
            if pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)


def _work(guard: Guard, body: "CheckBody") -> Callable[[], CheckResult]:
    def work() -> CheckResult:
        evidence = coerce_evidence(body.evidence)
        return next(iter(guard.check_many([body.request(evidence)]))), evidence

    return work
