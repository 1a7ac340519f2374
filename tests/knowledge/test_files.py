"""A folder is followed as its files change, and every version of a document is found with the others."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from assay.errors import PolicyError, SourceError
from assay.knowledge.documents import document_of
from assay.knowledge.inquiries import formulate
from assay.knowledge.interface import Deadline, Passage, Profile, Scope
from assay.knowledge.kinds.files import FORM, FilesSettings, FilesSource
from assay.knowledge.sessions import Knowledge
from assay.testing import ScriptedScorer


def folder(path: Path, **files: str) -> Path:
    path.mkdir(exist_ok=True)
    for name, text in files.items():
        (path / f"{name}.md").write_text(text, encoding="utf-8")
    return path


def found(source: FilesSource, claim: str) -> list[Passage]:
    return list(source.ask(formulate(claim), Deadline(20)).passages)


def test_files_that_come_change_and_go_are_followed(tmp_path: Path) -> None:
    docs = folder(tmp_path / "docs", leave="Partners get two weeks of leave.")
    source = FilesSource(FilesSettings(docs, refresh_s=0))
    assert [one.text for one in found(source, "Partners get leave.")] == ["Partners get two weeks of leave."]
    (docs / "leave.md").write_text("Partners get four weeks of leave, and no less.", encoding="utf-8")
    folder(docs, parking="Parking is free on Sundays.")
    assert [one.text for one in found(source, "Partners get leave.")] == [
        "Partners get four weeks of leave, and no less."
    ]
    assert [one.id for one in found(source, "Parking is free.")] == ["parking.md"]
    (docs / "leave.md").unlink()
    assert found(source, "Partners get leave.") == []
    source.close()


def test_a_folder_that_is_gone_is_a_failure_and_not_a_source_with_nothing_in_it(tmp_path: Path) -> None:
    docs = folder(tmp_path / "docs", leave="Partners get two weeks of leave.")
    source = FilesSource(FilesSettings(docs, refresh_s=0))
    assert found(source, "Partners get leave.")
    docs.rename(tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(SourceError, match="could not be read"):
            found(source, "Partners get leave.")
    (tmp_path / "elsewhere").rename(docs)
    assert found(source, "Partners get leave.")
    source.close()


def test_a_folder_with_too_many_files_fails_with_every_question(tmp_path: Path) -> None:
    docs = folder(tmp_path / "docs", leave="Partners get two weeks of leave.", parking="Parking is free.")
    source = FilesSource(FilesSettings(docs, refresh_s=60, most_files=1))
    for _ in range(2):
        with pytest.raises(SourceError, match="more than the 1 files"):
            found(source, "Partners get leave.")
    source.close()


def test_a_complete_folder_with_a_file_that_cannot_be_read_denies_nothing(tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs", parking="Parking is free."), tmp_path / "index.db"
    (docs / "leave.md").write_bytes("Für Partner gibt es zwei Wochen.".encode("latin-1"))
    profile = Profile("handbook", "files", "organisation", 0.0, 20.0, Scope(None, "claim"), complete=True)

    def status(claim: str) -> str:
        # Each time a new process with the index of the one before it.
        source = FilesSource(FilesSettings(docs, index, refresh_s=0))
        try:
            return Knowledge([(profile, source)]).session(None, 20.0).ask(0, [formulate(claim)])[0].status
        finally:
            source.close()

    assert [status("Partners get leave."), status("Partners get leave.")] == ["failed", "failed"]
    assert status("Parking is free.") == "answered"
    (docs / "leave.md").write_text("Für Partner gibt es zwei Wochen.", encoding="utf-8")
    assert status("Pensions are paid monthly.") == "nothing"
    (docs / "leave.md").write_bytes("Für alle: zwei Wochen.".encode("latin-1"))
    assert status("Pensions are paid monthly.") == "failed"
    (docs / "leave.md").unlink()
    assert status("Pensions are paid monthly.") == "nothing"


def test_a_changed_file_that_cannot_be_read_is_not_quoted_in_its_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = folder(tmp_path / "docs", leave="Partners get two weeks of leave.")
    source = FilesSource(FilesSettings(docs, refresh_s=0))
    assert found(source, "Partners get leave.")
    (docs / "leave.md").write_text("Partners get four weeks of leave, and no less.", encoding="utf-8")

    def refuse(path: Path) -> bytes:
        raise PermissionError(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        assert found(source, "Partners get leave.") == []
    assert [one.text for one in found(source, "Partners get leave.")] == [
        "Partners get four weeks of leave, and no less."
    ]
    source.close()


def test_an_index_in_a_file_is_not_made_anew(tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs", leave="Partners get two weeks of leave."), tmp_path / "index.db"
    first = FilesSource(FilesSettings(docs, index, refresh_s=0))
    found(first, "Partners get leave.")
    first.close()
    told = (docs / "leave.md").stat()
    (docs / "leave.md").write_text("Partners get six weeks of leave!", encoding="utf-8")
    os.utime(docs / "leave.md", ns=(told.st_atime_ns, told.st_mtime_ns))
    second = FilesSource(FilesSettings(docs, index, refresh_s=0))
    # Size and time are those that the index knows: the file was not read again.
    assert "two weeks" in found(second, "Partners get leave.")[0].text
    second.close()


def test_an_index_that_is_locked_at_first_is_used_once_it_is_free(tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs", leave="Partners get two weeks of leave."), tmp_path / "index.db"
    source = FilesSource(FilesSettings(docs, index, refresh_s=0))
    with closing(sqlite3.connect(index)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SourceError, match="OperationalError"):
            found(source, "Partners get leave.")
        other.rollback()
    assert found(source, "Partners get leave.")
    source.close()


def test_an_index_of_another_version_that_is_locked_at_first_is_emptied_before_it_is_used(tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs", leave="Partners get two weeks of leave."), tmp_path / "index.db"
    before = FilesSource(FilesSettings(docs, index, refresh_s=0))
    found(before, "Partners get leave.")
    before.close()
    with closing(sqlite3.connect(index)) as other:
        other.execute("UPDATE form SET version = ?", (FORM - 1,))
        other.execute("UPDATE pieces SET body = 'Partners get leave as another version read it.'")
        other.commit()
        source = FilesSource(FilesSettings(docs, index, refresh_s=0))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SourceError, match="OperationalError"):
            found(source, "Partners get leave.")
        other.rollback()
    assert [one.text for one in found(source, "Partners get leave.")] == ["Partners get two weeks of leave."]
    source.close()


def unusual_file(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    return path


def test_a_file_whose_name_is_not_utf_8_is_read_under_its_escaped_name(tmp_path: Path) -> None:
    docs = folder(tmp_path / "docs", leave="Partners get two weeks of leave.")
    menu = unusual_file(docs / os.fsdecode(b"caf\xe9.md"), "The canteen opens at nine.")
    unusual_file(docs / os.fsdecode(b"b\xfcro") / "desk.md", "Desks are booked by phone.")
    source = FilesSource(FilesSettings(docs, refresh_s=0))
    assert [one.id for one in found(source, "Partners get leave.")] == ["leave.md"]
    (canteen,) = found(source, "The canteen opens.")
    assert (canteen.id, canteen.title) == ("caf\\xe9.md", "caf\\xe9")
    assert [one.id for one in found(source, "Desks are booked.")] == ["b\\xfcro/desk.md"]
    assert not source.ask(formulate("Desks are booked."), Deadline(20)).partial
    menu.unlink()
    assert found(source, "The canteen opens.") == []
    source.close()


def test_of_two_files_with_one_escaped_name_the_one_that_cannot_be_told_apart_counts_as_not_read(
    tmp_path: Path,
) -> None:
    docs = folder(tmp_path / "docs", **{"caf\\xe9": "The canteen opens at nine."})
    unusual_file(docs / os.fsdecode(b"caf\xe9.md"), "The canteen opens at ten.")
    source = FilesSource(FilesSettings(docs, refresh_s=0))
    answer = source.ask(formulate("The canteen opens."), Deadline(20))
    assert [one.text for one in answer.passages] == ["The canteen opens at nine."]
    assert answer.partial
    source.close()


def test_a_version_that_words_alone_do_not_find_comes_with_the_one_that_they_find(tmp_path: Path) -> None:
    head = "---\ndocument_id: leave\nversion: {}\neffective_date: {}\n---\n"
    docs = folder(
        tmp_path / "docs",
        old=head.format(1, "2023-01-01") + "# Leave\nPartners get two weeks of leave.",
        new=head.format(2, "2025-01-01") + "# Leave\nThe entitlement of partners is twenty-eight days.",
    )
    source = FilesSource(FilesSettings(docs, candidates=1))
    both = {one.id: one for one in found(source, "Partners get two weeks of leave.")}
    assert set(both) == {"old.md", "new.md"}
    assert (both["new.md"].version, both["new.md"].effective_date) == ("2", date(2025, 1, 1))
    source.close()


def test_the_network_puts_what_tells_most_first(tmp_path: Path) -> None:
    wordy, telling = (
        "Partners get weeks: leave for partners, 4 weeks of leave for partners.",
        "Partners get 2 weeks of leave.",
    )
    docs = folder(tmp_path / "docs", a=wordy, b=telling + " Ask the desk for the form, and hand it in with your lead.")
    claim = "Partners get 4 weeks of leave."
    plain = FilesSource(FilesSettings(docs))
    assert [one.id for one in found(plain, claim)] == ["a.md", "b.md"]
    body = (docs / "b.md").read_text(encoding="utf-8")
    network = FilesSource(FilesSettings(docs), scorer=ScriptedScorer({(body, claim): (0.0, 0.1, 0.9)}))
    assert [one.id for one in found(network, claim)] == ["b.md", "a.md"]
    plain.close()
    network.close()


def test_links_out_of_the_folder_hidden_files_and_other_formats_are_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("The vault code is 4711.", encoding="utf-8")
    docs = folder(tmp_path / "docs", plain="The lobby code is 1234.")
    (docs / "link.md").symlink_to(secret)
    (docs / ".hidden.md").write_text("The hidden code is 9999.", encoding="utf-8")
    (docs / "picture.png").write_bytes(b"\x89PNG code")
    (docs / "broken.txt").write_bytes(b"\xff\xfe code")
    source = FilesSource(FilesSettings(docs))
    assert [one.id for one in found(source, "The vault code is 4711.")] == ["plain.md"]
    source.close()


def test_a_folder_too_large_for_one_question_is_read_over_several(tmp_path: Path) -> None:
    docs = folder(tmp_path / "docs", **{f"page{n}": f"Page {n} is about quaggas. " * 400 for n in range(150)})
    source = FilesSource(FilesSettings(docs))
    tries = 0
    while True:
        tries += 1
        try:
            answer = source.ask(formulate("Quaggas are extinct."), Deadline(0.15))
            break
        except SourceError as error:
            assert "still to be read" in str(error) or "in time" in str(error)  # noqa: PT017 either may come
        assert tries < 200
    assert answer.passages
    source.close()


def test_a_folder_that_is_not_there_is_told_when_it_is_configured(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="expected a folder"):
        FilesSource(FilesSettings(tmp_path / "none"))


def test_pages_tables_and_heads_are_read() -> None:
    page = document_of("---\ntitle: Fees\nVersion: '3'\nvalid until: 2026-12-31\n---\nIt is 5 euros.")
    assert (page.title, page.version, page.expiry_date) == ("Fees", "3", date(2026, 12, 31))
    assert document_of("name,price\nAria,5\nLark,6", ".csv").pieces == ("name: Aria\nprice: 5", "name: Lark\nprice: 6")
    assert all(len(piece) <= 1_300 for piece in document_of("A sentence of words. " * 500).pieces)


def test_each_of_many_files_is_found(tmp_path: Path) -> None:
    docs = folder(
        tmp_path / "docs", **{f"page{n}": f"Item {n} costs {n} euros and weighs {n} grams." for n in range(500)}
    )
    source = FilesSource(FilesSettings(docs, refresh_s=60))
    found(source, "Item 7 costs 7 euros.")
    for n in range(20):
        assert any(f"Item {n} costs" in one.text for one in found(source, f"Item {n} costs {n} euros."))
    source.close()
