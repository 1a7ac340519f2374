"""Wrong names, exchanged roles, blended facts, dropped conditions."""

from __future__ import annotations

import random
import re

from assay.text.claims.clauses import verb_group
from assay.text.lexicon import verbs
from train.edits.context import Context
from train.edits.document import Parsed, parse, usable
from train.edits.kinds import Edit, changed, replace
from train.edits.names import Name

_PARTS = re.compile(r"^(?:'s|’s|-| (?:Jr|Sr|II|III)\b)")


def _edges(text: str, name: Name) -> bool:
    """Whether a name is no part of a longer one (a hyphen or an ampersand at its side)."""
    before, after = text[: name.start], text[name.end :]
    return not before.endswith(("-", "&", "& ", ".", "’", "'")) and not after.startswith(("-", "&", " &", " Jr", " II"))


def name(text: str, context: Context, rng: random.Random) -> Edit | None:
    """Put another name of the same class in a name's place: mostly one of the document, else one of another.

    A name in the subject makes the claim one that the evidence says nothing of, elsewhere one that it contradicts.
    """
    parsed = parse(text)
    here = [n for n in parsed.names if n.sure and _edges(text, n)]
    if not here:
        return None
    keys = {k for n in parsed.names for k in n.keys}
    rng.shuffle(here)
    for old in here:
        near = sorted(
            {
                n.text
                for _, n in context.document.names
                if n.group == old.group and not n.keys & keys and n.text not in text
            }
        )
        if old.group == "other":
            near = [n for n in near if len(n.split()) == len(old.text.split())]
        far = [] if old.group == "other" else context.bank.names.get(old.group, [])
        if far and (not near or rng.random() < 0.4):
            new = far[rng.randrange(len(far))]
            if any(w in context.document.words for w in new.lower().split()):
                continue
        elif near:
            new = rng.choice(near)
        else:
            continue
        if text[: old.start].endswith(("the ", "The ")) != new.startswith("the ") and new.startswith("the "):
            continue
        label = "not_supported" if old.end <= parsed.subject_end else "contradicted"
        return replace("name", text, old.start, old.end, new, label)  # type: ignore[arg-type]
    return None


_ONE_SIDED = re.compile(
    r"^ (?:(?:has|had|have|was|is|were|are|been|also|then|later|a|an|the|\d{4}|[a-z]+ly|not|subsequently|"
    r"film|book|song|"
    r"album|novel|studio|American|British|[a-z]+) ){0,7}?(?:beat|beats|defeated|defeats|joined|sued|"
    r"bought|acquired|acquires|replaced|replaces|succeeded|told|asked|sent|"
    r"gave|killed|shot|accused|criticised|criticized|praised|directed|wrote|founded|signed|hired|appointed|followed|"
    r"produced|led|loaned|transferred|than|by|visited|attacked|invaded|arrested|supported|taught|coached|rejected|"
    r"owns|owned|employs|funded|sponsored|nominated|released|published|recorded|covered|sold|urged|warned|thanked|"
    r"blamed|helped|advised|represented|discovered|created|designed|played|portrayed|named|inspired|backed|banned)"
    r"(?: by)?(?: (?:former|director|singer|actor|author|writer|fellow|company|club))? $"
)
_SYMMETRIC = re.compile(
    r"\b(?:bordered|surrounded|accompanied|joined|neighboured|and|or|with|between|met|married|alongside|both|versus|vs)\b|[,;:(]"
)


def _no_name(name: Name) -> bool:
    """Whether a capitalised word is the participle that opens a sentence."""
    return name.text.lower() in verbs.PARTICIPLE or name.text.lower() in verbs.PAST


def role(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Exchange two names at the sides of a verb that is not symmetric; both are wrong, what stands between is not."""
    found = [n for n in parse(text).names if _edges(text, n) and (n.sure or n.start == 0)]
    pairs = []
    for i, a in enumerate(found):
        for b in found[i + 1 : i + 3]:
            between = text[a.end : b.start]
            if (
                len(between) > 60
                or a.keys & b.keys
                or text[a.end : a.end + 2] in ("'s", "’s")
                or text[b.end : b.end + 2] in ("'s", "’s")
            ):
                continue
            if a.group == b.group or "other" in (a.group, b.group):
                before, after = text[: a.start], text[b.end :]
                if (
                    _ONE_SIDED.match(between)
                    and not _SYMMETRIC.search(between)
                    and re.match(r"[.,;]| (?:in|on|at|during|after|for|by) |$", after)
                    and not before.lower().endswith(("the ", "s ", " of "))
                ):
                    pairs.append((a, b))
    pairs = [(a, b) for a, b in pairs if "people" not in (a.group, b.group) and not _no_name(a) and not _no_name(b)]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    claim = text[: a.start] + b.text + text[a.end : b.start] + a.text + text[b.end :]
    one, other = changed(a.text, b.text), changed(b.text, a.text)
    second = b.end - len(a.text)
    places = ((a.start + one[0], a.start + one[1]), (second + other[0], second + other[1]))
    return Edit("role", claim, (places[0][0], places[1][1]), parts=places)


def _simple_subject(parsed: Parsed) -> Name | None:
    """The subject where it is one name and nothing else."""
    if parsed.verb < 1 or not parsed.names:
        return None
    first = parsed.names[0]
    return first if first.start == 0 and first.end == parsed.subject_end else None


def _plural(parsed: Parsed) -> bool | None:
    """Whether the finite verb agrees with a plural subject; nothing where its form does not tell."""
    low = parsed.tokens[parsed.verb].low
    if low in {"is", "was", "has", "does"} or low in verbs.THIRD:
        return False
    if low in {"are", "were", "have", "do"}:
        return True
    return None


_GENERIC = re.compile(r",? (?:is|was|are|were) (?:also |still )?(?:an?\b|the name of|one of|among|either|best known)")


def blend(text: str, context: Context, rng: random.Random) -> Edit | None:
    """Put the subject of another sentence before this claim's predicate: both are true, of different subjects.

    Both subjects are bare names of one class that share no word, so that they are unlikely to be one and the same.
    """
    mine = parse(text)
    subject = _simple_subject(mine)
    if subject is None:
        return None
    if _GENERIC.match(text, subject.end):
        return None  # "is an American actor" may well be true of the other one too
    offers = []
    for i in context.others():
        piece = context.document.pieces[i]
        if len(piece) > 400:
            continue
        theirs = parse(piece)
        other = _simple_subject(theirs)
        if other is None or other.keys & subject.keys or other.text in text or subject.text in piece:
            continue
        same = other.group == subject.group and (other.group != "other" or len(other.keys) == len(subject.keys))
        numbers = {_plural(mine), _plural(theirs)}
        if same and other.group != "people" and not {True, False} <= numbers and (other.sure or other.group != "other"):
            offers.append(other.text)
    if not offers:
        return None
    return replace("blend", text, 0, subject.end, rng.choice(offers), "not_supported")


_CONDITION = re.compile(
    r"(?P<gap>,? )(?P<cue>unless|if|provided(?: that)?|subject to|only if|only when|only after|only with|as long as|"
    r"except (?:when|if)|on condition that|in the event (?:of|that)|assuming that)\b"
)
_NO_CONDITION = re.compile(
    r"\b(?:ask|asks|asked|know|knows|knew|wonder|wondered|see|determine|check|decide|find out|sure|"
    r"unclear|doubt|even|as|"
    r"what|than|not|and|or|but|unknown|whether|question|questioned|say|tell|only|never|regardless)$",
    re.IGNORECASE,
)
_OPEN_ENDED = frozenset({"AUX", "PREP", "DET", "SUB", "PRON", "ADV", "AND", "OR", "BUT", ","})
_REPORTED = re.compile(
    r"\b(?:sa(?:id|ys?)|tells?|told|asks?|asked|explained|thinks?|thought|hopes?|hoped|fears?|feared|knows?|knew|"
    r"(?:stat|argu|warn|believ|claim|announc|report|reveal|add|not|suggest|confirm|insist|promis|admitt?|agre|expect|"
    r"indicat|learn|discover|conclud|mention|estimat|acknowledg|emphasis|emphasiz|stress|predict|propos|recommend)"
    r"(?:e|s|es|ed))\b|\baccording to\b|[“”\"]",
    re.IGNORECASE,
)
_TOLD = frozenset({"only after", "only when", "only with", "as long as"})
"""Conditions that, of something past, tell when it happened: without them it did happen."""
_FRONTED = re.compile(
    r"^(?:If|Unless|Provided that|Subject to|Only if|As long as|In the event (?:of|that)) [^,;:]{6,120}, (?:then )?"
)


def governed_verb(clause: str) -> tuple[int, int] | None:
    """Start and end of the finite verb of a clause of one verb, with its auxiliaries and what they carry.

    Nothing where the clause has several verbs or a clause within, so that it is not clear which one says too much.
    """
    parsed = parse(clause)
    tokens = parsed.tokens
    if parsed.verb < 1:
        return None
    group = verb_group(tokens, parsed.verb)
    last = group.last
    if last == group.first and tokens[last].low in verbs.MODAL:  # followed by a verb, listed or not
        rest = (i for i in range(last + 1, len(tokens)) if tokens[i].tag != "ADV")
        last = next(rest, last)
        if not tokens[last].text.isalpha():
            return None
    elif tokens[last].low in verbs.BE and any(
        t.tag == "W" and t.low.endswith("ed") for t in tokens[last + 1 : last + 2]
    ):
        last += 1  # a participle, listed or not
    for i, token in enumerate(tokens):
        if token.tag in {"SUB", ";", ":"} or token.low == "that":
            return None
        if group.first <= i <= last or i == 0:
            continue
        before = tokens[i - 1]
        if token.tag in {"AUX", "V"} and before.low != "to":
            return None
        if token.tag in {"VN", "VA"} and before.tag not in {"DET", "PREP", "NUM"}:
            return None
        if before.tag in {"AND", "OR", "BUT"} and token.low in verbs.BASE | verbs.PARTICIPLE:
            return None
    return tokens[group.first].start, tokens[last].end


def _happened(clause: str, verb: tuple[int, int]) -> bool:
    """Whether the verb tells of something past rather than of what holds or would hold."""
    first = clause[verb[0] :].split(maxsplit=1)[0].lower()
    return first in {"was", "were", "had", "did"} or (first in verbs.PAST and first not in verbs.BASE)


def condition(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Leave a condition out, so that the claim holds always.

    Nothing wrong stands where the condition stood. The span is therefore what now says too much: the verb of the clause
    that the condition governed, with its auxiliaries. Where the clause has several verbs, where somebody reports it, or
    where the condition tells when something did happen, there is no edit.
    """
    if _REPORTED.search(text):
        return None
    found = _FRONTED.match(text)
    if found:
        rest = text[found.end() :]
        if len(rest.split()) < 4 or not rest[0].isalpha() or re.match(r"(?:or|and|but|if|then|not)\b", rest):
            return None
        claim = rest[0].upper() + rest[1:]
        verb = governed_verb(claim) if usable(claim) else None
        if verb is None or (_happened(claim, verb) and found.group().lower().startswith(tuple(_TOLD))):
            return None
        return Edit("condition", claim, verb, "not_supported", gap=0)
    offers = []
    for match in _CONDITION.finditer(text):
        before, rest = text[: match.start()], text[match.end() :]
        stop = re.search(r"[,;]|\.$", rest)
        if (
            stop is None
            or _NO_CONDITION.search(before)
            or len(before.split()) < 4
            or re.search(r"\b(?:[Nn]ot|[Nn]ever|[Nn]o|n't)\b", before)
        ):
            continue
        words = parse(before).tokens
        if (
            not before[-1:].isalnum()
            or re.search(r"\bonly\b", before)
            or words[-1].tag in _OPEN_ENDED
            or words[-1].low in {"that", "to", "be", "been"}
        ):
            continue
        tail = rest[stop.start() :]
        if (tail.startswith(",") or len(rest[: stop.start()].split()) < 2) and tail != ".":
            continue
        if not usable(before + tail):
            continue
        verb = governed_verb(before + ".")
        if verb is None or (match["cue"] in _TOLD and _happened(before, verb)):
            continue
        offers.append(Edit("condition", before + tail, verb, "not_supported", gap=match.start()))
    return rng.choice(offers) if offers else None
