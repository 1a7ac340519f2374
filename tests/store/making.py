"""Reports, records and keys for tests of the store."""

from datetime import UTC, datetime
from typing import Any

from assay.policy import preset
from assay.receipt import FixedKeys, KeyRing, PublicKey, SigningKey
from assay.schema import (
    Action,
    ClaimKind,
    ClaimReport,
    ClaimStatus,
    Coverage,
    Decision,
    Evidence,
    HallucinationReport,
    Identity,
    Labels,
    Retrieval,
    Span,
    Timing,
    ToolCallValidation,
    Verdict,
)
from assay.schema.report_parts.digests import digests_of
from assay.store.records.interface import CheckRecord

OUTPUT = "Partners get 2 weeks of leave; caf\u00e9 included. \U0001f600"
QUESTION = "How long is partner leave?"
DAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
KEY = SigningKey.from_seed(bytes(range(32)))
OTHER_KEY = SigningKey.from_seed(bytes(range(1, 33)))
POLICY = preset("general")
EVIDENCE = (
    Evidence(id="hr-2", text="Partners are entitled to 2 weeks of leave."),
    Evidence(id="hr-3", text="The caf\u00e9 is open to all.", source="handbook", metadata={"page": 3}),
)


def ring_of(*keys: SigningKey, **state: Any) -> KeyRing:
    return KeyRing(
        keys=tuple(
            PublicKey(key_id=key.key_id, public=key.public.hex(), created="2026-01-01T00:00:00Z", **state)
            for key in keys
        )
    )


RING = ring_of(KEY)
KEYS = FixedKeys(RING, KEY)


def report_of(output: str = OUTPUT, **changes: Any) -> HallucinationReport:
    length = len(output)
    claim = ClaimReport(
        text=output,
        span=Span(start=0, end=length),
        kind=ClaimKind.FACTUAL,
        critical=True,
        verdict=Verdict.SUPPORTED,
        score=0.97,
        status=ClaimStatus.PASS,
        signals={"entailed": 1e-7},
    )
    fields: dict[str, Any] = {
        "run_id": "run-1",
        "output": output,
        "question": QUESTION,
        "claims": (claim,),
        "tool_call_validations": (ToolCallValidation(tool="find", args={"q": "x"}, status="accepted"),),
        "retrieval": Retrieval(evidence=2, windows=2, pairs=2, pairs_possible=2),
        "coverage": Coverage(characters=length, checked=length, not_checkable=0, unchecked=0),
        "overall_score": 0.97,
        "action": Action.EMIT,
        "decision": Decision(action=Action.EMIT, route="serve", reasons=("It holds.",)),
        "labels": Labels(verdict="PASS", abstention="RESPOND", routing="SERVE", escalation="auto_approve"),
        "policy": Identity(name=POLICY.name, digest=POLICY.digest),
        "verifier": Identity(name="stand-in", digest="b" * 64),
        "timing": Timing(total_ms=1.0),
    }
    fields |= changes
    made = HallucinationReport(**fields)
    return made if "digests" in changes else made.model_copy(update={"digests": digests_of(made, [])})


def record_of(output: str = OUTPUT, **changes: Any) -> CheckRecord:
    fields: dict[str, Any] = {
        "report": report_of(output),
        "asked": {"answer": output, "question": QUESTION, "stakes": "medium", "task": "qa"},
        "evidence": EVIDENCE,
        "policy": POLICY,
        **changes,
    }
    return CheckRecord(**fields)
