"""Wrong numbers, units and dates."""

from __future__ import annotations

import random
import re

from train.edits.context import Context
from train.edits.document import MONTHS, NUMBER, WEEKDAYS, YEAR
from train.edits.kinds import Edit, match_case, replace

WORD_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_LOWER_BOUND = re.compile(
    r"\b(?:more than|over|at least|above|exceed(?:s|ed|ing)?|beyond|minimum of|greater than|upwards of) [$£€]?$",
    re.IGNORECASE,
)
_UPPER_BOUND = re.compile(
    r"\b(?:less than|fewer than|under|at most|up to|below|maximum of|no more than|as many as|within) [$£€]?$",
    re.IGNORECASE,
)
_ROUGH = re.compile(
    r"\b(?:about|around|approximately|nearly|almost|roughly|some|circa|close to|an estimated) [$£€]?$|~$", re.IGNORECASE
)
_EARLIER = re.compile(r"\b(?:before|by|until|prior to|pre-?) $", re.IGNORECASE)
_LATER = re.compile(r"\b(?:after|since|from|post-?) $", re.IGNORECASE)
_WORD_NUMBER = re.compile(rf"(?<![\w-])(?:{'|'.join((*WORD_NUMBERS[1:], *TENS))})\b(?!-| or | to )", re.IGNORECASE)
_ORDINAL = re.compile(rf"(?<=\b[Tt]he )(?:{'|'.join(ORDINALS)})\b|(?<=\b(?:his|her|its) )(?:{'|'.join(ORDINALS)})\b")
_NUMERIC_ORDINAL = re.compile(r"\b(\d{1,3})(st|nd|rd|th)\b")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b|\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?(?= \d)")
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})s?\b(?! [A-Z])")
_DAY_AFTER = re.compile(rf"\b(?:{'|'.join(MONTHS)}) (\d{{1,2}})\b(?![:%.]\d|,\d)")
_DECADE = re.compile(r"\b((?:1[1-9]|20)\d)0s\b")
_CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)(?=[- ][Cc]entury\b)")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_CLOCK = re.compile(r"\b(1?\d):([0-5]\d)(?= ?[ap]\.?m)", re.IGNORECASE)
_UNITS: tuple[tuple[str, ...], ...] = (
    ("seconds", "minutes", "hours", "days", "weeks", "months", "years", "decades"),
    ("second", "minute", "hour", "day", "week", "month", "year", "decade"),
    ("kilometres", "miles", "metres", "yards"),
    ("kilometers", "miles", "meters", "yards"),
    ("km", "miles", "m"),
    ("feet", "inches", "yards"),
    ("metres", "centimetres", "feet"),
    ("meters", "centimeters", "feet"),
    ("kilograms", "grams", "pounds", "tonnes"),
    ("kg", "g", "tonnes"),
    ("pounds", "ounces", "tons"),
    ("litres", "gallons", "millilitres"),
    ("liters", "gallons", "milliliters"),
    ("acres", "hectares"),
    ("million", "billion", "thousand"),
    ("thousand", "million"),
    ("billion", "million", "trillion"),
    ("trillion", "billion"),
    ("hundred", "thousand"),
    ("dollars", "euros", "pounds"),
    ("euros", "dollars", "pounds"),
    ("mg", "g", "kg"),
    ("MB", "GB", "TB"),
    ("GB", "MB", "TB"),
    ("MW", "GW", "kW"),
    ("mph", "km/h"),
    ("Celsius", "Fahrenheit"),
)
_UNIT_OF: dict[str, tuple[str, ...]] = {}
for _group in _UNITS:
    for _unit in _group:
        _UNIT_OF.setdefault(_unit, tuple(u for u in _group if u != _unit))
_AFTER_NUMBER = re.compile(
    rf"(?:\d|\b(?:{'|'.join((*WORD_NUMBERS[1:], *TENS, 'few', 'several'))}))[ "
    rf"-]({'|'.join(sorted(map(re.escape, _UNIT_OF), key=len, reverse=True))})\b"
    r"(?![- ](?:old|and|of age|ago))"
)
_CURRENCY = re.compile(r"[$£€](?=\d)")


def _change(value: float, decimals: int, direction: int, rough: bool, rng: random.Random) -> float:
    """Another value; up or down where a bound asks for it, far away where the number was only rough."""
    if direction:
        return value * rng.choice((1.5, 2, 3, 4)) if direction > 0 else value * rng.choice((0.25, 0.4, 0.5, 0.7))
    if rough:
        return value * rng.choice((0.3, 0.5, 0.6, 1.6, 2, 3))
    if decimals == 0 and value <= 12:
        return rng.choice([n for n in range(1, 15) if n != value])
    digits = f"{value:.{decimals}f}"
    if rng.random() < 0.5:  # one digit replaced, as slips of the pen and of models do
        places = [i for i, c in enumerate(digits) if c.isdigit()][:3]
        at = rng.choice(places)
        new = rng.choice([d for d in "123456789" if d != digits[at]])
        return float(digits[:at] + new + digits[at + 1 :])
    changed = value * rng.choice((0.1, 0.5, 0.8, 0.9, 1.1, 1.25, 1.5, 2, 10))
    return changed if decimals or value >= 100 else float(round(changed)) + rng.choice((0, 1, 2))


def number(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change one number that is no year; the written form (commas, decimals) is kept.

    After a bound ("more than 40") the new number goes beyond what the bound allows, and after "about" it is far off.
    """
    taken = [m.span() for p in (YEAR, _ISO, _DAY_AFTER, _CLOCK) for m in p.finditer(text)]
    taken += [m.span() for m in re.finditer(rf"\b\d{{1,2}} (?:{'|'.join(MONTHS)})\b", text)]
    found = [m for m in NUMBER.finditer(text) if not any(s <= m.start() < e for s, e in taken)]
    if not found:
        return None
    match = rng.choice(found)
    shown = match.group()
    value = float(shown.replace(",", ""))
    if len(shown) > 15 or value == 0:
        return None
    decimals = len(shown.split(".")[1]) if "." in shown else 0
    before = text[max(0, match.start() - 20) : match.start()]
    direction = 1 if _LOWER_BOUND.search(before) else -1 if _UPPER_BOUND.search(before) else 0
    new = _change(value, decimals, direction, bool(_ROUGH.search(before)), rng)
    after = text[match.end() : match.end() + 9]
    if re.match(r"%| percent| per cent", after) and value <= 100 < new:
        new = max(value / 2, 100 - value if value != 50 else 20)
    written = f"{new:,.{decimals}f}" if "," in shown else f"{new:.{decimals}f}"
    changed = float(written.replace(",", ""))
    if changed in (value, 0.0) or (direction and (changed - value) * direction < 0):
        return None
    if changed == 1 and re.match(r" \w+s\b", text[match.end() :]):
        return None
    return replace("number", text, *match.span(), written)


def number_word(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change one number that is written as a word: a cardinal, or an ordinal after an article."""
    found: list[tuple[int, int, str]] = []
    for match in _WORD_NUMBER.finditer(text):
        before = text[max(0, match.start() - 20) : match.start()]
        word = match.group().lower()
        if _ROUGH.search(before) or re.search(r"(?:one|two|three) (?:or|to) $", before):
            continue
        pool = TENS if word in TENS else WORD_NUMBERS[1:]
        at = pool.index(word)
        choices = [w for w in pool if w != word]
        if _LOWER_BOUND.search(before):
            choices = list(pool[at + 1 :])
        elif _UPPER_BOUND.search(before):
            choices = list(pool[:at])
        if choices:
            found.append((*match.span(), match_case(match.group(), rng.choice(choices))))
    for match in _ORDINAL.finditer(text):
        if not re.match(r" (?:half|quarter|class|world|hand|time)\b", text[match.end() :]):
            near = [w for w in ORDINALS[:5] if w != match.group()]
            found.append((*match.span(), rng.choice(near)))
    for match in _NUMERIC_ORDINAL.finditer(text):
        value = int(match.group(1))
        if not re.match(r"[- ][Cc]entury", text[match.end() :]):
            new = rng.choice([n for n in range(max(1, value - 8), value + 9) if n != value])
            found.append((*match.span(), f"{new}{_suffix(new)}"))
    if not found:
        return None
    start, end, new_word = rng.choice(found)
    return replace("number", text, start, end, new_word)


def _suffix(number: int) -> str:
    if 10 <= number % 100 <= 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def unit(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change a unit, a scale word or a currency after or before a number; the span is the unit alone."""
    found = [(m.start(1), m.end(1), rng.choice(_UNIT_OF[m.group(1)])) for m in _AFTER_NUMBER.finditer(text)]
    found += [(*m.span(), rng.choice([c for c in "$£€" if c != m.group()])) for m in _CURRENCY.finditer(text)]
    if not found:
        return None
    start, end, new = rng.choice(found)
    return replace("unit", text, start, end, new)


def _years(text: str, rng: random.Random) -> list[tuple[int, int, str]]:
    found = []
    for match in YEAR.finditer(text):
        value = int(match.group())
        before = text[max(0, match.start() - 12) : match.start()]
        step = rng.choice((1, 1, 2, 3, 4, 5, 7, 10, 12, 20))
        sign = -1 if _EARLIER.search(before) else 1 if _LATER.search(before) else rng.choice((-1, 1))
        found.append((*match.span(), str(value + sign * step)))
    return found


def date(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change one part of one date: year, month, day, weekday, decade, century or a numeric date's field."""
    groups: list[list[tuple[int, int, str]]] = [_years(text, rng)]
    groups.append(
        [
            (*m.span(), rng.choice([o for o in MONTHS if o[:3] != m.group()[:3]]))
            for m in _MONTH.finditer(text)
            if m.group() not in ("May", "March")
            or re.match(r" \d", text[m.end() :])
            or re.search(r"\b(?:in|of|\d) $", text[: m.start()])
        ]
    )
    groups.append(
        [
            (
                *m.span(),
                rng.choice([d for d in WEEKDAYS if not m.group().startswith(d)])
                + ("s" if m.group().endswith("s") else ""),
            )
            for m in _WEEKDAY.finditer(text)
        ]
    )
    days = [(m.start(1), m.end(1), m.group(1)) for m in _DAY_AFTER.finditer(text)]
    days += [(m.start(), m.end(), m.group()) for m in re.finditer(rf"\b\d{{1,2}}(?= (?:{'|'.join(MONTHS)})\b)", text)]
    groups.append([(s, e, rng.choice([str(d) for d in range(1, 29) if str(d) != old])) for s, e, old in days])
    groups.append(
        [(m.start(1), m.end(1), str(int(m.group(1)) + rng.choice((-3, -2, -1, 1, 2)))) for m in _DECADE.finditer(text)]
    )
    centuries = []
    for match in _CENTURY.finditer(text):
        value = int(match.group(1))
        new = rng.choice([n for n in range(max(2, value - 4), max(3, value + 2) + 1) if n != value])
        centuries.append((*match.span(), f"{new}{_suffix(new)}"))
    groups.append(centuries)
    isos = []
    for match in _ISO.finditer(text):
        field = rng.choice((2, 3))
        old = int(match.group(field))
        new = rng.choice([n for n in range(1, 13 if field == 2 else 29) if n != old])
        isos.append((match.start(field), match.end(field), f"{new:02d}"))
    groups.append(isos)
    clocks = []
    for match in _CLOCK.finditer(text):
        new = rng.choice([n for n in range(1, 13) if n != int(match.group(1))])
        clocks.append((match.start(1), match.end(1), str(new)))
    groups.append(clocks)
    offered = [g for g in groups if g]
    if not offered:
        return None
    start, end, new_text = rng.choice(rng.choice(offered))
    return replace("date", text, start, end, new_text)


def _kind_of_number(text: str, start: int, end: int) -> str:
    """What a number is of: a year, money, a share, or the word after it."""
    if YEAR.fullmatch(text[start:end]):
        return "year"
    if text[max(0, start - 1) : start] in ("$", "£", "€"):
        scale = re.match(r" (million|billion|thousand)", text[end:])
        return "money" + (scale.group(1) if scale else "")
    if re.match(r"%| percent| per cent", text[end:]):
        return "share"
    word = re.match(r"[ -]([a-z]+)", text[end:])
    return word.group(1) if word else "bare"


def wrong_subject(text: str, context: Context, rng: random.Random) -> Edit | None:
    """Give the claim a number that the document says of something else: of the same sort, from another sentence."""
    here = list(NUMBER.finditer(text))
    if not here or len(text) > 600:
        return None
    mine = {m.group() for m in here}
    there: dict[str, set[str]] = {}
    for i in context.others():
        piece = context.document.pieces[i]
        if len(piece) <= 600:
            for m in NUMBER.finditer(piece):
                if m.group() not in mine:
                    there.setdefault(_kind_of_number(piece, *m.span()), set()).add(m.group())
    offers = []
    for match in here:
        sort = _kind_of_number(text, *match.span())
        before = text[max(0, match.start() - 20) : match.start()]
        bounded = any(p.search(before) for p in (_LOWER_BOUND, _UPPER_BOUND, _ROUGH, _EARLIER, _LATER))
        if sort in there and not bounded:
            offers.append((match, sorted(there[sort])))
    if not offers:
        return None
    match, choices = rng.choice(offers)
    return replace("wrong_subject", text, *match.span(), rng.choice(choices))
