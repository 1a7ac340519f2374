"""A reader's verdicts on the answers on which the two rates are measured."""

import json
from pathlib import Path

import pytest
from train.ceiling import VERDICTS, line_of, verdicts

from assay.errors import InputError
from assay.evaluation.figures.gate_rates import Decided


def test_every_answer_has_one_verdict_and_a_probability_on_its_side() -> None:
    found = verdicts()
    assert len(found) == len(VERDICTS.read_text(encoding="utf-8").splitlines()) == 479
    assert all(0 <= p <= 1 for p, _ in found.values())
    wrong_side = [key for key, (p, says) in found.items() if says != (p >= 0.5)]
    assert len(wrong_side) <= 5, wrong_side


def test_two_verdicts_on_one_answer_are_an_error(tmp_path: Path) -> None:
    row = json.dumps({"set": "a", "id": "1", "p": 0.5, "supported": True})
    path = tmp_path / "twice.jsonl"
    path.write_text(f"{row}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match="one verdict on each row"):
        verdicts(path)


def test_a_set_of_honest_answers_alone_has_no_area() -> None:
    only = [Decided(True, "emit", 0.9)]
    assert line_of("a", only, only) == "| a | 1 of 1 | 0 of 0 |  | 1 of 1 | 0 of 0 |  |"
