"""Issuing receipts: only for outputs that passed, and only for the exact text that may be released.

A report whose action is `emit` gets a receipt for its output or, if a notice to the reader follows the output, for both
in one text (`disclosed`). A report whose route is `serve_with_disclosure` may only be served with the disclosure, so
its receipt, if requested, covers both. A receipt for both does not match the output alone, nor the other way round.
Nothing else gets a receipt.
"""

from datetime import datetime
from typing import Final

from pydantic import ValidationError

from assay.errors import ReceiptError
from assay.receipt.ed25519 import SigningKey
from assay.receipt.instants import instant
from assay.receipt.model import LONGEST_RECEIPT, Receipt, Statement, faults, output_digest, report_digest
from assay.schema import Action, ClaimStatus, HallucinationReport, Verdict
from assay.schema.report_parts import findings_digest, text_digest

SERVE_WITH_DISCLOSURE: Final = "serve_with_disclosure"
SERVE_UNGROUNDED: Final = "serve_ungrounded"
SERVE_APPROVED: Final = "serve_approved"
"""Routes of `assay.policy.routes`, which this package does not import."""


def disclosed(report: HallucinationReport) -> str:
    """The output followed by its disclosure: the text that is released where the route is `serve_with_disclosure`, or
    where an emitted output comes with a notice to its reader.

    Raises:
        ReceiptError: the report has no disclosure.
    """
    if not _discloses(report):
        raise ReceiptError(
            "expected a report that allows its output to be served with a disclosure (route serve_with_disclosure), or "
            f"one with a disclosure for its reader; got the action {report.action}"
        )
    return f"{report.output}\n\n{report.decision.response}"


def _discloses(report: HallucinationReport) -> bool:
    decision = report.decision
    goes_out = decision.action is Action.EMIT or (decision.action, decision.route) == (
        Action.REVISE,
        SERVE_WITH_DISCLOSURE,
    )
    return goes_out and bool(decision.response)


def refusal(report: HallucinationReport, *, with_disclosure: bool = False) -> str | None:
    """Why a report gets no receipt; None if it gets one.

    The conditions for release are checked again here, so that an inconsistent report is never signed: the action is the
    same in both places, the digests match the output and the findings, and nothing is unchecked unless the policy does
    not hold this task to evidence (route `serve_ungrounded`).

    Args:
        report: the report.
        with_disclosure: whether the receipt is to cover the output with its disclosure.
    """
    action, route = report.decision.action, report.decision.route
    if (altered := _altered(report)) is not None:
        return altered
    if report.action is not action:
        return f"its action is {report.action} and that of its decision {action}"
    if with_disclosure and not _discloses(report):
        return f"its action is {action}, and nothing in it allows the output to be served with a disclosure"
    if with_disclosure and action is Action.REVISE:
        return _unchecked(report)
    if route == SERVE_WITH_DISCLOSURE:
        return f"its action is {action}: the output may only be served with a disclosure, and must be signed with it"
    if action is not Action.EMIT:
        return f"its action is {action}, not emit"
    if route == SERVE_APPROVED:
        # A person has reviewed what was not checked and what still fails, and is accountable for it.
        return None
    if report.revision is not None and report.revision.escalation_required:
        return "something in it still fails after it was revised"
    return _unchecked(report)


def _altered(report: HallucinationReport) -> str | None:
    """How a report differs from the one that a check produced: its output or its findings were replaced."""
    digests = report.digests
    if digests is None:
        return "it does not say what it was made of, so that its output may be another; check the output again"
    if digests.output != text_digest(report.output):
        return "its output is another one than the one that was checked"
    if digests.findings != findings_digest(report):
        return "what was found, or what was decided on it, is something else than a check has made"
    return None


def _unchecked(report: HallucinationReport) -> str | None:
    calls = sum(call.status == "unchecked" for call in report.tool_call_validations)
    if calls:
        return f"tool calls in it were not checked: {calls}"
    if report.decision.route == SERVE_UNGROUNDED:
        return None
    claims = sum(claim.verdict is Verdict.UNCHECKED or claim.status is ClaimStatus.UNCHECKED for claim in report.claims)
    if claims:
        return f"claims in it were not checked: {claims}"
    if report.coverage.characters != len(report.output):
        return f"its coverage is of {report.coverage.characters} characters and its output has {len(report.output)}"
    if not report.coverage.complete:
        return "characters of its output or its evidence were not checked"
    return None


def sign(
    report: HallucinationReport,
    key: SigningKey,
    *,
    issued_at: datetime,
    receipt_id: str,
    with_disclosure: bool = False,
) -> Receipt:
    """A receipt for the text that a report releases.

    The content of the report is trusted: sign only reports that your own guard has just made.

    Args:
        report: the report.
        key: the key to sign with; the caller makes sure that it may sign (see `KeyStore.signer`).
        issued_at: the current time, with its time zone.
        receipt_id: 32 random hexadecimal digits, new for each receipt.
        with_disclosure: sign `disclosed(report)` rather than `report.output`.

    Raises:
        ReceiptError: the report does not release its output, is not a valid report, or cannot be written canonically.
    """
    report = checked_report(report)
    why = refusal(report, with_disclosure=with_disclosure)
    if why is not None:
        raise ReceiptError(f"expected a report that lets its output out, but {why}; nothing was signed")
    text = disclosed(report) if with_disclosure else report.output
    try:
        statement = Statement(
            receipt_id=receipt_id,
            output=output_digest(text),
            policy=report.policy,
            verifier=report.verifier,
            report=report_digest(report),
            evidence=None if report.digests is None else report.digests.evidence,
            action="revise" if report.action is Action.REVISE else "emit",
            run_id=report.run_id,
            issued_at=instant(issued_at),
            key_id=key.key_id,
        )
    except ValidationError as error:
        raise ReceiptError(f"expected what can stand in a receipt, but {faults(error)}") from error
    receipt = Receipt(statement=statement, signature=key.sign(statement.signed_bytes()).hex())
    if len(receipt.to_text().encode()) > LONGEST_RECEIPT:
        raise ReceiptError(
            "expected a shorter run id and shorter names of policy and verifier; the receipt is too long"
        )
    return receipt


def checked_report(report: HallucinationReport) -> HallucinationReport:
    """The report, validated again: `model_copy` and `model_construct` skip validation.

    Raises:
        ReceiptError: it is not valid.
    """
    try:
        return HallucinationReport.model_validate(report.model_dump())
    except ValidationError as error:
        raise ReceiptError(f"expected a report that holds together, but {faults(error)}") from error
