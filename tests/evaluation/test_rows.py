"""Reading rows: every format gives the same rows, and every kind of bad line is refused with file and line."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.evaluation.rows.reading import read_rows

GOOD: dict[str, Any] = {
    "set": "leave",
    "id": "1",
    "evidence": ["Two weeks.", {"id": "hr", "text": "Paid."}],
    "claim": 'It is two weeks, "paid"\nin full.',
    "question": "How long?",
    "label": "contradicted",
    "spans": [[6, 9]],
    "meta": {"source": "hr"},
}


def write(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def as_csv(record: dict[str, Any]) -> str:
    import io

    stream = io.StringIO()
    writer = csv.DictWriter(stream, record.keys())
    writer.writeheader()
    writer.writerow({k: v if isinstance(v, str) else json.dumps(v) for k, v in record.items()})
    return stream.getvalue()


def test_every_format_gives_the_same_row(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    line = json.dumps(GOOD)
    pq.write_table(
        pa.Table.from_pylist([{**GOOD, "evidence": [{"id": "e1", "text": "Two weeks."}, GOOD["evidence"][1]]}]),
        tmp_path / "rows.parquet",
    )
    paths = [
        write(tmp_path, "rows.jsonl", line + "\n\n"),
        write(tmp_path, "rows.jsonl.gz", line),
        write(tmp_path, "rows.ndjson", "\N{ZERO WIDTH NO-BREAK SPACE}" + line),
        write(tmp_path, "rows.json", f"[{line}]"),
        write(tmp_path, "rows.csv", as_csv(GOOD)),
        write(tmp_path, "rows.csv.gz", as_csv(GOOD)),
        tmp_path / "rows.parquet",
    ]
    rows = [list(read_rows(path)) for path in paths]
    assert all(found == rows[0] for found in rows)
    row = rows[0][0]
    assert (row.set, row.id, row.whole, row.wrong, row.spans) == ("leave", "1", True, True, ((6, 9),))
    assert [(piece.id, piece.text) for piece in row.evidence] == [("e1", "Two weeks."), ("hr", "Paid.")]


def test_a_plain_cell_of_evidence_is_one_passage(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.csv", "id,claim,evidence,label\n1,It rains.,It rained all day.,supported\n")
    (row,) = read_rows(path)
    assert [piece.text for piece in row.evidence] == ["It rained all day."]
    assert row.set == "rows"
    assert row.spans is None


def test_a_row_may_have_an_answer_and_no_label(tmp_path: Path) -> None:
    (row,) = read_rows(write(tmp_path, "a.jsonl", '{"id": 7, "evidence": [], "answer": "Yes."}'))
    assert (row.id, row.whole, row.label, row.wrong) == ("7", False, None, False)


def test_split_and_response_are_kept_as_meta(tmp_path: Path) -> None:
    line = '{"id": "1", "evidence": ["x"], "claim": "y", "split": "dev", "response_id": "r1", "meta": {"k": 1}}'
    (row,) = read_rows(write(tmp_path, "a.jsonl", line))
    assert row.meta == {"split": "dev", "response_id": "r1", "k": 1}


def changed(**fields: Any) -> str:
    return json.dumps({key: value for key, value in {**GOOD, **fields}.items() if value is not ...})


BAD = [
    ("{", "not valid JSON"),
    ("[1]", "expected a JSON object, got a list"),
    ('"text"', "expected a JSON object, got a string"),
    ('{"id": NaN}', "NaN"),
    ("[" * 100_000, "not valid JSON"),
    (changed(claim=...), "exactly one of claim and answer, got neither"),
    (changed(answer="x"), "got claim and answer"),
    (changed(claim="  "), "got empty text"),
    (changed(claim=5), "claim should be text, got a number"),
    (changed(evidence=...), "evidence should be a list"),
    (changed(evidence="text"), "evidence should be a list of texts or objects, got a string"),
    (changed(evidence=[5]), "evidence 1"),
    (changed(evidence=["x", {"id": "e"}]), "evidence 2: text"),
    (changed(evidence=[{"id": "e", "text": "x", "wieght": 1}]), "evidence 1: wieght"),
    (changed(label="truly"), "label is 'truly'; expected one of supported"),
    (changed(label=2), "label is 2"),
    (changed(lable="supported"), "unknown field 'lable'"),
    (changed(id=...), "id should be text"),
    (changed(id=""), "id should be text"),
    (changed(id=[1]), "id should be text"),
    (changed(set=3), "set should be text"),
    (changed(question=["q"]), "question should be text"),
    (changed(spans={"a": 1}), "spans should be a list"),
    (changed(spans=[[1]]), "a span should be [start, end]"),
    (changed(spans=[[1, 2.5]]), "a span should be [start, end]"),
    (changed(spans=[[True, 3]]), "a span should be [start, end]"),
    (changed(spans=[[3, 3]]), "does not lie in the text"),
    (changed(spans=[[0, 999]]), "does not lie in the text"),
    (changed(spans=[[-1, 2]]), "does not lie in the text"),
    (changed(meta=[1]), "meta should be an object"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, "rows.jsonl", json.dumps(GOOD) + "\n" + line + "\n")
    with pytest.raises(InputError) as caught:
        list(read_rows(path))
    assert f"{path}, line 2" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.jsonl", b'{"id": "1"\xff}', "line 1: not UTF-8 text, byte 10"),
        ("rows.jsonl", b"", "holds no rows"),
        ("rows.jsonl", b"\n \n", "holds no rows"),
        ("rows.json", b'{"id": "1"}', "expected a JSON list of rows, got an object"),
        ("rows.json", b"[1]", "row 1: expected a JSON object"),
        ("rows.txt", b"x", "unknown file ending"),
        ("rows.csv", b"id,claim,evidence\n1,a\n", "line 2: has 2 columns, the header names 3"),
        ("rows.csv", b'id,claim,evidence\n1,a,"b\n', "not valid CSV"),
        ("rows.csv", b"id,claim,evidence,spans\n1,a,b,[\n", "line 2, column spans: not valid JSON"),
        ("rows.csv", b"id,claim,evidence,label\n1,a,b,perhaps\n", "line 2: label is 'perhaps'"),
        ("rows.parquet", b"PAR1 no", "not a readable Parquet file"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        list(read_rows(write(tmp_path, name, content)))
    assert message in str(caught.value)
    assert name in str(caught.value)


def test_a_truncated_gzip_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(GOOD) + "\n").encode() * 50)[:-12])
    with pytest.raises(InputError, match="cannot be read"):
        list(read_rows(path))


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(json.dumps(GOOD).encode() * 1000))
    packed[40:60] = b"\xff" * 20
    (tmp_path / "rows.jsonl.gz").write_bytes(bytes(packed))
    with pytest.raises(InputError, match=r"rows\.jsonl\.gz: cannot be read"):
        list(read_rows(tmp_path / "rows.jsonl.gz"))


def test_the_ending_of_a_gzip_file_may_be_in_upper_case(tmp_path: Path) -> None:
    (tmp_path / "ROWS.JSONL.GZ").write_bytes(gzip.compress(json.dumps(GOOD).encode()))
    assert [row.id for row in read_rows(tmp_path / "ROWS.JSONL.GZ")] == ["1"]


def test_a_csv_header_that_names_a_column_twice_is_refused_and_empty_names_are_not(tmp_path: Path) -> None:
    twice = write(tmp_path, "twice.csv", "id,claim,evidence,evidence\n1,It is paid.,Paid.,Lunch is free.\n")
    with pytest.raises(InputError, match="names the column 'evidence' twice"):
        list(read_rows(twice))
    padded = write(tmp_path, "padded.csv", "id,claim,evidence,,\n1,It is paid.,Paid.,,\n")
    assert [row.evidence[0].text for row in read_rows(padded)] == ["Paid."]


def test_a_blank_line_of_csv_is_no_row(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.csv", "\nid,claim,evidence\n\n1,It rains.,It rained.\n \t\n2,It snows.,It snowed.\n\n")
    assert [(row.id, row.place) for row in read_rows(path)] == [("1", (str(path), 4)), ("2", (str(path), 6))]
    with pytest.raises(InputError, match="holds no rows"):
        list(read_rows(write(tmp_path, "blank.csv", "\n\n")))


def test_a_cell_of_parquet_that_cannot_be_decoded_is_refused_with_its_row(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    good = pa.array(["It rained."] * 3)
    not_utf8 = pa.array([b"It rains.", b"\xff\xfe", b"It rains."], pa.binary()).view(pa.string())
    too_late = pa.array([0, 2**62, 0], pa.timestamp("us"))
    for answers, split in ((not_utf8, good), (good, too_late)):
        pq.write_table(pa.table({"id": ["1", "2", "3"], "answer": answers, "evidence": good, "split": split}), path)
        with pytest.raises(InputError, match=r"rows\.parquet, row 2: cannot be decoded"):
            list(read_rows(path))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read_rows(tmp_path / "none.jsonl"))


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"assay-ai\[parquet\]"):
        list(read_rows(write(tmp_path, "rows.parquet", b"PAR1")))


def test_the_digest_depends_on_all_that_a_verdict_depends_on(tmp_path: Path) -> None:
    texts = [
        changed(),
        changed(id="2"),
        changed(claim="It is two weeks!"),
        changed(evidence=["x"]),
        changed(question="Why?"),
    ]
    rows = list(read_rows(write(tmp_path, "a.jsonl", "\n".join(texts))))
    assert len({row.digest for row in rows}) == len(rows)
    relabelled, again = read_rows(write(tmp_path, "b.jsonl", changed(label="supported") + "\n" + changed()))
    assert relabelled.digest == again.digest == rows[0].digest


def test_an_empty_cell_in_quotation_marks_is_no_blank_line(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.csv", 'claim\n\n""\n')
    with pytest.raises(InputError, match="line 3"):
        list(read_rows(path))
