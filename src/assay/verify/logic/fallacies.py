"""Conclusions that do not follow by their form: the consequent affirmed, the antecedent denied, a quantifier misread.

    All A are B; x is B; therefore x is A.      If P, Q; Q; therefore P.         affirming the consequent
    All A are B; x is no A; therefore x is not B.                                denying the antecedent
    All A are B; all C are B; therefore all C are A.                             the middle term is not distributed
    All A are B; therefore all B are A.                                          a rule turned round
    Some A are B; therefore all A are B.     Some A are B; x is A; so x is B.    from some to all

Premises are what the text says before, in the same sentence, or what the evidence says. What can be derived
from them in any other way is no fault, nor is what is called probable.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Span
from assay.text.claims import stands_alone
from assay.text.lexicon import tokenise
from assay.text.sentences import Sentence, split_sentences
from assay.verify.logic.findings import LogicFinding
from assay.verify.logic.statements import Rule, Statement, begins_with_pronoun, read_rule, read_statement

_LEAD: Final = re.compile(
    r"[-*•>#\s]*(?:step\s\d{1,2}[.:)]\s*|\d{1,2}[.)]\s+|and\s)?"
    r"(?:(?:therefore|thus|hence|consequently|accordingly|ergo|as\sa\sresult|it\sfollows(?:\sfrom\sthis)?\sthat|"
    r"from\sthis\s(?:it\s)?follows(?:\sthat)?|this\s(?:means|implies|shows|proves)(?:\sthat)?|that\s(?:means|implies|shows|proves)(?:\sthat)?|"
    r"(?:so\s|thus\s|from\sthis,?\s)?(?:we|i|one|you)\s(?:can|may|must)?\s?(?:conclude|infer|deduce)\sthat|in\sconclusion|conclusion:|"
    r"so(?!\s(?:far|many|much|long|that|called|as|do|does|did|is|are|was|were|too|what|how|why|when|if)\b))\b,?:?\s+)(?:that\s)?",
    re.IGNORECASE,
)
_MIDDLE: Final = re.compile(
    r"(?:[,;]|\s[—–-])\s+(?:and\s)?(?:therefore|thus|hence|consequently|so(?!\s(?:that|as|far|long|much|many|do|does|is|are)\b)|"
    r"which\s(?:means|implies|shows|proves)(?:\sthat)?|from\swhich\sit\sfollows\sthat|it\sfollows\sthat|meaning(?:\sthat)?)\b,?\s+",
    re.IGNORECASE,
)
_WITHIN: Final = re.compile(r",?\s(?:therefore|thus|hence|consequently),?\s", re.IGNORECASE)
_BECAUSE_FIRST: Final = re.compile(
    r"(?:because|since|given\sthat|as)\s([^.;]{6,300}?),\s([^,;]{4,160})$", re.IGNORECASE
)
_BECAUSE: Final = re.compile(
    r"([^;]{4,160}?),?\s(?:because|since|given\sthat|for\sthe\sreason\sthat|for)\s(.{4,300})$", re.IGNORECASE
)
_PIECES: Final = re.compile(
    r";\s(?:and\s)?|,\s(?:and|but)\s|\sand\s(?=(?:all|every|no|some|if|not|the|this|[A-Z]))|,\s(?=(?:all|every|if|whenever)\s)"
)
_HEDGED: Final = re.compile(
    r"\b(?:probabl[ey]|likely|may|might|could|possibl[ey]|perhaps|maybe|suggests?|seems?|appears?|not\snecessarily|presumably|"
    r"plausibl[ey]|unless|should|suspect|assume|hypothes[ie]s|expect\w*|chance|if|whether|would)\b|\?",
    re.IGNORECASE,
)
"""Words with which a conclusion is none that is claimed to follow."""
_TALKS_OF_LOGIC: Final = re.compile(
    r"\b(?:fallac\w+|non\ssequitur|invalid\w*|unsound|does(?:\snot|n[’']t)\s(?:logically\s)?follow|converse|affirming\sthe|"
    r"denying\sthe|syllogism|logically\sincorrect|wrong(?:ly)?\sconclu\w+|mistak\w+|necessarily)\b",
    re.IGNORECASE,
)
_CONDITIONAL: Final = re.compile(
    r"\b(?:only|if|when\w*|who\w*|unless|provided|vice\sversa|conversely)\b", re.IGNORECASE
)
_YOU: Final = re.compile(r"\b(?:you|your|yours|we|our|i|my)\b", re.IGNORECASE)
_ENTITLED: Final = re.compile(
    r"\b(?:may|can|entitle\w*|eligib\w+|qualif\w+|must|need\w*|have\sto|has\sto|requir\w+|allow\w*|permit\w*|refund\w*|"
    r"pay\w*|paid|charge\w*|fees?|appl(?:y|ies|ied))\b",
    re.IGNORECASE,
)
"""What a rule of conduct gives or asks: "if A, you may B" is commonly meant to say that without A you may not."""
_FULL_STOP: Final = re.compile(r"(?<=[a-z]{2})[.!]\s+(?=[A-Z])")
_SURE_STOP: Final = re.compile(r"(?<=[a-z]{4})[.!]\s")
"""A full stop behind a word too long for an abbreviation."""
_SAID_FIRST: Final = re.compile(
    r"\s*(?:(?:now|but|and|yet|well|indeed|in\sfact|as\sit\s(?:happens|happened|turns\sout)|today|here|clearly),?\s)?"
    r"(?:(?:(?:we|i|you|they)\s(?:now\s|also\s)?(?:know|see|saw|found|find|learned|learnt|observe|observed|hear|heard|(?:are|were)\stold)|"
    r"it\s(?:is|was)\s(?:true|known|clear|given|a\sfact|certain)|it\sturn(?:s|ed)\sout|suppose|the\sfact\sis|"
    r"note|observe)(?:\sthat)?,?\s)?",
    re.IGNORECASE,
)
"""What may stand before a fact without being a part of it: "We know that the match is cancelled"."""
_LAST: Final = re.compile(r",?\s(?:then|therefore|thus|hence|consequently)[.!]?\s*$", re.IGNORECASE)
_MARKER: Final = re.compile(r"[-*•>\s]{0,8}(?:\d{1,2}[.)]\s+)?")
_BACK: Final = 12
"""Statements before a conclusion that it may rest on."""
_MOST_CONCLUSIONS: Final = 100
_MOST_RULES: Final = 100
"""Rules of the evidence that are read."""
_MOST_EVIDENCE: Final = 100_000
"""Characters of the evidence that are read."""
_MOST_FACTS: Final = 60
"""Facts of the evidence that are looked at for one conclusion."""
_SHORT_FACT: Final = 12
"""Stems of a fact of the evidence that may be an instance of a rule."""
_MOST_CHAINED: Final = 12
"""Rules of which pairs are read together."""
_LONGEST: Final = 400
_ROUNDS: Final = 4
_CONFIDENCE: Final = 0.9


@dataclass(frozen=True, slots=True)
class _Premise:
    span: Span | None
    """Its place in the text; none for what the evidence says."""
    text: str
    rule: Rule | None
    fact: Statement


def form_findings(text: str, sentences: Sequence[Sentence], evidence: Sequence[str] = ()) -> list[LogicFinding]:
    """Conclusions of a text that do not follow by their form.

    Args:
        text: the text.
        sentences: those of the text.
        evidence: texts whose rules count as premises too.

    >>> text = "All managers wear badges. Ada wears a badge. Therefore, Ada is a manager."
    >>> [found.message for found in form_findings(text, split_sentences(text))]
    ['“Ada is a manager” does not follow from “All managers wear badges”: only the result of that rule is given.']
    """
    given: list[_Premise] = []
    outside: _Outside | None = None
    found: list[LogicFinding] = []
    asked = 0
    for start, end in _stretches(text, sentences):
        words = text[start:end]
        premises, conclusion = _parts(words, start)
        given += premises
        if conclusion is None or asked >= _MOST_CONCLUSIONS:
            continue
        if outside is None:
            outside = _Outside.read(evidence)
        asked += 1
        span, said = conclusion
        near = text[max(0, start - 300) : end + 200]
        if _HEDGED.search(said) is None and _TALKS_OF_LOGIC.search(near) is None:
            finding = _judge(span, said, given[-_BACK:], outside)
            found += [finding] if finding is not None else []
        given.append(_premise(span, said))
    return found


def _stretches(text: str, sentences: Sequence[Sentence]) -> Iterator[tuple[int, int]]:
    """The places of the sentences, cut once more where a full stop before a capital was taken for an abbreviation."""
    for sentence in sentences:
        if sentence.block in {"code", "table_row", "heading"} or sentence.end - sentence.start > _LONGEST:
            continue
        marker = _MARKER.match(text, sentence.start, sentence.end)
        at = marker.end() if marker is not None else sentence.start
        for match in _FULL_STOP.finditer(text, sentence.start, sentence.end):
            if not _ends_here(text, match, sentence.end):
                continue
            yield at, match.start() + 1
            at = match.end()
        yield at, sentence.end


def _ends_here(text: str, stop: re.Match[str], end: int) -> bool:
    """Whether a full stop ends a sentence: behind a long word, or where what follows is a sentence of its own.

    The splitter takes "car." and "bus." before a name for abbreviations, as it has to take "fig." and "no.".
    """
    if _SURE_STOP.match(text, stop.start(), stop.end()) is not None:
        return True
    following = text[stop.end() : end]
    lead = _LEAD.match(following)
    rest = following[lead.end() :] if lead is not None else following
    first = _FULL_STOP.search(rest)
    return stands_alone(tokenise(rest if first is None else rest[: first.start()]))


def _premise(span: Span | None, words: str) -> _Premise:
    rule = read_rule(words)
    fact = words if rule is not None else words[_SAID_FIRST.match(words).end() :]  # type: ignore[union-attr]
    return _Premise(span, words, rule, read_statement(fact))


@dataclass(frozen=True, slots=True)
class _Outside:
    """What the evidence says, so that only what concerns a conclusion is looked at."""

    rules: tuple[_Premise, ...]
    stated: frozenset[Statement]
    by_stem: Mapping[str, tuple[_Premise, ...]]

    @classmethod
    def read(cls, evidence: Sequence[str]) -> "_Outside":
        """The rules and facts of the first characters of the evidence."""
        rules: list[_Premise] = []
        facts: list[_Premise] = []
        for premise in _premises_of(evidence):
            (rules if premise.rule is not None else facts).append(premise)
        by_stem: dict[str, list[_Premise]] = defaultdict(list)
        for fact in facts:
            for one in fact.fact.stems if len(fact.fact.stems) <= _SHORT_FACT else ():
                by_stem[one].append(fact)
        kept = {one: tuple(found[:_MOST_FACTS]) for one, found in by_stem.items()}
        return cls(tuple(rules[:_MOST_RULES]), frozenset(fact.fact for fact in facts), kept)

    def about(self, conclusion: Statement) -> list[_Premise]:
        """The rules, and the facts that share a word with a conclusion."""
        facts = {id(fact): fact for one in sorted(conclusion.stems) for fact in self.by_stem.get(one, ())}
        return [*self.rules, *list(facts.values())[:_MOST_FACTS]]


def _premises_of(evidence: Sequence[str]) -> Iterator[_Premise]:
    left = _MOST_EVIDENCE
    for text in evidence:
        for sentence in split_sentences(text[: max(0, left)]):
            if sentence.end - sentence.start <= _LONGEST:
                yield _premise(None, text[sentence.start : sentence.end])
        left -= len(text)


def _parts(words: str, at: int) -> tuple[list[_Premise], tuple[Span, str] | None]:
    """What a sentence gives as premises, and what it concludes from them."""
    lead = _LEAD.match(words)
    if lead is not None:
        rest = words[lead.end() :]
        because = _BECAUSE.fullmatch(rest.rstrip(". "))
        if because is not None:
            reasons = _pieces(because.group(2), at + lead.end() + because.start(2))
            return reasons, _place(because.group(1), at + lead.end())
        return [], _place(rest, at + lead.end())
    middle = max(_MIDDLE.finditer(words), key=re.Match.start, default=None)
    if middle is not None:
        return _pieces(words[: middle.start()], at), _place(words[middle.end() :], at + middle.end())
    first = _BECAUSE_FIRST.match(words.rstrip(". "))
    if first is not None:
        return _pieces(first.group(1), at + first.start(1)), _place(first.group(2), at + first.start(2))
    last = _LAST.search(words)
    if last is not None and last.start() > 0 and not words.lower().startswith(("if ", "when ")):
        return [], _place(words[: last.start()], at)
    within = _WITHIN.search(words)
    if within is not None and within.start() > 0:
        return [], (Span(start=at, end=at + len(words)), words[: within.start()] + " " + words[within.end() :])
    because = _BECAUSE.fullmatch(words.rstrip(". "))
    if because is not None:
        return _pieces(because.group(2), at + because.start(2)), _place(because.group(1), at)
    return _pieces(words, at), None


def _place(words: str, at: int) -> tuple[Span, str] | None:
    stripped = words.rstrip()
    return (Span(start=at, end=at + len(stripped)), stripped) if len(stripped) > 5 else None


def _pieces(words: str, at: int) -> list[_Premise]:
    """The statements of one sentence; a rule with an "if" is one."""
    whole = _premise(Span(start=at, end=at + len(words)), words)
    if whole.rule is not None:
        return [whole]
    edges = [0, *(edge for m in _PIECES.finditer(words) for edge in m.span()), len(words)]
    found = [
        _premise(Span(start=at + a, end=at + b), words[a:b])
        for a, b in zip(edges[::2], edges[1::2], strict=True)
        if b - a > 4
    ]
    return found if len(found) > 1 else [whole]


def _judge(span: Span, said: str, given: Sequence[_Premise], outside: _Outside) -> LogicFinding | None:
    rule = read_rule(said)
    if rule is not None and rule.general:
        return _general(span, said, rule, [*given, *outside.rules])
    conclusion = read_statement(said)
    if not conclusion.stems or rule is not None or conclusion in outside.stated:
        return None
    return _particular(span, said, conclusion, [*given, *outside.about(conclusion)])


def _particular(span: Span, said: str, conclusion: Statement, premises: Sequence[_Premise]) -> LogicFinding | None:
    facts = [p for p in premises if p.rule is None and p.fact.stems]
    rules = [p for p in premises if p.rule is not None]
    rules += _in_turn(rules)
    pronoun = begins_with_pronoun(said)
    hits = [
        (p, fact, kind)
        for p in rules
        if p.rule is not None and not p.rule.both_ways
        for fact in facts
        if (kind := _misused(p.rule, fact, conclusion, pronoun, said, p.text)) is not None
    ]
    if not hits or _derivable(conclusion, [p.rule for p in rules if p.rule is not None], facts, pronoun):
        return None
    rule, fact, kind = hits[-1]
    if any(_may_lead_there(p, conclusion, rule) for p in premises if p is not rule and p is not fact):
        return None
    places = tuple(p.span for p in (rule, fact) if p.span is not None)
    return _finding(span, said, kind, places, rule.text)


def _in_turn(rules: Sequence[_Premise]) -> list[_Premise]:
    """Of two rules of which the first gives what the second asks, the one that they make together."""
    found = []
    for first in rules[:_MOST_CHAINED]:
        for second in rules[:_MOST_CHAINED]:
            one, other = first.rule, second.rule
            if one is None or other is None or one.result != other.condition or one.condition == other.result:
                continue
            if one.general == other.general and (one.amount, other.amount) == ("all", "all"):
                both = Rule(one.condition, other.result, one.general, both_ways=one.both_ways and other.both_ways)
                found.append(_Premise(first.span, first.text, both, first.fact))
    return found


def _may_lead_there(premise: _Premise, conclusion: Statement, misused: _Premise) -> bool:
    """Whether another premise mentions what is concluded, in a way that is not understood well enough to say no."""
    if misused.rule is None or (premise.rule is not None and premise.rule.condition == misused.rule.condition):
        return False
    parts = (misused.rule.condition.stems, misused.rule.result.stems)
    claimed = next((part for part in parts if part <= conclusion.stems), conclusion.stems)
    goal = premise.rule.result.stems if premise.rule is not None else premise.fact.stems
    if premise.span is None and premise.rule is None and not (conclusion.stems - claimed) & goal:
        return claimed <= goal and _CONDITIONAL.search(premise.text) is not None  # else it tells the rule once more
    return claimed <= goal


def _misused(rule: Rule, fact: _Premise, conclusion: Statement, pronoun: bool, said: str, stated: str) -> str | None:
    """How a rule and a fact are misread to come to a conclusion; none where they are not."""

    def same(held: Statement, part: Statement) -> bool:
        return _same_subject(fact, conclusion, held, part, rule.general, pronoun)

    if rule.amount == "all":
        if _has(fact.fact, rule.result) and _has(conclusion, rule.condition) and same(rule.result, rule.condition):
            return "affirmed"
        denies = _has(fact.fact, rule.condition.negated()) and _has(conclusion, rule.result.negated())
        if denies and same(rule.condition, rule.result) and not (_YOU.search(said) or _ENTITLED.search(stated)):
            return "denied"
        return None
    reached = _has(fact.fact, rule.condition) and _has(conclusion, rule.result)
    return "some" if reached and same(rule.condition, rule.result) else None


def _has(statement: Statement, part: Statement) -> bool:
    return part.stems <= statement.stems and part.denied == statement.denied


def _same_subject(
    fact: _Premise, conclusion: Statement, held: Statement, part: Statement, general: bool, pronoun: bool
) -> bool:
    """Whether fact and conclusion are about the same thing: what is left of them without the rule's words."""
    first, second = fact.fact.stems - held.stems, conclusion.stems - part.stems
    if not general:
        return not first and not second
    if first == second:
        return bool(first) or (pronoun and begins_with_pronoun(fact.text))
    return not second and pronoun and len(first) <= 3


def _derivable(conclusion: Statement, rules: Sequence[Rule], facts: Sequence[_Premise], pronoun: bool) -> bool:
    """Whether a conclusion is stated, or follows by rules in their own direction or denied backwards."""
    known = {p.fact for p in facts}
    if conclusion in known:
        return True
    for _ in range(_ROUNDS):
        new = set()
        for rule in rules:
            if rule.amount != "all":
                continue
            ways = [(rule.condition, rule.result), (rule.result.negated(), rule.condition.negated())]
            if rule.both_ways:
                ways += [(rule.result, rule.condition), (rule.condition.negated(), rule.result.negated())]
            for start, goal in ways:
                for fact in known:
                    if _has(fact, start) and (rule.general or fact.stems == start.stems):
                        new.add(Statement((fact.stems - start.stems) | goal.stems, goal.denied))
        if new <= known:
            break
        known |= new
        if len(known) > 200:
            break
    if conclusion in known:
        return True
    return pronoun and any(conclusion.stems <= fact.stems and fact.denied == conclusion.denied for fact in known)


def _general(span: Span, said: str, rule: Rule, premises: Sequence[_Premise]) -> LogicFinding | None:
    """A conclusion about all or some of a kind."""
    rules = [p for p in premises if p.rule is not None and p.rule.general]
    if any(p.rule is not None and p.rule.both_ways for p in rules):
        return None
    if rule.amount != "all" or _chained(rule, rules):
        return None
    for first in rules:
        one = first.rule
        if one is None:
            continue
        if one.amount != "all":
            if one.condition == rule.condition and one.result == rule.result:
                return _finding(span, said, "some_all", _places(first), first.text)
            continue
        if (
            one.condition.stems == rule.result.stems
            and one.result.stems == rule.condition.stems
            and not one.result.denied
            and not rule.result.denied
        ):
            return _finding(span, said, "turned", _places(first), first.text)
        for second in rules:
            other = second.rule
            if other is None or other.amount != "all" or other is one:
                continue
            middle = one.result == other.result and not one.result.denied
            if (
                middle
                and one.condition.stems == rule.result.stems
                and other.condition.stems == rule.condition.stems
                and not rule.result.denied
            ):
                return _finding(span, said, "middle", _places(first, second), first.text)
    return None


def _places(*premises: _Premise) -> tuple[Span, ...]:
    return tuple(p.span for p in premises if p.span is not None)


def _chained(rule: Rule, premises: Sequence[_Premise]) -> bool:
    """Whether a general conclusion follows by chaining general rules, or is itself given."""
    reached = {rule.condition}
    for _ in range(_ROUNDS):
        for p in premises:
            one = p.rule
            if one is None or one.amount != "all":
                continue
            if one.condition in reached:
                reached.add(one.result)
            if one.result.negated() in reached:
                reached.add(one.condition.negated())
    return rule.result in reached


_WHY: Final = {
    "affirmed": "only the result of that rule is given",
    "denied": "that its condition is not met says nothing of its result",
    "some": "what holds of some need not hold of this one",
    "some_all": "what holds of some need not hold of all",
    "turned": "the rule is turned round",
    "middle": "that both share a property makes neither the other",
}


def _finding(span: Span, said: str, kind: str, places: tuple[Span, ...], rule: str) -> LogicFinding:
    quoted = " ".join(said.split())[:80].rstrip(".")
    stated = " ".join(rule.split())[:80].rstrip(".")
    message = f"“{quoted}” does not follow from “{stated}”: {_WHY[kind]}."
    return LogicFinding("logic.invalid_form", message, span, places, _CONFIDENCE)
