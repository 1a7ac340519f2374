"""What a case is, and how suites are kept, linted and rid of duplicates."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.redteam.cases import (
    Behavior,
    Case,
    Category,
    Lineage,
    Passage,
    lint,
    near_duplicates,
    parse_case,
    read_suite,
    suite_digest,
    suite_text,
    without_duplicates,
)

PASSAGE = Passage(id="leave", text="Partners receive 6 weeks of leave.", source="leave")


def case(prompt: str = "How long is the leave?", **fields: Any) -> Case:
    given: dict[str, object] = {
        "category": Category.KNOWLEDGE_BOUNDARY,
        "prompt": prompt,
        "expected_behavior": Behavior.ANSWER,
        "ground_truth": "6 weeks",
        "accepted": ("6 weeks",),
        "evidence": (PASSAGE,),
        "lineage": Lineage(rule="test"),
    }
    return Case.model_validate({**given, **fields})


def test_the_id_follows_from_the_content_and_not_from_where_it_comes_from() -> None:
    first = case()
    again = case(lineage=Lineage(rule="other", seed=9), plausibility=0.6)
    assert first.id == again.id
    assert first.id.startswith("rt-")
    assert len(first.id) == 19


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "How long?"},
        {"ground_truth": "7 weeks"},
        {"planted": ("9 weeks",)},
        {"context": (PASSAGE,)},
        {"expected_behavior": Behavior.FIND_AND_USE},
    ],
)
def test_another_content_has_another_id(changed: dict[str, Any]) -> None:
    assert case(**changed).id != case().id


def test_an_id_that_is_not_that_of_the_content_is_refused() -> None:
    with pytest.raises(ValueError, match="not that of the content"):
        case(id="rt-0000000000000000")


@given(st.text(min_size=1, max_size=80).filter(lambda one: "\x00" not in one), st.text(max_size=40))
def test_a_suite_comes_back_as_it_was_written(prompt: str, truth: str) -> None:
    written = case(prompt.encode("utf-8", "replace").decode(), ground_truth=truth.encode("utf-8", "replace").decode())
    assert parse_case(suite_text([written]).rstrip("\n"), "here") == written


def test_a_suite_of_a_file_is_read_in_order(tmp_path: Path) -> None:
    cases = [case(f"Question {number}, how long?") for number in range(3)]
    path = tmp_path / "suite.jsonl"
    path.write_text(suite_text(cases) + "\n", encoding="utf-8")
    assert read_suite(path) == tuple(cases)
    assert suite_digest(cases) == suite_digest(cases[::-1])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no case"),
        ("{}\n", "line 1"),
        ('{"prompt": 3}\n', "line 1"),
        ("not json\n", "line 1"),
        (suite_text([case(), case()]), "there already"),
    ],
)
def test_what_is_no_suite_is_refused_with_the_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "suite.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_suite(path)


def test_a_suite_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_suite(tmp_path / "none.jsonl")


def test_an_edited_prompt_under_the_old_id_is_refused(tmp_path: Path) -> None:
    value = json.loads(suite_text([case()]))
    value["prompt"] = "What else?"
    path = tmp_path / "suite.jsonl"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError, match="leave it out"):
        read_suite(path)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"ground_truth": None}, "truth.missing"),
        ({"accepted": ()}, "truth.no_value"),
        ({"evidence": ()}, "evidence.missing"),
        ({"planted": ("6 weeks",)}, "truth.is_planted"),
        ({"plausibility": 0.1}, "prompt.implausible"),
        ({"context": (PASSAGE, PASSAGE)}, "context.same_ids"),
        ({"expected_behavior": Behavior.LEAVE_EMPTY, "fields": {"a": "1"}}, "fields.none_missing"),
        ({"expected_behavior": Behavior.DETECT_CONTRADICTION, "context": (PASSAGE,)}, "context.no_contradiction"),
    ],
)
def test_the_linter_names_what_is_wrong(fields: dict[str, Any], code: str) -> None:
    assert code in [one.code for one in lint([case(**fields)])]


def test_a_sound_case_has_no_problems() -> None:
    assert lint([case()]) == ()


def test_cases_that_hardly_differ_are_one() -> None:
    first, second = (
        case("How long is the partner leave of the company?"),
        case("How long is the partner leave of the  company?"),
    )
    other = case("How long is the partner leave of the company?", accepted=("7 weeks",), ground_truth="7 weeks")
    assert list(near_duplicates([first, second, other])) == [(first, second)]
    assert without_duplicates([first, second, other]) == (first, other)
    assert [one.code for one in lint([first, second])] == ["case.duplicate"]
