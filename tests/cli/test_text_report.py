"""The text report: nothing foreign can move the cursor, colour, or pass for a line of ours."""

import io
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.standin import report_of

from assay.cli.reports.text_report import text_report
from assay.cli.terminal import STYLES, Line, clean, one_line, plain, wants_colour, write
from assay.schema import Evidence

HOSTILE = "\x1b[31mred\x07\r\x9b2J\u202e\u2066x\x00 \ud800"
FOREIGN = st.text(st.characters() | st.sampled_from("\x1b\x9b\r\x08\x7f\u202e\u2028\ud800.{}│ \n"), max_size=80)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@settings(deadline=None)
@given(FOREIGN)
def test_clean_text_has_no_control_character_but_newline_and_tab(text: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", clean(text))


@settings(deadline=None)
@given(FOREIGN)
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@settings(max_examples=60, deadline=None)
@given(FOREIGN, FOREIGN, FOREIGN)
def test_no_foreign_text_reaches_the_terminal_raw(answer: str, passage: str, question: str) -> None:
    name = passage[:3].encode(errors="replace").decode()
    report = report_of(f"FALSE {answer}", [Evidence(id=f"e{name}", text=passage)], question)
    text = plain(text_report("name\x1b[0m", report))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


@settings(max_examples=60, deadline=None)
@given(FOREIGN)
def test_the_answer_keeps_behind_its_bar(answer: str) -> None:
    head = list(text_report("n", report_of("FALSE " + answer, [], None)))
    behind = [line for line in head if line.gutter]
    assert len(behind) >= clean("FALSE " + answer).count("\n") + 1


def test_an_answer_cannot_fake_the_first_line() -> None:
    lines = plain(text_report("n", report_of("FALSE.\nEMIT  score 1.00", [], None))).splitlines()
    assert not any(line.startswith("EMIT") for line in lines)


def test_lone_surrogates_survive_as_escapes() -> None:
    assert "\\ud800" in plain(text_report("n", report_of("a \ud800 b", [], None)))


def test_a_terminal_gets_colour_and_still_no_foreign_escape() -> None:
    stream = Terminal()
    write(text_report("n", report_of("FALSE " + HOSTILE, [], None)), stream)
    text = stream.getvalue()
    assert "\x1b[" in text
    assert "\\x1b[31mred" in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text).count("\x1b") == 0


def test_no_color_is_honoured() -> None:
    stream = Terminal()
    assert wants_colour(stream, {})
    assert not wants_colour(stream, {"NO_COLOR": "1"})
    assert wants_colour(stream, {"NO_COLOR": ""})
    assert not wants_colour(stream, {"TERM": "dumb"})
    assert not wants_colour(io.StringIO(), {})


def test_a_stream_that_lacks_the_signs_gets_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="latin-1")
    write([Line((("✓ ok", ""),))], stream)
    assert raw.getvalue() == b"\\u2713 ok\n"


def test_every_style_is_one_that_rich_knows() -> None:
    stream = Terminal()
    write([Line(((name or "none", name),)) for name in STYLES], stream)
    assert all(name in stream.getvalue() for name in STYLES if " " not in name)
