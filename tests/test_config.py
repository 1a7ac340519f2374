"""What the environment and policy files say."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import assay
from assay.config import Guard, Settings, read_policy, read_settings
from assay.errors import CommitError, PolicyError, ReceiptError
from assay.policy import PRESETS, preset
from assay.receipt import KeyStore
from assay.testing import FakeScorer


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    path = tmp_path / "team.yaml"
    path.write_text("version: 1\npolicy: {preset: rag, emit_threshold: 0.9}\n", encoding="utf-8")
    return path


def test_nothing_said_means_the_general_preset() -> None:
    assert read_policy(None, {}) == preset("general")
    assert read_policy(None, {"ASSAY_CONFIG": "  "}) == preset("general")
    assert read_settings({}) == Settings(config=None)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_found_by_name(name: str) -> None:
    assert read_policy(name, {}) is PRESETS[name]


def test_a_file_is_read_by_text_or_path(policy_file: Path) -> None:
    assert read_policy(policy_file, {}).emit_threshold == 0.9
    assert read_policy(str(policy_file), {}) == read_policy(policy_file, {})


def test_the_environment_names_the_file_where_the_caller_names_none(policy_file: Path) -> None:
    environ = {"ASSAY_CONFIG": str(policy_file)}
    assert read_policy(None, environ).emit_threshold == 0.9
    assert read_policy("general", environ) == preset("general")


def test_a_file_in_the_working_directory_counts_only_if_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "assay.yaml").write_text("version: 1\npolicy: creative\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read_policy(None, {}) == preset("general")
    assert read_policy("assay.yaml", {}) == preset("creative")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "marked.yml"
    path.write_bytes(b"\xef\xbb\xbfversion: 1\r\npolicy: rag\r\n")
    assert read_policy(path, {}) == preset("rag")


def test_a_fault_names_the_file_and_the_line(policy_file: Path) -> None:
    policy_file.write_text("version: 1\npolicy:\n  emit: 1\n", encoding="utf-8")
    with pytest.raises(PolicyError, match=r"team\.yaml:3:3: unknown setting 'emit'"):
        read_policy(policy_file, {})


def test_an_unknown_name_is_no_file() -> None:
    with pytest.raises(PolicyError, match="no policy is called 'ragg'; did you mean 'rag'"):
        read_policy("ragg", {})


@pytest.mark.parametrize("name", ["missing.yaml", "a/b", "nul\x00l.yaml"])
def test_a_file_that_cannot_be_read_is_an_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError, match="cannot be read"):
        read_policy(name, {})


def test_the_error_says_that_the_environment_named_the_file() -> None:
    with pytest.raises(PolicyError, match="named by ASSAY_CONFIG"):
        read_policy(None, {"ASSAY_CONFIG": "no-such.yaml"})


def test_a_directory_and_bytes_that_are_no_text_are_errors(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        read_policy(tmp_path, {})
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="not UTF-8"):
        read_policy(binary, {})


def test_a_huge_file_is_refused_without_reading_it_whole(tmp_path: Path) -> None:
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * 500_000)
    with pytest.raises(PolicyError, match="at most"):
        read_policy(huge, {})


def test_an_edited_policy_file_counts_from_the_next_check_on(policy_file: Path) -> None:
    first = assay.check("", policy=policy_file)
    policy_file.write_text("version: 1\npolicy: {preset: rag, emit_threshold: 0.95}\n", encoding="utf-8")
    assert assay.check("", policy=policy_file).policy.digest != first.policy.digest


def test_the_same_name_in_another_directory_is_another_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    for name in ("rag", "creative"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "assay.yaml").write_text(f"version: 1\npolicy: {name}\n", encoding="utf-8")
        monkeypatch.chdir(tmp_path / name)
        digests.add(assay.check("", policy="assay.yaml").policy.digest)
    assert digests == {preset("rag").digest, preset("creative").digest}


def test_a_guard_takes_its_receipt_keys_from_the_caller_or_from_the_environment(tmp_path: Path) -> None:
    keys = KeyStore(tmp_path / "keys")
    keys.create(datetime.now(UTC))
    answer, environ = "The warranty covers two years.", {"ASSAY_RECEIPT_KEYS": str(tmp_path / "keys")}
    by_environ = Guard(scorer=FakeScorer(), environ=environ)
    receipt = by_environ.issue(by_environ.check(answer, [answer]))
    public = Guard(scorer=FakeScorer(), keys=keys.ring_file, environ={})
    assert public.commit(answer, receipt, len) == len(answer)
    with pytest.raises(ReceiptError, match="public keys"):
        public.issue(public.check(answer, [answer]))
    with pytest.raises(CommitError, match="ASSAY_RECEIPT_KEYS"):
        Guard(scorer=FakeScorer(), environ={}).commit(answer, receipt, len)
