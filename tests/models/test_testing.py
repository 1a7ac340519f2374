import pytest

from assay.errors import VerifierError
from assay.testing import FailingScorer, FakeScorer, ScriptedScorer


@pytest.mark.parametrize(
    ("premise", "claim", "verdict"),
    [
        ("Partners get 2 weeks of leave.", "Partners get 2 weeks of leave.", 0),
        ("Partners get 2 weeks of leave.", "Partners get 4 weeks of leave.", 2),
        ("Refunds are allowed after sale.", "Refunds are not allowed after sale.", 2),
        ("The sky was clear.", "Partners get 4 weeks of leave.", 1),
    ],
)
def test_the_fake_judges_as_a_reader_would(premise: str, claim: str, verdict: int) -> None:
    assert FakeScorer().score([(premise, claim)])[0].argmax() == verdict


def test_the_scripted_scorer_gives_what_was_written() -> None:
    scorer = ScriptedScorer({("p", "c"): (0.25, 0.25, 0.5)})
    assert scorer.score([("p", "c"), ("p", "d")]).tolist() == [[0.25, 0.25, 0.5], [0.0, 1.0, 0.0]]


def test_the_failing_scorer_fails() -> None:
    with pytest.raises(VerifierError, match="gone"):
        FailingScorer("gone").score([("p", "c")])
    assert FailingScorer("gone", only="x").score([("p", "c")]).shape == (1, 3)
