"""Times of day in words: "half past two", "a quarter to nine", "six in the evening", "noon".

What is as likely a range as a time ("five to seven people", "ten to twelve") is not read.
"""

import re
from collections.abc import Iterator

from assay.text.dates.values import Bound, DateMention

_HOUR_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HOURS = {word: n for n, word in enumerate(_HOUR_WORDS, start=1)} | {str(n): n for n in range(1, 13)}
_MINUTES_BY_WORD = {
    "half": 30,
    "quarter": 15,
    "twenty-five": 25,
    "twenty five": 25,
    "twenty": 20,
    "ten": 10,
    "five": 5,
} | {str(n): n for n in range(1, 31)}
_NAMED_TIMES = {"noon": 720, "midday": 720, "midnight": 0}
_HOUR = rf"(?P<hour>{'|'.join(sorted(_HOURS, key=len, reverse=True))})\b(?![.,:/-]\d|%)"
_MINUTE_WORDS = "|".join(sorted(set(_MINUTES_BY_WORD) - {"half", "quarter"}, key=len, reverse=True))
_PART_OF_HOUR = rf"(?P<part>(?:a\s)?quarter|half|(?:{_MINUTE_WORDS})(?:\sminutes?)?)"
_DAY_PART = (
    r"(?:,?\s(?P<day>in\sthe\s(?:early\s|late\s)?(?:morning|afternoon|evening)|at\snight|a\.?m\b\.?|p\.?m\b\.?)"
    r"|\so['’]clock(?:\s(?P<later>in\sthe\s(?:morning|afternoon|evening)|at\snight))?)?"
)
_PAST = re.compile(rf"\b{_PART_OF_HOUR}\s(?P<side>past|to)\s{_HOUR}{_DAY_PART}", re.IGNORECASE)
_FULL_HOUR = re.compile(rf"(?<![-.,:/\d$€£])\b{_HOUR}{_DAY_PART}", re.IGNORECASE)
_NAMED = re.compile(r"\b(?P<half>half\spast\s)?(?P<name>noon|midday|midnight)\b", re.IGNORECASE)
_DOTTED = re.compile(
    r"(?<![\d.,:/-])(?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?![\d.,:/-]\d|\d)\s?"
    r"(?:(?P<half>[ap])\.?\s?m\b\.?|Uhr\b|h\b)",
    re.IGNORECASE,
)
_ADJOINING_CLOCK = re.compile(
    r"(?<=\d[-–T,;/|])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?(?![\d:])"
)
"""The second time of "18:00-19:30", and the time of "2026-06-09T13:00:00Z"."""
_LEAD_WORD = re.compile(
    r"\b(?P<lead>at|by|until|till|before|after|from|since|about|around|towards?|shortly|just)\s(?:about\s|around\s)?$",
    re.IGNORECASE,
)
_BOUNDS: dict[str, Bound] = {
    "by": "until",
    "until": "until",
    "till": "until",
    "before": "before",
    "after": "after",
    "since": "since",
    "about": "about",
    "around": "about",
    "toward": "about",
    "towards": "about",
}
_LEAD_LENGTH = 24
"""Characters before a time in which its lead word is looked for."""

TRIGGERS = frozenset(
    {
        "past",
        "quarter",
        "half",
        "noon",
        "midday",
        "midnight",
        "morning",
        "afternoon",
        "evening",
        "night",
        "clock",
        "o'clock",
        "o’clock",
        "uhr",
        "am",
        "pm",
        "m",
        "to",
    }
)
"""Folded words; a text without any of them has no time in words."""


def find_clock_words(text: str) -> Iterator[DateMention]:
    """The times of day that a text gives in words; they may overlap.

    >>> [m.minute for m in find_clock_words("From half past two until a quarter to six in the evening.")]
    [150, 1065]
    >>> list(find_clock_words("Five to seven people wait two to four days."))
    []
    """
    matches: list[re.Match[str]] = []
    for match in _PAST.finditer(text):
        if _is_time(text, match):
            matches.append(match)
            part = re.sub(r"^a\s|\sminutes?$", "", match["part"].lower())
            minutes = 60 * (_HOURS[match["hour"].lower()] % 12)
            minutes += _MINUTES_BY_WORD[part] if match["side"].lower() == "past" else -_MINUTES_BY_WORD[part]
            yield _mention(text, match, minutes % 720)
    for match in _FULL_HOUR.finditer(text):
        part_of_one = any(one.start() < match.start() < one.end() for one in matches)
        if not part_of_one and (match["day"] or match.end() > match.end("hour")):
            yield _mention(text, match, 60 * (_HOURS[match["hour"].lower()] % 12))
    for match in _NAMED.finditer(text):
        minute = (_NAMED_TIMES[match["name"].lower()] + (30 if match["half"] else 0)) % 1440
        yield DateMention(match.start(), match.end(), minute=minute, bound=_bound(text, match.start()))
    for match in _DOTTED.finditer(text):
        hour = int(match["hour"])
        if match["half"]:
            hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
        yield DateMention(
            match.start(), match.end(), minute=60 * hour + int(match["minute"]), bound=_bound(text, match.start())
        )


def find_adjoining_clocks(text: str) -> Iterator[DateMention]:
    """The times of day that directly follow a date or another time.

    >>> [m.minute for m in find_adjoining_clocks("2026-06-09T13:00 and 18:00-19:30")]
    [780, 1170]
    """
    for match in _ADJOINING_CLOCK.finditer(text) if ":" in text else ():
        hour = int(match[1])
        half_day = match[1].startswith("0") or hour > 12 or hour == 0 or text[match.start() - 1] == "T"
        yield DateMention(match.start(), match.end(), minute=60 * (hour % 24) + int(match[2]), half_day=half_day)


def _is_time(text: str, match: re.Match[str]) -> bool:
    """Whether "M past H" or "M to H" is a time: "ten to twelve" is one only where it cannot mean a range."""
    part, hour = match["part"].lower(), match["hour"].lower()
    if match["side"].lower() == "past":
        return (
            part not in _HOURS or not part.isdigit() or bool(_LEAD_WORD.search(text[: match.start()][-_LEAD_LENGTH:]))
        )
    if part.endswith(("quarter", "minutes", "minute")):
        return True
    if part == "half":
        return False
    larger = _MINUTES_BY_WORD[part] > _HOURS[hour]
    marked = bool(match["day"] or match.end() > match.end("hour"))
    return (larger or marked) and bool(marked or _LEAD_WORD.search(text[: match.start()][-_LEAD_LENGTH:]))


def _bound(text: str, start: int) -> Bound:
    lead = _LEAD_WORD.search(text[max(0, start - _LEAD_LENGTH) : start])
    return _BOUNDS.get(lead["lead"].lower(), "exact") if lead else "exact"


def _mention(text: str, match: re.Match[str], minute: int) -> DateMention:
    """A time of day in the half of the day that the words after it name, if any."""
    half = (match["day"] or match["later"] or "").lower()
    if not half:
        return DateMention(match.start(), match.end(), minute=minute, half_day=False, bound=_bound(text, match.start()))
    first = "morning" in half or (half.startswith("a") and "night" not in half and "noon" not in half)
    if "night" in half:  # eight at night is in the evening, three at night before morning
        first = minute < 360
    return DateMention(
        match.start(), match.end(), minute=minute if first else minute + 720, bound=_bound(text, match.start())
    )
