"""True claims whose numbers, units, dates, names or words are written in another way than in the evidence."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from decimal import Decimal

from train.edits.document import MONTHS, NUMBER, YEAR, Document
from train.edits.kinds import match_case
from train.edits.numbers import WORD_NUMBERS

_NAMES = "|".join(MONTHS)
_DMY = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? ({_NAMES}),? (\d{{4}})\b")
_MDY = re.compile(rf"\b({_NAMES}) (\d{{1,2}}),? (\d{{4}})\b(,)?")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_CONVERT: dict[str, tuple[tuple[str, Decimal], ...]] = {
    "km": (("metres", Decimal(1000)), ("m", Decimal(1000))),
    "kilometres": (("metres", Decimal(1000)),),
    "kilometers": (("meters", Decimal(1000)),),
    "metres": (("centimetres", Decimal(100)), ("kilometres", Decimal("0.001"))),
    "meters": (("centimeters", Decimal(100)), ("kilometers", Decimal("0.001"))),
    "hours": (("minutes", Decimal(60)),),
    "minutes": (("seconds", Decimal(60)),),
    "weeks": (("days", Decimal(7)),),
    "years": (("months", Decimal(12)),),
    "days": (("hours", Decimal(24)),),
    "kg": (("grams", Decimal(1000)),),
    "kilograms": (("grams", Decimal(1000)),),
    "tonnes": (("kilograms", Decimal(1000)), ("kg", Decimal(1000))),
    "decades": (("years", Decimal(10)),),
    "litres": (("millilitres", Decimal(1000)),),
    "feet": (("inches", Decimal(12)),),
    "centuries": (("years", Decimal(100)),),
    "GB": (("MB", Decimal(1000)),),
    "centimetres": (("millimetres", Decimal(10)),),
}
_WITH_UNIT = re.compile(
    rf"(?<![\w.,:/$£€-])(\d[\d,]*(?:\.\d+)?|two|three|four|five|six|ten) ({'|'.join(_CONVERT)})\b(?! "
    rf"(?:old|of age|ago|and|older|younger))"
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9}
_SCALED = re.compile(r"(?<![\w.,-])(\d{1,3}(?:\.\d{1,3})?) (million|billion)\b")
_LONG = re.compile(r"(?<![\w.,-])(\d{1,3}(?:,\d{3}){1,3})(?![\w-]|[.,]\d)")
_PERCENT = re.compile(r"(?<=\d)(?:%| percent\b| per cent\b)")
_SHARE = {"50": "half of", "25": "a quarter of", "75": "three quarters of", "20": "a fifth of", "10": "a tenth of"}
_SHARE_OF = re.compile(r"(?<![\w.,-])(50|25|75|20|10)(?:%| percent| per cent) of\b")
_FRACTION = re.compile(r"\b((?:share|fraction|probability|proportion|rate) (?:of|is|was) )0\.(\d\d?)\b(?!\d|%)")
_WORDS = re.compile(
    rf"(?<![\w-])(?:{'|'.join(WORD_NUMBERS[1:])})(?= [a-z])(?! of (?:the|them))|(?<= )(?:[2-9]|1[0-2])(?= "
    rf"[a-z]{{3,}}s?\b)(?! (?:million|billion|thousand|percent|per|to|or|and|km|feet))"
)
_ALIASES: tuple[tuple[str, str], ...] = (
    ("United States of America", "United States"),
    ("United States", "US"),
    ("United States", "U.S."),
    ("United Kingdom", "UK"),
    ("European Union", "EU"),
    ("United Nations", "UN"),
    ("New York City", "NYC"),
    ("World War II", "the Second World War"),
    ("World War I", "the First World War"),
    ("Soviet Union", "USSR"),
    ("World Health Organization", "WHO"),
    ("Los Angeles", "LA"),
    ("National Health Service", "NHS"),
    ("World War II", "World War Two"),
    ("United States", "USA"),
    ("Federal Bureau of Investigation", "FBI"),
    ("Central Intelligence Agency", "CIA"),
    ("television", "TV"),
    ("chief executive officer", "CEO"),
    ("chief executive", "CEO"),
    ("percent", "per cent"),
    ("National Basketball Association", "NBA"),
    ("National Football League", "NFL"),
    ("Major League Baseball", "MLB"),
    ("Member of Parliament", "MP"),
)
_GUARDED = {
    "US": r"\b(?:the )US\b(?! (?:Open|Army|Navy|\$))",
    "U.S.": r"\bthe U\.S\.(?= [a-z])",
    "World War I": r"\bWorld War I\b(?!I)",
    "percent": r"\bpercent\b(?!age)",
    "television": r"\btelevision\b(?! set)",
}
SYNONYMS: tuple[tuple[str, str], ...] = (
    ("began", "started"),
    ("begin", "start"),
    ("begins", "starts"),
    ("started", "began"),
    ("purchased", "bought"),
    ("bought", "purchased"),
    ("located in", "situated in"),
    ("approximately", "about"),
    ("roughly", "about"),
    ("also known as", "also called"),
    ("in order to", "to"),
    ("film", "movie"),
    ("movie", "film"),
    ("received", "got"),
    ("obtained", "got"),
    ("numerous", "many"),
    ("assisted", "helped"),
    ("attempted to", "tried to"),
    ("tried to", "attempted to"),
    ("created", "made"),
    ("permitted", "allowed"),
    ("allowed to", "permitted to"),
    ("children", "kids"),
    ("requires", "needs"),
    ("largest", "biggest"),
    ("commenced", "began"),
    ("concluded", "ended"),
    ("currently", "at present"),
    ("previously", "before that"),
    ("discovered", "found"),
    ("due to", "because of"),
    ("because of", "owing to"),
    ("primarily", "mainly"),
    ("mainly", "mostly"),
    ("frequently", "often"),
    ("well known", "famous"),
    ("famous", "well known"),
    ("physicians", "doctors"),
    ("physician", "doctor"),
    ("employees", "staff members"),
    ("prior to", "before"),
    ("subsequently", "later"),
    ("throughout", "all through"),
    ("additional", "further"),
    ("passed away", "died"),
    ("died", "passed away"),
    ("married", "wed"),
    ("founded", "established"),
    ("such as", "like"),
    ("whereas", "while"),
    ("resides in", "lives in"),
    ("error", "mistake"),
    ("automobile", "car"),
    ("company", "firm"),
    ("firm", "company"),
    ("worldwide", "around the world"),
    ("more than", "over"),
    ("over", "more than"),
    ("nearly", "almost"),
    ("almost", "nearly"),
    ("announced", "made known"),
    ("established in", "founded in"),
    ("stated that", "said that"),
    ("said", "stated"),
    ("alongside", "together with"),
    ("sufficient", "enough"),
    ("entire", "whole"),
    ("large", "big"),
    ("quickly", "rapidly"),
    ("difficult", "hard"),
)
_SYNONYM_GUARDS = {
    "over": r"(?<= )over(?= \d[\d,.]*(?! to))",
    "more than": r"more than(?= \d)",
    "nearly": r"nearly(?= \d)",
    "almost": r"almost(?= \d)",
    "died": r"died(?= (?:in|on|at) )",
    "founded": r"founded(?= (?:in|on|by) )",
    "married": r"(?<!was )(?<!is )(?<!were )(?<!got )(?<!be )(?<!been )married(?= [A-Z])",
    "created": r"(?<=was )created(?= (?:by|in|for) )",
    "previously": r"\Bx",
    "like": r"\Bx",
    "said": r"said(?= (?:that|the|he|she|it|they) )",
    "discovered": r"discovered(?= that)",
    "received": r"received(?= (?:a|an|the|his|her|their) )",
    "company": r"company(?= [a-z])(?! of)",
    "firm": r"(?<=\b(?:the|law) )firm(?= [a-z])",
    "concluded": r"concluded(?= (?:in|on|at|with) )",
    "error": r"(?<=[a-z] )error(?= )",
    "started": r"started(?= (?:in|on|at|to|when|with|his|her|the) )",
    "large": r"large(?= (?:number|city|part|group|house|area|amount|company|family)\b)",
    "difficult": r"difficult(?= (?:to|for))",
    "throughout": r"throughout(?= the (?:world|country|city))",
    "primarily": r"primarily",
    "announced": r"\Bx",
    "mainly": r"mainly",
    "begin": r"begin(?= (?:in|on|at|to|with) )",
    "film": r"(?<=[a-z] )film(?= [a-z]|\.)(?! (?:festival|director|maker|industry|studio|company|critic))",
    "movie": r"(?<=[a-z] )movie(?= [a-z]|\.)",
    "tried to": r"tried to(?= [a-z])",
    "entire": r"(?<=the )entire(?= [a-z])",
    "due to": r"due to(?= (?:the|a|his|her|its|their) )(?! be)",
}
_BOUND = re.compile(
    r"(?:about|around|approximately|nearly|almost|roughly|some|over|under|than|least|most|to|up to|"
    r"between|exactly|and|close to|an estimated) [$£€]?$"
)


def _plain(value: Decimal) -> str:
    written = f"{value.normalize():f}"
    return f"{int(value):,}" if value == value.to_integral_value() else written


def _put(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def units(text: str, _document: Document, rng: random.Random) -> str | None:
    """Convert one quantity into another unit of the same system, exactly."""
    found = list(_WITH_UNIT.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    shown = match.group(1)
    value = Decimal(WORD_NUMBERS.index(shown) + 1 if shown.isalpha() else shown.replace(",", ""))
    new_unit, factor = rng.choice(_CONVERT[match.group(2)])
    new = value * factor
    if (
        not Decimal("0.05") <= new <= 2_000_000
        or (match.group(2) in ("years", "days") and value > 5)
        or value == 1
        or (match.group(2) == "hours" and value > 60)
    ):
        return None
    if (match.group(2) in ("years", "days") and new != new.to_integral_value()) or len(str(new.normalize())) > 9:
        return None
    return _put(text, match, f"{_plain(new)} {new_unit}")


def scales(text: str, _document: Document, rng: random.Random) -> str | None:
    """Write a large number with a scale word, or without one."""
    options: list[str] = []
    for match in _SCALED.finditer(text):
        value = Decimal(match.group(1))
        power = _SCALES[match.group(2)]
        options.append(_put(text, match, f"{int(value * 10**power):,}"))
        if power == 9:
            options.append(_put(text, match, f"{_plain(value * 1000)} million"))
    for match in _LONG.finditer(text):
        value = Decimal(match.group(1).replace(",", ""))
        for word, power in _SCALES.items():
            scaled = value / 10**power
            if (
                (1 if power > 3 else 10) <= scaled < 1000
                and not re.match(r" (?:mm|cm|m|ft|km|kg|sq|acres|metres|feet)\\b", text[match.end() :])
                and scaled == round(scaled, 2 if power > 3 else 1)
            ):
                options.append(_put(text, match, f"{scaled.normalize():f} {word}"))
    return rng.choice(options) if options else None


def shares(text: str, _document: Document, rng: random.Random) -> str | None:
    """Write a share in another way: 50% as 50 percent or half of, 0.5 as 50%."""
    options = [_put(text, m, " percent" if m.group() == "%" else "%") for m in _PERCENT.finditer(text)]
    options += [
        _put(text, m, match_case(text[m.start()], _SHARE[m.group(1)]))
        for m in _SHARE_OF.finditer(text)
        if not _BOUND.search(text[: m.start()])
    ]
    for match in _FRACTION.finditer(text):
        digits = match.group(2)
        options.append(_put(text, match, f"{match.group(1)}{int(digits) if len(digits) == 2 else int(digits) * 10}%"))
    return rng.choice(options) if options else None


def dates(text: str, _document: Document, rng: random.Random) -> str | None:
    """Write one date in another form."""
    found: list[tuple[re.Match[str], int, int, int, str]] = []
    found += [(m, int(m[1]), MONTHS.index(m[2]) + 1, int(m[3]), "") for m in _DMY.finditer(text)]
    found += [(m, int(m[2]), MONTHS.index(m[1]) + 1, int(m[3]), m[4] or "") for m in _MDY.finditer(text)]
    found += [(m, int(m[3]), int(m[2]), int(m[1]), "") for m in _ISO.finditer(text)]
    found = [f for f in found if 1 <= f[1] <= 31 and 1 <= f[2] <= 12]
    if not found:
        return None
    match, day, month, year, comma = rng.choice(found)
    name = MONTHS[month - 1]
    forms = [
        f"{day} {name} {year}",
        f"{name} {day}, {year}",
        f"{year}-{month:02d}-{day:02d}",
        f"{name[:3]} {day}, {year}",
        f"the {day}{_suffix(day)} of {name} {year}",
    ]
    shown = match.group().rstrip(",")
    return _put(text, match, rng.choice([f for f in forms if f != shown]) + comma)


def _suffix(number: int) -> str:
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def number_words(text: str, _document: Document, rng: random.Random) -> str | None:
    """Write one small number in digits or in words."""
    found = [
        m
        for m in _WORDS.finditer(text)
        if m.start() > 0
        and not re.search(r"(?:one|two|three|four|five|six|seven|[A-Z]\w*|\d) (?:or |to |and )?$", text[: m.start()])
    ]
    if not found:
        return None
    match = rng.choice(found)
    shown = match.group()
    return _put(text, match, WORD_NUMBERS[int(shown) - 1] if shown.isdigit() else str(WORD_NUMBERS.index(shown) + 1))


def rounded(text: str, _document: Document, rng: random.Random) -> str | None:
    """Give one number roughly, with "about" before it."""
    options = []
    for match in NUMBER.finditer(text):
        shown = match.group()
        value = Decimal(shown.replace(",", "")) if len(shown) < 14 else Decimal(0)
        before, after = text[: match.start()], text[match.end() :]
        if (
            value < 20
            or YEAR.fullmatch(shown)
            or _BOUND.search(before[-20:])
            or not re.match(r"%| [a-z]", after)
            or re.match(r" (?:and|to|or)\b", after)
        ):
            continue
        if re.search(rf"(?:{_NAMES}|[Nn]umber|[Nn]o\.|[Aa]ge|[Aa]ged|the|[A-Z]\w*) $", before):
            continue
        digits = len(str(int(value)))
        near = round(value, 2 - digits) if digits > 2 else round(value)
        if near != value and abs(near - value) <= value / 25:
            symbol = before[-1:] if before[-1:] in "$£€" and before else ""
            head = before[: len(before) - len(symbol)]
            options.append(
                f"{head}{rng.choice(('about', 'around', 'roughly', 'approximately'))} "
                f"{symbol}{_plain(Decimal(int(near)))}{after}"
            )
    return rng.choice(options) if options else None


def aliases(text: str, document: Document, rng: random.Random) -> str | None:
    """Put an abbreviation for a name or a name for its abbreviation: a small table, and what the evidence defines."""
    options = []
    for long, short in _ALIASES:
        options += [
            _put(text, m, short)
            for m in re.finditer(_GUARDED.get(long, rf"\b{re.escape(long)}\b"), text)
            if not re.match(r"['’]?s?\)? \(", text[m.end() :]) and not text[: m.start()].endswith(("and ", "of the "))
        ]
    options += [_put(text, m, "the United States") for m in re.finditer(_GUARDED["US"], text)]
    options += [
        _put(text, m, "the " + next(a for a, b in _ALIASES if b == m.group()[4:]))
        for m in re.finditer(r"\bthe (?:UK|EU|UN|WHO|FBI|CIA)\b", text)
    ]
    for match in re.finditer(
        r"\b((?:[A-Z][a-z]+ (?:(?:of|for|and|the|on) ){0,2}){1,5}[A-Z][a-z]+) \(([A-Z]{2,6})\)", document.text[:20_000]
    ):
        name, short = match.groups()
        initials = "".join(w[0] for w in name.split() if w[0].isupper())
        at = text.find(name)
        if initials.endswith(short) and at >= 0 and f"{name} (" not in text:
            words = name.split()
            first = len(words) - sum(w[0].isupper() for w in words) if len(initials) == len(short) else None
            if first is not None:
                options.append(text[:at] + short + text[at + len(name) :])
    return rng.choice(options) if options else None


def synonyms(text: str, _document: Document, rng: random.Random) -> str | None:
    """Put one or two words of the same meaning in their places."""
    found = []
    for old, new in SYNONYMS:
        if old in text:
            found += [(m, new) for m in re.finditer(rf"\b(?:{_SYNONYM_GUARDS.get(old, re.escape(old))})\b", text)]
    if not found:
        return None
    match, new = rng.choice(found)
    if text[: match.start()].endswith((" a ", " an ")) and (match.group()[0] in "aeiou") != (new[0] in "aeiou"):
        return None
    return _put(text, match, new)


CONVERSIONS: tuple[tuple[str, float, Callable[[str, Document, random.Random], str | None]], ...] = (
    ("unit", 6, units),
    ("scale", 5, scales),
    ("share", 4, shares),
    ("date", 4, dates),
    ("number_word", 3, number_words),
    ("rounded", 2, rounded),
    ("alias", 3, aliases),
    ("synonym", 3, synonyms),
)
