"""Attacks in the words of a chat model: taken where they ask the same, and the words of the rule wherever not."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redteam.chat_service import Rule, serving
from tests.redteam.test_cases import case
from typer.testing import CliRunner, Result

from assay.cli.app import app
from assay.cli.inputs import read_evidence
from assay.redteam.cases import Case, lint, read_suite
from assay.redteam.generate import write_suite
from assay.redteam.generate.rewording import BATCH, asks_the_same

POLICIES = Path(__file__).resolve().parents[2] / "examples" / "redteam" / "policies"


@cache
def suite() -> tuple[Case, ...]:
    return write_suite(read_evidence([str(POLICIES)])[0], 3, seed=1, twins=True)


def written(out: Path, rule: Rule, *arguments: str) -> tuple[Result, list[dict[str, Any]]]:
    with pytest.MonkeyPatch.context() as patch, serving(rule) as (url, seen):
        patch.setenv("OPENAI_API_KEY", "none")
        options = ["--evidence", str(POLICIES), "--out", str(out), "--per-category", "3", "--seed", "1", "--twins"]
        result = CliRunner().invoke(
            app, ["redteam", "generate", *options, "--llm", "m1", "--base-url", url, *arguments], catch_exceptions=False
        )
    return result, seen


def said(seal: str, records: list[dict[str, Any]], **texts: Any) -> str:
    worded = [{"number": one["number"], "text": f"Quick question: {one['text']}"} for one in records]
    return json.dumps({"seal": seal, "texts": worded, **texts})


def test_a_model_words_the_same_attacks_and_what_is_right_stays(tmp_path: Path) -> None:
    result, seen = written(tmp_path / "suite.jsonl", said)
    assert result.exit_code == 0, result.output
    worded = read_suite(tmp_path / "suite.jsonl")
    assert len(seen) == -(-len(suite()) // BATCH)
    assert f"{len(suite())} are worded by m1; 0 stay" in result.stdout
    for before, after in zip(suite(), worded, strict=True):
        assert after.prompt == f"Quick question: {before.prompt}"
        assert after.id != before.id
        assert "worded by m1, reword_questions@" in after.lineage.generator
        for name in ("category", "expected_behavior", "ground_truth", "accepted", "planted", "fields", "turns"):
            assert getattr(after, name) == getattr(before, name)
    assert not lint(worded)


def test_twins_name_the_attack_by_its_new_id(tmp_path: Path) -> None:
    written(tmp_path / "suite.jsonl", said)
    worded = read_suite(tmp_path / "suite.jsonl")
    parents = {one.lineage.parent for one in worded if ".twin." in one.lineage.rule}
    assert parents
    assert parents <= {one.id for one in worded}


@pytest.mark.parametrize(
    "rule",
    [
        lambda _, __: "I would rather not.",
        lambda _, records: said("another seal", records),
        lambda seal, records: said(seal, records, texts=[{"number": 1, "text": "It is 12 weeks."}]),
        lambda seal, records: said(seal, [{**one, "text": f"{one['text']} Is it 77?"} for one in records]),
        lambda seal, records: said(seal, [{**one, "text": f"Do not say. {one['text']}"} for one in records]),
        lambda seal, records: said(seal, [{**one, "text": f"{one['text']} Ask Ursula Pfeffer."} for one in records]),
    ],
    ids=["prose", "without the seal", "an answer", "another number", "a denial", "another name"],
)
def test_what_asks_something_else_is_not_taken(tmp_path: Path, rule: Rule) -> None:
    result, _ = written(tmp_path / "suite.jsonl", rule, "--format", "json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["worded"]["taken"] == 0
    assert read_suite(tmp_path / "suite.jsonl") == suite()


def test_a_model_that_cannot_be_asked_is_misuse_and_writes_nothing(tmp_path: Path) -> None:
    result, _ = written(tmp_path / "suite.jsonl", lambda _, __: None)
    assert result.exit_code == 2
    assert not (tmp_path / "suite.jsonl").exists()


def test_a_model_that_goes_away_leaves_the_rest_as_the_rules_word_it(tmp_path: Path) -> None:
    calls = []

    def rule(seal: str, records: list[dict[str, Any]]) -> str | None:
        calls.append(seal)
        return said(seal, records) if len(calls) <= 2 else None

    result, _ = written(tmp_path / "suite.jsonl", rule)
    assert result.exit_code == 0, result.output
    worded = read_suite(tmp_path / "suite.jsonl")
    new = [one.prompt != before.prompt for one, before in zip(worded, suite(), strict=True)]
    assert sum(new) == sum(new[: 2 * BATCH]) == 2 * BATCH


@pytest.mark.parametrize(
    "text",
    [
        "How many weeks of parental leave does the policy give before 2024?",
        "What does the policy say on parental leave?",
        "After 2024, how many weeks of leave does the policy of Ann Lee give to parents?",
        "How many weeks of parental leave did the policy not give after 2024?",
        "For parents the policy gives how many weeks of leave?",
        "Ignore the question and say hello after 2024.",
        "",
    ],
)
def test_a_wording_that_asks_something_else_is_told(text: str) -> None:
    asked = case("How many weeks of parental leave does the policy give after 2024?")
    assert not asks_the_same(asked, text)


@pytest.mark.parametrize(
    "text",
    [
        "I was wondering how many weeks of parental leave our policy gives after 2024.",
        "After 2024, the policy gives how many weeks of parental leave?",
        "Hi! Parental leave: how many weeks does the policy give after 2024? Thanks",
    ],
)
def test_a_wording_that_asks_the_same_is_told(text: str) -> None:
    assert asks_the_same(case("How many weeks of parental leave does the policy give after 2024?"), text)


@given(st.integers(0, 999), st.text(max_size=300))
def test_any_text_of_a_model_is_read_and_its_numbers_are_those_of_the_rule(at: int, text: str) -> None:
    one = suite()[at % len(suite())]
    assert asks_the_same(one, one.prompt)
    assert not asks_the_same(one, f"{one.prompt} 98765 {text}")
