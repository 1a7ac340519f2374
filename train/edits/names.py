"""Names of a text with a coarse class, so that a name is exchanged for one that could stand in its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assay.text.lexicon.names import find_names

NameClass = Literal["person", "place", "organisation", "people", "other"]

GIVEN = frozenset(
    """Aaron Adam Adrian Ahmed Alan Albert Alex Alexander Alexandra Alfred Ali Alice Amanda Amy Ana Andrea Andrew Angela
    Ann Anna Anne Anthony Antonio Arthur Ashley Barbara Ben Benjamin Bernard Bill Bob Brad Brandon Brian Bruce Carl
    Carlos Carol Caroline Catherine Charles Charlie Charlotte Chris Christian Christina Christine Christopher Claire
    Clara Colin Craig Daniel Danny Dave David Dean Deborah Dennis Diana Diego Donald Dorothy Douglas Ed Edward Elena
    Elizabeth Ellen Emily Emma Eric Ethan Eva Evelyn Frances Francis Frank Fred Frederick Gary George Georgia Gerald
    Grace Graham Greg Hannah Harold Harry Heather Helen Henry Howard Hugh Ian Isaac Isabel Jack Jackson Jacob James
    Jamie Jan Jane Janet Jason Jean Jeff Jennifer Jeremy Jerry Jessica Jim Joan Joe John Jonathan Jordan Jose Joseph
    Joshua Juan Julia Julian Julie Justin Karen Karl Kate Katherine Katie Keith Kelly Ken Kenneth Kevin Kim Kyle Larry
    Laura Lauren Lawrence Lee Leo Leonard Lewis Liam Linda Lisa Louis Louise Lucas Lucy Luis Luke Marc Marcus Margaret
    Maria Marie Mario Mark Martha Martin Mary Matt Matthew Maurice Max Megan Melissa Michael Michelle Miguel Mike
    Mohammed Nancy Natalie Nathan Neil Nicholas Nick Nicole Nigel Noah Oliver Olivia Oscar Pamela Patricia Patrick Paul
    Pedro Peter Philip Phillip Rachel Ralph Raymond Rebecca Richard Rick Robert Robin Roger Ronald Rose Roy Russell
    Ruth Ryan Sam Samantha Samuel Sandra Sara Sarah Scott Sean Sharon Simon Sophia Sophie Stanley Stella Stephanie
    Stephen Steve Steven Stuart Susan Sylvia Ted Teresa Terry Theodore Theresa Thomas Tim Timothy Toby Todd Tom Tony
    Tyler Victor Victoria Vincent Virginia Walter Wayne William Zoe""".split()  # noqa: SIM905 reads better as text
)
PLACES = frozenset(
    """Afghanistan Africa Alabama Alaska Albania Algeria Amsterdam Argentina Arizona Arkansas Asia Athens Atlanta
    Auckland Australia Austria Baghdad Baltimore Bangkok Bangladesh Barcelona Beijing Belfast Belgium Berlin Birmingham
    Bolivia Boston Brazil Brisbane Bristol Britain Brooklyn Brussels Bulgaria Cairo California Cambodia Cambridge Canada
    Cardiff Chicago Chile China Colombia Colorado Connecticut Copenhagen Croatia Cuba Cyprus Dallas Delaware Delhi
    Denmark Denver Detroit Dubai Dublin Ecuador Edinburgh Egypt England Estonia Ethiopia Europe Finland Florida France
    Geneva Georgia Germany Ghana Glasgow Greece Hamburg Hawaii Houston Hungary Iceland Idaho Illinois India Indiana
    Indonesia Iowa Iran Iraq Ireland Israel Istanbul Italy Jamaica Japan Jerusalem Johannesburg Jordan Kansas Kentucky
    Kenya Korea Kuwait Leeds Libya Lisbon Liverpool London Louisiana Luxembourg Madrid Maine Malaysia Malta Manchester
    Manhattan Manila Maryland Massachusetts Melbourne Mexico Miami Michigan Milan Minnesota Mississippi Missouri Montana
    Montreal Morocco Moscow Mumbai Munich Nashville Nebraska Nepal Netherlands Nevada Nigeria Norway Ohio Oklahoma
    Ontario Oregon Oslo Oxford Pakistan Palestine Paris Pennsylvania Peru Philadelphia Philippines Phoenix Poland
    Portland Portugal Prague Quebec Rome Romania Russia Scotland Seattle Serbia Shanghai Singapore Slovakia Slovenia
    Somalia Spain Stockholm Sudan Sweden Switzerland Sydney Syria Taiwan Tanzania Tennessee Texas Thailand Tokyo Toronto
    Tunisia Turkey Uganda Ukraine Uruguay Utah Vancouver Venezuela Vermont Vienna Vietnam Virginia Wales Warsaw
    Washington Wisconsin Wyoming Yemen Zambia Zimbabwe Zurich""".split()  # noqa: SIM905
) | {
    "New York",
    "New York City",
    "Los Angeles",
    "San Francisco",
    "New Zealand",
    "South Africa",
    "North Korea",
    "South Korea",
    "Saudi Arabia",
    "Hong Kong",
    "United States",
    "United Kingdom",
    "New Jersey",
    "New Mexico",
    "North Carolina",
    "South Carolina",
    "San Diego",
    "Las Vegas",
    "Sri Lanka",
    "Northern Ireland",
    "Costa Rica",
    "New Orleans",
    "Rio de Janeiro",
    "Buenos Aires",
    "Tel Aviv",
    "South Wales",
    "West Virginia",
    "New Hampshire",
}
PEOPLES = frozenset(
    """American Argentine Australian Austrian Belgian Brazilian British Bulgarian Canadian Chilean Chinese Colombian
    Croatian Cuban Czech Danish Dutch Egyptian English Finnish French German Greek Hungarian Icelandic Indian Indonesian
    Iranian Iraqi Irish Israeli Italian Jamaican Japanese Kenyan Korean Lebanese Mexican Moroccan Nigerian Norwegian
    Pakistani Peruvian Polish Portuguese Romanian Russian Scottish Serbian Spanish Swedish Swiss Syrian Thai Turkish
    Ukrainian Vietnamese Welsh""".split()  # noqa: SIM905
)
ORGANISATION = frozenset(
    """Academy Agency Airlines Airport Army Association Authority Band Bank Board Broadcasting Bureau
    Championship Church City Club College Commission Committee Company Congress Corp Corporation Council
    County Court Department Division Entertainment FC Federation Films Foundation Government Group Hospital
    Hotel House Inc Industries Institute International League Library Limited Ltd Magazine Ministry Museum
    Network News Office Orchestra Organisation Organization Parliament Party Pictures Police Press
    Productions Records Republic School Senate Series Service Society Stadium Station Studios Systems Team
    Theatre Theater Times Trust Union United University""".split()  # noqa: SIM905
)
TITLES = frozenset(
    [
        "Mr",
        "Mrs",
        "Ms",
        "Dr",
        "Sir",
        "Professor",
        "Prof",
        "President",
        "Minister",
        "Senator",
        "Judge",
        "Captain",
        "King",
        "Queen",
        "Prince",
    ]
)
_PLACE_BEFORE = re.compile(r"\b(?:in|near|at|across|outside|throughout) (?:the )?$")
_PERSON_AFTER = re.compile(r"^,? (?:said|says|told|who|and (?:his|her)|wrote|was born|died|starred|married|added)\b")
_PERSON_BEFORE = re.compile(
    r"\b(?:by|actor|actress|singer|director|player|author|writer|manager|brother|sister|wife) $"
)


@dataclass(frozen=True)
class Name:
    """A name in a text."""

    start: int
    end: int
    text: str
    group: NameClass
    sure: bool
    """False where a capital may only mark the start of a sentence."""
    keys: frozenset[str]


def classify(text: str, before: str = "", after: str = "") -> NameClass:
    """What a name seems to name, by word lists and its neighbours.

    >>> classify("Ada Lovelace", "written by "), classify("Paris"), classify("Acme Records"), classify("French")
    ('person', 'place', 'organisation', 'people')
    """
    words = text.replace(".", "").split()
    if text in PEOPLES:
        return "people"
    if text in PLACES:
        return "place"
    if any(w in ORGANISATION for w in words) or (len(words) == 1 and len(text) > 1 and text.isupper()):
        return "organisation"
    if words[0] in TITLES or (words[0] in GIVEN and len(words) <= 3 and "of" not in words):
        return "person"
    if _PERSON_AFTER.match(after) or (_PERSON_BEFORE.search(before) and 2 <= len(words) <= 3):
        return "person"
    if len(words) <= 2 and _PLACE_BEFORE.search(before):
        return "place"
    return "other"


def names_of(text: str) -> tuple[Name, ...]:
    """The names of a text in reading order, months and weekdays left out."""
    found: list[Name] = []
    for name in find_names(text):
        shown = text[name.start : name.end]
        if shown.strip() != shown or any(c.isdigit() for c in shown) or len(shown) < 2:
            continue
        group = classify(shown, text[max(0, name.start - 20) : name.start], text[name.end : name.end + 20])
        found.append(Name(name.start, name.end, shown, group, name.sure, frozenset(name.keys)))
    return tuple(found)
