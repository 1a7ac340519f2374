"""Conflicts that are none: what differs in another source may be about another thing, case or time.

The verifier reads a claim with evidence that is given as being about it, so beside a near text ("Screen 2 shows the
film at six") it sees a contradiction. The conflict network was trained on passages that cannot both be right and on
near texts beside them (`train/conflicts`), and has a say in each conflict that was found between two sentences: where
it is sure that both can be right, there is no conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from assay.errors import VerifierError
from assay.guard.conflicts.both_ways import is_prose
from assay.guard.conflicts.source_matching import claim_share_in_passage, is_record
from assay.models import ConflictScorer
from assay.retrieve import heading
from assay.schema import Evidence, EvidenceSpan, Verdict
from assay.text.sentences import split_sentences

if TYPE_CHECKING:
    from assay.guard.check.verdicts import Job, Judged

COMPATIBLE: Final = 0.135
"""The probability of a conflict below which two sentences can both be right. Of the held-out conflicts of
`train/conflicts`, under titles, 4 in 100 lie below it, of the other pairs 51 (docs/adr/0128)."""
CONFLICTING: Final = 0.7
"""The probability from which two sentences of two passages contradict each other whatever the verifier says of them:
the lowest that raises no further alarm among the fit side's passages that agree (docs/adr/0128)."""
_SPEAKERS: Final = frozenset({"user", "system", "developer"})
"""Sources that are somebody's words in a conversation. The network was trained on passages of documents: "it is 24
months" says of nothing that it is 24 months, and it takes that for another matter."""
LONGEST_HEADING: Final = 120
"""The most characters of a title that is read before a sentence."""
MOST_BEHIND: Final = 3
"""How many of the sentences that support the claim are read beside it: those that say most of it."""
MOST_AGAINST: Final = 8
"""How many sentences the contradicting side may have. All of them are read, or a conflict stands."""


def with_heading(item: Evidence, text: str) -> str:
    """A sentence with the title of its source before it, which may say what it is about."""
    head = heading(item)
    return f"{head}{text}" if len(head) <= LONGEST_HEADING else text


def sentences_at(item: Evidence, start: int, end: int) -> list[str]:
    """The whole sentences of a source that a place of it is in; none if one of them is no prose, or it is a record.

    >>> sentences_at(Evidence(id="a", text="It is shut. The fee is 40 euros a day."), 23, 25)
    ['The fee is 40 euros a day.']
    """
    if is_record(item.text):
        return []
    spans = [one for one in split_sentences(item.text) if one.start < end and start < one.end]
    texts = [item.text[one.start : one.end].strip() for one in spans]
    return texts if all(is_prose(text) for text in texts) else []


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both sides of a conflict."""

    own: Evidence
    behind: Sequence[str]
    """The claim and the sentences of its source that support it."""
    other: Evidence
    against: Sequence[str]
    """The sentences of the other source that seem to contradict it."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every text of one side with every text of the other, each with the title of its source."""
        others = [with_heading(self.other, text) for text in self.against]
        return [(with_heading(self.own, text), other) for text in self.behind for other in others]


def without_compatible(jobs: Sequence[Job], judged: Sequence[Judged], conflicts: ConflictScorer) -> list[Judged]:
    """The judgements of jobs, without the conflicts whose two sides can both be right.

    Asked are conflicts on supported claims between two sources of prose. A conflict stands if not everything that it
    was found on can be read. If the network fails, the claims count as unchecked.
    """
    asked = {
        place: sides
        for place, (job, one) in enumerate(zip(jobs, judged, strict=True))
        if one.conflict is not None and one.verdict is Verdict.SUPPORTED
        if (sides := _sides(job, one)) is not None
    }
    found = list(judged)
    if not asked:
        return found
    pairs = list(dict.fromkeys(pair for sides in asked.values() for pair in sides.pairs))
    try:
        known = dict(zip(pairs, conflicts.probabilities(pairs), strict=True))
    except VerifierError as error:
        for place in asked:
            found[place] = found[place].as_unchecked(str(error))
        return found
    for place, sides in asked.items():
        chances = [known[pair] for pair in sides.pairs]
        if all(chance is not None and chance < COMPATIBLE for chance in chances):
            found[place] = replace(found[place], conflict=None)
    return found


def _sides(job: Job, judged: Judged) -> _Sides | None:
    """The texts to be read, or None if a side is not prose throughout, too long, or said in a conversation."""
    if judged.conflict is None:
        return None
    supporting, contradicting = judged.conflict
    items = {item.id: item for item in job.evidence.evidence}
    own, other = items[supporting.evidence_id], items[contradicting.evidence_id]
    if own.source in _SPEAKERS or other.source in _SPEAKERS:
        return None
    behind = sentences_at(own, supporting.start, supporting.end)
    places = _places(judged, contradicting)
    against = [sentences_at(other, start, end) for start, end in places]
    texts = list(dict.fromkeys(text for some in against for text in some))
    if not behind or not all(against) or len(texts) > MOST_AGAINST:
        return None
    closest = sorted(behind, key=lambda one: -claim_share_in_passage(job.claim, one, ()))[:MOST_BEHIND]
    return _Sides(own, [job.claim, *closest], other, texts)


def _places(judged: Judged, span: EvidenceSpan) -> set[tuple[int, int]]:
    """Where a source was read to find what a span shows: a span shows the first of several windows."""
    places = {(span.start, span.end)}
    for reading in judged.entailment.judgements:
        windows = reading.premise.windows
        shown = [(one.evidence_id, one.start, one.end) for one in windows[:1]]
        if shown == [(span.evidence_id, span.start, span.end)]:
            places |= {(one.start, one.end) for one in windows if one.evidence_id == span.evidence_id}
    return places
