"""A batch gives each row exactly one result, whatever dies and whenever."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.batch.scripted import ScriptedEngine, raw_rows, record

from assay.batch import BatchSettings, Totals, run_batch
from assay.batch.values import Piece, RawRow
from assay.errors import InputError, VerifierError

IDENTITY = {"verifier": "scripted", "policy": "general"}


def settings(out: Path, rows: int = 7, **more: Any) -> BatchSettings:
    return BatchSettings(out, more.pop("identity", IDENTITY), rows, **more)


def engine(**more: Any) -> ScriptedEngine:
    return ScriptedEngine(more.pop("capacity", 2), more.pop("dies", lambda _: False), **more)


def results(out: Path) -> list[dict[str, Any]]:
    return [row for path in sorted((out / "parts").glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def run(out: Path, count: int = 30, *, by: ScriptedEngine | None = None, rows: int = 7) -> Totals:
    made = engine() if by is None else by
    return run_batch(settings(out, rows), raw_rows(count), lambda: made)


def test_every_row_has_one_result_in_the_order_of_the_rows(tmp_path: Path) -> None:
    assert run(tmp_path).rows == 30
    assert [one["position"] for one in results(tmp_path)] == list(range(1, 31))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [part["rows"] for part in manifest["parts"]] == [7, 7, 7, 7, 2]


@given(data=st.data())
def test_no_schedule_of_deaths_changes_a_byte(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    calm, wild = tmp_path_factory.mktemp("calm"), tmp_path_factory.mktemp("wild")
    run(calm)
    left = data.draw(st.integers(0, 12), "deaths")

    def dies(piece: Piece) -> bool:
        nonlocal left
        # No row may die three times by itself: that is what a row that kills its worker does.
        now = left > 0 and not (len(piece.rows) == 1 and piece.deaths == 2) and data.draw(st.booleans(), "dies")
        left -= now
        return now

    by = engine(
        capacity=data.draw(st.integers(1, 4), "workers"),
        dies=dies,
        order=lambda held: data.draw(st.integers(0, held - 1), "which ends"),
    )
    run(wild, by=by)
    assert contents(wild) == contents(calm)
    assert by.closed


@pytest.mark.parametrize("poison", [{1}, {30}, {3, 4, 5}, set(range(8, 15))])
def test_rows_that_end_their_worker_are_rejected_and_no_others(poison: set[int], tmp_path: Path) -> None:
    by = engine(dies=lambda piece: any(row.position in poison for row in piece.rows))
    totals = run(tmp_path, by=by)
    found = results(tmp_path)
    assert {one["position"] for one in found if one["status"] == "rejected"} == poison
    assert (totals.rows, totals.rejected, len(found)) == (30, len(poison), 30)
    told = [json.loads(line) for line in (tmp_path / "rejected.jsonl").read_text().splitlines()]
    assert [one["position"] for one in told] == sorted(poison)
    assert all("SIGKILL" in one["reason"] for one in told)


@given(stop=st.integers(1, 6), capacity=st.integers(1, 3))
def test_a_driver_that_ends_goes_on_and_judges_nothing_twice_that_was_committed(
    stop: int, capacity: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    calm, cut = tmp_path_factory.mktemp("calm"), tmp_path_factory.mktemp("cut")
    run(calm)
    judged = 0

    def end(_: Piece) -> bool:
        nonlocal judged
        judged += 1
        if judged == stop:
            raise KeyboardInterrupt
        return False

    first = engine(capacity=capacity, dies=end)
    if stop <= 5:
        with pytest.raises(KeyboardInterrupt):
            run(cut, by=first)
    assert first.closed or stop > 5
    second = engine(capacity=capacity)
    run(cut, by=second)
    assert not {one.partition for one in first.judged} & {one.partition for one in second.judged}
    assert contents(cut) == contents(calm)


def test_where_all_is_done_no_worker_is_started(tmp_path: Path) -> None:
    run(tmp_path)

    def refuse() -> ScriptedEngine:
        raise VerifierError("nothing is to be started")

    seen: list[Totals] = []
    assert run_batch(settings(tmp_path), raw_rows(30), refuse, seen.append).rows == 30
    assert sum(one.rows for one in seen) == 30


def test_what_a_killed_writer_left_behind_is_removed(tmp_path: Path) -> None:
    run(tmp_path, 10)
    left = tmp_path / "parts" / ".part-000001.parquet.12ab.tmp"
    left.write_bytes(b"half")
    run(tmp_path, 10)
    assert not left.exists()


def test_a_changed_input_is_refused(tmp_path: Path) -> None:
    run(tmp_path, 20)
    other = [RawRow("rows.jsonl", n, "rows", "line", "{}") for n in range(1, 21)]
    with pytest.raises(InputError, match="the input was changed"):
        run_batch(settings(tmp_path), other, engine)
    with pytest.raises(InputError, match="no such rows any more"):
        run(tmp_path, 7)


def test_another_policy_or_size_of_partitions_is_refused(tmp_path: Path) -> None:
    run(tmp_path, 20)
    with pytest.raises(InputError, match=r"policy differ"):
        run_batch(settings(tmp_path, identity={**IDENTITY, "policy": "rag"}), raw_rows(20), engine)
    with pytest.raises(InputError, match=r"partition_rows differ"):
        run_batch(settings(tmp_path, 8), raw_rows(20), engine)


def test_text_that_no_encoding_can_write_is_escaped(tmp_path: Path) -> None:
    half = "\ud83d"  # as `json.loads` reads an escape of it, and `os.fsdecode` a name that is not UTF-8
    rows = [RawRow(f"{half}.jsonl", n, half, "line", json.dumps(record(n, id=half))) for n in (1, 2)]
    by = engine(dies=lambda piece: piece.rows[0].position == 2 or len(piece.rows) == 2)
    for _ in range(2):
        assert run_batch(settings(tmp_path), rows, lambda: by).rows == 2
    found = results(tmp_path)
    assert [one["source"] for one in found] == [r"\ud83d.jsonl"] * 2
    assert [one["set"] for one in found] == [r"\ud83d"] * 2
    assert (found[1]["status"], r"\ud83d.jsonl, line 2" in found[1]["reason"]) == ("rejected", True)


def test_a_second_driver_is_kept_out(tmp_path: Path) -> None:
    def meanwhile() -> ScriptedEngine:
        with pytest.raises(InputError, match="another batch is at work"):
            run(tmp_path)
        return engine()

    assert run_batch(settings(tmp_path), raw_rows(3), meanwhile).rows == 3


@pytest.mark.parametrize("damage", ["cut", "renamed", "foreign"])
def test_a_damaged_part_is_named(damage: str, tmp_path: Path) -> None:
    run(tmp_path, 20)
    path = tmp_path / "parts" / "part-000001.parquet"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:100])
    elif damage == "renamed":
        path.rename(path.with_name("part-000009.parquet"))
    else:
        table = parquet.read_table(path)
        parquet.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(InputError, match=r"part-00000\d\.parquet"):
        run(tmp_path, 20)


def test_a_partition_is_closed_by_its_characters_too(tmp_path: Path) -> None:
    long = (RawRow("a.jsonl", n, "a", "line", "x" * 600) for n in range(1, 11))
    run_batch(settings(tmp_path, 100, characters=1_000), long, engine)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [part["rows"] for part in manifest["parts"]] == [2] * 5


def test_no_rows_at_all_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows"):
        run(tmp_path, 0)


def test_only_a_bounded_number_of_partitions_is_held(tmp_path: Path) -> None:
    read = 0

    def counted() -> Any:
        nonlocal read
        for row in raw_rows(200):
            read += 1
            yield row

    most_ahead = 0

    def look(piece: Piece) -> bool:
        nonlocal most_ahead
        most_ahead = max(most_ahead, read - 5 * len(by.judged))
        return False

    by = engine(dies=look)
    run_batch(settings(tmp_path, 5), counted(), lambda: by)
    assert most_ahead <= 5 * (by.capacity + 2 + 1)
