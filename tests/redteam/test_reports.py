"""Reports: what targets and documents say is shown and never becomes markup."""

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redteam.test_cases import PASSAGE, case

from assay.redteam.cases import Case, Passage, Turn
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.reports import html_report, junit, markdown, text_report
from assay.redteam.reports.texts import plain
from assay.redteam.scores import compare, score

HOSTILE = (
    "</textarea><script>alert(1)</script> \x1b[31m ]]> & \" ' | [x](javascript:y) `z` \u202eevil https://x.example @you"
)


def hostile_run(text: str = HOSTILE) -> tuple[list[Case], list[Judgement]]:
    one = case(
        f"Prompt {text}", context=(Passage(id=f"a{text}", text=text), PASSAGE), turns=(Turn(role="user", content=text),)
    )
    failed = Judgement(
        case=one.id,
        outcome=Outcome.FAILED,
        behavior_match=0.0,
        rule=f"rule {text}",
        wrong_claims=(text,),
        answer=f"It is {text}",
    )
    return [one], [failed]


class Elements(HTMLParser):
    """The names of the elements and the words of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@given(st.text(max_size=120))
def test_the_page_holds_foreign_text_as_text(text: str) -> None:
    cases, judgements = hostile_run((text + HOSTILE).encode("utf-8", "replace").decode())
    page = html_report(score(cases, judgements), cases, judgements, None)
    elements = Elements()
    elements.feed(page)
    assert not elements.names & {"script", "img", "iframe", "textarea", "a", "object"}
    assert "Content-Security-Policy" in page


def test_the_page_marks_what_is_wrong_in_an_answer() -> None:
    cases, judgements = hostile_run("9 weeks")
    assert "<mark>9 weeks</mark>" in html_report(score(cases, judgements), cases, judgements, None)


@given(st.text(max_size=120))
def test_junit_is_xml_whatever_was_said(text: str) -> None:
    cases, judgements = hostile_run((text + HOSTILE).encode("utf-8", "replace").decode())
    root = ET.fromstring(junit(score(cases, judgements), cases, judgements))  # noqa: S314 our own text
    assert root.attrib["failures"] == "1"
    (failure,) = root.iter("failure")
    assert "<script>" in (failure.text or "")


def test_junit_tells_unjudged_from_failed() -> None:
    cases = [case("First question, how long?"), case("Second question, how long?")]
    judgements = [
        Judgement(case=cases[0].id, outcome=Outcome.UNJUDGED, rule="the target failed"),
        Judgement(case=cases[1].id, outcome=Outcome.PASSED, behavior_match=1.0, rule="right"),
    ]
    root = ET.fromstring(junit(score(cases, judgements), cases, judgements))  # noqa: S314 our own text
    assert (root.attrib["tests"], root.attrib["failures"], root.attrib["errors"]) == ("2", "0", "1")


def test_markdown_has_one_row_a_case_and_no_markup_of_others() -> None:
    cases, judgements = hostile_run("a | b\nc " + HOSTILE)
    page = markdown(score(cases, judgements), cases, judgements, None)
    (row,) = [line for line in page.splitlines() if cases[0].id in line]
    assert "<script" not in row
    assert "[x](" not in row.replace("\\[x\\](", "")
    assert row.replace("\\|", "").count("|") == 7


def test_a_comparison_stands_in_every_report() -> None:
    both = [hostile_run(f"{number} {HOSTILE}") for number in range(8)]
    cases, judgements = [one for run, _ in both for one in run], [one for _, run in both for one in run]
    good = [one.model_copy(update={"outcome": Outcome.PASSED, "behavior_match": 1.0}) for one in judgements]
    after = score(cases, judgements)
    compared = compare(score(cases, good), after)
    assert compared.regressed
    for text in (
        text_report(after, compared),
        markdown(after, cases, judgements, compared),
        html_report(after, cases, judgements, compared),
    ):
        assert "REGRESSED" in text
        assert cases[0].id in text
        assert "\x1b" not in text


@pytest.mark.parametrize("text", ["a\x1b]0;x\x07b", "a\r\nb", "a\u202eb", "a\ufeffb"])
def test_plain_text_is_one_line_that_steers_nothing(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable()
    assert plain("x" * 500).endswith("…")


def test_junit_names_no_file_that_a_reader_would_attach() -> None:
    cases, judgements = hostile_run("[[ATTACHMENT|/etc/passwd]]")
    assert "[[ATTACHMENT" not in junit(score(cases, judgements), cases, judgements)


def test_markdown_mentions_nobody_and_makes_no_link_by_itself() -> None:
    cases, judgements = hostile_run("ask @you at www.evil.example or WWW.evil.example")
    page = markdown(score(cases, judgements), cases, judgements, None)
    assert "@you" not in page
    assert "www.evil" not in page.lower()
