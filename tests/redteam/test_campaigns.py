"""A campaign asks failures again and says which flicker; nothing passes because something failed."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.redteam.test_cases import PASSAGE, case

from assay.errors import VerifierError
from assay.guard import Guard
from assay.redteam import run_campaign
from assay.redteam.judging import Outcome
from assay.redteam.reports import html_report, junit, markdown, text_report
from assay.redteam.runs import RunOptions
from assay.redteam.targets import PythonFunction, Request
from assay.testing import FakeScorer

STEADY = case("How long is the leave of partners?", context=(PASSAGE,))
FLICKERING = case("For how many weeks is the leave granted?", context=(PASSAGE,))
WRONG = case("How long is the leave, in weeks?", context=(PASSAGE,))
SUITE = (STEADY, FLICKERING, WRONG)


def guard() -> Guard:
    return Guard("general", scorer=FakeScorer())


def test_failures_are_asked_again_and_what_passes_then_is_marked_and_keeps_its_first_score(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def system(request: Request) -> str:
        asked[request["id"]] += 1
        right = request["id"] == STEADY.id or (request["id"] == FLICKERING.id and asked[FLICKERING.id] == 3)
        return "6 weeks" if right else "9 weeks"

    made = run_campaign(SUITE, PythonFunction(system, "flickers"), guard(), tmp_path, reruns=4)
    assert (asked[STEADY.id], asked[FLICKERING.id], asked[WRONG.id]) == (1, 3, 5)
    by_case = {one.case: one for one in made.judgements}
    assert [by_case[one.id].flaky for one in SUITE] == [False, True, False]
    assert by_case[FLICKERING.id].outcome is Outcome.FAILED
    assert (made.card.flaky, made.card.passed, made.card.ars) == (1, 1, 1 / 3)
    card, judgements = made.card, made.judgements
    assert "1 are flaky" in text_report(card, None)
    assert "1 flaky." in markdown(card, SUITE, judgements, None)
    assert "(flaky)" in markdown(card, SUITE, judgements, None)
    assert "flaky: passed in another of 3 trials" in junit(card, SUITE, judgements)
    assert "(flaky)" in html_report(card, SUITE, judgements, None)
    again = run_campaign(SUITE, PythonFunction(system, "flickers"), guard(), tmp_path, reruns=4)
    assert again.spent.calls == 0
    assert again.judgements == made.judgements


class Failing(FakeScorer):
    """A verifier that fails."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        raise VerifierError("out of memory")


def test_a_verifier_that_fails_lets_nothing_pass(tmp_path: Path) -> None:
    target = PythonFunction(lambda _: "Partners receive 6 weeks of leave.", "right")
    made = run_campaign(SUITE, target, Guard("general", scorer=Failing()), tmp_path)
    assert made.card.passed == 0
    assert made.card.unjudged == 3
    assert made.card.ars is None


def test_a_target_that_is_down_is_asked_again_only_when_wanted_and_never_passes(tmp_path: Path) -> None:
    def down(_: Request) -> str:
        raise OSError("down")

    made = run_campaign(SUITE, PythonFunction(down, "down"), guard(), tmp_path, reruns=3)
    assert (made.card.unjudged, made.card.passed, made.spent.calls) == (3, 0, 3)


def test_reruns_begin_no_call_after_the_seconds_of_the_whole_run(tmp_path: Path) -> None:
    asked: Counter[int] = Counter()

    def slow(request: Request) -> str:
        asked[0] += 1
        time.sleep(0.4)
        return "9 weeks"

    options = RunOptions(most_seconds=0.3)
    made = run_campaign((WRONG,), PythonFunction(slow, "slow"), guard(), tmp_path, options, reruns=4)
    assert (asked[0], made.spent.calls, made.spent.left) == (1, 1, 0)
    assert made.judgements[0].outcome is Outcome.FAILED
