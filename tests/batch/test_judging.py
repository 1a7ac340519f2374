"""What a worker makes of rows: one result a row, and the same however the rows are cut."""

import json
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.batch.scripted import LEAVE, record
from tests.scorers import Steady

from assay import Guard
from assay.batch.judging import judge_rows
from assay.batch.values import RawRow

ROWS = [
    RawRow("a.jsonl", 1, "a", "line", json.dumps(record(1))),
    RawRow("a.jsonl", 2, "a", "line", "{"),
    RawRow("a.jsonl", 3, "a", "line", json.dumps({**record(3), "lable": "supported"})),
    RawRow("a.jsonl", 4, "a", "broken", "a.jsonl, line 4: not UTF-8 text"),
    RawRow("a.csv", 5, "a", "cells", {"id": "5", "evidence": LEAVE, "claim": "Partners get 2 weeks.", "label": ""}),
    RawRow("a.parquet", 6, "a", "columns", {"id": 6, "evidence": [{"id": "h", "text": LEAVE}], "answer": "Hello!"}),
    RawRow("a.jsonl", 7, "a", "line", json.dumps({**record(7), "evidence": [{"id": "x", "text": LEAVE, "no": 1}]})),
]


def guard() -> Guard:
    return Guard("general", scorer=Steady(0.97))


def test_each_row_has_a_result_or_a_reason_with_its_place() -> None:
    found = judge_rows(guard(), ROWS)
    assert [one.position for one in found] == [1, 2, 3, 4, 5, 6, 7]
    assert [one.status for one in found] == [
        "checked",
        "rejected",
        "rejected",
        "rejected",
        "checked",
        "checked",
        "rejected",
    ]
    reasons = [one.reason or "" for one in found]
    assert "a.jsonl, line 2: not valid JSON" in reasons[1]
    assert "unknown field 'lable'" in reasons[2]
    assert "evidence 1" in reasons[6]
    assert found[4].action is None
    assert found[4].verdict is not None
    assert found[0].claims[0]["text"].startswith("Partners get 2 weeks")


def test_a_row_that_the_guard_refuses_takes_no_other_with_it() -> None:
    same = [{"id": "x", "text": LEAVE}, {"id": "x", "text": "Another of that name."}]
    rows = [ROWS[0], RawRow("a.jsonl", 2, "a", "line", json.dumps(record(2, evidence=same))), ROWS[4]]
    found = judge_rows(guard(), rows)
    assert [one.status for one in found] == ["checked", "rejected", "checked"]
    assert found[1].id == "r2"


def test_whole_reports_are_kept_where_they_are_asked_for() -> None:
    assert judge_rows(guard(), ROWS[:1])[0].report is None
    report = json.loads(judge_rows(guard(), ROWS[:1], reports=True)[0].report or "")
    assert report["action"] == judge_rows(guard(), ROWS[:1])[0].action
    assert "timing" not in report


@given(st.lists(st.integers(1, len(ROWS) - 1), unique=True).map(sorted))
@settings(max_examples=15)
def test_a_piece_may_be_cut_anywhere(cuts: list[int]) -> None:
    judging = guard()
    whole = judge_rows(judging, ROWS)
    ends = [0, *cuts, len(ROWS)]
    parts = [tuple(ROWS[a:b]) for a, b in pairwise(ends)]
    assert [one for part in parts for one in judge_rows(judging, part)] == whole
