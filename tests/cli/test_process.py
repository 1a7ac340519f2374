"""The command as a real process: status, streams, and going on after it was killed. Each start costs; few tests."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def assay(*arguments: object, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from assay.cli import main; main()", *(str(a) for a in arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=300)


def test_help_needs_none_of_the_heavy_libraries() -> None:
    code = """
        import sys
        from assay.cli.app import app
        try:
            app(["--help"], prog_name="assay")
        except SystemExit as error:
            assert error.code == 0
        heavy = {"numpy", "onnxruntime", "tokenizers", "pydantic", "rich", "yaml"} & set(sys.modules)
        assert not heavy, heavy
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"check" in done.stdout


def test_the_shipped_example_is_blocked_with_status_1() -> None:
    case = EXAMPLES / "parental-leave"
    done = assay("check", case / "answer.md", "-e", case / "evidence", "-q", f"@{case / 'question.txt'}", "-f", "json")
    assert done.returncode == 1, done.stderr.decode()
    report = json.loads(done.stdout)
    assert report["action"] == "block"
    status = {citation["source_id"]: citation["status"] for citation in report["citations"]}
    assert status["hr-7"] == "fabricated"
    verdicts = {claim["text"]: claim["verdict"] for claim in report["claims"]}
    assert {verdict for text, verdict in verdicts.items() if "4 weeks" in text} == {"contradicted"}
    assert {verdict for text, verdict in verdicts.items() if "bonus" in text} == {"unsupported"}


def test_unreadable_input_and_unknown_options_end_with_2() -> None:
    done = assay("check", "-", stdin=b"\xff\xfe")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"assay: error: standard input: not UTF-8: byte 0xff at offset 0")
    assert done.stderr.count(b"\n") == 1
    assert assay("check", "x", "--nonsense").returncode == 2


@pytest.mark.parametrize(
    "verb", ["budget check", "monitor status", "changes list", "audit verify", "review list", "users list"]
)
def test_a_verb_that_lacks_a_package_names_the_extra(tmp_path: Path, verb: str) -> None:
    (tmp_path / "x.db").touch()
    code = "import sys; sys.modules['sqlalchemy'] = None; from assay.cli import main; main()"
    command = [sys.executable, "-c", code, *verb.split(), "--database", str(tmp_path / "x.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert done.stderr.startswith("assay: error: ")
    assert "pip install 'assay-ai[store]'" in done.stderr
    assert done.stderr.count("\n") == 1


SLOW_EVAL = """
    import sys, time
    sys.path.insert(0, sys.argv.pop(1))
    from tests.cli.standin import StandIn
    from assay.evaluation import runner as batch
    from assay.cli import evaluate as verb
    from assay.cli.app import run

    batch.BATCH_ROWS = 4
    pause = float(sys.argv.pop(1))

    class Slow(StandIn):
        def judge_claims(self, rows):
            time.sleep(pause)
            return super().judge_claims(rows)

    verb.open_guard = lambda policy, model: Slow()
    run()
"""


def slow_eval(pause: float, rows: Path, out: Path) -> list[str]:
    here = str(Path(__file__).parents[2])
    return [sys.executable, "-c", textwrap.dedent(SLOW_EVAL), here, str(pause), "eval", str(rows), "-o", str(out)]


def test_an_evaluation_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with rows.open("w") as stream:
        for n in range(40):
            label = "supported" if n % 2 else "contradicted"
            claim = f"It is {'so' if n % 2 else 'FALSE'} {n}."
            stream.write(json.dumps({"id": str(n), "evidence": ["x"], "claim": claim, "label": label}) + "\n")
    out = tmp_path / "out"
    results = out / "results.jsonl"
    process = subprocess.Popen(slow_eval(1.0, rows, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 5):
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    kept = results.read_bytes().splitlines()
    assert 5 <= len(kept) < 41
    with results.open("ab") as torn:
        torn.write(b'{"digest": "half a li')
    done = subprocess.run(slow_eval(0.0, rows, out), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    after = results.read_bytes().splitlines()
    assert after[: len(kept)] == kept
    assert len(after) == 41
    assert json.loads((out / "summary.json").read_text())["overall"]["figures"]["auroc"]["value"] == 1.0
