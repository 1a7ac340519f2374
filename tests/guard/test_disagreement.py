"""Other sources are asked whether they support something else than what one source supports."""

import json
from collections.abc import Mapping

import pytest

from assay import Guard
from assay.errors import VerifierError
from assay.guard.conflicts.disagreement import (
    PAIRS_PER_CLAIM,
    Disagreement,
    ask_other_sources,
    load_disagreement,
    others_of,
)
from assay.models.interface import PairScorer
from assay.schema import Action, Evidence, HallucinationReport, Verdict
from assay.schema.evidence import Window
from assay.schema.premise import ClaimCandidates, Premise
from assay.testing import ScriptedScorer
from assay.verify.network.entailment import judge

CLAIM = "The book was translated by Ewa Lind."
OWN = "Ewa Lind translated the book."
OTHER = "Translator: Tom Archer."
EXCHANGED = "The book was translated by Tom Archer."
DENIED = "The book was not translated by Ewa Lind."
YES, NO, SILENT, UNSURE = (0.97, 0.02, 0.01), (0.01, 0.02, 0.97), (0.02, 0.96, 0.02), (0.2, 0.08, 0.72)
Scores = tuple[float, float, float]
BOTH = f"{OWN} {OTHER}"


def scripted(reading: Scores, exchanged: Scores, denied: Scores, here: Scores, between: Scores) -> ScriptedScorer:
    return ScriptedScorer(
        {
            (OWN, CLAIM): YES,
            (BOTH, CLAIM): YES,
            (OTHER, CLAIM): reading,
            (OTHER, EXCHANGED): exchanged,
            (OTHER, DENIED): denied,
            (OWN, EXCHANGED): here,
            (OWN, OTHER): between,
            (OTHER, OWN): between,
        }
    )


def checked(scorer: PairScorer, other: str = OTHER, claim: str = CLAIM) -> HallucinationReport:
    evidence = [Evidence(id="own", text=OWN), Evidence(id="other", text=other)]
    return Guard("general", scorer=scorer).check(claim, evidence)


def test_a_source_that_bears_out_another_value_disagrees_though_the_network_is_unsure_of_a_contradiction() -> None:
    report = checked(scripted(UNSURE, YES, YES, NO, NO))
    assert [one.contradicting.evidence_id for one in report.retrieval.conflicts] == ["other"]
    assert report.claims[0].conflict
    assert report.action is not Action.EMIT


def test_two_values_that_one_thing_may_have_are_no_disagreement() -> None:
    report = checked(scripted((0.15, 0.6, 0.25), YES, SILENT, SILENT, SILENT))
    assert not report.retrieval.conflicts


def test_a_source_that_speaks_of_something_else_is_not_asked() -> None:
    scorer = scripted(SILENT, SILENT, SILENT, SILENT, SILENT)
    assert not checked(scorer).retrieval.conflicts
    assert (OTHER, DENIED) not in {pair for call in scorer.calls for pair in call}


def test_a_source_that_says_the_same_is_not_asked_for_its_denial() -> None:
    same = "The book was translated from the Polish, by Ewa Lind."
    scorer = ScriptedScorer({(OWN, CLAIM): YES, (same, CLAIM): YES, (f"{OWN} {same}", CLAIM): YES})
    assert not checked(scorer, other=same).retrieval.conflicts
    assert not any(claim == DENIED for call in scorer.calls for _, claim in call)


def test_what_no_source_bears_out_by_itself_is_held_against_none() -> None:
    windows = (Window("a", 0, len(OWN), OWN), Window("b", 0, len(OTHER), OTHER))
    premises = tuple(Premise(one.text, "sentence", (one,)) for one in windows)
    scorer = ScriptedScorer({(OWN, CLAIM): SILENT, (OTHER, CLAIM): NO})
    read = judge([ClaimCandidates(CLAIM, premises)], scorer)[0]
    assert list(others_of(CLAIM, read, frozenset())) == []
    assert [one.source for one in others_of(CLAIM, read, frozenset({"a"}))] == ["b"]


def test_pairs_that_are_read_for_a_claim_are_bounded() -> None:
    texts = {f"s{i}": f"Translators {i}: Tom Archer, Ann Lee, Jan Moe, Ida Berg and Per Holm." for i in range(9)}
    script: dict[tuple[str, str], Scores] = {(OWN, CLAIM): YES, **{(text, CLAIM): UNSURE for text in texts.values()}}
    windows = [Window("own", 0, len(OWN), OWN)] + [Window(name, 0, len(text), text) for name, text in texts.items()]
    scorer = ScriptedScorer(script)
    read = judge([ClaimCandidates(CLAIM, tuple(Premise(one.text, "other", (one,)) for one in windows))], scorer)[0]
    scorer.calls.clear()
    ask_other_sources(list(others_of(CLAIM, read, frozenset()))[:2], scorer)
    assert 0 < len({pair for call in scorer.calls for pair in call}) <= PAIRS_PER_CLAIM


class _Failing(ScriptedScorer):
    """Reads what it has a script for and fails on all else."""

    def __init__(self, script: Mapping[tuple[str, str], Scores]) -> None:
        super().__init__(script)
        self._known = set(script)

    def score(self, pairs):  # type: ignore[no-untyped-def]
        if not set(pairs) <= self._known:
            raise VerifierError("broken")
        return super().score(pairs)


def test_where_the_sources_cannot_be_asked_the_claim_is_unchecked() -> None:
    report = checked(_Failing({(OWN, CLAIM): YES, (BOTH, CLAIM): YES, (OTHER, CLAIM): UNSURE}))
    assert report.claims[0].verdict is Verdict.UNCHECKED
    assert report.action is not Action.EMIT


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"intercept": "x"}'])
def test_a_model_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(VerifierError, match="fit_disagreement"):
        Disagreement.from_json(text)


def test_the_model_that_ships_reads_only_signals_that_there_are() -> None:
    model = load_disagreement()
    assert 0 < model.threshold < 1
    assert json.loads(json.dumps(dict(model.model.weights))) == dict(model.model.weights)
