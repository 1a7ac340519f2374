"""Rows are read from files, folders, data sets, object stores and queries; what cannot be read is said row by row."""

import gzip
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.batch.scripted import record, write_lines

from assay.batch import open_sources
from assay.batch.judging import _record
from assay.batch.sources.text_files import MAX_ROW_BYTES, csv_rows, json_lines
from assay.batch.values import RawRow
from assay.errors import InputError


def read(*paths: Path | str, **more: str) -> list[RawRow]:
    return list(open_sources([str(path) for path in paths], **more))


def ids(rows: list[RawRow]) -> list[Any]:
    return [_record(row)["id"] for row in rows]


def test_a_folder_is_read_in_the_order_of_its_names_with_every_kind_of_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "b.jsonl", [record(1), record(2)])
    (tmp_path / "a.csv").write_text("id,evidence,answer\nr3,It is so.,It is so.\n", encoding="utf-8")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(json.dumps(record(4)).encode()))
    (tmp_path / "more").mkdir()
    parquet.write_table(pa.Table.from_pylist([record(5), record(6)]), tmp_path / "more" / "d.parquet")
    (tmp_path / "notes.txt").write_text("no rows")
    found = read(tmp_path)
    assert ids(found) == ["r3", "r1", "r2", "r4", "r5", "r6"]
    assert [row.set for row in found] == ["a", "b", "b", "c", "d", "d"]


def test_a_data_set_that_was_saved_on_disk_is_read(tmp_path: Path) -> None:
    def save(folder: Path, numbers: range) -> None:
        folder.mkdir(parents=True)
        table = pa.Table.from_pylist([record(n) for n in numbers])
        with pa.ipc.new_stream(folder / "data-00000-of-00001.arrow", table.schema) as writer:
            writer.write_table(table)
        (folder / "dataset_info.json").write_text("{}")
        (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))

    save(tmp_path / "one", range(3))
    assert ids(read(tmp_path / "one")) == ["r0", "r1", "r2"]
    save(tmp_path / "two" / "test", range(100))
    save(tmp_path / "two" / "train", range(100, 101))
    (tmp_path / "two" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    assert ids(read(tmp_path / "two"))[:2] == ["r100", "r0"]
    (tmp_path / "two" / "dataset_dict.json").write_text(json.dumps({"splits": ["../one"]}))
    with pytest.raises(InputError, match="not the name of a file in the folder"):
        read(tmp_path / "two")


def test_an_object_store_is_read_by_its_url() -> None:
    store = fsspec.filesystem("memory")
    store.pipe("/rows/b.jsonl", json.dumps(record(2)).encode())
    store.pipe("/rows/a.jsonl", json.dumps(record(1)).encode())
    assert ids(read("memory://rows")) == ["r1", "r2"]
    assert ids(read("memory://rows/b*.jsonl")) == ["r2"]
    assert ids(read("memory://rows/a.jsonl")) == ["r1"]
    with pytest.raises(InputError, match=r"cannot be read|names no file"):
        read("memory://rows/z.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        read("nosuchprotocol://x/y.jsonl")


def test_the_rows_of_a_query_are_read_and_the_database_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "outputs.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE said (n INTEGER, text TEXT, passages TEXT)")
        database.executemany("INSERT INTO said VALUES (?, ?, ?)", [(n, f"It is {n}.", '["It is 1."]') for n in (1, 2)])
    database.close()
    url = f"sqlite:///{path}"
    rows = read(database=url, query="SELECT n AS id, text AS answer, passages AS evidence FROM said ORDER BY n")
    assert [_record(row) for row in rows] == [
        {"id": n, "answer": f"It is {n}.", "evidence": ["It is 1."]} for n in (1, 2)
    ]
    with pytest.raises(InputError, match="gives no rows"):
        read(database=url, query="DELETE FROM said")
    with pytest.raises(InputError, match="could not be read"):
        read(database=url, query="SELECT nothing FROM nowhere")
    assert len(read(database=url, query="SELECT n AS id, text AS answer, passages AS evidence FROM said")) == 2


@pytest.mark.parametrize(
    ("paths", "more", "message"),
    [
        ([], {}, "nothing to check"),
        (["x.jsonl"], {}, "no such file"),
        ([], {"query": "SELECT 1"}, "both --database"),
        (["."], {"database": "sqlite://"}, "both --database"),
        (["rows.txt"], {}, "unknown file ending"),
    ],
)
def test_what_is_not_there_is_said_before_anything_is_read(
    paths: list[str], more: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.txt").write_text("x")
    with pytest.raises(InputError, match=message):
        open_sources(paths, **more)


def test_a_line_that_cannot_be_read_is_one_broken_row() -> None:
    long = b'{"id": "' + b"x" * MAX_ROW_BYTES + b'"}\n'
    found = list(json_lines(io.BytesIO(b'{"id": 1}\n\xff\xfe\n' + long + b'{"id": 4}\n'), "a.jsonl", "a"))
    assert [(row.position, row.form) for row in found] == [(1, "line"), (2, "broken"), (3, "broken"), (4, "line")]
    assert "UTF-8" in found[1].payload
    assert "longer than" in found[2].payload


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1).filter(str.strip)))
def test_lines_come_out_as_they_went_in(lines: list[str]) -> None:
    raw = "".join(f"{line}\n" for line in lines).encode()
    found = list(json_lines(io.BytesIO(raw), "a.jsonl", "a"))
    assert [row.payload.removesuffix("\n") for row in found] == [
        line.removeprefix("\ufeff") if n == 0 else line for n, line in enumerate(lines)
    ]


def test_csv_with_a_wrong_row_goes_on_and_without_an_end_says_so() -> None:
    found = list(csv_rows(io.BytesIO(b"id,answer\n1,a\n2\n3,c\n"), "a.csv", "a"))
    assert [(row.position, row.form) for row in found] == [(2, "cells"), (3, "broken"), (4, "cells")]
    found = list(csv_rows(io.BytesIO(b'id,answer\n1,a\n2,"never closed\n'), "a.csv", "a"))
    assert [row.form for row in found] == ["cells", "broken"]
    assert "nothing behind it can be read" in found[1].payload


def test_csv_whose_header_names_a_column_twice_is_not_read() -> None:
    (row,) = csv_rows(io.BytesIO(b"id,answer,evidence,evidence\n1,a,b,c\n"), "a.csv", "a")
    assert row.form == "broken"
    assert "names the column 'evidence' twice" in row.payload


def test_a_blank_line_of_csv_is_no_row() -> None:
    content = b"\nid,answer,evidence\n\n1,a,b\n \t\n\r\n2,c,d\n\n"
    found = list(csv_rows(io.BytesIO(content), "a.csv", "a"))
    assert [(row.position, row.form) for row in found] == [(4, "cells"), (7, "cells")]
    assert list(csv_rows(io.BytesIO(b"\n\n"), "a.csv", "a")) == []


def undecodable(count: int, at: int) -> pa.Table:
    """Rows of which one has an answer that is not UTF-8 and the next a moment that Python cannot hold."""
    answers = [b"It is so."] * count
    answers[at] = b"\xff\xfe"
    moments = [0] * count
    moments[at + 1] = 2**62
    return pa.table(
        {
            "id": [f"r{n}" for n in range(count)],
            "answer": pa.array(answers, pa.binary()).view(pa.string()),
            "meta": pa.StructArray.from_arrays([pa.array(moments, pa.timestamp("us"))], names=["at"]),
        }
    )


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_cell_that_cannot_be_decoded_costs_its_row_alone(ending: str, tmp_path: Path) -> None:
    table = undecodable(100, 70)
    if ending == "parquet":
        parquet.write_table(table, tmp_path / "a.parquet")
    else:
        with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
            writer.write_table(table)
    found = read(tmp_path / f"a.{ending}")
    assert [row.position for row in found] == list(range(1, 101))
    assert [row.position for row in found if row.form == "broken"] == [71, 72]
    assert f"a.{ending}, row 71: cannot be decoded: 'utf-8' codec" in found[70].payload
    assert found[72].payload["id"] == "r72"


def test_files_that_are_not_what_they_seem_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    (tmp_path / "b.jsonl.gz").write_bytes(b"no gzip")
    for name in ("a.parquet", "b.jsonl.gz"):
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)


def test_a_link_out_of_a_folder_is_refused_and_one_within_it_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    write_lines(folder / "a.jsonl", [record(1)])
    (folder / "b.jsonl").symlink_to("a.jsonl")
    assert ids(read(folder)) == ["r1", "r1"]
    write_lines(tmp_path / "secret", [record(2)])
    (folder / "c.jsonl").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="a link out of"):
        read(folder)
    assert ids(read(folder / "c.jsonl")) == ["r2"]


def test_a_row_of_csv_has_an_end_however_many_cells_it_has() -> None:
    cells = b'"' + b'a\n","' * (MAX_ROW_BYTES // 4)
    *_, last = csv_rows(io.BytesIO(b"id,answer\n1,x\n" + cells), "a.csv", "a")
    assert last.form == "broken"
    assert "a row is longer than" in last.payload


def test_damaged_compression_is_told(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(json.dumps(record(1)).encode()))
    packed[12] ^= 0xFF
    (tmp_path / "a.jsonl.gz").write_bytes(bytes(packed[:10]) + b"\xff" * 20)
    with pytest.raises(InputError, match="cannot be unpacked"):
        read(tmp_path / "a.jsonl.gz")


def test_no_part_of_a_password_is_told() -> None:
    with pytest.raises(InputError) as told:
        read(database="postgresql://ann@db:hunter2/assay", query="SELECT 1")
    assert "hunter2" not in str(told.value)


def test_an_empty_cell_in_quotation_marks_is_a_row_and_a_blank_line_is_none() -> None:
    found = list(csv_rows(io.BytesIO(b'answer\n""\n\n" "\n \nx\n"\n"\n'), "a.csv", "a"))
    assert [(row.position, row.payload) for row in found] == [
        (2, {"answer": ""}),
        (4, {"answer": " "}),
        (6, {"answer": "x"}),
        (8, {"answer": "\n"}),
    ]
