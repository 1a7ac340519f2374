"""Reads a percentage with the words that give it a sign: "less 20%", "20% off", "a discount of 20%", "plus tax of 10%".

    phrase  = word share [noun] | share noun | noun "of" share
    word    = less, minus, reduced by, take, deduct ... | plus, increased by, add ...
    noun    = off, discount, reduction, ... | tax, tip, surcharge, ...

A phrase whose words have opposite signs ("less a 10% surcharge") is not read.
"""

import re
from dataclasses import dataclass
from typing import Final

from assay.text.quantities import Quantity

_DOWN_NOUN: Final = (
    r"discount|price\s(?:cut|reduction)|reduction|rebate|deduction|mark-?down|decrease|price\sdrop|concession"
)
_UP_NOUN: Final = (
    r"sales\stax|service\scharge|tax|vat|gst|tip|gratuity|surcharge|mark-?up|premium|increase|interest|"
    r"price\s(?:rise|increase)"
)
_DETERMINER: Final = r"(?:(?:a|an|the|its|their|our|your|his|her|this|that|another)\s)?"
_BEFORE: Final = re.compile(
    rf"\b(?:(?P<noun>(?:(?P<down_noun>{_DOWN_NOUN})|(?P<up_noun>{_UP_NOUN}))\sof\s)|"
    r"(?:(?P<down>less|minus|(?:reduc|lower|decreas|discount|slash)(?:e|es|ed|ing)?(?:\s(?:it|this|that))?\sby|"
    r"cut(?:ting)?\sby|marked\sdown\sby|down(?:\sby)?|discounted|(?:tak(?:e|es|ing)|took|knock(?:s|ed|ing)?)\s(?:off|away)|"
    r"(?:subtract|deduct)(?:s|ed|ing)?|(?P<take>tak(?:e|es|ing)|took|knock(?:s|ed|ing)?))|"
    r"(?P<up>plus|(?:increas|rais)(?:e|es|ed|ing)(?:\s(?:it|this|that))?\sby|marked\sup\sby|up(?:\sby)?|add(?:s|ed|ing)?))"
    rf"\s{_DETERMINER})$",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"[\s-](?:(?P<down_noun>(?:(?:member|student|staff|loyalty|group|early|regular|seasonal|cash|trade)\s)?"
    rf"(?:{_DOWN_NOUN})|off)|(?P<up_noun>{_UP_NOUN})|(?P<down>less|cheaper|lower|away)|(?P<up>more|extra|on\stop|higher))\b"
    r"(?:\s(?:(?:is|are|was)\s)?(?:taken\soff|applied|added(?:\son)?|deducted|included))?",
    re.IGNORECASE,
)
_LONGEST: Final = 40
"""Characters before a percentage that are searched."""


@dataclass(frozen=True, slots=True)
class Percentage:
    """A percentage with a sign, as a text states it."""

    share: Quantity
    start: int
    """Where the phrase begins, including "less" or "a discount of"."""
    end: int
    up: bool
    """Whether the percentage is added; else it is taken off."""
    named: bool
    """Whether a noun refers to the share itself, so that an amount may be the share: "the discount is $20"."""
    may_be_change: bool
    """Whether it may describe a past change: "it is $100, up 20%", "$100, 20% less than before"."""


def read_percentage(text: str, share: Quantity) -> Percentage | None:
    """The phrase around a percentage; none without a word that gives it a sign, or with two opposite ones.

    Args:
        text: the text.
        share: one of its quantities.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "A discount of 20% on $100 leaves $80."
    >>> found = read_percentage(text, find_quantities(text)[0])
    >>> text[found.start : found.end], found.up, found.named
    ('discount of 20%', False, True)
    """
    if share.dimension != "share" or not share.exact or share.low is None:
        return None
    before = _BEFORE.search(text, max(0, share.start - _LONGEST), share.start)
    after = _AFTER.match(text, share.end)
    if before is not None and before["take"] is not None and after is None:
        return None  # "take 20% of the tickets"
    if before is None and after is None:
        return None
    signs = {
        match[f"up{sort}"] is not None
        for match in (before, after)
        if match is not None
        for sort in ("", "_noun")
        if match[f"up{sort}"] is not None or match[f"down{sort}"] is not None
    }
    if len(signs) != 1:
        return None
    named = (before is not None and before["noun"] is not None) or (
        before is None and after is not None and (after["up_noun"] or after["down_noun"]) is not None
    )
    start = share.start if before is None else before.start()
    end = share.end if after is None else after.end()
    words = text[start : share.start].lower().split() if before is not None else []
    may_be_change = (
        words[:1] in (["up"], ["down"], ["discounted"]) or words[1:2] == ["by"] or (before is None and not named)
    )
    return Percentage(share, start, end, signs == {True}, named, may_be_change)
