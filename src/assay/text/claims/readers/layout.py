"""The statements of headings, list items and table rows."""

import re

from assay.schema import ClaimKind
from assay.text.claims.answer_fragments import is_fragment
from assay.text.claims.clauses import (
    stands_alone,
)
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.kinds.abstentions import is_abstention
from assay.text.claims.kinds.courtesies import is_meta
from assay.text.claims.kinds.questions import is_question
from assay.text.claims.kinds.statements import statement_kind
from assay.text.claims.readers.statement import Statement, TextContext, sentence_case
from assay.text.claims.splitting import SENTENCE_ENDS
from assay.text.lexicon.tokens import render, tokenise
from assay.text.sentences.markup import Cleaned, attribute_values
from assay.text.sentences.splitting import Sentence
from assay.text.sentences.tables import opens_table, read_row

_ITEM_LIMIT = 400
"""The most characters of an introductory line that is joined to its items."""
_NUMBERED = re.compile(
    r"^[ \t#*_>]*(?:\d{1,3}(?:\.\d{1,3})+[.)]?|\d{1,3}[.)]|(?:step|part|chapter|section)\s\d{1,3}[.:)]?|"
    r"\d{1,3}(?=\s+(?-i:[A-Z]))(?!\s+(?:seconds|minutes|hours|days|weeks|months|years|percent)\b))\s+",
    re.IGNORECASE,
)


def intro_kind(text: str) -> ClaimKind:
    """The kind of a line that only introduces what follows: an abstention, or otherwise meta."""
    return ClaimKind.ABSTENTION if is_abstention(text[:-1]) else ClaimKind.META


def introduction_states(text: str) -> bool:
    """Whether a line that introduces a list is itself a statement: a long sentence, or one with a value in it."""
    if is_meta(text + ":") or is_meta(text) or is_abstention(text):
        return False
    tokens = tokenise(text)
    return stands_alone(tokens) and (
        any(token.tag in {"NUM", "QUOTE"} for token in tokens) or len(tokens) >= _LONG_INTRODUCTION
    )


_LONG_INTRODUCTION = 12
"""Words."""


def bold_line(raw: str) -> bool:
    """Whether a whole line is bold and not a sentence, and so a heading in other markup."""
    stripped = raw.strip()
    return re.fullmatch(r"(\*\*|__)[^*_\n]{1,120}\1:?", stripped) is not None and stripped[-3:-2] not in SENTENCE_ENDS


def read_heading(raw: str, cleaned: Cleaned, sentence: Sentence) -> Statement:
    """The statement of a heading; checkable if it has a verb, a number, a date, a quantifier or a value."""
    words = _NUMBERED.sub("", cleaned.text)
    tokens = tokenise(words)
    starts_with_pronoun = bool(tokens) and tokens[0].tag == "PRON"
    modal = starts_with_pronoun or (
        bool(tokens) and tokens[0].tag != "SUB" and any(token.tag == "AUX" for token in tokens[1:])
    )
    counted = any(token.tag == "NUM" or token.low in _QUANTIFIERS for token in tokens)
    valued = any(token.tag in {":", "=", "–", "—"} for token in tokens[1:-1])
    dated = not {"date", "identifier"}.isdisjoint(critical_reasons(words, words))
    says = not is_fragment(words) or modal or dated or counted or valued or any(c.isdigit() for c in words)
    meta = is_meta(words) or is_question(words)
    checkable = says and not meta and any(c.isalnum() for c in words)
    kind = statement_kind(cleaned.text) if checkable else ClaimKind.META
    return Statement(cleaned.text or raw, sentence.start, sentence.end, kind, checkable)


_QUANTIFIERS = frozenset("no all every each any never always only without unlimited".split())  # noqa: SIM905
"""Words with which a phrase without a verb makes a claim about extent: `Unlimited leave for all partners`."""


def read_item(cleaned: Cleaned, sentence: Sentence, intro: str) -> Statement | None:
    """A list item that is a phrase, joined to its introductory line; none where the item is read as prose instead."""
    item = cleaned.text.rstrip(";,")
    if not is_fragment(item) or len(intro) > _ITEM_LIMIT or ":" in item:
        return None
    if is_abstention(item) or is_abstention(intro):
        return None
    words = tokenise(intro)
    last = words[-1]
    open_verb = last.tag in {"AUX", "V", "VN", "PREP"} or (last.tag == "VA" and words[0].tag in {"DET", "PRON"})
    bare_intro = is_meta(intro + ":")
    if bare_intro:
        joined = item
    elif last.low == "following":
        joined = render([t for t in words[:-1] if t is not words[-2] or t.low != "the"]) + " " + _lower_first(item)
    elif open_verb:
        joined = f"{intro} {_lower_first(item)}"
    else:
        joined = f"{intro}: {item}"
    kind = statement_kind(joined)
    return Statement(sentence_case(joined, ended=True), sentence.start, sentence.end, kind, checkable=True)


def _lower_first(item: str) -> str:
    word = item.split(" ", 1)[0]
    plain = len(word) > 1 and word[0].isupper() and word[1:].islower()
    common = tokenise(word)[0].tag != "NAME" or (
        len(item.split(" ", 2)) > 1 and not item.split(" ", 2)[1][:1].isupper()
    )
    return item[0].lower() + item[1:] if plain and common else item


def read_row_statements(raw: str, sentence: Sentence, context: TextContext) -> list[Statement]:
    """A table row as `Column: value` statements, each with the row's first cell; the head itself is not a claim."""
    row = read_row(raw)
    if opens_table(raw):
        context.header = None
    if context.header is None:
        context.header = row
        if row.is_head or context.block != "table_row" or opens_table(raw):
            head = row.is_head
            plain = "; ".join(c for c in row.cells if c) or raw
            kind = ClaimKind.META if head else ClaimKind.FACTUAL
            return [Statement(plain, sentence.start, sentence.end, kind, checkable=not head)]
    values = attribute_values(raw)[0] if "<" in raw else []  # titles and alternative texts are read in tables as well
    found = [Statement(v, sentence.start + a, sentence.start + b, statement_kind(v), True) for v, a, b in values]
    names = context.header.cells if context.header.is_head else ()
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
        found.append(Statement(statement, *place, ClaimKind.FACTUAL, True, cell, cell=where))
    if found:
        return found
    return [Statement(raw.strip(), sentence.start, sentence.end, ClaimKind.META, checkable=False)]


def _named(names: tuple[str, ...], i: int, cell: str) -> str:
    return f"{names[i]}: {cell}" if i < len(names) and names[i] and cell else cell
