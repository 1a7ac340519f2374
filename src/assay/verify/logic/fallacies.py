"""Finds formal fallacies: affirming the consequent, denying the antecedent, misreading a quantifier.

    All A are B; x is B; therefore x is A.      If P, Q; Q; therefore P.         affirming the consequent
    All A are B; x is no A; therefore x is not B.                                denying the antecedent
    All A are B; all C are B; therefore all C are A.                             the middle term is not distributed
    All A are B; therefore all B are A.                                          a rule reversed
    Some A are B; therefore all A are B.     Some A are B; x is A; so x is B.    from some to all

Premises are earlier sentences of the text, clauses of the same sentence, and the evidence. A conclusion that can be
derived from them in another way is no fault, nor is one that is stated as probable.
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

_CUE_AT_START: Final = re.compile(
    r"[-*•>#\s]*(?:step\s\d{1,2}[.:)]\s*|\d{1,2}[.)]\s+|and\s)?"
    r"(?:(?:therefore|thus|hence|consequently|accordingly|ergo|as\sa\sresult|it\sfollows(?:\sfrom\sthis)?\sthat|"
    r"from\sthis\s(?:it\s)?follows(?:\sthat)?|this\s(?:means|implies|shows|proves)(?:\sthat)?|that\s(?:means|implies|shows|proves)(?:\sthat)?|"
    r"(?:so\s|thus\s|from\sthis,?\s)?(?:we|i|one|you)\s(?:can|may|must)?\s?(?:conclude|infer|deduce)\sthat|in\sconclusion|conclusion:|"
    r"so(?!\s(?:far|many|much|long|that|called|as|do|does|did|is|are|was|were|too|what|how|why|when|if)\b))\b,?:?\s+)(?:that\s)?",
    re.IGNORECASE,
)
_CUE_WITHIN: Final = re.compile(
    r"(?:[,;]|\s[—–-])\s+(?:and\s)?(?:therefore|thus|hence|consequently|so(?!\s(?:that|as|far|long|much|many|do|does|is|are)\b)|"
    r"which\s(?:means|implies|shows|proves)(?:\sthat)?|from\swhich\sit\sfollows\sthat|it\sfollows\sthat|meaning(?:\sthat)?)\b,?\s+",
    re.IGNORECASE,
)
_CUE_INSIDE: Final = re.compile(r",?\s(?:therefore|thus|hence|consequently),?\s", re.IGNORECASE)
_BECAUSE_FIRST: Final = re.compile(
    r"(?:because|since|given\sthat|as)\s([^.;]{6,300}?),\s([^,;]{4,160})$", re.IGNORECASE
)
_BECAUSE: Final = re.compile(
    r"([^;]{4,160}?),?\s(?:because|since|given\sthat|for\sthe\sreason\sthat|for)\s(.{4,300})$", re.IGNORECASE
)
_CLAUSE_JOINT: Final = re.compile(
    r";\s(?:and\s)?|,\s(?:and|but)\s|\sand\s(?=(?:all|every|no|some|if|not|the|this|[A-Z]))|,\s(?=(?:all|every|if|whenever)\s)"
)
_HEDGE: Final = re.compile(
    r"\b(?:probabl[ey]|likely|may|might|could|possibl[ey]|perhaps|maybe|suggests?|seems?|appears?|not\snecessarily|presumably|"
    r"plausibl[ey]|unless|should|suspect|assume|hypothes[ie]s|expect\w*|chance|if|whether|would)\b|\?",
    re.IGNORECASE,
)
"""Words with which a conclusion does not claim to follow strictly."""
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
"""Words of rights and duties: "if A, you may B" commonly implies that without A you may not."""
_FULL_STOP: Final = re.compile(r"(?<=[a-z]{2})[.!]\s+(?=[A-Z])")
_SURE_STOP: Final = re.compile(r"(?<=[a-z]{4})[.!]\s")
"""A full stop after a word that is too long for an abbreviation."""
_FACT_LEAD: Final = re.compile(
    r"\s*(?:(?:now|but|and|yet|well|indeed|in\sfact|as\sit\s(?:happens|happened|turns\sout)|today|here|clearly),?\s)?"
    r"(?:(?:(?:we|i|you|they)\s(?:now\s|also\s)?(?:know|see|saw|found|find|learned|learnt|observe|observed|hear|heard|(?:are|were)\stold)|"
    r"it\s(?:is|was)\s(?:true|known|clear|given|a\sfact|certain)|it\sturn(?:s|ed)\sout|suppose|the\sfact\sis|"
    r"note|observe)(?:\sthat)?,?\s)?",
    re.IGNORECASE,
)
"""Words before a fact that are not a part of it: "We know that the match is cancelled"."""
_CUE_AT_END: Final = re.compile(r",?\s(?:then|therefore|thus|hence|consequently)[.!]?\s*$", re.IGNORECASE)
_MARKER: Final = re.compile(r"[-*•>\s]{0,8}(?:\d{1,2}[.)]\s+)?")
_PREMISES_BEFORE: Final = 12
"""How many statements before a conclusion may be its premises."""
_MOST_CONCLUSIONS: Final = 100
"""The most conclusions of a text that are checked."""
_MOST_RULES: Final = 100
"""The most rules of the evidence that are premises."""
_MOST_EVIDENCE: Final = 100_000
"""Characters of the evidence that are read."""
_MOST_FACTS: Final = 60
"""The most facts of the evidence that are premises of one conclusion."""
_SHORT_FACT: Final = 12
"""The most stems of a fact of the evidence that may be an instance of a rule."""
_MOST_CHAINED: Final = 12
"""The most rules that are combined in pairs."""
_LONGEST: Final = 400
_ROUNDS: Final = 4
_CONFIDENCE: Final = 0.9


@dataclass(frozen=True, slots=True)
class _Premise:
    span: Span | None
    """Its place in the text; none for a premise of the evidence."""
    text: str
    rule: Rule | None
    fact: Statement


def form_findings(text: str, sentences: Sequence[Sentence], evidence: Sequence[str] = ()) -> list[LogicFinding]:
    """The conclusions of a text that do not follow by their form.

    Args:
        text: the text.
        sentences: the sentences of the text.
        evidence: texts whose rules and facts are premises too.

    >>> text = "All managers wear badges. Ada wears a badge. Therefore, Ada is a manager."
    >>> [found.message for found in form_findings(text, split_sentences(text))]
    ['“Ada is a manager” does not follow from “All managers wear badges”: only the result of that rule is given.']
    """
    premises: list[_Premise] = []
    evidence_premises: _EvidencePremises | None = None
    findings: list[LogicFinding] = []
    conclusions = 0
    for start, end in _sentence_ranges(text, sentences):
        words = text[start:end]
        new_premises, conclusion = _premises_and_conclusion(words, start)
        premises += new_premises
        if conclusion is None or conclusions >= _MOST_CONCLUSIONS:
            continue
        if evidence_premises is None:
            evidence_premises = _EvidencePremises.read(evidence)
        conclusions += 1
        span, conclusion_text = conclusion
        context = text[max(0, start - 300) : end + 200]
        if _HEDGE.search(conclusion_text) is None and _TALKS_OF_LOGIC.search(context) is None:
            finding = _judge(span, conclusion_text, premises[-_PREMISES_BEFORE:], evidence_premises)
            findings += [finding] if finding is not None else []
        premises.append(_read_premise(span, conclusion_text))
    return findings


def _sentence_ranges(text: str, sentences: Sequence[Sentence]) -> Iterator[tuple[int, int]]:
    """The ranges of the sentences, split again where a full stop before a capital was taken for an abbreviation."""
    for sentence in sentences:
        if sentence.block in {"code", "table_row", "heading"} or sentence.end - sentence.start > _LONGEST:
            continue
        marker = _MARKER.match(text, sentence.start, sentence.end)
        start = marker.end() if marker is not None else sentence.start
        for match in _FULL_STOP.finditer(text, sentence.start, sentence.end):
            if not _ends_sentence(text, match, sentence.end):
                continue
            yield start, match.start() + 1
            start = match.end()
        yield start, sentence.end


def _ends_sentence(text: str, stop: re.Match[str], end: int) -> bool:
    """Whether a full stop ends a sentence: after a long word, or before a complete sentence.

    The splitter treats "car." and "bus." before a name as abbreviations, as it must treat "fig." and "no.".
    """
    if _SURE_STOP.match(text, stop.start(), stop.end()) is not None:
        return True
    following = text[stop.end() : end]
    lead = _CUE_AT_START.match(following)
    rest = following[lead.end() :] if lead is not None else following
    first = _FULL_STOP.search(rest)
    return stands_alone(tokenise(rest if first is None else rest[: first.start()]))


def _read_premise(span: Span | None, words: str) -> _Premise:
    rule = read_rule(words)
    fact = words if rule is not None else words[_FACT_LEAD.match(words).end() :]  # type: ignore[union-attr]
    return _Premise(span, words, rule, read_statement(fact))


@dataclass(frozen=True, slots=True)
class _EvidencePremises:
    """The rules and facts of the evidence, indexed so that only relevant facts are tried for a conclusion."""

    rules: tuple[_Premise, ...]
    stated: frozenset[Statement]
    by_stem: Mapping[str, tuple[_Premise, ...]]

    @classmethod
    def read(cls, evidence: Sequence[str]) -> "_EvidencePremises":
        """The rules and facts of the first characters of the evidence."""
        rules: list[_Premise] = []
        facts: list[_Premise] = []
        for premise in _premises_of(evidence):
            (rules if premise.rule is not None else facts).append(premise)
        by_stem: dict[str, list[_Premise]] = defaultdict(list)
        for fact in facts:
            for stem in fact.fact.stems if len(fact.fact.stems) <= _SHORT_FACT else ():
                by_stem[stem].append(fact)
        kept = {stem: tuple(facts_[:_MOST_FACTS]) for stem, facts_ in by_stem.items()}
        return cls(tuple(rules[:_MOST_RULES]), frozenset(fact.fact for fact in facts), kept)

    def about(self, conclusion: Statement) -> list[_Premise]:
        """The rules, and the facts that share a word with a conclusion."""
        facts = {id(fact): fact for stem in sorted(conclusion.stems) for fact in self.by_stem.get(stem, ())}
        return [*self.rules, *list(facts.values())[:_MOST_FACTS]]


def _premises_of(evidence: Sequence[str]) -> Iterator[_Premise]:
    characters_left = _MOST_EVIDENCE
    for text in evidence:
        for sentence in split_sentences(text[: max(0, characters_left)]):
            if sentence.end - sentence.start <= _LONGEST:
                yield _read_premise(None, text[sentence.start : sentence.end])
        characters_left -= len(text)


def _premises_and_conclusion(words: str, at: int) -> tuple[list[_Premise], tuple[Span, str] | None]:
    """The premises of a sentence and its conclusion, if it draws one."""
    lead = _CUE_AT_START.match(words)
    if lead is not None:
        rest = words[lead.end() :]
        because = _BECAUSE.fullmatch(rest.rstrip(". "))
        if because is not None:
            reasons = _clause_premises(because.group(2), at + lead.end() + because.start(2))
            return reasons, _stripped_span(because.group(1), at + lead.end())
        return [], _stripped_span(rest, at + lead.end())
    middle = max(_CUE_WITHIN.finditer(words), key=re.Match.start, default=None)
    if middle is not None:
        return _clause_premises(words[: middle.start()], at), _stripped_span(words[middle.end() :], at + middle.end())
    first = _BECAUSE_FIRST.match(words.rstrip(". "))
    if first is not None:
        return _clause_premises(first.group(1), at + first.start(1)), _stripped_span(
            first.group(2), at + first.start(2)
        )
    last = _CUE_AT_END.search(words)
    if last is not None and last.start() > 0 and not words.lower().startswith(("if ", "when ")):
        return [], _stripped_span(words[: last.start()], at)
    within = _CUE_INSIDE.search(words)
    if within is not None and within.start() > 0:
        return [], (Span(start=at, end=at + len(words)), words[: within.start()] + " " + words[within.end() :])
    because = _BECAUSE.fullmatch(words.rstrip(". "))
    if because is not None:
        return _clause_premises(because.group(2), at + because.start(2)), _stripped_span(because.group(1), at)
    return _clause_premises(words, at), None


def _stripped_span(words: str, at: int) -> tuple[Span, str] | None:
    stripped = words.rstrip()
    return (Span(start=at, end=at + len(stripped)), stripped) if len(stripped) > 5 else None


def _clause_premises(words: str, at: int) -> list[_Premise]:
    """The statements of one sentence; a rule with "if" is a single one."""
    whole = _read_premise(Span(start=at, end=at + len(words)), words)
    if whole.rule is not None:
        return [whole]
    edges = [0, *(edge for m in _CLAUSE_JOINT.finditer(words) for edge in m.span()), len(words)]
    premises = [
        _read_premise(Span(start=at + a, end=at + b), words[a:b])
        for a, b in zip(edges[::2], edges[1::2], strict=True)
        if b - a > 4
    ]
    return premises if len(premises) > 1 else [whole]


def _judge(
    span: Span, conclusion_text: str, premises: Sequence[_Premise], evidence_premises: _EvidencePremises
) -> LogicFinding | None:
    rule = read_rule(conclusion_text)
    if rule is not None and rule.general:
        return _judge_general(span, conclusion_text, rule, [*premises, *evidence_premises.rules])
    conclusion = read_statement(conclusion_text)
    if not conclusion.stems or rule is not None or conclusion in evidence_premises.stated:
        return None
    return _judge_particular(span, conclusion_text, conclusion, [*premises, *evidence_premises.about(conclusion)])


def _judge_particular(
    span: Span, conclusion_text: str, conclusion: Statement, premises: Sequence[_Premise]
) -> LogicFinding | None:
    facts = [p for p in premises if p.rule is None and p.fact.stems]
    rules = [p for p in premises if p.rule is not None]
    rules += _combine_rules(rules)
    pronoun = begins_with_pronoun(conclusion_text)
    hits = [
        (p, fact, kind)
        for p in rules
        if p.rule is not None and not p.rule.both_ways
        for fact in facts
        if (kind := _fallacy_kind(p.rule, fact, conclusion, pronoun, conclusion_text, p.text)) is not None
    ]
    if not hits or _is_derivable(conclusion, [p.rule for p in rules if p.rule is not None], facts, pronoun):
        return None
    rule, fact, kind = hits[-1]
    if any(_may_support(p, conclusion, rule) for p in premises if p is not rule and p is not fact):
        return None
    places = tuple(p.span for p in (rule, fact) if p.span is not None)
    return _finding(span, conclusion_text, kind, places, rule.text)


def _combine_rules(rules: Sequence[_Premise]) -> list[_Premise]:
    """The combinations of two rules of which the first's result is the second's condition."""
    combined = []
    for first in rules[:_MOST_CHAINED]:
        for second in rules[:_MOST_CHAINED]:
            first_rule, second_rule = first.rule, second.rule
            if (
                first_rule is None
                or second_rule is None
                or first_rule.result != second_rule.condition
                or first_rule.condition == second_rule.result
            ):
                continue
            if first_rule.general == second_rule.general and (first_rule.amount, second_rule.amount) == ("all", "all"):
                both = Rule(
                    first_rule.condition,
                    second_rule.result,
                    first_rule.general,
                    both_ways=first_rule.both_ways and second_rule.both_ways,
                )
                combined.append(_Premise(first.span, first.text, both, first.fact))
    return combined


def _may_support(premise: _Premise, conclusion: Statement, misused: _Premise) -> bool:
    """Whether another premise may lead to the conclusion in a way that is not understood."""
    if misused.rule is None or (premise.rule is not None and premise.rule.condition == misused.rule.condition):
        return False
    parts = (misused.rule.condition.stems, misused.rule.result.stems)
    claimed_part = next((part for part in parts if part <= conclusion.stems), conclusion.stems)
    goal = premise.rule.result.stems if premise.rule is not None else premise.fact.stems
    if premise.span is None and premise.rule is None and not (conclusion.stems - claimed_part) & goal:
        return claimed_part <= goal and _CONDITIONAL.search(premise.text) is not None  # else it repeats the rule
    return claimed_part <= goal


def _fallacy_kind(
    rule: Rule, fact: _Premise, conclusion: Statement, pronoun: bool, conclusion_text: str, stated: str
) -> str | None:
    """The kind of fallacy by which a conclusion follows from a rule and a fact; none where there is none."""

    def same(stated_part: Statement, part: Statement) -> bool:
        return _same_subject(fact, conclusion, stated_part, part, rule.general, pronoun)

    if rule.amount == "all":
        if (
            _contains(fact.fact, rule.result)
            and _contains(conclusion, rule.condition)
            and same(rule.result, rule.condition)
        ):
            return "affirmed"
        denies = _contains(fact.fact, rule.condition.negated()) and _contains(conclusion, rule.result.negated())
        if (
            denies
            and same(rule.condition, rule.result)
            and not (_YOU.search(conclusion_text) or _ENTITLED.search(stated))
        ):
            return "denied"
        return None
    reached = _contains(fact.fact, rule.condition) and _contains(conclusion, rule.result)
    return "some" if reached and same(rule.condition, rule.result) else None


def _contains(statement: Statement, part: Statement) -> bool:
    return part.stems <= statement.stems and part.denied == statement.denied


def _same_subject(
    fact: _Premise, conclusion: Statement, held: Statement, part: Statement, general: bool, pronoun: bool
) -> bool:
    """Whether fact and conclusion have the same subject: the words that remain without those of the rule."""
    first, second = fact.fact.stems - held.stems, conclusion.stems - part.stems
    if not general:
        return not first and not second
    if first == second:
        return bool(first) or (pronoun and begins_with_pronoun(fact.text))
    return not second and pronoun and len(first) <= 3


def _is_derivable(conclusion: Statement, rules: Sequence[Rule], facts: Sequence[_Premise], pronoun: bool) -> bool:
    """Whether a conclusion is stated, or follows by modus ponens or modus tollens."""
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
                    if _contains(fact, start) and (rule.general or fact.stems == start.stems):
                        new.add(Statement((fact.stems - start.stems) | goal.stems, goal.denied))
        if new <= known:
            break
        known |= new
        if len(known) > 200:
            break
    if conclusion in known:
        return True
    return pronoun and any(conclusion.stems <= fact.stems and fact.denied == conclusion.denied for fact in known)


def _judge_general(span: Span, conclusion_text: str, rule: Rule, premises: Sequence[_Premise]) -> LogicFinding | None:
    """The fallacy of a conclusion about all or some of a kind."""
    rules = [p for p in premises if p.rule is not None and p.rule.general]
    if any(p.rule is not None and p.rule.both_ways for p in rules):
        return None
    if rule.amount != "all" or _is_chained(rule, rules):
        return None
    for first in rules:
        first_rule = first.rule
        if first_rule is None:
            continue
        if first_rule.amount != "all":
            if first_rule.condition == rule.condition and first_rule.result == rule.result:
                return _finding(span, conclusion_text, "some_all", _spans(first), first.text)
            continue
        if (
            first_rule.condition.stems == rule.result.stems
            and first_rule.result.stems == rule.condition.stems
            and not first_rule.result.denied
            and not rule.result.denied
        ):
            return _finding(span, conclusion_text, "turned", _spans(first), first.text)
        for second in rules:
            second_rule = second.rule
            if second_rule is None or second_rule.amount != "all" or second_rule is first_rule:
                continue
            middle = first_rule.result == second_rule.result and not first_rule.result.denied
            if (
                middle
                and first_rule.condition.stems == rule.result.stems
                and second_rule.condition.stems == rule.condition.stems
                and not rule.result.denied
            ):
                return _finding(span, conclusion_text, "middle", _spans(first, second), first.text)
    return None


def _spans(*premises: _Premise) -> tuple[Span, ...]:
    return tuple(p.span for p in premises if p.span is not None)


def _is_chained(rule: Rule, premises: Sequence[_Premise]) -> bool:
    """Whether a general conclusion is stated, or follows by chaining general rules."""
    reached = {rule.condition}
    for _ in range(_ROUNDS):
        for p in premises:
            other_rule = p.rule
            if other_rule is None or other_rule.amount != "all":
                continue
            if other_rule.condition in reached:
                reached.add(other_rule.result)
            if other_rule.result.negated() in reached:
                reached.add(other_rule.condition.negated())
    return rule.result in reached


_EXPLANATIONS: Final = {
    "affirmed": "only the result of that rule is given",
    "denied": "its result may hold even if its condition does not",
    "some": "what holds of some need not hold of this one",
    "some_all": "what holds of some need not hold of all",
    "turned": "the rule is reversed",
    "middle": "two things that share a property need not be the same",
}


def _finding(span: Span, conclusion_text: str, kind: str, places: tuple[Span, ...], rule: str) -> LogicFinding:
    quoted = " ".join(conclusion_text.split())[:80].rstrip(".")
    stated = " ".join(rule.split())[:80].rstrip(".")
    message = f"“{quoted}” does not follow from “{stated}”: {_EXPLANATIONS[kind]}."
    return LogicFinding("logic.invalid_form", message, span, places, _CONFIDENCE)
