"""Times of day in words: "half past two", "a quarter to nine", "six in the evening", "noon".

What is as likely a range as a time ("five to seven people", "ten to twelve") is not read.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from assay.text.dates.values import Bound, DateMention
from assay.text.lexicon.antonyms import DIRECTIONS
from assay.text.lexicon.lexemes import STOP_WORDS, find_words, word_set
from assay.text.lexicon.synonyms import SYNONYMS
from assay.text.quantities.units_after import unit_after

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
_HOUR_NAMES = "|".join(sorted(_HOURS, key=len, reverse=True))
_HOUR = rf"(?P<hour>{_HOUR_NAMES})\b(?![.,:/-]\d|%)"
_MINUTE_WORDS = "|".join(sorted(set(_MINUTES_BY_WORD) - {"half", "quarter"}, key=len, reverse=True))
_PART_OF_HOUR = rf"(?P<part>(?:a\s)?quarter|half|(?:{_MINUTE_WORDS})(?:\sminutes?)?)"
_DAY_PART = (
    r"(?:,?\s(?P<day>in\sthe\s(?:early\s|late\s)?(?:morning|afternoon|evening)|at\snight|a\.?m\b\.?|p\.?m\b\.?)"
    r"|\so['’]clock(?:\s(?P<later>in\sthe\s(?:morning|afternoon|evening)|at\snight))?)?"
)
_PAST = re.compile(rf"\b{_PART_OF_HOUR}\s(?P<side>past|to)\s{_HOUR}{_DAY_PART}", re.IGNORECASE)
_FULL_HOUR = re.compile(rf"(?<![-.,:/\d$€£])\b{_HOUR}{_DAY_PART}", re.IGNORECASE)
_SPAN = re.compile(
    rf"\b(?:from\s(?P<first>{_HOUR_NAMES})\s(?:to|until|till)|between\s(?P<low>{_HOUR_NAMES})\sand)\s{_HOUR}{_DAY_PART}"
    r"(?P<next>\s[^\W\d_]+)?",
    re.IGNORECASE,
)
"""The hours between which something is open; what follows must not be what two numbers count."""

_CHANGES = (
    DIRECTIONS["increas"]
    | DIRECTIONS["grow"]
    | DIRECTIONS["gain"]
    | SYNONYMS["fall"]
    | {word.stem for word in find_words("cut slash slashed reduce trim drop lower shrink went gone").lexemes}
)
"""Stems of words with which "from 9 to 5" is a change of a number."""

_OPENING = word_set(
    """open opens opened opening close closes closed closing hour hours work works worked working shift shifts run runs
    running meet meets meeting available daily weekday weekdays weekend weekends am pm a.m p.m o'clock o’clock enter
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays"""
)
"""Words of opening and working hours, with which "from nine to five" has two times of day."""

_SENTENCE = re.compile(r"[^.!?;\n]*$")
_SENTENCE_REST = re.compile(r"[^.!?;\n]*")
_CLAUSE_LENGTH = 100
_PLURAL = re.compile(r"\s(?:[a-z]+s|people|per)\b")
_EXACT_MINUTES = frozenset({5, 10, 20, 25})
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
        "until",
        "till",
        "between",
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
    for match in _SPAN.finditer(text):
        if _is_span(text, match):
            group = "first" if match["first"] else "low"
            hour = 60 * (_HOURS[match[group].lower()] % 12)
            yield DateMention(*match.span(group), minute=hour, half_day=False)
            if not match["day"] and match.end("hour") == match.end() - len(match["next"] or ""):
                yield DateMention(*match.span("hour"), minute=60 * (_HOURS[match["hour"].lower()] % 12), half_day=False)
    for match in _PAST.finditer(text):
        if _is_time(text, match):
            matches.append(match)
            part = re.sub(r"^a\s|\sminutes?$", "", match["part"].lower())
            minutes = 60 * (_HOURS[match["hour"].lower()] % 12)
            minutes += _MINUTES_BY_WORD[part] if match["side"].lower() == "past" else -_MINUTES_BY_WORD[part]
            yield _mention(text, match, minutes % 720)
    starts = [one.start() for one in matches]
    for match in _FULL_HOUR.finditer(text):
        at = bisect_left(starts, match.start())
        part_of_one = at > 0 and match.start() < matches[at - 1].end()
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
            part not in _HOURS
            or not part.isdigit()
            or bool(_LEAD_WORD.search(text[max(0, match.start() - _LEAD_LENGTH) : match.start()]))
        )
    if part.endswith(("quarter", "minutes", "minute")):
        return True
    lead = _LEAD_WORD.search(text[max(0, match.start() - _LEAD_LENGTH) : match.start()])
    if part == "half" or (lead and lead["lead"].lower() == "from"):
        return False  # "from ten to six" has two times
    larger = _MINUTES_BY_WORD[part] > _HOURS[hour]
    marked = bool(match["day"] or match.end() > match.end("hour"))
    if part.isdigit() and not marked:
        at_time = lead is not None and lead["lead"].lower() == "at" and _MINUTES_BY_WORD[part] in _EXACT_MINUTES
        return larger and at_time and not _is_counted(text, match.end())
    return (larger or marked) and bool(marked or lead)


def _is_span(text: str, match: re.Match[str]) -> bool:
    """Whether "from M to H" names two times of day rather than a range or a change of a number.

    It does where a time of day marks the second, and where the second is smaller, nothing follows that is counted, and
    its clause has a word of opening or working hours or no other words. "The crew was cut from eight to three" has
    counts, and one less is a usual change of a number: "from two to one".
    """
    if match["day"] or match.end("hour") < match.end() - len(match["next"] or ""):
        return True
    if _HOURS[(match["first"] or match["low"]).lower()] <= _HOURS[match["hour"].lower()] + 1:
        return False
    following = find_words(match["next"] or "").lexemes
    if following and following[0].fold not in STOP_WORDS and not following[0].capital:
        return False
    end = match.end("hour")
    before = _SENTENCE.search(text, max(0, match.start() - _CLAUSE_LENGTH), match.start())
    after = _SENTENCE_REST.match(text, end, end + _CLAUSE_LENGTH)
    lexemes = find_words(f"{before[0] if before else ''} {after[0] if after else ''}").lexemes
    if not lexemes:
        return True
    return not _OPENING.isdisjoint([word.fold for word in lexemes]) and _CHANGES.isdisjoint(
        [word.stem for word in lexemes]
    )


def _is_counted(text: str, end: int) -> bool:
    """Whether a unit or a plural follows a number, as in "at 20 to 5 degrees"."""
    return unit_after(text, end) is not None or _PLURAL.match(text, end) is not None


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
