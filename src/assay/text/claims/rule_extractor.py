"""Atomic claims by rules alone: each statement of a text once, as a sentence of its own, with the place it came from.

The order of work for one sentence:

1. its markup and citation markers are taken out (`sentences.markup`), its lead-in is set aside (`statement_kinds`);
2. a whole-sentence courtesy, question or abstention is kept as a statement that nobody can check;
3. clauses, relative clauses, verb phrases, adjuncts and lists are parted (`clauses`, `phrases`), in that order;
4. an opening pronoun is replaced where one safe antecedent stands in the sentence before (`pronouns`);
5. kind, hedge and critical marks are read off the result.

When in doubt nothing is parted: a wrong cut makes a false alarm, a missed one only makes a coarser finding.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from assay.schema import ClaimKind, ExtractedClaim, Span
from assay.text.claims import statement_kinds
from assay.text.claims.answer_fragments import is_fragment
from assay.text.claims.clauses import (
    MAX_TOKENS,
    Piece,
    find_verb,
    piece,
    split_asides,
    split_clauses,
    split_relatives,
    split_verbs,
    stands_alone,
)
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.ellipsis import completed, marked, said_of_both
from assay.text.claims.hedging import hedge_score
from assay.text.claims.phrases import split_adjuncts, split_lists, split_measures
from assay.text.claims.pronouns import antecedent, opens_with_pronoun, refers_back, subject
from assay.text.lexicon.tokens import Token, render, tokenise
from assay.text.rewording.plain_wording import in_plain_words
from assay.text.rewording.short_answers import agrees, asked_statement, opening_word, presupposed
from assay.text.sentences.code_block_data import code_data, is_diagram, prose_rows
from assay.text.sentences.code_identifiers import code_names
from assay.text.sentences.markup import Cleaned, attribute_values, clean
from assay.text.sentences.splitting import Sentence, split_sentences
from assay.text.sentences.tables import Row, opens_table, read_row

__all__ = ["RuleClaimExtractor", "is_fragment", "split_statement"]

_STAGES = (
    split_clauses,
    split_asides,
    split_relatives,
    split_verbs,
    split_relatives,
    split_adjuncts,
    split_lists,
    split_measures,
)
_ENDS = frozenset(".!?")
_EXPECTS_YES = re.compile(r"\w{2,6}n['’]t\s[^?]{4,300}\?\s*$", re.IGNORECASE)
"""A question that its speaker says yes to: "Doesn't it take 9 weeks?"."""
_SPEAKS = re.compile(r"[^\W_]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ITEM_LIMIT = 400
"""Characters of an introducing line that are carried to its items."""
_NUMBERED = re.compile(
    r"^[ \t#*_>]*(?:\d{1,3}(?:\.\d{1,3})+[.)]?|\d{1,3}[.)]|(?:step|part|chapter|section)\s\d{1,3}[.:)]?|"
    r"\d{1,3}(?=\s+(?-i:[A-Z]))(?!\s+(?:seconds|minutes|hours|days|weeks|months|years|percent)\b))\s+",
    re.IGNORECASE,
)


def split_statement(text: str) -> list[Piece]:
    """The atomic statements of one clean sentence; the whole of it where nothing can safely be parted.

    >>> [render(p.tokens) for p in split_statement("Acme was founded in 1990 and employs 40 people.")]
    ['Acme was founded in 1990', 'Acme employs 40 people']
    """
    return _split(tokenise(text))


def _split(words: list[Token]) -> list[Piece]:
    tokens = list(words)
    while tokens and tokens[-1].tag in _ENDS:
        tokens.pop()
    if not tokens:
        return []
    pieces = [piece(tokens, tokens)]
    if len(tokens) > MAX_TOKENS:
        return pieces
    for stage in _STAGES:
        pieces = [p for given in pieces for p in _parted(stage, given)]
    return pieces


def _parted(stage: Callable[[Piece], list[Piece]], given: Piece) -> list[Piece]:
    """What the stage makes of a statement; the statement itself where a part of it would be no sentence."""
    found = stage(given)
    return found if len(found) == 1 or all(stands_alone(p.tokens) for p in found) else [given]


@dataclass(slots=True)
class _Memory:
    """What one sentence leaves for the next ones of the same text."""

    previous: list[Token] = field(default_factory=list)
    said: str = ""
    """What the sentence before said."""
    asked: bool = False
    """Whether that was a question."""
    subject: list[Token] = field(default_factory=list)
    intro: str = ""
    header: Row | None = None
    block: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """One statement in the making: offsets are those of the whole text."""

    text: str
    start: int
    end: int
    kind: ClaimKind
    checkable: bool
    value: str = ""
    """The part that can be wrong, where that is not the whole text: a table row's cell without its column names."""
    whole: str | None = None
    """The statement that it was cut from."""
    before: str | None = None
    """The sentence before it, where it refers to that."""
    cell: tuple[str, str] | None = None
    """Of a cell of a table its row and its column."""


def _sentence_case(text: str, ended: bool) -> str:
    first = text[:1].upper() if text[:1].islower() and not re.match(r"\w*[A-Z\d_]|https?:|www\.", text) else text[:1]
    return first + text[1:] + ("." if ended and text[-1:] not in ".!?:" else "")


class RuleClaimExtractor:
    """Finds atomic claims by word lists and rules, for English; other languages come out sentence by sentence."""

    @property
    def name(self) -> str:
        """Name and version of the rules."""
        return "rules-1"

    def extract(self, text: str, question: str | None = None) -> list[ExtractedClaim]:
        """All statements of the text in reading order, checkable or not; spans slice back to the text.

        Every letter and digit of the text lies in the sentence span of some statement. With a question, an answer
        that is only a phrase (`4 weeks`, `Yes`) is a claim that can be checked.

        >>> [c.text for c in RuleClaimExtractor().extract("Acme makes oars and employs 40 people. Thanks!")]
        ['Acme makes oars.', 'Acme employs 40 people.', 'Thanks!']
        """
        memory = _Memory()
        asked = question is not None and bool(question.strip())
        out: list[ExtractedClaim] = []
        sentences = [s for s in split_sentences(text) if _SPEAKS.search(text, s.start, s.end) is not None]
        for index, sentence in enumerate(sentences):
            following = sentences[index + 1] if index + 1 < len(sentences) else None
            for found in _read(text, sentence, following, memory):
                checkable, kind = found.checkable, found.kind
                if asked and kind is ClaimKind.META and not checkable and _replies(text, question or "", found.text):
                    checkable, kind = True, ClaimKind.FACTUAL
                out.append(_claim(text, sentence, index, found, checkable, kind))
            memory.block = sentence.block
        opening = _opening(text, question, out[0]) if out and question is not None else None
        return out if opening is None else [opening, *out]


def _replies(text: str, question: str, said: str) -> bool:
    """Whether a sentence that only says yes or no answers the question: no "Sure!" before what was asked for."""
    if agrees(said) is None:
        return False
    asked = asked_statement(question)
    third = asked is not None and not any(token.low in _OF_ASKER for token in tokenise(asked))
    return third or text.strip() == said.strip() or agrees(text) is not None


_OF_ASKER = frozenset("i my me we our us mine ours you your".split())  # noqa: SIM905


def _opening(text: str, question: str, first: ExtractedClaim) -> ExtractedClaim | None:
    """The "yes" or "no" that opens a longer answer, as a claim of its own.

    What follows it may be true and the answer still wrong ("Yes, partners get leave." to "Is it four weeks?"). None
    where the asker is asked about: "Can I bring my dog?" is answered by what holds for everyone.
    """
    if not first.checkable or agrees(first.text) is not None:
        return None
    place = opening_word(text[first.sentence.start : first.sentence.end])
    asked = asked_statement(question) if place is not None else None
    if place is None or asked is None or any(token.low in _OF_ASKER for token in tokenise(asked)):
        return None
    start = first.sentence.start
    span = Span(start=start + place[0], end=start + place[1])
    return first.model_copy(
        update={
            "text": text[span.start : span.end], "span": span, "kind": ClaimKind.FACTUAL, "critical": (), "hedge": 0.0,
            "whole": None, "before": None,
        }
    )  # fmt: skip


def _claim(
    text: str, sentence: Sentence, index: int, found: _Found, checkable: bool, kind: ClaimKind
) -> ExtractedClaim:
    return ExtractedClaim(
        text=_SURROGATE.sub("\ufffd", found.text),  # no JSON can hold one
        span=Span(start=found.start, end=found.end),
        sentence=Span(start=sentence.start, end=sentence.end),
        kind=kind,
        checkable=checkable,
        critical=critical_reasons(found.value or found.text, text[found.start : found.end]),
        hedge=hedge_score(found.text),
        sentence_index=index,
        whole=_SURROGATE.sub("\ufffd", found.whole) if found.whole else None,
        before=_SURROGATE.sub("\ufffd", found.before) if found.before else None,
        cell=(_SURROGATE.sub("\ufffd", found.cell[0]), _SURROGATE.sub("\ufffd", found.cell[1])) if found.cell else None,
    )


def _read(text: str, sentence: Sentence, following: Sentence | None, memory: _Memory) -> list[_Found]:
    """The statements of one sentence."""
    raw = text[sentence.start : sentence.end]
    if sentence.block != "table_row":
        memory.header = None
    if sentence.block == "code":
        return _read_code(raw, sentence)
    if sentence.block == "table_row":
        return _read_row(raw, sentence, memory)
    if sentence.block == "prose" and "\n" in raw and (rows := prose_rows(raw)):
        places = [(sentence.start + row.start, sentence.start + row.end) for row in rows]
        return [_Found(row.text, a, b, ClaimKind.FACTUAL, True) for row, (a, b) in zip(rows, places, strict=True)]
    values, raw_text = attribute_values(raw)
    if values:
        rest = clean(raw_text)
        found = _read_prose(raw, rest, sentence, memory) if any(c.isalnum() for c in rest.text) else []
        for value, a, b in values:
            found += _read_value(value, Sentence(sentence.start + a, sentence.start + b, sentence.block), memory)
        return found
    cleaned = clean(raw)
    if not any(c.isalnum() for c in cleaned.text):
        return [_Found(raw, sentence.start, sentence.end, ClaimKind.META, checkable=False)]
    if sentence.block == "heading" or _bold_line(raw):
        memory.intro, memory.subject, memory.previous, memory.said = "", [], [], ""
        return [_heading(raw, cleaned, sentence)]
    introduces = cleaned.text.endswith((":", "：")) and following is not None
    if introduces and following is not None and following.block in {"list_item", "table_row", "code", "quote"}:
        memory.intro = cleaned.text[:-1].strip() if following.block == "list_item" else ""
        if sentence.block != "list_item" and not _introduction_states(cleaned.text[:-1]):
            return [_Found(cleaned.text, sentence.start, sentence.end, _intro_kind(cleaned.text), checkable=False)]
    elif sentence.block != "list_item":
        memory.intro = ""
    if sentence.block == "list_item" and memory.intro and not introduces:
        joined = _item(cleaned, sentence, memory.intro)
        if joined is not None:
            return [joined]
    return _read_prose(raw, cleaned, sentence, memory)


def _read_value(value: str, place: Sentence, memory: _Memory) -> list[_Found]:
    """The statements of a note, a title or an alternative text, which the next sentence does not refer to."""
    memory, found = replace(memory), []
    for one in split_sentences(value):
        raw = value[one.start : one.end]
        cleaned = clean(raw)
        if any(c.isalnum() for c in cleaned.text):
            found += _read_prose(
                raw, cleaned, Sentence(place.start + one.start, place.start + one.end, "prose"), memory
            )
    return found


_SAID_IN_CODE = re.compile(
    r"""(?P<mark>["'`|])(?P<quoted>(?:(?!(?P=mark))[^\n]){6,300})(?P=mark)"""
    r"""|[\[({>](?P<held>[^\[\](){}<>\n]{6,300})[\])}<]"""
    r"""|(?:\#|//|--|/\*|<!--)[ \t]*(?P<comment>[^\n]{6,300}?)[ \t]*(?:\*/|-->|$)""",
    re.VERBOSE,
)
"""What may be prose in code: strings, labels and comments."""
_LINE = re.compile(r"[^\n]+")
_PLAIN_LINE = re.compile(r"\s*(?P<line>\w[\w\s,.;:'’%$€£°\-–]{5,300}[.!?]?)")


def _read_code(raw: str, sentence: Sentence) -> list[_Found]:
    """What code says: its sentences, and the names that its documentation has to have, each as a claim.

    A comment, a label of a diagram or a text to be shown says something to whoever reads it, and an endpoint or a flag
    says that there is one. The rest of the code makes no claim.
    """
    out = [_Found(raw, sentence.start, sentence.end, ClaimKind.PROCEDURAL, checkable=False)]
    drawn = is_diagram(raw)  # its labels are read below, each line as it is read
    for line in _LINE.finditer(raw):
        if drawn:
            break
        plain = _PLAIN_LINE.fullmatch(line.group())
        for match in [plain] if plain is not None else _SAID_IN_CODE.finditer(line.group()):
            name = match.lastgroup or ""
            if name == "mark":
                name = "quoted"
            said = match[name]
            words = tokenise(said)
            worded = sum(word.tag.isalpha() for word in words) >= _LONG_LABEL and not any(c in "=;{}" for c in said)
            if len(words) < _FEWEST_WORDS or (find_verb(words) < 1 and not worded):
                continue
            a, b = (sentence.start + line.start() + offset for offset in match.span(name))
            out.append(_Found(said, a, b, statement_kinds.statement_kind(said), checkable=True))
    read = [(found.start, found.end) for found in out[1:]]
    for datum in code_data(raw):
        a, b = sentence.start + datum.start, sentence.start + datum.end
        if all(end <= a or b <= start for start, end in read):
            out.append(_Found(datum.text, a, b, ClaimKind.FACTUAL, checkable=True))
    for named in code_names(raw):
        a, b = sentence.start + named.start, sentence.start + named.end
        out.append(_Found(named.text, a, b, ClaimKind.PROCEDURAL, checkable=True))
    return out


_FEWEST_WORDS = 3
_LONG_LABEL = 7
"""Words from which a text in code is taken for a sentence even if no verb is known in it."""


def _intro_kind(text: str) -> ClaimKind:
    return ClaimKind.ABSTENTION if statement_kinds.is_abstention(text[:-1]) else ClaimKind.META


def _introduction_states(text: str) -> bool:
    """Whether a line that introduces a list says something by itself: a whole sentence with a value in it."""
    if statement_kinds.is_meta(text + ":") or statement_kinds.is_meta(text) or statement_kinds.is_abstention(text):
        return False
    tokens = tokenise(text)
    return stands_alone(tokens) and (
        any(token.tag in {"NUM", "QUOTE"} for token in tokens) or len(tokens) >= _LONG_INTRODUCTION
    )


_LONG_INTRODUCTION = 12
"""Words."""


def _bold_line(raw: str) -> bool:
    bare = raw.strip()
    return re.fullmatch(r"(\*\*|__)[^*_\n]{1,120}\1:?", bare) is not None and bare[-3:-2] not in _ENDS


def _heading(raw: str, cleaned: Cleaned, sentence: Sentence) -> _Found:
    """A heading is checkable where it says something: a verb, a number, a value behind a colon."""
    words = _NUMBERED.sub("", cleaned.text)
    tokens = tokenise(words)
    told = bool(tokens) and tokens[0].tag == "PRON"
    modal = told or (bool(tokens) and tokens[0].tag != "SUB" and any(token.tag == "AUX" for token in tokens[1:]))
    counted = any(token.tag == "NUM" or token.low in _QUANTIFIERS for token in tokens)
    valued = any(token.tag in {":", "=", "–", "—"} for token in tokens[1:-1])
    dated = not {"date", "identifier"}.isdisjoint(critical_reasons(words, words))
    says = not is_fragment(words) or modal or dated or counted or valued or any(c.isdigit() for c in words)
    meta = statement_kinds.is_meta(words) or statement_kinds.is_question(words)
    checkable = says and not meta and any(c.isalnum() for c in words)
    kind = statement_kinds.statement_kind(cleaned.text) if checkable else ClaimKind.META
    return _Found(cleaned.text or raw, sentence.start, sentence.end, kind, checkable)


_QUANTIFIERS = frozenset("no all every each any never always only without unlimited".split())  # noqa: SIM905
"""Words with which a phrase without a verb says how far something goes: `Unlimited leave for all partners`."""


def _item(cleaned: Cleaned, sentence: Sentence, intro: str) -> _Found | None:
    """A list item that is no sentence, joined to the line that introduces it; none where it stands for itself."""
    item = cleaned.text.rstrip(";,")
    if not is_fragment(item) or len(intro) > _ITEM_LIMIT or ":" in item:
        return None
    if statement_kinds.is_abstention(item) or statement_kinds.is_abstention(intro):
        return None
    words = tokenise(intro)
    last = words[-1]
    open_verb = last.tag in {"AUX", "V", "VN", "PREP"} or (last.tag == "VA" and words[0].tag in {"DET", "PRON"})
    bare_intro = statement_kinds.is_meta(intro + ":")
    if bare_intro:
        joined = item
    elif last.low == "following":
        joined = render([t for t in words[:-1] if t is not words[-2] or t.low != "the"]) + " " + _lower_first(item)
    elif open_verb:
        joined = f"{intro} {_lower_first(item)}"
    else:
        joined = f"{intro}: {item}"
    kind = statement_kinds.statement_kind(joined)
    return _Found(_sentence_case(joined, ended=True), sentence.start, sentence.end, kind, checkable=True)


def _lower_first(item: str) -> str:
    word = item.split(" ", 1)[0]
    plain = len(word) > 1 and word[0].isupper() and word[1:].islower()
    common = tokenise(word)[0].tag != "NAME" or (
        len(item.split(" ", 2)) > 1 and not item.split(" ", 2)[1][:1].isupper()
    )
    return item[0].lower() + item[1:] if plain and common else item


def _read_row(raw: str, sentence: Sentence, memory: _Memory) -> list[_Found]:
    """A table row as `Column: value` statements, each with the row's first cell; the head itself is no claim."""
    row = read_row(raw)
    if opens_table(raw):
        memory.header = None
    if memory.header is None:
        memory.header = row
        if row.is_head or memory.block != "table_row" or opens_table(raw):
            head = row.is_head
            plain = "; ".join(c for c in row.cells if c) or raw
            kind = ClaimKind.META if head else ClaimKind.FACTUAL
            return [_Found(plain, sentence.start, sentence.end, kind, checkable=not head)]
    values = attribute_values(raw)[0] if "<" in raw else []  # what a mark says is read as anywhere else
    found = [
        _Found(v, sentence.start + a, sentence.start + b, statement_kinds.statement_kind(v), True) for v, a, b in values
    ]
    names = memory.header.cells if memory.header.is_head else ()
    key = _named(names, 0, row.cells[0]) if row.cells else ""
    for i, cell in enumerate(row.cells):
        if (i == 0 and sum(bool(c) for c in row.cells) > 1) or not any(c.isalnum() for c in cell):
            continue
        value = _named(names, i, cell)
        a, b = row.spans[i]
        statement = f"{key}; {value}" if i and key else value
        column = names[i] if i < len(names) else ""
        where = (row.cells[0] if i else "", column) if column else None
        place = (sentence.start + a, sentence.start + b)
        found.append(_Found(statement, *place, ClaimKind.FACTUAL, True, cell, cell=where))
    if found:
        return found
    return [_Found(raw.strip(), sentence.start, sentence.end, ClaimKind.META, checkable=False)]


def _named(names: tuple[str, ...], i: int, cell: str) -> str:
    return f"{names[i]}: {cell}" if i < len(names) and names[i] and cell else cell


def _read_prose(raw: str, cleaned: Cleaned, sentence: Sentence, memory: _Memory) -> list[_Found]:
    """The statements of one sentence of prose."""
    text = cleaned.text
    whole = (sentence.start, sentence.end)
    lead = statement_kinds.strip_lead_in(text)
    body = text[lead:]
    if statement_kinds.is_abstention(text) or statement_kinds.is_abstention(body):
        return [_Found(text, *whole, ClaimKind.ABSTENTION, checkable=statement_kinds.names_topic(text))]
    if statement_kinds.is_meta(text) or statement_kinds.is_meta(body):
        taken = presupposed(body) if body.rstrip().endswith("?") else None
        if taken is not None:
            return [_Found(_sentence_case(taken, ended=True), *whole, ClaimKind.FACTUAL, checkable=True)]
        if statement_kinds.is_question(body):
            memory.said, memory.asked = body[-_LONGEST_BEFORE:], True
        return [_Found(text, *whole, ClaimKind.META, checkable=False)]
    agreed = presupposed(body) if _EXPECTS_YES.match(body) is not None else None
    if agreed is not None:  # "Doesn't it take 9 weeks?"
        return [_Found(_sentence_case(agreed, ended=True), *whole, ClaimKind.FACTUAL, checkable=True)]
    turn = statement_kinds.abstention_turn(body)
    out: list[_Found] = []
    begin = 0
    if turn > 0 and any(c.isalnum() for c in body[turn:]):
        a, b = cleaned.source_span(0, lead + turn, len(raw))
        b = len(raw[:b].rstrip())
        said = text[: lead + turn].strip()
        out.append(
            _Found(said, whole[0] + a, whole[0] + b, ClaimKind.ABSTENTION, checkable=statement_kinds.names_topic(said))
        )
        lead, begin = lead + turn, lead + turn
        body = text[lead:]
    if statement_kinds.is_opinion(body, critical_reasons(body, raw)):
        return [*out, _Found(body, *whole, ClaimKind.UNCERTAIN, checkable=False)]
    return out + _statements(raw, cleaned, (begin, lead), sentence, memory)


def _statements(
    raw: str, cleaned: Cleaned, place: tuple[int, int], sentence: Sentence, memory: _Memory
) -> list[_Found]:
    """The atomic statements from `begin` on, of which the part up to `lead` is only a lead-in."""
    begin, lead = place
    body = cleaned.text[lead:]
    in_full = _in_full(body, memory)
    if in_full:
        memory.said, memory.asked, memory.previous, memory.subject = body, False, tokenise(in_full[-1]), []
        kind = statement_kinds.statement_kind(in_full[-1])
        ended = body[-1:] in ".!"
        return [
            _Found(_sentence_case(in_plain_words(said), ended), sentence.start, sentence.end, kind, True)
            for said in in_full
        ]
    tail = statement_kinds.strip_tail(body)
    if tail < len(body):  # what ends the sentence stays
        body = body[:tail] + (cleaned.text[-1] if cleaned.text[-1] in ".!" else "")
    kind = statement_kinds.statement_kind(cleaned.text)
    imperative = kind is ClaimKind.PROCEDURAL and not critical_commitment(body)
    tokens = tokenise(body)
    pieces = [piece(tokens, tokens)] if imperative else _split(tokens)
    ended = cleaned.text.endswith((".", "!"))
    if len(pieces) == 1:
        ended = False
    resolved = _antecedent(pieces, memory) if pieces else []
    last = max((p.end for p in pieces), default=0)
    whole = _whole(body, tokens, resolved) if len(pieces) > 1 else None
    answers = memory.asked and len(tokens) <= _SHORT_ANSWER
    before = memory.said if not resolved and (answers or refers_back(tokens)) else None
    out = []
    for number, part in enumerate(pieces):
        words = list(part.tokens)
        if resolved and opens_with_pronoun(words) == opens_with_pronoun(pieces[0].tokens) != "":
            words = [*resolved, *words[1:]]
        changed = len(pieces) > 1 or words != list(part.tokens)
        said = render(words) if changed else body
        first = lead + part.start if number else begin
        a, b = cleaned.source_span(first, lead + part.end, len(raw))
        b = len(raw) if part.end == last else len(raw[:b].rstrip())
        finished = _sentence_case(in_plain_words(said), ended or (changed and cleaned.text[-1] in ".!"))
        own_kind = statement_kinds.statement_kind(said) if changed and kind is ClaimKind.UNCERTAIN else kind
        out.append(_Found(finished, sentence.start + a, sentence.start + b, own_kind, True, whole=whole, before=before))
    memory.said, memory.asked = body if len(body) <= _LONGEST_BEFORE else "", False
    memory.previous = tokens
    memory.subject = resolved or subject(tokens)
    return out


def _in_full(body: str, memory: _Memory) -> Sequence[str]:
    """The statements of a sentence that leaves a part of them out; none where it leaves out nothing."""
    whole = completed(body, memory.previous, memory.said if memory.asked else "")
    return (whole,) if whole is not None else said_of_both(body) or marked(body)


def _whole(body: str, tokens: list[Token], resolved: list[Token]) -> str:
    """What the pieces were cut from, its opening pronoun replaced where theirs is."""
    said = render([*resolved, *tokens[1:]]) if resolved and opens_with_pronoun(tokens) else body
    return _sentence_case(said, ended=body[-1:] in ".!")


def critical_commitment(text: str) -> bool:
    """Whether the statement commits to an act, and so is procedural without being an instruction."""
    return "commitment" in critical_reasons(text, text)


_LONGEST_BEFORE = 400
"""Characters of a sentence that the next one is read behind."""
_SHORT_ANSWER = 8
"""Words and marks of what answers a question that the text itself asks."""
_ELSEWHERE = 1 << 40
"""Farther than any text is long."""


def _antecedent(pieces: list[Piece], memory: _Memory) -> list[Token]:
    pronoun = opens_with_pronoun(pieces[0].tokens)
    found = antecedent(memory.previous, memory.subject, pronoun) if pronoun and memory.previous else []
    # Of another sentence: none of its places may be taken for one beside a word of this.
    return [token._replace(start=token.start + _ELSEWHERE, end=token.end + _ELSEWHERE) for token in found]
