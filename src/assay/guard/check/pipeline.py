"""The one way of a check, from a request to its report.

It goes through four ports: what finds claims, what verifies them, the policy that decides, and the sinks that take note
of what was said and asked. One output, many outputs, single versions of a revision and the answers of runs all go this
way; nothing else makes reports.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.guard.check.chat_budget import meter_of, wants_model
from assay.guard.check.draft import Draft, draft_of, with_known_conflicts
from assay.guard.check.report.assembly import report_of
from assay.guard.check.tiers import Tiers, tiers_of
from assay.guard.check.verdicts import Judged
from assay.guard.check.verifiers import Verifier, verifiers_of
from assay.guard.parts import GuardParts
from assay.guard.request import CheckRequest
from assay.guard.screening import Screener, screener_of
from assay.policy import Policy
from assay.schema import HallucinationReport, Identity, coerce_evidence, coerce_text
from assay.text.claims import ClaimExtractor

if TYPE_CHECKING:  # what checks runs is loaded with the first run, not with the first answer
    from assay.guard.check.evidence_index import Limits
    from assay.guard.runs.context import RunContext
    from assay.models.chat import Meter

CHECKS_PER_CALL = 16
"""Outputs that share one call of the network when many are checked: enough to fill it, few enough to wait for."""

Sink = Callable[[HallucinationReport, Draft], HallucinationReport]
"""Takes note of a check that is over, and gives its report on."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What a check goes through."""

    screener: Screener
    """Says which passages may be evidence, where the policy has it said."""
    claims: ClaimExtractor
    limits: Limits
    tiers: Tiers
    verifiers: tuple[Verifier, ...]
    """Those that look once the tiers have judged, in their order."""
    policy: Policy
    identity: Identity
    """Of all that a score depends on."""
    sinks: tuple[Sink, ...]
    meter: Callable[[], Meter] | None
    """An account for one check of what it asks a chat model; none where there is no model, or nothing to ask it for."""


def ports_of(parts: GuardParts) -> Ports:
    """The ports of a guard's checks."""
    tiers, llm = tiers_of(parts), parts.llm
    return Ports(
        screener=screener_of(parts, tiers),
        claims=parts.extractor,
        limits=parts.limits,
        tiers=tiers,
        verifiers=verifiers_of(parts, tiers),
        policy=parts.policy,
        identity=parts.verifier,
        sinks=(taped,),
        meter=None if llm is None or not wants_model(parts.policy) else lambda: meter_of(llm, parts.budget),
    )


def check(requests: Sequence[CheckRequest], ports: Ports) -> list[HallucinationReport]:
    """The reports of outputs, whose claims share the calls of the network.

    Raises:
        InputError: something given cannot be read as what it should be.
    """
    return conclude([begin(request, ports) for request in requests], ports)


def check_one(request: CheckRequest, parts: GuardParts) -> HallucinationReport:
    """The report of one output, as the guard of these parts makes it."""
    return check([request], ports_of(parts))[0]


def begin(request: CheckRequest, ports: Ports, run: RunContext | None = None) -> Draft:
    """The first half of every check: the evidence is made ready, and the output cut into claims.

    Of a run what the caller gives beside it was screened before; what its tools returned is not screened.

    Raises:
        InputError: something given cannot be read as what it should be.
    """
    clock = _Clock()
    text = coerce_text(request.answer, "answer")
    if run is None:
        request = ports.screener.admitted(request)
    screening = clock.lap()
    evidence = ports.tiers.prepare(coerce_evidence(request.evidence))
    indexing = clock.lap()
    draft = draft_of(request, text, evidence, ports.claims, ports.limits, ports.policy, ports.tiers.prepare, run)
    if request.asks and ports.meter is not None:
        draft = replace(draft, meter=ports.meter())
    if request.screening is not None:
        draft = draft.timed(screening=screening)
    return draft.timed(evidence=indexing, claims=clock.lap())


def conclude(drafts: Sequence[Draft], ports: Ports, known: Sequence[Judged] | None = None) -> list[HallucinationReport]:
    """The second half: the tiers judge all claims at once, the verifiers look further, the policy decides.

    Args:
        drafts: outputs, cut into claims.
        ports: what they go through.
        known: what the tiers found of the jobs of all drafts, where they were asked before.
    """
    clock = _Clock()
    judged = iter(ports.tiers.judge([job for draft in drafts for job in draft.jobs]) if known is None else known)
    spent = clock.lap() / max(1, len(drafts))
    reports = []
    for draft in drafts:
        found = with_known_conflicts(draft, list(islice(judged, len(draft.jobs))))
        verified = _verified(draft, found, ports.verifiers)
        report = report_of(verified, found, ports.policy, ports.identity, spent)
        for sink in ports.sinks:
            report = sink(report, verified)
        reports.append(report)
    return reports


def _verified(draft: Draft, judged: Sequence[Judged], verifiers: Sequence[Verifier]) -> Draft:
    """The draft with what each verifier finds that it is one for, and with how long it took."""
    for verifier in verifiers:
        if verifier.applies(draft):
            clock = _Clock()
            draft = verifier.verify(draft, judged).timed(**{verifier.name: clock.lap()})
    return draft


def check_many(requests: Iterable[CheckRequest | Mapping[str, Any]], ports: Ports) -> Iterator[HallucinationReport]:
    """The reports of outputs one after the other, several of them sharing a call of the network.

    Raises:
        InputError: a request cannot be read; the reports before it have been given.
    """
    waiting: list[Draft] = []
    for request in requests:
        try:
            asked = request if isinstance(request, CheckRequest) else CheckRequest.from_mapping(request)
            waiting.append(begin(asked, ports))
        except InputError:
            yield from conclude(waiting, ports)
            raise
        if len(waiting) == CHECKS_PER_CALL:
            yield from conclude(waiting, ports)
            waiting = []
    yield from conclude(waiting, ports)


def taped(report: HallucinationReport, draft: Draft) -> HallucinationReport:
    """The report with all that a chat model and sources of knowledge were asked and said, for its record."""
    if draft.meter is None and draft.consulted is None:
        return report
    from assay.models.chat import with_knowledge

    return report.taped(with_knowledge(None if draft.meter is None else draft.meter.recorded(), draft.consulted))


class _Clock:
    """Tells seconds from one lap to the next."""

    def __init__(self) -> None:
        self._at = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last lap, or since the beginning."""
        before, self._at = self._at, time.perf_counter()
        return self._at - before
