"""Rows of the cache of verdicts: bounded, apart by tenant, whole under several writers, gone with an erasure."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select
from tests.store.making import record_of

from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records.erasure import erase_runs
from assay.store.records.verdict_cache import KeptVerdict, find_verdict, keep_verdict, prune_verdicts


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        yield opened


def kept(key: str, created: int, body: bytes = b"body") -> KeptVerdict:
    return KeptVerdict(key, created, b"seal of " + body, body)


def keys(store: Store, tenant: str = "acme") -> list[str]:
    table = tables.verdict_cache.c
    with store.reading(tenant) as connection:
        return sorted(connection.execute(select(table.key).where(table.tenant == tenant)).scalars())


def test_what_was_kept_is_found_by_its_tenant_and_key_until_it_is_too_old(store: Store) -> None:
    keep_verdict(store, "acme", kept("a", 1_000))
    assert find_verdict(store, "acme", "a", 1_000) == kept("a", 1_000)
    assert find_verdict(store, "acme", "a", 1_001) is None
    assert find_verdict(store, "acme", "b", 0) is None
    assert find_verdict(store, "globex", "a", 0) is None


def test_of_several_rows_under_one_key_the_last_stays(store: Store) -> None:
    keep_verdict(store, "acme", kept("a", 1_000, b"old"))
    keep_verdict(store, "acme", kept("a", 2_000, b"new and longer"))
    assert find_verdict(store, "acme", "a", 0) == kept("a", 2_000, b"new and longer")
    with store.reading("acme") as connection:
        assert connection.execute(select(func.sum(tables.verdict_cache.c.size))).scalar_one() == len(b"new and longer")


@pytest.mark.parametrize(
    ("since", "entries", "size", "left"),
    [(0, 10, 10_000, "abcde"), (30, 10, 10_000, "cde"), (0, 2, 10_000, "de"), (0, 10, 25, "de"), (60, 10, 10_000, "")],
)
def test_the_oldest_go_beyond_an_age_a_number_or_a_size(
    store: Store, since: int, entries: int, size: int, left: str
) -> None:
    for place, key in enumerate("abcde", start=1):
        keep_verdict(store, "acme", kept(key, 10 * place, b"ten bytes."))
    keep_verdict(store, "globex", kept("z", 1))
    assert prune_verdicts(store, "acme", since, entries, size) == 5 - len(left)
    assert keys(store) == list(left)
    assert keys(store, "globex") == ["z"]


def test_servers_that_keep_and_prune_at_once_leave_whole_rows_within_the_bound(url: str) -> None:
    """Each writer has a connection pool of its own, as a replica has; a row is never of two of them."""
    with Store(url), ThreadPoolExecutor(4) as pool:

        def writer(name: int) -> None:
            with Store(url) as own:
                for turn in range(25):
                    body = bytes([name]) * (50 + turn)
                    keep_verdict(own, "acme", kept(f"k{turn % 8}", 1_000 + turn, body))
                    found = find_verdict(own, "acme", f"k{turn % 8}", 0)
                    if found is not None:
                        assert found.seal == b"seal of " + found.body
                        assert len(set(found.body)) == 1
                    if turn % 10 == 9:
                        prune_verdicts(own, "acme", 0, 5, 10_000)

        for done in [pool.submit(writer, name) for name in range(4)]:
            done.result()
        with Store(url) as store:
            prune_verdicts(store, "acme", 0, 5, 10_000)
            assert len(keys(store)) <= 5


def test_an_erasure_takes_all_that_is_kept_for_the_tenant_and_nothing_of_another(store: Store) -> None:
    record = record_of(tenant="acme")
    store.record(record)
    for tenant in ("acme", "globex"):
        keep_verdict(store, tenant, kept("a", 1_000))
    erase_runs(store, [record.id], "request", "acme")
    assert (keys(store), keys(store, "globex")) == ([], ["a"])
