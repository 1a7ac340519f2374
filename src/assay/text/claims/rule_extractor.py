"""Extracts atomic claims by rules: each statement of a text once, as a sentence of its own with its place.

The steps for one sentence:

1. remove markup and citation markers (`sentences.markup`) and set the lead-in aside (`kinds.lead_ins`);
2. keep a sentence that is wholly a courtesy, a question or an abstention as an uncheckable statement (`kinds`);
3. split off clauses, relative clauses, verb phrases, adjuncts and lists (`splitting`), in that order;
4. replace an opening pronoun if the sentence before has exactly one safe antecedent (`pronouns`);
5. determine the kind, the hedge score and the critical reasons of each result.

Code, headings, list items and table rows have readers of their own (`readers`). When in doubt, nothing is split: a
wrong split raises a false alarm, a missed one only makes a coarser finding.
"""

import re
from dataclasses import replace

from assay.schema import ClaimKind, ExtractedClaim, Span
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.hedging import hedge_score
from assay.text.claims.readers.code import read_code
from assay.text.claims.readers.layout import (
    bold_line,
    intro_kind,
    introduction_states,
    read_heading,
    read_item,
    read_row_statements,
)
from assay.text.claims.readers.prose import read_prose
from assay.text.claims.readers.statement import Statement, TextContext
from assay.text.lexicon.tokens import tokenise
from assay.text.rewording.short_answers import agrees, asked_statement, opening_word
from assay.text.sentences.code_block_data import prose_rows
from assay.text.sentences.markup import attribute_values, clean
from assay.text.sentences.splitting import Sentence, split_sentences

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class RuleClaimExtractor:
    """Extracts atomic claims by word lists and rules for English; other languages are split into sentences only."""

    @property
    def name(self) -> str:
        """Name and version of the rules."""
        return "rules-1"

    def extract(self, text: str, question: str | None = None) -> list[ExtractedClaim]:
        """All statements of the text in reading order, checkable or not; their spans are slices of the text.

        Every letter and digit of the text is in the sentence span of some statement. With a question, an answer that
        is only a phrase (`4 weeks`, `Yes`) is a checkable claim.

        >>> [c.text for c in RuleClaimExtractor().extract("Acme makes oars and employs 40 people. Thanks!")]
        ['Acme makes oars.', 'Acme employs 40 people.', 'Thanks!']
        """
        context = TextContext()
        asked = question is not None and bool(question.strip())
        claims: list[ExtractedClaim] = []
        sentences = [s for s in split_sentences(text) if _LETTER_OR_DIGIT.search(text, s.start, s.end) is not None]
        for index, sentence in enumerate(sentences):
            following = sentences[index + 1] if index + 1 < len(sentences) else None
            for statement in _read(text, sentence, following, context):
                checkable, kind = statement.checkable, statement.kind
                if (
                    asked
                    and kind is ClaimKind.META
                    and not checkable
                    and _answers_question(text, question or "", statement.text)
                ):
                    checkable, kind = True, ClaimKind.FACTUAL
                claims.append(_claim(text, sentence, index, statement, checkable, kind))
            context.block = sentence.block
        opening = _opening_answer(text, question, claims[0]) if claims and question is not None else None
        return claims if opening is None else [opening, *claims]


def _answers_question(text: str, question: str, answer: str) -> bool:
    """Whether a sentence that only says yes or no answers the question, unlike the "Sure!" before a requested text."""
    if agrees(answer) is None:
        return False
    asked = asked_statement(question)
    third = asked is not None and not any(token.low in _PERSONAL_WORDS for token in tokenise(asked))
    return third or text.strip() == answer.strip() or agrees(text) is not None


_PERSONAL_WORDS = frozenset("i my me we our us mine ours you your".split())  # noqa: SIM905


def _opening_answer(text: str, question: str, first: ExtractedClaim) -> ExtractedClaim | None:
    """The "yes" or "no" that opens a longer answer, as a claim of its own.

    The rest may be true and the answer still wrong ("Yes, partners get leave." to "Is it four weeks?"). None where the
    question is about the user: what answers "Can I bring my dog?" is a rule for everyone.
    """
    if not first.checkable or agrees(first.text) is not None:
        return None
    place = opening_word(text[first.sentence.start : first.sentence.end])
    asked = asked_statement(question) if place is not None else None
    if place is None or asked is None or any(token.low in _PERSONAL_WORDS for token in tokenise(asked)):
        return None
    start = first.sentence.start
    span = Span(start=start + place[0], end=start + place[1])
    return first.model_copy(
        update={
            "text": text[span.start : span.end],
            "span": span,
            "kind": ClaimKind.FACTUAL,
            "critical": (),
            "hedge": 0.0,
            "whole": None,
            "before": None,
        }
    )


def _claim(
    text: str, sentence: Sentence, index: int, statement: Statement, checkable: bool, kind: ClaimKind
) -> ExtractedClaim:
    return ExtractedClaim(
        text=_SURROGATE.sub("\ufffd", statement.text),  # JSON cannot represent a lone surrogate
        span=Span(start=statement.start, end=statement.end),
        sentence=Span(start=sentence.start, end=sentence.end),
        kind=kind,
        checkable=checkable,
        critical=critical_reasons(statement.value or statement.text, text[statement.start : statement.end]),
        hedge=hedge_score(statement.text),
        sentence_index=index,
        whole=_SURROGATE.sub("\ufffd", statement.whole) if statement.whole else None,
        before=_SURROGATE.sub("\ufffd", statement.before) if statement.before else None,
        cell=(_SURROGATE.sub("\ufffd", statement.cell[0]), _SURROGATE.sub("\ufffd", statement.cell[1]))
        if statement.cell
        else None,
    )


def _read(text: str, sentence: Sentence, following: Sentence | None, context: TextContext) -> list[Statement]:
    """The statements of one sentence."""
    raw = text[sentence.start : sentence.end]
    if sentence.block != "table_row":
        context.header = None
    if sentence.block == "code":
        return read_code(raw, sentence)
    if sentence.block == "table_row":
        return read_row_statements(raw, sentence, context)
    if sentence.block == "prose" and "\n" in raw and (rows := prose_rows(raw)):
        places = [(sentence.start + row.start, sentence.start + row.end) for row in rows]
        return [Statement(row.text, a, b, ClaimKind.FACTUAL, True) for row, (a, b) in zip(rows, places, strict=True)]
    values, raw_text = attribute_values(raw)
    if values:
        rest = clean(raw_text)
        statements = read_prose(raw, rest, sentence, context) if any(c.isalnum() for c in rest.text) else []
        for value, a, b in values:
            statements += _read_value(value, Sentence(sentence.start + a, sentence.start + b, sentence.block), context)
        return statements
    cleaned = clean(raw)
    if not any(c.isalnum() for c in cleaned.text):
        return [Statement(raw, sentence.start, sentence.end, ClaimKind.META, checkable=False)]
    if sentence.block == "heading" or bold_line(raw):
        context.intro, context.subject_tokens, context.previous_tokens, context.previous_text = "", [], [], ""
        return [read_heading(raw, cleaned, sentence)]
    introduces = cleaned.text.endswith((":", "：")) and following is not None
    if introduces and following is not None and following.block in {"list_item", "table_row", "code", "quote"}:
        context.intro = cleaned.text[:-1].strip() if following.block == "list_item" else ""
        if sentence.block != "list_item" and not introduction_states(cleaned.text[:-1]):
            return [Statement(cleaned.text, sentence.start, sentence.end, intro_kind(cleaned.text), checkable=False)]
    elif sentence.block != "list_item":
        context.intro = ""
    if sentence.block == "list_item" and context.intro and not introduces:
        joined = read_item(cleaned, sentence, context.intro)
        if joined is not None:
            return [joined]
    return read_prose(raw, cleaned, sentence, context)


def _read_value(value: str, place: Sentence, context: TextContext) -> list[Statement]:
    """The statements of a note, a title or an alternative text, which are no context for the next sentence."""
    context, statements = replace(context), []
    for part in split_sentences(value):
        raw = value[part.start : part.end]
        cleaned = clean(raw)
        if any(c.isalnum() for c in cleaned.text):
            statements += read_prose(
                raw, cleaned, Sentence(place.start + part.start, place.start + part.end, "prose"), context
            )
    return statements
