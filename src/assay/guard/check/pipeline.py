"""The pipeline of a check, from a request to its report.

It has four ports: the claim extractor, the verifiers, the policy that decides, and the sinks that record the check.
Single outputs, many outputs, versions of a revision and the answers of runs all pass through it; nothing else makes
reports.
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
"""The number of outputs that share one call of the network: enough to fill a batch, and few enough to wait for."""

Sink = Callable[[HallucinationReport, Draft], HallucinationReport]
"""Records a finished check and returns its report."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The parts that a check passes through."""

    screener: Screener
    """Decides which passages may be evidence, where the policy has a retrieval gate."""
    claims: ClaimExtractor
    limits: Limits
    tiers: Tiers
    verifiers: tuple[Verifier, ...]
    """The verifiers that run after the tiers, in order."""
    policy: Policy
    identity: Identity
    """The identity of everything that a score depends on."""
    sinks: tuple[Sink, ...]
    meter: Callable[[], Meter] | None
    """Opens an account for a check's requests to a chat model; None if no model is needed or available."""


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
        InputError: a request cannot be read.
    """
    return conclude([begin(request, ports) for request in requests], ports)


def check_one(request: CheckRequest, parts: GuardParts) -> HallucinationReport:
    """The report of one output, as the guard of these parts makes it."""
    return check([request], ports_of(parts))[0]


def begin(request: CheckRequest, ports: Ports, run: RunContext | None = None) -> Draft:
    """The first half of every check: the evidence is prepared, and the output is split into claims.

    For a run the evidence given by the caller was screened before, and the results of its tools are not screened.

    Raises:
        InputError: the request cannot be read.
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
    """The second half of every check: the tiers judge all claims at once, the verifiers run, and the policy decides.

    Args:
        drafts: the outputs, split into claims.
        ports: the parts that they pass through.
        known: the tiers' judgements of all jobs of the drafts, where they were already made.
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
    """The draft with the findings of each verifier that applies to it, and the time each one took."""
    for verifier in verifiers:
        if verifier.applies(draft):
            clock = _Clock()
            draft = verifier.verify(draft, judged).timed(**{verifier.name: clock.lap()})
    return draft


def check_many(requests: Iterable[CheckRequest | Mapping[str, Any]], ports: Ports) -> Iterator[HallucinationReport]:
    """The reports of outputs one after another, several of which share a call of the network.

    Raises:
        InputError: a request cannot be read; the reports before it have been yielded.
    """
    waiting: list[Draft] = []
    for request in requests:
        try:
            read = request if isinstance(request, CheckRequest) else CheckRequest.from_mapping(request)
            waiting.append(begin(read, ports))
        except InputError:
            yield from conclude(waiting, ports)
            raise
        if len(waiting) == CHECKS_PER_CALL:
            yield from conclude(waiting, ports)
            waiting = []
    yield from conclude(waiting, ports)


def taped(report: HallucinationReport, draft: Draft) -> HallucinationReport:
    """The report with a tape of all requests to a chat model and to sources of knowledge, for its record."""
    if draft.meter is None and draft.consulted is None:
        return report
    from assay.models.chat import with_knowledge

    return report.taped(with_knowledge(None if draft.meter is None else draft.meter.recorded(), draft.consulted))


class _Clock:
    """Measures the seconds from one lap to the next."""

    def __init__(self) -> None:
        self._at = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last lap, or since the beginning."""
        before, self._at = self._at, time.perf_counter()
        return self._at - before
