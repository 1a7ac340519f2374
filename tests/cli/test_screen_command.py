"""`assay screen`: passages in, what may be evidence out, as JSON and for people."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assay.cli import check as check_verb
from assay.cli.app import app
from assay.guard import Guard
from assay.testing import FakeScorer

ASKED = "How long is parental leave for partners?"
TWO, FOUR = "Partners get 2 weeks of parental leave.", "Partners get 4 weeks of parental leave."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check_verb, "open_guard", lambda policy, model: Guard(policy or "general", scorer=FakeScorer()))
    (tmp_path / "hr_policy_v2.8.md").write_text(TWO, encoding="utf-8")
    (tmp_path / "hr_policy_v3.1.md").write_text(FOUR, encoding="utf-8")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\r\n")
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["screen", *map(str, arguments)], catch_exceptions=False)


def test_it_gives_the_fixed_form_as_json(folder: Path) -> None:
    done = run(ASKED, "--evidence", folder, "--format", "json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["signal"] == "retrieve"
    assert told["kept"] == ["hr_policy_v3.1"]
    assert [(one["id"], one["reason"]) for one in told["dropped"]] == [("hr_policy_v2.8", "superseded")]
    assert told["conflicts"] == []
    assert told["note"] is None
    assert "logo.png" in done.stderr


def test_for_people_it_says_what_was_dropped_and_why(folder: Path) -> None:
    done = run(ASKED, "-e", folder)
    assert "RETRIEVE" in done.stdout
    assert "superseded" in done.stdout
    assert "inferred" in done.stdout


def test_a_conflict_is_shown_with_both_sentences_and_ends_with_status_1(folder: Path) -> None:
    (folder / "faq.txt").write_text("Partners get 6 weeks of parental leave.", encoding="utf-8")
    done = run(ASKED, "-e", folder)
    assert done.exit_code == 1
    assert "LOW CONFIDENCE" in done.stdout
    assert "6 weeks" in done.stdout
    pair = json.loads(run(ASKED, "-e", folder, "-f", "json").stdout)["conflicts"][0]
    assert {pair["first"], pair["second"]} == {"faq", "hr_policy_v3.1"}


def test_passages_of_a_retriever_come_from_json_and_json_lines(folder: Path, tmp_path: Path) -> None:
    rows = [
        {"page_content": TWO, "metadata": {"document_id": "hr", "version": 1, "score": 0.9}},
        {"content": FOUR, "meta": {"document_id": "hr", "doc_version": "2"}},
    ]
    (tmp_path / "found.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "found.json").write_text(json.dumps({"documents": [*rows, "Nothing of it."]}), encoding="utf-8")
    for name in ("found.jsonl", "found.json"):
        told = json.loads(run(ASKED, "-e", tmp_path / name, "-f", "json").stdout)
        assert told["kept"] == ["hr#2"]
        assert told["dropped"][0]["reason"] == "superseded"


def test_a_text_file_says_its_version_in_its_front_matter(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "more"
    other.mkdir()
    (other / "a.md").write_text(f"---\ndocument_id: hr\nversion: 1\n---\n{TWO}", encoding="utf-8")
    (other / "b.md").write_text(f"---\ndocument_id: hr\nversion: 2\n---\n{FOUR}", encoding="utf-8")
    told = json.loads(run(ASKED, "-e", other, "-f", "json").stdout)
    assert told["kept"] == ["b"]


def test_the_past_and_the_day_can_be_named(folder: Path) -> None:
    told = json.loads(run(ASKED, "-e", folder, "--historical", "--as-of", "2026-01-01", "-f", "json").stdout)
    assert sorted(told["kept"]) == ["hr_policy_v2.8", "hr_policy_v3.1"]
    assert told["as_of"] == "2026-01-01"


def test_nothing_relevant_is_a_refusal_with_status_1(folder: Path, tmp_path: Path) -> None:
    lone = tmp_path / "kitchen.txt"
    lone.write_text("The kitchen on floor two is cleaned every Friday.", encoding="utf-8")
    done = run(ASKED, "-e", lone, "-f", "json", "-o", tmp_path / "out.json")
    assert done.exit_code == 1
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["signal"] == "refuse"


@pytest.mark.parametrize(
    "arguments", [("", "-e", "."), (ASKED, "-e", "missing.txt"), (ASKED, "-e", ".", "--as-of", "soon")]
)
def test_what_cannot_be_used_ends_with_status_2(
    folder: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(*arguments).exit_code == 2
