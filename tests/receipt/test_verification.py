"""Verifying: the round trip, every change detected, and each mismatch named."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.receipt.making import DAY, KEY, OTHER_KEY, OUTPUT, RECEIPT_ID, receipt_of, report_of, ring_of

from assay.errors import ReceiptError
from assay.receipt import (
    KeyRing,
    ProblemCode,
    PublicKey,
    Receipt,
    Revocation,
    SigningKey,
    output_digest,
    report_digest,
    verify,
)
from assay.receipt.ed25519 import fits
from assay.receipt.edwards import is_sound
from assay.receipt.model import Statement
from assay.receipt.ring import key_id_of
from assay.schema import Evidence, Identity, Timing
from assay.schema.report_parts.digests import evidence_digest

RING = ring_of(KEY)
RECEIPT = receipt_of()
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def codes(output: str | bytes, receipt: object, ring: KeyRing = RING, **demands: object) -> set[str]:
    return {code.value for code in verify(output, receipt, ring, **demands).codes}  # type: ignore[arg-type]


def changed_by_one_byte(data: bytes) -> st.SearchStrategy[bytes]:
    """Every way in which one byte of some bytes may be replaced, removed or added."""
    at = st.integers(0, len(data) - 1)
    byte = st.integers(0, 255)
    replaced = (
        st.tuples(at, byte)
        .filter(lambda c: data[c[0]] != c[1])
        .map(lambda c: data[: c[0]] + bytes([c[1]]) + data[c[0] + 1 :])
    )
    removed = at.map(lambda i: data[:i] + data[i + 1 :])
    added = st.tuples(at, byte).map(lambda c: data[: c[0]] + bytes([c[1]]) + data[c[0] :])
    return st.one_of(replaced, removed, added)


# The round trip


@given(TEXT.filter(lambda text: text != ""))
def test_what_was_signed_verifies_whatever_the_text(output: str) -> None:
    receipt = receipt_of(report_of(output))
    for form in (
        receipt,
        receipt.to_text(),
        receipt.to_text().encode(),
        receipt.model_dump(),
        f"{receipt.to_text()}\n",
    ):
        found = verify(output, form, RING)
        assert found.valid, found.message
        assert found.receipt == receipt
    assert verify(output.encode(), receipt, RING).valid


def test_a_receipt_says_what_passed_under_what() -> None:
    statement = RECEIPT.statement
    report = report_of()
    assert statement.output == output_digest(OUTPUT)
    assert statement.report == report_digest(report)
    assert (statement.policy, statement.verifier) == (report.policy, report.verifier)
    assert (statement.action, statement.run_id, statement.receipt_id) == ("emit", "run-1", RECEIPT_ID)
    assert (statement.issued_at, statement.key_id) == ("2026-03-01T12:00:00Z", KEY.key_id)


def test_the_form_of_a_receipt_does_not_change_unnoticed() -> None:
    # Receipts are kept for years and read in other languages: a change here needs another version.
    assert RECEIPT.statement.signed_bytes().decode() == (
        f'assay receipt 1\n{{"action":"emit","evidence":"{evidence_digest([])}","issued_at":"2026-03-01T12:00:00Z",'
        '"key_id":"56475aa75463474c0285df5dbf2bcab7",'
        f'"output":"{output_digest(OUTPUT)}","policy":{{"digest":"{"a" * 64}","name":"general"}},'
        f'"receipt_id":"{RECEIPT_ID}","report":"{report_digest(report_of())}","run_id":"run-1",'
        f'"verifier":{{"digest":"{"b" * 64}","name":"stand-in"}},"version":2}}'
    )
    assert RECEIPT.to_text().startswith('{"signature":"')


def first_version() -> Receipt:
    """A receipt as versions before wrote it."""
    fields = RECEIPT.statement.model_dump(exclude={"evidence", "version"})
    statement = Statement(version=1, **fields)
    return Receipt(statement=statement, signature=KEY.sign(statement.signed_bytes()).hex())


def test_a_receipt_of_the_first_version_still_holds_and_has_its_own_form() -> None:
    old = first_version()
    assert "evidence" not in old.to_text()
    assert codes(OUTPUT, old) == codes(OUTPUT, old.to_text()) == set()
    assert codes(OUTPUT, old, evidence=[]) == {"other_evidence"}
    with pytest.raises(ReceiptError):
        Receipt.from_mapping({"statement": {**old.statement.plain(), "evidence": "a" * 64}, "signature": old.signature})


def test_the_evidence_is_compared_where_it_is_given() -> None:
    assert codes(OUTPUT, RECEIPT, evidence=[]) == set()
    assert codes(OUTPUT, RECEIPT, evidence=[Evidence(id="a", text="Another.")]) == {"other_evidence"}


@given(
    st.lists(
        st.builds(Evidence, id=TEXT.filter(bool), text=TEXT, title=st.none() | TEXT),
        max_size=3,
        unique_by=lambda one: one.id,
    )
)
def test_other_evidence_has_another_digest(evidence: list[Evidence]) -> None:
    first = evidence_digest(evidence)
    assert evidence_digest(list(evidence)) == first
    assert evidence_digest([*evidence, Evidence(id="more", text="x")]) != first
    for at, item in enumerate(evidence):
        for change in ({"text": f"{item.text}."}, {"id": f"{item.id}."}, {"title": f"{item.title}."}):
            other = [*evidence[:at], item.model_copy(update=change), *evidence[at + 1 :]]
            assert evidence_digest(other) != first


SMALL = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]
"""The eight points of small order of edwards25519."""
OTHER_SPELLINGS = [
    "0100000000000000000000000000000000000000000000000000000000000080",  # -0 for x
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # y is the prime itself
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0200000000000000000000000000000000000000000000000000000000000000",  # on no point of the curve
]


@pytest.mark.parametrize("public", [*SMALL, *OTHER_SPELLINGS])
def test_a_key_under_which_anything_could_be_signed_is_in_no_ring_and_fits_nothing(public: str) -> None:
    key = bytes.fromhex(public)
    with pytest.raises(ValidationError, match="small order"):
        PublicKey(key_id=key_id_of(key), public=public, created="2026-01-01T00:00:00Z")
    # The signature of nobody: R is the neutral point and S is 0.
    assert not fits(key, bytes([1]) + bytes(63), b"anything")


@given(st.binary(min_size=32, max_size=32))
def test_every_key_that_is_generated_is_sound(seed: bytes) -> None:
    assert is_sound(SigningKey.from_seed(seed).public)


def test_the_same_statement_is_signed_with_the_same_bytes() -> None:
    assert receipt_of().to_text() == RECEIPT.to_text()


def test_the_digest_of_a_report_does_not_hang_on_its_timing_and_hangs_on_all_else() -> None:
    report = report_of()
    slower = report.model_copy(update={"timing": Timing(total_ms=9.0)})
    assert report_digest(slower) == report_digest(report)
    assert report_digest(report_of(overall_score=0.96)) != report_digest(report)


# Every change is detected


@given(changed_by_one_byte(OUTPUT.encode()))
def test_any_change_of_one_byte_of_the_output_is_another_output(output: bytes) -> None:
    assert codes(output, RECEIPT) == {"other_output"}


@given(changed_by_one_byte(RECEIPT.to_text().encode()))
def test_any_change_of_one_byte_of_the_receipt_is_detected(text: bytes) -> None:
    # One newline at the end of a file belongs to the file.
    assert (text == RECEIPT.to_text().encode() + b"\n") or not verify(OUTPUT, text, RING).valid


@given(changed_by_one_byte(ring_of(KEY, OTHER_KEY).to_text().encode()))
def test_any_change_of_one_byte_of_the_ring_is_detected(text: bytes) -> None:
    with pytest.raises(ReceiptError, match="expected"):
        KeyRing.from_text(text)


@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80])
def test_no_byte_of_receipt_or_ring_can_be_flipped(flip: int) -> None:
    text, ring = RECEIPT.to_text().encode(), ring_of(KEY, retired="2026-03-02T00:00:00Z").to_text().encode()
    for at in range(len(text)):
        assert not verify(OUTPUT, text[:at] + bytes([text[at] ^ flip]) + text[at + 1 :], RING).valid, at
    for at in range(len(ring)):
        with pytest.raises(ReceiptError):
            KeyRing.from_text(ring[:at] + bytes([ring[at] ^ flip]) + ring[at + 1 :])


@given(st.sampled_from(sorted(RECEIPT.statement.model_dump())), st.integers(0, 2**64))
def test_any_change_of_a_field_that_keeps_the_form_breaks_the_signature(field: str, noise: int) -> None:
    value = RECEIPT.model_dump()
    old = value["statement"][field]
    changed: object = {
        "version": 1,
        "action": "revise",
        "issued_at": "2026-03-01T12:00:01Z",
        "run_id": f"run-{noise + 2}",
        "policy": {"name": f"lax {noise}", "digest": "a" * 64},
        "verifier": {"name": "x", "digest": f"{noise:064x}"},
    }.get(field, f"{noise:064x}"[-len(old) :] if isinstance(old, str) else old)
    value["statement"][field] = changed
    expected = {"version": "malformed", "key_id": "unknown_key"}.get(field, "altered")
    assert expected in codes(OUTPUT, value)


@pytest.mark.parametrize("member", sorted(RECEIPT.statement.plain()))
def test_an_object_that_leaves_a_member_out_or_spells_it_otherwise_is_no_receipt(member: str) -> None:
    stated = RECEIPT.statement.plain()
    others = [None, 1, True, 2.0, 1.0, "2", "", [], {}, [stated[member]], {"a": stated[member]}]
    made = [{name: value for name, value in stated.items() if name != member}]
    own = stated[member]
    made += [{**stated, member: other} for other in others if type(other) is not type(own) or other != own]
    for one in made:
        assert codes(OUTPUT, {"statement": one, "signature": RECEIPT.signature}) & {"malformed", "altered"}, one


def test_a_signature_over_the_bare_statement_is_none() -> None:
    statement = RECEIPT.statement
    bare = KEY.sign(statement.signed_bytes().split(b"\n", 1)[1]).hex()
    assert codes(OUTPUT, Receipt(statement=statement, signature=bare)) == {"altered"}


def test_a_receipt_of_another_key_under_this_keys_name_is_altered() -> None:
    forged = Receipt(statement=RECEIPT.statement, signature=OTHER_KEY.sign(RECEIPT.statement.signed_bytes()).hex())
    assert codes(OUTPUT, forged) == {"altered"}


def test_a_receipt_put_together_around_its_rules_is_read_again() -> None:
    odd = RECEIPT.model_copy(update={"statement": RECEIPT.statement.model_copy(update={"action": "block"})})
    assert codes(OUTPUT, odd) == {"malformed"}


# What counts as another output


@pytest.mark.parametrize(
    ("output", "hint"),
    [
        (f"{OUTPUT}\n", "without the white space at its end"),
        (f"\ufeff{OUTPUT}", "without its byte order mark"),
        (unicodedata.normalize("NFD", OUTPUT), "in the Unicode form NFC"),
        (OUTPUT.replace(" ", "\u00a0", 1), None),
        (OUTPUT.replace(" ", "  ", 1), None),
        (OUTPUT.upper(), None),
        ("", None),
    ],
)
def test_another_spacing_or_unicode_form_is_another_output_and_the_message_helps(output: str, hint: str | None) -> None:
    found = verify(output, RECEIPT, RING)
    assert {code.value for code in found.codes} == {"other_output"}
    assert found.message.endswith(f"; it would fit {hint}") if hint else "would fit" not in found.message


def test_line_breaks_that_were_rewritten_are_named() -> None:
    receipt = receipt_of(report_of("One.\nTwo.\n"))
    assert "with line feeds in place" in verify("One.\r\nTwo.\r\n", receipt, RING).message
    assert "with a newline at its end" in verify("One.\nTwo.", receipt, RING).message


def test_an_output_that_is_no_text_is_misuse() -> None:
    for odd in (None, 3, bytearray(b"x"), "\ud800"):
        with pytest.raises(ReceiptError, match="expected an output"):
            verify(odd, RECEIPT, RING)  # type: ignore[arg-type]


# Keys


def test_a_key_that_the_ring_does_not_hold_is_unknown() -> None:
    assert codes(OUTPUT, RECEIPT, ring_of(OTHER_KEY)) == {"unknown_key"}
    assert codes(OUTPUT, RECEIPT, KeyRing()) == {"unknown_key"}


def test_a_retired_key_still_verifies_what_it_signed() -> None:
    assert codes(OUTPUT, RECEIPT, ring_of(KEY, retired="2026-03-02T00:00:00Z")) == set()
    assert codes(OUTPUT, RECEIPT, ring_of(KEY, retired="2026-03-01T12:00:00Z")) == set()


def test_a_retired_key_verifies_nothing_that_was_issued_later() -> None:
    assert codes(OUTPUT, RECEIPT, ring_of(KEY, retired="2026-03-01T11:59:59Z")) == {"retired_key"}


@pytest.mark.parametrize(
    ("at", "code"),
    [
        ("2026-02-01T00:00:00Z", "revoked_key"),
        ("2026-03-01T12:00:00Z", "revoked_key"),
        ("2026-03-01T12:00:01Z", "key_revoked_since"),
    ],
)
def test_a_revoked_key_verifies_nothing_and_it_is_said_on_which_side_the_receipt_lies(at: str, code: str) -> None:
    ring = ring_of(KEY, revoked=Revocation(at=at, reason="a laptop was lost"))
    assert codes(OUTPUT, RECEIPT, ring) == {code}


def test_a_receipt_from_before_its_key_is_none() -> None:
    assert codes(OUTPUT, RECEIPT, ring_of(KEY, created="2026-03-01T12:00:01Z")) == {"before_key"}


def test_times_are_compared_across_zones() -> None:
    zoned = (DAY - timedelta(hours=1)).astimezone(UTC).isoformat()
    receipt = receipt_of(issued_at=datetime.fromisoformat(zoned.replace("+00:00", "-05:00")))
    assert receipt.statement.issued_at == "2026-03-01T16:00:00Z"


# What the caller demands


def test_the_policy_the_verifier_and_the_report_are_compared_where_they_are_given() -> None:
    report = report_of()
    same: dict[str, Any] = {"policy": "a" * 64, "verifier": "b" * 64, "report": report}
    assert codes(OUTPUT, RECEIPT, **same) == set()
    other = report_of(policy=Identity(name="lax", digest="c" * 64))
    demands: dict[str, Any] = {"policy": "c" * 64, "verifier": "c" * 64, "report": other}
    assert codes(OUTPUT, RECEIPT, **demands) == {"other_policy", "other_verifier", "other_report"}


def test_all_mismatches_are_listed_at_once() -> None:
    ring = ring_of(KEY, retired="2026-02-01T00:00:00Z", revoked=Revocation(at="2026-02-01T00:00:00Z", reason="old"))
    value = RECEIPT.model_dump()
    value["statement"]["run_id"] = "run-2"
    found = codes("Something else.", value, ring, policy="c" * 64)
    assert found == {"altered", "revoked_key", "retired_key", "other_output", "other_policy"}


# Hostile receipts and the shape of messages


@pytest.mark.parametrize(
    "receipt",
    [
        "",
        "{}",
        "[]",
        "null",
        "3",
        '{"statement":{},"signature":""}',
        b"\xff",
        "NaN",
        "[" * 16_000,
        '{"a":1,"a":2}',
        "x" * 20_000,
        {},
        [],
        3,
        {1: 2},
        {"statement": None, "signature": None},
        RECEIPT.to_text().replace("{", "{ ", 1),
        f" {RECEIPT.to_text()}",
        f"{RECEIPT.to_text()}\n\n",
        RECEIPT.to_text().replace('"emit"', '"\\u0065mit"'),
        RECEIPT.to_text().replace('"version":2', '"version":true'),
        RECEIPT.to_text().replace('"version":2', '"version":2,"version":2'),
        RECEIPT.to_text().replace('"version":2', '"version":2,"x":"\\u001b[2J"'),
        RECEIPT.to_text().upper(),
    ],
)
def test_what_is_no_receipt_is_malformed_and_raises_nothing(receipt: object) -> None:
    found = verify(OUTPUT, receipt, RING)  # type: ignore[arg-type]
    assert [problem.code for problem in found.problems] == [ProblemCode.MALFORMED]
    assert found.receipt is None
    assert "\x1b" not in found.message
    assert len(found.message) < 300


def test_no_receipt_is_missing() -> None:
    assert codes(OUTPUT, None) == {"missing"}


@given(st.binary(max_size=300) | TEXT)
def test_whatever_comes_as_a_receipt_is_never_valid_by_chance(receipt: bytes | str) -> None:
    assert codes(OUTPUT, receipt) == {"malformed"}


DIGEST, ID, TIME = "[0-9a-f]{64}", "[0-9a-f]{32}", r"[0-9-]{10}T[0-9:]{8}Z"
SHAPES = {
    "missing": "there is no receipt",
    "unknown_key": f"the ring does not hold the key {ID}, which the receipt names",
    "altered": f"the signature is not one of the key {ID} over this receipt: one was changed",
    "revoked_key": f"issued at {TIME}, when the key {ID} was revoked since {TIME}",
    "key_revoked_since": f"issued at {TIME} by its own word, before the key {ID} was revoked at {TIME}",
    "retired_key": f"issued at {TIME}, when the key {ID} was retired since {TIME}",
    "before_key": f"issued at {TIME}, before the key {ID} was created at {TIME}",
    "other_output": f"the receipt is for the output with SHA-256 {DIGEST}, and this one has {DIGEST}(; it would fit .+)?",  # noqa: E501
    "other_policy": "the output passed another policy than the one that is asked for",
    "other_verifier": "another verifier than the one that is asked for judged the output",
    "other_report": f"the receipt is for the report with SHA-256 {DIGEST}, and this one has {DIGEST}",
    "other_evidence": "the output was checked against other evidence than what is asked for|"
    "the receipt is of version 1, which does not name the evidence",
    "malformed": "the receipt cannot be read: expected .+",
}


@given(
    output=st.sampled_from([OUTPUT, f"{OUTPUT} ", "\x1b[2J"]),
    retired=st.sampled_from([None, "2026-02-01T00:00:00Z"]),
    revoked=st.sampled_from([None, "2026-02-01T00:00:00Z", "2026-04-01T00:00:00Z"]),
    run_id=TEXT,
    demand=st.sampled_from([None, "c" * 64]),
)
def test_messages_have_one_shape_for_each_code_and_hold_no_foreign_text(
    output: str, retired: str | None, revoked: str | None, run_id: str, demand: str | None
) -> None:
    reason = Revocation(at=revoked, reason="SECRET REASON") if revoked else None
    value = RECEIPT.model_dump()
    value["statement"]["run_id"] = f"\x1b{run_id}"
    ring = ring_of(KEY, retired=retired, revoked=reason)
    found = verify(output, value, ring, policy=demand, verifier=demand, report=report_of(run_id="\x1bx"))
    for problem in found.problems:
        assert re.fullmatch(SHAPES[problem.code.value], problem.message), problem.message
        assert "\x1b" not in problem.message
        assert "SECRET" not in problem.message


def test_every_code_has_a_shape() -> None:
    assert set(SHAPES) == {code.value for code in ProblemCode}
