"""Numbers that a text implies: "me and three friends" are four people, "an hour and a half" is 90 minutes."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from assay.text.lexicon import word_list

_COUNTS: Final = {
    word: n
    for n, word in enumerate(word_list("zero one two three four five six seven eight nine ten eleven twelve"), start=0)
} | {"a": 1, "an": 1, "my": 1, "our": 1, "his": 1, "her": 1, "their": 1, "the": 1, "another": 1}
_NUMBER: Final = rf"(?:\d{{1,2}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_PERSON: Final = (
    r"(?:adult|person|people|guest|friend|colleague|coworker|kid|child|children|toddler|bab(?:y|ies)|infant|teenager|"
    r"son|daughter|brother|sister|sibling|cousin|parent|mother|father|mum|mom|dad|grandmother|grandfather|"
    r"grandparent|aunt|uncle|nephew|niece|wi(?:fe|ves)|husband|spouse|partner|boyfriend|girlfriend|fianc[eé]e?|"
    r"neighbou?r|boss|manager|assistant|client|student|pupil|senior|passenger|traveller|traveler|companion)s?"
)
_MEMBER: Final = re.compile(
    rf"(?P<self>me|myself|i)\b|(?:the\s)?(?P<us>{_NUMBER})\sof\sus\b|"
    rf"(?:(?:my|our|his|her|their|the)\s)?(?:(?P<count>{_NUMBER})\s)?(?:(?:older|younger|little|small|other|best|"
    rf"good|close|young|elderly)\s)?(?P<who>{_PERSON})\b"
)
_JOINT: Final = re.compile(r",?\s*(?:and|plus|with|as well as|&|,|together with)\s+(?:also\s)?")
_COUPLES: Final = frozenset({"parents", "grandparents"})
"""Words that mean two people unless a number is given."""

_WHOLE: Final = r"(?P<whole>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_TIME_UNIT: Final = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "year": 31_536_000}
_AND_A_HALF: Final = re.compile(rf"\b{_WHOLE}\s(?P<unit>minute|hour|day|week|year)s?\sand\sa\s(?P<part>half|quarter)\b")
_HALVES: Final = re.compile(rf"\b{_WHOLE}\sand\sa\s(?P<part>half|quarter)\s(?P<unit>minute|hour|day|week|year)s?\b")
_PART_OF: Final = re.compile(
    r"\b(?P<part>half|(?:three\s|3\s|a\s|one\s)?quarters?)\s(?:of\s)?(?:an?\s)(?P<unit>minute|hour|day|week|year)\b"
)
_PARTS: Final = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "three quarters": Decimal("0.75")}


def headcounts(lowercase: str) -> Iterator[tuple[int, int, int]]:
    """The groups of people that a lower-case text lists: start, end and number of people.

    >>> [count for _, _, count in headcounts("a table for me and three friends, please")]
    [4]
    >>> [count for _, _, count in headcounts("book it for my wife, our two kids and me")]
    [4]
    """
    position = 0
    while (first := _MEMBER.search(lowercase, position)) is not None:
        if not _starts_word(lowercase, first.start()):
            position = first.start() + 1
            continue
        count, last, members = _people_in(first), first.end(), 1
        while (joint := _JOINT.match(lowercase, last)) is not None:
            member = _MEMBER.match(lowercase, joint.end())
            if member is None:
                break
            count, last, members = count + _people_in(member), member.end(), members + 1
        if members > 1:
            yield first.start(), last, count
        position = last


def _starts_word(lowercase: str, position: int) -> bool:
    return position == 0 or not lowercase[position - 1].isalnum()


def _people_in(member: re.Match[str]) -> int:
    if member["self"]:
        return 1
    count = member["us"] or member["count"]
    if count is None or (member["who"] in _COUPLES and not count.isdigit() and _COUNTS.get(count, 1) == 1):
        return 2 if member["who"] in _COUPLES else 1
    return int(count) if count.isdigit() else _COUNTS[count]


def spoken_durations(lowercase: str) -> Iterator[tuple[int, int, Decimal]]:
    """The durations that a lower-case text states with a half or a quarter: start, end and seconds.

    >>> [str(seconds) for _, _, seconds in spoken_durations("an hour and a half, or three quarters of an hour")]
    ['5400.0', '2700.00']
    """
    for pattern in (_AND_A_HALF, _HALVES):
        for match in pattern.finditer(lowercase):
            whole = match["whole"]
            count = Decimal(whole) if whole.isdigit() else Decimal(_COUNTS[whole])
            yield *match.span(), (count + _PARTS[match["part"]]) * _TIME_UNIT[match["unit"]]
    for match in _PART_OF.finditer(lowercase):
        part = re.sub(r"^(?:a|one)\s", "", match["part"]).replace("3 ", "three ")
        if part in _PARTS:
            yield *match.span(), _PARTS[part] * _TIME_UNIT[match["unit"]]
