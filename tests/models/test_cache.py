from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import VerifierError
from assay.models.cache import ENTRY_BYTES, CachedScorer, CacheOptions, pair_key
from assay.testing import FailingScorer, FakeScorer, ScriptedScorer

PAIRS = [(f"The tower has {n} steps.", "The tower has 3 steps.") for n in range(6)]


def test_a_pair_is_asked_once() -> None:
    behind = ScriptedScorer({})
    cached = CachedScorer(behind)
    cached.score(PAIRS[:4])
    cached.score([*PAIRS[2:], PAIRS[0], PAIRS[5]])
    assert behind.calls == [PAIRS[:4], PAIRS[4:]]
    assert (cached.counts.hits, cached.counts.misses, cached.counts.entries) == (4, 6, 6)


def test_the_longest_unused_goes_first() -> None:
    behind = ScriptedScorer({})
    cached = CachedScorer(behind, CacheOptions(max_entries=2))
    for i in (0, 1, 0, 2, 0, 1):
        cached.score([PAIRS[i]])
    assert [call[0] for call in behind.calls] == [PAIRS[0], PAIRS[1], PAIRS[2], PAIRS[1]]
    assert cached.counts.entries == 2


@pytest.mark.parametrize("options", [CacheOptions(max_entries=0), CacheOptions(max_bytes=ENTRY_BYTES * 3)])
def test_the_bound_holds_and_answers_stay_whole(options: CacheOptions) -> None:
    cached = CachedScorer(FakeScorer(), options)
    assert (cached.score(PAIRS) == FakeScorer().score(PAIRS)).all()
    assert cached.counts.entries == min(3, options.max_entries)


def test_a_failed_call_leaves_nothing_behind() -> None:
    cached = CachedScorer(FailingScorer(only="poison"))
    with pytest.raises(VerifierError):
        cached.score([PAIRS[0], ("A premise.", "poison")])
    assert cached.counts.entries == 0
    assert cached.score([PAIRS[0]]).shape == (1, 3)


def test_models_do_not_share_keys() -> None:
    assert pair_key("model a", "p", "c") != pair_key("model b", "p", "c")


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_different_pairs_have_different_keys(a: str, b: str, c: str, d: str) -> None:
    assert (pair_key("m", a, b) == pair_key("m", c, d)) == ((a, b) == (c, d))


def test_threads_share_a_cache_without_mixing_answers() -> None:
    cached = CachedScorer(FakeScorer(), CacheOptions(max_entries=3))
    expected = FakeScorer().score(PAIRS)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: cached.score(PAIRS), range(40)):
            assert np.array_equal(result, expected)
