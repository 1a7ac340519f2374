"""What is remembered is what would be found anew, and no more of it is kept than the bound says."""

import pytest

from assay._lru import LruCache
from assay.guard.check.evidence_index import Limits, prepare
from assay.retrieve.premises import IndexCache
from assay.schema import Evidence
from assay.testing import FakeScorer
from assay.verify.exact import check_exact, index_evidence

CLAIMS = ("Partners get 4 weeks of leave.", "Leave is paid.", "The fee is 1.200 euros.")
EVIDENCE = [Evidence(id="hr-2", text="Partners are entitled to 2 weeks. The fee is 1200 euros. Leave is not paid.")]


@pytest.mark.parametrize("locale", ["en", "de"])
def test_a_claim_that_was_seen_before_is_found_as_if_it_were_new(locale: str) -> None:
    fresh = index_evidence(EVIDENCE, locale)
    for question in (None, "How long is leave?"):
        for _ in range(2):
            prepared = prepare(EVIDENCE, FakeScorer(), IndexCache(), Limits(), locale)
            for claim in CLAIMS:
                assert prepared.exact(claim, question) == check_exact(claim, fresh, question=question)
                expected = prepared.windows.candidates(claim, passages=2).premises
                assert prepared.premises(claim, 2) == expected
                assert prepared.premises(claim, None) == prepared.windows.candidates(claim, passages=None).premises


def test_other_evidence_is_not_taken_for_the_same() -> None:
    one, other = (
        prepare([Evidence(id="a", text=text)], FakeScorer(), IndexCache(), Limits(), "en")
        for text in ("Partners get 4 weeks of leave.", "Partners get 2 weeks of leave.")
    )
    assert one.exact(CLAIMS[0], None).findings == ()
    assert other.exact(CLAIMS[0], None).findings[0].effect == "contradicts"


def test_the_oldest_use_goes_first_and_a_failure_is_not_kept() -> None:
    kept = LruCache[str](2)
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name

    for name in ("a", "b", "a", "c", "a", "b"):
        assert kept.get(name, lambda name=name: make(name)) == name  # type: ignore[misc]
    assert made == ["a", "b", "c", "b"]
    with pytest.raises(ZeroDivisionError):
        kept.get("x", lambda: str(1 // 0))
    assert len(kept) == 2
