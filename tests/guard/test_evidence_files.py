"""Every reader of evidence from files makes the same of one: title, version, days and text."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.inputs import read_evidence
from assay.cli.screen import passages_at
from assay.corpus.reader import prepare
from assay.errors import InputError
from assay.guard import passage_of_file
from assay.knowledge.documents import read_document
from assay.retrieve import read_passages
from assay.text.files import read_fields, read_file_text, title_of_name

HEADED = "---\ntitle: Leave\nVersion: '3'\nvalid from: 2025-01-01\nvalid-until: 31 December 2027\nowner: HR\n---\n"
HEADED += "Two weeks.\n"
PAGE = (
    '<html><head><title>Leave</title><meta name="doc-version" content="3"><meta name="validFrom" content="2025-01-01">'
    '<meta name="expires" content="2027-12-31"></head><body><nav>Home</nav><!-- Ten weeks. --><p>Two weeks.</p>'
    "<script>var weeks = 4;</script></body></html>"
)


@pytest.mark.parametrize(("name", "content"), [("leave.md", HEADED), ("leave.html", PAGE)])
def test_all_readers_of_a_file_find_the_same_title_version_days_and_text(
    tmp_path: Path, name: str, content: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    (checked,), _ = read_evidence([str(path)])
    (screened,) = read_passages(passages_at([str(path)])[0])
    of_corpus = prepare(path, name)
    of_knowledge = read_document(path)
    assert of_knowledge is not None
    told = ("Leave", "3", date(2025, 1, 1), date(2027, 12, 31))
    assert checked == screened.item
    assert (checked.title, checked.version, checked.effective_date, checked.expiry_date) == told
    item = of_corpus["item"]
    assert (item["title"], item["version"], item["effective_date"], item["expiry_date"]) == (
        "Leave",
        "3",
        "2025-01-01",
        "2027-12-31",
    )
    assert (of_knowledge.title, of_knowledge.version) == told[:2]
    assert (of_knowledge.effective_date, of_knowledge.expiry_date) == told[2:]
    assert checked.text.strip() == of_corpus["text"].strip() == "\n".join(of_knowledge.pieces) == "Two weeks."


def test_a_title_is_named_by_the_head_then_a_heading_then_the_name_of_the_file() -> None:
    named = passage_of_file(read_file_text("---\nTitle: Leave\n---\n# Holidays\nTwo weeks.", ".md"), "hr/a_b.md", "a")
    headed = passage_of_file(read_file_text("# Holidays\nTwo weeks.", ".md"), "hr/a_b.md", "a")
    bare = passage_of_file(read_file_text("Two weeks.", ".md"), "hr/sick_leave.md", "a")
    assert [named["title"], headed["title"], bare["title"]] == ["Leave", "Holidays", "sick leave"]
    assert title_of_name("hr/index.md") == "hr index"


def test_a_version_in_the_name_of_a_file_counts_unless_the_document_says_one() -> None:
    by_name = passage_of_file(read_file_text("# Leave\nTwo weeks.", ".md"), "leave_v3.md", "a")
    own = passage_of_file(read_file_text("---\nversion: 4\n---\n# Leave\nTwo weeks.", ".md"), "leave_v3.md", "a")
    assert (by_name["metadata"]["version"], own["metadata"]["version"]) == ("3", "4")


def test_what_an_answer_is_checked_against_has_no_line_of_the_head(tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text(HEADED, encoding="utf-8")
    (found,), _ = read_evidence([str(tmp_path)])
    assert "owner" not in found.text
    assert found.metadata["owner"] == "HR"


def test_a_rule_that_only_separates_parts_is_no_head(tmp_path: Path) -> None:
    text = "Two weeks.\n---\nversion: 9\n---\nFour weeks."
    (tmp_path / "leave.md").write_text(text, encoding="utf-8")
    (found,), _ = read_evidence([str(tmp_path)])
    assert (found.text, found.version) == (text, None)


def test_a_date_that_can_be_read_two_ways_is_told_and_not_read() -> None:
    found = read_fields({"effective date": "03/04/2025", "expires": "2027-01-01"})
    assert (found.effective_date, found.expiry_date) == (None, date(2027, 1, 1))
    assert len(found.unread) == 1
    assert "03/04/2025" in found.unread[0]


def test_a_page_that_is_broken_beyond_reading_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_bytes(b"---\ntitle: x\n---\n\xff")
    with pytest.raises(InputError, match=r"leave\.md.*not UTF-8"):
        read_evidence([str(tmp_path / "leave.md")])


def test_a_number_too_large_for_a_time_is_reported_and_not_an_overflow() -> None:
    found = read_fields({"effective date": 10**400})
    assert (found.effective_date, len(found.unread)) == (None, 1)


def test_a_heading_without_words_is_no_title_of_the_paragraph_after_it() -> None:
    found = read_file_text("<nav><h1>Menu</h1></nav><h1><img src=logo.png></h1><p>Leave is two weeks.", ".html")
    assert (found.title, "Menu" in found.text) == (None, False)


def test_a_cell_beyond_the_last_column_name_is_part_of_the_text() -> None:
    text = read_file_text("name,weeks\nAnna,2,unpaid\nBen,3\n", ".csv").text
    assert text == "name: Anna\nweeks: 2\nunpaid\n\nname: Ben\nweeks: 3"


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=40),
    st.dates(),
    st.lists(st.text(max_size=3), max_size=2),
)
_FIELDS = st.sampled_from(["version", "Effective Date", "expires", "title", "doc_id", "lang", "x"])


@given(st.dictionaries(_FIELDS, _VALUES))
def test_metadata_of_any_kind_are_read_or_passed_over(fields: dict[str, object]) -> None:
    found = read_fields(fields)
    assert found.version is None or found.version.strip()
    assert found.title is None or found.title.strip()


@given(st.text(max_size=300), st.sampled_from([".md", ".txt", ".html", ".csv", ".tsv", ".rst", ""]))
def test_any_text_is_read_as_a_file_of_any_kind_or_refused(text: str, ending: str) -> None:
    try:
        made = passage_of_file(read_file_text(text, ending), f"a{ending}", "a")
    except InputError:
        return
    assert made["title"].strip()
    assert "\r" not in made["text"]
