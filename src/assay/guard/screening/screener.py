"""The retrieval gate: which passages may be evidence for a question, and whether there is anything to answer from.

See docs/screen.md. The steps have this order, so that a dropped passage has no influence on later steps:

1. blank passages; 2. passages that give the reading model orders; 3. passages in another language; 4. passages that are
not in force on the day, or have a newer version; 5. duplicates; 6. passages irrelevant to the question; 7. conflicts
between the passages that are left; 8. the signal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final

from assay._lru import LruCache
from assay.errors import InputError
from assay.guard.request import CheckRequest, read_day, read_question
from assay.guard.screening.readers import Readers
from assay.policy import ScreenPolicy
from assay.schema import (
    DroppedPassage,
    DropReason,
    Evidence,
    PassageConflict,
    PassageReport,
    Screening,
    ScreenReason,
    Signal,
    Standing,
)
from assay.text import asks_about_past, find_orders
from assay.text.sentences import UNSTATED, language

if TYPE_CHECKING:  # what reads passages is loaded with the first screening
    from assay.guard.check.tiers import Tiers
    from assay.guard.parts import GuardParts, HasParts
    from assay.guard.screening.pairs import Pair
    from assay.guard.screening.versions import Known, Versions
    from assay.models import PairScorer
    from assay.policy import Policy
    from assay.retrieve import Passage

MOST: Final = 10_000
"""The most passages of one screening; a retriever that gives more has chosen nothing."""
NEARLY: Final = 0.85
"""The likeness from which two passages with the same values are duplicates."""
INSIDE: Final = 0.97
"""The share of the shorter passage's wording from which a longer one that contains it is a duplicate."""
NOTHING: Final = (
    "Note: No retrieved passage may be used to answer this. Say that the sources do not tell, and do not answer from "
    "memory."
)
_SHOWN: Final = 240
"""The most characters of a sentence that a note or a detail shows."""


@dataclass(slots=True)
class _Selection:
    """The passages that are left, and those that were dropped so far."""

    left: list[Passage]
    dropped: dict[str, DroppedPassage] = field(default_factory=dict)

    def drop(self, one: Passage, reason: DropReason, detail: str, other: str | None = None) -> None:
        self.left.remove(one)
        self.dropped[one.item.id] = DroppedPassage(id=one.item.id, reason=reason, detail=detail, other=other)


@dataclass(frozen=True, slots=True)
class Screener:
    """Screens passages under a policy."""

    policy: Policy
    readers: Readers
    remembered: LruCache[Screening]

    def screen(
        self, question: str, passages: Iterable[Any] | str | None, historical: bool | None, as_of: date | str | None
    ) -> Screening:
        """Which passages may be evidence for a question; see `Guard.screen`."""
        from assay.retrieve import read_passages

        asked = read_question(question)
        day = read_day(as_of) or datetime.now(UTC).date()
        return self._screened(asked, read_passages(passages), self.policy.screen or ScreenPolicy(), day, historical)

    def _screened(
        self, asked: str, read: Sequence[Passage], settings: ScreenPolicy, day: date, historical: bool | None
    ) -> Screening:
        if len(read) > MOST:
            raise InputError(f"one screening takes at most {MOST:,} passages, got {len(read):,}; send them in parts")
        return screened(asked, read, settings, self.readers, day, historical)

    def by_policy(
        self, question: str | None, read: Sequence[Passage], as_of: date | str | None = None
    ) -> Screening | None:
        """The screening that the policy requires before anything is checked or generated; None if it requires none."""
        settings = self.policy.screen
        if settings is None or not self.policy.groundedness or not (question or "").strip():
            return None
        asked, day = question or "", read_day(as_of) or datetime.now(UTC).date()
        content = tuple(
            (one.item.model_dump_json(), one.document, one.written, one.language, one.unread) for one in read
        )
        return self.remembered.get(
            (asked, content, day, settings), lambda: self._screened(asked, read, settings, day, None)
        )

    def admitted(self, request: CheckRequest) -> CheckRequest:
        """The request with only the passages that may be evidence, if the policy has passages screened."""
        settings = self.policy.screen
        if settings is None or request.screening is not None or request.task in self.policy.ungrounded_tasks:
            return request
        from assay.retrieve import read_passages

        read = read_passages(request.evidence)
        given = tuple(one.item for one in read)
        found = self.by_policy(request.question, read, request.as_of)
        return replace(
            request,
            evidence=given if found is None else found.evidence,
            screening=found,
            given=None if found is None else given,
        )


def screener_of(parts: GuardParts, tiers: Tiers) -> Screener:
    """The screener of a guard."""
    return Screener(parts.policy, readers_of(parts, tiers), parts.caches.screened)


def readers_of(parts: GuardParts, tiers: Tiers) -> Readers:
    """What a guard reads passages with."""
    return Readers(parts.scorer, parts.conflicts, tiers.judge_beside)


def screen(
    self: HasParts,
    question: str,
    passages: Iterable[Any] | str | None,
    *,
    historical: bool | None = None,
    as_of: date | str | None = None,
) -> Screening:
    """Decide which passages may be evidence for a question.

    Args:
        question: what is asked.
        passages: as a retriever gave them: texts, mappings, `Evidence`, or documents and nodes of LangChain,
            LlamaIndex and Haystack. Versions and dates are read from metadata in their common spellings.
        historical: whether versions that are no longer in force are kept, marked so; by default where the question
            asks about the past.
        as_of: the day that passages are to be in force on; today, in UTC, by default.

    Returns:
        What is kept in which order, what is dropped and why, conflicts, and the signal. A question without any
        passage gets `refuse`, never an empty success.

    Raises:
        InputError: the question is blank, or something given cannot be read.
        VerifierError: the network failed; then nothing is known of the passages.
    """
    from assay.guard.check.tiers import tiers_of

    return screener_of(self._parts, tiers_of(self._parts)).screen(question, passages, historical, as_of)


def contradictions(self: HasParts, pairs: Sequence[Pair], items: Sequence[Evidence]) -> list[PassageConflict]:
    """Which pairs of sentences contradict each other; pairs are judged as `screen` judges those that it finds.

    Args:
        pairs: pairs of sentences of different passages, which they name by their places in `items`.
        items: the passages.

    Raises:
        VerifierError: the network failed, so it is not known whether there are contradictions.
    """
    from assay.guard.check.tiers import tiers_of
    from assay.guard.screening.conflicts import find_conflicts, read_pairs

    readers = readers_of(self._parts, tiers_of(self._parts))
    readings = read_pairs(pairs, items, readers.scorer)
    return find_conflicts(readings, items, readers, frozenset(), len(pairs))


def screened(
    question: str,
    passages: Sequence[Passage],
    settings: ScreenPolicy,
    readers: Readers,
    as_of: date,
    historical: bool | None = None,
) -> Screening:
    """The screening of passages that were read; see `Guard.screen`."""
    from assay.guard.screening.conflicts import conflicts_of
    from assay.guard.screening.versions import names_a_version, versions_of

    selection = _Selection(list(passages))
    _drop_blank(selection)
    if settings.injections == "drop":
        _drop_injected(selection)
    if settings.language == "question":
        _drop_foreign(selection, question)
    versions = versions_of(selection.left, as_of)
    looks_back = historical
    if looks_back is None:
        looks_back = asks_about_past(question, as_of) or names_a_version(question, versions.of)
    if settings.versions == "drop":
        _drop_out_of_force(selection, versions, keeps_old=looks_back)
    if settings.duplicates == "drop":
        _drop_repeated(selection, versions)
    relevance = _drop_irrelevant(selection, question, settings.minimum_relevance, readers.scorer)
    kept = sorted(selection.left, key=lambda one: (-relevance[one.item.id], one.item.id))
    items = tuple(one.item for one in kept)
    holding = [item for item in items if versions.of[item.id].standing is Standing.IN_FORCE]
    conflicts = conflicts_of(holding, question, readers) if settings.conflicts else ()
    reports = tuple(_report(one, versions.of.get(one.item.id), relevance.get(one.item.id)) for one in passages)
    reasons = _reasons(passages, kept, selection, relevance, versions, conflicts, settings)
    return Screening(
        question=question,
        signal=_signal(items, reasons),
        reasons=reasons,
        kept=tuple(item.id for item in items),
        dropped=tuple(selection.dropped[one.item.id] for one in passages if one.item.id in selection.dropped),
        conflicts=conflicts,
        note=note_of(items, conflicts, versions.of) if items else NOTHING,
        passages=reports,
        inferred=(*versions.inferred, *(said for one in passages for said in one.unread)),
        minimum_relevance=settings.minimum_relevance,
        historical=bool(looks_back),
        as_of=as_of,
        evidence=items,
    )


def _drop_blank(selection: _Selection) -> None:
    for one in list(selection.left):
        if not one.item.text.strip():
            selection.drop(one, DropReason.BLANK, "It says nothing.")


def _drop_injected(selection: _Selection) -> None:
    for one in list(selection.left):
        found = find_orders(f"{one.item.title or ''}\n{one.item.text}")
        if found:
            shown = _short(found[0].text, 80)
            selection.drop(one, DropReason.INJECTED, f"It gives orders to a model that reads it: “{shown}”.")


def _drop_foreign(selection: _Selection, question: str) -> None:
    asked = language(question)
    if asked == UNSTATED:
        return
    for one in list(selection.left):
        own = language(one.item.text)
        own = (one.language or UNSTATED) if own == UNSTATED else own
        if own not in (UNSTATED, asked):
            selection.drop(
                one, DropReason.LANGUAGE, f"It is in another language than the question: {own}, not {asked}."
            )


_REASON_OF: Final[Mapping[Standing, DropReason]] = {
    Standing.EXPIRED: DropReason.EXPIRED,
    Standing.NOT_YET: DropReason.NOT_YET,
    Standing.SUPERSEDED: DropReason.SUPERSEDED,
}


def _drop_out_of_force(selection: _Selection, versions: Versions, *, keeps_old: bool) -> None:
    for one in list(selection.left):
        found = versions.of[one.item.id]
        if found.standing is Standing.IN_FORCE or (keeps_old and found.standing is not Standing.NOT_YET):
            continue
        selection.drop(one, _REASON_OF[found.standing], found.why, found.other)


def _drop_repeated(selection: _Selection, versions: Versions) -> None:
    """Drops passages that another one repeats; of two with the same values, the one with more metadata stays."""
    from assay.retrieve import similar_pairs

    ranked = sorted(selection.left, key=lambda one: (-_details_known(one), -len(one.item.text), one.item.id))
    gone: set[str] = set()
    for pair in similar_pairs([one.item.text for one in ranked], INSIDE / 4):
        first, second = ranked[pair.first], ranked[pair.second]
        if first.item.id in gone or second.item.id in gone:
            continue
        if versions.of[first.item.id].standing is not versions.of[second.item.id].standing:
            continue
        longer, shorter = sorted((first, second), key=lambda one: -len(one.item.text))
        if not says_the_same(longer.item.text, shorter.item.text, pair.jaccard, pair.containment):
            continue
        drops, stays = shorter, longer
        if pair.jaccard >= NEARLY and have_same_values(first.item.text, second.item.text):
            drops, stays = second, first
        how = "word for word" if pair.jaccard == 1 else f"nearly so ({pair.containment:.0%} of its wording)"
        gone.add(drops.item.id)
        selection.drop(drops, DropReason.DUPLICATE, f"{stays.item.id} says the same, {how}.", stays.item.id)


def says_the_same(longer: str, shorter: str, share: float, contained: float) -> bool:
    """Whether a text repeats another one: it has nearly all of its wording, and the same numbers and names.

    A text with other numbers or names is a version or a conflict, not a duplicate.

    Args:
        longer: the longer text.
        shorter: the shorter one.
        share: the Jaccard index of their runs of words.
        contained: the share of the shorter one's runs that the longer one has.
    """
    from assay.guard.conflicts.source_matching import values_of

    if contained >= INSIDE:
        return values_of(shorter) <= values_of(longer)
    return share >= NEARLY and have_same_values(longer, shorter)


def have_same_values(one: str, other: str) -> bool:
    """Whether two texts have the same numbers and names, so that either can stand for the other if they are alike."""
    from assay.guard.conflicts.source_matching import values_of

    return values_of(one) == values_of(other)


def _details_known(one: Passage) -> int:
    """How much is known of a passage's document."""
    item = one.item
    return sum(x is not None for x in (one.document, item.version, item.effective_date, item.expiry_date, item.title))


def _drop_irrelevant(selection: _Selection, question: str, least: float, scorer: PairScorer) -> dict[str, float]:
    from assay.retrieve import relevances

    found = relevances(question, [one.item for one in selection.left], scorer)
    relevance = {one.item.id: round(value, 4) for one, value in zip(selection.left, found, strict=True)}
    for one in list(selection.left):
        chance = relevance[one.item.id]
        if chance < least:
            said = f"Its relevance to the question is {chance:.2f}, below the minimum of {least:g}."
            selection.drop(one, DropReason.IRRELEVANT, said)
    return relevance


def _report(one: Passage, known: Known | None, relevance: float | None) -> PassageReport:
    item = one.item
    if known is None:
        return PassageReport(
            id=item.id,
            relevance=relevance,
            document=one.document,
            version=item.version,
            identified_by="metadata" if one.document else None,
            effective_date=item.effective_date,
            expiry_date=item.expiry_date,
        )
    return PassageReport(
        id=item.id,
        relevance=relevance,
        document=known.document,
        identified_by=known.by,
        version=known.version,
        effective_date=item.effective_date or known.day,
        expiry_date=item.expiry_date,
        standing=known.standing,
    )


def _reasons(
    given: Sequence[Passage],
    kept: Sequence[Passage],
    selection: _Selection,
    relevance: Mapping[str, float],
    versions: Versions,
    conflicts: Sequence[PassageConflict],
    settings: ScreenPolicy,
) -> tuple[ScreenReason, ...]:
    if not given:
        return (ScreenReason.NOTHING_RETRIEVED,)
    if not kept:
        why = {one.reason for one in selection.dropped.values()}
        return (ScreenReason.NOTHING_RELEVANT if why == {DropReason.IRRELEVANT} else ScreenReason.NOTHING_USABLE,)
    found = []
    if max(relevance[one.item.id] for one in kept) < settings.confident_relevance:
        found.append(ScreenReason.WEAK)
    if conflicts:
        found.append(ScreenReason.CONFLICT)
    if all(versions.of[one.item.id].standing is not Standing.IN_FORCE for one in kept):
        found.append(ScreenReason.HISTORICAL)
    if any(one.unread for one in kept):
        found.append(ScreenReason.UNREADABLE_DATE)
    return tuple(found)


def _signal(kept: Sequence[Evidence], reasons: Sequence[ScreenReason]) -> Signal:
    if not kept:
        return Signal.REFUSE
    return Signal.LOW_CONFIDENCE if reasons else Signal.RETRIEVE


def note_of(kept: Sequence[Evidence], conflicts: Sequence[PassageConflict], known: Mapping[str, Known]) -> str | None:
    """The note for a model about the kept passages; None if there is nothing to tell.

    Sentences of passages stand in it between quotation marks, on one line each, because they are data.
    """
    names = {item.id: _name(item, known.get(item.id)) for item in kept}
    parts = []
    if conflicts:
        parts.append("Note: The retrieved documents contain conflicting information on this topic.")
        for one in conflicts:
            parts.append(f"Document {one.first}{names[one.first]} states: “{_short(one.first_text, _SHOWN)}”")
            parts.append(f"Document {one.second}{names[one.second]} states: “{_short(one.second_text, _SHOWN)}”")
        parts.append(
            "Acknowledge this conflict in your response and do not synthesize a single answer that obscures it."
        )
    old = [f"{item.id}{names[item.id]}" for item in kept if item.id in known and known[item.id].standing in _OLD]
    if old:
        parts.append(f"Note: No longer in force, and kept because the past is asked about: {', '.join(old)}.")
    return "\n".join(parts) or None


_OLD: Final = frozenset({Standing.SUPERSEDED, Standing.EXPIRED})


def _name(item: Evidence, known: Known | None) -> str:
    title = _short(item.title or item.source or "", 80)
    version = (known.version if known else None) or item.version
    shown = f"v{version.removeprefix('v')}" if version and version not in title and version[:1].isdigit() else ""
    day = item.effective_date or (known.day if known else None)
    year = str(day.year) if day is not None and str(day.year) not in title else ""
    said = ", ".join(part for part in (" ".join(part for part in (title, shown) if part), year) if part)
    return f" ({said})" if said else ""


def _short(text: str, most: int) -> str:
    flat = " ".join(text.replace("“", '"').replace("”", '"').split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
