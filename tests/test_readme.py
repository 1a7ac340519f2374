"""The README stays true: its Python runs, its commands run, its files exist."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
PYTHON = [body for language, body in BLOCKS if language == "python"]
SHELL = [line for language, body in BLOCKS if language == "sh" for line in body.splitlines() if line.strip()]


def test_the_first_python_example_shows_the_contradiction() -> None:
    done = subprocess.run([sys.executable, "-c", PYTHON[0]], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.startswith("block contradicted")
    assert done.stdout == next(body for language, body in BLOCKS if language == "text")


def test_the_first_example_has_eight_lines() -> None:
    assert len(PYTHON[0].strip().splitlines()) == 8


def test_the_example_of_a_guard_runs(tmp_path: Path) -> None:
    yaml = next(body for language, body in BLOCKS if language == "yaml")
    (tmp_path / "assay.yaml").write_text(yaml, encoding="utf-8")
    setting = (
        "import assay\nanswer='Leave is two weeks.'\npassages=['Leave is two weeks.']\nrows=[{'answer': answer}]\n"
    )
    subprocess.run([sys.executable, "-c", setting + PYTHON[1].replace("...", "pass")], check=True, cwd=tmp_path)


@pytest.mark.parametrize("line", [line for line in SHELL if "assay check" in line and "--receipt" not in line])
def test_each_check_command_runs(line: str, tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "hr.md").write_text("Partners are entitled to 2 weeks of leave.\n", encoding="utf-8")
    (tmp_path / "facts.jsonl").write_text('{"id": "hr", "text": "Partners are entitled to 2 weeks of leave."}\n')
    for folder, said in (("answers", 4), ("evidence", 2)):  # what `assay init` writes, in short
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "leave.md").write_text(
            f"Partners are entitled to {said} weeks of leave.\n", encoding="utf-8"
        )
    (tmp_path / "assay.yaml").write_text("version: 1\npolicy:\n  preset: general\n", encoding="utf-8")
    for name in ("answer.md", "answer.txt"):
        (tmp_path / name).write_text("Partners are entitled to 4 weeks of leave.\n", encoding="utf-8")
    command = (
        line.split("#", maxsplit=1)[0].strip().replace("assay check", f"{shlex.quote(sys.executable)} -m assay check")
    )
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
    # What was repaired with the evidence's own values is clean afterwards.
    assert done.returncode == (0 if "--repair" in line else 1), done.stderr


def test_the_commands_and_the_example_of_receipts_run_in_order(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    for name in ("answer.md", "policies/hr.md"):
        (tmp_path / name).write_text("Partners are entitled to 2 weeks of leave.\n", encoding="utf-8")
    lines = [line for line in SHELL if line.startswith("assay receipt") or "--receipt" in line]
    assert len(lines) == 3
    for line in lines:
        command = line.replace("assay", f"{shlex.quote(sys.executable)} -m assay", 1)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    example = next(body for body in PYTHON if "guard.commit" in body)
    setting = "import assay\nanswer='Leave is two weeks.'\npassages=['Leave is two weeks.']\nsink=print\n"
    done = subprocess.run(
        [sys.executable, "-c", setting + example], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "Leave is two weeks.\n"


def test_the_example_of_an_agent_run_runs() -> None:
    example = next(body for body in PYTHON if "check_run" in body)
    setting = """
import assay
def find_order(order_id: str) -> str:
    return "Order W-17 is in Hamburg."
def search(question):
    return ["Order W-17 is in Hamburg."]
def ask_model(question):
    return "Order W-17 is in Hamburg."
call = {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"order_id": "W-17"}'}}
messages = [
    {"role": "user", "content": "Where is order W-17?"},
    {"role": "assistant", "content": None, "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "c1", "content": "Order W-17 is in Hamburg."},
    {"role": "assistant", "content": "Order W-17 is in Hamburg."},
]
"""
    ending = "\nprint(report.action, answer('Where?'))"
    done = subprocess.run(
        [sys.executable, "-c", setting + example + ending], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines() == ["emit", "emit Order W-17 is in Hamburg."]


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z-]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_shares_of_the_gate_are_those_that_were_measured_last() -> None:
    presets = json.loads((ROOT / "src/assay/policy/calibration/standing.json").read_text("utf-8"))["presets"].values()
    said = re.search(r"On (\d+) labelled answers .*? emit (\d+)% of the honest ones and stop (\d+)% of", README)
    assert said is not None
    for one in (one for one in presets if one["name"] in {"general", "rag", "support-desk"}):
        shares = (round(100 * one["emitted"] / one["honest"]), round(100 * one["stopped"] / one["wrong"]))
        assert (one["honest"] + one["wrong"], *shares) == tuple(map(int, said.groups()))


def test_every_extra_for_users_is_named() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    install = README.partition("\n## Install\n")[2].partition("\n## ")[0]
    ours = {"dev", "docs", "frameworks"}  # what only this repository needs, and a sum of others
    users = [name for name in extras if name not in ours and not name.startswith("test")]
    assert [name for name in users if f"`{name}`" not in install] == []


def test_every_link_of_the_readme_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README):
        assert (ROOT / target).exists(), target
