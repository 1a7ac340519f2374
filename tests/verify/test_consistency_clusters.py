"""Claims of several samples, put together by what they say."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError, VerifierError
from assay.testing import FailingScorer, FakeScorer, ScriptedScorer
from assay.verify.consistency.clusters import Consistency, cluster_claims, values_differ

OPEN, SHUT = "The depot in Ghent is open on Sunday.", "The depot in Ghent is not open on Sunday."
AGAIN = "On Sunday the depot in Ghent is open."
YES = (0.9, 0.1, 0.0)


def test_claims_join_where_each_entails_the_other() -> None:
    scorer = ScriptedScorer({(OPEN, AGAIN): YES, (AGAIN, OPEN): YES})
    found = cluster_claims([[OPEN], [AGAIN], [OPEN], [SHUT]], scorer)
    assert [(c.representative, c.frequency, c.consistency) for c in found.clusters] == [
        (OPEN, 0.75, Consistency.CONSISTENT),
        (SHUT, 0.25, Consistency.INCONSISTENT),
    ]
    assert found.clusters[0].samples == (0, 1, 2)
    assert found.score == pytest.approx(0.5)
    assert found.mean_frequency == pytest.approx(0.5)


def test_one_direction_is_not_enough() -> None:
    found = cluster_claims([[OPEN], [AGAIN]], ScriptedScorer({(OPEN, AGAIN): YES}))
    assert len(found.clusters) == 2
    assert found.score == 0.0


def test_other_numbers_and_dates_never_join_whatever_the_network_says() -> None:
    five, fifty = "The fee is $5 a day.", "The fee is $50 a day."
    scorer = ScriptedScorer({(five, fifty): YES, (fifty, five): YES})
    assert len(cluster_claims([[five], [fifty]], scorer).clusters) == 2
    assert values_differ("It opened on 3 May 2019.", "It opened on 3 May 2021.")
    assert not values_differ("It opened on 3 May 2019.", "It opened in May 2019.")
    assert not values_differ("Leave is paid.", "Leave lasts 2 weeks.")


def test_one_call_asks_for_all_pairs_and_unrelated_ones_are_not_asked() -> None:
    scorer = ScriptedScorer({})
    cluster_claims([[OPEN, "Lunch is served at noon daily."], [AGAIN]], scorer)
    assert [sorted(call) for call in scorer.calls] == [sorted([(OPEN, AGAIN), (AGAIN, OPEN)])]


def test_a_network_that_fails_or_cannot_read_a_claim_is_no_disagreement() -> None:
    with pytest.raises(VerifierError):
        cluster_claims([[OPEN], [AGAIN]], FailingScorer())
    with pytest.raises(VerifierError, match="shorter claims"):
        cluster_claims([[OPEN], [AGAIN]], FakeScorer(max_pair_tokens=12))
    with pytest.raises(InputError, match="at least one sample"):
        cluster_claims([], FakeScorer())


def test_samples_without_claims_agree_with_each_other_only() -> None:
    assert cluster_claims([[], []], FakeScorer()).score == 1.0
    assert cluster_claims([[], [OPEN]], FakeScorer()).score == 0.0
    assert cluster_claims([[OPEN]], FakeScorer()).score is None


texts = st.sampled_from([OPEN, SHUT, AGAIN, "The fee is $5.", "The fee is $50.", "Lunch is at noon."])


@settings(max_examples=40)
@given(samples=st.lists(st.lists(texts, max_size=3, unique=True), min_size=1, max_size=4))
def test_every_claim_is_in_one_cluster(samples: list[list[str]]) -> None:
    found = cluster_claims(samples, FakeScorer())
    clustered = sorted(claim for cluster in found.clusters for claim in cluster.claims)
    assert clustered == sorted(claim for one in samples for claim in one)
    assert found.score is None or 0 <= found.score <= 1
    for cluster in found.clusters:
        assert 0 < cluster.frequency <= 1
        assert cluster.representative in cluster.claims
