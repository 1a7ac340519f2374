"""The search: calls gather where a system breaks, mutations keep what is right, and a search goes on after a stop."""

from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.inputs import read_evidence
from assay.errors import InputError
from assay.guard import Guard
from assay.monitor import KINDS
from assay.redteam.cases import Behavior, Case, Category, lint
from assay.redteam.generate import write_suite
from assay.redteam.generate.corpus import Corpus
from assay.redteam.runs import RunOptions
from assay.redteam.search import RecentChange, SearchResult, search
from assay.redteam.search.aim import CATEGORIES_BY_KIND, aim_at
from assay.redteam.search.mutations import mutate
from assay.redteam.targets import Request
from assay.schema import Evidence
from assay.testing import FakeScorer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "redteam"


@cache
def documents() -> tuple[Evidence, ...]:
    return read_evidence([str(EXAMPLES / "wiki")])[0]


class Weak:
    """Cannot count: chains are all it gets wrong. It knows them by their prompt alone."""

    name = "weak"

    def __init__(self) -> None:
        self.calls = 0

    def ask(self, request: Request) -> str:
        self.calls += 1
        return "The result is 7." if "Work this out" in request["prompt"] else "The documents do not say, so I abstain."


def found(folder: Path, calls: int, target: Weak | None = None) -> SearchResult:
    return search(documents(), target or Weak(), Guard(scorer=FakeScorer()), folder / "run.jsonl", calls, seed=2)


def test_it_spends_what_it_may_and_asks_nothing_twice(tmp_path: Path) -> None:
    target = Weak()
    made = found(tmp_path, 60, target)
    assert target.calls == len(made.cases) == len({one.id for one in made.cases}) == 60
    assert all(lint((one,)) == () for one in made.cases)


def test_calls_gather_at_rules_that_break_the_system(tmp_path: Path) -> None:
    made = found(tmp_path, 120)
    tried = [arm for arm in made.arms if arm.broken + arm.held >= 3]
    weak = [arm for arm in tried if arm.broken > arm.held]
    strong = [arm for arm in made.arms if arm.held > arm.broken]
    assert weak
    assert strong
    mean = [sum(arm.broken + arm.held for arm in arms) / len(arms) for arms in (weak, strong)]
    assert mean[0] > 2 * mean[1]


def test_a_search_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = found(tmp_path, 24)
    target = Weak()
    second = found(tmp_path, 40, target)
    assert target.calls == 16
    assert second.cases[:24] == first.cases


def test_a_record_of_one_version_is_not_taken_for_that_of_another(tmp_path: Path) -> None:
    def of(version: str, target: Weak) -> SearchResult:
        guard = Guard(scorer=FakeScorer())
        return search(documents(), target, guard, tmp_path / "run.jsonl", 8, seed=2, version=version)

    of("v1", Weak())
    again, other = Weak(), Weak()
    of("v1", again)
    with pytest.raises(InputError, match=r"is of another version \('v1', not 'v2'\)"):
        of("v2", other)
    assert (again.calls, other.calls) == (0, 0)


def test_mutations_say_whose_they_are(tmp_path: Path) -> None:
    made = found(tmp_path, 120)
    parents = {one.lineage.parent for one in made.cases if one.lineage.origin == "searched"}
    assert parents
    assert parents <= {one.id for one in made.cases}


@cache
def sample() -> tuple[Case, ...]:
    return write_suite(documents(), 4, seed=1)


@given(st.integers(0, 39), st.integers(0, 1_000))
def test_a_mutation_keeps_what_is_right_and_is_another_case(at: int, seed: int) -> None:
    case = sample()[at % len(sample())]
    others = [passage for one in sample() for passage in one.evidence]
    made = mutate(case, others, Random(seed))
    assert made is not None
    assert made.id != case.id
    for name in ("category", "expected_behavior", "ground_truth", "accepted", "planted", "fields", "evidence"):
        assert getattr(made, name) == getattr(case, name)
    assert {one.text for one in case.context} <= {one.text for one in made.context}
    assert case.prompt in made.prompt
    if case.expected_behavior in {Behavior.DETECT_CONTRADICTION, Behavior.ABSTAIN_OR_CAVEAT}:
        assert made.context == case.context


def test_less_than_one_call_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one call"):
        found(tmp_path, 0)


def test_every_category_has_arms(tmp_path: Path) -> None:
    assert {arm.category for arm in found(tmp_path, 1).arms} == set(Category)


def test_chains_and_long_contexts_have_an_arm_for_each_depth(tmp_path: Path) -> None:
    names = {arm.name for arm in found(tmp_path, 1).arms}
    assert {f"compositional.chained steps {steps}" for steps in (3, 5, 7, 10)} <= names
    assert len([name for name in names if name.startswith("scale_stress.buried depth ")]) == 5


def aimed(folder: Path, calls: int, *changes: RecentChange) -> SearchResult:
    record = folder / "run.jsonl"
    return search(documents(), Weak(), Guard(scorer=FakeScorer()), record, calls, seed=2, changes=changes)


def test_a_change_of_the_index_is_attacked_first_where_it_says(tmp_path: Path) -> None:
    named = "cheese.md"
    plain = aimed(tmp_path / "a", 24)
    told = aimed(tmp_path / "b", 24, RecentChange("index", f"{named} was replaced"))

    def about(made: SearchResult) -> int:
        return sum(any(one.endswith(named) for one in case.lineage.documents) for case in made.cases)

    assert about(told) > 2 * about(plain)


def test_the_first_calls_go_to_the_categories_that_a_change_touches(tmp_path: Path) -> None:
    touched = CATEGORIES_BY_KIND["tools"]
    plain = aimed(tmp_path / "a", 24)
    told = aimed(tmp_path / "b", 24, RecentChange("tools", "search v2"))
    shares = [sum(case.category in touched for case in made.cases) for made in (plain, told)]
    assert shares[1] > shares[0]


def test_a_document_is_named_by_its_title_path_or_file_and_not_by_a_part_of_a_word() -> None:
    corpus = Corpus([Evidence(id="wiki/port.md", text="# Harbour\n\nThe port has 4 cranes.")])
    for words in ("port.md replaced", "wiki/port.md", "the HARBOUR page", "new text of port"):
        assert aim_at([RecentChange("index", words)], corpus).documents, words
    for words in ("report.md replaced", "support", "harbours"):
        assert not aim_at([RecentChange("index", words)], corpus).documents, words


def test_an_unknown_kind_of_change_is_refused() -> None:
    with pytest.raises(InputError, match="kind of change"):
        RecentChange("weather", "rain")


def test_the_kinds_are_those_of_the_change_log() -> None:
    assert set(CATEGORIES_BY_KIND) == set(KINDS)


def test_a_search_ends_with_its_budget_of_tokens_and_keeps_what_was_asked(tmp_path: Path) -> None:
    target = Weak()
    options = RunOptions(most_tokens=4_000)
    guard = Guard(scorer=FakeScorer())
    made = search(documents(), target, guard, tmp_path / "run.jsonl", 200, seed=2, options=options)
    assert 0 < target.calls == len(made.cases) < 200
    with pytest.raises(InputError, match="allows no call"):
        search(documents(), target, guard, tmp_path / "b.jsonl", 9, options=RunOptions(most_tokens=1))
