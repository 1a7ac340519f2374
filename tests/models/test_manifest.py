import json
from pathlib import Path

import pytest

from assay.errors import ModelError
from assay.models.manifest import MANIFEST, Manifest, read_manifest, verify_files, write_manifest


def make(directory: Path) -> Manifest:
    (directory / "a.bin").write_bytes(b"one")
    (directory / "b.bin").write_bytes(b"two")
    blank = Manifest(name="net", version="2", files={"a.bin": "", "b.bin": ""}, labels=("entailment",), licence="MIT")
    return write_manifest(directory, blank)


def test_a_manifest_written_is_read_back(tmp_path: Path) -> None:
    written = make(tmp_path)
    assert read_manifest(tmp_path) == written
    assert verify_files(tmp_path, [tmp_path / "a.bin", tmp_path / "b.bin"], written)


def test_a_directory_without_manifest_has_none(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    manifest = make(tmp_path)
    (tmp_path / "b.bin").unlink()
    with pytest.raises(ModelError, match=r"b\.bin"):
        verify_files(tmp_path, [tmp_path / "a.bin"], manifest)


def test_a_file_that_the_manifest_does_not_know_is_not_loaded(tmp_path: Path) -> None:
    manifest = make(tmp_path)
    (tmp_path / "c.bin").write_bytes(b"three")
    with pytest.raises(ModelError, match=r"does not list c\.bin"):
        verify_files(tmp_path, [tmp_path / "a.bin", tmp_path / "c.bin"], manifest)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"name": "n", "version": "1", "files": {}}', '{"name": 1, "version": "1", "files": {"a": "b"}}'],
)
def test_a_manifest_that_says_too_little_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_the_manifest_is_plain_json(tmp_path: Path) -> None:
    make(tmp_path)
    raw = json.loads((tmp_path / MANIFEST).read_text(encoding="utf-8"))
    assert set(raw) == {"name", "version", "files", "labels", "base", "licence", "training"}
