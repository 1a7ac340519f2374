"""How the share by wording is chosen."""

from train.fit_wording import HONEST_LOSS, Answer, Statement, best, rates, tried

from assay.policy.presets import PRESETS
from assay.verify.network.combination import AGAINST, Wording

POLICY = PRESETS["general"]


def answer(kind: str, honest: bool, score: float, precision: float, against: float = 0.0) -> Answer:
    signals = {**dict.fromkeys(AGAINST, against), "trigram_precision": precision}
    return Answer(kind, honest, (Statement(score, signals),))


def test_quoting_answers_are_emitted_and_paraphrasing_ones_held_back_where_that_tells_right_from_wrong() -> None:
    models = [answer("models", True, 0.8, 0.7) for _ in range(8)] + [
        answer("models", False, 0.88, 0.05) for _ in range(8)
    ]
    scenarios = [answer("scenarios", True, 0.99, 0.15), answer("scenarios", False, 0.2, 0.15)]
    found = list(tried([*models, *scenarios], POLICY))
    chosen, four = best(found)
    assert chosen.weight > 0
    assert four == (1.0, 1.0, 1.0, 1.0)


def test_no_weight_is_chosen_where_wording_only_lets_wrong_answers_out() -> None:
    models = [answer("models", True, 0.9, 0.1), *(answer("models", False, 0.8, 0.8) for _ in range(9))]
    scenarios = [answer("scenarios", True, 0.9, 0.1), answer("scenarios", False, 0.5, 0.5)]
    chosen, four = best(list(tried([*models, *scenarios], POLICY)))
    plain = rates([*models, *scenarios], "models", Wording(0, 0.2), POLICY)
    assert four[1] >= plain[1]
    assert four[0] >= plain[0] - HONEST_LOSS
    assert chosen.weight == 0


def test_what_speaks_against_a_statement_keeps_its_wording_from_counting() -> None:
    quoted = answer("models", False, 0.8, 0.9, against=1.0)
    assert not quoted.emitted(Wording(6.0, 0.1), POLICY)
    assert answer("models", False, 0.8, 0.9).emitted(Wording(6.0, 0.1), POLICY)
