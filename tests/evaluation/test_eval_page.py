"""The page of an evaluation: rows to open, the surest error first, and intervals that hold at the extremes."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evaluation import eval_page
from assay.evaluation.figures import summarise
from assay.evaluation.figures.slice_rates import slice_rates
from assay.evaluation.row_list import MOST_ERRORS, judged_rows, row_sections
from assay.evaluation.rows import Result, Row
from assay.evaluation.threshold_panel import SCRIPT
from assay.schema import Evidence
from assay.stats import wilson

HOSTILE = "<script>alert(1)</script> \x1b \u202e & \" '"


def row(number: int, *, wrong: bool, text: str = "", document: str = "") -> Row:
    return Row(
        set="s",
        id=str(number),
        evidence=(Evidence(id="e", text=document or f"Document {number}. Leave is 2 weeks."),),
        text=text or f"Leave is 4 weeks in {number}.",
        whole=True,
        label="contradicted" if wrong else "supported",
        spans=((9, 16),) if wrong else (),
    )


def result(one: Row, score: float | None, spans: tuple[tuple[int, int], ...] = ()) -> Result:
    verdict = "unchecked" if score is None else "supported" if score >= 0.5 else "contradicted"
    return Result(one.digest, verdict, score, None if score is None else 1 - score, spans)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.summaries: list[str] = []
        self.scripts = 0
        self.of_row = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        assert not [name for name, _ in attrs if name.startswith("on") or name in {"style", "src", "href"}]
        if tag == "details":
            self.of_row = ("class", "row") in attrs
        if tag == "summary" and self.of_row:
            self.summaries.append("")
        if tag not in {"meta", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "summary" in self.open and self.of_row:
            self.summaries[-1] += f"{data}|"


def read(html: str) -> Reader:
    """The page, which holds one script at most: the one of ours that its policy names by digest."""
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert html.count(f"<script>{SCRIPT}</script>") == reader.scripts == html.count(f"script-src &#x27;sha256-{digest}")
    return reader


def test_errors_come_first_with_the_surest_one_and_right_rows_with_the_least_sure() -> None:
    rows = [row(1, wrong=True), row(2, wrong=True), row(3, wrong=False), row(4, wrong=False), row(5, wrong=True)]
    scores = [0.6, 0.9, 0.05, 0.7, None]
    results = [result(one, score) for one, score in zip(rows, scores, strict=True)]
    page = eval_page(summarise(rows, results, {"verifier": "v", "policy": "p"}), rows, results)
    assert [one.split("|")[:2] for one in read(page).summaries] == [
        ["false alarm", "0.05"],
        ["missed", "0.90"],
        ["missed", "0.60"],
        ["not judged", "–"],
        ["right", "0.70"],
    ]


def test_a_row_shows_what_was_pointed_at_what_the_label_marks_and_the_closest_sentence() -> None:
    one = row(1, wrong=True, text="Leave is 4 weeks long.")
    html = row_sections(judged_rows([one], [result(one, 0.9, ((11, 21),))]))[0].html
    assert 'Leave is <mark class="label">4 </mark><mark class="both">weeks</mark><mark> long</mark>.' in html
    assert '<mark class="near"> Leave is 2 weeks.</mark>' in html


def test_foreign_text_stays_text() -> None:
    one = row(1, wrong=True, text=HOSTILE, document=HOSTILE)
    results = [result(one, 0.9)]
    page = eval_page(summarise([one], results, {}), [one], results)
    read(page)
    assert "&lt;script&gt;" in page


def test_what_is_left_out_is_counted() -> None:
    rows = [row(number, wrong=True) for number in range(MOST_ERRORS + 7)]
    html = row_sections(judged_rows(rows, [result(one, 0.9) for one in rows]))[0].html
    assert html.count("<details") == MOST_ERRORS
    assert "7 more are left out of this page." in html


def test_a_rate_of_nothing_has_an_interval_that_twenty_rows_can_give() -> None:
    rows = [row(number, wrong=number < 20) for number in range(40)]
    results = [result(one, 0.1 if one.wrong else 0.9) for one in rows]
    figures = summarise(rows, results, {}).overall.figures
    low, high = wilson(0, 20)
    assert (figures["fpr"].value, figures["fpr"].low, figures["fpr"].high) == (0, low, high)
    assert figures["fnr"].high == high
    accuracy = figures["balanced_accuracy"]
    assert accuracy.low == pytest.approx(1 - high)
    assert (accuracy.value, accuracy.high) == (1, 1)


def test_rows_that_share_a_document_count_as_one() -> None:
    rows = [row(number, wrong=number < 20, document="One for all.") for number in range(40)]
    results = [result(one, 0.1 if one.wrong else 0.9) for one in rows]
    assert summarise(rows, results, {}).overall.figures["fpr"].high == wilson(0, 1)[1]


@given(st.lists(st.tuples(st.booleans(), st.none() | st.floats(0, 1)), min_size=1, max_size=30))
def test_the_shares_of_slices_add_up(told: list[tuple[bool, float | None]]) -> None:
    rows = [row(number, wrong=wrong, text="A. " * (number + 1)) for number, (wrong, _) in enumerate(told)]
    rated = slice_rates(rows, [result(one, score) for one, (_, score) in zip(rows, told, strict=True)])
    for slices in rated.values():
        assert sum(one.right.of for one in slices) == len(rows)
        assert sum(one.missed.of + one.alarms.of for one in slices) == len(rows)
        for one in slices:
            for part in (one.right, one.missed, one.alarms):
                assert part.value is None or (part.low or 0) <= part.value <= (part.high or 0)


def test_the_page_has_the_shares_by_slice() -> None:
    rows = [row(number, wrong=number % 2 == 0, text="Word " * (4 if number % 3 else 20)) for number in range(12)]
    results = [result(one, 0.1 if one.wrong else 0.9) for one in rows]
    page = eval_page(summarise(rows, results, {}), rows, results)
    assert re.search(r"<h2>Shares by claim length</h2>.*?up to 8 words.*?1\.000", page, re.DOTALL)
