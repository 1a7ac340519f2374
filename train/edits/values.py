"""Wrong values of records and tables."""

from __future__ import annotations

import random

from train.edits.context import Context
from train.edits.kinds import Edit, replace


def wrong_value(text: str, context: Context, rng: random.Random) -> Edit | None:
    """Put another value in place of a record's: of the same key in another record, or of the same column elsewhere."""
    record = context.document.record
    if record is None:
        return None
    offers = []
    for fact in record.facts:
        at = text.find(f" {fact.value}")
        if (
            at < 0
            or fact.value in fact.subject
            or fact.line not in context.sources
            or f"{fact.key.lower()[:4]}" not in text.lower()
        ):
            continue
        pool = (
            [f.value for f in record.facts if f.key == fact.key]
            if record.table
            else context.bank.values.get(fact.key, [])
        )
        new = pool[rng.randrange(len(pool))] if pool else fact.value
        mine, other = bare(fact.value), bare(new)
        same = not mine or not other or mine in other or other in mine
        if not same and (record.table or new not in context.document.text):
            offers.append((at + 1, at + 1 + len(fact.value), new))
    if not offers:
        return None
    start, end, new = rng.choice(offers)
    return replace("wrong_value", text, start, end, new)


def bare(value: str) -> str:
    """A value's letters and digits alone: "1960 - 2001" and "1960-2001" are one value.

    >>> bare("1960 - 2001")
    '19602001'
    """
    return "".join(c for c in value.lower() if c.isalnum())
