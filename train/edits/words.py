"""Wrong words: negation, quantifiers, modality, comparison, order, cause and opposites."""

from __future__ import annotations

import random
import re

from assay.text.lexicon import verbs
from train.edits.context import Context
from train.edits.document import parse
from train.edits.kinds import Edit, changed, match_case, replace
from train.edits.rules import ANTONYMS, CAUSES, COMPARATIVES, MODALITY, ORDERS, QUANTIFIERS, Rule
from train.rows import Label


def _compile(rules: tuple[Rule, ...]) -> list[tuple[re.Pattern[str], str, Label]]:
    return [(re.compile(rf"\b(?:{pattern})\b"), new, label) for pattern, new, label in rules]


RULES = {
    "quantifier": _compile(QUANTIFIERS),
    "modality": _compile(MODALITY),
    "comparative": _compile(COMPARATIVES),
    "order": _compile(ORDERS),
    "cause": _compile(CAUSES),
    "antonym": _compile(ANTONYMS),
}


def _matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Matches of a lower-case rule in the text, whose first letter may be a capital."""
    lowered = text[:1].lower() + text[1:]
    return [m for m in pattern.finditer(lowered) if m.end() > m.start()] if len(lowered) == len(text) else []


def swap(text: str, kind: str, rng: random.Random) -> Edit | None:
    """Put the counterpart of one word of the kind in its place."""
    found = [(m, new, label) for pattern, new, label in RULES[kind] for m in _matches(pattern, text)]
    if not found:
        return None
    match, new, label = rng.choice(found)
    return replace(kind, text, *match.span(), match_case(text[match.start() : match.start() + 1], new), label)


def quantifier(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change how many or how often."""
    return swap(text, "quantifier", rng)


def modality(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Change what may be into what is or must be, what is allowed into what is forbidden."""
    return swap(text, "modality", rng)


def comparative(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Turn a comparison or a direction of change around."""
    return swap(text, "comparative", rng)


def order(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Turn an order in time around."""
    return swap(text, "order", rng)


def antonym(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Put an opposite in a word's place."""
    return swap(text, "antonym", rng)


_BECAUSE = re.compile(
    r"^([A-Z][^,;:]{15,120}?),? because ((?!of\b|it\b|he\b|she\b|they\b|this\b|its\b|his\b|her\b|"
    r"their\b)[^,;:]{15,120})\.$"
)


def cause(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Exchange cause and effect, or say that what brought something about did not."""
    found = _BECAUSE.match(text)
    if found and rng.random() < 0.7 and not re.search(r"\b(?:he|she|it|they|this)\b", found.group(2)):
        effect, reason = found.group(1), found.group(2)
        tokens = parse(text).tokens
        if tokens and tokens[0].tag == "DET":
            effect = effect[0].lower() + effect[1:]
        reason = reason[0].upper() + reason[1:]
        new = f"{reason} because {effect}"
        one, other = changed(found.group(1), reason), changed(found.group(2), effect)
        by = len(new) - len(effect)
        places = (one, (by + other[0], by + other[1]))
        return Edit("cause", new + ".", (one[0], by + other[1]), "not_supported", places)
    return swap(text, "cause", rng)


_NEGATED = re.compile(
    r"\b(is|was|are|were|has|have|had|will|would|could|should|must|can|may|might)( not| never)\b(?! only| "
    r"just| necessarily| yet)"
)
_CONTRACTED = re.compile(r"\b(is|was|are|were|has|have|had|would|could|should|does|do|did)(n't|n’t)\b")
_DID_NOT = re.compile(r"\b(did|does|do) not ([a-z]+)\b")
_FIRST_BASE = {verbs._past(b): b for b in verbs._BASE if b not in verbs._irregular_bases}  # noqa: SLF001 the tables are read here alone
_BASE_OF = _FIRST_BASE | {e[1]: e[0] for e in verbs._irregular} | {verbs._third(b): b for b in verbs._BASE}  # noqa: SLF001
_PAST_OF = {b: p for p, b in _FIRST_BASE.items()} | {e[0]: e[1] for e in verbs._irregular}  # noqa: SLF001


def base_of(verb: str) -> str | None:
    """The base form of a regular or listed verb's past or third-person form."""
    return _BASE_OF.get(verb)


def past_of(base: str) -> str | None:
    """The past form of a listed verb."""
    return _PAST_OF.get(base)


def _affirm(text: str, rng: random.Random) -> Edit | None:
    found: list[tuple[int, int, str]] = [(m.start(), m.end(), m.group(1)) for m in _NEGATED.finditer(text)]
    found += [(m.start(), m.end(), m.group(1)) for m in _CONTRACTED.finditer(text) if m.group(1)[0] != "d"]
    for match in _DID_NOT.finditer(text):
        form = past_of(match.group(2)) if match.group(1) == "did" else None
        if form:
            found.append((*match.span(), form))
    if not found:
        return None
    start, end, new = rng.choice(found)
    return replace("negation", text, start, end, new)


def negation(text: str, _context: Context, rng: random.Random) -> Edit | None:
    """Negate the main verb, or take a negation away.

    The span is what is new: `not` alone behind an auxiliary, `did not win` whole where the verb changes its form. Where
    a negation is taken away, it is the verb that lost it.
    """
    affirmed = _affirm(text, rng)
    if affirmed is not None:
        return affirmed
    if re.search(r"\b(?:not|no|never|nor|neither|hardly|barely|without|only|cannot)\b|n't", text):
        return None  # a negation beside another one is hard to read and often means something else
    parsed = parse(text)
    if parsed.verb < 1 or parsed.verb + 1 >= len(parsed.tokens):
        return None
    token, following = parsed.tokens[parsed.verb], parsed.tokens[parsed.verb + 1]
    low = token.low
    if token.tag == "AUX":
        if (
            low in {"has", "have", "had"}
            and following.tag not in {"VN", "ADV"}
            and following.low not in {"been", "had"}
        ):
            new = f"{ {'has': 'does', 'have': 'do', 'had': 'did'}[low] } not have"
            return replace("negation", text, token.start, token.end, new)
        if low in {"does", "do", "did"} or "'" in low:
            return None
        new = f"{token.text}not" if low == "can" else f"{token.text} not"
        return replace("negation", text, token.start, token.end, new)
    base = base_of(low)
    if base is None or token.tag not in {"V", "VN"}:
        return None
    helper = "does" if low in verbs.THIRD else "did"
    new = rng.choice((f"{helper} not {base}", f"{helper} not {base}", f"never {token.text}"))
    return replace("negation", text, token.start, token.end, new)
