"""Times of day that are said in words: "half past two", "a quarter to nine", "six in the evening", "noon".

What is a range as likely as a time ("five to seven people", "ten to twelve") is left alone.
"""

import re
from collections.abc import Iterator

from assay.text.dates.values import Bound, DateMention

_HOUR_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HOURS = {word: n for n, word in enumerate(_HOUR_WORDS, start=1)} | {str(n): n for n in range(1, 13)}
_PARTS = {"half": 30, "quarter": 15, "twenty-five": 25, "twenty five": 25, "twenty": 20, "ten": 10, "five": 5} | {
    str(n): n for n in range(1, 31)
}
_WHOLE = {"noon": 720, "midday": 720, "midnight": 0}
_HOUR = rf"(?P<hour>{'|'.join(sorted(_HOURS, key=len, reverse=True))})\b(?![.,:/-]\d|%)"
_MINUTES = "|".join(sorted(set(_PARTS) - {"half", "quarter"}, key=len, reverse=True))
_PART = rf"(?P<part>(?:a\s)?quarter|half|(?:{_MINUTES})(?:\sminutes?)?)"
_DAY_PART = (
    r"(?:,?\s(?P<day>in\sthe\s(?:early\s|late\s)?(?:morning|afternoon|evening)|at\snight|a\.?m\b\.?|p\.?m\b\.?)"
    r"|\so['’]clock(?:\s(?P<later>in\sthe\s(?:morning|afternoon|evening)|at\snight))?)?"
)
_PAST = re.compile(rf"\b{_PART}\s(?P<side>past|to)\s{_HOUR}{_DAY_PART}", re.IGNORECASE)
_FULL = re.compile(rf"(?<![-.,:/\d$€£])\b{_HOUR}{_DAY_PART}", re.IGNORECASE)
_NAMED = re.compile(r"\b(?P<half>half\spast\s)?(?P<name>noon|midday|midnight)\b", re.IGNORECASE)
_DOTTED = re.compile(
    r"(?<![\d.,:/-])(?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?![\d.,:/-]\d|\d)\s?"
    r"(?:(?P<half>[ap])\.?\s?m\b\.?|Uhr\b|h\b)",
    re.IGNORECASE,
)
_LATER = re.compile(r"(?<=\d[-–T,;/|])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?(?![\d:])")
"""The second time of "18:00-19:30", and the time of "2026-06-09T13:00:00Z"."""
_LED = re.compile(
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
_LEAD = 24
"""Characters before a time in which the word that leads to it stands."""

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
"""Words without one of which a text holds no time in words."""


def find_clock_words(text: str) -> Iterator[DateMention]:
    """The times of day that a text says in words; they may overlap.

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
            minutes += _PARTS[part] if match["side"].lower() == "past" else -_PARTS[part]
            yield _mention(text, match, minutes % 720)
    for match in _FULL.finditer(text):
        part_of_one = any(one.start() < match.start() < one.end() for one in matches)
        if not part_of_one and (match["day"] or match.end() > match.end("hour")):
            yield _mention(text, match, 60 * (_HOURS[match["hour"].lower()] % 12))
    for match in _NAMED.finditer(text):
        minute = (_WHOLE[match["name"].lower()] + (30 if match["half"] else 0)) % 1440
        yield DateMention(match.start(), match.end(), minute=minute, bound=_bound(text, match.start()))
    for match in _DOTTED.finditer(text):
        hour = int(match["hour"])
        if match["half"]:
            hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
        yield DateMention(
            match.start(), match.end(), minute=60 * hour + int(match["minute"]), bound=_bound(text, match.start())
        )


def find_later_clocks(text: str) -> Iterator[DateMention]:
    """The times of day that stand right after a date or another time.

    >>> [m.minute for m in find_later_clocks("2026-06-09T13:00 and 18:00-19:30")]
    [780, 1170]
    """
    for match in _LATER.finditer(text) if ":" in text else ():
        hour = int(match[1])
        sure = match[1].startswith("0") or hour > 12 or hour == 0 or text[match.start() - 1] == "T"
        yield DateMention(match.start(), match.end(), minute=60 * (hour % 24) + int(match[2]), half_day=sure)


def _is_time(text: str, match: re.Match[str]) -> bool:
    """Whether "M past H" or "M to H" is a time: "ten to twelve" is one only where nothing else can be meant."""
    part, hour = match["part"].lower(), match["hour"].lower()
    if match["side"].lower() == "past":
        return part not in _HOURS or not part.isdigit() or bool(_LED.search(text[: match.start()][-_LEAD:]))
    if part.endswith(("quarter", "minutes", "minute")):
        return True
    if part == "half":
        return False
    larger = _PARTS[part] > _HOURS[hour]
    marked = bool(match["day"] or match.end() > match.end("hour"))
    return (larger or marked) and bool(marked or _LED.search(text[: match.start()][-_LEAD:]))


def _bound(text: str, start: int) -> Bound:
    led = _LED.search(text[max(0, start - _LEAD) : start])
    return _BOUNDS.get(led["lead"].lower(), "exact") if led else "exact"


def _mention(text: str, match: re.Match[str], minute: int) -> DateMention:
    """A time within half a day, in the half that the words after it name."""
    half = (match["day"] or match["later"] or "").lower()
    if not half:
        return DateMention(match.start(), match.end(), minute=minute, half_day=False, bound=_bound(text, match.start()))
    first = "morning" in half or (half.startswith("a") and "night" not in half and "noon" not in half)
    if "night" in half:  # eight at night is in the evening, three at night in the small hours
        first = minute < 360
    return DateMention(
        match.start(), match.end(), minute=minute if first else minute + 720, bound=_bound(text, match.start())
    )
