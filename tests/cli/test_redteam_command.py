"""`assay redteam`: from documents to a suite, a run, a gate, and a person's decision."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assay.cli import check as check_verb
from assay.cli.app import app
from assay.guard import Guard
from assay.redteam.cases import read_suite
from assay.testing import FakeScorer

SYSTEM = """
import json
from pathlib import Path
CASES = {one["id"]: one for one in map(json.loads, Path("suite.jsonl").read_text(encoding="utf-8").splitlines())}
def good(case):
    known = CASES[case["id"]]
    if known["ground_truth"]:
        return known["ground_truth"]
    return "The documents do not say."
def broken(case):
    return "42 \\x1b[31m<script>" if CASES[case["id"]]["category"] == "scale_stress" else good(case)
def slow(case):
    import time
    with open("calls.txt", "a") as stream:
        stream.write(case["id"] + "\\n")
    time.sleep(0.5)
    return good(case)
def guess(case):
    return "It was 1987, as Edgar Whitcombe said."
def down(case):
    raise OSError("down")
"""
DOCUMENTS = Path(__file__).resolve().parents[2] / "examples" / "redteam" / "wiki"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(check_verb, "open_guard", lambda policy, model: Guard(policy or "general", scorer=FakeScorer()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(tmp_path)])
    done = run("generate", "--evidence", DOCUMENTS, "--out", "suite.jsonl", "--per-category", 3)
    assert done.exit_code == 0, done.output
    (tmp_path / "system_under_test.py").write_text(SYSTEM, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("system_under_test", None)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["redteam", *map(str, arguments)], catch_exceptions=False)


def attack(function: str, *arguments: object) -> Result:
    return run("run", "suite.jsonl", "--target", f"python:system_under_test:{function}", *arguments)


def test_a_suite_is_written_and_sound(folder: Path) -> None:
    assert len(read_suite(folder / "suite.jsonl")) == 30
    done = run("lint", "suite.jsonl", "--format", "json")
    assert (done.exit_code, json.loads(done.stdout)["problems"]) == (0, [])


def test_one_category_alone_can_be_written(folder: Path) -> None:
    done = run("generate", "-e", DOCUMENTS, "-o", "one.jsonl", "--category", "compositional", "--format", "json")
    assert json.loads(done.stdout)["categories"] == {"compositional": 20}


def test_the_json_has_the_fixed_form(folder: Path) -> None:
    done = attack("good", "--format", "json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert {"ars", "low", "high", "categories", "unjudged"} <= set(told)
    assert told["low"] <= told["ars"] <= told["high"]
    assert all({"ars", "cases"} <= set(one) for one in told["categories"].values())
    assert len(told["categories"]) == 10
    assert told["unjudged"] == 0


def test_a_run_is_kept_and_goes_on_without_asking_again(folder: Path) -> None:
    first = attack("good", "--out", "out", "--most-calls", 10)
    assert "20 cases were not asked" in first.stderr
    assert "20 unjudged" in first.stdout
    second = attack("good", "--out", "out")
    assert "10 cases had been asked before" in second.stderr
    files = {one.name for one in (folder / "out").iterdir()}
    assert files == {
        "run.jsonl",
        "judgements.jsonl",
        "suite.jsonl",
        "summary.json",
        "report.html",
        "report.md",
        "junit.xml",
    }


def test_a_regression_ends_with_status_1_and_names_the_cases(folder: Path) -> None:
    (folder / "last.json").write_text(attack("good", "--format", "json").stdout, encoding="utf-8")
    worse = attack("broken", "--baseline", "last.json", "--format", "json", "--out", "out")
    told = json.loads(worse.stdout)
    assert worse.exit_code == 1
    assert told["comparison"]["regressed"]
    broken = {one["id"] for one in told["comparison"]["broken"]}
    assert broken == {case.id for case in read_suite(folder / "suite.jsonl") if case.category == "scale_stress"}
    assert all(one in worse.stderr for one in broken)
    assert attack("good", "--baseline", "last.json").exit_code == 0
    assert attack("broken", "--baseline", "last.json", "--delta", "0.5").exit_code == 0
    assert attack("broken", "--baseline", "out").exit_code == 0  # the folder of a run is a baseline too


def test_a_system_that_is_down_does_not_pass(folder: Path) -> None:
    done = attack("down")
    assert done.exit_code == 1
    assert "no case could be judged" in done.stderr
    assert "30 unjudged" in done.stdout


def test_a_floor_counts_what_is_unjudged_as_nothing(folder: Path) -> None:
    assert attack("good", "--fail-under", "0.5").exit_code == 0
    assert attack("good", "--fail-under", "0.5", "--most-calls", 10).exit_code == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_told_to_end_records_what_is_under_way(folder: Path, number: signal.Signals) -> None:
    words = ["redteam", "run", "suite.jsonl", "--target", "python:system_under_test:slow", "--out", "out"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    restored = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from assay.cli import main; main()"
    )
    running = subprocess.Popen([sys.executable, "-c", restored, *words], env=environment, stderr=subprocess.DEVNULL)
    calls = folder / "calls.txt"
    until = time.monotonic() + 120
    while time.monotonic() < until and (not calls.exists() or len(calls.read_text().split()) < 6):
        time.sleep(0.02)
    running.send_signal(number)
    assert running.wait(60) == 130
    events = [json.loads(line)["event"] for line in (folder / "out" / "run.jsonl").read_text().splitlines()[1:]]
    asked = calls.read_text().split()
    assert events.count("answered") == len(asked) == len(set(asked))
    assert len(asked) < 30
    attack("slow", "--out", "out")
    assert sorted(calls.read_text().split()) == sorted(ids_of(folder))


def ids_of(folder: Path) -> list[str]:
    return [case.id for case in read_suite(folder / "suite.jsonl")]


def test_what_a_target_says_does_not_steer_the_terminal(folder: Path) -> None:
    for form in ("text", "markdown", "junit", "html"):
        done = attack("broken", "--format", form)
        assert "\x1b" not in done.stdout
        assert "<script>" not in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "none.jsonl", "--target", "python:system_under_test:good"),
        ("run", "suite.jsonl", "--target", "python:system_under_test:none"),
        ("run", "suite.jsonl", "--target", "python:system_under_test:good", "--baseline", "suite.jsonl"),
        ("generate", "--evidence", "nowhere", "--out", "x.jsonl"),
        ("lint", "system_under_test.py"),
        ("promote", "nowhere", "--ledger", "l.jsonl"),
        ("review", "nowhere.jsonl"),
    ],
)
def test_misuse_ends_with_status_2_and_a_sentence(folder: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("assay: error: ")


def test_a_search_keeps_what_it_found_and_goes_on(folder: Path) -> None:
    words = (
        "search",
        "-e",
        DOCUMENTS,
        "--target",
        "python:system_under_test:guess",
        "--out",
        "found",
        "--format",
        "json",
    )
    told = json.loads(run(*words, "--most-calls", 12).stdout)
    assert told["calls"] == 12
    assert told["broken"]
    assert json.loads(run(*words, "--most-calls", 16).stdout)["calls"] == 16
    assert len(read_suite(folder / "found" / "suite.jsonl")) == 16
    other = run(*words, "--most-calls", 16, "--target-version", "v2")
    assert other.exit_code == 2
    assert "is of another version ('', not 'v2')" in other.stderr
    proposed = run("promote", "found", "--ledger", "ledger.jsonl", "--format", "json")
    assert json.loads(proposed.stdout)["proposed"]


def test_failures_go_into_the_static_suite_only_by_a_persons_word(folder: Path) -> None:
    attack("broken", "--out", "out")
    proposed = json.loads(run("promote", "out", "--ledger", "ledger.jsonl", "--format", "json").stdout)["proposed"]
    assert len(proposed) == 3
    first, second, third = (one["id"] for one in proposed[:3])
    assert run("review", "ledger.jsonl", "--approve", first, "--suite", "static.jsonl").exit_code == 2  # by whom?
    by = ("--by", "Ann Lee", "--suite", "static.jsonl", "--reason", "seen before")
    assert run("review", "ledger.jsonl", "--approve", first, *by).exit_code == 0
    assert run("review", "ledger.jsonl", "--reject", second, *by).exit_code == 0
    edited = {**proposed[2]["case"], "prompt": "A clearer prompt: " + proposed[2]["case"]["prompt"]}
    (folder / "edited.json").write_text(json.dumps(edited), encoding="utf-8")
    assert run("review", "ledger.jsonl", "--edit", third, "--case", "edited.json", *by).exit_code == 0
    static = read_suite(folder / "static.jsonl")
    assert [one.lineage.approved_by for one in static] == ["Ann Lee", "Ann Lee"]
    assert static[1].lineage.parent == third
    listed = json.loads(run("review", "ledger.jsonl", "--format", "json").stdout)
    assert [one["state"] for one in listed["proposals"]] == ["approved", "rejected", "approved"]
    assert "0 open of 3" in run("review", "ledger.jsonl").stdout


def guardrail_of(folder: Path) -> str:
    (folder / "filter_under_test.py").write_text(
        "def withholds(case):\n    return '1987' not in case['answer'] and None or case['answer']\n"
        "def careful(case):\n    return {'allowed': 'Whitcombe' not in case['answer']}\n",
        encoding="utf-8",
    )
    return f"python:{folder / 'filter_under_test.py'}:careful"


def test_guardrails_are_compared_in_a_table_and_kept(folder: Path) -> None:
    run("generate", "-e", DOCUMENTS, "-o", "suite.jsonl", "--per-category", 3, "--twins")
    assert any(one.benign for one in read_suite(folder / "suite.jsonl"))
    words = ("compare", "suite.jsonl", "--target", "python:system_under_test:guess", "-g", guardrail_of(folder))
    done = run(*words, "-g", "assay:rag", "--out", "compared", "--format", "json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    careful, own = told["guardrails"]
    assert careful["attack_success_without"]["count"] > 5
    assert careful["attack_success_with"]["count"] == 0
    assert own["name"] == "assay:rag"
    assert {"none", "comparison.json", "comparison.md"} <= {one.name for one in (folder / "compared").iterdir()}
    again = run(*words, "-g", "assay:rag", "--out", "compared")
    assert "had been asked before" in again.stderr
    assert "Judged by the rules alone" in again.stdout


def test_a_suite_without_benign_cases_is_told_and_one_without_attacks_refused(folder: Path) -> None:
    lines = (folder / "suite.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "attacks.jsonl").write_text("".join(one for one in lines if '"benign": false' in one), encoding="utf-8")
    (folder / "benign.jsonl").write_text("".join(one for one in lines if '"benign": true' in one), encoding="utf-8")
    guard = guardrail_of(folder)
    done = run("compare", "attacks.jsonl", "--target", "python:system_under_test:guess", "-g", guard)
    assert "no benign cases" in done.stderr
    refused = run("compare", "benign.jsonl", "--target", "python:system_under_test:guess", "-g", guard)
    assert (refused.exit_code, "holds no attack" in refused.stderr) == (2, True)


def test_a_budget_of_money_and_a_version_are_told_and_kept(folder: Path) -> None:
    prices = ("--price-in", "2", "--price-out", "10")
    done = attack("good", "--out", "out", "--most-cost", "0.02", *prices, "--target-version", "2.1")
    assert "the budget is spent" in done.stderr
    assert "cost about 0.0" in done.stderr
    assert json.loads((folder / "out" / "summary.json").read_text())["target_version"] == "2.1"
    assert attack("good", "--out", "out", "--most-cost", "1", *prices, "--target-version", "2.2").exit_code == 2
    assert attack("good", "--most-cost", "1").exit_code == 2


def test_what_was_tested_is_signed_and_verified(folder: Path) -> None:
    attack("good", "--out", "monday", "--target-version", "2.1")
    made = CliRunner().invoke(app, ["receipt", "create-key", "--keys", "keys"])
    assert made.exit_code == 0
    done = run("evidence", "monday", "--keys", "keys", "--by", "Ann Lee", "--out", "evidence.json")
    assert done.exit_code == 0, done.output
    held = run("evidence", "--verify", "evidence.json", "monday", "--ring", "keys/ring.json")
    assert held.exit_code == 0
    assert "version 2.1" in held.stdout
    text = (folder / "evidence.json").read_text(encoding="utf-8")
    (folder / "evidence.json").write_text(text.replace("2.1", "2.2"), encoding="utf-8")
    changed = run("evidence", "--verify", "evidence.json", "--ring", "keys/ring.json", "--format", "json")
    assert (changed.exit_code, json.loads(changed.stdout)["valid"]) == (1, False)
    (folder / "monday" / "summary.json").write_text("{}", encoding="utf-8")
    assert run("evidence", "monday", "--keys", "keys").exit_code == 2
    assert run("evidence").exit_code == 2


def test_a_suite_carries_its_false_positive_rate_on_good_systems(folder: Path) -> None:
    attack("good", "--out", "good")
    attack("broken", "--out", "other")
    assert run("lint", "suite.jsonl", "--good", "good").exit_code == 0
    assert "false positive rate on good systems 0.0%" in attack("good").stderr
    done = run("lint", "suite.jsonl", "--good", "good", "--good", "other", "--format", "json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told["good_systems"]["failed"] == len(told["problems"]) == 3
    assert {one["code"] for one in told["problems"]} == {"good.fails"}
    assert told["good_systems"]["judged"] == 60
    run("generate", "-e", DOCUMENTS, "-o", "suite.jsonl", "--per-category", 2)
    assert "good systems" not in attack("good").stderr  # of another version of the suite
