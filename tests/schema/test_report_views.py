"""A report for people: ten lines, a sentence, reasons, a notebook's HTML and a data frame."""

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.standin import report_of

from assay.schema import Evidence, HallucinationReport

HOSTILE = "FALSE <script>alert(1)</script>\x1b[2J \u202e\"' &amp; \ud800 x."
TEXT = st.text(st.characters() | st.sampled_from("<>&\"'\x1b\u202e\n. "), min_size=1, max_size=80)
EVIDENCE = [Evidence(id="sky", text="The sky is <b>blue</b> today.")]


def many(count: int) -> HallucinationReport:
    return report_of(" ".join(f"It is FALSE that {number}." for number in range(count)), EVIDENCE, "What is so?")


def test_a_printed_report_says_what_was_decided_and_what_is_wrong() -> None:
    text = str(report_of("The sky is blue. It is FALSE that it rains. MAYBE it snows.", EVIDENCE, "What is so?"))
    lines = text.split("\n")
    assert lines[0] == "BLOCK · score 0.02 · policy general (withhold closest sources)"
    assert lines[1] == "question: What is so?"
    assert lines[2] == "claims: 3, 1 supported, 1 contradicted, 1 unsupported"
    assert lines[3].startswith("✗2 It is FALSE that it rains. · “FALSE”: The evidence says otherwise")
    assert lines[3].endswith("[sky]")
    assert lines[4].startswith("?3 MAYBE it snows.")
    assert lines[-1] == "because: The lowest score decides."


@pytest.mark.parametrize("count", [1, 5, 6, 7, 60])
def test_a_printed_report_has_ten_lines_at_most_and_counts_the_rest(count: int) -> None:
    lines = str(many(count)).split("\n")
    assert len(lines) <= 10
    shown = sum(line.startswith("✗") for line in lines)
    rest = [int(match[1]) for line in lines if (match := re.match(r"… and (\d+) more", line))]
    assert shown + sum(rest) == count


def test_the_summary_is_one_sentence() -> None:
    told = report_of("The sky is blue. It is FALSE that it rains.", EVIDENCE).summary()
    assert told.startswith("BLOCK under general: 1 of 2 checkable claims supported; ✗2 It is FALSE that it rains.")
    assert report_of("All is well.").summary() == "EMIT under general: 1 of 1 checkable claims supported."


def test_reasons_are_those_of_the_gate_and_of_each_problem() -> None:
    report = report_of("It is FALSE that it rains [x-9].", EVIDENCE)
    assert report.reasons == (
        "The lowest score decides.",
        "It is FALSE that it rains [x-9].: The evidence says otherwise of: It is FALSE that it rains [x-9].",
        "x-9 is not among the evidence",
    )


class Reader(HTMLParser):
    """Keeps the tags and the text, and refuses what could act."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {
            "div",
            "b",
            "span",
            "details",
            "summary",
            "ul",
            "li",
            "q",
            "code",
            "i",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "bdi",
        }
        assert {name for name, _ in attrs} <= {"style", "title", "dir"}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@given(TEXT)
def test_the_html_of_a_notebook_holds_foreign_text_as_text_only(text: str) -> None:
    report = report_of(f"FALSE {text}", [Evidence(id="<e>", text=text)], text)
    read(report._repr_html_())
    assert "\x1b" not in str(report)
    assert len(str(report).split("\n")) <= 10


def test_the_html_of_a_notebook_marks_the_wrong_words_and_shows_the_passage() -> None:
    html = report_of(HOSTILE, EVIDENCE)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    reader = read(html)
    assert "[sky]" in reader.text
    assert "The sky is <b>blue</b> today." in reader.text


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_claims_become_a_data_frame(library: str) -> None:
    pytest.importorskip(library)
    frame = report_of("The sky is blue. It is FALSE that it rains.", EVIDENCE).to_dataframe(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame["verdict"]) == ["supported", "contradicted"]
    assert list(frame["evidence_id"]) == ["sky", "sky"]
    assert len(report_of("All is well.").model_copy(update={"claims": ()}).to_dataframe(library)) == 0


def test_without_a_library_it_says_which_to_install() -> None:
    hidden = "import sys\nsys.modules['pandas'] = sys.modules['polars'] = None\n"
    script = "from assay.schema.views import frame_of\nframe_of([], ['a'])"
    done = subprocess.run([sys.executable, "-c", hidden + script], capture_output=True, text=True, check=False)
    assert "a data frame needs polars or pandas: pip install polars" in done.stderr


def test_importing_a_report_loads_no_library_of_data_frames() -> None:
    if importlib.util.find_spec("pandas") is None and importlib.util.find_spec("polars") is None:
        pytest.skip("neither is installed")
    script = "import assay.schema.report, sys; print({'pandas', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
