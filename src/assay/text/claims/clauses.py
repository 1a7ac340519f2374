# ruff: noqa: SIM905 word lists read better as running text
"""Splits a sentence into clauses with a subject and a verb each: coordination, relative clauses and apposition.

Nothing is split where that could change the meaning: inside conditions, reported speech, negated verb groups and
alternatives with `or`, and wherever the second part has no verb that the word list is sure of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.text.lexicon import verbs
from assay.text.lexicon.tokens import Token, inserted

MAX_TOKENS = 160
"""A sentence with more tokens is not split, so that the time stays linear in the length of a hostile text."""
_CONDITION = frozenset({"if", "when", "unless", "whenever", "whether", "until", "provided", "once", "because"})
_NEGATION = frozenset({"not", "never", "neither", "nor", "no", "without", "n't"})
_OBJECT_START = frozenset({"DET", "NUM", "NAME", "PRON", "QUOTE"})
_CLAUSAL = frozenset(
    "means meant allows allowed led leads makes made helps helped caused causes results resulted enables enabled "
    "ensures ensured suggests suggested shows showed indicates gives gave".split()
)
_STOP = frozenset({",", ";", ":", "AND", "BUT", "OR"})
_PLURAL = frozenset({"all", "both", "many", "several", "few", "these", "those"})
_FREE_RELATIVE = frozenset({"whoever", "whatever", "whichever", "what", "as", "so", "neither", "nor"})
"""Opening words of a clause that is part of a larger one or depends on the one before."""
_OPEN_ENDS = frozenset({"AUX", "PREP", "DET", "AND", "OR", "BUT", "SUB"})
_DEPENDENT_PRONOUNS = frozenset({"it", "they", "he", "she", "that", "this", "these", "those"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement: its words, some repeated from elsewhere in the sentence, and the range that it was read from."""

    tokens: tuple[Token, ...]
    start: int
    end: int


def clause_of(tokens: Sequence[Token], own: Sequence[Token]) -> Clause:
    """A clause of `tokens` whose range is that of `own`, the tokens that are not repeated from elsewhere."""
    placed = [t for t in own if t.start >= 0]
    return Clause(tuple(tokens), placed[0].start, placed[-1].end)


def stands_alone(tokens: Sequence[Token]) -> bool:
    """Whether the words are a complete sentence: a subject, a finite verb, and nothing left open at either end.

    A split is kept only if this holds for every part, so that no rule has to foresee every construction.
    """
    words = [t for t in tokens if t.tag not in {",", ".", "ASIDE"}]
    if len(words) < 3 or words[0].tag in {"SUB", "AND", "OR", "BUT"} or words[0].low in _FREE_RELATIVE:
        return False
    if words[-1].tag in _OPEN_ENDS or words[-1].low in _NEGATION or any(t.tag == ";" for t in words):
        return False
    return find_verb(words) > 0


def is_relative(tokens: Sequence[Token], i: int) -> bool:
    """Whether the word opens a relative clause or a that-clause."""
    low = tokens[i].low
    return tokens[i].tag == "SUB" or (low == "that" and i > 0 and tokens[i - 1].tag not in {"PREP", "AND", "OR"})


def _verb_follows(tokens: Sequence[Token], i: int) -> bool:
    """Whether a surer verb follows before the next boundary, which makes this word a noun or a participle."""
    for j in range(i + 1, len(tokens)):
        if tokens[j].tag in _STOP or is_relative(tokens, j):
            return False
        if tokens[j].tag in {"AUX", "V", "VA"} and tokens[j - 1].low != "to":
            return tokens[j].tag != "VA" or tokens[j - 1].tag not in {"DET", "PREP", "NUM"}
    return False


def is_finite(tokens: Sequence[Token], i: int) -> bool:
    """Whether the word at `i` can be the finite verb of the words before it."""
    token, before = tokens[i], tokens[i - 1]
    if before.low == "to" or before.tag in {"DET", "PREP"}:
        return token.tag == "AUX" and before.low != "to" and before.tag != "PREP"
    match token.tag:
        case "AUX":
            return True
        case "V":
            return True
        case "VA" if any(t.low in _PLURAL for t in tokens[:i]):
            return False  # `all EU states`
        case "VN" | "VA":
            return not _verb_follows(tokens, i)
        case "W":
            plural = before.low.endswith("s") and before.tag in {"W", "NAME", "VA"} and not before.low.endswith("ss")
            willing = before.low in {"i", "you", "we", "they"} or plural
            return willing and token.low in verbs.BASE and not _verb_follows(tokens, i)
        case _:
            return False


def find_verb(tokens: Sequence[Token]) -> int:
    """The index of the main verb, outside of relative clauses; -1 where there is none."""
    pending = 0
    i = 1
    while i < len(tokens):
        if is_relative(tokens, i):
            pending += 1
        elif is_finite(tokens, i):
            if not pending:
                return i
            pending -= 1
            while i + 1 < len(tokens) and tokens[i + 1].tag in {"AUX", "VN", "ADV"}:
                i += 1
        i += 1
    return -1


def subject_of(tokens: Sequence[Token], verb: int) -> list[Token]:
    """The words before the main verb, without the adverbs next to it."""
    end = verb
    while end > 1 and tokens[end - 1].tag in {"ADV", ","}:
        end -= 1
    if end < verb and tokens[end].tag == "," and any(t.tag == "," for t in tokens[:end]):
        end += 1  # the comma that closes an aside
    return list(tokens[:end])


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """The verb group of a clause."""

    first: int
    """Index of the finite word."""
    last: int
    """Index of the word that carries the meaning."""
    passive: bool
    negated: bool


def verb_group(tokens: Sequence[Token], first: int) -> VerbGroup:
    """The verb group that begins at the finite word."""
    last = first
    negated = tokens[first].low.replace("’", "'").endswith("n't") or tokens[first].low == "cannot"
    be = tokens[first].low in verbs.BE
    i = first + 1
    while tokens[first].tag == "AUX" and i < len(tokens):
        low = tokens[i].low
        if low in _NEGATION:
            negated = True
        elif low in {"be", "been", "being"}:
            be = True
            last = i
        elif tokens[i].tag not in {"ADV", "AUX"}:
            modal = tokens[first].low in verbs.MODAL | verbs.DO
            if low in verbs.PARTICIPLE or (modal and low in verbs.BASE):
                last = i
            break
        i += 1
    return VerbGroup(first, last, be and tokens[last].low in verbs.PARTICIPLE, negated)


def _past(tokens: Sequence[Token], group: VerbGroup) -> bool:
    low = tokens[group.first].low
    return low in {"was", "were", "had", "did"} or (low in verbs.PAST and tokens[group.first].tag != "AUX")


def _repeated_auxiliaries(tokens: Sequence[Token], group: VerbGroup, n: int) -> list[Token] | None:
    """The auxiliaries to repeat before the verb at `n`; none where the word is not a second verb of the subject."""
    token = tokens[n]
    following = tokens[n + 1] if n + 1 < len(tokens) else None
    has_object = following is not None and following.tag in _OBJECT_START
    open_end = following is None or following.tag in {"PREP", ",", "ADV"}
    aux = [t for t in tokens[group.first : group.last] if t.tag != "ADV"]
    if token.tag == "AUX":
        return []
    if token.tag == "V":
        return [] if has_object or open_end or token.low in verbs.THIRD | verbs.ONLY_PAST else None
    if token.tag == "VA":
        return [] if has_object and tokens[group.first].low not in verbs.MODAL else None
    if token.low in verbs.PARTICIPLE or token.tag == "VN":
        if group.negated and aux:
            return None
        if group.passive and open_end:
            return aux
        if tokens[group.first].low in verbs.HAVE and group.last > group.first and not group.passive:
            return aux if has_object or open_end else None
        sure = has_object or (open_end and tokens[group.first].tag != "AUX")
        return [] if sure and _past(tokens, group) and token.low in verbs.PAST else None
    if token.low in verbs.BASE and not group.negated:
        if tokens[group.first].low in verbs.MODAL and group.last > group.first and not group.passive:
            blocked = any(t.low == "to" for t in tokens[group.last : n])
            return aux if (has_object or open_end) and not blocked else None
        if tokens[group.first].tag == "W":
            return [] if has_object else None
    return None


def _agrees(subject: Sequence[Token], verb: Token) -> bool:
    """Whether the verb can agree in number with the subject, as far as their endings show."""
    last = subject[-1] if subject else verb
    plural = (
        last.low.endswith("s") or last.low in {"we", "you", "they", "people"} or any(t.tag == "AND" for t in subject)
    )
    return plural or last.low == "i" or verb.low not in {"are", "were", "have", "do"}


def _verb_between(tokens: Sequence[Token], anchor: int, k: int) -> bool:
    """Whether a verb that was not split off stands between the last verb and `k`, so that a new subject is possible."""
    begin = anchor + 1
    while begin < k and (tokens[begin].tag in {"AUX", "ADV"} and tokens[begin - 1].tag != "VN"):
        begin += 1
    return any(tokens[i].tag in {"AUX", "V"} and tokens[i - 1].low != "to" for i in range(begin, k))


def split_verbs(clause: Clause) -> list[Clause]:
    """Verb phrases that share a subject, each with the subject repeated."""
    tokens = clause.tokens
    verb = find_verb(tokens)
    if verb < 1 or any(t.low in _CONDITION or t.low in {"or", "either", "neither"} for t in tokens):
        return [clause]
    group = verb_group(tokens, verb)
    subject = subject_of(tokens, verb)
    cuts: list[tuple[int, int, list[Token]]] = []
    anchor = group.last
    for k in range(group.last + 1, len(tokens) - 1):
        comma = tokens[k].tag == ","
        if is_relative(tokens, k) or _verb_between(tokens, anchor, k):
            break
        if tokens[k].tag not in {"AND", "BUT"} and not comma:
            continue
        n = k + 1
        while n < len(tokens) - 1 and tokens[n].tag == "ADV":
            n += 1
        if k == group.last + 1 or not _agrees(subject, tokens[n]):
            continue  # `was born and raised in Oslo`: the place belongs to both verbs
        aux = _repeated_auxiliaries(tokens, group, n)
        if aux is None or (comma and (aux or tokens[n].tag not in {"V", "VN", "AUX"} or n + 1 >= len(tokens))):
            continue
        if comma and tokens[n].tag == "VN" and tokens[n + 1].tag not in _OBJECT_START:
            continue
        cuts.append((k, k + 1, aux))
        anchor = n
    if not cuts or all(tokens[k].tag == "," for k, _, _ in cuts) or tokens[cuts[-1][0]].tag == ",":
        return [clause]
    out = []
    begin, aux = 0, []
    for at, then, following in [*cuts, (len(tokens), len(tokens), [])]:
        own = list(tokens[begin:at])
        while own and own[-1].tag in {",", "AND"}:
            own.pop()
        if own:
            first = own if begin == 0 else [*subject, *aux, *own]
            out.append(clause_of(first, own))
        begin, aux = then, following
    return out


def _right_clause(tokens: Sequence[Token], k: int, comma: bool) -> bool:
    """Whether a clause with its own subject begins after the conjunction at `k`."""
    right = tokens[k + 1 :]
    if len(right) < 3 or right[0].tag not in {"PRON", "DET", "NAME", "NUM", "W", "QUOTE", "PREP", "VA"}:
        return False
    verb = find_verb(right[:12])
    if verb < 1 or any(t.tag in {"AND", "OR"} or is_relative(right, i) for i, t in enumerate(right[:verb]) if i):
        return False
    pronoun = right[0].tag == "PRON" and right[0].low not in {"this", "these", "those"}
    if pronoun and verb <= 2:
        return True
    if right[verb].low in {"are", "were", "have", "do"} and not right[verb - 1].low.endswith("s"):
        return False
    if right[0].tag == "VA":
        return verb == 1 and right[1].tag == "AUX"
    if right[0].tag in {"PREP", "W"}:
        return comma and right[verb].tag in {"AUX", "V"}
    return comma or (right[0].tag in {"DET", "NAME"} and right[verb].tag == "AUX")


def split_clauses(clause: Clause) -> list[Clause]:
    """Clauses with a subject of their own, split at `;`, `and`, `but`, `while` or `whereas`."""
    tokens, whole = clause.tokens, [clause]
    if any(t.low in _CONDITION for t in tokens):
        return whole
    cuts: list[tuple[int, int]] = []
    begin = 0
    for k in range(2, len(tokens) - 2):
        token = tokens[k]
        comma = tokens[k - 1].tag == "," or token.tag == ";"
        joins = token.tag in {"AND", "BUT", ";"} or (token.low in {"while", "whereas"} and comma)
        spliced = token.tag == "," and tokens[k + 1].low in {"he", "she", "it", "they"}
        if not (joins or spliced) or k <= begin:
            continue
        left = tokens[begin:k]
        verb = find_verb(left)
        if verb < 1 or any(t.low in verbs.SAYING for t in left):
            continue
        hidden = any(is_relative(left, i) for i in range(1, len(left))) or left[0].tag == "SUB"
        if spliced and left[0].tag in {"PREP", "SUB", "ADV"}:
            continue
        if (hidden and token.tag != ";") or not _right_clause(tokens, k, comma):
            continue
        cuts.append((k, k + 1))
        begin = k + 1
    if not cuts:
        return whole
    out = []
    begin = 0
    for at, then in [*cuts, (len(tokens), len(tokens))]:
        own = list(tokens[begin:at])
        while own and own[-1].tag in {",", ";"}:
            own.pop()
        out.append(clause_of(own, own))
        begin = then
    parted = _resolve_pronouns(out)
    # A clause with a pronoun that could mean more than one thing is not a statement of its own.
    leans = any(part.tokens[0].low in _DEPENDENT_PRONOUNS and find_verb(part.tokens) == 1 for part in parted[1:])
    return whole if leans else parted


_MAX_NAME = 5
_PLACE_PREPOSITIONS = frozenset({"in", "at", "of", "from", "near", "for", "to", "with", "on"})


def has_rival(tokens: Sequence[Token], after: int) -> bool:
    """Whether another name or person that a pronoun could refer to occurs from index `after` on."""
    for i in range(after, len(tokens)):
        begins = tokens[i].tag == "NAME" and tokens[i - 1].tag != "NAME"
        if begins and tokens[i - 1].low not in _PLACE_PREPOSITIONS:
            return True
        if tokens[i].low in {"he", "she", "they"}:
            return True
    return False


def is_person(subject: Sequence[Token]) -> bool:
    """Whether `he` or `she` can refer to the words: a name alone, without a possessive."""
    named = 0 < len(subject) <= _MAX_NAME and all(t.tag == "NAME" for t in subject)
    return named and not any(t.low.replace("’", "'").endswith(("'s", "s'")) for t in subject)


def _resolve_pronouns(clauses: list[Clause]) -> list[Clause]:
    """Replaces a pronoun that opens a later clause by the first clause's subject, if that is one plain phrase."""
    first = clauses[0].tokens
    subject = subject_of(first, find_verb(first))
    out = clauses[:1]
    for part in clauses[1:]:
        low = part.tokens[0].low
        plain = all(t.tag in {"DET", "NAME", "W", "NUM"} for t in subject) and bool(subject)
        plural = subject[-1].low.endswith("s") if subject else False
        names = is_person(subject) and not has_rival(first, len(subject) + 1)
        fits = (low == "it" and not plural) or (low == "they" and plural) or (low in {"he", "she"} and names)
        out.append(clause_of((*subject, *part.tokens[1:]), part.tokens) if plain and fits else part)
    return out


def _noun_phrase_before(tokens: Sequence[Token], end: int) -> list[Token]:
    """The noun phrase that ends right before `end`; empty where more than one reading is possible."""
    begin = end
    while begin > 0 and tokens[begin - 1].tag == "NAME":
        begin -= 1
    if begin == end:
        while begin > 0 and tokens[begin - 1].tag in {"W", "NAME"} and end - begin < 3:
            begin -= 1
        if begin == 0 or tokens[begin - 1].tag != "DET" or begin == end:
            return []
        begin -= 1
    elif begin > 0 and tokens[begin - 1].low in {"the", "a", "an"}:
        begin -= 1
    before = tokens[begin - 1] if begin > 0 else None
    if before is not None and before.tag in {"AND", "OR", ","}:
        return []
    if before is not None and before.tag == "PREP" and (begin < 2 or tokens[begin - 2].tag not in {"V", "VA", "VN"}):
        return []  # `the head of the firm, who`: either of two
    found = list(tokens[begin:end])
    if found[0].low in {"a", "an", "the"}:
        found[0] = inserted("The", "DET")
    return found


def _continues(rest: Sequence[Token]) -> bool:
    """Whether more than a list follows inside the clause: another verb, another relative clause, an alternative."""
    for i, token in enumerate(rest[:-1]):
        if token.tag in {"OR", ";", ":"} or (i > 0 and is_relative(rest, i)):
            return True
        if token.tag in {",", "AND", "BUT"}:
            following = rest[i + 1 : i + 12]
            if following[0].tag in {"AUX", "V", "VN", "VA", "ADV", "BUT"} or following[0].low in verbs.BASE:
                return True
            if token.tag != "," or following[0].tag != "AND":
                verb = find_verb(following)
                if verb > 0 and not any(t.tag in {",", "AND"} for t in following[:verb]):
                    return True
    return False


def _relative_at_end(clause: Clause) -> list[Clause] | None:
    """A relative clause at the end of the sentence."""
    tokens = clause.tokens
    for i in range(3, len(tokens) - 2):
        if tokens[i - 1].tag != ",":
            continue
        rest = tokens[i:]
        if tokens[i].low not in {"which", "who"}:
            continue
        head = _noun_phrase_before(tokens, i - 1)
        if not head or find_verb(tokens[: i - 1]) < 1 or _continues(rest):
            return None
        if is_finite([head[-1], *rest[1:]], 1) and rest[1].low not in _CLAUSAL:
            return [clause_of(tokens[: i - 1], tokens[: i - 1]), clause_of((*head, *rest[1:]), rest)]
        return None
    return None


def _relative_after_subject(clause: Clause) -> list[Clause] | None:
    """A relative clause or an apposition between the subject and its verb."""
    tokens = clause.tokens
    comma = next((i for i, t in enumerate(tokens[:12]) if t.tag == ","), -1)
    if comma < 1 or comma + 2 >= len(tokens):
        return None
    head, rest = list(tokens[:comma]), tokens[comma + 1 :]
    if head[0].tag not in {"NAME", "DET", "PRON"} or any(t.tag in {"PREP", "ADV"} and t.low != "of" for t in head):
        return None
    if find_verb(head) > 0:
        return None
    close = next((j for j in range(2, len(rest) - 1) if rest[j].tag == ","), -1)
    if close < 0:
        return None
    inner, outer = rest[:close], rest[close + 1 :]
    if outer[0].tag not in {"AUX", "V", "VN", "VA"} or _continues(inner):
        return None
    main = clause_of((*head, *outer), (*head, *outer))
    if inner[0].low in {"which", "who"} and len(inner) > 2 and is_finite([head[-1], *inner[1:]], 1):
        return [main, clause_of((*head, *inner[1:]), (*head, *inner))]
    if inner[0].low in {"a", "an", "the"} and head[-1].tag == "NAME" and find_verb(inner) < 1:
        past = outer[0].low in verbs.PAST | {"was", "were", "had"}
        be = inserted("was" if past else "is", "AUX")
        return [main, clause_of((*head, be, *inner), (*head, *inner))]
    return None


_STATIVE = frozenset("known located based owned situated used named called considered headquartered operated".split())


def _relative_of_predicate(clause: Clause) -> list[Clause] | None:
    """`X is a player who plays for Y`, `X is an actress known for Y`: what X is, and the rest as a second statement."""
    tokens = clause.tokens
    verb = find_verb(tokens)
    if verb < 1 or tokens[verb].low not in {"is", "was", "are", "were"} or verb + 3 >= len(tokens):
        return None
    if tokens[verb + 1].low not in {"a", "an"} or tokens[0].low in {"there", "it", "this", "that"}:
        return None
    subject = subject_of(tokens, verb)
    for i in range(verb + 3, len(tokens) - 2):
        if tokens[i].tag in {",", "PREP", "AND", "OR", ";"}:
            return None
        rest = tokens[i + 1 :]
        main = clause_of(tokens[:i], tokens[:i])
        if tokens[i].low in {"who", "which", "that"}:
            plain = is_finite([tokens[i - 1], *rest], 1) and rest[0].low not in _CLAUSAL and not _continues(rest)
            return [main, clause_of((*subject, *rest), rest)] if plain else None
        if tokens[i].low in verbs.PARTICIPLE and tokens[i + 1].tag == "PREP" and not _continues(rest):
            be = tokens[verb] if tokens[i].low in _STATIVE else inserted("was", "AUX")
            return [main, clause_of((*subject, be, *tokens[i:]), tokens[i:])]
    return None


_BIRTH_OR_FOUNDING = re.compile(r"\((born|died|founded|established)\s(?:on\s|in\s)?([^();]{4,60})\)")

_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?\b|[A-Z][a-z]{2,8}\.? \d{1,2}\b")


def _date_in_brackets(clause: Clause) -> list[Clause] | None:
    """`X (born 5 May 1960) is ...`, split into the statement and one of the date."""
    tokens = clause.tokens
    i = next((i for i, t in enumerate(tokens[:8]) if t.tag == "ASIDE"), -1)
    if i < 1 or any(t.tag not in {"NAME", "DET", "W", "QUOTE"} for t in tokens[:i]) or i + 1 >= len(tokens):
        return None
    match = _BIRTH_OR_FOUNDING.fullmatch(tokens[i].text)
    if match is None or find_verb([*tokens[:i], *tokens[i + 1 :]]) != i:
        return None
    when = match.group(2)
    preposition = "on" if _DAY.match(when) else "in"
    extra = inserted(f"{match.group(1)} {preposition} {when}")
    main = Clause((*tokens[:i], *tokens[i + 1 :]), clause.start, clause.end)
    return [main, clause_of((*tokens[:i], inserted("was", "AUX"), extra), (*tokens[:i], tokens[i]))]


def split_asides(clause: Clause) -> list[Clause]:
    """Splits off a date of birth, death or foundation in brackets after a name."""
    return _date_in_brackets(clause) or [clause]


def split_relatives(clause: Clause) -> list[Clause]:
    """Splits off a relative clause or an apposition as a statement of its own."""
    if any(t.low in _CONDITION for t in clause.tokens):
        return [clause]
    return _relative_after_subject(clause) or _relative_of_predicate(clause) or _relative_at_end(clause) or [clause]
