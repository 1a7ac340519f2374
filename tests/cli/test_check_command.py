"""`assay check` through typer's runner: exit statuses, formats, every kind of input, and what must be refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.standin import Run, StandIn

from assay.schema import HallucinationReport


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    path = tmp_path / "answer.md"
    path.write_text("The sky is blue [sky].\nIt is FALSE that it rains [rain-9].\n", encoding="utf-8")
    return path


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "sky.md").write_text("The sky is blue today.", encoding="utf-8")
    return folder


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Exit statuses


def test_a_clean_answer_ends_with_0(run: Run, tmp_path: Path) -> None:
    assert run("check", write(tmp_path, "a.txt", "All is well.")).exit_code == 0


def test_a_finding_ends_with_1(run: Run, answer: Path) -> None:
    assert run("check", answer).exit_code == 1


def test_a_revision_is_a_finding_unless_only_blocks_count(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "MAYBE so.")
    assert run("check", path).exit_code == 1
    assert run("check", path, "--fail-on", "block").exit_code == 0


def test_a_block_is_a_finding_either_way(run: Run, answer: Path) -> None:
    assert run("check", answer, "--fail-on", "block").exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [[], ["check"], ["check", "a", "--no"], ["check", "a", "--format", "pdf"], ["check", "a", "--stakes", "vast"]],
)
def test_misuse_ends_with_2(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_the_version_is_printed(run: Run) -> None:
    assert run("version").stdout.startswith("assay ")
    assert run("--version").stdout == run("version").stdout


# Formats


def test_the_text_report_marks_claims_without_colour(run: Run, answer: Path, evidence: Path) -> None:
    text = run("check", answer, "-e", evidence, "-q", "Why?").stdout
    assert text.startswith("BLOCK")
    assert "{✓1 The sky is blue [sky].}" in text
    assert "{✗2 It is FALSE that it rains [rain-9].}" in text
    assert "[sky] contradicts 0.90: “The sky is blue today.”" in text
    assert "✗ [rain-9]  fabricated" in text
    assert "question  Why?" in text
    assert "I cannot confirm this from the sources that I have." in text
    assert "\x1b" not in text


def test_json_is_the_wire_form(run: Run, answer: Path, guard: StandIn) -> None:
    report = HallucinationReport.model_validate_json(run("check", answer, "-f", "json").stdout)
    assert report == guard.check(answer.read_text(encoding="utf-8"))


def test_json_of_a_folder_is_one_report_a_line(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "Fine.")
    write(tmp_path, "b.md", "FALSE.")
    result = run("check", tmp_path, "-f", "json")
    assert [json.loads(line)["action"] for line in result.stdout.splitlines()] == ["emit", "block"]
    assert result.exit_code == 1


def test_html_goes_to_a_file_and_asks_for_nothing(run: Run, answer: Path, evidence: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "report.html"
    result = run("check", answer, "-e", evidence, "-f", "html", "-o", out)
    page = out.read_text(encoding="utf-8")
    assert result.stdout == ""
    assert "default-src &#x27;none&#x27;" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page


def test_html_of_a_folder_has_an_index_that_leads_to_every_report(run: Run, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    (answers / "x").mkdir(parents=True)
    write(answers, "a b.txt", "Fine.")
    write(answers, "a-b.txt", "FALSE.")
    write(answers / "x", "INDEX.txt", "Fine.")
    out = tmp_path / "out"
    assert run("check", answers, "-f", "html", "-o", out).exit_code == 1
    index = (out / "index.html").read_text(encoding="utf-8")
    reports = {path.name for path in out.iterdir()} - {"index.html"}
    assert len(reports) == 3
    assert all(f'href="{name}"' in index for name in reports)


def test_html_of_a_folder_needs_a_folder_to_write_to(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "Fine.")
    result = run("check", tmp_path, "-f", "html")
    assert result.exit_code == 2
    assert "--out" in result.stderr


def test_an_out_file_holds_what_would_be_printed(run: Run, answer: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.txt"
    printed = run("check", answer).stdout
    assert run("check", answer, "-o", out).stdout == ""
    assert out.read_text(encoding="utf-8") == printed


# What is given


def test_standard_input_is_read_for_a_dash(run: Run, guard: StandIn) -> None:
    run("check", "-", stdin="Größe.".encode())
    assert guard.calls[0][0] == "Größe."


def test_a_request_object_brings_evidence_and_settings(run: Run, guard: StandIn) -> None:
    request = {"answer": "Fine.", "evidence": ["one", {"id": "x", "text": "two"}], "question": "Q?", "stakes": "high"}
    run("check", "-", stdin=json.dumps(request).encode())
    text, evidence, options = guard.calls[0]
    assert text == "Fine."
    assert [(piece.id, piece.text) for piece in evidence] == [("e1", "one"), ("x", "two")]
    assert options == {"question": "Q?", "stakes": "high"}


def test_a_list_of_requests_makes_as_many_reports(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "r.json", json.dumps([{"answer": "Fine."}, {"answer": "FALSE."}]))
    assert len(run("check", path, "-f", "json").stdout.splitlines()) == 2


def test_json_lines_of_requests_are_read(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "r.jsonl", '{"answer": "Fine."}\n\n{"answer": "Good."}\n')
    assert len(run("check", path, "-f", "json").stdout.splitlines()) == 2


def test_rows_of_a_labelled_set_are_requests_where_the_caller_says_so(run: Run, tmp_path: Path) -> None:
    row = {"id": "a", "answer": "Fine.", "evidence": ["P"], "label": "supported", "spans": [], "meta": {"k": 1}}
    path = write(tmp_path, "rows.jsonl", json.dumps(row) + "\n" + json.dumps({**row, "answer": "FALSE."}) + "\n")
    assert len(run("check", path, "--as", "request", "-f", "json").stdout.splitlines()) == 2
    assert run("check", path).exit_code == 2


def test_other_json_is_an_answer_itself(run: Run, guard: StandIn) -> None:
    text = '{"total": 5, "answer": 7}'
    run("check", "-", stdin=text.encode())
    assert guard.calls[0][0] == text


def test_with_a_schema_json_is_always_the_answer(run: Run, tmp_path: Path, guard: StandIn) -> None:
    schema = write(tmp_path, "schema.json", '{"type": "object"}')
    text = '{"answer": "yes"}'
    run("check", "-", "--schema", schema, stdin=text.encode())
    assert guard.calls[0][0] == text
    assert guard.calls[0][2]["schema"] == {"type": "object"}


@pytest.mark.parametrize("field", ['"evidence": ["It is so."]', '"claim_free": true', '"stakes": "low"'])
def test_an_output_cannot_vouch_for_itself(run: Run, evidence: Path, field: str) -> None:
    result = run("check", "-", "-e", evidence, stdin=f'{{"answer": "FALSE.", {field}}}'.encode())
    assert result.exit_code == 2
    assert "--as text" in result.stderr


def test_a_request_may_bring_its_own_where_the_caller_says_so(run: Run, evidence: Path, guard: StandIn) -> None:
    run("check", "-", "-e", evidence, "--as", "request", stdin=b'{"answer": "Fine.", "evidence": ["more"]}')
    assert [piece.id for piece in guard.calls[0][1]] == ["sky", "e1"]


def test_as_text_takes_everything_as_text(run: Run, guard: StandIn) -> None:
    run("check", "-", "--as", "text", stdin=b'{"answer": "Fine."}')
    assert guard.calls[0][0] == '{"answer": "Fine."}'


def test_a_question_may_stand_in_a_file(run: Run, answer: Path, tmp_path: Path, guard: StandIn) -> None:
    run("check", answer, "-q", f"@{write(tmp_path, 'q.txt', 'How long?' + chr(10))}")
    assert guard.calls[0][2]["question"] == "How long?"


def test_evidence_files_are_named_by_their_stem(run: Run, answer: Path, tmp_path: Path, guard: StandIn) -> None:
    one = write(tmp_path, "one.txt", "First.")
    many = write(tmp_path, "many.json", '["Second.", {"id": "own", "text": "Third.", "title": "T"}]')
    lines = write(tmp_path, "lines.jsonl", '"Fourth."\n{"text": "Fifth."}\n')
    run("check", answer, "-e", one, "-e", many, "-e", lines)
    assert [piece.id for piece in guard.calls[0][1]] == ["one", "many-1", "own", "lines-1", "lines-2"]


def test_files_of_one_name_in_a_folder_are_told_apart_by_their_path(
    run: Run, answer: Path, tmp_path: Path, guard: StandIn
) -> None:
    for language in ("de", "en"):
        (tmp_path / "kb" / language).mkdir(parents=True)
        write(tmp_path / "kb" / language, "index.md", language)
    run("check", answer, "-e", tmp_path / "kb")
    assert [piece.id for piece in guard.calls[0][1]] == ["de/index", "en/index"]


def test_what_is_not_text_is_listed(run: Run, answer: Path, evidence: Path) -> None:
    write(evidence, "scan.pdf", b"%PDF-1.7\0")
    result = run("check", answer, "-e", evidence)
    assert "skipped, not a text file" in result.stderr
    assert "scan.pdf" in result.stderr


# What is refused


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"abc\xffdef", "byte 0xff at offset 3"),
        ("a.txt", b"\x89PNG\r\n\0\0", "binary data"),
        ("a.txt", b"ab\0c", "zero byte at offset 2"),
        ("a.txt", b"caf\xc3", "offset 3"),
        ("a.txt", b"", "empty"),
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b"[]", "an answer"),
        ("a.json", b'[{"answer": "x"}, {"reply": "y"}]', "only some"),
        ("a.json", b'{"answer": "x", "stakes": "vast"}', "stakes"),
        ("a.json", b'{"answer": "x", "question": 5}', "question"),
        ("a.json", b'{"answer": "x", "claim_free": "no"}', "claim_free"),
        ("a.json", b'{"answer": "x", "evidence": [5]}', "evidence 1"),
        ("a.json", b'{"answer": "x", "evidence": [{"text": 5}]}', "evidence 1: text"),
        ("a.json", b'{"answer": "x", "evidence": 5}', "evidence should be"),
        ("a.jsonl", b'{"answer": "x"}\n{"answer"\n', "line 2"),
        ("a.json", b"[" * 100_000, "not valid JSON"),
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_that_says_why(
    run: Run, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    arguments = ["--as", "request"] if content == b"[]" else []
    result = run("check", write(tmp_path, name, content), *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert name in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.txt", b"\xff", "offset 0"),
        ("e.json", b"{}", "text"),
        ("e.json", b"[]", "holds no evidence"),
        ("e.json", b"[1]", "evidence 1"),
        ("e.json", b'[{"id": "", "text": "x"}]', "evidence 1: id"),
        ("e.json", b'[{"text": "x", "weight": NaN}]', "NaN"),
        ("e.jsonl", b'"x"\n{\n', "line 2"),
    ],
)
def test_evidence_that_cannot_be_read_is_an_error(
    run: Run, answer: Path, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    result = run("check", answer, "-e", write(tmp_path, name, content))
    assert result.exit_code == 2
    assert message in result.stderr


def test_missing_and_empty_places_are_errors(run: Run, answer: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments in (["nowhere"], [tmp_path / "empty"], [answer, "-e", "nowhere"], [answer, "-e", tmp_path / "empty"]):
        result = run("check", *arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("assay: error: ")


def test_two_files_of_one_id_are_an_error_that_names_both(
    run: Run, answer: Path, evidence: Path, tmp_path: Path
) -> None:
    other = write(tmp_path, "sky.txt", "Grey.")
    result = run("check", answer, "-e", evidence, "-e", other)
    assert result.exit_code == 2
    assert "'sky'" in result.stderr
    assert str(other) in result.stderr


def test_a_broken_file_in_a_folder_is_never_passed_over(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "good.txt", "Fine.")
    write(tmp_path, "bad.txt", b"\xfe\xfe")
    assert run("check", tmp_path).exit_code == 2


def test_a_message_cannot_carry_an_escape_sequence(run: Run) -> None:
    result = run("check", "\x1b[2Jnowhere")
    assert "\x1b" not in result.stderr
    assert "\\x1b[2Jnowhere" in result.stderr


# Transcripts of agents


@pytest.fixture
def real(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:  # behind `run`, whose guard is another
    """The guard itself, with a scorer for tests: the stand-in reads no runs."""
    from assay.cli import check
    from assay.guard import Guard
    from assay.testing import FakeScorer

    monkeypatch.setattr(check, "open_guard", lambda *_, **__: Guard("general", scorer=FakeScorer()))


def transcript(said: str, order: str = "W-17") -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": json.dumps({"order": order})}}
    schema = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
    messages = [
        {"role": "user", "content": "Where is order W-17?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Order W-17 is in Hamburg. It arrives on 3 May 2026."},
        {"role": "assistant", "content": said},
    ]
    tools = [{"type": "function", "function": {"name": "find", "parameters": schema}}]
    return {"model": "model-1", "messages": messages, "tools": tools}


@pytest.mark.usefixtures("real")
def test_a_transcript_is_checked_as_a_run_with_its_calls(run: Run, tmp_path: Path) -> None:
    honest = write(tmp_path, "a.json", json.dumps(transcript("Order W-17 is in Hamburg.")))
    told = run("check", honest, "--as", "run", "--format", "json")
    assert told.exit_code == 0, told.output
    report = json.loads(told.stdout)
    assert report["claims"][0]["evidence_spans"][0]["evidence_id"].endswith("/find")
    assert "no evidence" not in told.output
    wrong = write(tmp_path, "b.json", json.dumps(transcript("It arrives on 9 May 2026.")))
    assert run("check", wrong, "--as", "run").exit_code == 1
    invented = write(tmp_path, "c.json", json.dumps(transcript("Order W-17 is in Hamburg.", order="X-99")))
    assert run("check", invented, "--as", "run").exit_code == 1


@pytest.mark.usefixtures("real")
def test_each_trace_of_a_file_of_spans_has_a_report(run: Run, tmp_path: Path) -> None:
    from tests.evaluation.test_rows_from_elsewhere import LEAVE, told_in_otlp

    lines = [json.dumps(told_in_otlp(trace * 32, LEAVE)) for trace in "ab"]
    found = run("check", write(tmp_path, "t.jsonl", "\n".join(lines)), "--as", "run", "--format", "json")
    reports = [json.loads(line) for line in found.stdout.splitlines()]
    assert [one["run_id"] for one in reports] == ["a" * 32, "b" * 32]


@pytest.mark.usefixtures("real")
def test_what_is_no_transcript_is_refused_with_the_place(run: Run, tmp_path: Path) -> None:
    found = run("check", write(tmp_path, "a.json", '{"some": "thing"}'), "--as", "run")
    assert found.exit_code == 2
    assert "a.json" in found.output
    path = write(tmp_path, "b.json", json.dumps(transcript("All is well.")))
    assert run("check", path, "--as", "run", "--repair").exit_code == 2
