"""Rows whose evidence does not state a sentence as a fact: it is doubted, asked, denied, only possible or conditional.

Other edits change the claim. Here the evidence is rewritten around one of its sentences, and the claim is that
sentence: all its words stand in the evidence, and what decides is what stands around them. Every form has its
counterpart in which the sentence holds (`nobody doubts that`, `even if`, `was indeed`), so that neither a governing
clause nor a condition gives the label away.

What is wrong in a claim is that it asserts. The span is therefore the verb where a governing clause or a modal is
missing; where a condition is missing it is as in `entities.condition`; and where the claim has a governing clause,
a modal or a condition of its own that the evidence lacks, it is that.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import partial

from assay.text.claims.clauses import verb_group
from assay.text.lexicon import verbs
from train.edits.document import Document, excerpt, parse, usable, words_of
from train.edits.framing import draw_frame, framed
from train.edits.generate import EDITABLE, LONG_SHARE, LONG_WINDOW_WORDS, WINDOW_WORDS, contradicted, is_prose
from train.edits.governed_texts import (
    CONDITIONS_FOR_ALL,
    EITHER_CUES,
    EVEN_CUES,
    FIELDS,
    GOVERNORS,
    HOLDERS,
    IF_CUES,
    NO_ANSWERS,
    ONLY_CUES,
    OPEN_ANSWERS,
    SLOTS,
    SURE_CLAIMS,
    YES_ANSWERS,
    Attitude,
    Field,
    Governor,
)
from train.edits.true_forms import reordered, shorten, voice
from train.edits.words import base_of
from train.rows import Label, Row, detokenise

Span = tuple[int, int]
Two = tuple[Row, Row]
"""A row that is not supported and its supported counterpart."""

SHORT_PREMISES = frozenset({"mnli", "taxinli"})
"""Sets of short passages that give documents besides the editable ones."""
LONGEST = 24
"""Words of a sentence that is put under another clause: longer ones are hard to read there."""

_SELF_GOVERNED = re.compile(
    r"\b(?:if|unless|whether|although|though|while|whereas|because|since|so|but|not|never|no|nor|neither|hardly|"
    r"barely|may|might|could|would|should|perhaps|possibly|probably|likely|reportedly|allegedly|apparently|indeed|"
    r"expected|supposed|planned|said|says|stated|states|believed|believes|claimed|claims|thought|argued|argues|"
    r"suggested|suggests|denied|announced|reported|told|confirmed|added|explained|asked|according|considered|only|even|once|"
    r"as long as|as soon as|depending|otherwise|until)\b|n't|n’t|;|[“”\"]|,? that |[.?]\s",
    re.IGNORECASE,
)
_SECOND_CLAUSE = re.compile(r", (?:and|or|so|yet|then) | and (?:is|was|are|were|has|had|he|she|it|they)\b|:|–|—| - ")
_SHORT_OF_FACTS = re.compile(
    r"^(?:There|What|How|Where|When|Who|Which|The way|Read|See|Click|Also|Other|Yes|No|Then|Oh|Well|"
    r"\w+(?:ing|ed))\b"
)
_HAS_S = "{s}"
_OF_CLASS = {attitude: [g for g in GOVERNORS if g.attitude == attitude] for attitude in ("open", "denied", "false")}
_FOR_SURE_CLAIMS = [g for g in GOVERNORS if g.forms[0] in SURE_CLAIMS]
_HOLDING = [g for g in GOVERNORS if g.attitude == "holds"]
_OPEN_FOR_CLAIMS = [g for g in _OF_CLASS["open"] if g.forms[0].startswith(("{who}", "It ", "There ", "Nobody", "One "))]
_LABELS: dict[Attitude, Label] = {"open": "unsupported", "denied": "not_supported", "false": "contradicted"}


def verb_span(claim: str) -> Span | None:
    """The characters of the main verb and its auxiliaries; nothing where no verb is found."""
    parsed = parse(claim)
    if parsed.verb < 1:
        return None
    group = verb_group(parsed.tokens, parsed.verb)
    return parsed.tokens[group.first].start, parsed.tokens[group.last].end


def _sentences(document: Document) -> list[int]:
    """Pieces that state one thing plainly, and whose words the rest of the document does not say again."""
    found = []
    for i in document.usable:
        text = document.pieces[i]
        if (
            not 5 <= len(text.split()) <= LONGEST
            or _SELF_GOVERNED.search(text)
            or _SECOND_CLAUSE.search(text)
            or _SHORT_OF_FACTS.match(text)
            or text.count(",") > 3
        ):
            continue
        wanted = {w for w in words_of(text) if len(w) > 3}
        others = (p for j, p in enumerate(document.pieces) if j != i)
        if wanted and not any(len(wanted & words_of(p)) > 0.5 * len(wanted) for p in others):
            found.append(i)
    return found


def _put(template: str, text: str, document: Document, who: str) -> tuple[str, Span] | None:
    """The sentence in the place of `{s}`, and where the words around it that come first or last stand."""
    template = template.replace("{who}", who).replace("{holder}", who[0].lower() + who[1:])
    before, after = template.split(_HAS_S)
    if after != "." and "," in text:
        return None  # where it ends would be unclear
    clause = framed(text, document, before) if before else text
    if clause is None:
        return None
    whole = clause[:-1] + after
    return whole, ((0, len(before.rstrip())) if before else (len(clause) - 1, len(whole) - 1))


def _width(rng: random.Random) -> int:
    """How many words of evidence a row shows at most."""
    window = LONG_WINDOW_WORDS if rng.random() < LONG_SHARE else WINDOW_WORDS
    return rng.randint(window // 3, window)


def _rewritten(document: Document, i: int, new: str, width: int) -> tuple[str, ...]:
    """The evidence with one sentence in another form, as a run of sentences around it."""
    pieces = [*document.pieces[:i], new, *document.pieces[i + 1 :]]
    first, last = excerpt(pieces, (i,), width)
    return (" ".join(pieces[first:last]),)


def _said(text: str, document: Document, rng: random.Random) -> tuple[str, int]:
    """The sentence as a claim, at times shorter, in another order or behind a phrase, and the length of the phrase."""
    if rng.random() < 0.35:
        for reshape in rng.sample((shorten, reordered, voice), 3):
            other = reshape(text, rng)
            if other is not None and other != text and usable(other):
                text = other
                break
    prefix = draw_frame(rng, 0.2)
    behind = framed(text, document, prefix) if prefix else None
    return (text, 0) if behind is None else (behind, len(prefix))


def _shifted(span: Span | None, by: int) -> tuple[Span, ...]:
    return () if span is None else ((span[0] + by, span[1] + by),)


def _asserted(claim: str, prefix: int) -> tuple[Span, ...]:
    """The verb of a claim that stands behind a phrase of that length."""
    own = claim[prefix:]
    return _shifted(verb_span(own[:1].upper() + own[1:]), prefix)


def _governor_that_fails(rng: random.Random) -> Governor:
    return rng.choice(_OF_CLASS[rng.choices(("open", "denied", "false"), (7, 1, 2))[0]])


def _true(evidence: tuple[str, ...], claim: str, kind: str) -> Row:
    return Row(f"edit:true.{kind}", evidence, claim, "supported")


def governed_pair(document: Document, i: int, rng: random.Random) -> Two | None:
    """A governing clause around a sentence of the evidence, and the sentence bare or governed as the claim."""
    text, who, width = document.pieces[i], rng.choice(HOLDERS), _width(rng)
    fails, holds = _governor_that_fails(rng), rng.choice(_HOLDING)
    failing = _put(rng.choice(fails.forms), text, document, who)
    holding = _put(rng.choice(holds.forms), text, document, who)
    if failing is None or holding is None:
        return None
    leaves_open = _rewritten(document, i, failing[0], width)
    grants = _rewritten(document, i, holding[0], width)
    form = rng.choices(("bare", "neighbour", "kept", "sure"), (5, 2, 3, 2))[0]
    if form in {"bare", "neighbour"}:
        claim, prefix = _said(text, document, rng)
        wrong = Row("edit:governed", leaves_open, claim, _LABELS[fails.attitude], spans=_asserted(claim, prefix))
        if form == "bare":
            return wrong, _true(grants, claim, "governed")
        near = [j for j in _sentences(document) if j != i and document.pieces[j] in leaves_open[0]]
        if not near:
            return None
        return wrong, _true(leaves_open, _said(document.pieces[rng.choice(near)], document, rng)[0], "governed")
    group = rng.choice(_OPEN_FOR_CLAIMS if form == "kept" else _FOR_SURE_CLAIMS)
    own, stated = (_put(rng.choice(group.forms), text, document, who) for _ in range(2))
    if own is None or stated is None:
        return None
    right = _true(_rewritten(document, i, stated[0], width), own[0], "governed")
    if form == "kept":
        evidence = grants if rng.random() < 0.5 else _rewritten(document, i, text, width)
        return Row("edit:governed", evidence, own[0], "not_supported", spans=(own[1],)), right
    return Row("edit:governed", leaves_open, own[0], _LABELS[fails.attitude], spans=(own[1],)), right


def question_of(text: str, document: Document) -> str | None:
    """The sentence as a question that is answered by yes or no; nothing where its verb does not allow it.

    >>> question_of("The mill was built in 1901.", Document(("The mill was built in 1901.",)))
    'Was the mill built in 1901?'
    """
    parsed = parse(text)
    if parsed.verb < 1 or "," in text:
        return None
    token = parsed.tokens[parsed.verb]
    subject = text[: token.start].rstrip()
    rest = text[token.end : -1]
    if token.tag == "AUX" and token.low not in {"has", "have", "had"} | verbs.DO and "'" not in token.low:
        helper = token.low
    elif token.tag in {"V", "VN"} and base_of(token.low) is not None:
        helper = "does" if token.low in verbs.THIRD else "did" if token.low in verbs.PAST else ""
        rest = f" {base_of(token.low)}{rest}"
    else:
        return None
    asked = framed(f"{subject}{rest}.", document, f"{helper.capitalize()} ") if helper else None
    return None if asked is None else asked[:-1] + "?"


def question_pair(document: Document, i: int, rng: random.Random) -> Two | None:
    """A sentence of the evidence turned into a question, answered by nobody, by no or by yes."""
    asked = question_of(document.pieces[i], document)
    if asked is None:
        return None
    denied = rng.random() < 0.25
    answer = rng.choice(NO_ANSWERS if denied else OPEN_ANSWERS)
    width = _width(rng)
    wrong_evidence = _rewritten(document, i, f"{asked} {answer}".rstrip(), width)
    right_evidence = _rewritten(document, i, f"{asked} {rng.choice(YES_ANSWERS)}", width)
    claim, prefix = _said(document.pieces[i], document, rng)
    label: Label = "contradicted" if denied else "unsupported"
    return (
        Row("edit:governed", wrong_evidence, claim, label, spans=_asserted(claim, prefix)),
        _true(right_evidence, claim, "governed"),
    )


_POSSIBLE = ("may", "might", "could")
_ONCE_POSSIBLE = ("may", "might")  # what could have been was often not
_SETTLED = frozenset({"indeed", "managed"})
"""What is said of a verb and leaves it a fact."""
_EXCLUDED = frozenset({"impossible", "nearly", "refused"})
"""What is said of a verb and denies it."""
_APART = {
    "possible": ("impossible",),
    "impossible": ("possible", "indeed"),
    "expected": ("possible", "impossible"),
    "nearly": ("possible", "impossible"),
    "planned": ("possible", "refused"),
    "tried": ("possible", "refused"),
    "refused": ("possible", "planned", "tried"),
    "indeed": ("possible", "expected", "planned", "tried", "nearly", "impossible"),
    "managed": ("possible", "planned", "tried", "nearly", "refused"),
}
"""What a claim says of its verb, with what does not support that."""


def _participle(low: str) -> str | None:
    """The participle of a past form; nothing where it is not listed."""
    irregular = next((e[2] for e in verbs._irregular if e[1] == low), None)  # noqa: SLF001 the table is read here alone
    return irregular or (low if low in verbs.PAST & verbs.PARTICIPLE else None)


_CHOSEN = frozenset(
    """acquire appoint attend build buy create design develop direct found hire introduce join launch leave marry meet
    move offer organise organize produce publish record release return sell sign study teach travel visit win write
    choose sue replace defeat invest buy purchase establish""".split()  # noqa: SIM905 reads better as text
)
"""What is done on purpose, so that it can be planned, tried and refused."""


def verb_forms(text: str) -> tuple[Span, dict[str, tuple[str, ...]]] | None:
    """The main verb's place and, by what is said of it, wordings for that place that each say the same.

    Nothing where the sentence's verb has no safe other form.
    """
    parsed = parse(text)
    if parsed.verb < 1 or parsed.verb + 1 >= len(parsed.tokens):
        return None
    token, following = parsed.tokens[parsed.verb], parsed.tokens[parsed.verb + 1]
    low, at = token.low, (token.start, token.end)
    if parsed.tokens[parsed.verb - 1].low in {"and", "or", "of", "the", "to"}:
        return None  # more likely a noun than a verb
    forms: dict[str, tuple[str, ...]]
    if low in {"was", "is"} and following.tag not in {"ADV", "AUX"}:
        be = "have been" if low == "was" else "be"
        forms = {
            "possible": tuple(f"{modal} {be}" for modal in (_POSSIBLE if low == "is" else _ONCE_POSSIBLE)),
            "impossible": (f"cannot {be}", f"cannot possibly {be}"),
            "indeed": (f"{low} indeed", f"{low} in fact"),
        }
        if low == "was" and following.low in verbs.PARTICIPLE:
            forms["expected"] = ("was expected to be", "was supposed to be")
            forms["nearly"] = ("was nearly", "was almost")
        return at, forms
    base, participle = base_of(low), _participle(low)
    if token.tag not in {"V", "VN"} or base in {None, "appear", "seem"} or low in verbs.AMBIGUOUS:
        return None
    if low in verbs.THIRD:
        return at, {
            "possible": tuple(f"{modal} {base}" for modal in _POSSIBLE),
            "impossible": (f"cannot {base}",),
            "indeed": (f"does indeed {base}", f"does in fact {base}"),
        }
    if participle is None or low not in verbs.PAST:
        return None
    forms = {
        "possible": tuple(f"{modal} have {participle}" for modal in _ONCE_POSSIBLE),
        "impossible": (f"cannot have {participle}", f"cannot possibly have {participle}"),
        "indeed": (f"did indeed {base}", f"did in fact {base}"),
        "nearly": (f"nearly {low}", f"almost {low}"),
    }
    first = parsed.names[0] if parsed.names else None
    if first is not None and first.start == 0 and first.end == parsed.subject_end and base in _CHOSEN:
        forms |= {
            "planned": (f"planned to {base}", f"intended to {base}"),
            "tried": (f"tried to {base}", f"attempted to {base}"),
            "refused": (f"refused to {base}",),
            "managed": (f"managed to {base}",),
        }
    return at, forms


def modality_pair(document: Document, i: int, rng: random.Random) -> Two | None:
    """The verb of a sentence of the evidence made possible, expected, planned, denied or stressed."""
    text, width = document.pieces[i], _width(rng)
    found = verb_forms(text)
    if found is None:
        return None
    (start, end), forms = found

    def put(words: str) -> str:
        return text[:start] + words + text[end:]

    def shown(kind: str) -> tuple[str, ...]:
        return _rewritten(document, i, put(rng.choice(forms[kind])), width)

    if rng.random() < 0.6:
        weak = sorted(forms.keys() - _SETTLED)
        kind = rng.choices(weak, [3 if k == "possible" else 1 for k in weak])[0]
        claim, prefix = _said(text, document, rng)
        label: Label = "contradicted" if kind in _EXCLUDED else "unsupported"
        wrong = Row("edit:modality", shown(kind), claim, label, spans=_asserted(claim, prefix))
        twin = rng.random()
        near = [j for j in _sentences(document) if j != i and document.pieces[j] in wrong.evidence[0]]
        if near and twin < 0.3:  # what is uncertain is another sentence
            told, _ = _said(document.pieces[rng.choice(near)], document, rng)
            return wrong, _true(wrong.evidence, told, "modality")
        if twin < 0.6:
            return wrong, _true(_rewritten(document, i, text, width), claim, "modality")
        return wrong, _true(shown(rng.choice(sorted(forms.keys() & _SETTLED))), claim, "modality")
    kinds = [(mine, theirs) for mine in sorted(forms) for theirs in _APART.get(mine, ()) if theirs in forms]
    if not kinds:
        return None
    mine, theirs = rng.choice(kinds)
    words = rng.choice(forms[mine])
    claim = put(words)
    against = theirs in _EXCLUDED or mine == "impossible" or (mine in {"refused", "nearly"} and theirs != "possible")
    wrong = Row(
        "edit:modality",
        shown(theirs),
        claim,
        "contradicted" if against else "unsupported",
        spans=((start, start + len(words)),),
    )
    return wrong, _true(shown(mine), claim, "modality")


_RULE_VERB = frozenset({"may", "can", "must", "will", "shall", "should"})
_CLAUSE = re.compile(
    r" (?:if|unless|provided that|as long as|only if|only when) ((?:the|an?|no|all|both) [^,;:().\"]{12,70})\.(?:\s|$)"
)
_NOT_APART = re.compile(
    r"\b(?:he|she|it|they|his|her|its|their|him|them|this|that|these|those|such|was|were|had|would|could|did|"
    r"and|or|other|same|not|will|me|us|you|to be|to continue|there|[a-z]+ed)\b|[“”]"
)
CLAUSES_AT_MOST = 400
COLLECTED_SHARE = 0.15
"""How often a condition beside a sentence of a document is one that was collected: few of them read well elsewhere."""


def conditions_in(documents: Sequence[Document]) -> list[str]:
    """Clauses after `if` and the like that can be read by themselves: in the present tense, with a noun as subject."""
    found: dict[str, None] = {}
    for document in documents:
        for piece in document.pieces if document.record is None else ():
            match = _CLAUSE.search(piece)
            clause = match.group(1) if match else ""
            if clause and not _NOT_APART.search(clause):
                parsed = parse(clause[0].upper() + clause[1:] + ".")
                if parsed.verb >= 2 and (parsed.tokens[parsed.verb].low in verbs.THIRD | {"is", "are", "has", "have"}):
                    found[clause] = None
    return list(found)[:CLAUSES_AT_MOST]


def _reads_as_rule(text: str) -> bool:
    """Whether a sentence is in the present tense or has a modal, so that a condition may stand beside it."""
    parsed = parse(text)
    if parsed.verb < 1 or parsed.verb + 1 >= len(parsed.tokens) or "," in text or len(text.split()) > 18:
        return False
    low, following = parsed.tokens[parsed.verb].low, parsed.tokens[parsed.verb + 1].low
    passive = low in {"is", "are"} and following in verbs.PARTICIPLE
    if text.startswith(("In ", "As ", "At ", "On ")) or " as " in text:
        return False
    return (passive or low in _RULE_VERB) and parsed.tokens[parsed.verb].text.islower()


def _rule(template: str, rng: random.Random) -> str:
    """A rule or a condition with its braces filled."""
    return re.sub(r"\{(\w+)\}", lambda m: rng.choice(SLOTS[m.group(1)]), template)


def restricted(text: str, cue: str, clause: str, document: Document, *, first: bool) -> tuple[str, Span] | None:
    """A sentence with a condition behind it or before it, and where the condition stands."""
    if not first:
        whole = f"{text[:-1]} {cue} {clause}."
        return whole, (len(text), len(whole) - 1)
    before = f"{cue[0].upper()}{cue[1:]} {clause}, "
    whole_or_none = framed(text, document, before)
    return None if whole_or_none is None else (whole_or_none, (0, len(before) - 2))


_BY_SENSE = {"if": IF_CUES, "only": ONLY_CUES, "even": EVEN_CUES, "either": EITHER_CUES, "unless": ("unless",)}


def _condition_rows(
    text: str,
    clauses: tuple[str, str],
    document: Document,
    show: Callable[[str], tuple[str, ...]],
    rng: random.Random,
) -> Two | None:
    """A sentence under a condition in the evidence, and the claim without it, with it or with another one."""

    def put(sense: str, clause: str) -> tuple[str, Span] | None:
        first = sense != "only" and rng.random() < 0.35
        return restricted(text, rng.choice(_BY_SENSE[sense]), clause, document, first=first)

    sense = rng.choices(("if", "only", "unless"), (5, 2, 2))[0]
    stated = put(sense, clauses[0])
    if stated is None:
        return None
    if rng.random() < 0.5:
        free = put("even", clauses[0])
        verb = verb_span(text)
        if free is None or verb is None:
            return None
        prefix = draw_frame(rng, 0.25)
        claim = (framed(text, document, prefix) if prefix else None) or text
        by = len(claim) - len(text)
        span = (by + verb[0], by + verb[1])
        wrong = Row("edit:condition", show(stated[0]), claim, "not_supported", spans=(span,))
        return wrong, _true(show(free[0]), claim, "condition")
    if rng.random() < 0.5:
        other = put(sense, clauses[1])  # another condition
        same = put(sense, clauses[0])
        if other is None or same is None:
            return None
        wrong = Row("edit:condition", show(stated[0]), other[0], "not_supported", spans=(other[1],))
        return wrong, _true(show(stated[0]), same[0], "condition")
    turned = rng.choice({"if": ("unless", "either"), "only": ("unless", "either"), "unless": ("if", "either")}[sense])
    claimed, same = put(turned, clauses[0]), put(turned, clauses[0])
    if claimed is None or same is None:
        return None
    wrong = Row("edit:condition", show(stated[0]), claimed[0], "not_supported", spans=(claimed[1],))
    return wrong, _true(show(same[0]), claimed[0], "condition")


def condition_pair(document: Document, i: int, rng: random.Random, *, clauses: Sequence[str]) -> Two | None:
    """A condition beside a sentence of the evidence."""
    text, width = document.pieces[i], _width(rng)
    if not _reads_as_rule(text):
        return None
    pool = clauses if len(clauses) >= 2 and rng.random() < COLLECTED_SHARE else CONDITIONS_FOR_ALL
    first, second = rng.sample(pool, 2)
    return _condition_rows(text, (first, second), document, lambda new: _rewritten(document, i, new, width), rng)


def _paragraph(field: Field, rng: random.Random) -> tuple[list[str], list[str]]:
    """Two to four rules of a field, and conditions, with their braces filled."""
    rules = [_rule(one, rng) for one in rng.sample(field.rules, rng.choice((2, 3, 3, 4)))]
    return rules, [_rule(one, rng) for one in rng.sample(field.conditions, 5)]


def rule_pair(rng: random.Random) -> Two | None:
    """A paragraph of rules of our own, one of them under a condition, and a claim about it or about a plain one."""
    rules, clauses = _paragraph(FIELDS[rng.choice(sorted(FIELDS))], rng)
    document = Document((" ".join(rules),))
    target = rng.randrange(len(rules))
    around = list(rules)
    for j, clause in zip((j for j in range(len(rules)) if j != target), clauses[2:], strict=False):
        if rng.random() < 0.35:
            made = restricted(rules[j], rng.choice(IF_CUES + EVEN_CUES), clause, document, first=rng.random() < 0.3)
            around[j] = rules[j] if made is None else made[0]

    def show(new: str) -> tuple[str, ...]:
        return (" ".join([*around[:target], new, *around[target + 1 :]]),)

    pair = _condition_rows(rules[target], (clauses[0], clauses[1]), document, show, rng)
    if pair is None or rng.random() < 0.8:
        return pair
    plain = [j for j in range(len(rules)) if j != target and around[j] == rules[j]]
    if not plain:
        return pair
    return pair[0], _true(pair[0].evidence, rules[rng.choice(plain)], "condition")


def _sound(pair: Two) -> bool:
    """Whether both rows read as text should, and the exact tier has nothing against the supported one."""
    return (
        all(detokenise(row.claim) == row.claim and row.claim.strip() for row in pair)
        and all(0 <= a < b <= len(pair[0].claim) for a, b in pair[0].spans)
        and not contradicted(pair[1])
    )


def _evidence(rows: Sequence[Row], rng: random.Random) -> list[tuple[str, ...]]:
    """Prose of the editable sets and short passages, in a seeded order."""
    found = sorted(
        {
            row.evidence
            for row in rows
            if (row.source in EDITABLE and is_prose(row.evidence))
            or (row.source in SHORT_PREMISES and len(row.evidence) == 1 and 7 <= len(row.evidence[0].split()) <= 80)
        }
    )
    rng.shuffle(found)
    return found


CLAUSE_DOCUMENTS = 600
"""As many documents with a condition are cut into sentences to collect conditions."""
RULE_SHARE = 0.35
"""For so many of the documents there is a pair of rules of our own besides."""


def governed_rows(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """Up to `count` rows, half of them supported, from the documents of `rows` and from rules of our own.

    A row of rules of our own needs no document; where the documents offer too few sentences, fewer rows are made.
    The same arguments give the same rows in the same order.
    """
    rng = random.Random(seed)
    evidence = _evidence(rows, rng)
    conditional = [e for e in evidence if any(_CLAUSE.search(one) for one in e)][:CLAUSE_DOCUMENTS]
    clauses = conditions_in([Document(e) for e in conditional])
    makers: tuple[tuple[float, Callable[[Document, int, random.Random], Two | None]], ...] = (
        (5, governed_pair),
        (1.2, question_pair),
        (2.5, modality_pair),
        (1.5, partial(condition_pair, clauses=clauses)),
    )
    made: list[Row] = []
    seen: set[tuple[str, str]] = set()

    def keep(pair: Two | None) -> bool:
        if pair is None or not _sound(pair):
            return False
        keys = {(row.evidence[0], row.claim) for row in pair}
        if keys & seen:
            return False
        seen.update(keys)
        made.extend(pair)
        return True

    for _ in range(4):
        for one in evidence:
            if len(made) >= count:
                return made[:count]
            document = Document(one)
            free = _sentences(document) if document.record is None else []
            if not free:
                continue
            order = sorted(makers, key=lambda m: rng.expovariate(m[0]))
            chosen = rng.choice(free)
            for _, make in order:
                if keep(make(document, chosen, rng)):
                    break
            if rng.random() < RULE_SHARE:
                keep(rule_pair(rng))
    return made[:count]
