"""One command from labelled data to the rows that are trained on."""

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.data import Counts, counts, full_report, lengths, main, training_rows
from train.provenance import commit_of, file_digest, versions_of
from train.rows import Row, load_training_sets, part_of
from train.written import digest_of, read_made, write_made

from train import data as module

LABELS = ("supported", "contradicted", "unsupported")


def raw(number: int, **fields: Any) -> dict[str, Any]:
    evidence = f"In {1900 + number % 100} house number {number} of the street was sold to Anna for {number + 3} pounds."
    return {
        "set": "fm2",
        "evidence": [evidence],
        "claim": f"House number {number} of the street was sold.",
        "label": LABELS[number % 3],
        **fields,
    }


def folder(path: Path, train: list[dict[str, Any]], dev: list[dict[str, Any]]) -> Path:
    for name, rows in (("train", train), ("dev", dev)):
        (path / name).mkdir(parents=True)
        with gzip.open(path / name / "rows.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """120 pairs, of which ten stand there twice and five have evidence of the development set."""
    rows = [raw(n) for n in range(120)]
    return folder(tmp_path / "data", [*rows, *rows[5:15]], rows[:5])


def test_every_row_that_was_read_is_accounted_for(data: Path) -> None:
    kept = load_training_sets(data)
    found = counts(data, kept)
    assert (found.read, found.duplicates, found.in_dev) == (130, 10, 5)
    assert sum(found.parts.values()) == len(kept) == 115
    assert found.parts["train"] == sum(part_of(row) == "train" for row in kept)


def test_only_documents_of_the_training_side_are_mixed_and_the_seed_decides_the_order(data: Path) -> None:
    kept = load_training_sets(data)
    mixed = training_rows(kept, made=[], seed=3)
    assert sorted(row.claim for row in mixed if row.source == "fm2") == sorted(
        row.claim for row in kept if part_of(row) == "train"
    )
    assert training_rows(kept, made=[], seed=3) == mixed
    assert digest_of(training_rows(kept, made=[], seed=4)) != digest_of(mixed)


def test_rows_made_elsewhere_take_the_place_of_edits_made_here(data: Path) -> None:
    kept = load_training_sets(data)
    made = Row("edit:number", ("A house cost 5 pounds.",), "A house cost 6 pounds.", "contradicted", spans=((13, 14),))
    given_, here = (training_rows(kept, rows, edits=12, of_strangers=0) for rows in ([made], None))
    assert [row for row in given_ if row.source.startswith("edit:")] == [made]
    assert sum(row.source.startswith("edit:") for row in here) > 5
    assert {row.evidence for row in here} <= {row.evidence for row in kept if part_of(row) == "train"}


def test_the_report_has_labels_and_lengths_by_set() -> None:
    rows = [Row("snli", ("one two three",), "word " * (n + 1), "supported") for n in range(10)]
    rows.append(Row("edit:name", ("one two", "three four"), "Anna came", "contradicted", spans=((0, 4),)))
    lines = {line.split()[0]: line.split()[1:] for line in lengths(rows).splitlines()}
    assert lines["snli"] == ["10", "5", "9", "10", "3", "3", "3", "0.000"]
    assert lines["edit:name"] == ["1", "2", "2", "2", "4", "4", "4", "1.000"]
    assert lines["total"][0] == "11"
    whole = full_report(Counts(20, 3, 4, {"train": 11, "test": 2}), rows)
    assert "20 rows read" in whole
    assert "4 dropped, their evidence" in whole
    assert "3 dropped as duplicates" in whole
    assert "2 rows of test documents" in whole
    assert digest_of(rows) in whole


def test_no_rows_are_reported_as_none() -> None:
    assert lengths([]).splitlines()[-1].split() == ["total", "0", "0.000"]


def test_the_command_writes_what_it_reports_and_the_same_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = []
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        out = tmp_path / name
        monkeypatch.setattr(sys, "argv", ["data", "--data", str(data), "--rows-of-edits", "8", "--out", str(out)])
        main()
        written.append(out.read_bytes())
    assert written[0] == written[1]
    rows = read_made(out)
    assert digest_of(rows) in capsys.readouterr().out
    record = json.loads((tmp_path / "b.jsonl.gz.json").read_text())
    assert record["digest"] == digest_of(rows)
    assert record["counts"]["read"] == 130
    assert record["settings"]["rows_of_edits"] == 8
    assert str(tmp_path) not in json.dumps(record)


@pytest.mark.parametrize(
    ("said", "message"),
    [(["--lexical", "5"], "--wordnet"), (["--edits", "made.jsonl.gz", "--governed", "5"], "--edits and governed")],
)
def test_what_cannot_be_made_is_refused_before_anything_is_read(
    said: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["data", "--data", "nowhere", *said])
    monkeypatch.setattr(module, "load_training_sets", lambda _: pytest.fail("was read"))
    with pytest.raises(SystemExit):
        main()
    assert message in capsys.readouterr().err


@given(
    st.lists(
        st.builds(
            Row,
            st.just("snli"),
            st.tuples(st.text(st.characters(exclude_categories=["Cs"]))),
            st.text(st.characters(exclude_categories=["Cs"])),
            st.sampled_from(LABELS),
            st.none() | st.just("Who?\u2028"),
            st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=2).map(tuple),
        ),
        max_size=4,
    )
)
def test_rows_are_read_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    path = tmp_path_factory.mktemp("rows") / "made.jsonl.gz"
    write_made(path, rows)
    assert read_made(path) == rows
    assert digest_of(rows) == hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()


def test_the_digest_knows_the_order_and_every_field() -> None:
    one, other = Row("snli", ("a",), "b", "supported"), Row("snli", ("a",), "c", "supported")
    marked = Row("snli", ("a",), "b", "supported", spans=((0, 1),))
    assert len({digest_of(rows) for rows in ([one, other], [other, one], [one], [marked])}) == 4


def test_the_commit_says_whether_the_code_was_changed_and_is_none_where_there_is_none(tmp_path: Path) -> None:
    assert commit_of(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    (tmp_path / "f").write_text("1")
    for command in (["init", "-q"], ["add", "f"], ["commit", "-qm", "One"]):
        subprocess.run([*git, *command], check=True)
    clean = commit_of(tmp_path)
    assert clean is not None
    assert len(clean) == 40
    (tmp_path / "f").write_text("2")
    assert commit_of(tmp_path) == f"{clean}-dirty"


def test_versions_are_of_what_is_installed(tmp_path: Path) -> None:
    assert set(versions_of(["numpy", "no-such-distribution"])) == {"python", "numpy"}
    (tmp_path / "f").write_bytes(b"abc")
    assert file_digest(tmp_path / "f") == hashlib.sha256(b"abc").hexdigest()
