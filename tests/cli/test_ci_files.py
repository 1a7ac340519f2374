"""The files for CI systems: each is parsed, and its shell steps run as the system would run them."""

import json
import os
import re
import shlex
import subprocess
import sys
import venv
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SPEC, PIPELINE = yaml.safe_load_all((ROOT / "ci" / "assay.gitlab-ci.yml").read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a right and a wrong answer, and evidence."""
    for name, text in {
        "answers/right.md": "Partners are entitled to 2 weeks of leave.\n",
        "answers/wrong one.md": "Partners are entitled to 4 weeks of leave.\n",
        "hand book/leave.md": "Partners are entitled to 2 weeks of leave.\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    folder = Path(sys.executable).parent
    return {**kept, "PYTHONPATH": str(ROOT / "src"), "PATH": f"{folder}:{kept['PATH']}", **more}


def call(command: list[str], folder: Path, own: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment(**own), capture_output=True, text=True, check=False, timeout=300
    )


def run_step(step: Mapping[str, Any], project: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs one step of the action with the inputs put in where GitHub puts them: into the environment."""
    values = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    values |= {"python": sys.executable, **{name.replace("_", "-"): value for name, value in inputs.items()}}
    known = {f"inputs.{name}": value for name, value in values.items()} | {"github.action_path": str(ROOT)}
    own = {name: EXPRESSION.sub(lambda match: known[match[1]], text) for name, text in step["env"].items()}
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        own[name] = str(project / f"{name}.txt")
        Path(own[name]).touch()
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]  # as GitHub calls it
    return call(script, project, own)


def test_no_script_of_the_action_holds_an_expression() -> None:
    """What a pull request can choose would run as a command."""
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        assert {match[1] for text in step["env"].values() for match in EXPRESSION.finditer(text)} <= {
            *(f"inputs.{name}" for name in ACTION["inputs"]),
            "github.action_path",
        }


def test_the_action_puts_findings_beside_lines_and_fails(project: Path) -> None:
    step = ACTION["runs"]["steps"][1]
    done = run_step(step, project, answers="answers\n", evidence="hand book\n", fail_under="supported=0.9\n")
    assert done.returncode == 1, done.stderr
    assert "::error file=answers/wrong one.md,line=1," in done.stdout
    assert "number.mismatch" in done.stdout
    assert (project / "GITHUB_OUTPUT.txt").read_text() == "status=1\n"
    summary = (project / "GITHUB_STEP_SUMMARY.txt").read_text(encoding="utf-8")
    assert summary.startswith("## ❌ assay check: 2 of 3 failed")
    assert json.loads((project / "assay.sarif").read_text())["version"] == "2.1.0"
    assert ET.parse(project / "assay.xml").getroot().get("tests") == "3"  # noqa: S314 our own text


def test_the_action_passes_what_is_right_and_runs_nothing_that_an_input_says(project: Path) -> None:
    step = ACTION["runs"]["steps"][1]
    done = run_step(step, project, answers="answers/right.md", evidence="hand book", question="$(touch owned) `id`; id")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (project / "owned").exists()
    assert (project / "GITHUB_OUTPUT.txt").read_text() == "status=0\n"


@pytest.mark.slow
def test_the_action_installs_itself_into_a_fresh_python(project: Path) -> None:
    venv.create(project / "venv", with_pip=True)
    python = str(project / "venv" / "bin" / "python")
    install, check = ACTION["runs"]["steps"]
    done = run_step(install, project, answers="x", python=python)
    assert done.returncode == 0, done.stderr
    found = run_step(check, project, answers="answers", evidence="hand book", python=python)
    assert found.returncode == 1, found.stderr
    assert "number.mismatch" in found.stdout


def test_the_gitlab_job_runs_and_keeps_its_reports(project: Path) -> None:
    given = {"answers": "answers", "evidence": "handbook", "fail-under": "supported=0.9"}
    (project / "hand book").rename(project / "handbook")
    inputs = SPEC["spec"]["inputs"]
    values = {name: given.get(name, str((one or {}).get("default", ""))) for name, one in inputs.items()}
    job = PIPELINE["assay"]
    named = {
        name: re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda match: values[match[1]], text)
        for name, text in job["variables"].items()
    }
    assert not any("$[[" in text for text in named.values())
    script = "set -e\n" + "\n".join(job["script"])
    done = call(["sh", "-c", script], project, named)
    assert done.returncode == 1, done.stderr
    assert "BLOCK" in done.stdout
    assert all((project / name).exists() for name in job["artifacts"]["paths"])
    assert job["artifacts"]["reports"]["junit"] in job["artifacts"]["paths"]
    assert job["artifacts"]["when"] == "always"


def test_the_hook_of_pre_commit_checks_the_files_that_it_is_given(project: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["language"] == "python"
    command, *fixed = shlex.split(hook["entry"])
    assert command == "assay"
    command_line = [
        sys.executable,
        "-m",
        "assay",
        *fixed,
        "--evidence",
        "hand book",
        "answers/right.md",
        "answers/wrong one.md",
    ]
    done = call(command_line, project, {})
    assert done.returncode == 1, done.stderr
    assert "number.mismatch" in done.stdout
    assert "answers/right.md" in done.stdout


def test_the_examples_of_the_page_are_yaml_that_names_inputs_and_hooks_that_exist() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    github, gitlab, hooks = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    used = next(step["with"] for step in github["steps"] if "OWNER" in step["uses"])
    assert set(used) <= set(ACTION["inputs"])
    assert set(gitlab["include"][0]["inputs"]) <= set(SPEC["spec"]["inputs"])
    known = {one["id"] for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert {one["id"] for repo in hooks["repos"] for one in repo["hooks"]} <= known


def test_the_options_that_the_page_names_exist() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    shown = call([sys.executable, "-m", "assay", "check", "--help"], ROOT, {"COLUMNS": "200"}).stdout
    shown += call([sys.executable, "-m", "assay", "eval", "--help"], ROOT, {"COLUMNS": "200"}).stdout
    assert [option for option in set(re.findall(r"--[a-z-]{3,}", page)) if option not in shown] == []


@pytest.mark.parametrize("module", ["assay", "json"])
def test_no_module_of_the_repository_is_run_by_the_action_or_the_job(project: Path, module: str) -> None:
    """Whoever opens a pull request would run code with the job's secrets, and pass the gate besides."""
    (project / f"{module}.py").write_text("open('owned', 'w').close(); raise SystemExit(0)\n")
    step = ACTION["runs"]["steps"][1]
    assert run_step(step, project, answers="answers", evidence="hand book").returncode == 1
    own = {
        "ASSAY_ANSWERS": "answers",
        "ASSAY_POLICY": "general",
        "ASSAY_FAIL_ON": "revise",
        "ASSAY_EVIDENCE": "answers",
    }
    job = PIPELINE["assay"]
    python = "\n".join(job["script"]).replace("python ", f"{shlex.quote(sys.executable)} ")
    call(["sh", "-e", "-c", python], project, own)
    assert not (project / "owned").exists()
    installing = [ACTION["runs"]["steps"][0]["run"], *job["before_script"]]
    assert all(" -P -m pip " in line for text in installing for line in text.splitlines() if "-m pip" in line)
