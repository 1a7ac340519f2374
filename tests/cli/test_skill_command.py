"""`assay skill` as its clients run it: as a process, with the client's own formats."""

import json
import os
import subprocess
import sys
from pathlib import Path

LEAVE = "Partners are entitled to 2 weeks of paid leave."


def run(*arguments: str, home: Path, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": ""}
    return subprocess.run(
        [sys.executable, "-m", "assay", "skill", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        input=stdin,
        cwd=home,
        env=environ,
    )


def test_answers_are_checked_and_counted(tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text(LEAVE)
    right = run("check", "-", "--context", "leave.md", home=tmp_path, stdin=LEAVE)
    assert right.returncode == 0, right.stderr
    assert json.loads(right.stdout)["verdict"] == "PASS"
    wrong = run("check", "-", "--context", "leave.md", home=tmp_path, stdin="Partners get 7 weeks of paid leave.")
    assert (wrong.returncode, json.loads(wrong.stdout)["verdict"]) == (1, "FAIL")
    told = json.loads(run("metrics", "--reset", home=tmp_path).stdout)
    assert (told["total_checks"], told["hallucinations_detected"], told["pass_rate"]) == (2, 1, 0.5)
    assert json.loads(run("metrics", home=tmp_path).stdout)["total_checks"] == 0


def test_a_policy_that_changed_under_its_name_judges_an_answer_anew(tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text(LEAVE)
    (tmp_path / "config.yaml").write_text("policy: own.yaml\n")
    check = ("check", "-", "--context", "leave.md", "--config", "config.yaml")

    def verdict() -> str:
        done = run(*check, home=tmp_path, stdin=LEAVE)
        assert done.returncode in (0, 1), done.stderr
        return str(json.loads(done.stdout)["verdict"])

    (tmp_path / "own.yaml").write_text("version: 1\npolicy: {preset: monitor}\n")
    assert (verdict(), verdict()) == ("PASS", "PASS")
    # A policy that requires a judge which is not there lets nothing pass.
    (tmp_path / "own.yaml").write_text("version: 1\npolicy: {preset: monitor, judge: all}\n")
    assert verdict() != "PASS"
    (tmp_path / "own.yaml").write_text("version: 1\npolicy: {preset: monitor}\nknowledge: {nonsense: 1}\n")
    assert "expected a list of sources" in run(*check, home=tmp_path, stdin=LEAVE).stderr


def test_where_there_are_sources_of_knowledge_an_answer_is_judged_each_time(tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text("Leave is paid.")
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text(f"# Leave\n\n{LEAVE}\n")
    (tmp_path / "config.yaml").write_text("policy: own.yaml\n")
    source = "{name: handbook, kind: files, path: handbook, authority: organisation}"
    (tmp_path / "own.yaml").write_text(
        "version: 1\npolicy: {preset: monitor, external: {mode: decide, severity: 0}}\n" + f"knowledge: [{source}]\n"
    )
    check = ("check", "-", "--context", "leave.md", "--config", "config.yaml")
    found = run(*check, home=tmp_path, stdin=LEAVE)
    assert json.loads(found.stdout)["verdict"] == "PASS", found.stderr
    (tmp_path / "handbook" / "leave.md").write_text("# Leave\n\nPartners are entitled to 5 weeks of paid leave.\n")
    assert json.loads(run(*check, home=tmp_path, stdin=LEAVE).stdout)["verdict"] != "PASS"


def test_the_installed_hook_sends_a_wrong_answer_back(tmp_path: Path) -> None:
    done = run("install", "--hook", home=tmp_path)
    assert done.returncode == 0, done.stderr
    entries = [
        {"type": "user", "message": {"role": "user", "content": "How long is the leave?"}},
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": LEAVE}]}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "It is 7 weeks."}]},
        },
    ]
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in entries))
    told = {"session_id": "s", "transcript_path": str(path), "hook_event_name": "Stop", "stop_hook_active": False}
    answered = run("hook", home=tmp_path, stdin=json.dumps(told))
    assert answered.returncode == 0, answered.stderr
    assert json.loads(answered.stdout)["decision"] == "block"
    config = tmp_path / ".claude" / "skills" / "hallucination-monitor" / "config.yaml"
    config.write_text("detection: {on_fail: warn}\n")
    assert set(json.loads(run("hook", home=tmp_path, stdin=json.dumps(told)).stdout)) == {"systemMessage"}
    config.write_text("detektion: {}\n")
    broken = run("hook", home=tmp_path, stdin=json.dumps(told))
    assert (broken.returncode, "detektion" in broken.stderr) == (2, True)


def test_what_cannot_be_read_is_misuse(tmp_path: Path) -> None:
    for arguments in (["check", "none.md", "--context", "none.md"], ["check", "-"], ["install", "--client", "vi"]):
        assert run(*arguments, home=tmp_path).returncode == 2
