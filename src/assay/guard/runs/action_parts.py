"""The parts of a claim that states several actions: each is settled on its own words and needs a call of its own.

"I have cancelled order W-17 and emailed you a copy" is two actions, and a call that cancelled the order sent nothing.
Two verbs with one object, as in "cancelled and removed the order", may be one action in two words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from assay.guard.runs.action_evidence import ActionRecords, Telling
from assay.text.lexicon import PARTICIPLE
from assay.verify.tools import ActionStatus, ClaimedAction

_JOINT: Final = re.compile(r"[,;:&+/(–—]|\b(?:and|then|plus|but|as well as)\b", re.IGNORECASE)
_OPENING: Final = re.compile(r"(?:[,;:&+/(–—\s]|\b(?:and|then|plus|but|as well as|also)\b)+", re.IGNORECASE)
_FILLING: Final = re.compile(
    r"(?:\s|,|\b(?:also|then|have|has|been|just|already|now)\b|\b\w{2,20}ly\b)*", re.IGNORECASE
)
_PASSIVE: Final = re.compile(r"\b(?:been|was|were|is|are)\s+(?:\w+\s+){0,3}$", re.IGNORECASE)
_AGAIN: Final = re.compile(r"\s+(?:it|them)\b", re.IGNORECASE)
_NEXT_WORDS: Final = re.compile(
    r"(?:(?P<loose>[,;:(–—]|\s-|\b(?:while|by)\b)|[&+/]|\b(?:and|then|plus|but|as well as)\b)\s*"
    r"(?:(?:and|then|but|also|have|has|been|just|already|now|\w{2,20}ly)\s+){0,4}"
    r"(?=(?P<words>[a-z]{1,24}(?:\s+[\w-]{1,40}){0,4}))",
    re.IGNORECASE,
)
"""The words behind a joint."""
_DETERMINERS: Final = frozenset({"your", "the", "a", "an", "its", "our", "all"})
_LOOKING: Final = frozenset(
    [
        "checked",
        "fetched",
        "found",
        "investigated",
        "located",
        "looked",
        "noticed",
        "pulled",
        "read",
        "retrieved",
        "reviewed",
        "saw",
        "searched",
        "verified",
    ]
)
"""Verbs of acts that change nothing."""
_LETTERS: Final = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class ActionPart:
    """One action of a claim, with the words about it."""

    action: ClaimedAction
    text: str
    """The words about it; the whole claim if it states nothing else."""
    verbs: str
    """Its verb, and the verbs that share its object."""
    tools: tuple[str, ...]
    """The tools that may have done it, or what shares its object."""
    shares: bool = False
    """Whether it may be the action before it in another word."""

    @property
    def acts(self) -> str:
        """Its verbs, and those of the lookups told with it, for which the words of its own call need not account."""
        return " ".join((self.verbs, *(word for word in _LETTERS.findall(self.text.lower()) if word in _LOOKING)))


_Placed = tuple[ClaimedAction, int, int]
"""An action, and where its verb starts and ends in the claim."""


def parts_of(text: str, action: ClaimedAction) -> tuple[ActionPart, ...]:
    """The parts of a claim by its actions, in the order of their verbs.

    Args:
        text: the claim.
        action: its first action, with the further ones.
    """
    whole = (ActionPart(action, text, action.verb, action.tools),)
    if not action.further:
        return whole
    found: list[_Placed] = []
    parts: list[ActionPart] = []
    for one in (action, *action.further):
        place = place_of(one.verb, text, found[-1][2] if found else 0)
        if place is not None:
            found.append((one, *place))
        elif one.status is not ActionStatus.DONE:
            parts.append(ActionPart(one, text, one.verb, one.tools))
    groups = list(_by_object(text, found))
    cuts = [0, *(_cut(text, before[-1][2], after[0][1]) for before, after in pairwise(groups))]
    lead = text[: found[0][1]] if found else ""
    # "Order W-17 has been cancelled and refunded": the subject of both is what both were done to
    subject = lead if _PASSIVE.search(lead) else ""
    for number, group in enumerate(groups):
        own = text[cuts[number] : cuts[number + 1] if number + 1 < len(groups) else len(text)]
        opening = _OPENING.match(own) if number else None
        own = own[opening.end() :] if opening is not None else own
        words = f"{subject}{own}" if opening is not None and own[:1].islower() and _begins(own, group) else own
        verbs = " ".join(one.verb for one, _, _ in group)
        tools = tuple(dict.fromkeys(tool for one, _, _ in group for tool in one.tools))
        again = number > 0 and _AGAIN.match(text, group[-1][2]) is not None
        parts += [ActionPart(one, words, verbs, tools, at > 0 or again) for at, (one, _, _) in enumerate(group)]
    return tuple(parts) or whole


def place_of(verb: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """Where a text has a verb as a word of its own, from a place on; None if it has not."""
    match = re.compile(rf"(?<![\w-]){re.escape(verb)}(?![\w-])", re.IGNORECASE).search(text, start)
    return match.span() if match is not None else None


def _by_object(text: str, found: Iterable[_Placed]) -> Iterator[list[_Placed]]:
    """The actions, those together that nothing but a joint stands between."""
    group: list[_Placed] = []
    for one in found:
        if group:
            between = text[group[-1][2] : one[1]]
            if _FILLING.fullmatch(_JOINT.sub(" ", between)) is None:
                yield group
                group = []
        group.append(one)
    if group:
        yield group


def _cut(text: str, start: int, end: int) -> int:
    """Where the words about the next action begin, between the verbs of two actions."""
    joints = list(_JOINT.finditer(text, start, end))
    while len(joints) > 1 and _FILLING.fullmatch(text, joints[-2].end(), joints[-1].start()) is not None:
        joints.pop()
    return joints[-1].start() if joints else end


def _begins(own: str, group: Sequence[_Placed]) -> bool:
    place = place_of(group[0][0].verb, own)
    return place is not None and _FILLING.fullmatch(own, 0, place[0]) is not None


def parts_told(
    text: str, action: ClaimedAction, records: ActionRecords
) -> tuple[tuple[ActionPart, ...], tuple[Telling, ...]]:
    """The parts of a claim, and how calls tell of them besides the other claims of its sentence.

    Args:
        text: the claim.
        action: its first action, with the further ones.
        records: the calls that worked.
    """
    own = parts_of(text, action)
    if not action.beside:
        return own, telling_of(own, records)
    parts: list[ActionPart] = []
    start, seen = 0, set[str]()
    for other, first in action.beside:
        if (other, first.verb) == (text, action.verb):
            start = len(parts)
        for part in parts_of(other, first):
            # "I have removed order W-17" beside "I have cancelled order W-17" was one object with two verbs
            bare = " ".join(word for word in part.text.casefold().split() if word != part.action.verb)
            place = place_of(part.action.verb, part.text)
            again = bool(parts) and place is not None and _AGAIN.match(part.text, place[1]) is not None
            parts.append(replace(part, shares=part.shares or bare in seen or again))
            seen.add(bare)
    told = telling_of(parts, records)
    return own, told[start : start + len(own)]


def telling_of(parts: Sequence[ActionPart], records: ActionRecords) -> tuple[Telling, ...]:
    """How the calls tell of each part of a claim: as `Telling.ALL` where a call of its own did it.

    A call that tells of an action in its own words did that action. It may tell of several, as a cancellation does that
    also refunds. An action that no call tells of, because tools use other words than answers, needs a call that is not
    taken by another action.
    """
    if len(parts) == 1:
        return (Telling.ALL,)
    told = [records.telling(part.text, part.verbs, part.action) for part in parts]
    fitting = [[i for i, found in each.items() if found is Telling.ALL] or list(each) if each else [] for each in told]
    best = [max(each.values(), default=Telling.NOTHING) for each in told]
    taken: dict[int, int] = {}

    def take(part: int, seen: set[int]) -> bool:
        for call in fitting[part]:
            if call not in seen:
                seen.add(call)
                if call not in taken or take(taken[call], seen):
                    taken[call] = part
                    return True
        return False

    # Those that are told of come first, and general verbs last: these name no act that needs a call of its own.
    order = sorted(range(len(parts)), key=lambda i: (parts[i].action.general, best[i] is not Telling.ALL, i))
    own = {part for part in order if take(part, set())}
    return tuple(Telling.ALL if number in own or part.shares else best[number] for number, part in enumerate(parts))


def further_deed(text: str, parts: Iterable[ActionPart], known: ActionRecords) -> bool:
    """Whether a claim tells of something more that was done, with an object of its own, and no call says so.

    The request of a user has the words for it, but that something was asked for is no sign that it was done.
    """
    verbs = {verb for part in parts for verb in part.verbs.split()}
    for match in _NEXT_WORDS.finditer(text):
        first, *others = match["words"].lower().split()
        before = text[: match.start()].rstrip(" ,").rpartition(" ")[2].lower()
        # "and your payment refunded" has its verb behind a name of one word or more
        deeds = others[1:] if first in _DETERMINERS else [first] if before not in verbs else []
        for word in deeds:
            if word not in verbs and _is_deed(word, gerunds=match["loose"] is not None) and not known.say(word):
                return True
    return False


def _is_deed(word: str, *, gerunds: bool) -> bool:
    if word in _LOOKING:
        return False
    regular = len(word) > 4 and word.endswith("ed")
    return regular or word in PARTICIPLE or (gerunds and len(word) > 5 and word.endswith("ing"))
