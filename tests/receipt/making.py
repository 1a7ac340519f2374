"""Reports, keys and times for tests of receipts."""

from datetime import UTC, datetime
from typing import Any

from assay.receipt import KeyRing, PublicKey, Receipt, SigningKey, sign
from assay.schema import (
    Action,
    ClaimKind,
    ClaimReport,
    ClaimStatus,
    Coverage,
    Decision,
    HallucinationReport,
    Identity,
    Labels,
    Retrieval,
    Span,
    Timing,
    Verdict,
)
from assay.schema.report_parts.digests import digests_of

OUTPUT = "Partners get 2 weeks of leave; caf\u00e9 included."
DAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
KEY = SigningKey.from_seed(bytes(range(32)))
OTHER_KEY = SigningKey.from_seed(bytes(range(1, 33)))
RECEIPT_ID = "0123456789abcdef" * 2


def report_of(
    output: str = OUTPUT,
    action: Action = Action.EMIT,
    route: str = "serve",
    *,
    verdict: Verdict = Verdict.SUPPORTED,
    status: ClaimStatus = ClaimStatus.PASS,
    unchecked: int = 0,
    response: str | None = None,
    **changes: Any,
) -> HallucinationReport:
    length = len(output)
    claim = ClaimReport(
        text=output,
        span=Span(start=0, end=length),
        kind=ClaimKind.FACTUAL,
        critical=True,
        verdict=verdict,
        score=0.97,
        status=status,
        signals={"entailed": 1e-7},
    )
    fields: dict[str, Any] = {
        "run_id": "run-1",
        "output": output,
        "claims": (claim,),
        "retrieval": Retrieval(evidence=1, windows=1, pairs=1, pairs_possible=1),
        "coverage": Coverage(characters=length, checked=length - unchecked, not_checkable=0, unchecked=unchecked),
        "overall_score": 0.97,
        "action": action,
        "decision": Decision(action=action, route=route, reasons=("It holds.",), response=response),
        "labels": Labels(verdict="PASS", abstention="RESPOND", routing="SERVE", escalation="auto_approve"),
        "policy": Identity(name="general", digest="a" * 64),
        "verifier": Identity(name="stand-in", digest="b" * 64),
        "timing": Timing(total_ms=1.0),
    }
    fields |= changes
    made = HallucinationReport(**fields)
    return made if "digests" in changes else made.model_copy(update={"digests": digests_of(made, [])})


def ring_of(*keys: SigningKey, created: str = "2026-01-01T00:00:00Z", **state: Any) -> KeyRing:
    return KeyRing(
        keys=tuple(PublicKey(key_id=key.key_id, public=key.public.hex(), created=created, **state) for key in keys)
    )


def receipt_of(report: HallucinationReport | None = None, key: SigningKey = KEY, **options: Any) -> Receipt:
    given: dict[str, Any] = {"issued_at": DAY, "receipt_id": RECEIPT_ID, **options}
    return sign(report_of() if report is None else report, key, **given)
