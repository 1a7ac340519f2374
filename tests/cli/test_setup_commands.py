"""`assay init`, `explain` and `completion` as real processes: what they write works as it stands."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from assay.policy import PRESETS, parse_policy

ROOT = Path(__file__).resolve().parents[2]


def assay(*arguments: object, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "_ASSAY"))}
    env = {**kept, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "COLUMNS": "100", **more}
    command = [sys.executable, "-m", "assay", *(str(one) for one in arguments)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300)


def test_init_writes_an_example_that_is_blocked_for_the_planted_reason(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    made = assay("init", "answers-of-ours", "--ci", "github", "--yes", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "answers-of-ours"
    next_step = re.search(r"&& assay (check .*)", made.stdout)
    assert next_step is not None
    done = assay(*next_step[1].split(), cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "number.mismatch" in done.stdout
    workflow = yaml.safe_load((tmp_path / ".github" / "workflows" / "assay.yml").read_text(encoding="utf-8"))
    (step,) = (one["run"] for one in workflow["jobs"]["assay"]["steps"] if "assay check" in one.get("run", ""))
    words = step.replace("\\\n", " ").split()
    done = assay(*words[1:], cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "::error file=answers-of-ours/answers/leave.md,line=1" in done.stdout


def test_the_test_that_init_writes_names_the_wrong_words_until_they_are_right(tmp_path: Path) -> None:
    assert assay("init", tmp_path, "-y").returncode == 0
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1, done.stdout
    assert "words    “4”" in done.stdout
    assert "The claim says '4 weeks'; the evidence says '2 weeks'." in done.stdout
    assert "passage  [leave]" in done.stdout
    example = tmp_path / "answers" / "leave.md"
    example.write_text(example.read_text(encoding="utf-8").replace("4", "2"), encoding="utf-8")
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout


def test_init_writes_over_nothing_and_knows_its_presets(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("mine", encoding="utf-8")
    done = assay("init", tmp_path, "--yes")
    assert done.returncode == 2
    assert "there already, and nothing was written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["assay.yaml"]
    assert assay("init", tmp_path / "x", "--policy", "strictest").returncode == 2
    assert not (tmp_path / "x").exists()


def test_every_commented_setting_of_the_file_is_a_setting() -> None:
    from assay.cli.setup.init import CONFIG

    for name in PRESETS:
        text = CONFIG.format(preset=name)
        assert parse_policy(text, "assay.yaml") == PRESETS[name]
    open_text = re.sub(r"(?m)^(\s*)# (\w+: [\w.]+)$", r"\1\2", CONFIG.format(preset="general"))
    assert parse_policy(open_text, "assay.yaml").citations == "require"


def test_the_gitlab_file_is_a_job() -> None:
    from assay.cli.setup.init import GITLAB

    job = yaml.safe_load(GITLAB.replace("{folder}", "."))["assay"]
    assert job["artifacts"]["reports"]["junit"] == "assay.xml"


def test_explain_says_what_a_code_means_and_what_to_do() -> None:
    done = assay("explain", "number.mismatch")
    assert done.returncode == 0
    assert done.stdout.startswith("number.mismatch  A number differs from the evidence")
    assert "What to do: " in done.stdout
    family = assay("explain", "citation").stdout
    assert {"citation.fabricated", "citation.misquoted"} <= set(family.split())
    assert json.loads(assay("explain", "tool.invented_email", "--json").stdout)[0]["code"] == "tool.invented_*"
    wrong = assay("explain", "number.mismach")
    assert wrong.returncode == 2
    assert "did you mean number.mismatch" in wrong.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_one_that_it_reads(shell: str) -> None:
    script = assay("completion", shell).stdout
    assert "_ASSAY_COMPLETE" in script
    found = shutil.which(shell)
    if found is not None:
        done = subprocess.run([found, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


ASKED = [
    ("assay expl", {"explain"}),
    ("assay check --fail-on ", {"revise", "block", "never"}),
    ("assay explain number.m", {"number.mismatch", "number.missing"}),
    ("assay explain retrieval_", {"retrieval_miss", "retrieval_noise", "retrieval_quality"}),
    ("assay check --policy r", {"rag", "rules.yaml"}),
    ("assay eval --from lang", {"langfuse", "langsmith"}),
]
"""A line up to the cursor, with what a shell has to offer in a folder that has `rules.yaml`."""


@pytest.fixture
def shell_env(tmp_path: Path) -> dict[str, str]:
    """An environment in which `assay` is this one, in a folder with a file of settings."""
    (tmp_path / "rules.yaml").write_text("version: 1\n", encoding="utf-8")
    command = tmp_path / "bin" / "assay"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m assay "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "_ASSAY"))}
    return {**kept, "PYTHONPATH": str(ROOT / "src"), "PATH": f"{command.parent}:{os.environ['PATH']}", "TERM": "dumb"}


def installed(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


def offered_by_bash(line: str, folder: Path, env: dict[str, str]) -> set[str]:
    words = line.split(" ")
    listed = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _assay_completion assay; echo ${{COMPREPLY[@]}}"
    text = f'eval "$(assay completion bash)"\n{ask}'
    done = subprocess.run(
        [installed("bash"), "-c", text], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def offered_by_fish(line: str, folder: Path, env: dict[str, str]) -> set[str]:
    text = f"assay completion fish | source; complete -C '{line}'"
    home = {**env, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    command = [installed("fish"), "--no-config", "-c", text]
    done = subprocess.run(command, cwd=folder, env=home, capture_output=True, text=True, check=True)
    return {one.split("\t")[0] for one in done.stdout.splitlines() if one.strip()}


ZSH = """
autoload -U compinit; compinit -u -D
compadd() {{ local -a _words _shown; builtin compadd -O _words "$@"; print -rl -- OFFER:$^_words >> {out} }}
eval "$(assay completion zsh)"
"""


def offered_by_zsh(line: str, folder: Path, env: dict[str, str]) -> set[str]:
    """What zsh itself hands to its list of matches, on a terminal of its own, as the tab key is pressed."""
    out = folder / "offered"
    out.write_text("", encoding="utf-8")
    (folder / ".zshrc").write_text(ZSH.format(out=out) + "PS1='ready> '\n", encoding="utf-8")
    main, other = pty.openpty()
    shell = subprocess.Popen(
        [installed("zsh"), "-i"],
        cwd=folder,
        env={**env, "ZDOTDIR": str(folder)},
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    try:
        read_until(main, lambda text: "ready> " in text)
        os.write(main, f"{line}\t".encode())
        read_until(main, lambda _: "OFFER:" in out.read_text(encoding="utf-8"))
    finally:
        shell.kill()
        shell.wait()
        os.close(main)
    return {one.removeprefix("OFFER:") for one in out.read_text(encoding="utf-8").split()}


def read_until(terminal: int, seen: Callable[[str], bool]) -> None:
    text, end = "", time.monotonic() + 60
    while not seen(text):
        assert time.monotonic() < end, text
        if select.select([terminal], [], [], 0.1)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")


@pytest.mark.parametrize(("line", "expected"), ASKED)
@pytest.mark.parametrize("offered", [offered_by_bash, offered_by_fish, offered_by_zsh])
def test_a_shell_completes_commands_codes_and_values(
    offered: Callable[[str, Path, dict[str, str]], set[str]],
    line: str,
    expected: set[str],
    tmp_path: Path,
    shell_env: dict[str, str],
) -> None:
    assert offered(line, tmp_path, shell_env) == expected


QUESTIONS = "strictest\nrag\ngitlab\n"


def test_init_asks_for_what_is_not_named_until_it_gets_an_answer(tmp_path: Path) -> None:
    main, other = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "assay", "init", str(tmp_path)]
    asked = subprocess.Popen(command, env=env, stdin=other, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.close(other)
    os.write(main, QUESTIONS.encode())
    said, problems = asked.communicate(timeout=120)
    os.close(main)
    assert asked.returncode == 0, problems
    assert said.count("Which policy (general, rag, support-desk, high-stakes, monitor) [general]: ") == 2
    assert said.count("A file for which CI (github, gitlab, none) [github]: ") == 1
    assert parse_policy((tmp_path / "assay.yaml").read_text(encoding="utf-8"), "assay.yaml") == PRESETS["rag"]
    assert (tmp_path / "assay.gitlab-ci.yml").exists()
    assert "include: {local: assay.gitlab-ci.yml}" in said


def test_a_check_without_evidence_warns_and_one_with_evidence_does_not(tmp_path: Path) -> None:
    answer = tmp_path / "a.md"
    answer.write_text("The leave is 2 weeks.", encoding="utf-8")
    assert "assay: warning: no evidence" in assay("check", answer).stderr
    (tmp_path / "e.md").write_text("The leave is 2 weeks.", encoding="utf-8")
    done = assay("check", answer, "-e", tmp_path / "e.md")
    assert (done.returncode, done.stderr) == (0, "")
