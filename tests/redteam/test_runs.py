"""Runs: what is asked, how often, how fast, and what is left after a kill."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redteam.test_cases import case

from assay.errors import InputError
from assay.redteam.cases import Case, Category, suite_digest, suite_text
from assay.redteam.runs import RunLog, RunOptions, Tokens, read_record, run_cases
from assay.redteam.runs.runner import spread
from assay.redteam.targets import PythonFunction, Reply, Request

CASES = [case(f"What is the meaning of the number {number}?", accepted=(str(number),)) for number in range(12)]


def opened(path: Path, cases: list[Case] = CASES, target: str = "t") -> RunLog:
    return RunLog(path / "run.jsonl", suite_digest(cases), target)


class Counting:
    """A target that counts its calls."""

    name = "t"

    def __init__(self, seconds: float = 0.0) -> None:
        self.calls: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self._seconds = seconds
        self._lock = threading.Lock()

    def ask(self, request: Request) -> str:
        with self._lock:
            self.calls[request["id"]] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self._seconds)
        with self._lock:
            self.at_once -= 1
        return f"answer to {request['prompt']}"


def test_every_case_is_asked_once_and_recorded_with_its_request(tmp_path: Path) -> None:
    target = Counting()
    with opened(tmp_path) as log:
        spent = run_cases(CASES, target, log)
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert (spent.calls, spent.kept, spent.left) == (12, 0, 0)
    assert set(target.calls.values()) == {1}
    assert [line["event"] for line in lines[1:]].count("begun") == 12
    begun = next(line for line in lines if line.get("case") == CASES[3].id)
    assert begun["request"]["prompt"] == CASES[3].prompt
    ended = [line for line in lines if line.get("event") == "answered" and line["case"] == CASES[3].id]
    assert ended[0]["answer"] == f"answer to {CASES[3].prompt}"


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    target = Counting()
    for _ in range(2):
        with opened(tmp_path) as log:
            spent = run_cases(CASES, target, log)
    assert (spent.calls, spent.kept) == (0, 12)
    assert set(target.calls.values()) == {1}


def test_a_budget_of_calls_is_kept_and_the_next_run_goes_on(tmp_path: Path) -> None:
    target = Counting()
    with opened(tmp_path) as log:
        assert run_cases(CASES, target, log, RunOptions(most_calls=5)).left == 7
    with opened(tmp_path) as log:
        assert run_cases(CASES, target, log).calls == 7
    assert set(target.calls.values()) == {1}


def test_a_budget_leaves_no_category_out(tmp_path: Path) -> None:
    cases = [
        case(f"What is the meaning of {category} {number}?", category=category, accepted=("x",))
        for category in (Category.KNOWLEDGE_BOUNDARY, Category.COMPOSITIONAL, Category.SCALE_STRESS)
        for number in range(8)
    ]
    target = Counting()
    with opened(tmp_path, cases) as log:
        run_cases(cases, target, log, RunOptions(most_calls=7))
    asked = Counter(one.category for one in cases if one.id in target.calls)
    assert sorted(asked.values()) == [2, 2, 3]


@given(st.lists(st.sampled_from(tuple(Category)), max_size=40))
def test_spreading_changes_the_order_alone(categories: list[Category]) -> None:
    cases = [case(f"What is {n}?", category=one, accepted=("x",)) for n, one in enumerate(categories)]
    made = spread(cases)
    assert Counter(one.id for one in made) == Counter(one.id for one in cases)
    for category in set(categories):
        kept = [[one.id for one in order if one.category is category] for order in (made, cases)]
        assert kept[0] == kept[1]
    first = [one.category for one in made[: len(set(categories))]]
    assert set(first) == set(categories)


def test_a_budget_of_time_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        spent = run_cases(CASES, Counting(0.1), log, RunOptions(concurrency=1, most_seconds=0.25))
    assert 1 <= spent.calls <= 4
    assert spent.left == 12 - spent.calls


def test_no_more_calls_are_under_way_than_allowed(tmp_path: Path) -> None:
    target = Counting(0.02)
    with opened(tmp_path) as log:
        run_cases(CASES, target, log, RunOptions(concurrency=3))
    assert target.most_at_once <= 3


def test_calls_begin_no_faster_than_allowed(tmp_path: Path) -> None:
    begun = time.monotonic()
    with opened(tmp_path) as log:
        run_cases(CASES[:6], Counting(), log, RunOptions(per_second=20))
    assert time.monotonic() - begun >= 0.24


def counting_tokens(given: int, got: int) -> PythonFunction:
    return PythonFunction(lambda _: Reply("Yes.", given, got), "t")


def test_a_budget_of_tokens_is_kept_over_all_runs_of_a_record(tmp_path: Path) -> None:
    options = RunOptions(concurrency=1, most_tokens=1_000)
    with opened(tmp_path) as log:
        spent = run_cases(CASES, counting_tokens(200, 100), log, options)
    assert (spent.calls, spent.tokens, spent.counted) == (3, Tokens(600, 300), True)
    with opened(tmp_path) as log:
        again = run_cases(CASES, counting_tokens(200, 100), log, options)
    assert (again.calls, again.left, again.tokens.total) == (0, 9, 900)
    with opened(tmp_path) as log:
        assert run_cases(CASES, counting_tokens(200, 100), log).calls == 9


def test_a_budget_of_money_is_kept_by_declared_prices(tmp_path: Path) -> None:
    options = RunOptions(concurrency=1, most_cost=0.01, price_in=2.0, price_out=10.0)
    with opened(tmp_path) as log:
        spent = run_cases(CASES, counting_tokens(500, 200), log, options)  # 0.003 each
    assert spent.calls == 3
    assert spent.cost == pytest.approx(0.009)


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_calls_under_way_count_against_the_budget_so_that_it_is_not_passed(concurrency: int, tmp_path: Path) -> None:
    def slow(_: Request) -> Reply:
        time.sleep(0.01)
        return Reply("Yes.", 20, 60)

    with opened(tmp_path) as log:
        spent = run_cases(CASES, PythonFunction(slow, "t"), log, RunOptions(concurrency=concurrency, most_tokens=640))
    assert 0 < spent.tokens.total <= 640


def test_tokens_are_estimated_where_the_target_does_not_count_them(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        spent = run_cases(CASES[:1], PythonFunction(lambda _: "x" * 40, "t"), log)
    assert spent.counted is False
    assert spent.tokens == Tokens(len(CASES[0].prompt) // 4 + (len(CASES[0].prompt) % 4 > 0), 10)


def test_a_call_that_never_ended_counts_with_what_it_sent(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        log.begin(CASES[0].id, 1, {"id": "a", "prompt": "x" * 400, "turns": [], "context": []})
    with opened(tmp_path) as log:
        assert log.used == Tokens(100, 0)


def test_what_a_call_may_use_is_not_worked_out_while_another_answer_is_being_counted(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        found: list[Tokens] = []
        reader = threading.Thread(target=lambda: found.append(log.expected(10, 64)), daemon=True)
        with log._lock:  # held while an answer is counted
            reader.start()
            reader.join(0.2)
            assert found == []
        reader.join(5)
        assert found == [Tokens(10, 64)]


def test_what_was_dropped_has_been_paid_for_all_the_same(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        run_cases(CASES[:2], counting_tokens(10, 5), log)
        log.drop(CASES[0].id, 1)
    with opened(tmp_path) as log:
        assert log.used == Tokens(20, 10)


def test_a_record_of_another_version_of_the_target_is_refused(tmp_path: Path) -> None:
    with RunLog(tmp_path / "run.jsonl", suite_digest(CASES), "t", "2.1"):
        pass
    with pytest.raises(InputError, match="another version"):
        opened(tmp_path)


def test_a_record_is_read_without_being_opened_for_a_run(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        run_cases(CASES, Counting(), log)
        record = read_record(tmp_path / "run.jsonl")
    assert (record.suite, record.target, record.calls) == (suite_digest(CASES), "t", 12)
    assert {key: one.text for key, one in record.answers.items()} == {key: one.text for key, one in log.answers.items()}


@pytest.mark.parametrize("missing", [1, 20])
def test_a_record_is_read_while_its_last_line_is_being_written(missing: int, tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        run_cases(CASES, Counting(), log, RunOptions(concurrency=1))
    path = tmp_path / "run.jsonl"
    path.write_bytes(path.read_bytes()[:-missing])
    record = read_record(path)
    assert (record.calls, len(record.answers)) == (11, 11)
    path.write_bytes(path.read_bytes().replace(b'"event": "answered"', b'"event": answered', 1))
    with pytest.raises(InputError, match="damaged"):
        read_record(path)


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": 0},
        {"per_second": 0.0},
        {"per_second": float("nan")},
        {"most_seconds": float("nan")},
        {"most_cost": 1.0},
        {"most_cost": 1.0, "price_in": 1.0},
        {"price_in": -1.0},
        {"price_out": float("nan")},
        {"most_tokens": 0},
        {"most_cost": float("inf"), "price_in": 1.0, "price_out": 1.0},
    ],
)
def test_impossible_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        RunOptions(**options)  # type: ignore[arg-type]


def test_a_failure_of_the_target_is_recorded_and_asked_again_only_when_wanted(tmp_path: Path) -> None:
    def broken(_: Request) -> str:
        raise RuntimeError("down")

    failing = PythonFunction(broken, "t")
    target = Counting()
    with opened(tmp_path) as log:
        run_cases(CASES, failing, log)
        assert all("down" in (answer.error or "") for answer in log.answers.values())
    with opened(tmp_path) as log:
        assert run_cases(CASES, target, log).calls == 0
    with opened(tmp_path) as log:
        assert run_cases(CASES, target, log, RunOptions(retry_failed=True)).calls == 12
        assert all(answer.text for answer in log.answers.values())
    with opened(tmp_path) as log:
        assert run_cases(CASES, target, log, RunOptions(retry_failed=True)).calls == 0


def test_a_record_of_another_suite_or_target_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    with pytest.raises(InputError, match="another suite"):
        opened(tmp_path, CASES[:3])
    with pytest.raises(InputError, match="another target"):
        opened(tmp_path, target="other")


def test_two_runs_do_not_write_to_one_record(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(InputError, match="another run"):
        opened(tmp_path)


def test_a_half_written_last_line_is_dropped_and_other_damage_is_an_error(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        run_cases(CASES, Counting(), log)
    path = tmp_path / "run.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with opened(tmp_path) as log:
        assert run_cases(CASES, Counting(), log).calls == 1
    path.write_bytes(whole.replace(b'"event": "answered"', b'"event": answered', 1))
    with pytest.raises(InputError, match="damaged"):
        opened(tmp_path)


SYSTEM = """
import os, time
def answer(case):
    with open("calls.txt", "a") as stream:
        stream.write(case["id"] + "\\n")
    time.sleep(0.05)
    return "I do not know."
"""
RUN = """
import sys
from pathlib import Path
from assay.redteam.cases import read_suite, suite_digest
from assay.redteam.runs import RunLog, RunOptions, Tokens, read_record, run_cases
from assay.redteam.runs.runner import spread
from assay.redteam.targets import load_target
cases = read_suite(Path("suite.jsonl"))
target = load_target("python:system:answer", None, 10, {})
with RunLog(Path("run.jsonl"), suite_digest(cases), target.name) as log:
    run_cases(cases, target, log, RunOptions(concurrency=2, at_most_once="once" in sys.argv))
"""


@pytest.mark.parametrize("once", [True, False])
def test_after_a_kill_nothing_is_lost_and_nothing_that_was_answered_is_asked_again(tmp_path: Path, once: bool) -> None:
    (tmp_path / "system.py").write_text(SYSTEM, encoding="utf-8")
    (tmp_path / "suite.jsonl").write_text(suite_text(CASES * 1), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUN, *(["once"] if once else [])]
    killed = subprocess.Popen(command, cwd=tmp_path, env=environment)
    calls = tmp_path / "calls.txt"
    until = time.monotonic() + 60
    while time.monotonic() < until and (not calls.exists() or len(calls.read_text().split()) < 4):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=60)
    counted = Counter(calls.read_text().split())
    log = RunLog(tmp_path / "run.jsonl", suite_digest(CASES), "python:system:answer")
    with log:
        assert {one for one, _ in log.answers} == {one.id for one in CASES}
    answered = {line["case"] for line in map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines()[1:])}
    assert answered == {one.id for one in CASES}
    twice = [one for one, count in counted.items() if count > 1]
    if once:
        assert twice == []
    else:
        assert len(twice) <= 2  # those under way when the process died
        assert set(counted) == {one.id for one in CASES}
