"""Root causes of findings (docs/concepts.md#root-causes): what was observed supports causes, the noisy-or weighs
them.

An attribution says where to look first; it decides nothing. It reads what the check has found already: passages and
their dates, the wrong words and where else they stand, conflicts, what a model was not shown, what it said when asked
again. No clock is read: whether something has expired is known only where the caller says of which day it asks.
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
"""P(hallucination | cause). Assumed: a model that does not know says something nearly always, evidence that is
in a long context is missed about half of the time. Replace them by figures of your own where you have any."""

MOST_FINDINGS: Final = 200
"""Findings that get an attribution."""
LEAST: Final = 0.05
"""Causes of a smaller presence are not listed."""
_MOSTLY: Final = 0.5
"""The share of wrong words that no passage has from which they are called made up."""
_PIECE: Final = 20_000
_ALL: Final = 400_000
_LONG: Final = 4_000
"""Tokens of context below which nothing gets lost."""
_FULL: Final = 32_000
"""Tokens from which a badly placed passage counts in full."""
_CHARACTERS_A_TOKEN: Final = 4
_WORD: Final = re.compile(r"[^\W_]+")
_COMMON: Final = word_set("""
a an the of in on at to for from by with and or not no is are was were be been has have had do does did will would can
could may might must should shall it its they them their this that these those there here what which who whom whose when
where why how many much long often if then than as about into over under per any all each some more most you your we our
us i my me he she his her
""")
_ORDERS: Final = re.compile(
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
    """What is known of how an output came about, beside its findings."""

    evidence: Sequence[Evidence] = ()
    """In the order in which it was given."""
    question: str | None = None
    as_of: date | None = None
    """The day that the answer is to hold on; without one, only evidence is compared with evidence."""
    left_out: frozenset[str] = frozenset()
    """Ids of evidence that the model was not shown."""
    diverged: frozenset[str] = frozenset()
    """Texts of claims on which the model said something else when it was asked again."""
    effects: Mapping[Cause, float] = field(default_factory=lambda: EFFECTS)


@dataclass(frozen=True, slots=True)
class _Seen:
    """One observation."""

    cause: Cause
    presence: float
    reason: str
    spans: tuple[EvidenceSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """The circumstances with what is looked up for every finding."""

    given: Circumstances
    by_id: Mapping[str, Evidence]
    words: Mapping[str, frozenset[str]]
    asked: frozenset[str]
    places: Mapping[str, float]
    """Tokens before each piece of evidence."""
    length: float

    @classmethod
    def of(cls, given: Circumstances) -> "_Known":
        words: dict[str, frozenset[str]] = {}
        places: dict[str, float] = {}
        left, at = _ALL, 0.0
        for item in given.evidence:
            piece = f"{item.title or ''} {item.text}"[: min(_PIECE, max(left, 0))]
            left -= len(piece)
            words[item.id] = content_words(piece)
            places[item.id] = at
            at += len(item.text) / _CHARACTERS_A_TOKEN
        asked = content_words(given.question or "")
        return cls(given, {item.id: item for item in given.evidence}, words, asked, places, at)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, without their plural ending.

    >>> sorted(content_words("How long is the leave of partners?"))
    ['leave', 'partner']
    """
    found = {word.lower() for word in set(_WORD.findall(text))}
    return frozenset(
        word.removesuffix("s") if len(word) > 3 and word.isalpha() else word for word in found if word not in _COMMON
    )


def attribute(
    claims: Sequence[ClaimReport], issues: Sequence[Issue], output: str, given: Circumstances
) -> tuple[CauseReport, ...]:
    """The likely causes of every finding.

    Args:
        claims: the report's claims.
        issues: its findings that belong to no claim; those of structure are attributed.
        output: the text that was checked.
        given: how it came about.

    Returns:
        One attribution for each claim that fails and each structural finding, in order; those for which nothing speaks
        have none.
    """
    failing = [
        (place, claim)
        for place, claim in enumerate(claims)
        if claim.verdict in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED)
    ]
    structural = [issue for issue in issues if issue.code.startswith("structure.")]
    if not failing and not structural:
        return ()
    known = _Known.of(given)
    found: list[CauseReport] = []
    for place, claim in failing[:MOST_FINDINGS]:
        estimates, probability = _weighed(_of_claim(claim, output, known), given.effects)
        if estimates:
            found.append(
                CauseReport(
                    claim=place,
                    path=claim.path,
                    likely=estimates[0].cause,
                    probability=probability,
                    estimates=estimates,
                )
            )
    for issue in structural[: MOST_FINDINGS - len(found)]:
        estimates, probability = _weighed(_of_structure(issue, known), given.effects)
        found.append(
            CauseReport(
                code=issue.code,
                path=issue.path,
                likely=estimates[0].cause,
                probability=probability,
                estimates=estimates,
            )
        )
    return tuple(found)


def expired_issues(claim: ClaimReport, given: Circumstances) -> tuple[Issue, ...]:
    """What is to be said of a supported claim that rests on evidence which does not hold on the day asked about."""
    if claim.verdict is not Verdict.SUPPORTED:
        return ()
    by_id = {item.id: item for item in given.evidence}
    issues = []
    for span in claim.evidence_spans:
        item = by_id.get(span.evidence_id)
        why = _not_holding(item, given.as_of) if item is not None and span.relation == "supports" else ""
        if why:
            issues.append(Issue(code="evidence.expired", message=why, span=claim.span, evidence=span, path=claim.path))
    return tuple(issues[:1])


def _weighed(seen: Iterator[_Seen], effects: Mapping[Cause, float]) -> tuple[tuple[CauseEstimate, ...], float]:
    """The strongest observation of each cause, with its share; the largest first."""
    best: dict[Cause, _Seen] = {}
    for one in seen:
        if one.presence >= LEAST and (one.cause not in best or one.presence > best[one.cause].presence):
            best[one.cause] = one
    pairs = [(one.presence, effects.get(one.cause, 0.0)) for one in best.values()]
    estimates = [
        CauseEstimate(
            cause=one.cause, presence=round(presence, 4), effect=effect, share=share, reason=one.reason, spans=one.spans
        )
        for one, (presence, effect), share in zip(best.values(), pairs, shares(pairs), strict=True)
    ]
    order = list(Cause)
    return tuple(sorted(estimates, key=lambda one: (-one.share, order.index(one.cause)))), noisy_or(pairs)


def _of_structure(issue: Issue, known: _Known) -> Iterator[_Seen]:
    if issue.code == "structure.reference":
        yield _Seen(Cause.KNOWLEDGE_GAP, 0.6, "It names a source that was not given.")
    yield _Seen(Cause.AMBIGUITY, 0.8, "The form that was asked for was not kept to; hold the model to its schema.")
    if not known.by_id:
        yield _Seen(Cause.RETRIEVAL_MISS, 0.2, "No evidence was given to fill the document from.")


def _of_claim(claim: ClaimReport, output: str, known: _Known) -> Iterator[_Seen]:
    yield from _gaps(claim, output, known)
    yield from _stale(claim, output, known)
    yield from _lost(claim, known)
    yield from _noise(claim, output, known)
    yield from _poison(claim, output, known)
    yield from _unclear(claim, known)


def _gaps(claim: ClaimReport, output: str, known: _Known) -> Iterator[_Seen]:
    """What was not given, and what the model made up."""
    if not any(words for words in known.words.values()):
        yield _Seen(Cause.RETRIEVAL_MISS, 0.95, "No evidence was given.")
        yield _Seen(Cause.KNOWLEDGE_GAP, 0.5, "The model answered without any evidence.")
        return
    if any(issue.code == "record.told" for issue in claim.issues):
        return  # the passage is there and tells it
    wrong = content_words(" ".join(_wrong_words(claim, output)))
    asked, right = known.asked - wrong, content_words(claim.text) - wrong
    of_question, of_claim = _covered(asked, known), _covered(right, known)
    covered = max(of_question, of_claim) if asked or right else 1.0
    about = _related(claim)
    if claim.verdict is Verdict.UNSUPPORTED:
        closest = "what was asked" if of_question >= of_claim else "what it says but for the wrong words"
        reason = f"The passage closest to {closest} has {covered:.0%} of its words."
        yield _Seen(Cause.RETRIEVAL_MISS, 1 - covered, reason, about)
    said = (wrong or content_words(claim.text) - known.asked) - _COMMON
    everywhere = frozenset[str]().union(*known.words.values())
    new = len(said - everywhere) / len(said) if said else 0.0
    if new >= _MOSTLY:
        what = "What it says" if new == 1 else "Most of what it says"
        contradicted = any(span.relation == "contradicts" for span in claim.evidence_spans)
        yield _Seen(
            Cause.KNOWLEDGE_GAP,
            0.85 * covered * new,
            f"{what} is in none of the passages, and one of them contradicts it."
            if contradicted
            else f"{what} goes beyond the passages: they deal with the subject, but none of them says it.",
            about,
        )
    if claim.text in known.given.diverged:
        yield _Seen(Cause.KNOWLEDGE_GAP, 0.9, "Asked again, the model said something else.")


def _covered(topic: frozenset[str], known: _Known) -> float:
    """The largest share of some words that one passage has; 0 where there are no words or no passage."""
    if not topic:
        return 0.0
    return max((len(topic & words) / len(topic) for words in known.words.values()), default=0.0)


def _stale(claim: ClaimReport, output: str, known: _Known) -> Iterator[_Seen]:
    """Dates of the evidence: of the passages that decide, and of those that the wrong words may come from."""
    wrong = _wrong_words(claim, output)
    behind = _holding(wrong, known)
    for item in (*behind, *(known.by_id[s.evidence_id] for s in claim.evidence_spans if s.evidence_id in known.by_id)):
        why = _not_holding(item, known.given.as_of)
        if why:
            yield _Seen(Cause.STALENESS, 0.9 if item in behind else 0.7, why, _spans_of(claim, item.id))
        newer = _superseding(item, known.given.evidence)
        if newer is not None and item in behind:
            yield _Seen(
                Cause.STALENESS,
                0.85,
                f"It says what {item.id} says; {newer.id} has taken its place since {newer.effective_date}.",
                _spans_of(claim, newer.id),
            )
    if _NOW.search(f"{known.given.question or ''} {claim.text}"):
        dated = any(item.effective_date or item.expiry_date for item in known.given.evidence)
        if not dated:
            yield _Seen(Cause.STALENESS, 0.3, "It is about what holds now, and no passage says of when it is.")


def _lost(claim: ClaimReport, known: _Known) -> Iterator[_Seen]:
    """Evidence that decides and that the model did not see, or hardly."""
    for span in claim.evidence_spans:
        if span.relation == "related" or span.evidence_id not in known.places:
            continue
        if span.evidence_id in known.given.left_out:
            yield _Seen(
                Cause.CONTEXT_OVERFLOW, 0.95, f"The model was not shown {span.evidence_id}, which decides it.", (span,)
            )
        if known.length > _LONG:
            at = known.places[span.evidence_id] + span.start / _CHARACTERS_A_TOKEN
            seen = effective_attention(min(at, known.length), known.length)
            yield _Seen(
                Cause.CONTEXT_OVERFLOW,
                (1 - seen) * min(1.0, known.length / _FULL),
                f"The passage that decides it stands about {at:,.0f} tokens into {known.length:,.0f}.",
                (span,),
            )


def _noise(claim: ClaimReport, output: str, known: _Known) -> Iterator[_Seen]:
    """The wrong words are in the evidence, about something else; or most of the evidence is about something else."""
    against = {span.evidence_id for span in claim.evidence_spans if span.relation == "contradicts"}
    open_ = claim.verdict is Verdict.UNSUPPORTED  # then the closest passage may be of the same thing after all
    quoted = " ".join(span.text for span in claim.evidence_spans if open_ and span.relation == "related")
    words = [*_wrong_words(claim, output), *_values_of_wrong(claim, output)]
    telling = [word for word in words if _tells(word) and word not in quoted]
    for item in _holding(telling, known):
        where = "the same passage" if item.id in against else item.id
        yield _Seen(
            Cause.RETRIEVAL_NOISE,
            0.75,
            f"The words that are wrong here stand in {where}, of something else.",
            _spans_of(claim, item.id),
        )
    if known.asked and len(known.words) >= 3:
        off = sum(not known.asked & words for words in known.words.values()) / len(known.words)
        yield _Seen(Cause.RETRIEVAL_NOISE, 0.5 * off, f"{off:.0%} of the passages share no word with the question.")


def _poison(claim: ClaimReport, output: str, known: _Known) -> Iterator[_Seen]:
    """Evidence against evidence, and evidence that gives orders."""
    if claim.conflict:
        yield _Seen(Cause.POISONING, 0.5, "One source says it and another one denies it.", claim.evidence_spans[:2])
    ordering = [(item, order) for item in known.given.evidence if (order := _ORDERS.search(item.text[:_PIECE]))]
    if not ordering:
        return
    behind = {span.evidence_id for span in claim.evidence_spans if span.relation == "supports"}
    behind.update(item.id for item in _holding(_wrong_words(claim, output), known))
    near = {span.evidence_id for span in claim.evidence_spans}
    for item, order in ordering:
        span = EvidenceSpan(
            evidence_id=item.id, start=order.start(), end=order.end(), text=order[0], relation="related", score=0.0
        )
        if item.id in behind:
            presence, reason = 0.9, f"{item.id} gives orders to a model that reads it, and this repeats its words."
        elif item.id in near:
            presence, reason = 0.5, f"{item.id} gives orders to a model that reads it."
        else:  # a model that obeys it may say anything anywhere, but nothing ties this claim to it
            presence, reason = 0.25, f"{item.id} gives orders to a model that reads it, and does not mention this."
        yield _Seen(Cause.POISONING, presence, reason, (span,))


def _unclear(claim: ClaimReport, known: _Known) -> Iterator[_Seen]:
    """Questions that leave open what they are about, and whether what qualifies an answer belongs to it."""
    dropped = next((issue for issue in claim.issues if issue.code == "condition.dropped"), None)
    if dropped is not None:
        spans = (dropped.evidence,) if dropped.evidence is not None else ()
        yield _Seen(
            Cause.AMBIGUITY,
            0.3,
            "It leaves out a condition that was given; the prompt may not ask for conditions.",
            spans,
        )
    question = known.given.question
    if question is None:
        return
    if not known.asked:
        yield _Seen(Cause.AMBIGUITY, 0.6, "The question does not say what it is about.")
    elif len(known.asked) <= 2 and _BARE_PRONOUN.search(question):
        yield _Seen(Cause.AMBIGUITY, 0.4, "The question refers to something that it does not name.")


def _not_holding(item: Evidence, as_of: date | None) -> str:
    """Why a piece of evidence does not hold on a day; empty where it does or nothing is known."""
    if as_of is None:
        return ""
    if item.expiry_date is not None and item.expiry_date <= as_of:
        return f"{item.id} ceased to hold on {item.expiry_date}."
    if item.effective_date is not None and item.effective_date > as_of:
        return f"{item.id} holds only from {item.effective_date}."
    return ""


def _superseding(item: Evidence, evidence: Sequence[Evidence]) -> Evidence | None:
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
    """What is wrong in a claim, as it is written."""
    words = [output[span.start : span.end] for span in claim.wrong_spans]
    words += [output[i.span.start : i.span.end] for i in claim.issues if i.span is not None and i.span != claim.span]
    return [word for word in dict.fromkeys(words) if any(c.isalnum() for c in word)]


def _holding(words: Sequence[str], known: _Known) -> list[Evidence]:
    """The evidence that the words are in, as whole words."""
    found = []
    for item in known.given.evidence:
        text = item.text[:_PIECE]
        for word in words:
            at = text.find(word)
            whole = (
                at >= 0 and not text[at - 1 : at].isalnum() and not text[at + len(word) : at + len(word) + 1].isalnum()
            )
            if whole:
                found.append(item)
                break
    return found


def _values_of_wrong(claim: ClaimReport, output: str) -> list[str]:
    """The numbers of a claim with their units, of those that are wrong in it."""
    start, end = claim.span.start, claim.span.end
    values = [(start + one.start, start + one.end) for one in find_quantities(output[start:end])]
    wrong = [*claim.wrong_spans, *(issue.span for issue in claim.issues if issue.span not in (None, claim.span))]
    return [
        output[a:b] for a, b in values if any(span is not None and span.start < b and a < span.end for span in wrong)
    ]


def _tells(word: str) -> bool:
    """Whether words are so many that where they stand says something: not "on", not a bare "13"."""
    return any(not one.isdigit() for one in content_words(word))


def _related(claim: ClaimReport) -> tuple[EvidenceSpan, ...]:
    return claim.evidence_spans[:1]


def _spans_of(claim: ClaimReport, evidence_id: str) -> tuple[EvidenceSpan, ...]:
    return tuple(span for span in claim.evidence_spans if span.evidence_id == evidence_id)[:1]
