"""Coverage: how much of an output was checked, character by character."""

from collections.abc import Sequence

from assay.schema import ClaimReport, Coverage, ExtractedClaim, Span, UncheckedPart, Verdict

BLANK, CHECKED, NOT_CHECKABLE, UNCHECKED = 0, 1, 2, 3


def coverage_of(
    text: str, read: int, statements: Sequence[tuple[ExtractedClaim, ClaimReport]], evidence: int, unread: int
) -> Coverage:
    """Accounts for every character of the output.

    A letter or digit that belongs to no statement counts as unchecked.

    Args:
        text: the whole output.
        read: how many characters from its start claims were extracted from.
        statements: each extracted claim with its report.
        evidence: how many characters of evidence were given.
        unread: how many characters of evidence were not read.
    """
    state = bytearray(len(text))
    for claim, _ in statements:
        _paint(state, claim.sentence, NOT_CHECKABLE, over=(BLANK,))
    for claim, report in statements:
        if report.verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
            _paint(state, claim.sentence, CHECKED, over=(BLANK, NOT_CHECKABLE))
    for claim, report in statements:
        if report.verdict is Verdict.UNCHECKED:
            _paint(state, claim.span, UNCHECKED, over=(BLANK, NOT_CHECKABLE, CHECKED))
    missed = [i for i, char in enumerate(text[:read]) if state[i] == BLANK and char.isalnum()]
    for i in missed:
        state[i] = UNCHECKED
    if text[read:].strip():
        state[read:] = bytes([UNCHECKED]) * (len(text) - read)
    counts = [state.count(value) for value in range(4)]
    parts = _parts(state, read)
    reasons = tuple(dict.fromkeys(part.reason for part in parts))
    if unread:
        reasons = (*reasons, f"{unread:,} characters of evidence lie beyond the limit and were not read.")
    claim_free = not any(claim.checkable for claim, _ in statements)
    if claim_free:
        reasons = (
            *reasons,
            "The output is empty." if not text.strip() else "Nothing in the output is a checkable claim.",
        )
    return Coverage(
        characters=len(text),
        checked=counts[CHECKED],
        not_checkable=counts[BLANK] + counts[NOT_CHECKABLE],
        unchecked=counts[UNCHECKED],
        parts=parts,
        evidence_characters=evidence,
        evidence_read=evidence - unread,
        claim_free=claim_free,
        reasons=reasons,
    )


def _paint(state: bytearray, span: Span, value: int, over: tuple[int, ...]) -> None:
    piece = state[span.start : span.end]
    for old in over:
        piece = piece.replace(bytes([old]), bytes([value]))
    state[span.start : span.end] = piece


def _parts(state: bytearray, read: int) -> tuple[UncheckedPart, ...]:
    parts: list[UncheckedPart] = []
    at = 0
    while (start := state.find(UNCHECKED, at)) >= 0:
        end = start
        limit = read if start < read else len(state)
        while end < limit and state[end] == UNCHECKED:
            end += 1
        reason = (
            "A claim here could not be checked."
            if start < read
            else "The output is longer than the limit; the rest was not read."
        )
        parts.append(UncheckedPart(span=Span(start=start, end=end), reason=reason))
        at = end
    return tuple(parts)
