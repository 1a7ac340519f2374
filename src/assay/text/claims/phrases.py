# ruff: noqa: SIM905 word lists read better as running text
"""Splits statements further: listed objects, dates and agents of a passive, and amounts with their qualities."""

from collections.abc import Sequence

from assay.text.claims.clauses import Clause, VerbGroup, clause_of, find_verb, is_finite, is_relative, verb_group
from assay.text.lexicon import verbs
from assay.text.lexicon.tokens import Token, inserted

_JOINT_WORDS = frozenset(
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
    """Whether a prepositional phrase names a date: `in 2020`, `on 5 May 2021`, `in early March`."""
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
    """The items of a list that runs to the end of the statement; empty where there is no list."""
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


def _head_length(items: list[list[Token]]) -> int:
    """How many words of the first part precede the first item itself."""
    first, others = items[0], items[1:]
    prepositions = [i for i, t in enumerate(first) if t.tag == "PREP"]
    shared = {t.low for t in first if t.tag == "PREP"}
    parallel = all(any(t.tag == "PREP" and t.low in shared for t in item) for item in others)
    if not prepositions or parallel:
        return 0
    if any(t.tag == "PREP" for item in others[:-1] for t in item):
        return 0
    return prepositions[-1] + 1


def _with_articles(items: list[list[Token]]) -> list[list[Token]]:
    """The items, with the first item's article repeated before singular nouns that have none."""
    first = items[0][0].low
    if first not in {"a", "an", "the"} or any(i[0].tag == "DET" for i in items[1:]):
        return items
    out = [items[0]]
    for item in items[1:]:
        article = first if first == "the" else ("an" if item[0].low[0] in "aeiou" else "a")
        out.append(item if item[-1].low.endswith("s") else [inserted(article, "DET"), *item])
    return out


def _open_alike(items: list[list[Token]]) -> bool:
    """Whether all items open with the same part of speech; one that does not may be an apposition or a participle.

    Before bare nouns, only the first may have an article.
    """
    openings = [_opening(i[0]) for i in items]
    return len(set(openings)) == 1 or (openings[0] == "DET" and set(openings[1:]) == {"noun"})


def _opening(first: Token) -> str:
    if first.tag in {"DET", "NUM", "ADV", "PREP"}:
        return first.tag
    return "participle" if first.tag == "W" and first.low.endswith("ing") else "noun"


def _two_are_parallel(items: list[list[Token]]) -> bool:
    """Whether two joined phrases are certainly two things: each has its own article or number."""
    a, b = items
    both_counted = a[0].tag == b[0].tag and a[0].tag in {"NUM", "DET"} and len(a) > 1 and len(b) > 1
    prepositions = [{t.low for t in i if t.tag == "PREP"} for i in items]
    return both_counted and (prepositions[0] == prepositions[1] or not prepositions[0])


def _shared_noun(items: list[list[Token]]) -> list[list[Token]]:
    """`adoption and surrogacy pathways`: the items with the shared noun repeated; empty where none is shared."""
    a, b = items
    if len(a) != 1 or len(b) != 2 or a[0].tag != "W" or b[0].tag != "W" or not b[1].low.endswith("s"):
        return []
    alike = a[0].low.endswith(_KIND_ENDINGS) and b[0].low.endswith(_KIND_ENDINGS)
    return [[a[0], b[1]], b] if alike else []


def _list_begin(tokens: Sequence[Token], group: VerbGroup) -> int:
    """Where the objects begin: after the verb, or after `to include` and the like."""
    begin = group.last + 1
    for i in range(begin, len(tokens) - 1):
        if tokens[i].low == "to" and tokens[i + 1].low in verbs.BASE:
            begin = i + 2
    while begin < len(tokens) and tokens[begin].tag == "ADV":
        begin += 1
    return begin


def split_lists(clause: Clause) -> list[Clause]:
    """One statement for each listed object, with subject and verb repeated."""
    tokens = clause.tokens
    verb = find_verb(tokens)
    if verb < 1 or any(t.low in _JOINT_WORDS or t.low.endswith("n't") for t in tokens[verb - 1 :]):
        return [clause]
    group = verb_group(tokens, verb)
    begin = _list_begin(tokens, group)
    if tokens[0].tag == "SUB" or tokens[0].low == "as":
        return [clause]
    if group.passive and begin == group.last + 1 and tokens[begin : begin + 1] and tokens[begin].tag != "PREP":
        return [clause]  # `were given the worst mark, the damp and the smell`: the list explains the mark
    items = _cut_items(tokens, begin)
    if len(items) < 2 or any(len(i) > _MAX_ITEM or _has_verb(i) for i in items[1:]) or _has_verb(items[0]):
        return [clause]
    if any(t.low in verbs.THIRD - verbs.AMBIGUOUS or t.tag == "VN" for i in items[1:] for t in i[:1]):
        return [clause]
    skip = _head_length(items)
    head = [*tokens[:begin], *items[0][:skip]]
    items[0] = items[0][skip:]
    if not items[0] or len(items[0]) > _MAX_ITEM or any(i[0].tag == "PREP" for i in items[1:]):
        return [clause]
    if not _open_alike(items) or (len(items) == 2 and any(t.tag == "," for t in tokens[begin:])):
        return [clause]  # `, and` before the second of two: likely a clause whose verb is not in the word list
    if len(items) == 2:
        parted = items if _two_are_parallel(items) else _shared_noun(items)
        if not parted:
            return [clause]
    else:
        lone = items[0][0].tag == "DET" and len(items[0]) == 2 and len(items[-1]) > 1 and items[-1][0].tag != "DET"
        if lone:
            return [clause]
        parted = _with_articles(items)
    return _one_per_item(clause, head, parted)


def _one_per_item(clause: Clause, head: list[Token], items: list[list[Token]]) -> list[Clause]:
    tail: list[Token] = []
    for i in range(1, len(items[-1])):
        if items[-1][i].tag == "PREP" and _is_time(items[-1][i:]):
            tail = items[-1][i:]
            break
    out = []
    for number, item in enumerate(items):
        words = [*head, *item, *(tail if number < len(items) - 1 else [])]
        found = clause_of(words, [t for t in item if number == 0 or t not in items[0]] or item)
        out.append(Clause(found.tokens, clause.start, found.end) if number == 0 else found)
    return out


def split_adjuncts(clause: Clause) -> list[Clause]:
    """One statement per adjunct of a passive: `created in 2020 by a team`, `updated in May to include X`."""
    tokens = clause.tokens
    verb = find_verb(tokens)
    if verb < 1:
        return [clause]
    group = verb_group(tokens, verb)
    if not group.passive or group.negated or any(is_relative(tokens, i) for i in range(verb, len(tokens))):
        return [clause]
    begin = group.last + 1
    marks = [
        i
        for i in range(begin, len(tokens))
        if tokens[i].low in {"in", "on", "by", "since"}
        or (tokens[i].low == "to" and i + 1 < len(tokens) and tokens[i + 1].low in verbs.BASE)
    ]
    if not marks or marks[0] != begin:
        return [clause]
    parts = [list(tokens[a:b]) for a, b in zip(marks, [*marks[1:], len(tokens)], strict=True)]
    parts = _merge_places(parts)
    dated = [part for part in parts if _is_time(part)]
    if len(parts) < 2 or len(dated) != 1 or len(parts) > 3 or parts[0][0].low == "to":
        return [clause]
    if not all(_is_time(part) or part[0].low in {"by", "to"} for part in parts):
        return [clause]
    stem = list(tokens[:begin])
    out = []
    for number, part in enumerate(parts):
        own = [*stem, *part] if number == 0 else part
        words = [*stem, *part]
        while words[-1].tag == ",":
            words.pop()
        found = clause_of(words, own)
        out.append(Clause(found.tokens, clause.start, found.end) if number == 0 else found)
    return out


def _merge_places(parts: list[list[Token]]) -> list[list[Token]]:
    """Joins place phrases to what they follow: only dates, agents and purposes are adjuncts of their own."""
    out: list[list[Token]] = []
    for part in parts:
        alone = _is_time(part) or part[0].low in {"by", "to"}
        if out and not alone and not _is_time(out[-1]):
            out[-1].extend(part)
        else:
            out.append(part)
    return out


def split_measures(clause: Clause) -> list[Clause]:
    """`provides 16 weeks of fully paid leave for carers`: the amount, the quality and the beneficiary.

    The statement about the beneficiary keeps the amount, because an amount for the wrong group must not pass in two
    true halves. The one about the quality keeps subject and verb, since `the leave is paid` would be about all leave.
    """
    tokens = clause.tokens
    verb = find_verb(tokens)
    for i in range(max(verb, 1), len(tokens) - 3):
        unit = tokens[i].tag == "NUM" and tokens[i + 1].low in _UNITS and tokens[i + 2].low == "of"
        if not unit or any(t.low in _JOINT_WORDS for t in tokens[verb:]):
            continue
        j = i + 3
        while j < len(tokens) and tokens[j].tag == "ADV":
            j += 1
        quality = j < len(tokens) - 1 and (tokens[j].low in verbs.PARTICIPLE or tokens[j].low in {"paid", "unpaid"})
        k = j + 1 if quality else j
        if k >= len(tokens) or tokens[k].tag not in {"W", "VA"} or not quality:
            return [clause]
        group = verb_group(tokens, verb)
        at_verb = i - 1 == group.last or (i - 2 == group.last and tokens[i - 1].tag == "PREP")
        tail = list(tokens[k + 1 :])
        if not at_verb:
            return [clause]
        if tail and not (tail[0].low == "for" and tokens[verb].low in _GIVING):
            return [clause]
        amount = [*tokens[: i + 3], tokens[k]]
        out = [Clause(tuple(amount), clause.start, tokens[k].end)]
        described = [*tokens[:i], *tokens[i + 3 : k + 1]]
        out.append(clause_of(described, tokens[i + 3 : k + 1]))
        if tail:
            out.append(clause_of([*amount, *tail], tail))
        return out
    return [clause]
