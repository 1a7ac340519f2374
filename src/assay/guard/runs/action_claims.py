"""Claimed actions: what an answer says was done is decided by the calls in the run's trace and not by passages.

"I have cancelled order W-17" can be worded like the evidence and be false because nothing was cancelled, or be true
although no passage says so. So the trace counts first (`assay.verify.tools.action_claims`): an action that no call did,
or that failed, is contradicted by the run. An action that a call did is supported if the words of the claim stand in
the call, its result or the evidence, and the exact tier finds nothing against it (docs/adr/0009).
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final

from assay.guard.check.verdicts import Judged
from assay.guard.runs.action_evidence import ActionRecords, KnownValues, KnownWords, Telling
from assay.guard.runs.action_parts import ActionPart, further_deed, parts_told, place_of
from assay.schema import ClaimKind, Evidence, EvidenceSpan, ExtractedClaim, Issue, Span, Verdict
from assay.schema.run import Run, ToolCall, ToolResult
from assay.text.claims import critical_reasons
from assay.verify.network import Judgement
from assay.verify.tools import ActionStatus, CallOutcome, ClaimedAction, Grade, as_quote, name_words

NOT_DONE: Final = 0.95
"""The probability that a claimed action did not happen if the run changed nothing at all, or the call failed."""
HALF_SURE: Final = 0.5
"""The highest support of an action whose outcome the trace tells only in part: it is not emitted, and not withheld for
this alone."""
DONE: Final = 0.95
"""The support of an action that a call did, if every word of the claim is supported."""
DOUBT: Final = 0.3
"""The confidence from which a finding of the exact tier keeps an action from counting as supported."""
MOST_DOUBT: Final = 0.8
"""The probability of contradiction by the network from which an action does not count as supported."""
QUOTED: Final = 300
"""The most characters of a result that are shown as contradicting an action."""
MOST_CALL: Final = 20_000
"""The most characters of a call's arguments, and of its result, that are read."""
_VALUES: Final = ("number.", "date.", "time.", "name.", "identifier.")
"""Beginnings of the codes of findings about values, which the calls themselves settle."""
_SAYS_MORE: Final = re.compile(
    r"\b(?:that|which|who|because|since|so|but|if|not|no|never|without|none|nothing|is|are|was|were|will|would|can|could"
    r"|should|must)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a sentence that says more than that something was done, which only the tiers can judge."""
_PENDING: Final = (
    r"(?:pending|queued|requested|processing|in[ _-]progress|(?:in|under)[ _-]review|awaiting|waiting|on[ _-]hold|"
    r"scheduled|submitted|initiated|not[ _-](?:yet|changed|sent|done|applied|processed|updated)|unchanged|denied|"
    r"declined|rejected|refused|failed|unsuccessful|partial(?:ly)?|draft|dry[ _-]run|simulated|no[ _-]op)"
)
_NOT_YET: Final = re.compile(
    rf"[\"'](?:[\w-]*(?:status|state|outcome|result|progress|stage))[\"']\s*:\s*[\"'][^\"']{{0,60}}?{_PENDING}|"
    rf"\b(?:is|are|was|were|been|remains?|still|now|currently)\s(?:still\s)?{_PENDING}\b|"
    rf"\b(?:was|were|is|are|has|have)(?: not|n['’]t) (?:been |yet ){{0,2}}\w+ed\b",
    re.IGNORECASE,
)
"""A result which says that the call's action is not done yet, or was not done."""
_IN_PROGRESS: Final = re.compile(
    rf"\b{_PENDING}\b|\b(?:request|being|soon|will|once|until|for review)\b", re.IGNORECASE
)
_OF_MONEY: Final = frozenset("refunded reimbursed credited compensated paid charged".split())  # noqa: SIM905
_MONEY: Final = re.compile(
    r"refund|reimburs|credit|compensat|paid|pay|charge|amount|price|total|certificate|voucher|gift|balance|fee|cost",
    re.IGNORECASE,
)
FAILURE: Final = re.compile(
    r"\b(?:could not|couldn['’]t|can ?not|can['’]t|unable|not able|failed|fails|failure|error|did not|didn['’]t|"
    r"was not|wasn['’]t|were not|not possible|impossible|rejected|refused|denied|declined|unsuccessful|"
    r"without success)\b",
    re.IGNORECASE,
)
"""Words of a claim that something was not done."""
_ONE_MORE: Final = re.compile(r"\b(?:other|another|both)\b", re.IGNORECASE)
"""Words of a claim that an action was done to more than one thing."""
_READING: Final = re.compile(
    r"\b(?:I|we)(?:['’]ve| have| had)?\s(?:(?:already|just|now|also)\s){0,2}(?:double-?\s?)?"
    r"(?P<verb>checked|looked up|looked into|looked at|retrieved|reviewed|found|searched|fetched|pulled up|located)\b",
    re.IGNORECASE,
)
"""Acts that change nothing: "I have checked your reservation"."""


class _Outcome(IntEnum):
    """What the trace says of one action, the mildest first."""

    DONE = 0
    """It counts as supported if the words of the claim do."""
    JUDGED = 1
    """The tiers decide."""
    DOUBTED = 2
    DENIED = 3


@dataclass(frozen=True, slots=True)
class RunActions:
    """The claimed actions of an answer, each at the claim that states it."""

    at_claim: Mapping[ExtractedClaim, ClaimedAction] = field(default_factory=dict)
    """The first action of each claim, with the further ones."""
    calls: tuple[Evidence, ...] = ()
    """The calls that worked, as sentences."""
    failures: tuple[Evidence, ...] = ()
    """The results of failed calls; the source names the tool."""
    attempts: tuple[Evidence, ...] = ()
    """The calls that failed, as sentences."""

    def done(self, claim: ExtractedClaim) -> bool:
        """Whether a claim states an action that a call did, and none that no call did."""
        action = self.at_claim.get(claim)
        return action is not None and all(one.status is ActionStatus.DONE for one in (action, *action.further))

    def settle(self, claim: ExtractedClaim, judged: Judged, records: ActionRecords, emit: float) -> Judged:
        """The judgement of a claim, with regard to what the trace says of the actions that it states: the strictest.

        Args:
            claim: the claim.
            judged: its judgement by the tiers.
            records: the records of the calls that worked.
            emit: the support from which an output may be emitted.
        """
        action = self.at_claim.get(claim)
        if action is None:
            return self._with_failed_call(claim, judged)
        parts, told = parts_told(claim.text, action, records)
        sure = judged.verdict is Verdict.SUPPORTED and judged.judgement is not None and judged.judgement.support >= emit
        found = [
            (self._outcome(part, how, records, sure=sure), part.action) for part, how in zip(parts, told, strict=True)
        ]
        outcome, worst = max(found, key=lambda one: one[0])
        if outcome is _Outcome.DENIED:
            support = judged.judgement.support if judged.judgement else 0.0
            against = judged.judgement.contradiction if judged.judgement else 0.0
            made = Judgement(min(support, 1 - NOT_DONE), max(against, NOT_DONE))
            return self._settled(judged, Verdict.CONTRADICTED, made, worst)
        if outcome is _Outcome.DOUBTED:
            return self._doubted(judged, worst)
        return judged if outcome is _Outcome.JUDGED else _done(claim, judged, parts, records)

    def _outcome(self, part: ActionPart, told: Telling, records: ActionRecords, *, sure: bool) -> _Outcome:
        """What the trace says of one action.

        Args:
            part: the action and the words about it.
            told: how the calls tell of it.
            records: the records of the calls that worked.
            sure: whether the tiers support the claim enough to emit it.
        """
        action = part.action
        if action.status is ActionStatus.DONE:
            if (
                told is Telling.NOTHING
                or self._unfinished(part, records)
                or not self._as_often(part)
                or not self._mentions_money(action)
                or not records.may_support(part.text, part.acts, part.tools)
            ):
                return _Outcome.DOUBTED
            return _Outcome.DONE if told is Telling.ALL else _Outcome.JUDGED
        if action.grade is Grade.HIGH:
            return _Outcome.DENIED
        if sure and records.reports(part.text, action.verb):
            return _Outcome.JUDGED  # a record says so; "your refund has been processed" need not be the agent's own act
        if sure and action.status is ActionStatus.ABSENT and records.results_tell(part.text, action.verb):
            return _Outcome.JUDGED  # the tool of another action did this one too
        return _Outcome.DOUBTED

    def _with_failed_call(self, claim: ExtractedClaim, judged: Judged) -> Judged:
        """The judgement of a claim that something could not be done: a failed call with all its words supports it."""
        if not self.attempts or judged.judgement is None or FAILURE.search(claim.text) is None:
            return judged
        said = FAILURE.sub(" ", claim.text)
        for attempt in self.attempts:
            if KnownValues((attempt.text,)).hold(said) and KnownWords((attempt.text,)).cover(said, ""):
                span = EvidenceSpan(
                    evidence_id=attempt.id,
                    start=0,
                    end=len(attempt.text[:QUOTED]),
                    text=attempt.text[:QUOTED],
                    relation="supports",
                    score=DONE,
                )
                made = Judgement(max(judged.judgement.support, DONE), min(judged.judgement.contradiction, 1 - DONE))
                exact = replace(judged.exact, findings=())
                return replace(
                    judged, verdict=Verdict.SUPPORTED, judgement=made, exact=exact, spans=(span,), conflict=None
                )
        return judged

    def _unfinished(self, part: ActionPart, records: ActionRecords) -> bool:
        """Whether all calls that may have done an action say that it is not done yet, or was not done.

        A claim that says so itself ("the cancellation has been requested") claims no more than the call did.
        """
        if _IN_PROGRESS.search(part.text) is not None:
            return False
        fitting = self._fitting(part.action)
        named = records.names_of(part.text)
        own = [call for call in fitting if not named.isdisjoint(records.names_of(call.text))] or fitting
        return bool(own) and all(_NOT_YET.search(call.text) is not None for call in own)

    def _mentions_money(self, action: ClaimedAction) -> bool:
        """Whether a call that may have moved money mentions money: a cancellation may bring a refund or not."""
        if action.verb not in _OF_MONEY:
            return True
        return any(_MONEY.search(call.text) is not None for call in self._fitting(action))

    def _as_often(self, part: ActionPart) -> bool:
        """Whether a claim that an action was done to one thing more is supported by more than one call."""
        return not _ONE_MORE.search(part.text) or not part.action.tools or len(self._fitting(part.action)) > 1

    def _fitting(self, action: ClaimedAction) -> list[Evidence]:
        """The calls that worked and may have done an action."""
        return [call for call in self.calls if not action.tools or call.source in action.tools]

    def _doubted(self, judged: Judged, action: ClaimedAction) -> Judged:
        support = judged.judgement.support if judged.judgement else 0.0
        against = judged.judgement.contradiction if judged.judgement else 0.0
        made = Judgement(min(support, HALF_SURE), against)
        verdict = judged.verdict if judged.verdict is Verdict.CONTRADICTED else Verdict.UNSUPPORTED
        return self._settled(judged, verdict, made, action)

    def _settled(self, judged: Judged, verdict: Verdict, made: Judgement, action: ClaimedAction) -> Judged:
        said = [piece for piece in self.failures if piece.source in action.tools]
        shown = [
            EvidenceSpan(
                evidence_id=piece.id,
                start=0,
                end=len(piece.text[:QUOTED]),
                text=piece.text[:QUOTED],
                relation="contradicts",
                score=NOT_DONE,
            )
            for piece in said[-1:]
        ]
        return replace(
            judged,
            verdict=verdict,
            judgement=made,
            spans=(*shown, *judged.spans),
            conflict=None,
            failed=None,
            signals={**judged.signals, "action_done": 0.0},
        )


def _done(claim: ExtractedClaim, judged: Judged, parts: Sequence[ActionPart], records: ActionRecords) -> Judged:
    if judged.judgement is None or judged.judgement.contradiction >= MOST_DOUBT or _SAYS_MORE.search(claim.text):
        return judged
    if not all(records.supports(part.text, part.acts, part.tools) for part in parts):
        return judged
    if further_deed(claim.text, parts, records):
        return judged
    # Its values belong to the call: that other records have other values does not matter for what was done.
    values = _VALUES if all(part.tools for part in parts) else ()
    if any(
        f.effect != "note" and f.confidence >= DOUBT and not f.code.startswith(values) for f in judged.exact.findings
    ):
        return judged
    made = Judgement(max(judged.judgement.support, DONE), min(judged.judgement.contradiction, 1 - DONE))
    return replace(
        judged,
        verdict=Verdict.SUPPORTED,
        judgement=made,
        signals={**judged.signals, "action_done": 1.0},
        conflict=None,  # what the run did is known from its own steps, whatever passages say
        spans=tuple(
            span.model_copy(update={"relation": "supports"}) if place == 0 else span
            for place, span in enumerate(judged.spans)
        ),
    )


def place_actions(
    found: Sequence[ExtractedClaim], actions: Sequence[ClaimedAction], text: str
) -> tuple[tuple[ExtractedClaim, ...], dict[ExtractedClaim, ClaimedAction]]:
    """The claims of an answer, and which of them states which action: its first, with the further ones.

    An action whose sentence has no checkable claim becomes a claim itself, so that it does not go unchecked.
    """
    near = _ClaimsBySentence(found)
    added = list(dict.fromkeys(_as_claim(action, text) for action in actions if not near.of(action)))
    claims = tuple(sorted((*found, *added), key=lambda c: (c.span.start, c.span.end))) if added else tuple(found)
    near = _ClaimsBySentence(claims) if added else near
    at: dict[ExtractedClaim, list[ClaimedAction]] = {}
    for action in actions:
        there = near.of(action)
        own = [c for c in there if place_of(action.verb, c.text) is not None]
        for claim in (own or there)[:1]:
            at.setdefault(claim, []).append(action)
    placed = {claim: replace(first, further=tuple(others)) for claim, (first, *others) in at.items()}
    beside: dict[Span, list[tuple[str, ClaimedAction]]] = {}
    for claim in claims:
        if claim in placed:
            beside.setdefault(claim.sentence, []).append((claim.text, placed[claim]))
    for claim, action in placed.items():
        if len(beside[claim.sentence]) > 1:
            placed[claim] = replace(action, beside=tuple(beside[claim.sentence]))
    return claims, placed


class _ClaimsBySentence:
    """The checkable claims of an answer by their sentences, which do not overlap."""

    def __init__(self, claims: Iterable[ExtractedClaim]) -> None:
        self._claims: dict[tuple[int, int], list[ExtractedClaim]] = {}
        for claim in claims:
            if claim.checkable:
                self._claims.setdefault((claim.sentence.start, claim.sentence.end), []).append(claim)
        self._places = sorted(self._claims)
        self._ends = [end for _, end in self._places]

    def of(self, action: ClaimedAction) -> list[ExtractedClaim]:
        """The claims whose sentence meets that of an action, in the order of the text."""
        found: list[ExtractedClaim] = []
        for start, end in self._places[bisect_right(self._ends, action.start) :]:
            if start >= action.end:
                break
            found += self._claims[start, end]
        return found


def claimed_lookups(claims: Iterable[ExtractedClaim], saw_anything: bool) -> dict[ExtractedClaim, ClaimedAction]:
    """The claims which say that something was looked at, judged by whether the run looked at anything.

    Args:
        claims: the claims of an answer.
        saw_anything: whether the run has a passage, or a result that is not a failure.
    """
    found: dict[ExtractedClaim, ClaimedAction] = {}
    for claim in claims:
        match = _READING.search(claim.text) if claim.checkable else None
        if match is None:
            continue
        standing = ActionStatus.DONE if saw_anything else ActionStatus.ABSENT
        why = "" if saw_anything else f"The answer says {as_quote(claim.text, 120)}, but the run looked at nothing."
        found[claim] = ClaimedAction(
            claim.span.start,
            claim.span.end,
            claim.text,
            match["verb"].lower(),
            standing,
            Grade.HIGH if saw_anything else Grade.MEDIUM,
            (),
            why,
        )
    return found


def _as_claim(action: ClaimedAction, text: str) -> ExtractedClaim:
    words = text[action.start : action.end]
    span = Span(start=action.start, end=action.end)
    reasons = critical_reasons(words, words)
    return ExtractedClaim(
        text=words,
        span=span,
        sentence=span,
        kind=ClaimKind.PROCEDURAL,
        checkable=True,
        critical=reasons if "commitment" in reasons else (*reasons, "commitment"),
    )


def action_issue(action: ClaimedAction, judged: Judged | None) -> Issue | None:
    """The issue about the claimed actions of a claim, about the worst of them; None if the run or a record supports
    them."""
    doubted = judged is not None and judged.signals.get("action_done") == 0.0
    action = max((action, *action.further), key=_severity)
    if action.status is ActionStatus.DONE:
        said = f"The answer says {as_quote(action.text, 120)}; no call of the run and no result says all of that."
        span = Span(start=action.start, end=action.end)
        return Issue(code="action.absent", message=said, span=span) if doubted else None
    return action.issue() if doubted or action.grade is not Grade.LOW else None


def _severity(action: ClaimedAction) -> int:
    return 0 if action.status is ActionStatus.DONE else 2 if action.grade is Grade.HIGH else 1


def calls_of(
    run: Run, outcomes: Sequence[CallOutcome]
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...], tuple[Evidence, ...]]:
    """The calls that worked, as sentences; the results of those that failed; and those that failed, as sentences."""
    places = {id(step): index for index, step in enumerate(run.steps)}
    calls = ((i, step) for i, step in enumerate(run.steps) if isinstance(step, ToolCall))
    worked: list[Evidence] = []
    failed: list[Evidence] = []
    tried: list[Evidence] = []
    for (index, call), outcome in zip(calls, outcomes, strict=True):
        result = outcome.result
        place = places.get(id(result), index)
        if outcome.failed is not None:
            text = result.text if result is not None and result.text.strip() else outcome.failed
            failed.append(Evidence(id=f"step:{place}/{call.name}", text=text, source=call.name))
            tried.append(
                Evidence(id=f"step:{index}/call", text=_call_as_sentence(call, result, failed=True), source=call.name)
            )
        elif outcome.answered:
            worked.append(Evidence(id=f"step:{index}/call", text=_call_as_sentence(call, result), source=call.name))
    return tuple(worked), tuple(failed), tuple(tried)


_EMPTY: Final = re.compile(
    r"\s*(?:\[\s*\]|\{\s*\}|null|none|(?:no|0) (?:results?|matches|entries|rows|records)[^\n]{0,60})\s*", re.IGNORECASE
)


def _call_as_sentence(call: ToolCall, result: ToolResult | None, *, failed: bool = False) -> str:
    """A call as a sentence: "I did cancel order with order id: W-17. status: cancelled"."""
    named = call.arguments.value or {}
    given = ", ".join(f"{' '.join(name_words(key)) or key}: {_plain(value)}" for key, value in named.items())
    given = given or (call.arguments.verbatim or "")
    said = f" {result.text[:MOST_CALL]}" if result is not None and result.text.strip() else ""
    if said and _EMPTY.fullmatch(said) is not None:
        said = f" It found nothing: {said.strip()}"
    if failed:  # in both ways in which failures are reported
        what = " ".join(name_words(call.name)) or call.name
        return f"I could not {what} with {given[:MOST_CALL]}. The {what} failed.{said}"
    did = f"I did {' '.join(name_words(call.name)) or call.name}"
    return f"{did} with {given[:MOST_CALL]}.{said}" if given else f"{did}.{said}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
