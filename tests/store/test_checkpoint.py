"""Signed notes and checkpoints, by the examples of the specification and against every change."""

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import AuditError
from assay.receipt import KeyRing, PublicKey, Revocation, SigningKey
from assay.receipt.ed25519 import fits
from assay.receipt.instants import instant
from assay.store.audit.merkle.checkpoint import Checkpoint, open_checkpoint, read_checkpoint
from assay.store.audit.merkle.signed_notes import note_key_id, read_note, sign_note, signers, verifier_key

KEY = SigningKey.from_seed(bytes(range(32)))
OTHER = SigningKey.from_seed(bytes(range(1, 33)))
DAY = instant(datetime(2026, 3, 1, tzinfo=UTC))
ORIGIN = "example.com/log42"

# From the specification c2sp.org/tlog-checkpoint.
EXAMPLE = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "\N{EM DASH} example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
)
# From the documentation of Go's sumdb/note, which the specification grew out of.
NEUMANN_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
NEUMANN = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n"
    "\N{EM DASH} PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def public(key: SigningKey, **state: object) -> PublicKey:
    return PublicKey.model_validate({"key_id": key.key_id, "public": key.public.hex(), "created": DAY, **state})


RING = KeyRing(keys=(public(KEY),))
SIGNED = Checkpoint(ORIGIN, 3, bytes(range(32))).sign([KEY])


def test_the_example_of_the_specification_is_read_and_written_alike() -> None:
    found = read_checkpoint(EXAMPLE)
    assert (found.origin, found.size, found.root.hex()[:8]) == ("example.com/behind-the-sofa", 20852163, "0ac5186a")
    assert str(read_note(EXAMPLE)) == EXAMPLE
    assert EXAMPLE.startswith(found.text)


def test_a_note_that_another_implementation_signed_is_verified() -> None:
    name, key_id, encoded = NEUMANN_KEY.split("+")
    key = base64.b64decode(encoded)[1:]
    note = read_note(NEUMANN)
    assert note.signatures[0].key_id == note_key_id(name, key) == bytes.fromhex(key_id)
    assert verifier_key(name, key) == NEUMANN_KEY
    assert fits(key, note.signatures[0].signature, note.text.encode())


def test_what_was_signed_is_opened_with_the_ring() -> None:
    assert open_checkpoint(SIGNED, RING) == Checkpoint(ORIGIN, 3, bytes(range(32)))
    assert open_checkpoint(SIGNED.encode(), RING).size == 3


def test_a_second_key_may_sign_and_lines_of_strangers_are_ignored() -> None:
    both = Checkpoint(ORIGIN, 3, bytes(32)).sign([OTHER, KEY])
    assert open_checkpoint(both, RING).size == 3
    assert [key.key_id for key in signers(read_note(both), ORIGIN, RING)] == [KEY.key_id]


def test_a_checkpoint_that_no_key_of_the_ring_signed_is_refused() -> None:
    with pytest.raises(AuditError, match="no key of the ring signed"):
        open_checkpoint(Checkpoint(ORIGIN, 3, bytes(32)).sign([OTHER]), RING)


def test_a_signature_under_another_name_does_not_count() -> None:
    note = sign_note(Checkpoint(ORIGIN, 3, bytes(32)).text, "example.com/other", [KEY])
    with pytest.raises(AuditError, match="no key of the ring signed"):
        open_checkpoint(note, RING)


def test_a_revoked_key_signs_nothing_and_a_retired_one_did() -> None:
    revoked = KeyRing(keys=(public(KEY, revoked=Revocation(at=DAY, reason="stolen")),))
    with pytest.raises(AuditError, match="was revoked"):
        open_checkpoint(SIGNED, revoked)
    assert open_checkpoint(SIGNED, KeyRing(keys=(public(KEY, retired=DAY),))).size == 3


@given(st.integers(0, len(SIGNED.encode()) * 8 - 1))
def test_no_bit_of_a_checkpoint_can_be_changed(bit: int) -> None:
    data = bytearray(SIGNED.encode())
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(AuditError):
        open_checkpoint(bytes(data), RING)


@given(st.integers(0, len(SIGNED) - 1), st.integers(1, 5))
def test_nothing_can_be_cut_from_a_checkpoint(begin: int, length: int) -> None:
    with pytest.raises(AuditError):
        open_checkpoint(SIGNED[:begin] + SIGNED[begin + length :], RING)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_whatever_is_no_checkpoint_is_an_audit_error(text: str | bytes) -> None:
    with pytest.raises(AuditError):
        read_checkpoint(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{ORIGIN}\n03\n{'A' * 43}=\n", "size of a log"),
        (f"{ORIGIN}\n-1\n{'A' * 43}=\n", "size of a log"),
        (f"{ORIGIN}\n9223372036854775808\n{'A' * 43}=\n", "size of a log"),
        (f"{ORIGIN}\n3\n{'A' * 42}B=\n", "one spelling"),
        (f"{ORIGIN}\n3\n{'A' * 40}\n", "32 bytes"),
        (f"{ORIGIN}\n3\n{'A' * 43}=\nextension\n", "three lines"),
    ],
)
def test_a_malformed_checkpoint_is_refused_whoever_signed_it(text: str, why: str) -> None:
    with pytest.raises(AuditError, match=why):
        open_checkpoint(sign_note(text, ORIGIN, [KEY]), RING)


def test_a_note_has_bounds() -> None:
    with pytest.raises(AuditError, match="at most 65,536 bytes"):
        read_note(SIGNED + "x" * 70_000)
    line = SIGNED.rpartition("\n\n")[2]
    with pytest.raises(AuditError, match="at most 100 signatures"):
        read_note(SIGNED + line * 100)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u00a0b", "a\n"])
def test_a_name_that_cannot_be_a_keys_name_is_refused(name: str) -> None:
    with pytest.raises(AuditError, match="key name"):
        sign_note("text\n", name, [KEY])


@pytest.mark.parametrize("text", ["", "\n", "no end", "tab\t\n"])
def test_a_text_that_cannot_stand_in_a_note_is_refused(text: str) -> None:
    with pytest.raises(AuditError, match="text of a note"):
        sign_note(text, "name", [KEY])
