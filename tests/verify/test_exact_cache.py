"""Indices that are kept are those that would be made, and no more are kept than the limit says."""

from datetime import date

import pytest

from assay.schema import Evidence
from assay.verify.exact.index_builder import index_evidence
from assay.verify.exact.index_cache import OVERHEAD, ExactIndexCache

TEXT = "Partners are entitled to 2 weeks of leave from 3/4/2024. The fee is 1.200 euros."


def test_the_same_evidence_is_indexed_once_whatever_its_order() -> None:
    cache = ExactIndexCache()
    one, two = Evidence(id="a", text=TEXT), Evidence(id="b", text="Leave is paid.")
    first = cache.get([one, two], "en")
    assert cache.get([two, one], "en") is first
    assert first.quantities == index_evidence([one, two], "en").quantities


@pytest.mark.parametrize(
    "other",
    [{"id": "b"}, {"text": f"{TEXT} "}, {"title": "Leave in 2023"}, {"effective_date": date(2024, 1, 1)}],
)
def test_whatever_an_index_depends_on_makes_another(other: dict[str, object]) -> None:
    cache = ExactIndexCache()
    one = Evidence(id="a", text=TEXT)
    changed = one.model_copy(update=other)
    assert cache.get([one], "en") is not cache.get([changed], "en")
    assert cache.get([one], "en") is not cache.get([one], "de")


def test_no_more_is_kept_than_the_limit_says() -> None:
    both = 2 * (len(TEXT) + OVERHEAD)
    cache = ExactIndexCache(max_characters=both)
    for number in range(5):
        cache.get([Evidence(id=str(number), text=TEXT)], "en")
    assert cache.size == both
    cache.get([Evidence(id="long", text=TEXT * 9)], "en")
    assert cache.size == both


def test_many_small_indices_count_for_more_than_their_text() -> None:
    cache = ExactIndexCache(max_characters=10 * OVERHEAD)
    made = [cache.get([Evidence(id=str(number), text="Short.")], "en") for number in range(20)]
    assert cache.get([Evidence(id="19", text="Short.")], "en") is made[19]
    assert cache.get([Evidence(id="9", text="Short.")], "en") is not made[9]
