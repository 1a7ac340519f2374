"""Claims about who did what to whom: moved properties, converse relations, two negations.

Every wrong claim has a twin in the same words: what differs is who stands where, or one word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise

from assay.text.lexicon import verbs
from train.edits.context import Context
from train.edits.document import NUMBER, YEAR, parse
from train.edits.entities import blend
from train.edits.forks import NAME, Fork, FreeMaker, Site, SiteMaker, World, forked_rows, upper
from train.edits.names import GIVEN, Name
from train.edits.relation_frames import COMPLEMENTS, NEGATED, ONLY, RELATIONS, THINGS, Complement, Relation
from train.edits.true_forms import participle_of, past_of_participle
from train.rows import Row

_FINITE = (
    r"(?:is|was|has|had|won|became|began|made|wrote|took|led|said|told|gave|left|lost|played|"
    r"held|met|ran|got|went|beat|sold|bought|built|[a-z]{3,}ed)"
)
_ASIDE = re.compile(
    rf"^(?P<a>{NAME}), (?P<aside>(?:an?|the|who|whose|which|his|her|its|their|son|daughter|brother|sister|wife|husband|"
    rf"founded|owned|led|directed|managed|created|based)\b[^,;:()]*), (?P<pred>(?:also )?{_FINITE} [^;:]{{8,200}})\.$"
)
_WHO = re.compile(
    rf"^(?P<head>[^,;:()]*? )(?P<b>{NAME}), (?P<who>who) (?P<pred>(?:also |later |had )?{_FINITE} "
    r"[^,;:()]{8,160})\.$"
)
_SAME_ONE = re.compile(r"\b(?:also known|known as|called|named|nicknamed|formerly|aka|alias|short for|both|and)\b")
_RECIPROCAL = re.compile(
    r"\b(?:each other|married|divorced|together|met|their|they|them|both|his|her|him|he|she|it|its)\b"
)
_NOTHING_BETWEEN = re.compile(r"^\W*(?:(?:and|or|to|until|till|through|from|in|of|the|but|by|up|[–-])?\W*)*$")


def _two(parsed_names: Sequence[Name], a: str, b: str) -> bool:
    """Whether two names are sure, could stand in one place, and are not names of one and the same."""
    found = {n.text: n for n in parsed_names}
    one, other = found.get(a), found.get(b)
    if one is None or other is None or one.keys & other.keys or not other.sure:
        return False
    groups = {one.group, other.group}
    return "people" not in groups and (len(groups) == 1 or "place" not in groups)


def _aside(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """Give what is said of a subject to somebody named in its apposition or relative clause."""
    found = _ASIDE.match(site.text)
    if found is None or _SAME_ONE.search(found["aside"]) or _RECIPROCAL.search(found["pred"]):
        return None
    names = parse(site.text).names
    inside = [n for n in names if found.start("aside") <= n.start and n.end <= found.end("aside")]
    inside = [n for n in inside if _two(names, found["a"], n.text) and n.text not in found["pred"]]
    inside = [n for n in inside if re.match(r",| (?:and|in|at|from|on|for|to)\b", site.text[n.end :])]
    inside = [n for n in inside if not re.search(r"\ban? $", site.text[: n.start])]
    if not inside:
        return None
    other = rng.choice(inside).text
    return Fork("aside", ((found["a"], other), f" {found['pred']}."), site.evidence(rng), "not_supported")


def _who(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """Give what a closing relative clause says of its name to the subject of the sentence."""
    found = _WHO.match(site.text)
    parsed = parse(site.text)
    if found is None or parsed.verb < 1 or not parsed.names or _RECIPROCAL.search(found["pred"]):
        return None
    subject = parsed.names[0]
    if subject.start != 0 or subject.end != parsed.subject_end or not _two(parsed.names, subject.text, found["b"]):
        return None
    if re.search(r"\b(?:and|or|between|with|of)(?: the)? $", found["head"]) or subject.text in found["pred"]:
        return None
    if not subject.sure or re.search(r"\b(?:is|was|as|became|named|called) $", found["head"]):
        return None
    return Fork("relative", ((found["b"], subject.text), f" {found['pred']}."), site.evidence(rng), "not_supported")


def _subject(site: Site, world: World, rng: random.Random) -> Fork | None:
    """Say of one subject of the document what another one did, in the sentence's words or around it."""
    base = site.shaped(rng)
    edit = blend(base, Context(site.document, world.bank, (site.index,)), rng)
    if edit is None or edit.span[0] != 0:
        return None
    new = edit.claim[: edit.span[1]]
    rest = edit.claim[edit.span[1] :]
    old = base[: len(base) - len(rest)]
    other = next((i for i in site.document.usable if site.document.pieces[i].startswith(new)), None)
    evidence = site.evidence(rng, *([] if other is None or abs(other - site.index) > 4 else [other]))
    if new not in evidence[0]:
        return None
    be = "is" if re.match(r" (?:is|has|[a-z]+s) ", rest) else "was"
    that = "who" if parse(base).names[0].group == "person" else "that"
    turned: list[tuple[str | tuple[str, str], ...]] = [((old, new), rest)]
    if re.match(rf" {_FINITE} ", rest):
        turned += [
            (f"It {be} ", (old, new), f" {that}{rest}"),
            ((old, new), ", not ", (new, old), f",{rest}"),
            ("Not ", (new, old), " but ", (old, new), rest),
            ((old, new), f" {be} the one {that}{rest}"),
        ]
    return Fork("moved", rng.choice(turned), evidence, "not_supported")


def _ranges(text: str) -> bool:
    return bool(re.search(r"\b(?:from|between)\b[^,;]*\d[^,;]*\b(?:to|and|until)\b [^,;]*\d|\d ?[–-] ?\d", text))


def _sort(text: str, match: re.Match[str]) -> str:
    """What a number is of, coarsely: only numbers of one sort are exchanged."""
    if YEAR.fullmatch(match.group()):
        return "year"
    if text[match.start() - 1 : match.start()] in ("$", "£", "€"):
        return "money"
    if re.match(r"%| per ?cent", text[match.end() :]):
        return "share"
    return (
        "count"
        if re.match(r" [a-z]{3,}", text[match.end() :]) and not re.search(r"[A-Z]\w* $", text[: match.start()])
        else ""
    )


def _exchange(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """Exchange two years, amounts, shares or counts of one sentence."""
    text = site.shaped(rng)
    if _ranges(text) or re.search(r"\b(?:respectively|rose|fell|grew|increase|decrease|compared)\b", text):
        return None
    found = list(NUMBER.finditer(text))
    pairs = []
    for a, b in pairwise(found):
        between = text[a.end() : b.start()]
        sort = _sort(text, a)
        if sort and sort == _sort(text, b) and a.group() != b.group() and len(between) <= 90:
            words = re.findall(r"[a-zA-Z]{3,}", between)
            if len(words) >= 2 and not _NOTHING_BETWEEN.match(between):
                pairs.append((a, b))
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    parts = (
        text[: a.start()],
        (a.group(), b.group()),
        text[a.end() : b.start()],
        (b.group(), a.group()),
        text[b.end() :],
    )
    return Fork("exchanged", parts, site.evidence(rng))


_DATED = re.compile(rf"(?P<name>{NAME})\"? \((?P<year>(?:1[5-9]|20)\d\d)\)")


def _dated(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """Give a title of a list "A (1990), B (1995)" the year of another, or turn their order around."""
    found = {m["name"]: int(m["year"]) for m in _DATED.finditer(site.text)}
    if len(found) < 2:
        return None
    (a, first), (b, second) = rng.sample(sorted(found.items()), 2)
    if abs(first - second) < 2 or a in b or b in a or site.document.text.count(f"{a} (") > 1:
        return None
    one, two = str(first), str(second)
    order = ("earlier", "later") if first < second else ("later", "earlier")
    turned: tuple[tuple[str | tuple[str, str], ...], ...] = (
        (f"{a} dates from ", (one, two), "."),
        (f"{a} is from ", (one, two), f" and {b} is from ", (two, one), "."),
        (f"The year given for {a} is ", (one, two), "."),
        (f"{a} is ", order, f" than {b}."),
        ((a, b) if first < second else (b, a), " came before ", (b, a) if first < second else (a, b), "."),
    )
    return Fork("moved_date", rng.choice(turned), site.evidence(rng))


_PASSIVE = re.compile(
    rf"^(?P<a>{NAME}) was (?P<verb>[a-z]+) by (?P<b>{NAME})(?=[.,;]| (?:in|on|at|for|during|after|and|as) )"
)
_ACTIVE = re.compile(rf"^(?P<a>{NAME}) (?P<verb>[a-z]+) (?P<b>{NAME})(?=[.,;]| (?:in|on|at|for|during|after|as) )")
_ACTS = frozenset(
    [
        "acquired",
        "advised",
        "appointed",
        "arrested",
        "attacked",
        "attracted",
        "backed",
        "banned",
        "beat",
        "bought",
        "captured",
        "coached",
        "commissioned",
        "composed",
        "created",
        "criticised",
        "criticized",
        "defeated",
        "designed",
        "directed",
        "discovered",
        "edited",
        "elected",
        "employed",
        "founded",
        "funded",
        "helped",
        "hired",
        "hosted",
        "inspired",
        "interviewed",
        "invaded",
        "invited",
        "killed",
        "led",
        "nominated",
        "outscored",
        "overtook",
        "owned",
        "painted",
        "portrayed",
        "praised",
        "produced",
        "published",
        "purchased",
        "replaced",
        "rescued",
        "shot",
        "signed",
        "sold",
        "succeeded",
        "sued",
        "supported",
        "taught",
        "thanked",
        "trained",
        "visited",
        "wrote",
    ]
)
"""Pasts of verbs that turn into the passive and are not true of both at once."""


def _roles(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """Who acts and who suffers: the start of a sentence in the other voice, or its own, with the names exchanged."""
    text = site.text
    passive, active = _PASSIVE.match(text), _ACTIVE.match(text)
    found = passive or active
    if found is None or (not passive and found["verb"] not in _ACTS):
        return None
    names = parse(text).names
    a, b, verb = found["a"], found["b"], found["verb"]
    if not {a, b} <= {n.text for n in names if n.sure} or a in b or b in a:
        return None
    by_text = {n.text: n for n in names}
    if by_text[a].keys & by_text[b].keys or "people" in (by_text[a].group, by_text[b].group):
        return None
    past = (past_of_participle(verb) or "") if passive else verb
    participle = verb if passive else participle_of(verb)
    if not past or participle is None or not (passive or verb in verbs.PAST):
        return None
    if past not in _ACTS:
        return None
    agent, patient = (b, a) if passive else (a, b)
    turned = rng.random() < 0.75
    if (passive is not None) == turned:
        parts: tuple[str | tuple[str, str], ...] = ((agent, patient), f" {past} ", (patient, agent), ".")
    else:
        parts = ((patient, agent), f" was {participle} by ", (agent, patient), ".")
    return Fork("turned_role", parts, site.evidence(rng))


_ROLES = (
    "brother",
    "sister",
    "cousin",
    "pupil",
    "assistant",
    "rival",
    "neighbour",
    "teacher",
    "lawyer",
    "biographer",
    "business partner",
    "successor",
    "former boss",
    "translator",
    "doctor",
    "friend",
    "guest",
    "landlady",
)
_JOBS = (
    "painter",
    "singer",
    "chemist",
    "mayor",
    "architect",
    "baker",
    "pilot",
    "judge",
    "poet",
    "engineer",
    "senator",
    "coach",
    "banker",
    "violinist",
    "farmer",
    "photographer",
    "surgeon",
    "novelist",
    "diplomat",
    "actor",
)
_DEEDS = (
    "founded the theatre",
    "won the prize in {y}",
    "signed the contract",
    "moved to the coast in {y}",
    "wrote the second report",
    "paid for the repairs",
    "missed the hearing",
    "resigned in {y}",
    "opened a shop in {y}",
    "sold the collection",
    "designed the new wing",
    "called the police",
    "lost the appeal",
    "led the expedition",
    "recorded two albums",
    "spent {n} years in prison",
    "bought {n} of the paintings",
    "retired in {y}",
    "found the letters",
    "taught at the college for {n} years",
    "reported the fault",
    "trained the apprentices",
    "cancelled the order",
    "donated {n} books",
    "broke a leg in {y}",
    "broke the record",
    "organised the strike",
    "chaired the meeting",
    "translated the novel",
    "grew up on a farm",
    "studied law",
    "voted against the plan",
)


def _deed(rng: random.Random) -> str:
    return rng.choice(_DEEDS).format(y=rng.randint(1880, 2023), n=rng.randint(2, 30))


def _told_of_two(world: World, rng: random.Random) -> Fork | None:
    """Two people in one sentence, each with a deed or a part of its own: a claim gives one what is the other's."""
    names = _named(world, "person", 2, rng)
    if names is None:
        return None
    a, b = names
    first, second = _deed(rng), _deed(rng)
    if first.split()[0] == second.split()[0]:
        return None
    tie, job = rng.choice(_ROLES), rng.choice(_JOBS)
    said, doer, deed = rng.choice(
        (
            (f"{a}, the {tie} of the {job} {b}, {first}.", a, first),
            (f"{a}, {tie} of {b}, {first}.", a, first),
            (f"{a}, whose {tie} {b} {second}, {first}.", *rng.choice(((a, first), (b, second)))),
            (f"{a}, who had worked with {b}, {first}.", a, first),
            (f"{a}, encouraged by {b}, {first}.", a, first),
            (f"{a} {first}, and the {tie} of {a.split()[0]}, {b}, {second}.", *rng.choice(((a, first), (b, second)))),
            (f"{a} {first}, while {b} {second}.", *rng.choice(((a, first), (b, second)))),
            (f"{a} {first}. {b} {second}.", *rng.choice(((a, first), (b, second)))),
            (f"{a} {first} with the help of {b}, who later {second}.", b, second),
            (f"The {job} {a} was introduced to {b}, who {second}.", b, second),
            (f"It was not {a} but {b} who {first}.", b, first),
            (f"After {a} {first}, {b} {second}.", *rng.choice(((a, first), (b, second)))),
            (f"{a} {first} before {b} {second}.", *rng.choice(((a, first), (b, second)))),
            (f"Unlike {a}, {b} {first}.", b, first),
        )
    )
    pair = (doer, b if doer == a else a)
    parts = rng.choice(
        (
            (pair, f" {deed}."),
            (pair, f" {deed}."),
            ("It was ", pair, f" who {deed}."),
            ("The one who " + deed + " was ", pair, "."),
            (pair, ", not ", pair[::-1], f", {deed}."),
        )
    )
    return Fork("moved", parts, world.passage([said], rng), "not_supported")


def _frame_parts(frame: str, a: str, b: str, *, names: bool, flipped: str | None) -> tuple[str | tuple[str, str], ...]:
    """A frame as the parts of a fork: its names exchanged, or its core word turned around."""
    parts: list[str | tuple[str, str]] = []
    for piece in re.split(r"(\{a\}|\{b\}|\[[^]]*\])", frame):
        if piece == "{a}":
            parts.append((a, b) if names else a)
        elif piece == "{b}":
            parts.append((b, a) if names else b)
        elif piece.startswith("["):
            core = piece[1:-1]
            parts.append((core, flipped) if not names and flipped else core)
        elif piece:
            parts.append(piece)
    return tuple(parts)


def _core(frame: str) -> str:
    found = re.search(r"\[([^]]*)\]", frame)
    return found.group(1) if found else ""


def _skeleton(frame: str) -> str:
    """The frame without its core and names: frames of one skeleton and opposite cores say opposite things."""
    return re.sub(r"\{[ab]\}", "@", re.sub(r"\[[^]]*\]", "[]", frame))


def plain(frame: str, a: str, b: str) -> str:
    """The frame as a sentence about two names."""
    return upper(frame.replace("[", "").replace("]", "").format(a=a, b=b))


def converse_parts(
    relation: Relation, frame: str, a: str, b: str, rng: random.Random
) -> tuple[str | tuple[str, str], ...]:
    """A frame that holds of (a, b), with what makes it wrong: the opposite core, or the names exchanged."""
    opposite = [
        _core(other)
        for other in relation.frames
        if (
            _skeleton(other) == _skeleton(frame)
            and other.index("{a}") - other.index("{b}") > 0
            and frame.index("{a}") < frame.index("{b}")
        )
        or (
            _skeleton(other) == _skeleton(frame)
            and other.index("{a}") < other.index("{b}")
            and frame.index("{a}") > frame.index("{b}")
        )
    ]
    if opposite and _core(frame) and rng.random() < 0.5:
        return _frame_parts(frame, a, b, names=False, flipped=rng.choice(opposite))
    return _frame_parts(frame, a, b, names=True, flipped=None)


def _named(world: World, sort: str, count: int, rng: random.Random) -> list[str] | None:
    if sort in THINGS:
        return rng.sample(THINGS[sort], count)
    pool = [
        n for n in world.bank.names.get(sort, []) if not n.startswith(("The ", "the ")) and n.replace(" ", "").isalpha()
    ]
    if sort == "person":
        pool = [n for n in pool if n.split()[0] in GIVEN]
    if len(pool) < 4 * count:
        return None
    some = rng.sample(pool, count)
    words = [w.lower() for n in some for w in n.split()]
    return some if len(set(words)) == len(words) else None


def _converse(world: World, rng: random.Random) -> Fork | None:
    """State a relation in one frame, and claim it or its reverse in another frame, the converse among them."""
    relation = rng.choice(RELATIONS)
    names = _named(world, rng.choice(relation.sorts), 3, rng)
    if names is None:
        return None
    a, b, c = names
    said = rng.choice(relation.frames)
    frame = rng.choice(relation.frames if rng.random() < 0.2 else [f for f in relation.frames if f != said])
    sentences = [plain(said, a, b)]
    if rng.random() < 0.4:
        more = plain(rng.choice(relation.frames), *((c, a) if rng.random() < 0.5 else (b, c)))
        sentences.insert(rng.randint(0, 1), more)
    parts = converse_parts(relation, frame, a, b, rng)
    return Fork("converse", parts, world.passage(sentences, rng), relation.label)


_COMPASS = "north|south|east|west|northeast|northwest|southeast|southwest|north-east|north-west|south-east|south-west"
_BACK = {
    "north": "south",
    "east": "west",
    "northeast": "southwest",
    "northwest": "southeast",
    "north-east": "south-west",
    "north-west": "south-east",
}
_BACK |= {b: a for a, b in _BACK.items()}
_LIES = re.compile(
    rf"^(?P<a>{NAME}) (?:is|lies|is located|is situated|stands|was|was located)\b[^,;:.]{{0,60}}?"
    rf"\b(?P<way>{_COMPASS}) of (?P<b>{NAME})(?=[.,;]| and (?:is|was|has)\b| in \b)"
)
_KIN = re.compile(
    rf"^(?P<a>{NAME}) (?P<be>is|was) (?:the |a )?(?:\w+ )?(?P<kin>son|daughter|child) of "
    rf"(?:(?:the )?[a-z]+ )?(?P<b>{NAME})(?=[.,;]|$| and )"
)
_NEXT = re.compile(rf"^(?P<a>{NAME}) (?:is|was) (?:succeeded|replaced) by (?P<b>{NAME})(?=[.,;]| in | on | as )")


def _told_converse(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """The converse of a direction, a kinship or a succession that a document states."""
    text = site.text
    lies, kin, after = _LIES.match(text), _KIN.match(text), _NEXT.match(text)
    if lies:
        a, b, way = lies["a"], lies["b"], lies["way"]
        back = _BACK[way]
        parts: tuple[str | tuple[str, str], ...] = rng.choice(
            (
                (b, " is ", (back, way), " of ", a, "."),
                (b, " lies to the ", (back, way), " of ", a, "."),
                ((b, a), f" is {back} of ", (a, b), "."),
                ("To the ", (back, way), f" of {a} lies {b}."),
                ((a, b), f" lies to the {way} of ", (b, a), "."),
            )
        )
    elif kin:
        a, b, be = kin["a"], kin["b"], kin["be"]
        parts = rng.choice(
            (
                ((b, a), f" {be} a parent of ", (a, b), "."),
                (b, f" {be} ", ("a parent", "a child"), f" of {a}."),
                (a, f" {be} ", ("a child", "a parent"), f" of {b}."),
                ((a, b), " had ", (b, a), " as a parent."),
            )
        )
    elif after:
        a, b = after["a"], after["b"]
        parts = rng.choice(
            (
                ((b, a), " came after ", (a, b), "."),
                (b, " was the ", ("successor", "predecessor"), f" of {a}."),
                (a, " was the ", ("predecessor", "successor"), f" of {b}."),
                ((b, a), " took the place of ", (a, b), "."),
            )
        )
    else:
        return None
    if a in b or b in a or not any(n.text == a and n.start == 0 for n in parse(text).names):
        return None
    return Fork("converse", parts, site.evidence(rng))


_SUPERLATIVE = re.compile(
    r"^(?P<head>[^,;:]{3,70}? (?:is|was|are|were) )(?P<one>the |one of the |among the )(?P<most>most|least|[a-z]+est)"
    r"(?P<rest> [^;:]+\.)$"
)
_OPPOSITE_MOST = {
    "most": "least",
    "largest": "smallest",
    "biggest": "smallest",
    "highest": "lowest",
    "longest": "shortest",
    "oldest": "youngest",
    "best": "worst",
    "tallest": "shortest",
    "fastest": "slowest",
    "richest": "poorest",
    "strongest": "weakest",
    "greatest": "least",
    "earliest": "latest",
    "hottest": "coldest",
    "busiest": "quietest",
}
_OPPOSITE_MOST |= {b: a for a, b in list(_OPPOSITE_MOST.items()) if a not in ("biggest", "tallest", "greatest")}


def _superlative(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """The largest is not the smallest: deny the opposite superlative, or the superlative itself."""
    found = _SUPERLATIVE.match(site.shaped(rng, 0.3))
    if found is None or found["most"] not in _OPPOSITE_MOST or re.search(r"\bnot\b|n't|\bno\b", found["head"]):
        return None
    other = _OPPOSITE_MOST[found["most"]]
    head, rest = f"{found['head']}", found["rest"]
    if rng.random() < 0.6:
        parts: tuple[str | tuple[str, str], ...] = (f"{head}not {found['one']}", (other, found["most"]), rest)
    elif rng.random() < 0.5:
        parts = (f"{head}{found['one']}", (found["most"], other), rest)
    else:
        parts = (head, (f"not {found['one']}{other}", f"not {found['one']}{found['most']}"), rest)
    return Fork("two_negations", parts, site.evidence(rng))


_PREFIXED = re.compile(
    r" (?P<be>is|was|are|were) (?P<word>(?:un|in|im)?(?:successful|able|available|known|happy|aware|clear|likely|usual|"
    r"popular|married|finished|complete|possible|legal|certain|common|safe|fair|necessary|stable|"
    r"related|limited|conscious|armed|employed|accurate|correct|dependent|effective|adequate|sufficient|perfect|"
    r"pleasant|expected|reliable|willing|injured|hurt|damaged|changed|identified))\b(?! and| or| but| as| for|,)"
)


def _prefixed(site: Site, _world: World, rng: random.Random) -> Fork | None:
    """Unsuccessful is not successful, successful is not unsuccessful."""
    text = site.shaped(rng, 0.3)
    found = _PREFIXED.search(text)
    if found is None or re.search(r"\b(?:if|whether|may|not|no|never|nor|only|more|less|doubt)\b|n't", text):
        return None
    word, be = found["word"], found["be"]
    bare = re.sub(
        r"^(?:un|in|im)(?=success|able|avail|known|happy|aware|clear|likely|usual|popular|married|finish|"
        r"compl|poss|legal|certain|common|safe|fair|necess|stable|relat|limit|consc|arm|empl|accur|corr|"
        r"depend|eff|adeq|suff|perf|pleas|expect|reli|will|injur|hurt|dam|chang|ident|port)",
        "",
        word,
    )
    positive = bare == word and word != "important"
    if word in ("important", "legal", "able", "hurt", "limited", "related", "expected") and positive:
        return None
    prefix = _prefix_of(bare)
    head, tail = f"{text[: found.start()]} {be} ", text[found.end() :]
    if positive:
        parts: tuple[str | tuple[str, str], ...] = (f"{head}not ", (f"{prefix}{bare}", bare), tail)
    elif rng.random() < 0.7:
        parts = (f"{head}not ", (bare, word), tail)
    else:
        parts = (head, (f"not {bare}", f"not {word}"), tail)
    return Fork("two_negations", parts, site.evidence(rng))


def _prefix_of(bare: str) -> str:
    if bare in ("possible", "perfect"):
        return "im"
    return (
        "in"
        if bare in ("complete", "accurate", "correct", "dependent", "effective", "adequate", "sufficient")
        else "un"
    )


def _complement(world: World, rng: random.Random) -> Fork | None:
    """What is closed is not open: of two words one of which holds, in every pairing of denial and assertion."""
    one: Complement = rng.choice(COMPLEMENTS)
    p, q = (one.yes, one.no) if rng.random() < 0.5 else (one.no, one.yes)
    subject = rng.choice(one.subjects)
    be = "are" if subject.endswith("s") and not subject.endswith("ss") else "is"
    said = rng.choice(
        (
            f"{subject} {be} {p}.",
            f"{subject} {be} not {q}.",
            f"{subject} {be} no longer {q}.",
            f"{subject} {be} {p} again.",
            f"{subject}, {q} for weeks, {be} now {p}.",
            f"By now {subject} {be} {p}.",
            f"{subject} {be} by no means {q}.",
            f"It is not the case that {subject} {be} {q}.",
        )
    )
    parts = rng.choice(
        (
            (f"{subject} {be} ", (p, q), "."),
            (f"{subject} {be} not ", (q, p), "."),
            (f"{subject} {be} ", (f"not {q}", f"not {p}"), " now."),
            (f"At present {subject} {be} ", (p, q), "."),
            (f"It is not true that {subject} {be} ", (q, p), "."),
            (f"It would be wrong to say that {subject} {be} ", (q, p), "."),
            (f"{subject} {be} ", (p, q), ", not ", (q, p), "."),
            (f"{subject} {be} anything but ", (q, p), "."),
        )
    )
    return Fork("two_negations", parts, world.passage([upper(said)], rng))


def _negated(world: World, rng: random.Random) -> Fork | None:
    """Turns of two negations: not without, did not fail to, nobody was absent."""
    frame = rng.choice(NEGATED)
    values = {key: rng.choice(choices) for key, choices in frame.slots.items()}
    yes, no = frame.yes, frame.no
    if frame.flips and rng.random() < 0.35:
        yes, no = no, yes
    said = rng.choice(yes)
    right = rng.choice([s for s in yes if s != said] or list(yes)).format(**values)
    wrong = rng.choice(no).format(**values)
    return Fork("two_negations", _differing(right, wrong), world.passage([upper(said.format(**values))], rng))


def _differing(right: str, wrong: str) -> tuple[str | tuple[str, str], ...]:
    """Two sentences as a fork: what they share at both ends in whole words, and the difference between."""
    a, b = right.split(" "), wrong.split(" ")
    head = 0
    while head < min(len(a), len(b)) - 1 and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head - 1 and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    first = "".join(w + " " for w in a[:head])
    last = "".join(" " + w for w in a[len(a) - tail :])
    middle = (" ".join(a[head : len(a) - tail]), " ".join(b[head : len(b) - tail]))
    if not last and middle[0].endswith(".") and middle[1].endswith("."):
        middle, last = (middle[0][:-1], middle[1][:-1]), "."
    return (first, middle, last)


def _only(world: World, rng: random.Random) -> Fork | None:
    """Only one of two sorts: the other sort is out."""
    group = rng.choice(ONLY)
    x, y = rng.sample(group.sorts, 2)
    values = {"x": x, "y": y, "where": rng.choice(group.places)}
    said = rng.choice(group.said).format(**values)
    parts: list[str | tuple[str, str]] = []
    for piece in re.split(r"(\[[^]]*\])", rng.choice(group.claims).format(**values)):
        if piece.startswith("["):
            right, wrong = piece[1:-1].split("|")
            parts.append((right, wrong))
        elif piece:
            parts.append(piece)
    return Fork("two_negations", tuple(parts), world.passage([upper(said)], rng, 0.4))


SITES: tuple[SiteMaker, ...] = (
    SiteMaker("aside", 7, _ASIDE, _aside),
    SiteMaker("relative", 6, _WHO, _who),
    SiteMaker("moved", 16, re.compile(rf"^{NAME} [a-z]"), _subject),
    SiteMaker("exchanged", 12, re.compile(r"\d.* [a-z]{3,}.*\d"), _exchange),
    SiteMaker("moved_date", 6, re.compile(r"\(\d{4}\).*\(\d{4}\)"), _dated),
    SiteMaker(
        "turned_role",
        8,
        re.compile(
            rf"{_PASSIVE.pattern}|{_ACTIVE.pattern.replace('?P<a>', '').replace('?P<b>', '').replace('?P<verb>', '')}"
        ),
        _roles,
    ),
    SiteMaker(
        "told_converse",
        4,
        re.compile(rf"\b(?:{_COMPASS}|son|daughter|child) of |(?:succeeded|replaced) by "),
        _told_converse,
    ),
    SiteMaker("superlative", 5, _SUPERLATIVE, _superlative),
    SiteMaker("prefixed", 5, _PREFIXED, _prefixed),
)
FREE: tuple[FreeMaker, ...] = (
    FreeMaker("converse", 16, _converse),
    FreeMaker("moved", 10, _told_of_two),
    FreeMaker("complement", 6, _complement),
    FreeMaker("negated", 5, _negated),
    FreeMaker("only", 4, _only),
)


def relation_rows(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """About `count` rows of moved properties, converses and two negations from the documents of `rows`, half true."""
    return forked_rows(rows, count, seed, SITES, FREE)
