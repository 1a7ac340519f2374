"""The statements of one sentence of prose."""

import re
from collections.abc import Sequence

from assay.schema import ClaimKind
from assay.text.claims.clauses import (
    Piece,
    piece,
)
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.ellipsis import completed, marked, said_of_both
from assay.text.claims.kinds.abstentions import abstention_turn, is_abstention, names_topic
from assay.text.claims.kinds.courtesies import is_meta
from assay.text.claims.kinds.lead_ins import strip_lead_in, strip_tail
from assay.text.claims.kinds.questions import is_question
from assay.text.claims.kinds.statements import is_opinion, statement_kind
from assay.text.claims.pronouns import antecedent, opens_with_pronoun, refers_back, subject
from assay.text.claims.readers.found import Found, Memory, sentence_case
from assay.text.claims.splitting import split_tokens
from assay.text.lexicon.tokens import Token, render, tokenise
from assay.text.rewording.plain_wording import in_plain_words
from assay.text.rewording.short_answers import presupposed
from assay.text.sentences.markup import Cleaned
from assay.text.sentences.splitting import Sentence

_EXPECTS_YES = re.compile(r"\w{2,6}n['’]t\s[^?]{4,300}\?\s*$", re.IGNORECASE)
"""A question that its speaker says yes to: "Doesn't it take 9 weeks?"."""


def read_prose(raw: str, cleaned: Cleaned, sentence: Sentence, memory: Memory) -> list[Found]:
    """The statements of one sentence of prose."""
    text = cleaned.text
    whole = (sentence.start, sentence.end)
    lead = strip_lead_in(text)
    body = text[lead:]
    if is_abstention(text) or is_abstention(body):
        return [Found(text, *whole, ClaimKind.ABSTENTION, checkable=names_topic(text))]
    if is_meta(text) or is_meta(body):
        taken = presupposed(body) if body.rstrip().endswith("?") else None
        if taken is not None:
            return [Found(sentence_case(taken, ended=True), *whole, ClaimKind.FACTUAL, checkable=True)]
        if is_question(body):
            memory.said, memory.asked = body[-_LONGEST_BEFORE:], True
        return [Found(text, *whole, ClaimKind.META, checkable=False)]
    agreed = presupposed(body) if _EXPECTS_YES.match(body) is not None else None
    if agreed is not None:  # "Doesn't it take 9 weeks?"
        return [Found(sentence_case(agreed, ended=True), *whole, ClaimKind.FACTUAL, checkable=True)]
    turn = abstention_turn(body)
    out: list[Found] = []
    begin = 0
    if turn > 0 and any(c.isalnum() for c in body[turn:]):
        a, b = cleaned.source_span(0, lead + turn, len(raw))
        b = len(raw[:b].rstrip())
        said = text[: lead + turn].strip()
        out.append(Found(said, whole[0] + a, whole[0] + b, ClaimKind.ABSTENTION, checkable=names_topic(said)))
        lead, begin = lead + turn, lead + turn
        body = text[lead:]
    if is_opinion(body, critical_reasons(body, raw)):
        return [*out, Found(body, *whole, ClaimKind.UNCERTAIN, checkable=False)]
    return out + _statements(raw, cleaned, (begin, lead), sentence, memory)


def _statements(raw: str, cleaned: Cleaned, place: tuple[int, int], sentence: Sentence, memory: Memory) -> list[Found]:
    """The atomic statements from `begin` on, of which the part up to `lead` is only a lead-in."""
    begin, lead = place
    body = cleaned.text[lead:]
    in_full = _in_full(body, memory)
    if in_full:
        memory.said, memory.asked, memory.previous, memory.subject = body, False, tokenise(in_full[-1]), []
        kind = statement_kind(in_full[-1])
        ended = body[-1:] in ".!"
        return [
            Found(sentence_case(in_plain_words(said), ended), sentence.start, sentence.end, kind, True)
            for said in in_full
        ]
    tail = strip_tail(body)
    if tail < len(body):  # what ends the sentence stays
        body = body[:tail] + (cleaned.text[-1] if cleaned.text[-1] in ".!" else "")
    kind = statement_kind(cleaned.text)
    imperative = kind is ClaimKind.PROCEDURAL and not critical_commitment(body)
    tokens = tokenise(body)
    pieces = [piece(tokens, tokens)] if imperative else split_tokens(tokens)
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
        finished = sentence_case(in_plain_words(said), ended or (changed and cleaned.text[-1] in ".!"))
        own_kind = statement_kind(said) if changed and kind is ClaimKind.UNCERTAIN else kind
        out.append(Found(finished, sentence.start + a, sentence.start + b, own_kind, True, whole=whole, before=before))
    memory.said, memory.asked = body if len(body) <= _LONGEST_BEFORE else "", False
    memory.previous = tokens
    memory.subject = resolved or subject(tokens)
    return out


def _in_full(body: str, memory: Memory) -> Sequence[str]:
    """The statements of a sentence that leaves a part of them out; none where it leaves out nothing."""
    whole = completed(body, memory.previous, memory.said if memory.asked else "")
    return (whole,) if whole is not None else said_of_both(body) or marked(body)


def _whole(body: str, tokens: list[Token], resolved: list[Token]) -> str:
    """What the pieces were cut from, its opening pronoun replaced where theirs is."""
    said = render([*resolved, *tokens[1:]]) if resolved and opens_with_pronoun(tokens) else body
    return sentence_case(said, ended=body[-1:] in ".!")


def critical_commitment(text: str) -> bool:
    """Whether the statement commits to an act, and so is procedural without being an instruction."""
    return "commitment" in critical_reasons(text, text)


_LONGEST_BEFORE = 400
"""Characters of a sentence that the next one is read behind."""
_SHORT_ANSWER = 8
"""Words and marks of what answers a question that the text itself asks."""
_ELSEWHERE = 1 << 40
"""Farther than any text is long."""


def _antecedent(pieces: list[Piece], memory: Memory) -> list[Token]:
    pronoun = opens_with_pronoun(pieces[0].tokens)
    found = antecedent(memory.previous, memory.subject, pronoun) if pronoun and memory.previous else []
    # Of another sentence: none of its places may be taken for one beside a word of this.
    return [token._replace(start=token.start + _ELSEWHERE, end=token.end + _ELSEWHERE) for token in found]
