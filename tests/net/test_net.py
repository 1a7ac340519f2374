"""The net finds what changes, names the case, and is never quiet for want of anything to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.net import __main__ as command
from tests.net import cases as family
from tests.net import rooms, surface
from tests.net.cases import cases, network_cases
from tests.net.frozen import Difference, Head, Line, case_lines, differences, part_of, read, surface_lines, write
from tests.net.material import PRESETS, Case, scenarios, short_digest
from tests.net.perform import Performer, form, stands_clear, steady

from assay.testing import FailingScorer, FakeScorer

ALL = {case.id: case for case in cases()}
SOME = [
    next(case for case in ALL.values() if case.way == way and "/none/" not in case.id)
    for way in ("check", "run", "stream", "repair", "judged", "page")
]
"""One case for each way of asking the guard; of runs one with results, since without any the network is not asked."""


def lines(chosen: Sequence[Case], scorer: Any = None) -> list[Line]:
    return list(case_lines(chosen, Performer(scorer or FakeScorer())))


def by_name(made: Sequence[Line]) -> dict[str, Line]:
    return {line.id: line for line in made}


# The cases


def test_there_are_some_3000_cases_under_every_preset_and_each_has_its_own_name() -> None:
    assert len(ALL) == sum(1 for _ in cases())
    assert 2_800 <= len(ALL) <= 3_600
    assert {case.policy for case in ALL.values()} == set(PRESETS)
    assert {part_of(name) for name in ALL} == {"fake"}


def test_a_share_of_them_is_put_to_the_shipped_network() -> None:
    assert {case.id for case in network_cases()} < set(ALL)
    assert 100 <= sum(1 for _ in network_cases()) <= 300


def test_a_scenario_less_moves_no_other_case(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = tuple(one for one in scenarios() if one["id"] != "a-001")
    monkeypatch.setattr(family, "scenarios", lambda: fewer)
    left = {case.id: case for case in cases()}
    assert all(ALL[name].digest == case.digest for name, case in left.items())
    assert all("a-001" in name for name in ALL.keys() - left.keys())


def test_a_case_alone_gives_what_it_gives_among_others() -> None:
    together = by_name(lines(SOME))
    assert all(lines([case]) == [together[case.id]] for case in SOME)


# What is found


def test_nothing_differs_where_nothing_changed() -> None:
    assert list(differences(by_name(lines(SOME)), lines(SOME))) == []


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.way)
def test_a_scorer_that_fails_where_it_did_not_is_found_whatever_the_way(case: Case) -> None:
    assert list(differences(by_name(lines([case])), lines([case], FailingScorer()))) == [Difference(case.id, "form")]


def test_one_changed_decision_among_others_is_named_and_nothing_else_is() -> None:
    class Changed(FakeScorer):
        def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
            return (0.0, 0.0, 1.0) if "vacuum" in claim else super()._judge(premise, claim)

    chosen = [
        Case(f"claim:{number}", "check", "general", {"answer": said, "evidence": [said]})
        for number, said in enumerate(("The vacuum weighs 4 kg.", "The lamp is green."))
    ]
    found = list(differences(by_name(lines(chosen)), lines(chosen, Changed())))
    assert found == [Difference("claim:0", "form")]


def test_a_case_with_another_input_is_told_so_and_not_taken_for_another_decision() -> None:
    case = SOME[0]
    other = replace(case, given={**case.given, "answer": "The moon is 4 km wide."})
    assert list(differences(by_name(lines([case])), lines([other]))) == [Difference(case.id, "input")]


def test_cases_that_went_and_came_are_differences() -> None:
    frozen, now = Line("a", "1", "1"), Line("b", "1", "1")
    assert list(differences({"a": frozen}, [now])) == [Difference("b", "new"), Difference("a", "gone")]


def test_a_field_of_a_schema_is_another_form_and_a_sentence_about_it_other_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.net.surface.rooms.openapi", lambda: {"paths": {}, "info": {"version": "1"}})
    before = by_name(list(surface_lines()))
    published = rooms.published()
    published["report"]["description"] = "Another sentence."
    published["report"]["$defs"]["ClaimReport"]["properties"]["verdict"]["type"] = "integer"
    monkeypatch.setattr("tests.net.surface.rooms.published", lambda: published)
    assert list(differences(before, surface_lines())) == [
        Difference("schema:report", "words"),
        Difference("schema:report/ClaimReport", "form"),
    ]


def test_a_signature_is_told_without_modules_and_in_one_order_of_its_sets() -> None:
    told = surface._plain(
        "(a: 'assay.schema.run.model.Run', kinds=frozenset({<Kind.URL: 'url'>, <Kind.DATE: 'date'>}))"
    )
    assert told == "(a: Run, kinds=frozenset({Kind.DATE, Kind.URL}))"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.text(min_size=1), st.text(min_size=1))
def test_prose_alone_never_changes_the_form(value: Any, one: str, other: str) -> None:
    assert form({"value": value, "message": one}) == form({"value": value, "message": other})


@given(JSON, JSON)
def test_whatever_is_no_prose_changes_the_form(one: Any, other: Any) -> None:
    differ = short_digest(one) != short_digest(other)
    assert (short_digest(form({"value": one})) != short_digest(form({"value": other}))) == differ


@given(st.floats(0, 1))
def test_the_last_digits_of_a_fraction_do_not_count(value: float) -> None:
    assert abs(steady([value])[0] - value) <= 1e-6


# Weights and processors

NETWORK = Line("network claim:x", "1", "1", "i", "d")


def test_on_the_same_processor_every_byte_of_the_network_counts() -> None:
    now = replace(NETWORK, all="2", form="2")
    assert list(differences({NETWORK.id: NETWORK}, [now])) == [Difference(NETWORK.id, "form")]


def test_on_another_processor_only_clear_decisions_count() -> None:
    other_score = replace(NETWORK, all="2", form="2")
    assert list(differences({NETWORK.id: NETWORK}, [other_score], same_machine=False)) == []
    decided = replace(other_score, decision="e")
    found = list(differences({NETWORK.id: NETWORK}, [decided], same_machine=False))
    assert found == [Difference(NETWORK.id, "decision")]
    unclear = replace(NETWORK, decision="")
    assert list(differences({NETWORK.id: unclear}, [decided], same_machine=False)) == []


def test_a_report_with_a_score_near_a_threshold_does_not_stand_clear() -> None:
    report = {"overall_score": 0.99, "claims": [{"score": 0.99, "contradiction": 0.01}]}
    assert stands_clear(report, "general")
    assert not stands_clear({**report, "overall_score": 0.83}, "general")
    assert not stands_clear({**report, "claims": [{"score": 0.83, "contradiction": 0.01}]}, "general")
    assert not stands_clear({**report, "claims": [{"score": 0.99, "contradiction": 0.25}]}, "general")
    assert stands_clear({"error": "InputError"}, "general")


@pytest.mark.parametrize("field", ["weights", "combination"])
def test_other_weights_are_named_and_nothing_is_compared(
    field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = Head.here()
    older = replace(here, weights="older") if field == "weights" else replace(here, combination="older")
    write(tmp_path / "f", older, [NETWORK])
    status = command.main(["compare", "--parts", "network", "--file", str(tmp_path / "f")])
    assert status == command.UNDECIDED
    assert f"the {field} older" in capsys.readouterr().out


# The command


def compare(path: Path, *more: str) -> int:
    return command.main(["compare", "--parts", "fake", "--file", str(path), "--only", "evasion:ev-00[12]", *more])


def frozen(path: Path) -> Path:
    write(path, Head.here(), lines([ALL["evasion:ev-001"], ALL["evasion:ev-002"]]))
    return path


def test_the_command_ends_with_0_where_nothing_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(frozen(tmp_path / "f")) == command.SAME
    assert "fake: 2 compared" in capsys.readouterr().out


def test_the_command_names_a_difference_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, before = read(frozen(tmp_path / "f"))
    changed = replace(before["evasion:ev-002"], all="0", form="0")
    write(tmp_path / "f", head, [before["evasion:ev-001"], changed])
    assert compare(tmp_path / "f") == command.DIFFERENT
    out = capsys.readouterr().out
    assert "form     evasion:ev-002" in out
    assert "evasion:ev-001" not in out


def test_other_words_alone_can_be_allowed(tmp_path: Path) -> None:
    head, before = read(frozen(tmp_path / "f"))
    write(tmp_path / "f", head, [before["evasion:ev-001"], replace(before["evasion:ev-002"], all="0")])
    assert compare(tmp_path / "f") == command.DIFFERENT
    assert compare(tmp_path / "f", "--allow-words") == command.SAME


@pytest.mark.parametrize("content", [None, "", "{}\n", '{"head": {}}\n', "[1]\n"])
def test_a_file_that_cannot_be_read_is_never_taken_for_no_difference(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "f").write_text(content)
    assert compare(tmp_path / "f") == command.UNDECIDED


def test_show_tells_what_stands_behind_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", "evasion:ev-001"]) == command.SAME
    assert '"action"' in capsys.readouterr().out
    assert command.main(["show", "evasion:none"]) == command.UNDECIDED


def test_show_against_what_is_no_checkout_is_undecided(tmp_path: Path) -> None:
    assert command.main(["show", "evasion:ev-001", "--against", str(tmp_path)]) == command.UNDECIDED
