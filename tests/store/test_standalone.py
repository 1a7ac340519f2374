"""The stand-alone verifier: it imports nothing of assay, and agrees with what it stands apart from."""

import ast
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.making import KEY, KEYS, OTHER_KEY, RING, record_of

from assay.receipt import SigningKey
from assay.receipt.ed25519 import fits
from assay.store.audit import entries, standalone
from assay.store.audit.export import export_log, export_run
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.merkle.proofs import prove_entry
from assay.store.audit.merkle.signed_notes import verifier_key
from assay.store.audit.merkle.tree import is_included, leaf_hash
from assay.store.db.store import Store

FILE = Path(standalone.__file__)

# RFC 8032, 7.1: secret key, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
            "4a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The bundle of a log, of one run, a proof, an older checkpoint and the key."""
    folder = tmp_path_factory.mktemp("bundles")
    with Store(str(folder / "x.db")) as store:
        records = [record_of(f"Answer {number}, caf\u00e9 \u2028 {{}}.") for number in range(5)]
        for record in records[:3]:
            store.record(record)
        older = make_checkpoint(store, KEYS, "default")
        for record in records[3:]:
            store.record(record)
        make_checkpoint(store, KEYS, "default")
        with store.reading("default") as connection:
            return {
                "log": list(export_log(connection, "default")),
                "run": list(export_run(connection, "default", records[1].id)),
                "proof": [prove_entry(connection, "default", 4).to_text()],
                "older": [older],
                "key": [verifier_key(older.split("\n", 1)[0], KEY.public)],
            }


@pytest.mark.parametrize(("seed", "message", "signature"), VECTORS)
def test_the_vectors_of_the_standard(seed: str, message: str, signature: str) -> None:
    public = SigningKey.from_seed(bytes.fromhex(seed)).public
    assert standalone.ed25519_fits(public, bytes.fromhex(signature), bytes.fromhex(message))
    assert not standalone.ed25519_fits(public, bytes.fromhex(signature), bytes.fromhex(message) + b"x")


@settings(max_examples=30)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=64), st.integers(0, 511))
def test_signatures_are_judged_as_cryptography_judges_them(seed: bytes, message: bytes, bit: int) -> None:
    key = SigningKey.from_seed(seed)
    signature = key.sign(message)
    assert standalone.ed25519_fits(key.public, signature, message)
    broken = bytearray(signature)
    broken[bit // 8] ^= 1 << bit % 8
    for public, other in ((key.public, bytes(broken)), (broken[:32], signature), (key.public, signature[:-1])):
        ours = standalone.ed25519_fits(bytes(public), bytes(other), message)
        assert ours == fits(bytes(public), bytes(other), message) == False  # noqa: E712 all three


def test_a_signature_has_one_spelling() -> None:
    signature = KEY.sign(b"text")
    order = 2**252 + 27742317777372353535851937790883648493
    larger = signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    assert not standalone.ed25519_fits(KEY.public, larger, b"text")


def test_points_that_are_none_are_refused() -> None:
    for public in (b"\xff" * 32, (2**255 - 19).to_bytes(32, "little"), b"\x02" + bytes(31), bytes(31)):
        assert not standalone.ed25519_fits(public, KEY.sign(b""), b"")


def test_it_imports_the_standard_library_alone() -> None:
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert imported <= set(sys.stdlib_module_names)


def test_it_runs_alone_and_ends_with_a_status(bundles: dict[str, list[str]], tmp_path: Path) -> None:
    bundle, older, copy = tmp_path / "b.jsonl", tmp_path / "older.txt", tmp_path / "verify.py"
    bundle.write_bytes("".join(bundles["log"]).encode())
    older.write_bytes(bundles["older"][0].encode())
    copy.write_bytes(FILE.read_bytes())

    def status(*arguments: str) -> tuple[int, str]:
        # -I and -S: nothing of the environment, no installed package.
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(copy), *arguments], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    assert status(str(bundle), "--key", bundles["key"][0], "--checkpoint", str(older))[0] == 0
    changed = "".join(bundles["log"]).replace('\\"score\\":970000', '\\"score\\":970001', 1)
    bundle.write_bytes(changed.encode())
    code, said = status(str(bundle), "--key", bundles["key"][0])
    assert (code, said[:14]) == (1, "DOES NOT HOLD:")
    assert status(str(bundle))[0] == 2
    assert status(str(tmp_path / "none"), "--key", bundles["key"][0])[0] == 2


def test_a_ring_is_as_good_as_a_key(bundles: dict[str, list[str]]) -> None:
    for ring in (RING.to_text(), json.dumps(RING.model_dump(mode="json"))):
        assert standalone.verify_bundle(bundles["run"], standalone.read_ring(ring))
    revoked = json.loads(RING.model_dump_json())
    revoked["keys"][0]["revoked"] = {"at": "2026-01-02T00:00:00Z", "reason": "stolen"}
    with pytest.raises(standalone.VerificationError, match="no trusted key"):
        standalone.verify_bundle(bundles["run"], standalone.read_ring(json.dumps(revoked)))


def test_what_holds_is_said(bundles: dict[str, list[str]]) -> None:
    keys = [standalone.read_vkey(bundles["key"][0])]
    assert "with 5 entries is whole" in standalone.verify_bundle(bundles["log"], keys)
    assert "1 older checkpoint" in standalone.verify_bundle(bundles["log"], keys, bundles["older"])
    assert "what was decided on: emit (serve)" in standalone.verify_bundle(bundles["run"], keys)
    assert '"kind":"decision"' in standalone.verify_proof(bundles["proof"][0], keys)


def test_another_key_proves_nothing(bundles: dict[str, list[str]]) -> None:
    keys = [standalone.Key(None, OTHER_KEY.public)]
    for name in ("log", "run"):
        with pytest.raises(standalone.VerificationError, match="no trusted key"):
            standalone.verify_bundle(bundles[name], keys)
    with pytest.raises(standalone.VerificationError, match="no trusted key"):
        standalone.verify_proof(bundles["proof"][0], keys)


@settings(max_examples=150)
@given(st.data())
def test_no_byte_of_a_run_or_a_proof_can_be_changed(bundles: dict[str, list[str]], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["run", "proof"]))
    text = bytearray("".join(bundles[name]).encode())
    place = data.draw(st.integers(0, len(text) * 8 - 1))
    text[place // 8] ^= 1 << place % 8
    changed = text.decode(errors="replace")
    keys = [standalone.read_vkey(bundles["key"][0])]
    verify = (
        partial(standalone.verify_bundle, changed.splitlines(keepends=True))
        if name == "run"
        else partial(standalone.verify_proof, changed)
    )
    # What `main` takes for something that does not hold.
    with pytest.raises((standalone.VerificationError, ValueError, KeyError, TypeError)):
        verify(keys)


def test_commitments_are_those_of_the_store() -> None:
    assert standalone.commitment(b"s" * 32, "output", b"x") == entries.commitment(b"s" * 32, "output", b"x")


@given(st.integers(1, 40), st.data())
def test_proofs_are_walked_alike(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof = data.draw(st.lists(st.binary(min_size=32, max_size=32), max_size=7))
    leaf = leaf_hash(b"x")
    try:
        found = standalone.root_of_proof(leaf, index, size, proof)
    except standalone.VerificationError:
        found = b""
    assert is_included(leaf, index, size, proof, found) == bool(found)
