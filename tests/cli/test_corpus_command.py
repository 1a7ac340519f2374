"""`assay corpus check`: a folder in, a report out, as text, JSON and a page."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assay.cli import check as check_verb
from assay.cli.app import app
from assay.cli.corpus import Kind, default_state
from assay.corpus import FINDINGS, CorpusReport
from assay.guard import Guard
from assay.testing import FakeScorer

FOUR = "Partners get 4 weeks of parental leave in the Vienna office. The form goes to the personnel department."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check_verb, "open_guard", lambda policy, model: Guard(policy or "general", scorer=FakeScorer()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave_v2.md").write_text(f"# Leave\n\n{FOUR}", encoding="utf-8")
    (docs / "leave_v1.md").write_text(f"# Leave\n\n{FOUR.replace('4', '2')}", encoding="utf-8")
    (docs / "faq\x1b[31m.txt").write_text(FOUR.replace("4", "6"), encoding="utf-8")
    return docs


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["corpus", "check", *map(str, arguments)], catch_exceptions=False)


def test_for_people_it_says_what_was_found_without_letting_names_colour_it(folder: Path) -> None:
    done = run(folder)
    assert done.exit_code == 1
    assert "1 superseded, 1 contradictions" in done.stdout
    assert "6 weeks" in done.stdout
    assert "\x1b" not in done.stdout
    assert "assay: measuring 3 of 3" in done.stderr


def test_json_is_the_report_and_the_page_is_written_beside_it(folder: Path, tmp_path: Path) -> None:
    done = run(folder, "--format", "json", "--out", tmp_path / "out" / "report.html")
    report = CorpusReport.model_validate_json(done.stdout)
    assert report.form == "1.0"
    assert report.counts["superseded"] == 1
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Contradictions" in page
    assert "Content-Security-Policy" in page


def test_findings_can_be_left_out_of_the_status_and_a_clean_folder_ends_with_0(folder: Path, tmp_path: Path) -> None:
    assert run(folder, "--ignore", "superseded", "--ignore", "conflict").exit_code == 0
    assert run(folder, "--exclude", "leave_v1*", "--exclude", "faq*").exit_code == 0
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty").exit_code == 0


def test_what_cannot_be_used_is_misuse_with_one_message(folder: Path, tmp_path: Path) -> None:
    for given, said in (
        ([tmp_path / "none"], "no such folder"),
        ([folder / "leave_v1.md"], "got a file"),
        (["ftp://example.org"], "expected a folder or an address"),
        (["http://127.0.0.1:9/docs/"], "not of the public internet"),
        ([folder, "--database", tmp_path / "none.db"], "no such record"),
        ([folder, "--as-of", "yesterday"], "yesterday"),
    ):
        done = run(*given)
        assert done.exit_code == 2
        assert said in done.stderr
    assert not (tmp_path / "none.db").exists()


def test_the_state_lies_in_the_cache_under_the_name_of_the_folder(folder: Path, tmp_path: Path) -> None:
    run(folder)
    state = default_state(folder.resolve())
    assert state.is_relative_to(tmp_path / "cache")
    assert state.name.startswith("docs-")
    assert state.exists()
    again = json.loads(run(folder, "--format", "json").stdout)
    assert again["files"]["unchanged"] == 3


def test_lists_are_as_long_as_asked_for_and_say_that_they_are_cut(folder: Path) -> None:
    for number in range(5):
        (folder / f"old{number}.md").write_text(f"---\nexpires: 2020-01-01\n---\n# Note {number}\n\nText {number}.")
    report = json.loads(run(folder, "--format", "json", "--most", "2").stdout)
    assert report["counts"]["expired"] == 5
    assert len(report["out_of_force"]) == 2
    assert "out_of_force" in report["cut"]


def test_the_kinds_of_the_command_are_those_of_the_report() -> None:
    assert tuple(one.value for one in Kind) == FINDINGS
