"""`assay eval` through typer's runner, on the stand-in guard."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.cli.standin import Run, StandIn
from typer.testing import Result


def rows(folder: Path, count: int = 40, name: str = "rows.jsonl", **fields: Any) -> Path:
    path = folder / name
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            wrong = number % 2 == 0
            caught = number % 8 != 0
            row = {
                "set": "one" if number < count / 2 else "two",
                "id": str(number),
                "evidence": [f"Document {number}."],
                "claim": f"It is {'FALSE' if wrong and caught else 'so'} {number}.",
                "label": "contradicted" if wrong else "supported",
                "meta": {"topic": "<b>" if number % 3 else "b"},
            }
            stream.write(json.dumps({**row, **fields}) + "\n")
    return path


class Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "input"}:
            self.open.append(tag)
        assert not [key for key, _ in attrs if key.startswith("on") or key in {"style", "src"}]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_text_shows_figures_sets_and_slices(run: Run, tmp_path: Path) -> None:
    result = run("eval", rows(tmp_path), "--slice", "topic")
    assert result.exit_code == 0
    assert "40 labelled rows, 20 wrong, 2 sets" in result.stdout
    assert "balanced accuracy                      0.875" in result.stdout
    assert "By meta topic" in result.stdout
    assert "one " in result.stdout


def test_json_is_the_summary(run: Run, tmp_path: Path) -> None:
    summary = json.loads(run("eval", rows(tmp_path), "-f", "json").stdout)
    assert summary["overall"]["figures"]["fnr"]["value"] == 0.25
    assert summary["identity"]["verifier"] == "stand-in"
    assert [found["name"] for found in summary["sets"]] == ["one", "two"]


def test_a_folder_gets_results_summary_and_page(run: Run, tmp_path: Path, guard: StandIn) -> None:
    out = tmp_path / "out"
    assert run("eval", rows(tmp_path), "-o", out, "--slice", "topic", "--baselines").exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "results.jsonl", "rows.jsonl", "summary.json"]
    page = (out / "report.html").read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert "&lt;b&gt;" in page
    assert page.count("<polyline") == 8
    assert guard.judged == 40


def test_the_page_is_written_where_it_is_wanted_without_a_folder(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "new" / "eval.html"
    result = run("eval", rows(tmp_path), "--report", report)
    assert result.exit_code == 0
    assert f"written: {report}" in result.stdout.replace("\n", " ")
    page = report.read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert page == run("eval", rows(tmp_path), "-f", "html").stdout
    assert [path.name for path in report.parent.iterdir()] == ["eval.html"]


def test_a_page_that_cannot_be_written_ends_with_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("eval", rows(tmp_path), "--report", tmp_path / "file" / "eval.html")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_slices_say_how_well_they_are_calibrated_in_text_and_json(run: Run, tmp_path: Path) -> None:
    path = rows(tmp_path, 80)
    slices = json.loads(run("eval", path, "-f", "json").stdout)["slices"]
    for way in ("domain", "claim length", "evidence length", "number", "negation"):
        for found in slices[way]:
            error = found["figures"]["ece"]
            assert 0 <= error["low"] <= error["high"] <= 1
            assert error["value"] is not None
    text = run("eval", path, "--slice", "topic").stdout.splitlines()
    heads = [line for line in text if line.startswith("By ")]
    assert {"By set", "By meta topic", "By claim type"} <= {" ".join(line.split(" rows")[0].split()) for line in heads}
    assert all("ECE" in line for line in heads)


def test_every_system_has_f1_and_balanced_accuracy_with_intervals_in_each_set(run: Run, tmp_path: Path) -> None:
    arguments = ("eval", rows(tmp_path), "--baselines")
    compared = json.loads(run(*arguments, "-f", "json").stdout)["systems_by_set"]
    for figure in ("balanced_accuracy", "f1"):
        for name in ("one", "two"):
            assert {"assay", "always supported", "token overlap"} <= set(compared[figure][name])
            assert all(found["low"] is not None for found in compared[figure][name].values())
    lines = run(*arguments).stdout.splitlines()
    for title in ("balanced accuracy", "F1 of wrong"):
        at = next(n for n, line in enumerate(lines) if line.startswith(title) and "always supported" in line)
        assert [line.split()[0] for line in lines[at + 1 : at + 3]] == ["one", "two"]
        assert lines[at + 1].count("±") == len(compared["f1"]["one"])


def test_the_worst_errors_are_written_to_be_read(run: Run, tmp_path: Path) -> None:
    result = run("eval", rows(tmp_path), "--out", tmp_path / "out", "--worst", "3")
    assert result.exit_code == 0
    errors = [json.loads(line) for line in (tmp_path / "out" / "worst.jsonl").read_text().splitlines()]
    assert [error["kind"] for error in errors] == ["missed"] * 3
    assert errors[0]["evidence"] == ["Document 0."]
    assert "worst.jsonl" in result.stdout


def test_the_worst_errors_need_a_folder(run: Run, tmp_path: Path) -> None:
    result = run("eval", rows(tmp_path), "--worst", "3")
    assert result.exit_code == 2
    assert "--out" in result.stderr


def test_a_second_run_judges_nothing_again_and_says_the_same(run: Run, tmp_path: Path, guard: StandIn) -> None:
    arguments = ("eval", rows(tmp_path), "-o", tmp_path / "out", "-f", "json")
    first = run(*arguments).stdout
    assert run(*arguments).stdout == first
    assert guard.judged == 40


def test_results_of_another_verifier_are_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    run("eval", rows(tmp_path), "-o", out)
    other = StandIn().verifier.model_copy(update={"digest": "c" * 64})
    monkeypatch.setattr(StandIn, "verifier", other)
    result = run("eval", rows(tmp_path), "-o", out)
    assert result.exit_code == 2
    assert "another verifier" in result.stderr


def test_results_judged_with_other_knowledge_are_refused(
    run: Run, tmp_path: Path, guard: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.yaml"
    monkeypatch.setenv("ASSAY_CONFIG", str(config))

    def evaluated(authority: str) -> Result:
        source = f"{{name: handbook, kind: files, path: ., authority: {authority}}}"
        config.write_text(f"version: 1\npolicy: general\nknowledge: [{source}]\n", encoding="utf-8")
        return run("eval", rows(tmp_path), "-o", tmp_path / "out")

    assert [evaluated("organisation").exit_code for _ in range(2)] == [0, 0]
    assert guard.judged == 40
    refused = evaluated("web")
    assert refused.exit_code == 2
    assert "another verifier, policy, knowledge or version" in refused.stderr


def test_without_knowledge_the_identity_of_results_is_what_it_was(run: Run, tmp_path: Path) -> None:
    run("eval", rows(tmp_path), "-o", tmp_path / "out")
    header = json.loads((tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert set(header) == {
        "assay_results",
        "verifier",
        "verifier_digest",
        "policy",
        "policy_digest",
        "assay",
        "gates",
    }


def test_limit_takes_the_first_rows_of_each_file(run: Run, tmp_path: Path, guard: StandIn) -> None:
    run("eval", rows(tmp_path), rows(tmp_path, name="more.jsonl", set="three"), "--limit", "5")
    assert guard.judged == 10


def test_answers_are_split_and_judged(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [("One. FALSE two.", "not_supported"), ("One. Two.", "supported")] * 4
    path.write_text(
        "\n".join(
            json.dumps({"id": str(n), "evidence": ["x"], "answer": f"{text} {n}", "label": label})
            for n, (text, label) in enumerate(lines)
        )
    )
    figures = json.loads(run("eval", path, "-f", "json").stdout)["overall"]["figures"]
    assert figures["balanced_accuracy"]["value"] == 1.0


def test_baselines_stand_beside_the_guard(run: Run, tmp_path: Path) -> None:
    summary = json.loads(run("eval", rows(tmp_path), "--baselines", "-f", "json").stdout)
    names = [found["name"] for found in summary["systems"]]
    assert names == ["assay", "always supported", "token overlap", "exact tier alone", "network alone"]
    assert any("no --embedding-model" in note for note in summary["notes"])
    always = summary["systems"][1]["figures"]
    assert (always["balanced_accuracy"]["value"], always["fpr"]["value"], always["fnr"]["value"]) == (0.5, 0.0, 1.0)
    assert set(summary["systems_by_set"]["auroc"]["one"]) == set(names)
    assert summary["systems_by_set"]["balanced_accuracy"]["one"]["assay"]["low"] is not None


def test_thresholds_of_baselines_are_fitted_on_the_rows_that_are_named(run: Run, tmp_path: Path) -> None:
    fit = rows(tmp_path, name="fit.jsonl", set="fit")
    summary = json.loads(run("eval", rows(tmp_path), "--baselines", "--fit", fit, "-f", "json").stdout)
    assert any("fitted on 40 rows" in note for note in summary["notes"])
    assert [found["name"] for found in summary["systems"]][:2] == ["assay", "assay, fitted"]
    assert summary["overall"]["rows"] == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threshold", "1.5"], "--threshold"),
        (["--threshold", "nan"], "--threshold"),
        (["--limit", "0"], "--limit"),
        (["--baselines", "--embedding-model", "nowhere"], "no embedding model"),
        (["--fit", "nowhere.jsonl"], "no such file"),
    ],
)
def test_misuse_ends_with_2(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = run("eval", rows(tmp_path), *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_bad_row_ends_with_2_and_its_line(run: Run, tmp_path: Path, guard: StandIn) -> None:
    path = rows(tmp_path)
    path.write_text(path.read_text() + '{"id": "x"}\n')
    result = run("eval", path)
    assert result.exit_code == 2
    assert "line 41" in result.stderr
    assert guard.judged == 0


def test_rows_without_labels_cannot_be_measured(run: Run, tmp_path: Path) -> None:
    result = run("eval", rows(tmp_path, label=None))
    assert result.exit_code == 2
    assert "no row has a label" in result.stderr
