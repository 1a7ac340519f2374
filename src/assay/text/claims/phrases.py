# ruff: noqa: SIM905 word lists read better as running text
"""Statements cut further: listed objects, dates beside agents, purposes, and measured things with their qualities."""

from collections.abc import Sequence

from assay.text.claims.clauses import Piece, Verbs, find_verb, is_finite, is_relative, piece, verb_group
from assay.text.lexicon import verbs
from assay.text.lexicon.tokens import Token, word

_TOGETHER = frozenset(
    """between both respectively together combine combines combined merge merges merged mix mixes connect connects
    connected link links linked join joins joined compare compares compared separate separates consist consists
    consisted composed comprise comprises comprised equal equals sum total ranges range varies vary either neither
    not no without never only exactly just alone or nor cannot all total totals among amongst sometimes""".split()
)
_TIME = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday early late mid".split()
)
_UNITS = frozenset("days weeks months hours years day week month hour year".split())
_GIVING = frozenset("provides provide offers offer grants grant gives give provided offered granted gave".split())
_CHANGED = frozenset("updated revised amended expanded extended changed modified redesigned adjusted widened".split())
_KIND_ENDINGS = (
    "tion",
    "sion",
    "cy",
    "ity",
    "ment",
    "ance",
    "ence",
    "al",
    "ic",
    "ary",
    "ory",
    "ive",
    "ous",
    "ism",
    "ology",
    "ship",
)
_MAX_ITEM = 9


def _year_like(token: Token) -> bool:
    return token.tag == "NUM" and len(token.text) == 4 and token.text.isdigit()


def _is_time(tokens: Sequence[Token]) -> bool:
    """Whether a prepositional phrase names a date: in 2020, on 5 May 2021, in early March."""
    rest = [t for t in tokens[1:] if t.tag != ","]
    if not rest or tokens[0].low not in {"in", "on", "since"} or len(rest) > 5:
        return False
    dated = any(_year_like(t) or t.low in _TIME for t in rest)
    return dated and all(t.tag == "NUM" or t.low in _TIME or t.low == "the" or t.text[:1].isdigit() for t in rest)


def _has_verb(tokens: Sequence[Token]) -> bool:
    return any(is_finite(tokens, i) for i in range(1, len(tokens)) if tokens[i].tag in {"AUX", "V"}) or any(
        is_relative(tokens, i) for i in range(len(tokens))
    )


def _cut_items(tokens: Sequence[Token], begin: int) -> list[list[Token]]:
    """The parts of a list that runs to the end of the statement; empty where it is none."""
    items: list[list[Token]] = [[]]
    joined = False
    for token in tokens[begin:]:
        if token.tag == "," or token.tag == "AND":
            joined = joined or token.tag == "AND"
            if items[-1]:
                if token.tag == "," and joined and len(items) > 1:
                    return []
                items.append([])
        elif token.tag in {";", ":", "OR", "BUT"}:
            return []
        else:
            items[-1].append(token)
    return items if joined and items[-1] else []


def _head(items: list[list[Token]]) -> int:
    """How many words of the first part stand before the first item itself."""
    first, others = items[0], items[1:]
    prepositions = [i for i, t in enumerate(first) if t.tag == "PREP"]
    shared = {t.low for t in first if t.tag == "PREP"}
    parallel = all(any(t.tag == "PREP" and t.low in shared for t in item) for item in others)
    if not prepositions or parallel:
        return 0
    if any(t.tag == "PREP" for item in others[:-1] for t in item):
        return 0
    return prepositions[-1] + 1


def _article(items: list[list[Token]]) -> list[list[Token]]:
    """The article of the first item repeated before singular nouns that have none."""
    first = items[0][0].low
    if first not in {"a", "an", "the"} or any(i[0].tag == "DET" for i in items[1:]):
        return items
    out = [items[0]]
    for item in items[1:]:
        article = first if first == "the" else ("an" if item[0].low[0] in "aeiou" else "a")
        out.append(item if item[-1].low.endswith("s") else [word(article, "DET"), *item])
    return out


def _alike(items: list[list[Token]]) -> bool:
    """Whether all items open alike, as those of one list do: what differs may be an apposition or a participle.

    An article may stand before the first of bare nouns only.
    """
    openings = [_opening(i[0]) for i in items]
    return len(set(openings)) == 1 or (openings[0] == "DET" and set(openings[1:]) == {"noun"})


def _opening(first: Token) -> str:
    if first.tag in {"DET", "NUM", "ADV", "PREP"}:
        return first.tag
    return "participle" if first.tag == "W" and first.low.endswith("ing") else "noun"


def _two_are_parallel(items: list[list[Token]]) -> bool:
    """Whether two joined phrases are sure to be two things: each has its own article, number or preposition."""
    a, b = items
    both_counted = a[0].tag == b[0].tag and a[0].tag in {"NUM", "DET"} and len(a) > 1 and len(b) > 1
    prepositions = [{t.low for t in i if t.tag == "PREP"} for i in items]
    return both_counted and (prepositions[0] == prepositions[1] or not prepositions[0])


def _shared_noun(items: list[list[Token]]) -> list[list[Token]]:
    """`adoption and surrogacy pathways`: the noun of the second is the noun of the first as well."""
    a, b = items
    if len(a) != 1 or len(b) != 2 or a[0].tag != "W" or b[0].tag != "W" or not b[1].low.endswith("s"):
        return []
    alike = a[0].low.endswith(_KIND_ENDINGS) and b[0].low.endswith(_KIND_ENDINGS)
    return [[a[0], b[1]], b] if alike else []


def _list_begin(tokens: Sequence[Token], group: Verbs) -> int:
    """Where the objects begin: after the verb, or after `to include` and the like."""
    begin = group.last + 1
    for i in range(begin, len(tokens) - 1):
        if tokens[i].low == "to" and tokens[i + 1].low in verbs.BASE:
            begin = i + 2
    while begin < len(tokens) and tokens[begin].tag == "ADV":
        begin += 1
    return begin


def split_lists(given: Piece) -> list[Piece]:
    """One statement for each of the listed objects; subject and verb are carried along."""
    tokens = given.tokens
    verb = find_verb(tokens)
    if verb < 1 or any(t.low in _TOGETHER or t.low.endswith("n't") for t in tokens[verb - 1 :]):
        return [given]
    group = verb_group(tokens, verb)
    begin = _list_begin(tokens, group)
    if tokens[0].tag == "SUB" or tokens[0].low == "as":
        return [given]
    if group.passive and begin == group.last + 1 and tokens[begin : begin + 1] and tokens[begin].tag != "PREP":
        return [given]  # `were given the worst mark, the damp and the smell`: what follows says what was given
    items = _cut_items(tokens, begin)
    if len(items) < 2 or any(len(i) > _MAX_ITEM or _has_verb(i) for i in items[1:]) or _has_verb(items[0]):
        return [given]
    if any(t.low in verbs.THIRD - verbs.AMBIGUOUS or t.tag == "VN" for i in items[1:] for t in i[:1]):
        return [given]
    skip = _head(items)
    head = [*tokens[:begin], *items[0][:skip]]
    items[0] = items[0][skip:]
    if not items[0] or len(items[0]) > _MAX_ITEM or any(i[0].tag == "PREP" for i in items[1:]):
        return [given]
    if not _alike(items) or (len(items) == 2 and any(t.tag == "," for t in tokens[begin:])):
        return [given]  # `, and` before a last phrase of two: rather a clause whose verb the word list lacks
    if len(items) == 2:
        parted = items if _two_are_parallel(items) else _shared_noun(items)
        if not parted:
            return [given]
    else:
        lone = items[0][0].tag == "DET" and len(items[0]) == 2 and len(items[-1]) > 1 and items[-1][0].tag != "DET"
        if lone:
            return [given]
        parted = _article(items)
    return _carry(given, head, parted)


def _carry(given: Piece, head: list[Token], items: list[list[Token]]) -> list[Piece]:
    tail: list[Token] = []
    for i in range(1, len(items[-1])):
        if items[-1][i].tag == "PREP" and _is_time(items[-1][i:]):
            tail = items[-1][i:]
            break
    out = []
    for number, item in enumerate(items):
        words = [*head, *item, *(tail if number < len(items) - 1 else [])]
        found = piece(words, [t for t in item if number == 0 or t not in items[0]] or item)
        out.append(Piece(found.tokens, given.start, found.end) if number == 0 else found)
    return out


def split_adjuncts(given: Piece) -> list[Piece]:
    """`created in 2020 by a team`, `updated in May to include X`: one statement for each of what is next to."""
    tokens = given.tokens
    verb = find_verb(tokens)
    if verb < 1:
        return [given]
    group = verb_group(tokens, verb)
    if not group.passive or group.negated or any(is_relative(tokens, i) for i in range(verb, len(tokens))):
        return [given]
    begin = group.last + 1
    marks = [
        i
        for i in range(begin, len(tokens))
        if tokens[i].low in {"in", "on", "by", "since"}
        or (tokens[i].low == "to" and i + 1 < len(tokens) and tokens[i + 1].low in verbs.BASE)
    ]
    if not marks or marks[0] != begin:
        return [given]
    parts = [list(tokens[a:b]) for a, b in zip(marks, [*marks[1:], len(tokens)], strict=True)]
    parts = _glue(parts)
    dated = [p for p in parts if _is_time(p)]
    if len(parts) < 2 or len(dated) != 1 or len(parts) > 3 or parts[0][0].low == "to":
        return [given]
    if not all(_is_time(p) or p[0].low in {"by", "to"} for p in parts):
        return [given]
    stem = list(tokens[:begin])
    out = []
    for number, part in enumerate(parts):
        own = [*stem, *part] if number == 0 else part
        words = [*stem, *part]
        while words[-1].tag == ",":
            words.pop()
        found = piece(words, own)
        out.append(Piece(found.tokens, given.start, found.end) if number == 0 else found)
    return out


def _glue(parts: list[list[Token]]) -> list[list[Token]]:
    """Place phrases stay with what they follow: only dates, agents and purposes stand alone."""
    out: list[list[Token]] = []
    for part in parts:
        alone = _is_time(part) or part[0].low in {"by", "to"}
        if out and not alone and not _is_time(out[-1]):
            out[-1].extend(part)
        else:
            out.append(part)
    return out


def split_measures(given: Piece) -> list[Piece]:
    """`provides 16 weeks of fully paid leave for carers`: the amount, the quality, and whom it is for.

    The statement of whom it is for keeps the amount: an amount given to the wrong group must not pass in halves. That
    of the quality keeps subject and verb, since `the leave is paid` says of all leave what is said of this one.
    """
    tokens = given.tokens
    verb = find_verb(tokens)
    for i in range(max(verb, 1), len(tokens) - 3):
        unit = tokens[i].tag == "NUM" and tokens[i + 1].low in _UNITS and tokens[i + 2].low == "of"
        if not unit or any(t.low in _TOGETHER for t in tokens[verb:]):
            continue
        j = i + 3
        while j < len(tokens) and tokens[j].tag == "ADV":
            j += 1
        quality = j < len(tokens) - 1 and (tokens[j].low in verbs.PARTICIPLE or tokens[j].low in {"paid", "unpaid"})
        k = j + 1 if quality else j
        if k >= len(tokens) or tokens[k].tag not in {"W", "VA"} or not quality:
            return [given]
        group = verb_group(tokens, verb)
        at_verb = i - 1 == group.last or (i - 2 == group.last and tokens[i - 1].tag == "PREP")
        tail = list(tokens[k + 1 :])
        if not at_verb:
            return [given]
        if tail and not (tail[0].low == "for" and tokens[verb].low in _GIVING):
            return [given]
        amount = [*tokens[: i + 3], tokens[k]]
        out = [Piece(tuple(amount), given.start, tokens[k].end)]
        described = [*tokens[:i], *tokens[i + 3 : k + 1]]
        out.append(piece(described, tokens[i + 3 : k + 1]))
        if tail:
            out.append(piece([*amount, *tail], tail))
        return out
    return [given]
