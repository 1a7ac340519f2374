"""Drawing errors, keeping their causes and counting them."""

from pathlib import Path

import pytest
from train.draw_errors import (
    CAUSES,
    CAUSES_FILE,
    UNREAD,
    causes_table,
    columns_of,
    draw,
    read_causes,
    replaced,
    sets_table,
    write_causes,
)

from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.schema import Evidence


def table(count: int = 40) -> tuple[list[Row], list[Result]]:
    rows = [
        Row(
            set=f"s{n % 3}",
            id=str(n),
            evidence=(Evidence(id="e", text=f"Document {n}."),),
            text=f"Claim {n}.",
            whole=True,
            label="supported" if n % 2 else "unsupported",
        )
        for n in range(count)
    ]
    results = [
        Result(row.digest, "unsupported" if n % 4 == 1 else "supported", 0.1 if n % 4 == 1 else 0.8, 0.1)
        for n, row in enumerate(rows)
    ]
    return rows, results


def test_only_errors_are_drawn_and_each_once() -> None:
    drawn = draw(*table(), worst=9, random=12)
    assert len({one.key for one in drawn}) == len(drawn)
    assert sum(one.worst for one in drawn) == 9
    assert sum(one.random for one in drawn) == 12
    assert {one.error["kind"] for one in drawn} == {"missed", "false alarm"}
    assert all(one.missed == (one.error["label"] == "unsupported") for one in drawn)


def test_a_better_verifier_keeps_its_errors_in_the_random_draw() -> None:
    rows, results = table()
    before = {one.key for one in draw(rows, results, 0, 12)}
    mended = [
        Result(r.digest, "unsupported" if row.wrong else "supported", 0.5, 0.1) if n % 5 == 0 else r
        for n, (row, r) in enumerate(zip(rows, results, strict=True))
    ]
    after = {one.key for one in draw(rows, mended, 0, 12)}
    left = {one.key for one in draw(rows, mended, 0, 1000)}
    assert before & left <= after


def test_causes_are_counted_by_direction_and_what_was_not_read_is_said() -> None:
    drawn = draw(*table(), worst=3, random=30)
    causes = {drawn[0].key: "numeric", "gone": "label"}
    lines = causes_table(drawn, causes, {drawn[0].key: True, "gone": False})
    numeric = next(line for line in lines if line.startswith("| numeric"))
    assert numeric.endswith("| 1 | 1 |")
    assert next(line for line in lines if line.startswith("| label")).endswith("| 0 | 0 | 0 | 0 | 1 | 0 |")
    assert lines[-2].startswith(f"| {UNREAD} |")
    assert lines[-1].startswith("| all |")


def test_causes_stand_by_set_with_both_directions() -> None:
    rows, results = table()
    drawn = draw(rows, results, 3, 30)
    lines = sets_table(drawn, {one.key: "numeric" for one in drawn}, columns_of(rows))
    assert lines[0] == "| cause | s0 | s1 | s2 |"
    missed = sum(int(cell.split("+")[0]) for cell in lines[2].split(" | ")[1:] for cell in [cell.strip(" |")])
    assert missed == sum(one.missed for one in drawn)


def test_causes_come_back_as_they_were_written_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "causes.csv"
    assert read_causes(path) == {}
    write_causes(path, {"b": "label", "a": "numeric"})
    assert read_causes(path) == {"a": "numeric", "b": "label"}
    write_causes(path, {"a": "bad luck"})
    with pytest.raises(ValueError, match="bad luck"):
        read_causes(path)


def test_the_causes_that_were_read_hold_no_text() -> None:
    causes = read_causes(CAUSES_FILE)
    assert causes
    assert all(len(key) == 16 and set(key) <= set("0123456789abcdef") for key in causes)
    assert set(causes.values()) <= set(CAUSES)


def test_a_table_in_a_document_is_replaced_and_the_rest_stays() -> None:
    text = "before\n<!-- dev -->\nold\n<!-- end of dev -->\nafter\n"
    assert replaced(text, "dev", ["new \\1"]) == "before\n<!-- dev -->\nnew \\1\n<!-- end of dev -->\nafter\n"
    with pytest.raises(ValueError, match="expected <!-- held -->"):
        replaced(text, "held", [])
