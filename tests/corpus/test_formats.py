"""Files of six kinds as text, and files that are made to hurt whoever reads them."""

import contextlib
import io
import os
import tracemalloc
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpus import made

from assay.corpus.formats import read_file
from assay.corpus.reader import paragraph_spans, prepare, unwrap_lines
from assay.corpus.reader_pool import ReaderPool
from assay.errors import InputError
from assay.text.files import FileText


def read(folder: Path, name: str, data: bytes) -> FileText:
    (folder / name).write_bytes(data)
    return read_file(folder / name)


def refusal(folder: Path, name: str, data: bytes) -> str:
    with pytest.raises(InputError) as told:
        read(folder, name, data)
    return str(told.value)


def test_markdown_has_its_front_matter_as_metadata_and_its_heading_as_title(tmp_path: Path) -> None:
    found = read(
        tmp_path, "a.md", b"---\r\nversion: 2.1\r\nvalid_until: '2026-01-31'\r\n---\r\n# Leave\r\n\r\nTwo weeks.\r\n"
    )
    assert found.fields == {"version": "2.1", "valid_until": "2026-01-31"}
    assert (found.title, found.text.strip()) == ("Leave", "# Leave\n\nTwo weeks.")


def test_a_first_line_that_stands_by_itself_is_the_title_of_a_text(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", b"Leave policy 2024\n\nTwo weeks.").title == "Leave policy 2024"
    assert read(tmp_path, "b.txt", b"Two weeks of leave.\n\nMore.").title is None
    assert read(tmp_path, "c.txt", b"Two weeks of\nleave.\n\nMore.").title is None


def test_text_in_utf_16_is_read_by_its_mark_and_other_encodings_are_refused(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", "Grüße".encode("utf-16")).text == "Grüße"
    assert "byte 0xfc at offset 2" in refusal(tmp_path, "b.txt", "Grüße".encode("latin-1"))
    assert "binary" in refusal(tmp_path, "c.txt", b"abc\0def")


def test_a_page_has_the_text_that_it_shows_and_what_its_head_says(tmp_path: Path) -> None:
    page = (
        "<html lang=de><meta charset='windows-1252'><title>Leave &amp; pay</title><meta name=version content='3.2'>"
        "<body><nav>Home About</nav><script>alert('x')</script><h1>Leave</h1><p>Zwei Wochen für alle.<table><tr>"
        "<td>a<td>b</table>"
    )
    found = read(tmp_path, "a.html", page.encode("windows-1252"))
    assert found.title == "Leave & pay"
    assert found.fields == {"lang": "de", "version": "3.2"}
    assert "Zwei Wochen für alle." in found.text
    assert "alert" not in found.text
    assert "Home" not in found.text
    assert "a | b" in found.text


def test_a_page_whose_head_never_ends_is_read(tmp_path: Path) -> None:
    assert "Two weeks." in read(tmp_path, "a.html", b"<head><title>Leave</title><body><p>Two weeks.").text


def test_rows_of_a_table_are_names_and_values(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", b"name,price\nLark,12\nHeron,9\n")
    assert found.text == "name: Lark\nprice: 12\n\nname: Heron\nprice: 9"


def test_a_word_document_says_what_its_reader_sees(tmp_path: Path) -> None:
    body = (
        made.paragraph("Leave policy", "Titel")
        + made.paragraph("Partners", "berschrift1")
        + "<w:p><w:r><w:t>They get </w:t></w:r><w:del><w:r><w:delText>2</w:delText><w:t>2</w:t></w:r></w:del>"
        "<w:ins><w:r><w:t>4</w:t></w:r></w:ins><w:r><w:t> weeks.</w:t></w:r></w:p>"
        "<w:sdt><w:sdtContent>" + made.paragraph("Out of a form.") + "</w:sdtContent></w:sdt>"
        "<w:tbl><w:tr><w:tc>" + made.paragraph("a") + "</w:tc><w:tc>" + made.paragraph("b") + "</w:tc></w:tr></w:tbl>"
        "<mc:AlternateContent><mc:Choice>"
        + made.paragraph("Boxed.")
        + "</mc:Choice><mc:Fallback>"
        + made.paragraph("Boxed.")
        + "</mc:Fallback></mc:AlternateContent>"
    )
    found = read(
        tmp_path,
        "a.docx",
        made.docx(body, {"dc:title": "Leave policy v3", "cp:revision": "17"}, {"Effective Date": "2025-01-01"}),
    )
    assert found.text.split("\n\n") == [
        "# Leave policy",
        "# Partners",
        "They get 4 weeks.",
        "Out of a form.",
        "| a | b |",
        "Boxed.",
    ]
    assert found.title == "Leave policy v3"
    assert found.fields == {"Effective Date": "2025-01-01"}


def test_a_word_document_that_unpacks_to_gigabytes_ends_with_an_error_and_costs_little_memory(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(made.bomb(200))
    assert (tmp_path / "a.docx").stat().st_size < 400_000
    tracemalloc.start()
    with pytest.raises(InputError, match="unpacks to more than"):
        read_file(tmp_path / "a.docx")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000


def test_a_word_document_that_declares_entities_is_refused(tmp_path: Path) -> None:
    import io
    import zipfile

    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as package:
        package.writestr(
            "word/document.xml",
            '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>'
            f'<w:document xmlns:w="{made.W}"><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>',
        )
    assert "document type" in refusal(tmp_path, "a.docx", held.getvalue())


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0" + b"\0" * 600, b"%PDF-1.4"])
def test_what_is_no_word_document_is_refused(data: bytes, tmp_path: Path) -> None:
    assert "no Word document" in refusal(tmp_path, "a.docx", data)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_word_document_is_read_or_refused(place: int, value: int) -> None:
    from assay.corpus.formats.docx import read_docx

    data = bytearray(made.docx(made.paragraph("Two weeks of leave.")))
    data[place % len(data)] = value
    with contextlib.suppress(InputError):
        assert isinstance(read_docx(bytes(data)), FileText)


def test_a_word_document_packed_or_named_in_a_way_that_cannot_be_read_is_refused() -> None:
    from assay.corpus.formats.docx import read_docx

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression=zipfile.ZIP_LZMA) as package:
        package.writestr("word/document.xml", "<a>" + "x" * 5_000 + "</a>")
    damaged = bytearray(packed.getvalue())
    damaged[60] ^= 0xFF
    named = io.BytesIO()
    with zipfile.ZipFile(named, "w") as package:
        package.writestr("word/é.xml", "<a/>")
    for data in (bytes(damaged), named.getvalue().replace("é".encode(), b"\xff\xfe")):
        with pytest.raises(InputError, match="no Word document"):
            read_docx(data)


def test_a_pdf_has_its_pages_as_text_and_its_words_whole(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    data = made.pdf(
        [["Partners get 4 weeks. The form has to be re-", "turned within 14 days."], ["Page two."]], "Leave"
    )
    found = read(tmp_path, "a.pdf", data)
    assert found.title == "Leave"
    assert "The form has to be returned within 14 days." in found.text
    assert "Page two." in found.text


def test_a_pdf_without_text_and_one_that_is_none_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    assert "OCR" in refusal(tmp_path, "a.pdf", made.pdf([[]]))
    assert "no PDF" in refusal(tmp_path, "b.pdf", b"%PDF-1.7\nnothing")


def test_a_file_that_is_too_large_is_refused_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as large:
        large.truncate(6_000_000)
    with pytest.raises(InputError, match="6,000,000 bytes"):
        read_file(tmp_path / "a.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_and_a_link_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="no regular file"):
        read_file(tmp_path / "pipe.txt")
    with pytest.raises(InputError, match="cannot be opened"):
        read_file(tmp_path / "link.txt")


@given(st.text(alphabet="ab .#|-\n\t", max_size=300))
def test_paragraphs_lie_in_order_and_hold_everything_but_headings_and_blanks(text: str) -> None:
    spans = list(paragraph_spans(text))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    inside = "".join(text[start:end] for start, end in spans)
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    assert all(line.strip() in inside for line in lines)


@given(st.text(alphabet="abc. -\n", max_size=400))
def test_unwrapping_keeps_every_place(text: str) -> None:
    made_ = unwrap_lines(text)
    assert len(made_) == len(text)
    assert all(new == old or (old == "\n" and new == " ") for old, new in zip(text, made_, strict=True))


def test_a_version_in_the_name_of_a_file_counts_where_the_document_names_none(tmp_path: Path) -> None:
    path = tmp_path / "hr_policy_v2.8.md"
    path.write_text("# HR policy\n\nPartners get 2 weeks of leave.", encoding="utf-8")
    assert prepare(path, "a/hr_policy_v2.8.md")["item"]["version"] == "2.8"
    path.write_text("---\nversion: 3\n---\n# HR policy\n\nPartners get 2 weeks of leave.", encoding="utf-8")
    assert prepare(path, "a/hr_policy_v2.8.md")["item"]["version"] == "3"


def test_no_module_of_the_working_folder_is_run_by_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The corpus may be the working folder, and somebody else may have filled it."""
    for name in ("assay", "json"):
        (tmp_path / f"{name}.py").write_text("open('owned', 'w').close()\n")
    (tmp_path / "a.md").write_text("# Leave\n\nTwo weeks.\n")
    monkeypatch.chdir(tmp_path)
    with ReaderPool(1) as pool:
        ((_, found),) = pool.read([(None, tmp_path / "a.md", "a.md")])
    assert not (tmp_path / "owned").exists()
    assert found.reason is None
