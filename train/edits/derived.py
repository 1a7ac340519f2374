"""Claims whose numbers follow from the evidence without standing in it: ages, durations, sums, shares, thresholds.

Every wrong claim has a twin in the same words; what differs is the derived value.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Sequence

from train.edits.document import MONTHS, NUMBER, YEAR, parse
from train.edits.forks import NAME, Fork, FreeMaker, Site, SiteMaker, World, forked_rows, upper
from train.edits.numbers import WORD_NUMBERS
from train.edits.tabular import told_table
from train.rows import Row

Parts = tuple[str | tuple[str, str], ...]
_MONTH = "|".join(MONTHS)
_DAY = rf"(?:\d{{1,2}} (?:{_MONTH}) \d{{4}}|(?:{_MONTH}) \d{{1,2}}, \d{{4}})"
_LIFE = re.compile(rf"^(?P<a>{NAME}) \((?:born )?(?P<from>{_DAY}|\d{{4}}) ?[–-] ?(?P<to>{_DAY}|\d{{4}})\)")
_PERIOD = re.compile(
    r"\b(?:from (?P<a>1[5-9]\d\d|20[0-4]\d) (?:to|until|till|through)|between (?P<c>1[5-9]\d\d|20[0-4]\d) and) "
    r"(?P<b>1[5-9]\d\d|20[0-4]\d)\b(?=[.,;]| [a-z])"
)
_LASTING = re.compile(
    r"\b(?:served|serving|played|worked|lived|reigned|ruled|taught|ran|lasted|governed|coached|managed|resided|studied|"
    r"was|were|fought|led|held)\b"
)
_IN_YEAR = re.compile(r"(?P<in>\b[Ii]n )(?P<year>1[5-9]\d\d|20[0-2]\d)(?=[.,]| [a-z])")
_ON_DAY = re.compile(
    rf"(?P<on>\b[Oo]n )(?:(?P<d>\d{{1,2}}) (?P<m>{_MONTH})|(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}}),?) (?P<y>\d{{4}})\b,?"
)
_NOT_PLAIN = re.compile(
    r"(?:about|around|approximately|nearly|almost|roughly|some|over|under|than|least|most|to|up|between|exactly|and|or|"
    r"estimated|since|from|by|before|after|until|late|early|mid|age|aged|number|no\.|the|only|just|of|as|another|per|"
    r"an?|first|last|next|within|every|each|these|those|its|their|his|her|all|"
    r"[A-Z][\w.]*|\d[\d,.]*|[-–/$£€(])\s?$"
)
_ORDER = ("first", "second", "third", "fourth")
_SHARE = re.compile(
    r"^(?P<p>\d{1,2})(?:%| percent| per cent) of (?P<who>(?:the |all )?[^,;:()]{3,50}?) "
    r"(?P<be>are|were|have|had|can|will|would|do|did|is|was|has) (?P<rest>[^,;:()]{4,120})\.$"
)


def word(number: int) -> str:
    """A small number as a word, a larger one in digits.

    >>> word(4), word(40)
    ('four', '40')
    """
    return WORD_NUMBERS[number - 1] if 1 <= number <= len(WORD_NUMBERS) else str(number)


def off(number: int, rng: random.Random, least: int = 1) -> int:
    """Another number of about the size: at least `least` away, never below one."""
    far = max(least, round(number * rng.choice((0.1, 0.2, 0.3, 0.5))))
    step = rng.randint(least, max(least + 1, far))
    return number - step if rng.random() < 0.5 and number - step >= 1 else number + step


def _day(text: str) -> dt.date | None:
    digits = [int(n) for n in re.findall(r"\d+", text)]
    month = re.search(_MONTH, text)
    if month is None or len(digits) != 2:
        return None
    day, year = digits
    try:
        return dt.date(year, MONTHS.index(month.group()) + 1, day)
    except ValueError:
        return None


def age(first: dt.date, last: dt.date) -> int:
    """Full years from one day to another.

    >>> age(dt.date(1920, 5, 3), dt.date(1990, 5, 2))
    69
    """
    return last.year - first.year - ((last.month, last.day) < (first.month, first.day))


def _life(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """The age that somebody reached, from the dates behind the name."""
    found = _LIFE.match(site.text)
    if found is None:
        return None
    names = parse(site.text).names
    if not names or names[0].text != found["a"]:
        return None
    first, last = _day(found["from"]), _day(found["to"])
    start, end = int(found["from"][-4:]), int(found["to"][-4:])
    a = found["a"]
    if not 12 <= end - start <= 105:
        return None
    if first is not None and last is not None:
        years = age(first, last)
        wrong = off(years, rng, 2)
        turned: list[Parts] = [
            (f"{a} died at the age of ", (str(years), str(wrong)), "."),
            (f"{a} lived to be ", (str(years), str(wrong)), "."),
            (f"{a} was ", (str(years), str(wrong)), " years old at death."),
            (f"{a} died aged ", (str(years), str(wrong)), "."),
        ]
    else:
        years = end - start
        turned = [(f"{a} lived for about ", (str(years), str(off(years, rng, 4))), " years.")]
    bound = years // 10 * 10
    turned += [
        (f"{a} lived to be ", (f"more than {bound - 2}", f"more than {bound + 10}"), "."),
        (f"{a} ", ("did not live", "lived"), f" to be {bound + 12}."),
        (f"{a} died before turning ", (str(bound + 12), str(bound - 3)), "."),
        (f"{a} was born in the ", (f"{start // 10 * 10}s", f"{(start // 10 + rng.choice((-2, -1, 1, 2))) * 10}s"), "."),
        (f"{a} was alive in ", (str(rng.randint(start + 2, end - 2)), str(end + rng.randint(3, 20))), "."),
        (f"{a} died ", (str(years), str(off(years, rng, 4))), f" years after {start}.")
        if first is None
        else (f"{a} was ", (f"under {bound + 11}", f"over {bound + 11}"), " at the time of death."),
    ]
    return Fork("derived_age", rng.choice(turned), site.evidence(rng))


def _period(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """How long a stretch of years was, and which years lie in it."""
    text = site.text
    found = _PERIOD.search(text)
    if found is None or len(_PERIOD.findall(text)) > 1:
        return None
    start, end = int(found["a"] or found["c"]), int(found["b"])
    years = end - start
    if not 2 <= years <= 80:
        return None
    before, after = text[: found.start()], text[found.end() :]
    if re.search(r"[Ss]ometime $|\bperiod|\bseason|\baverage|\bdata|[($]$|\b(?:and|or) $", before[-30:]) or not before:
        return None
    lasting = (
        bool(_LASTING.search(before))
        and found["a"] is not None
        and not re.search(r"\b(?:increase|rose|fell|grew)\b", text)
    )
    turned: list[Parts] = [
        (f"{before}some time ", ("before", "after"), f" {end + rng.randint(2, 12)}{after}"),
        (f"{before}some time ", ("after", "before"), f" {start - rng.randint(2, 12)}{after}"),
    ]
    if lasting:
        turned += 2 * [
            (
                f"{before}for ",
                (f"about {word(years)}", f"about {word(off(years, rng, 1 + years // 4))}"),
                f" years{after}",
            ),
            (
                f"{before}for ",
                ("more than", "less than"),
                f" {word(max(1, years - rng.randint(1, 1 + years // 3)))} years{after}",
            )
            if years > 3
            else (f"{before}for ", ("less than", "more than"), f" {word(years + 2)} years{after}"),
            (
                f"{before}for ",
                ("less than", "more than"),
                f" {word(years + rng.randint(2, 2 + years // 3))} years{after}",
            ),
        ]
        turned += 2 * [
            (
                f"{before}in ",
                (str(rng.randint(start + 1, end - 1)), str(rng.choice((start - 1, end + 1, end + 2)))),
                after,
            ),
        ]
    return Fork("derived_period", rng.choice(turned), site.evidence(rng))


def _calendar(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """The decade, the century, the quarter that a date lies in, and what it lies before and after."""
    text = site.shaped(rng, 0.4)
    day = _ON_DAY.search(text)
    if day and rng.random() < 0.6:
        month = MONTHS.index(day["m"] or day["m2"])
        before, after = text[: day.start()], text[day.end() :]
        into = "In" if day["on"][0] == "O" else "in"
        quarter, half = month // 3, month // 6
        other = rng.choice([q for q in range(4) if q != quarter])
        comma = "," if day.group().endswith(",") else ""
        year = day["y"]
        turned: list[Parts] = [
            (f"{before}{into} the ", (_ORDER[quarter], _ORDER[other]), f" quarter of {year}{comma}{after}"),
            (f"{before}{into} the ", (_ORDER[half], _ORDER[1 - half]), f" half of {year}{comma}{after}"),
        ]
        return Fork("derived_date", rng.choice(turned), site.evidence(rng))
    found = _IN_YEAR.search(text)
    if found is None:
        return None
    before, after = text[: found.start()], text[found.end() :]
    year_number, into = int(found["year"]), found["in"]
    if re.search(r"\b(?:season|early|late|began|since|only|first|last|until|by)\b", before[-20:] + after[:12]):
        return None
    if re.search(r"\b(?:not|no|never|every|annual|each)\b", text):
        return None
    decade, century = year_number // 10, (year_number - 1) // 100 + 1
    other = decade + rng.choice((-2, -1, 1, 1, 2))
    wrong_century = century + (rng.choice((-1, 1)) if century < 21 else -1)
    step = rng.randint(2, 9)
    cap = into[0]
    earlier, later = ("Before", "After") if cap == "I" else ("before", "after")
    turned = [
        (f"{before}{into}the ", (f"{decade}0s", f"{other}0s"), after),
        (f"{before}{into}the ", (f"{decade}0s", f"{other}0s"), after),
        (
            f"{before}{into}the ",
            (f"{century}{_suffix(century)}", f"{wrong_century}{_suffix(wrong_century)}"),
            f" century{after}",
        ),
        (before, (earlier, later), f" {year_number + step}{after}"),
        (before, (later, earlier), f" {year_number - step}{after}"),
    ]
    if year_number % 10 in (0, 1, 2, 7, 8, 9):
        right = "early" if year_number % 10 < 5 else "late"
        turned.append((f"{before}{into}the ", (right, "late" if right == "early" else "early"), f" {decade}0s{after}"))
    return Fork("derived_date", rng.choice(turned), site.evidence(rng))


def _suffix(number: int) -> str:
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _shown(value: int, like: str) -> str:
    return f"{value:,}" if "," in like or value >= 10_000 else str(value)


def _threshold(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """More than, at most, between, about: bounds that a number of the evidence meets or does not."""
    text = site.shaped(rng, 0.4)
    offers = []
    for match in NUMBER.finditer(text):
        shown = match.group()
        before, after = text[: match.start()], text[match.end() :]
        if YEAR.fullmatch(shown) or _NOT_PLAIN.search(before[-14:]) or "." in shown or len(shown) > 11:
            continue
        if not re.match(
            r"%| (?!and\b|or\b|to\b|of\b|about\b|st\b|in\b|on\b|at\b|for\b|by\b|as\b|was\b|is\b|years? old)[a-z]{2,}",
            after,
        ):
            continue
        if (
            int(shown.replace(",", "")) >= 13
            and re.search(r"\b(?:not|no|only|than|if|all|every)\b", before[-40:]) is None
        ):
            offers.append(match)
    if not offers:
        return None
    match = rng.choice(offers)
    value = int(match.group().replace(",", ""))
    before, after = text[: match.start()], text[match.end() :]
    digits = len(str(value))
    unit = 10 ** max(0, digits - 2) * rng.choice((1, 1, 5)) if digits > 2 else rng.choice((2, 5, 10))
    low, high = (value - 1) // unit * unit, (value + unit) // unit * unit
    below, above = max(1, low - unit * rng.randint(0, 2)), high + unit * rng.randint(0, 2)
    share = after.startswith("%")
    if (share and above > 100) or below >= value or above <= value:
        return None

    def say(number: int) -> str:
        return _shown(number, match.group())

    turned: list[Parts] = [
        (before, (f"more than {say(below)}", f"more than {say(above)}"), after),
        (before, (f"over {say(below)}", f"over {say(above)}"), after),
        (before, (f"at least {say(below)}", f"at least {say(above)}"), after),
        (
            before,
            (
                f"fewer than {say(above)}" if not share else f"less than {say(above)}",
                f"fewer than {say(below)}" if not share else f"less than {say(below)}",
            ),
            after,
        ),
        (before, ("more than", "fewer than" if not share else "less than"), f" {say(below)}{after}"),
        (
            before,
            (f"between {say(below)} and {say(above)}", f"between {say(above)} and {say(above + above - below)}"),
            after,
        ),
        (before, (f"no more than {say(above)}", f"no more than {say(below)}"), after),
    ]
    near = round(value, 1 - digits + (digits > 2))
    if near and abs(near - value) <= value / 12 and value != near:
        rough = rng.choice(("about", "around", "roughly", "approximately"))
        turned += 2 * [
            (before, (f"{rough} {say(near)}", f"{rough} {say(round(near * rng.choice((0.6, 0.7, 1.5, 1.8))))}"), after)
        ]
        if near > value:
            turned.append((before, (f"nearly {say(near)}", f"nearly {say(near + max(10, near // 3))}"), after))
    fork = rng.choice(turned)
    if share and any(
        isinstance(p, tuple) and any(int(n.replace(",", "")) > 100 for n in re.findall(r"\d[\d,]*", p[1])) for p in fork
    ):
        return None
    return Fork("derived_bound", fork, site.evidence(rng))


def _share(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """The rest of a share, and the share in other words."""
    found = _SHARE.match(site.text)
    if found is None or re.search(r"\b(?:not|no|up|only|population)\b", found["rest"] + found["who"]):
        return None
    parts = rng.choice(_share_claims(int(found["p"]), found["who"], found["be"], found["rest"], rng))
    return Fork("derived_share", parts, site.evidence(rng))


_FRACTIONS = (
    (20, "a fifth"),
    (25, "a quarter"),
    (33, "a third"),
    (50, "half"),
    (67, "two thirds"),
    (75, "three quarters"),
    (80, "four fifths"),
)


def _share_claims(p: int, who: str, be: str, rest: str, rng: random.Random) -> list[Parts]:
    """What follows from "p% of who be rest": where `be` is empty, `rest` opens with a past that takes no "not"."""
    verb = f" {be}" if be else ""
    wrong = 100 - p + rng.choice((-1, 1)) * rng.choice((5, 10, 15))
    wrong = wrong if 1 <= wrong <= 99 else p if p != 50 else 40
    claims: list[Parts] = []
    if be:
        claims += 2 * [
            ((f"{100 - p}%", f"{wrong}%"), f" of {who}{verb} not {rest}."),
            ("The remaining ", (f"{100 - p}%", f"{wrong}%"), f" of {who}{verb} not {rest}."),
        ]
    if abs(p - 50) >= 3:
        more = p > 50
        claims += [
            (
                ("more than half", "less than half") if more else ("less than half", "more than half"),
                f" of {who}{verb} {rest}.",
            ),
            (("a majority", "a minority") if more else ("a minority", "a majority"), f" of {who}{verb} {rest}."),
        ]
    near = [name for value, name in _FRACTIONS if abs(value - p) <= 1]
    far = [name for value, name in _FRACTIONS if abs(value - p) >= 12]
    if near:
        claims += 2 * [((f"about {near[0]}", f"about {rng.choice(far)}"), f" of {who}{verb} {rest}.")]
    if p % 10 == 0:
        other = p // 10 + rng.choice((-2, -1, 1, 2))
        if 1 <= other <= 9:
            claims.append(((f"{word(p // 10)} in ten", f"{word(other)} in ten"), f" of {who}{verb} {rest}."))
    if p > 20:
        below = p - rng.randint(3, 12)
        claims.append((("more than", "less than"), f" {below}% of {who}{verb} {rest}."))
    return claims or [((f"over {max(1, p - 5)}%", f"over {p + 5}%"), f" of {who}{verb} {rest}.")]


_GROUPS = (
    "the patients",
    "the tenants",
    "the members",
    "the pupils",
    "the drivers",
    "the customers",
    "the employees",
    "the farms",
    "the orders",
    "the shops",
    "the players",
    "the guests",
    "the parcels",
    "the respondents",
)
_STATES = (
    "satisfied with the change",
    "late by more than a day",
    "insured against fire",
    "in favour of the plan",
    "younger than thirty",
    "new to the scheme",
    "located in the north",
    "aware of the risk",
    "paid in full",
)
_FIRST = (
    "The clinic",
    "The choir",
    "The northern branch",
    "The school",
    "The ferry line",
    "The orchard",
    "The archive",
    "The co-operative",
    "Halden Foods",
    "The museum",
    "Corvo Motors",
    "The reading club",
    "The water board",
)


def _told_share(world: World, rng: random.Random) -> Fork | None:
    """A share or a count of a whole, and what follows of it."""
    who, state = rng.choice(_GROUPS), rng.choice(_STATES)
    if rng.random() < 0.5:
        p = rng.choice((20, 25, 30, 33, 35, 40, 45, 55, 60, 65, 67, 70, 75, 80, 90, rng.randint(4, 96)))
        said = rng.choice((f"{p}% of {who} were {state}.", f"In the survey, {p} percent of {who} were {state}."))
        return Fork("derived_share", rng.choice(_share_claims(p, who, "were", state, rng)), world.passage([said], rng))
    whole = rng.choice((20, 40, 60, 80, 120, 200, 240, 300, 400, 500, 1200, 2000))
    value, name = rng.choice(_FRACTIONS[:2] + _FRACTIONS[3:4] + _FRACTIONS[5:])
    part = whole * value // 100
    plural = who.removeprefix("the ")
    said = rng.choice(
        (
            f"Of {whole} {plural}, {part} were {state}.",
            f"{part} of {who} were {state}, out of {whole} in all.",
            f"There were {whole} {plural}; {part} of them were {state}.",
        )
    )
    others = [(v, n) for v, n in _FRACTIONS if abs(v - value) >= 8]
    other_value, other_name = rng.choice(others)
    parts: Parts = rng.choice(
        (
            ((name, other_name), f" of {who} were {state}."),
            ((f"{value}%", f"{other_value}%"), f" of {who} were {state}."),
            ((str(whole - part), str(off(whole - part, rng, 2))), f" of {who} were not {state}."),
            ("The share of ", plural, f" that were {state} was ", (f"{value}%", f"{other_value}%"), "."),
            (
                (f"{100 - value}%", f"{100 - other_value if other_value != 100 - value else 100 - value + 7}%"),
                f" of {who} were not {state}.",
            ),
        )
    )
    return Fork("derived_share", parts, world.passage([said], rng))


_COUNTED = (
    ("paid for", "licences"),
    ("sold", "tickets"),
    ("trained", "volunteers"),
    ("planted", "trees"),
    ("repaired", "bikes"),
    ("received", "complaints"),
    ("served", "meals"),
    ("shipped", "crates"),
    ("handled", "claims"),
    ("printed", "copies"),
)


def _told_sum(world: World, rng: random.Random) -> Fork | None:
    """Two counts of one thing at two times: their sum, difference, ratio and order."""
    who, (did, what) = rng.choice(_FIRST), rng.choice(_COUNTED)
    a = rng.choice((rng.randint(12, 99), 10 * rng.randint(3, 90), 50 * rng.randint(4, 60)))
    factor = rng.choice((None, None, 2, 3))
    b = a * factor if factor else off(a, rng, 3)
    one, two = rng.choice(
        (
            ("in May", "in June"),
            ("in 2021", "in 2022"),
            ("on Monday", "on Tuesday"),
            ("in the first quarter", "in the second quarter"),
            ("in Arn", "in Belmont"),
        )
    )
    inside = who[0].lower() + who[1:] if who.startswith("The ") else who
    said = rng.choice(
        (
            [f"{who} {did} {a} {what} {one} and {b} {two}."],
            [f"{who} {did} {a} {what} {one}.", f"The figure {two} was {b}."],
            [f"{upper(one)}, {inside} {did} {a} {what}; {two} it {did} {b}."],
        )
    )
    total, gap = a + b, abs(a - b)
    more, less = (two, one) if b > a else (one, two)
    turned: list[Parts] = [
        (f"{who} {did} ", (str(total), str(off(total, rng, 2))), f" {what} in total."),
        (f"In all, {did} were ", (str(total), str(off(total, rng, 2))), f" {what}.")
        if did != "paid for"
        else ("Together that makes ", (str(total), str(off(total, rng, 2))), f" {what}."),
        (f"{who} {did} ", (f"{gap} more", f"{off(gap, rng, 2)} more"), f" {what} {more} than {less}."),
        (f"{who} {did} ", ("more", "fewer"), f" {what} {more} than {less}."),
        (f"{who} {did} ", ("fewer", "more"), f" {what} {less} than {more}."),
        (f"The number of {what} was ", ("higher", "lower"), f" {more} than {less}."),
        (f"{who} {did} ", ("more than", "fewer than"), f" {total - rng.randint(1, 9)} {what} in both together."),
        (f"{who} {did} ", (f"an average of {_half(total)}", f"an average of {_half(off(total, rng, 4))}"), f" {what}."),
    ]
    if factor:
        times = {2: "twice", 3: "three times"}
        turned += 3 * [
            (f"{who} {did} ", (times[factor], times[5 - factor]), f" as many {what} {two} as {one}."),
            (
                f"The number of {what} {one} was ",
                ("half", "a third") if factor == 2 else ("a third", "half"),
                f" of that {two}.",
            ),
        ]
    return Fork("derived_sum", rng.choice(turned), world.passage(said, rng))


def _half(total: int) -> str:
    return str(total // 2) if total % 2 == 0 else f"{total / 2:.1f}"


_WORKS = ("the bridge", "the tunnel", "the theatre", "the reservoir", "the stadium", "the new ward", "the church tower")


def _told_time(world: World, rng: random.Random) -> Fork | None:
    """Ages and durations from two dates in different sentences; what was under way when."""
    people = world.bank.names.get("person", [])
    start = rng.randint(1820, 2010)
    years = rng.randint(3, 60)
    end = start + years
    wrong = off(years, rng, 2)
    kind = rng.random()
    if kind < 0.4 and len(people) > 10:
        a = rng.choice(people)
        deed = rng.choice(
            (
                "joined the company",
                "won the medal",
                "published a first novel",
                "moved to the island",
                "became mayor",
                "founded the institute",
                "was elected",
                "opened the studio",
            )
        )
        years = rng.randint(17, 70)
        end, wrong = start + years, off(years, rng, 4)
        month, month_two = rng.sample(range(12), 2)
        exact = rng.random() < 0.6
        turned_age = years - (month_two < month)
        said = [
            f"{a} was born in {MONTHS[month] + ' ' if exact else ''}{start}.",
            f"In {MONTHS[month_two] + ' ' if exact else ''}{end}, {a} {deed}.",
        ]
        shown = (str(turned_age), str(off(turned_age, rng, 2))) if exact else (f"about {years}", f"about {wrong}")
        decade = turned_age // 10 * 10
        turned: list[Parts] = [
            (f"{a} was ", shown, f" years old when {a.split()[-1]} {deed}."),
            (f"{a} {deed} at the age of ", shown, "."),
            (
                f"{a} {deed} ",
                ("before" if years < decade + 12 else "after", "after" if years < decade + 12 else "before"),
                f" turning {decade + 12 if years < decade + 12 else decade}.",
            ),
            (f"{a} was ", ("over", "under"), f" {max(10, decade - 5)} when the year {end} began."),
        ]
    else:
        a = rng.choice(_WORKS)
        years = rng.randint(2, 14)
        end, wrong = start + years, off(years, rng, 2)
        said = rng.choice(
            (
                [f"{a[0].upper()}{a[1:]} was built between {start} and {end}."],
                [f"Work on {a} began in {start}.", f"{a[0].upper()}{a[1:]} was finished in {end}."],
                [f"Building of {a} started in {start} and ended in {end}."],
            )
        )
        decade = end // 10 * 10
        turned = [
            ("It took about ", (word(years), word(wrong)), f" years to build {a}."),
            (f"Work on {a} lasted about ", (word(years), word(wrong)), " years."),
            (f"{a} was finished in the ", (f"{decade}s", f"{decade + rng.choice((-20, -10, 10, 20))}s"), "."),
            (f"{a} was ", ("finished", "not finished"), f" by {end + rng.randint(1, 9)}."),
            (f"{a} was ", ("not finished", "finished"), f" by {start - rng.randint(1, 9)}."),
        ]
        if years > 2:
            turned += 2 * [
                (
                    f"{a} was under construction in ",
                    (str(rng.randint(start + 1, end - 1)), str(rng.choice((start - 2, start - 4, end + 2, end + 3)))),
                    ".",
                ),
            ]
    return Fork("derived_period", rng.choice(turned), world.passage(said, rng))


def _told_hours(world: World, rng: random.Random) -> Fork | None:
    """Durations and differences of the clock, of prices and of temperatures."""
    kind = rng.randrange(3)
    if kind == 0:
        what = rng.choice(("the ferry", "the night train", "the coach", "the courier", "the second bus"))
        verb = rng.choice((("leaves", "arrives"), ("sets off", "gets in")))
        start = rng.randrange(5 * 12, 15 * 12)
        length = rng.choice((6, 9, 12, 15, 18, 21, 24, 27, 30, 36, 42, 48))
        end = start + length

        def clock(five: int) -> str:
            return f"{five // 12}:{five % 12 * 5:02d}"

        def took(fives: int) -> str:
            hours, minutes = fives // 12, fives % 12 * 5
            return " and ".join(
                part
                for part in (
                    f"{word(hours)} hour{'s' * (hours > 1)}" if hours else "",
                    f"{minutes} minutes" if minutes else "",
                )
                if part
            )

        said = [f"{what[0].upper()}{what[1:]} {verb[0]} at {clock(start)} and {verb[1]} at {clock(end)}."]
        other = rng.choice([n for n in (length - 6, length - 3, length + 3, length + 6) if n > 2])
        turned: list[Parts] = [
            (f"{what} takes ", (took(length), took(other)), "."),
            ("the journey lasts ", ("less than", "more than"), f" {took(length + rng.choice((3, 6)))}."),
            (f"{what} is ", ("still under way", "no longer under way"), f" at {clock(start + length // 2)}."),
            (f"{what} ", (f"{verb[1]} before", f"{verb[1]} after"), f" {clock(end + 3)}."),
        ]
    elif kind == 1:
        what = rng.choice(("the coat", "the printer", "the annual ticket", "the course", "the lamp", "the repair"))
        old = 20 * rng.randint(2, 40)
        percent = rng.choice((10, 20, 25, 50))
        new = old - old * percent // 100
        other = rng.choice([p for p in (5, 10, 20, 25, 30, 40, 50) if p != percent])
        said = rng.choice(
            (
                [f"{what[0].upper()}{what[1:]} used to cost {old} euros and now costs {new} euros."],
                [f"The price of {what} was cut from {old} to {new} euros."],
            )
        )
        turned = [
            (f"{what} became ", (f"{percent}%", f"{other}%"), " cheaper."),
            (f"the price of {what} fell by ", (f"{old - new} euros", f"{off(old - new, rng, 2)} euros"), "."),
            (f"{what} now costs ", ("less than", "more than"), f" {new + rng.randint(1, old - new)} euros."),
            (f"{what} became ", ("cheaper", "dearer"), "."),
            ("two of them now cost ", (f"{2 * new} euros", f"{off(2 * new, rng, 2)} euros"), "."),
        ]
    else:
        place = rng.choice(("Arn", "Belmont", "the valley", "the coast", "the summit", "Lindholm"))
        other_place = rng.choice(("Corin", "Osterby", "Farrow"))
        a = rng.randint(4, 38)
        b = off(a, rng, 2)
        said = [f"It was {a} degrees in {place} and {b} degrees in {other_place}."]
        warm, cold = (place, other_place) if a > b else (other_place, place)
        turned = [
            ("it was ", ("warmer", "colder"), f" in {warm} than in {cold}."),
            ("it was ", ("colder", "warmer"), f" in {cold} than in {warm}."),
            (
                f"the difference between {place} and {other_place} was ",
                (f"{abs(a - b)} degrees", f"{off(abs(a - b), rng, 2)} degrees"),
                ".",
            ),
            ("it was ", ("above", "below"), f" {max(a, b) - 1} degrees in {warm}."),
            (
                f"{warm} had ",
                (f"{abs(a - b)} degrees more", f"{off(abs(a - b), rng, 2)} degrees more"),
                f" than {cold}.",
            ),
        ]
    return Fork("derived_sum", rng.choice(turned), world.passage(said, rng))


SITES: tuple[SiteMaker, ...] = (
    SiteMaker("derived_age", 7, _LIFE, _life),
    SiteMaker("derived_period", 8, _PERIOD, _period),
    SiteMaker("derived_date", 9, _IN_YEAR, _calendar),
    SiteMaker("derived_bound", 11, re.compile(r"\d"), _threshold),
    SiteMaker("derived_share", 2, _SHARE, _share),
)
FREE: tuple[FreeMaker, ...] = (
    FreeMaker("derived_share", 6, _told_share),
    FreeMaker("derived_sum", 6, _told_sum),
    FreeMaker("derived_period", 7, _told_time),
    FreeMaker("derived_sum", 4, _told_hours),
    FreeMaker("table", 34, told_table),
)


def derived_rows(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """About `count` rows of derived numbers and of statements over records from the documents of `rows`, half true."""
    return forked_rows(rows, count, seed, SITES, FREE)
