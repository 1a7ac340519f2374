"""True claims in another shape than the evidence: shortened, split, merged, re-ordered, active for passive."""

from __future__ import annotations

import random
import re

from assay.text.claims.clauses import verb_group
from assay.text.claims.splitting import split_statement
from assay.text.lexicon import verbs
from assay.text.lexicon.tokens import render
from train.edits.document import MONTHS, Document, parse, usable
from train.edits.kinds import Base
from train.edits.names import Name
from train.edits.words import base_of, past_of

_ASIDE = re.compile(r"\s\([^()]*\)")
_RELATIVE = re.compile(
    r", (?:who|which|whose|where) [^,;]{6,120}(?=, (?:is|was|are|were|has|had|will|can|[a-z]+ed)\b|\.$)"
)
_TRAILING = re.compile(
    r",\s(?:including|such as|making|becoming|especially|particularly|leading|marking)\b[^,;]*(?=\.$)"
)
_ADVERB = re.compile(r"(?<=[a-z]) (?:also|eventually|subsequently|additionally|furthermore|however)(?= [a-z])")
_MONTH = "|".join(MONTHS)
_FRONT = re.compile(
    rf"^((?:In|By|Since) (?:(?:early |late )?(?:{_MONTH}) )?\d{{4}}|On (?:\d{{1,2}} (?:{_MONTH})|"
    rf"(?:{_MONTH}) \d{{1,2}})(?:,? \d{{4}})?|"
    r"(?:During|After|Before|At|Following|Throughout) [^,;]{4,60}), ([^,;]{15,200})\.$"
)
_BACK = re.compile(
    rf"^([^,;]{{15,200}}?) ((?:in|since) (?:(?:early |late )?(?:{_MONTH}) )?\d{{4}}|on (?:\d{{1,2}} "
    rf"(?:{_MONTH})|(?:{_MONTH}) \d{{1,2}})(?:,? \d{{4}})?)\.$"
)
_PASSIVE_BY = re.compile(
    r"^(?P<object>[^,;()]{3,60}?) (?P<be>was|were) (?P<verb>[a-z]+) by (?P<agent>(?:the "
    r")?[A-Z][\w'’-]+(?: (?:of |the |and )?[A-Z][\w'’.-]+){0,4})(?P<rest>(?: (?:in|on|at|for|during) "
    r"[^,;]{2,60})?)\.$"
)
_MADE = frozenset(
    [
        "directed",
        "wrote",
        "founded",
        "designed",
        "produced",
        "composed",
        "published",
        "created",
        "built",
        "developed",
        "invented",
        "discovered",
        "painted",
        "acquired",
        "edited",
        "established",
        "launched",
        "organised",
        "organized",
        "recorded",
        "adapted",
        "distributed",
        "defeated",
        "commissioned",
        "hosted",
        "owned",
        "purchased",
        "introduced",
        "released",
        "signed",
        "won",
    ]
)
_THING = re.compile(
    r"(?:the|a|an|his|her|its|their|[A-Z][\w'’-]*) ?[^,;()]{0,60}?(?=\.$| (?:in|on|at|for|during) (?:the |a )?[\dA-Z])"
)


def shorten(text: str, rng: random.Random) -> str:
    """A true, shorter form: parentheses, adverbs, relative or trailing clauses left out."""
    shorter = _ASIDE.sub("", text) if rng.random() < 0.7 else text
    if rng.random() < 0.5 and shorter.count(",") <= 3:
        shorter = _RELATIVE.sub("", shorter, count=1)
        if shorter != text:
            shorter = re.sub(r"^([^,]*), (?=(?:is|was|are|were|has|had|will|can)\b)", r"\1 ", shorter)
    if rng.random() < 0.6:
        shorter = _TRAILING.sub("", shorter)
    return _ADVERB.sub("", shorter, count=1) if rng.random() < 0.3 else shorter


_CREDITS = re.compile(r"\b(?:starring|featuring|stars|played by|directed|co-written|screenplay)\b")


def atomic(text: str, rng: random.Random) -> str | None:
    """One of the statements that the claim splitter makes of the sentence: the shape that claims have in use."""
    if _CREDITS.search(text):
        return None  # a list of credits of several sorts is where the splitter errs most
    parts = split_statement(text)
    if len(parts) < 2:
        return None
    part = rng.choice(parts)
    made = render(part.tokens).strip(" ,;")
    made = made[:1].upper() + made[1:] + ("" if made.endswith(".") else ".")
    verb = parse(made).verb
    if re.search(r", \w+\.$", made):
        return None
    finite = verb >= 1 and parse(made).tokens[verb - 1].tag != "ADV" and made.count(",") <= text.count(",")
    return made if finite and usable(made) and len(made) < len(text) else None


def reordered(text: str, _rng: random.Random) -> str | None:
    """Move an adverbial of time from the front to the end, or from the end to the front."""
    front = _FRONT.match(text)
    if front:
        adverbial, rest = front.groups()
        if re.search(
            r"\b(?:when|while|because|although|since|who|which|that|to|and|but|where|if)\b", rest
        ) or re.search(rf"\b(?:in|on) (?:\d{{4}}|{_MONTH})", rest):
            return None
        return f"{rest[0].upper()}{rest[1:]} {adverbial[0].lower()}{adverbial[1:]}."
    back = _BACK.match(text)
    if back:
        rest, adverbial = back.groups()
        parsed = parse(text)
        inner = re.search(
            r"\b(?:that|which|who|when|and|but|while|said|says|announced|to|where|if|because|until|from|between)\b",
            rest,
        )
        group = verb_group(parsed.tokens, parsed.verb) if parsed.verb >= 1 else None
        if (
            inner
            or group is None
            or any(
                t.low in verbs.PARTICIPLE or t.low.endswith("ing")
                for t in parsed.tokens[group.last + 1 :]
                if t.end <= len(rest)
            )
        ):
            return None  # the date may belong to the participle: "a band formed in 1968"
        first = parsed.names[0] if parsed.names else None
        word = rest.split()[0]
        if first is not None and first.start == 0 and first.sure:
            head = rest
        elif word in ("The", "A", "An", "His", "Her", "Its", "Their", "Two", "Three", "Some", "Many", "Most", "All"):
            head = rest[0].lower() + rest[1:]
        else:
            return None
        return f"{adverbial[0].upper()}{adverbial[1:]}, {head}."
    return None


def voice(text: str, _rng: random.Random) -> str | None:
    """Active for passive or passive for active, for sentences of the simplest shape."""
    found = _PASSIVE_BY.match(text)
    if found:
        verb = found["verb"]
        base = verb[:-2] if verb in verbs.PARTICIPLE and verb.endswith("ed") and verb[:-2] in verbs.BASE else None
        past = (
            verb
            if verb in verbs.PAST and verb in verbs.PARTICIPLE
            else past_of(base or _base_of_participle(verb) or "")
        )
        parsed = parse(text)
        if (
            past is None
            or parsed.verb_start != found.start("be")
            or found["object"].split()[0] in ("It", "He", "She", "They", "There")
        ):
            return None
        thing, agent = found["object"], found["agent"]
        names = parsed.names
        if not (names and names[0].start == 0 and names[0].sure):
            if thing.split()[0] not in ("The", "A", "An", "His", "Her", "Its", "Their"):
                return None
            thing = thing[0].lower() + thing[1:]
        return f"{agent[0].upper()}{agent[1:]} {past} {thing}{found['rest']}."
    parsed = parse(text)
    if parsed.verb < 1 or parsed.tokens[parsed.verb].low not in _MADE or not parsed.names:
        return None
    subject, token = parsed.names[0], parsed.tokens[parsed.verb]
    if subject.start != 0 or subject.end != parsed.subject_end or not subject.sure or token.start != subject.end + 1:
        return None
    thing_found = _THING.match(text, token.end + 1)
    if (
        thing_found is None
        or len(thing_found.group().split()) > 7
        or re.search(r"\b(?:and|that|with|which|who|his|her|its|their|over|by|to)\b", thing_found.group())
    ):
        return None
    thing = thing_found.group()
    participle = participle_of(token.low)
    if participle is None:
        return None
    plural = thing.split()[0] not in ("a", "an") and re.search(r"(?<!s)s$", thing) and thing[0].islower()
    rest = text[thing_found.end() : -1]
    return f"{thing[0].upper()}{thing[1:]} {'were' if plural else 'was'} {participle} by {subject.text}{rest}."


_PARTICIPLE_OF = {e[1]: e[2] for e in verbs._irregular}  # noqa: SLF001 the tables of irregular verbs are read here alone
_BASE_OF_PARTICIPLE = {e[2]: e[0] for e in verbs._irregular}  # noqa: SLF001


def participle_of(past: str) -> str | None:
    """The participle of a verb's past, or nothing where it is unknown."""
    return _PARTICIPLE_OF.get(past) or (past if past in verbs.PARTICIPLE else None)


def _base_of_participle(participle: str) -> str | None:
    return _BASE_OF_PARTICIPLE.get(participle) or base_of(participle)


def past_of_participle(participle: str) -> str | None:
    """The past of a verb's participle, or nothing where it is unknown."""
    if participle in verbs.PAST and participle in verbs.PARTICIPLE:
        return participle
    return past_of(_base_of_participle(participle) or "")


def _subject_name(document: Document, i: int) -> Name | None:
    """The subject of a sentence where it is one name and the sentence names nobody else of its class before its end."""
    parsed = parse(document.pieces[i])
    if parsed.verb < 1 or not parsed.names or parsed.names[0].start != 0 or parsed.names[0].end != parsed.subject_end:
        return None
    first = parsed.names[0]
    rivals = [n for n in parsed.names[1:] if n.group in (first.group, "other") and not n.keys & first.keys]
    return None if rivals or not first.sure else first


_PRONOUN = re.compile(
    r"^(He|She|It) (?=(?:is|was|has|had|[a-z]+ed|[a-z]+s|became|won|made|wrote|began|took|also) )(?!is "
    r"(?:a shame|clear|said|believed|thought|possible)|was (?:clear|said|reported|announced|believed)|has "
    r"been (?:said|reported)|seems|takes|took)"
)
_FEMALE = frozenset("actress woman she her daughter wife mother sister queen princess".split())  # noqa: SIM905


def resolved(document: Document, rng: random.Random) -> Base | None:
    """A sentence that opens with a pronoun, with the name that the sentence before it is about in its place.

    Half of them are joined with the sentence before: "X did this. It does that." becomes "X did this and does that."
    """
    offers = []
    for i in range(1, len(document.pieces)):
        follower = document.pieces[i]
        found = _PRONOUN.match(follower)
        if not found or not usable("The" + follower[found.end() - 1 :]) or not usable(document.pieces[i - 1]):
            continue
        name = _subject_name(document, i - 1)
        if name is None or (found.group(1) == "It") == (name.group == "person") or name.group == "people":
            continue
        if found.group(1) != "It" and name.group != "person":
            continue
        if found.group(1) == "It" and not re.match(
            r" (?:is|was) (?:a|an|the|one)\b", document.pieces[i - 1][name.end :]
        ):
            continue  # "It" is surely the subject only after a sentence that says what the subject is
        offers.append((i, name, follower[found.end() :]))
    if not offers:
        return None
    i, name, rest = rng.choice(offers)
    before = document.pieces[i - 1]
    if rng.random() < 0.5 and len(before.split()) + len(rest.split()) <= 34 and not re.search(r"[,;]| and ", before):
        return Base(f"{before[:-1]} and {rest}", "merged", (i - 1, i))
    return Base(f"{name.text} {rest}", "resolved", (i - 1, i))


def merged(document: Document, rng: random.Random) -> Base | None:
    """One claim of two sentences about one subject: "A did this. A does that." becomes "A did this and does that."."""
    subjects: dict[str, list[tuple[int, int]]] = {}
    for i in document.usable:
        parsed = parse(document.pieces[i])
        if (
            parsed.names
            and parsed.names[0].start == 0
            and parsed.names[0].sure
            and parsed.names[0].end == parsed.subject_end
        ):
            subjects.setdefault(parsed.names[0].text, []).append((i, parsed.names[0].end))
    pairs = [p for p in subjects.values() if len(p) >= 2]
    if not pairs:
        return None
    (i, _), (j, end) = sorted(rng.sample(rng.choice(pairs), 2))
    first, second = document.pieces[i], document.pieces[j]
    if first[end:] == second[end:]:
        return None
    if (
        len(first.split()) + len(second.split()) > 34
        or re.search(r"[,;]| and ", first)
        or not second[end + 1 : end + 2].islower()
    ):
        return None
    return Base(f"{first[:-1]} and {second[end + 1 :]}", "merged", (i, j))
