"""Which words of a claim are wrong, as pieces that can be shown to a person."""

import re
from collections.abc import Iterable, Sequence

from assay.guard.check.verdicts import SURE, Judged
from assay.schema import Verdict
from assay.text.dates import find_dates
from assay.text.lexicon import find_names
from assay.text.quantities import find_quantities
from assay.verify.exact import ExactResult

WRONG = 0.5
"""The probability from which a word of a claim that is not supported is shown as wrong."""
SHARE = 0.7
"""If no word reaches it, words with this share of the most suspect word's probability are shown: the claim as a whole
has been judged already, and only the place is left to say."""
LEAST = 0.03
"""The probability below which a word is never shown."""
BRIDGE = 0.4
"""The share of the level from which a single word between two wrong ones belongs to them ("the 4th of May")."""
WHOLE = 0.8
"""The share of its words from which a claim is wrong as a whole, and no piece of it says more."""
LEAST_SURE = 0.3
"""The confidence of the exact tier below which a finding marks no words."""
CLOSE = 0.1
"""Findings this close to the surest one mark words as well."""
MOST_PIECES = 4
"""The most pieces that a claim shows: those of which the network is surest."""

LEADING = frozenset(
    """a an the of to in on at by for from with as than that which who and or but if is are was were be been it its this
    these those you your we our they their i my he his she her""".split()  # noqa: SIM905 reads better as text
)
"""Words that lead to what follows or refer to what was named, and are never wrong by themselves."""
_MARKS = ".,;:!?()\"'“”‘’"
_TOKEN = re.compile(r"\S+")


def wrong_pieces(judged: Judged, job_claim: str) -> tuple[tuple[int, int], ...]:
    """Start and end of the pieces of a claim that the network calls wrong, in the order of the text.

    A supported claim has none. For a contradicted claim the words are read under the premise that contradicts it most,
    otherwise under the one that comes closest to supporting it.

    Args:
        judged: the judgement of the claim.
        job_claim: the claim's text; the network may have read a question before it.
    """
    read = judged.entailment
    against = judged.verdict is Verdict.CONTRADICTED
    reading = read.worst_contradiction if against else read.best_support
    if judged.verdict is Verdict.SUPPORTED or reading is None or len(reading.wrong) != len(read.words):
        return ()
    shift = read.claim_length - len(job_claim) if read.claim_at is None else read.claim_at
    words = [(start - shift, end - shift, p) for (start, end), p in zip(read.words, reading.wrong, strict=True)]
    own = [word for word in words if word[0] >= 0 and word[1] <= len(job_claim)]
    return _unsettled(_whole_words(job_claim, _pieces(own)), judged.exact)


def _whole_words(claim: str, pieces: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The pieces as a person would mark them.

    A number or a date is marked with its unit. A piece does not end with a word that leads to what follows ("more than
    a kilo of"). A piece of such words alone is left out, unless there is no other.

    >>> claim = "A kilo of salt lasts 4 years for the town."
    >>> _whole_words(claim, [(0, 9), (21, 22), (29, 32)])
    ((0, 6), (21, 28))
    """
    values = [(one.start, one.end) for one in find_quantities(claim)]
    values += [(one.start, one.end) for one in find_dates(claim)]
    kept: list[tuple[int, int]] = []
    empty: list[tuple[int, int]] = []
    for piece in pieces:
        met = [piece, *(value for value in values if _touches(value, (piece,)))]
        start, end = min(a for a, _ in met), max(b for _, b in met)
        tokens = [(start + m.start(), start + m.end()) for m in _TOKEN.finditer(claim[start:end])]
        says = [place for place in tokens if _stripped(claim, place) not in LEADING]
        (kept if says else empty).append((start, says[-1][1] if says else end))
    return _merged(kept or empty)


def _stripped(claim: str, place: tuple[int, int]) -> str:
    return claim[place[0] : place[1]].strip(_MARKS).lower()


def wrong_places(judged: Judged, job_claim: str) -> tuple[tuple[int, int], ...]:
    """Start and end of the wrong words of a claim, in order and without overlaps; empty if all of it is wrong.

    The network's words come first, because it sees the claim as a whole. If the claim repeats a sentence of the
    evidence except for some changes, a change is marked in full: those that the network points into, or the only one.
    Findings of which the exact tier is sure are added; if the network marks no words, the surest findings alone count.
    In a sentence that records answer, only the words that differ from the records are wrong.

    Args:
        judged: the judgement of the claim.
        job_claim: the claim's text.
    """
    if judged.verdict not in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
        return ()
    found = [f for f in judged.exact.findings if f.effect != "note" and f.claim_start < f.claim_end]
    pieces = within_changes(job_claim, wrong_pieces(judged, job_claim), judged.exact.changed)
    if pieces:
        sure = [f for f in found if f.effect == "contradicts" and f.confidence >= SURE]
        apart = [f for f in sure if all(f.claim_end <= a or b <= f.claim_start for a, b in pieces)]
        return _as_recorded([*pieces, *((f.claim_start, f.claim_end) for f in apart)], judged.exact)
    surest = max((f.confidence for f in found), default=0.0)
    named = [(f.claim_start, f.claim_end) for f in found if f.confidence >= max(LEAST_SURE, surest - CLOSE)]
    return _as_recorded([place for place in named if place != (0, len(job_claim))], judged.exact)


def _as_recorded(places: Sequence[tuple[int, int]], exact: ExactResult) -> tuple[tuple[int, int], ...]:
    """The places, except that sentences which records answer have only the words that differ from the records."""
    return _merged([*_unsettled(places, exact), *(place for f in exact.findings for place in f.words)])


def _unsettled(places: Sequence[tuple[int, int]], exact: ExactResult) -> tuple[tuple[int, int], ...]:
    """The places outside of the sentences that records answer; all places if there is nothing else wrong.

    A record that answers a sentence confirms all of it except the words that it marks as wrong.
    """
    outside = tuple((a, b) for a, b in places if not any(a < end and start < b for start, end in exact.settled))
    return outside if outside or any(f.words for f in exact.findings) else tuple(places)


def within_changes(
    claim: str, pieces: Sequence[tuple[int, int]], changed: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """The wrong pieces of a claim that repeats a sentence of the evidence except for some changes.

    A word that the evidence has in the same place is not wrong, so it is left out. A name that was changed in full is
    wrong in full. Pieces that touch no change stay as they are. If there is no piece, a single change is the piece.

    >>> claim = "All of them liked Oslo City Hall."
    >>> within_changes(claim, [(0, 17), (18, 22)], [(0, 3), (18, 32)])
    ((0, 3), (18, 32))

    Args:
        claim: the claim's text.
        pieces: start and end of what the network calls wrong, in the order of the text.
        changed: start and end of each change, in the order of the text.
    """
    if not pieces:
        return tuple(changed) if len(changed) == 1 else ()
    if not any(_touches(piece, changed) for piece in pieces):
        return tuple(pieces)
    names = [(n.start, n.end) for n in find_names(claim)]
    kept: list[tuple[int, int]] = []
    for start, end in pieces:
        tokens = [(start + m.start(), start + m.end()) for m in _TOKEN.finditer(claim[start:end])]
        runs: list[list[tuple[int, int]]] = [[]]
        for token in tokens:
            if _touches(token, changed):
                runs[-1].append(token)
            else:
                runs.append([])
        kept += [(run[0][0], run[-1][1]) for run in runs if run]
    whole = [name for name in names if _touches(name, kept) and any(a <= name[0] and name[1] <= b for a, b in changed)]
    return _merged([*kept, *whole]) or tuple(pieces)  # only blanks are common to both


def _touches(place: tuple[int, int], places: Iterable[tuple[int, int]]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in places)


def _merged(places: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The places in order, with overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _pieces(words: Sequence[tuple[int, int, float]]) -> tuple[tuple[int, int], ...]:
    """Start and end of the runs of wrong words; empty if nearly all words are wrong."""
    if not words:
        return ()
    level = min(WRONG, max(LEAST, SHARE * max(p for _, _, p in words)))
    wrong = [p >= level for _, _, p in words]
    for i in range(1, len(words) - 1):
        if not wrong[i] and wrong[i - 1] and words[i + 1][2] >= level and words[i][2] >= BRIDGE * level:
            wrong[i] = True
    if sum(wrong) >= WHOLE * len(words):
        return ()
    runs: list[tuple[int, int, float]] = []
    for i, (start, end, p) in enumerate(words):
        if not wrong[i]:
            continue
        if i and wrong[i - 1]:
            first, _, surest = runs.pop()
            runs.append((first, end, max(surest, p)))
        else:
            runs.append((start, end, p))
    surest_first = sorted(runs, key=lambda run: -run[2])[:MOST_PIECES]
    return tuple(sorted((start, end) for start, end, _ in surest_first))
