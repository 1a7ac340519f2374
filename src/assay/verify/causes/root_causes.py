"""Attributes findings to root causes (docs/concepts.md#root-causes): observations give causes a presence, and a
noisy-or model weighs them.

An attribution shows where to look first; it does not decide anything. It uses what the check has already found:
passages and their dates, the wrong words and where else they occur, conflicts, evidence that the model was not shown,
and its answers to probes. It reads no clock: expiry is known only where the caller gives a day.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from assay.schema import ClaimReport, Evidence, EvidenceSpan, Issue, Verdict
from assay.schema.report_parts import Cause, CauseEstimate, CauseReport
from assay.stats import effective_attention, noisy_or, shares
from assay.text.lexicon import word_set
from assay.text.quantities import find_quantities

EFFECTS: Final[Mapping[Cause, float]] = {
    Cause.KNOWLEDGE_GAP: 0.8,
    Cause.STALENESS: 0.6,
    Cause.CONTEXT_OVERFLOW: 0.5,
    Cause.RETRIEVAL_MISS: 0.7,
    Cause.RETRIEVAL_NOISE: 0.5,
    Cause.POISONING: 0.8,
    Cause.AMBIGUITY: 0.4,
}
"""P(hallucination | cause). These are assumptions: a model that lacks knowledge nearly always answers anyway, evidence
in a long context is missed about half of the time. Replace them by figures of your own where you have any."""

MOST_FINDINGS: Final = 200
"""The most findings that get an attribution."""
LEAST_PRESENCE: Final = 0.05
"""Causes with a smaller presence are not listed."""
_MOSTLY: Final = 0.5
"""Words are called made up if at least this share of them is in no passage."""
_MOST_CHARACTERS: Final = 20_000
"""Characters of one piece of evidence that are read."""
_MOST_CHARACTERS_IN_ALL: Final = 400_000
"""Characters of all evidence whose words are read."""
_LONG_CONTEXT: Final = 4_000
"""In a context of fewer tokens no evidence gets lost."""
_FULL_EFFECT: Final = 32_000
"""In a context of at least so many tokens the place of a passage counts in full."""
_CHARACTERS_A_TOKEN: Final = 4
_WORD: Final = re.compile(r"[^\W_]+")
_STOP_WORDS: Final = word_set("""
a an the of in on at to for from by with and or not no is are was were be been has have had do does did will would can
could may might must should shall it its they them their this that these those there here what which who whom whose when
where why how many much long often if then than as about into over under per any all each some more most you your we our
us i my me he she his her
""")
_INSTRUCTIONS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:instructions?|prompts?|rules?|above|previous)\b"
    r"|\byou are now\b|\bsystem prompt\b|\b(?:always|only) (?:answer|reply|respond|say)\b|<\|?(?:im_start|system)\b",
    re.IGNORECASE,
)
_NOW: Final = re.compile(
    r"\b(?:current(?:ly)?|today|now|latest|newest|at present|this (?:year|month|week))\b", re.IGNORECASE
)
_BARE_PRONOUN: Final = re.compile(r"\b(?:it|they|them|this|that|these|those|he|she)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances in which an output was written, besides its findings."""

    evidence: Sequence[Evidence] = ()
    """In the order of the input."""
    question: str | None = None
    as_of: date | None = None
    """The day for which the answer must hold; without one, only dates of evidence are compared with each other."""
    left_out: frozenset[str] = frozenset()
    """Ids of evidence that the model was not shown."""
    diverged: frozenset[str] = frozenset()
    """Texts of claims on which the model's answers to probes diverged."""
    effects: Mapping[Cause, float] = field(default_factory=lambda: EFFECTS)


@dataclass(frozen=True, slots=True)
class _Observation:
    """An observation that points to a cause."""

    cause: Cause
    presence: float
    """How strongly it shows the cause, in [0, 1]."""
    reason: str
    spans: tuple[EvidenceSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class _Context:
    """The circumstances with lookup tables for all findings."""

    given: Circumstances
    by_id: Mapping[str, Evidence]
    words: Mapping[str, frozenset[str]]
    question_words: frozenset[str]
    places: Mapping[str, float]
    """Tokens before each piece of evidence, by id."""
    length: float
    """Tokens of all evidence."""

    @classmethod
    def of(cls, given: Circumstances) -> "_Context":
        words: dict[str, frozenset[str]] = {}
        places: dict[str, float] = {}
        characters_left, tokens = _MOST_CHARACTERS_IN_ALL, 0.0
        for item in given.evidence:
            piece = f"{item.title or ''} {item.text}"[: min(_MOST_CHARACTERS, max(characters_left, 0))]
            characters_left -= len(piece)
            words[item.id] = content_words(piece)
            places[item.id] = tokens
            tokens += len(item.text) / _CHARACTERS_A_TOKEN
        question_words = content_words(given.question or "")
        return cls(given, {item.id: item for item in given.evidence}, words, question_words, places, tokens)


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, in lower case and without a plural s.

    >>> sorted(content_words("How long is the leave of partners?"))
    ['leave', 'partner']
    """
    words = {word.lower() for word in set(_WORD.findall(text))}
    return frozenset(
        word.removesuffix("s") if len(word) > 3 and word.isalpha() else word
        for word in words
        if word not in _STOP_WORDS
    )


def attribute(
    claims: Sequence[ClaimReport], issues: Sequence[Issue], output: str, given: Circumstances
) -> tuple[CauseReport, ...]:
    """The likely causes of every finding.

    Args:
        claims: the claims of the report.
        issues: the findings of the report that belong to no claim; those about structure are attributed.
        output: the text that was checked.
        given: the circumstances in which it was written.

    Returns:
        One attribution for each failed claim and each structural finding, in order; a claim without observations has
        none.
    """
    failing = [
        (index, claim)
        for index, claim in enumerate(claims)
        if claim.verdict in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED)
    ]
    structural = [issue for issue in issues if issue.code.startswith("structure.")]
    if not failing and not structural:
        return ()
    context = _Context.of(given)
    reports: list[CauseReport] = []
    for index, claim in failing[:MOST_FINDINGS]:
        estimates, probability = _weigh(_observe_claim(claim, output, context), given.effects)
        if estimates:
            reports.append(
                CauseReport(
                    claim=index,
                    path=claim.path,
                    likely=estimates[0].cause,
                    probability=probability,
                    estimates=estimates,
                )
            )
    for issue in structural[: MOST_FINDINGS - len(reports)]:
        estimates, probability = _weigh(_observe_structure(issue, context), given.effects)
        reports.append(
            CauseReport(
                code=issue.code,
                path=issue.path,
                likely=estimates[0].cause,
                probability=probability,
                estimates=estimates,
            )
        )
    return tuple(reports)


def expired_issues(claim: ClaimReport, given: Circumstances) -> tuple[Issue, ...]:
    """The issue of a supported claim whose evidence is not in force on the day of the circumstances."""
    if claim.verdict is not Verdict.SUPPORTED:
        return ()
    by_id = {item.id: item for item in given.evidence}
    issues = []
    for span in claim.evidence_spans:
        item = by_id.get(span.evidence_id)
        reason = _not_in_force(item, given.as_of) if item is not None and span.relation == "supports" else ""
        if reason:
            issues.append(
                Issue(code="evidence.expired", message=reason, span=claim.span, evidence=span, path=claim.path)
            )
    return tuple(issues[:1])


def _weigh(
    observations: Iterator[_Observation], effects: Mapping[Cause, float]
) -> tuple[tuple[CauseEstimate, ...], float]:
    """The strongest observation of each cause with its share, the largest first, and the noisy-or probability."""
    best: dict[Cause, _Observation] = {}
    for observation in observations:
        if observation.presence >= LEAST_PRESENCE and (
            observation.cause not in best or observation.presence > best[observation.cause].presence
        ):
            best[observation.cause] = observation
    pairs = [(observation.presence, effects.get(observation.cause, 0.0)) for observation in best.values()]
    estimates = [
        CauseEstimate(
            cause=observation.cause,
            presence=round(presence, 4),
            effect=effect,
            share=share,
            reason=observation.reason,
            spans=observation.spans,
        )
        for observation, (presence, effect), share in zip(best.values(), pairs, shares(pairs), strict=True)
    ]
    order = list(Cause)
    estimates.sort(key=lambda estimate: (-estimate.share, order.index(estimate.cause)))
    return tuple(estimates), noisy_or(pairs)


def _observe_structure(issue: Issue, context: _Context) -> Iterator[_Observation]:
    if issue.code == "structure.reference":
        yield _Observation(Cause.KNOWLEDGE_GAP, 0.6, "It names a source that was not given.")
    yield _Observation(
        Cause.AMBIGUITY, 0.8, "The output does not have the requested form; enforce the schema when the model writes."
    )
    if not context.by_id:
        yield _Observation(Cause.RETRIEVAL_MISS, 0.2, "No evidence was given to fill the document from.")


def _observe_claim(claim: ClaimReport, output: str, context: _Context) -> Iterator[_Observation]:
    yield from _knowledge_gaps(claim, output, context)
    yield from _staleness(claim, output, context)
    yield from _context_overflow(claim, context)
    yield from _retrieval_noise(claim, output, context)
    yield from _poisoning(claim, output, context)
    yield from _ambiguity(claim, context)


def _knowledge_gaps(claim: ClaimReport, output: str, context: _Context) -> Iterator[_Observation]:
    """Missing evidence, and words that the model made up."""
    if not any(words for words in context.words.values()):
        yield _Observation(Cause.RETRIEVAL_MISS, 0.95, "No evidence was given.")
        yield _Observation(Cause.KNOWLEDGE_GAP, 0.5, "The model answered without any evidence.")
        return
    if any(issue.code == "record.told" for issue in claim.issues):
        return  # the evidence has the passage
    wrong = content_words(" ".join(_wrong_words(claim, output)))
    question_words, other_words = context.question_words - wrong, content_words(claim.text) - wrong
    of_question, of_claim = _coverage(question_words, context), _coverage(other_words, context)
    covered = max(of_question, of_claim) if question_words or other_words else 1.0
    spans = _first_span(claim)
    if claim.verdict is Verdict.UNSUPPORTED:
        closest = "what was asked" if of_question >= of_claim else "the rest of the claim"
        reason = f"The passage closest to {closest} has {covered:.0%} of its words."
        yield _Observation(Cause.RETRIEVAL_MISS, 1 - covered, reason, spans)
    new_words = (wrong or content_words(claim.text) - context.question_words) - _STOP_WORDS
    everywhere = frozenset[str]().union(*context.words.values())
    share_new = len(new_words - everywhere) / len(new_words) if new_words else 0.0
    if share_new >= _MOSTLY:
        subject = "What it says" if share_new == 1 else "Most of what it says"
        contradicted = any(span.relation == "contradicts" for span in claim.evidence_spans)
        yield _Observation(
            Cause.KNOWLEDGE_GAP,
            0.85 * covered * share_new,
            f"{subject} is in none of the passages, and one of them contradicts it."
            if contradicted
            else f"{subject} goes beyond the passages: they deal with the subject, but none of them says it.",
            spans,
        )
    if claim.text in context.given.diverged:
        yield _Observation(Cause.KNOWLEDGE_GAP, 0.9, "Asked again, the model said something else.")


def _coverage(topic: frozenset[str], context: _Context) -> float:
    """The largest share of the words that a single passage has; 0 without words or passages."""
    if not topic:
        return 0.0
    return max((len(topic & words) / len(topic) for words in context.words.values()), default=0.0)


def _staleness(claim: ClaimReport, output: str, context: _Context) -> Iterator[_Observation]:
    """Outdated evidence: dates of the passages that decide, and of those that the wrong words may come from."""
    wrong = _wrong_words(claim, output)
    sources_of_wrong = _evidence_with(wrong, context)
    for item in (
        *sources_of_wrong,
        *(context.by_id[s.evidence_id] for s in claim.evidence_spans if s.evidence_id in context.by_id),
    ):
        reason = _not_in_force(item, context.given.as_of)
        if reason:
            yield _Observation(
                Cause.STALENESS, 0.9 if item in sources_of_wrong else 0.7, reason, _spans_of(claim, item.id)
            )
        newer = _successor(item, context.given.evidence)
        if newer is not None and item in sources_of_wrong:
            yield _Observation(
                Cause.STALENESS,
                0.85,
                f"It says what {item.id} says; {newer.id} has taken its place since {newer.effective_date}.",
                _spans_of(claim, newer.id),
            )
    if _NOW.search(f"{context.given.question or ''} {claim.text}"):
        dated = any(item.effective_date or item.expiry_date for item in context.given.evidence)
        if not dated:
            yield _Observation(Cause.STALENESS, 0.3, "It is about the present, and no passage has a date.")


def _context_overflow(claim: ClaimReport, context: _Context) -> Iterator[_Observation]:
    """Decisive evidence that the model was not shown, or that is badly placed in a long context."""
    for span in claim.evidence_spans:
        if span.relation == "related" or span.evidence_id not in context.places:
            continue
        if span.evidence_id in context.given.left_out:
            yield _Observation(
                Cause.CONTEXT_OVERFLOW, 0.95, f"The model was not shown {span.evidence_id}, which decides it.", (span,)
            )
        if context.length > _LONG_CONTEXT:
            at = context.places[span.evidence_id] + span.start / _CHARACTERS_A_TOKEN
            attention = effective_attention(min(at, context.length), context.length)
            yield _Observation(
                Cause.CONTEXT_OVERFLOW,
                (1 - attention) * min(1.0, context.length / _FULL_EFFECT),
                f"The passage that decides it is about {at:,.0f} tokens into a context of {context.length:,.0f}.",
                (span,),
            )


def _retrieval_noise(claim: ClaimReport, output: str, context: _Context) -> Iterator[_Observation]:
    """Evidence on other subjects: it has the wrong words, or shares no word with the question."""
    against = {span.evidence_id for span in claim.evidence_spans if span.relation == "contradicts"}
    is_open = claim.verdict is Verdict.UNSUPPORTED  # then the closest passage may be on the same subject after all
    quoted = " ".join(span.text for span in claim.evidence_spans if is_open and span.relation == "related")
    words = [*_wrong_words(claim, output), *_wrong_numbers(claim, output)]
    specific = [word for word in words if _is_specific(word) and word not in quoted]
    for item in _evidence_with(specific, context):
        where = "the same passage" if item.id in against else item.id
        yield _Observation(
            Cause.RETRIEVAL_NOISE,
            0.75,
            f"The wrong words are in {where}, about something else.",
            _spans_of(claim, item.id),
        )
    if context.question_words and len(context.words) >= 3:
        share_unrelated = sum(not context.question_words & words for words in context.words.values()) / len(
            context.words
        )
        yield _Observation(
            Cause.RETRIEVAL_NOISE,
            0.5 * share_unrelated,
            f"{share_unrelated:.0%} of the passages share no word with the question.",
        )


def _poisoning(claim: ClaimReport, output: str, context: _Context) -> Iterator[_Observation]:
    """Conflicting evidence, and evidence with instructions to a model."""
    if claim.conflict:
        yield _Observation(
            Cause.POISONING, 0.5, "One source says it and another one denies it.", claim.evidence_spans[:2]
        )
    with_instructions = [
        (item, instruction)
        for item in context.given.evidence
        if (instruction := _INSTRUCTIONS.search(item.text[:_MOST_CHARACTERS]))
    ]
    if not with_instructions:
        return
    origins = {span.evidence_id for span in claim.evidence_spans if span.relation == "supports"}
    origins.update(item.id for item in _evidence_with(_wrong_words(claim, output), context))
    mentioned = {span.evidence_id for span in claim.evidence_spans}
    for item, instruction in with_instructions:
        span = EvidenceSpan(
            evidence_id=item.id,
            start=instruction.start(),
            end=instruction.end(),
            text=instruction[0],
            relation="related",
            score=0.0,
        )
        if item.id in origins:
            presence, reason = 0.9, f"{item.id} contains instructions to a model, and the claim repeats its words."
        elif item.id in mentioned:
            presence, reason = 0.5, f"{item.id} contains instructions to a model."
        else:  # a model that obeys it may write anything, but nothing ties this claim to it
            presence, reason = 0.25, f"{item.id} contains instructions to a model, but does not mention this."
        yield _Observation(Cause.POISONING, presence, reason, (span,))


def _ambiguity(claim: ClaimReport, context: _Context) -> Iterator[_Observation]:
    """Questions that do not name their subject, and conditions that the answer dropped."""
    dropped = next((issue for issue in claim.issues if issue.code == "condition.dropped"), None)
    if dropped is not None:
        spans = (dropped.evidence,) if dropped.evidence is not None else ()
        yield _Observation(
            Cause.AMBIGUITY,
            0.3,
            "It leaves out a condition that was given; the prompt may not ask for conditions.",
            spans,
        )
    question = context.given.question
    if question is None:
        return
    if not context.question_words:
        yield _Observation(Cause.AMBIGUITY, 0.6, "The question does not say what it is about.")
    elif len(context.question_words) <= 2 and _BARE_PRONOUN.search(question):
        yield _Observation(Cause.AMBIGUITY, 0.4, "The question refers to something that it does not name.")


def _not_in_force(item: Evidence, as_of: date | None) -> str:
    """Why a piece of evidence is not in force on a day; empty where it is or where that is not known."""
    if as_of is None:
        return ""
    if item.expiry_date is not None and item.expiry_date <= as_of:
        return f"{item.id} ceased to hold on {item.expiry_date}."
    if item.effective_date is not None and item.effective_date > as_of:
        return f"{item.id} holds only from {item.effective_date}."
    return ""


def _successor(item: Evidence, evidence: Sequence[Evidence]) -> Evidence | None:
    """A later version of the same document."""
    if item.effective_date is None:
        return None
    for other in evidence:
        same = (item.source is not None and item.source == other.source) or (
            item.title is not None and item.title == other.title
        )
        if (
            other is not item
            and same
            and other.effective_date is not None
            and other.effective_date > item.effective_date
        ):
            return other
    return None


def _wrong_words(claim: ClaimReport, output: str) -> list[str]:
    """The wrong words of a claim, as they are written."""
    words = [output[span.start : span.end] for span in claim.wrong_spans]
    words += [output[i.span.start : i.span.end] for i in claim.issues if i.span is not None and i.span != claim.span]
    return [word for word in dict.fromkeys(words) if any(c.isalnum() for c in word)]


def _evidence_with(words: Sequence[str], context: _Context) -> list[Evidence]:
    """The evidence whose first occurrence of one of the words is a whole word."""
    matches = []
    for item in context.given.evidence:
        text = item.text[:_MOST_CHARACTERS]
        for word in words:
            at = text.find(word)
            whole = (
                at >= 0 and not text[at - 1 : at].isalnum() and not text[at + len(word) : at + len(word) + 1].isalnum()
            )
            if whole:
                matches.append(item)
                break
    return matches


def _wrong_numbers(claim: ClaimReport, output: str) -> list[str]:
    """The wrong numbers of a claim, with their units."""
    start, end = claim.span.start, claim.span.end
    values = [(start + quantity.start, start + quantity.end) for quantity in find_quantities(output[start:end])]
    wrong = [*claim.wrong_spans, *(issue.span for issue in claim.issues if issue.span not in (None, claim.span))]
    return [
        output[a:b] for a, b in values if any(span is not None and span.start < b and a < span.end for span in wrong)
    ]


def _is_specific(word: str) -> bool:
    """Whether the words are specific enough to identify their source: not "on", not "13" alone."""
    return any(not part.isdigit() for part in content_words(word))


def _first_span(claim: ClaimReport) -> tuple[EvidenceSpan, ...]:
    return claim.evidence_spans[:1]


def _spans_of(claim: ClaimReport, evidence_id: str) -> tuple[EvidenceSpan, ...]:
    return tuple(span for span in claim.evidence_spans if span.evidence_id == evidence_id)[:1]
