"""`assay receipt` and `assay check --receipt` through typer's runner."""

import json
import os
import shutil
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.standin import Run

from assay.policy import preset
from assay.receipt import Claim, KeyStore, Outcome, Receipt, Use
from assay.store.db.store import Store
from assay.store.records.receipt_uses import UsesInStore


@pytest.fixture(autouse=True)
def _no_keys_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_RECEIPT_KEYS", raising=False)


@pytest.fixture
def keys(run: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    assert run("receipt", "create-key", "--keys", folder).exit_code == 0
    return folder


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    path = tmp_path / "answer.md"
    path.write_bytes(b"All is well.\n")
    return path


@pytest.fixture
def receipt(run: Run, keys: Path, answer: Path, tmp_path: Path) -> Path:
    path = tmp_path / "receipt.json"
    assert run("check", answer, "--receipt", path, "--keys", keys).exit_code == 0
    return path


def ring(keys: Path) -> Path:
    return keys / "ring.json"


# Keys


def test_creating_a_key_makes_a_private_file_and_a_public_ring(run: Run, tmp_path: Path) -> None:
    done = run("receipt", "create-key", "--keys", tmp_path / "keys")
    (private,) = (tmp_path / "keys").glob("*.key")
    assert done.exit_code == 0
    assert private.stem in done.stdout
    assert "PRIVATE" not in done.stdout
    assert os.name != "posix" or stat.S_IMODE(private.stat().st_mode) == 0o600
    assert run("receipt", "create-key", "--keys", tmp_path / "keys").exit_code == 2


def test_the_environment_names_the_keys(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RECEIPT_KEYS", str(tmp_path / "keys"))
    assert run("receipt", "create-key").exit_code == 0
    assert "active" in run("receipt", "list").stdout


def test_keys_that_nobody_names_are_misuse(run: Run, answer: Path) -> None:
    for arguments in (["create-key"], ["rotate"], ["list"], ["revoke", "x", "--reason", "y"], ["sign", answer]):
        done = run("receipt", *arguments)
        assert done.exit_code == 2, arguments
    assert run("check", answer, "--receipt", answer.with_suffix(".json")).exit_code == 2


def test_rotating_and_revoking_show_in_the_list(run: Run, keys: Path) -> None:
    first = KeyStore(keys).signer().key_id
    assert run("receipt", "rotate", "--keys", keys).exit_code == 0
    assert run("receipt", "revoke", first, "--reason", "lost\x1b[2J", "--keys", keys).exit_code == 0
    second = KeyStore(keys).signer().key_id
    listed = run("receipt", "list", "--keys", keys).stdout
    assert "\x1b" not in listed
    assert [line.split()[:2] for line in listed.splitlines()[:2]] == [[first, "revoked"], [second, "active"]]
    values = json.loads(run("receipt", "list", "--ring", ring(keys), "--format", "json").stdout)
    assert [value["state"] for value in values] == ["revoked", "active"]


def test_a_key_can_be_revoked_since_a_time(run: Run, keys: Path) -> None:
    key = KeyStore(keys).ring().keys[0]
    odd = run("receipt", "revoke", key.key_id, "--reason", "x", "--since", "yesterday", "--keys", keys)
    assert odd.exit_code == 2
    # Never before the key was created: what it cannot have signed need not be distrusted.
    done = run("receipt", "revoke", key.key_id, "--reason", "x", "--since", "2020-01-01T00:00:00Z", "--keys", keys)
    assert done.exit_code == 0
    revoked = KeyStore(keys).ring().keys[0].revoked
    assert revoked is not None
    assert revoked.at == key.created


def test_an_unknown_key_cannot_be_revoked(run: Run, keys: Path) -> None:
    assert run("receipt", "revoke", "0" * 32, "--reason", "x", "--keys", keys).exit_code == 2


# Checking and verifying


def test_an_emitted_answer_gets_a_receipt_that_verifies_with_the_ring_alone(
    run: Run, keys: Path, answer: Path, receipt: Path, tmp_path: Path
) -> None:
    public = Path(shutil.copy(ring(keys), tmp_path / "public.json"))
    shutil.rmtree(keys)
    done = run("receipt", "verify", answer, receipt, "--ring", public)
    assert done.exit_code == 0
    assert done.stdout.startswith("valid: this exact output passed the policy general")
    assert Receipt.from_text(receipt.read_bytes()).statement.action == "emit"


def test_the_answer_may_come_from_standard_input(run: Run, keys: Path, receipt: Path) -> None:
    place = ("receipt", "verify", "-", receipt, "--ring", ring(keys))
    assert run(*place, stdin=b"All is well.\n").exit_code == 0
    assert run(*place, stdin=b"All is well.").exit_code == 1


@pytest.mark.parametrize(
    "changed", [b"All is well.\r\n", b"All is well. \n", b"\xef\xbb\xbfAll is well.\n", b"\xff", b""]
)
def test_a_changed_answer_ends_with_1(run: Run, keys: Path, answer: Path, receipt: Path, changed: bytes) -> None:
    answer.write_bytes(changed)
    done = run("receipt", "verify", answer, receipt, "--ring", ring(keys))
    assert done.exit_code == 1
    assert "other_output" in done.stdout


def test_a_changed_receipt_ends_with_1_and_the_json_says_why(run: Run, keys: Path, answer: Path, receipt: Path) -> None:
    receipt.write_text(receipt.read_text().replace('"run-1"', '"run-2"'))
    done = run("receipt", "verify", answer, receipt, "--ring", ring(keys), "--format", "json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["valid"] is False
    assert [problem["code"] for problem in found["problems"]] == ["altered"]
    receipt.write_bytes(b"\x00" * 2_000_000)
    assert run("receipt", "verify", answer, receipt, "--ring", ring(keys)).exit_code == 1


def test_what_cannot_be_read_ends_with_2(run: Run, keys: Path, answer: Path, receipt: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert run("receipt", "verify", nowhere, receipt, "--ring", ring(keys)).exit_code == 2
    assert run("receipt", "verify", answer, nowhere, "--ring", ring(keys)).exit_code == 2
    assert run("receipt", "verify", answer, receipt, "--ring", nowhere).exit_code == 2
    assert run("receipt", "verify", answer, receipt).exit_code == 2
    assert run("receipt", "verify", answer, receipt, "--ring", answer).exit_code == 2
    assert run("receipt", "verify", answer, receipt, "--ring", ring(keys), "--policy", "no-such").exit_code == 2


def test_the_policy_can_be_demanded(run: Run, keys: Path, answer: Path, receipt: Path) -> None:
    # The stand-in's policy is called general and has another digest than the preset of that name.
    assert preset("general").digest != "a" * 64
    done = run("receipt", "verify", answer, receipt, "--ring", ring(keys), "--policy", "general")
    assert done.exit_code == 1
    assert "other_policy" in done.stdout


def test_a_revoked_key_ends_with_1_and_a_retired_one_with_0(run: Run, keys: Path, answer: Path, receipt: Path) -> None:
    key = KeyStore(keys).signer().key_id
    run("receipt", "rotate", "--keys", keys)
    assert run("receipt", "verify", answer, receipt, "--ring", ring(keys)).exit_code == 0
    run("receipt", "revoke", key, "--reason", "stolen", "--keys", keys)
    assert run("receipt", "verify", answer, receipt, "--ring", ring(keys)).exit_code == 1


def test_an_answer_that_is_not_emitted_gets_no_receipt_and_loses_an_old_one(
    run: Run, keys: Path, answer: Path, receipt: Path
) -> None:
    answer.write_text("It is FALSE.\n")
    done = run("check", answer, "--receipt", receipt, "--keys", keys)
    assert done.exit_code == 1
    assert "no receipt: its action is block" in done.stderr
    assert not receipt.exists()


def test_a_file_that_is_no_receipt_is_never_replaced(run: Run, keys: Path, answer: Path) -> None:
    before = answer.read_bytes()
    done = run("check", answer, "--receipt", answer, "--keys", keys)
    assert done.exit_code == 2
    assert "exists and is no receipt" in done.stderr
    assert answer.read_bytes() == before


def test_a_receipt_is_for_one_answer(run: Run, keys: Path, tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("All is well.")
    assert run("check", folder, "--receipt", tmp_path / "r.json", "--keys", keys).exit_code == 2


# Signing reports


def test_a_report_that_was_written_as_json_can_be_signed(run: Run, keys: Path, answer: Path, tmp_path: Path) -> None:
    report, receipt = tmp_path / "report.json", tmp_path / "signed.json"
    assert run("check", answer, "--format", "json", "--out", report).exit_code == 0
    assert run("receipt", "sign", report, "--keys", keys, "--out", receipt).exit_code == 0
    demands = ("--ring", ring(keys), "--report", report)
    assert run("receipt", "verify", answer, receipt, *demands).exit_code == 0
    piped = run("receipt", "sign", "-", "--keys", keys, stdin=report.read_bytes())
    assert Receipt.from_text(piped.stdout).statement.report == Receipt.from_text(receipt.read_bytes()).statement.report
    value = json.loads(report.read_text())
    report.write_text(json.dumps({**value, "overall_score": 0.5}))
    assert run("receipt", "verify", answer, receipt, *demands).exit_code == 1


def test_a_report_that_lets_nothing_out_ends_with_1(run: Run, keys: Path, answer: Path, tmp_path: Path) -> None:
    report, receipt = tmp_path / "report.json", tmp_path / "signed.json"
    answer.write_text("It is FALSE.\n")
    run("check", answer, "--format", "json", "--out", report)
    for options in ([], ["--with-disclosure"]):
        done = run("receipt", "sign", report, "--keys", keys, "--out", receipt, *options)
        assert done.exit_code == 1
        assert "not signed: its action is block" in done.stderr
    assert not receipt.exists()


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "NaN", '{"run_id":"a","run_id":"b"}', "[" * 100_000, '{"overall_score": Infinity}', "\x00"]
)
def test_what_is_no_report_is_misuse(run: Run, keys: Path, tmp_path: Path, text: str) -> None:
    report = tmp_path / "report.json"
    report.write_text(text)
    assert run("receipt", "sign", report, "--keys", keys).exit_code == 2


# As a process


def test_help_names_the_verbs_and_needs_none_of_the_heavy_libraries() -> None:
    code = (
        "import sys\nfrom assay.cli.app import app\n"
        "try:\n    app(['receipt', '--help'], prog_name='assay')\n"
        "except SystemExit as error:\n    assert error.code == 0\n"
        "assert not {'cryptography', 'numpy', 'rich'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for verb in ("create-key", "rotate", "revoke", "list", "sign", "verify"):
        assert verb in done.stdout


# Uses


def test_commits_without_an_outcome_are_listed_and_end_with_1(run: Run, tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    issued = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    uses = [Use("a" * 32, f"{number:032x}", "c" * 64, issued, issued + timedelta(hours=1)) for number in range(2)]
    none = run("receipt", "uses", "--database", database)
    assert (none.exit_code, none.stdout) == (0, "every commit has an outcome\n")
    with Store(str(database), clock=lambda: issued) as store:
        for use in uses:
            assert UsesInStore(store).claim(use, issued) is Claim.FIRST
        UsesInStore(store).settle(uses[0], Outcome.RETURNED)
    told = run("receipt", "uses", "--database", database)
    assert told.exit_code == 1
    assert told.stdout.startswith(f"{uses[1].receipt_id}  unknown   2026-03-01T12:00:00Z  by ")
    everything = json.loads(run("receipt", "uses", "--all", "--database", database, "--format", "json").stdout)
    assert {(one["receipt_id"], one["outcome"]) for one in everything} == {
        (uses[0].receipt_id, "returned"),
        (uses[1].receipt_id, None),
    }
    other = run("receipt", "uses", "--all", "--database", database, "--tenant", "globex")
    assert (other.exit_code, other.stdout) == (0, "no receipt was used\n")
