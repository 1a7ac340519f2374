"""What gets a receipt and what does not."""

import pickle
from datetime import datetime

import pytest
from tests.receipt.making import DAY, KEY, OUTPUT, RECEIPT_ID, receipt_of, report_of, ring_of

from assay.errors import ReceiptError
from assay.receipt import SigningKey, disclosed, refusal, sign, verify
from assay.schema import Action, ClaimStatus, Coverage, Decision, ToolCallValidation, UncheckedPart, Verdict
from assay.schema.claim import Span
from assay.schema.report import Revision

DISCLOSURE = "Parts of this could not be confirmed."


def test_an_emitted_output_gets_a_receipt() -> None:
    assert refusal(report_of()) is None
    assert receipt_of().statement.action == "emit"


@pytest.mark.parametrize("action", [Action.REVISE, Action.BLOCK, Action.ESCALATE])
def test_an_output_that_is_not_emitted_gets_none(action: Action) -> None:
    for with_disclosure in (False, True):
        with pytest.raises(ReceiptError, match=f"its action is {action.value}.*nothing was signed"):
            receipt_of(report_of(action=action, route="withhold"), with_disclosure=with_disclosure)


def test_a_report_that_contradicts_itself_gets_none() -> None:
    decision = Decision(action=Action.BLOCK, route="withhold", reasons=())
    with pytest.raises(ReceiptError, match="that of its decision block"):
        receipt_of(report_of(decision=decision))


@pytest.mark.parametrize("route", ["serve", "serve_claim_free", "serve_abstention", "made_up"])
@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": Verdict.UNCHECKED, "status": ClaimStatus.UNCHECKED},
        {"verdict": Verdict.UNCHECKED},
        {"status": ClaimStatus.UNCHECKED},
        {"unchecked": 3},
    ],
)
def test_nothing_unchecked_is_signed(route: str, changes: dict[str, object]) -> None:
    with pytest.raises(ReceiptError, match="not checked"):
        receipt_of(report_of(route=route, **changes))  # type: ignore[arg-type]


def test_evidence_that_was_not_read_counts_as_unchecked() -> None:
    length = len(OUTPUT)
    coverage = Coverage(
        characters=length,
        checked=length,
        not_checkable=0,
        unchecked=0,
        evidence_characters=9,
        evidence_read=8,
        parts=(UncheckedPart(span=Span(start=0, end=0), reason="the limit"),),
    )
    with pytest.raises(ReceiptError, match="not checked"):
        receipt_of(report_of(coverage=coverage))


def test_a_coverage_of_another_output_is_refused() -> None:
    coverage = Coverage(characters=1, checked=1, not_checkable=0, unchecked=0)
    with pytest.raises(ReceiptError, match="coverage is of 1 characters"):
        receipt_of(report_of(coverage=coverage))


def test_a_policy_that_holds_the_task_to_no_evidence_allows_unchecked_claims() -> None:
    report = report_of(route="serve_ungrounded", verdict=Verdict.UNCHECKED, status=ClaimStatus.UNCHECKED, unchecked=2)
    assert verify(OUTPUT, receipt_of(report), ring_of(KEY)).valid


def test_a_revision_that_left_something_failing_is_not_signed() -> None:
    done = Revision(original="Before.", stopped="passed", escalation_required=False)
    assert refusal(report_of(revision=done)) is None
    failing = Revision(original="Before.", stopped="exhausted", escalation_required=True)
    assert refusal(report_of(revision=failing)) == "something in it still fails after it was revised"


def test_an_unchecked_tool_call_is_signed_under_no_policy() -> None:
    call = ToolCallValidation(tool="send", args={}, status="unchecked")
    for route in ("serve", "serve_ungrounded"):
        with pytest.raises(ReceiptError, match="tool calls in it were not checked: 1"):
            receipt_of(report_of(route=route, tool_call_validations=(call,)))


def test_a_report_copied_around_its_rules_is_held_against_them_again() -> None:
    report = report_of()
    odd = report.model_copy(update={"coverage": report.coverage.model_copy(update={"checked": 0})})
    with pytest.raises(ReceiptError, match="holds together"):
        receipt_of(odd)


# With a disclosure


def test_an_output_that_needs_a_disclosure_is_signed_together_with_it_or_not_at_all() -> None:
    report = report_of(action=Action.REVISE, route="serve_with_disclosure", response=DISCLOSURE)
    with pytest.raises(ReceiptError, match="must be signed with it"):
        receipt_of(report)
    receipt = receipt_of(report, with_disclosure=True)
    assert receipt.statement.action == "revise"
    assert verify(f"{OUTPUT}\n\n{DISCLOSURE}", receipt, ring_of(KEY)).valid
    assert not verify(OUTPUT, receipt, ring_of(KEY)).valid
    assert disclosed(report) == f"{OUTPUT}\n\n{DISCLOSURE}"


def test_an_emitted_output_has_no_disclosure_to_sign() -> None:
    with pytest.raises(ReceiptError, match="nothing in it allows"):
        receipt_of(with_disclosure=True)
    with pytest.raises(ReceiptError, match="expected a report that allows"):
        disclosed(report_of())


# What a receipt is made of


def test_a_time_without_a_zone_and_an_odd_id_are_refused() -> None:
    with pytest.raises(ReceiptError, match="with its zone"):
        sign(report_of(), KEY, issued_at=datetime(2026, 3, 1), receipt_id=RECEIPT_ID)  # noqa: DTZ001 the point
    for odd in ("", "x", RECEIPT_ID.upper(), f"{RECEIPT_ID}\n"):
        with pytest.raises(ReceiptError, match="receipt_id"):
            sign(report_of(), KEY, issued_at=DAY, receipt_id=odd)


def test_a_run_id_without_end_is_refused() -> None:
    with pytest.raises(ReceiptError, match="too long"):
        receipt_of(report_of(run_id="x" * 20_000))


def test_a_private_key_shows_itself_nowhere() -> None:
    secret = bytes(range(32)).hex()
    assert secret not in repr(KEY)
    assert KEY.key_id in repr(KEY)
    with pytest.raises(TypeError, match="not to be copied"):
        pickle.dumps(KEY)


def test_what_is_no_private_key_is_refused_without_being_shown() -> None:
    for odd in (b"", b"-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n", b"\xff"):
        with pytest.raises(ReceiptError, match="expected a private key") as caught:
            SigningKey.from_pem(odd)
        assert "SECRET" not in str(caught.value)
    with pytest.raises(ReceiptError, match="32 bytes, got 3"):
        SigningKey.from_seed(b"abc")


def test_a_key_of_another_kind_is_refused() -> None:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pem = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(ReceiptError, match="another kind"):
        SigningKey.from_pem(pem)


def test_a_key_survives_its_file_form() -> None:
    assert SigningKey.from_pem(KEY.to_pem()).key_id == KEY.key_id
