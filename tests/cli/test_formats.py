"""The formats for other programs, through typer's runner: what each reader needs is there, and foreign text is text."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import typer
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.cli.standin import Run, StandIn

from assay.cli.exit_status import reporting_errors
from assay.cli.formats.cases import Case, Finding, Lines, Outcome, Passage, Place
from assay.cli.formats.github import github
from assay.cli.formats.junit import junit
from assay.cli.formats.markdown import escaped, markdown
from assay.cli.formats.sarif import sarif
from assay.errors import InputError

SARIF: dict[str, Any] = {
    # What SARIF 2.1.0 (OASIS, 27 March 2020) requires of the objects that are written, and the values that it allows.
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "message": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}}
                            },
                        }
                    },
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "invocations": {"type": "array", "items": {"type": "object", "required": ["executionSuccessful"]}},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "properties": {"shortDescription": {"$ref": "#/$defs/message"}, "help": {"$ref": "#/$defs/message"}},
        },
        "result": {
            "type": "object",
            "required": ["message", "ruleId", "ruleIndex"],
            "properties": {
                "message": {"$ref": "#/$defs/message"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "locations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "physicalLocation": {
                                "type": "object",
                                "required": ["artifactLocation"],
                                "properties": {
                                    "artifactLocation": {
                                        "type": "object",
                                        "required": ["uri"],
                                        "properties": {"uri": {"type": "string", "pattern": r"^[!-~]+$"}},
                                    },
                                    "region": {
                                        "type": "object",
                                        "additionalProperties": {"type": "integer", "minimum": 1},
                                    },
                                },
                            }
                        },
                    },
                },
            },
        },
    },
}

ANSWER = "The sky is blue.\nIt is FALSE that it rains.\nMAYBE it snows.\n"
HOSTILE = "::error::x%0A\r\n<b>&\"'`|[a](http://e.org) @team \x1b[2J\x00 ]]> \u202e \ud800"


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "docs" / "an answer.md"
    path.parent.mkdir()
    path.write_text(ANSWER, encoding="utf-8")
    (tmp_path / "sky.txt").write_text("The sky is blue today.", encoding="utf-8")
    return path


def check(run: Run, format_: str, answer: Path, *more: object) -> str:
    result = run("check", answer, "-e", "sky.txt", "--format", format_, *more)
    assert result.exit_code == 1, result.output
    return str(result.stdout)


def test_sarif_has_the_required_structure_and_names_the_wrong_words(run: Run, answer: Path) -> None:
    value = json.loads(check(run, "sarif", answer))
    jsonschema.Draft202012Validator(SARIF).validate(value)
    (made,) = value["runs"]
    levels = {one["ruleId"]: one["level"] for one in made["results"]}
    assert levels == {"claim.contradicted": "error", "claim.unsupported": "warning"}
    false = next(one for one in made["results"] if one["ruleId"] == "claim.contradicted")
    place = false["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "docs/an%20answer.md", "uriBaseId": "%SRCROOT%"}
    region = place["region"]
    assert ANSWER.split("\n")[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1] == "FALSE"
    assert made["tool"]["driver"]["rules"][false["ruleIndex"]]["id"] == "claim.contradicted"


def test_a_program_that_reads_sarif_reads_ours(run: Run, answer: Path, tmp_path: Path) -> None:
    loader = pytest.importorskip("sarif.loader")
    run("check", answer, "-e", "sky.txt", "--write", f"sarif={tmp_path / 'assay.sarif'}")
    read = loader.load_sarif_file(str(tmp_path / "assay.sarif"))
    assert read.get_result_count() == 2
    assert read.get_distinct_tool_names() == ["assay"]
    assert {one["Location"] for one in read.get_records()} == {"docs/an%20answer.md"}


def test_fingerprints_stay_while_lines_move(run: Run, answer: Path) -> None:
    def prints(text: str) -> set[str]:
        return {one["partialFingerprints"]["assayClaim/v1"] for one in json.loads(text)["runs"][0]["results"]}

    before = prints(check(run, "sarif", answer))
    answer.write_text("\n\n" + ANSWER, encoding="utf-8")
    assert prints(check(run, "sarif", answer)) == before


def test_junit_has_a_case_for_each_answer_and_a_failure_for_each_finding(run: Run, answer: Path) -> None:
    (answer.parent / "fine.md").write_text("All is well.", encoding="utf-8")
    root = ET.fromstring(check(run, "junit", answer.parent))  # noqa: S314 our own text
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "0")
    cases = {one.get("name"): one for one in root.iter("testcase")}
    assert cases["an answer.md"].get("file") == "docs/an answer.md"
    failure = cases["an answer.md"].find("failure")
    assert failure is not None
    assert "docs/an answer.md:2: The evidence says otherwise" in (failure.text or "")
    assert "passage [sky]: The sky is blue today." in (failure.text or "")
    assert cases["fine.md"].find("failure") is None


def test_what_could_not_be_checked_is_an_error_and_no_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("BROKEN.", encoding="utf-8")
    root = ET.fromstring(run("check", tmp_path / "a.txt", "-f", "junit").stdout)  # noqa: S314 our own text
    assert (root.get("failures"), root.get("errors")) == ("0", "1")


def test_github_gets_commands_for_lines_the_gravest_first(run: Run, answer: Path) -> None:
    lines = check(run, "github", answer).splitlines()
    assert lines[0].startswith(
        "::error file=docs/an answer.md,line=2,endLine=2,col=7,endColumn=12,title=assay%3A claim.contradicted::"
    )
    assert lines[1].startswith("::warning file=docs/an answer.md,line=3")
    assert lines[-1] == "assay check: 1 of 1 failed"


def test_markdown_has_a_table_and_each_finding_to_open(run: Run, answer: Path) -> None:
    text = check(run, "markdown", answer)
    assert text.startswith("## ❌ assay check: 1 of 1 failed\n")
    assert "| ❌ |" in text
    assert "wrong words: **FALSE**" in text
    assert "passage \\[sky\\]: The sky is blue today\\." in text


def test_one_run_writes_several_files(run: Run, answer: Path, tmp_path: Path) -> None:
    targets = [f"--write={name}={tmp_path / 'out' / name}" for name in ("junit", "sarif", "markdown", "github")]
    assert "BLOCK" in check(run, "text", answer, *targets)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["github", "junit", "markdown", "sarif"]


@pytest.mark.parametrize("given", ["sarif", "pdf=x", "sarif="])
def test_a_target_that_cannot_be_written_is_misuse(run: Run, answer: Path, given: str) -> None:
    result = run("check", answer, "--write", given)
    assert result.exit_code == 2
    assert "expected FORMAT=FILE" in result.stderr


def test_several_files_may_be_named_as_pre_commit_does(run: Run, answer: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_text("All is well.", encoding="utf-8")
    result = run("check", answer, other, "-e", "sky.txt", "-f", "markdown")
    assert result.exit_code == 1
    assert "1 of 2 failed" in result.stdout


def test_requests_of_a_file_are_placed_at_their_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"answer": "Fine.", "evidence": ["x"]}, {"answer": "FALSE.", "evidence": ["x"]}]
    Path("rows.jsonl").write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert "::error file=rows.jsonl,line=3," in run("check", "rows.jsonl", "-f", "github").stdout


# Limits


@pytest.mark.parametrize(
    ("limit", "status"), [("supported=0.3", 0), ("supported=0.34", 1), ("overall_score=0.9", 1), ("factscore=0.1", 1)]
)
def test_a_limit_decides_where_findings_do_not(run: Run, answer: Path, limit: str, status: int) -> None:
    result = run("check", answer, "-e", "sky.txt", "--fail-on", "never", "--fail-under", limit)
    assert result.exit_code == status, result.output


def test_a_limit_that_is_not_kept_is_a_failing_case_and_told(run: Run, answer: Path) -> None:
    result = run("check", answer, "-e", "sky.txt", "--fail-on", "never", "--fail-over", "contradicted=0", "-f", "junit")
    assert result.exit_code == 1
    assert "contradicted should be at most 0: 0.3333" in result.stderr
    cases = ET.fromstring(result.stdout).iter("testcase")  # noqa: S314 our own text
    names = [one.get("name") for one in cases if one.find("failure") is not None]
    assert names == ["contradicted ≤ 0"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("faithfullness=0.9", "did you mean faithfulness?"),
        ("faithfulness", "expected METRIC=VALUE"),
        ("faithfulness=high", "is no number"),
        ("faithfulness=nan", "is no number"),
        ("hallucination_rate=0.1", "less is better; say --fail-over hallucination_rate=0.1"),
    ],
)
def test_a_limit_that_makes_no_sense_is_misuse(run: Run, answer: Path, given: str, why: str) -> None:
    result = run("check", answer, "--fail-under", given)
    assert result.exit_code == 2
    assert why in result.stderr


# Evaluations


def rows(folder: Path, count: int = 40) -> Path:
    """Half of them wrong; every fourth wrong one says nothing that the stand-in sees."""
    path = folder / "rows.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            wrong = number % 2 == 0
            said = "FALSE" if wrong and number % 8 else "so"
            row = {"id": str(number), "evidence": [f"Document {number}."], "claim": f"It is {said} {number}."}
            stream.write(json.dumps({**row, "label": "contradicted" if wrong else "supported"}) + "\n")
    return path


def test_rows_that_were_judged_wrongly_fail_unless_limits_decide(run: Run, tmp_path: Path) -> None:
    path = rows(tmp_path)
    alone = ET.fromstring(run("eval", path, "-f", "junit").stdout)  # noqa: S314 our own text
    assert (alone.get("tests"), alone.get("failures")) == ("40", "5")
    result = run("eval", path, "-f", "junit", "--fail-under", "balanced_accuracy=0.8", "--fail-over", "fnr=0.2")
    assert result.exit_code == 1
    held = ET.fromstring(result.stdout)  # noqa: S314 our own text
    failing = [one.get("name") for one in held.iter("testcase") if one.find("failure") is not None]
    assert failing == ["fnr ≤ 0.2"]
    assert "fnr should be at most 0.2: 0.25" in result.stderr


def test_an_evaluation_as_sarif_names_the_lines_of_its_rows(run: Run, tmp_path: Path) -> None:
    value = json.loads(run("eval", rows(tmp_path), "-f", "sarif").stdout)
    jsonschema.Draft202012Validator(SARIF).validate(value)
    found = value["runs"][0]["results"]
    assert [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in found] == [1, 9, 17, 25, 33]


def test_an_evaluation_as_markdown_has_its_figures(run: Run, tmp_path: Path) -> None:
    text = run("eval", rows(tmp_path), "-f", "markdown", "--fail-under", "auroc=0.5").stdout
    assert "| balanced accuracy | 0.875 |" in text
    assert "| ✅ | auroc ≥ 0\\.5 |" in text


class Mended(StandIn):
    """Sees what the stand-in does not, and is wrong about one row of its own."""

    def judge_claims(self, rows: Any) -> Any:
        fixed = [(text.replace("so 8.", "FALSE 8.").replace("so 3.", "FALSE 3."), e, q) for text, e, q in rows]
        return super().judge_claims(fixed)


@pytest.fixture
def runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    from assay.cli import evaluate

    path = rows(tmp_path)
    run("eval", path, "-o", tmp_path / "a")
    monkeypatch.setattr(evaluate, "open_guard", lambda policy, model: Mended())
    run("eval", path, "-o", tmp_path / "b")
    return path, tmp_path / "a", tmp_path / "b"


def test_two_runs_are_compared_regressions_first(run: Run, runs: tuple[Path, Path, Path]) -> None:
    _, first, second = runs
    result = run("eval", "--compare", first, second)
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert text.index("Regressions: right before, wrong now: 1") < text.index("Fixes: wrong before, right now: 1")
    assert "rows/3  supported 0.97 → contradicted 0.02, labelled supported" in text
    assert "rows/8  supported 0.97 → contradicted 0.02, labelled contradicted" in text
    assert re.search(r"balanced accuracy +0\.875 +0\.875 +\+0\.000 \(-0\.\d+ to \+0\.\d+\) +within chance", text)


def test_a_comparison_in_json_and_with_the_rows_named(run: Run, runs: tuple[Path, Path, Path]) -> None:
    path, first, second = runs
    (first / "rows.jsonl").unlink()
    (second / "rows.jsonl").unlink()
    assert run("eval", "--compare", first, second).exit_code == 2
    found = json.loads(run("eval", path, "--compare", first, second, "-f", "json").stdout)
    assert [one["id"] for one in found["regressions"]] == ["3"]
    assert found["changes"]["fpr"]["difference"]["value"] == pytest.approx(0.05)
    assert found["changes"]["fpr"]["difference"]["low"] <= 0


def test_the_change_of_a_run_against_itself_is_exactly_nothing(run: Run, runs: tuple[Path, Path, Path]) -> None:
    _, first, _ = runs
    found = json.loads(run("eval", "--compare", first, first, "-f", "json").stdout)
    assert found["regressions"] == found["fixes"] == []
    moved = [change["difference"] for change in found["changes"].values()]
    assert all((one["value"], one["low"], one["high"]) == (0, 0, 0) for one in moved)


def test_a_comparison_has_a_page_with_both_runs_side_by_side(
    run: Run, runs: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    path, first, second = runs
    page = tmp_path / "compared.html"
    assert run("eval", "--compare", first, second, "--report", page, "-o", tmp_path / "c").exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert (tmp_path / "c" / "comparison.html").read_text(encoding="utf-8") == html
    assert html.index("Regressions: right before, wrong now: 1") < html.index("Fixes: wrong before, right now: 1")
    assert "<h3>First run: supported, 0.97</h3>" in html
    assert "<h3>Second run: contradicted, 0.02</h3>" in html
    assert html.count("<tr data-honest") == 2
    assert "[doc-3]" not in html, "the runs keep no evidence"
    told = run("eval", path, "--compare", first, second, "-f", "html").stdout
    assert len(told) > len(html), "with the rows named, what they were held against is shown"


def test_limits_of_a_comparison_hold_changes_too(run: Run, runs: tuple[Path, Path, Path]) -> None:
    _, first, second = runs
    kept = run("eval", "--compare", first, second, "--fail-under", "balanced_accuracy.change=-0.01")
    assert kept.exit_code == 0, kept.output
    assert run("eval", "--compare", first, second, "--fail-over", "fpr.change=0.01").exit_code == 1
    junit_text = run("eval", "--compare", first, second, "-f", "junit").stdout
    assert 'name="regressions"' in junit_text


# Foreign text


FOREIGN = st.text(st.characters() | st.sampled_from(HOSTILE), max_size=60)


def outcome(text: str) -> Outcome:
    finding = Finding("a.b", "error", text, Place(text or "f", 1), text, text, (Passage(text, text),))
    return Outcome("assay check", [Case(text, text or "g", passed=False, headline=text, findings=(finding,))])


@settings(suppress_health_check=[HealthCheck.too_slow])
@example("\ud800")
@given(FOREIGN)
def test_every_format_stays_what_it_is_whatever_foreign_text_says(text: str) -> None:
    made = outcome(text)
    ET.fromstring(junit(made))  # noqa: S314 our own text
    jsonschema.Draft202012Validator(SARIF).validate(json.loads(sarif(made)))
    commands = github(made).splitlines()
    assert len(commands) == 2
    assert commands[0].startswith("::error ")
    assert not commands[1].startswith("::")


@given(FOREIGN)
def test_escaped_markdown_has_no_markup_left(text: str) -> None:
    made = escaped(text)
    assert "\n" not in made
    assert not re.search(r"(?<!\\)[|`*_\[\]<>!]", re.sub(r"&(?:lt|gt|amp);", "", made).replace("\\\\", ""))
    assert not re.search(r"@\w", made)


def test_markdown_of_hostile_text_has_the_lines_of_harmless_text() -> None:
    assert len(markdown(outcome(HOSTILE)).split("\n")) == len(markdown(outcome("harmless")).split("\n"))


@given(st.text(st.sampled_from("ab\r\n\U0001f600é"), max_size=40), st.data())
def test_lines_and_columns_lead_back_to_the_character(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    line, column = Lines(text).at(offset)
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    assert starts[line - 1] + column - 1 == offset
    assert line == sum(start <= offset for start in starts)


def test_names_of_files_can_be_read_back_from_sarif() -> None:
    place = Place("a b/ü#?.md", 1)
    value = json.loads(sarif(Outcome("x", [Case("c", "g", passed=False, headline="h", place=place)])))
    uri = value["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri) == "a b/ü#?.md"


HOSTILE_LINKS = "see [the fix](https://evil.example/x) and [[ATTACHMENT|/etc/passwd]] and [[ attachment|/etc/shadow]]"


def _hostile(passed: bool) -> Outcome:
    finding = Finding("x.y", "note", HOSTILE_LINKS, None, HOSTILE_LINKS, passages=(Passage("a](b", HOSTILE_LINKS),))
    return Outcome("assay check", [Case("c", "check", passed, HOSTILE_LINKS, (finding,))])


@pytest.mark.parametrize("passed", [True, False])
def test_junit_names_no_file_that_a_reader_would_attach(passed: bool) -> None:
    assert not re.search(r"\[\s*\[\s*ATTACHMENT", re.sub(r"\[ \[", "", junit(_hostile(passed))), re.IGNORECASE)
    assert "[[ATTACHMENT|" not in junit(_hostile(passed))


def test_no_message_of_sarif_has_a_link_in_it() -> None:
    """SARIF 2.1.0, 3.11.6: `[words](target)` is one."""
    (result,) = json.loads(sarif(_hostile(passed=True)))["runs"][0]["results"]
    assert "](" not in result["message"]["text"]
    assert "the fix" in result["message"]["text"]


def test_an_error_begins_no_line_as_a_command_of_a_build_server(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), reporting_errors():
        raise InputError("x\n::stop-commands::y\n  ::error::z\n##[add-mask]a")
    told = capsys.readouterr().err
    assert not any(line.lstrip().startswith("::") for line in told.splitlines())
    assert "##[" not in told
