"""Atomic claims by rules alone: each statement of a text once, as a sentence of its own, with the place it came from.

The order of work for one sentence:

1. its markup and citation markers are taken out (`sentences.markup`), its lead-in is set aside (`kinds.lead_ins`);
2. a whole-sentence courtesy, question or abstention is kept as a statement that nobody can check (`kinds`);
3. clauses, relative clauses, verb phrases, adjuncts and lists are parted (`splitting`), in that order;
4. an opening pronoun is replaced where one safe antecedent is in the sentence before (`pronouns`);
5. kind, hedge and critical marks are read off the result.

Code, headings, list items and table rows have readers of their own (`readers`). When in doubt nothing is parted: a
wrong cut makes a false alarm, a missed one only makes a coarser finding.
"""

import re
from dataclasses import replace

from assay.schema import ClaimKind, ExtractedClaim, Span
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.hedging import hedge_score
from assay.text.claims.readers.code import read_code
from assay.text.claims.readers.found import Found, Memory
from assay.text.claims.readers.layout import (
    bold_line,
    intro_kind,
    introduction_states,
    read_heading,
    read_item,
    read_row_statements,
)
from assay.text.claims.readers.prose import read_prose
from assay.text.lexicon.tokens import tokenise
from assay.text.rewording.short_answers import agrees, asked_statement, opening_word
from assay.text.sentences.code_block_data import prose_rows
from assay.text.sentences.markup import attribute_values, clean
from assay.text.sentences.splitting import Sentence, split_sentences

_SPEAKS = re.compile(r"[^\W_]")
_SURROGATE = re.compile("[\ud800-\udfff]")


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
        memory = Memory()
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
            "text": text[span.start : span.end],
            "span": span,
            "kind": ClaimKind.FACTUAL,
            "critical": (),
            "hedge": 0.0,
            "whole": None,
            "before": None,
        }
    )


def _claim(text: str, sentence: Sentence, index: int, found: Found, checkable: bool, kind: ClaimKind) -> ExtractedClaim:
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


def _read(text: str, sentence: Sentence, following: Sentence | None, memory: Memory) -> list[Found]:
    """The statements of one sentence."""
    raw = text[sentence.start : sentence.end]
    if sentence.block != "table_row":
        memory.header = None
    if sentence.block == "code":
        return read_code(raw, sentence)
    if sentence.block == "table_row":
        return read_row_statements(raw, sentence, memory)
    if sentence.block == "prose" and "\n" in raw and (rows := prose_rows(raw)):
        places = [(sentence.start + row.start, sentence.start + row.end) for row in rows]
        return [Found(row.text, a, b, ClaimKind.FACTUAL, True) for row, (a, b) in zip(rows, places, strict=True)]
    values, raw_text = attribute_values(raw)
    if values:
        rest = clean(raw_text)
        found = read_prose(raw, rest, sentence, memory) if any(c.isalnum() for c in rest.text) else []
        for value, a, b in values:
            found += _read_value(value, Sentence(sentence.start + a, sentence.start + b, sentence.block), memory)
        return found
    cleaned = clean(raw)
    if not any(c.isalnum() for c in cleaned.text):
        return [Found(raw, sentence.start, sentence.end, ClaimKind.META, checkable=False)]
    if sentence.block == "heading" or bold_line(raw):
        memory.intro, memory.subject, memory.previous, memory.said = "", [], [], ""
        return [read_heading(raw, cleaned, sentence)]
    introduces = cleaned.text.endswith((":", "：")) and following is not None
    if introduces and following is not None and following.block in {"list_item", "table_row", "code", "quote"}:
        memory.intro = cleaned.text[:-1].strip() if following.block == "list_item" else ""
        if sentence.block != "list_item" and not introduction_states(cleaned.text[:-1]):
            return [Found(cleaned.text, sentence.start, sentence.end, intro_kind(cleaned.text), checkable=False)]
    elif sentence.block != "list_item":
        memory.intro = ""
    if sentence.block == "list_item" and memory.intro and not introduces:
        joined = read_item(cleaned, sentence, memory.intro)
        if joined is not None:
            return [joined]
    return read_prose(raw, cleaned, sentence, memory)


def _read_value(value: str, place: Sentence, memory: Memory) -> list[Found]:
    """The statements of a note, a title or an alternative text, which the next sentence does not refer to."""
    memory, found = replace(memory), []
    for one in split_sentences(value):
        raw = value[one.start : one.end]
        cleaned = clean(raw)
        if any(c.isalnum() for c in cleaned.text):
            found += read_prose(raw, cleaned, Sentence(place.start + one.start, place.start + one.end, "prose"), memory)
    return found
