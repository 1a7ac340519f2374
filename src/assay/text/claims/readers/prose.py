"""The statements of one sentence of prose."""

import re
from collections.abc import Sequence

from assay.schema import ClaimKind
from assay.text.claims.clauses import (
    Clause,
    clause_of,
)
from assay.text.claims.criticality import critical_reasons
from assay.text.claims.ellipsis import complete_statement, read_labels, split_shared_predicate
from assay.text.claims.kinds.abstentions import abstention_turn, is_abstention, names_topic
from assay.text.claims.kinds.courtesies import is_meta
from assay.text.claims.kinds.lead_ins import strip_lead_in, strip_tail
from assay.text.claims.kinds.questions import is_question
from assay.text.claims.kinds.statements import is_opinion, statement_kind
from assay.text.claims.pronouns import antecedent, opens_with_pronoun, plain_subject, refers_back
from assay.text.claims.readers.statement import Statement, TextContext, sentence_case
from assay.text.claims.splitting import split_tokens
from assay.text.lexicon.tokens import Token, render, tokenise
from assay.text.rewording.plain_wording import in_plain_words
from assay.text.rewording.short_answers import presupposed
from assay.text.sentences.markup import Cleaned
from assay.text.sentences.splitting import Sentence

_EXPECTS_YES = re.compile(r"\w{2,6}n['’]t\s[^?]{4,300}\?\s*$", re.IGNORECASE)
"""A question that expects a yes: "Doesn't it take 9 weeks?"."""


def read_prose(raw: str, cleaned: Cleaned, sentence: Sentence, context: TextContext) -> list[Statement]:
    """The statements of one sentence of prose."""
    text = cleaned.text
    whole = (sentence.start, sentence.end)
    lead = strip_lead_in(text)
    body = text[lead:]
    if is_abstention(text) or is_abstention(body):
        return [Statement(text, *whole, ClaimKind.ABSTENTION, checkable=names_topic(text))]
    if is_meta(text) or is_meta(body):
        presupposition = presupposed(body) if body.rstrip().endswith("?") else None
        if presupposition is not None:
            return [Statement(sentence_case(presupposition, ended=True), *whole, ClaimKind.FACTUAL, checkable=True)]
        if is_question(body):
            context.previous_text, context.previous_is_question = body[-_LONGEST_BEFORE:], True
        return [Statement(text, *whole, ClaimKind.META, checkable=False)]
    implied = presupposed(body) if _EXPECTS_YES.match(body) is not None else None
    if implied is not None:
        return [Statement(sentence_case(implied, ended=True), *whole, ClaimKind.FACTUAL, checkable=True)]
    turn = abstention_turn(body)
    statements: list[Statement] = []
    begin = 0
    if turn > 0 and any(c.isalnum() for c in body[turn:]):
        a, b = cleaned.source_span(0, lead + turn, len(raw))
        b = len(raw[:b].rstrip())
        said = text[: lead + turn].strip()
        statements.append(
            Statement(said, whole[0] + a, whole[0] + b, ClaimKind.ABSTENTION, checkable=names_topic(said))
        )
        lead, begin = lead + turn, lead + turn
        body = text[lead:]
    if is_opinion(body, critical_reasons(body, raw)):
        return [*statements, Statement(body, *whole, ClaimKind.UNCERTAIN, checkable=False)]
    return statements + _statements(raw, cleaned, (begin, lead), sentence, context)


def _statements(
    raw: str, cleaned: Cleaned, place: tuple[int, int], sentence: Sentence, context: TextContext
) -> list[Statement]:
    """The atomic statements of a sentence; `place` is where they begin, and where the lead-in ends after that."""
    begin, lead = place
    body = cleaned.text[lead:]
    full_statements = _without_ellipsis(body, context)
    if full_statements:
        context.previous_text, context.previous_is_question = body, False
        context.previous_tokens, context.subject_tokens = tokenise(full_statements[-1]), []
        kind = statement_kind(full_statements[-1])
        ended = body[-1:] in ".!"
        return [
            Statement(sentence_case(in_plain_words(said), ended), sentence.start, sentence.end, kind, True)
            for said in full_statements
        ]
    tail = strip_tail(body)
    if tail < len(body):  # the full stop is kept
        body = body[:tail] + (cleaned.text[-1] if cleaned.text[-1] in ".!" else "")
    kind = statement_kind(cleaned.text)
    imperative = kind is ClaimKind.PROCEDURAL and not critical_commitment(body)
    tokens = tokenise(body)
    clauses = [clause_of(tokens, tokens)] if imperative else split_tokens(tokens)
    ended = cleaned.text.endswith((".", "!"))
    if len(clauses) == 1:
        ended = False
    resolved = _antecedent(clauses, context) if clauses else []
    last = max((p.end for p in clauses), default=0)
    whole = _whole(body, tokens, resolved) if len(clauses) > 1 else None
    answers = context.previous_is_question and len(tokens) <= _SHORT_ANSWER
    before = context.previous_text if not resolved and (answers or refers_back(tokens)) else None
    statements = []
    for number, clause in enumerate(clauses):
        words = list(clause.tokens)
        if resolved and opens_with_pronoun(words) == opens_with_pronoun(clauses[0].tokens) != "":
            words = [*resolved, *words[1:]]
        changed = len(clauses) > 1 or words != list(clause.tokens)
        said = render(words) if changed else body
        first = lead + clause.start if number else begin
        a, b = cleaned.source_span(first, lead + clause.end, len(raw))
        b = len(raw) if clause.end == last else len(raw[:b].rstrip())
        finished = sentence_case(in_plain_words(said), ended or (changed and cleaned.text[-1] in ".!"))
        own_kind = statement_kind(said) if changed and kind is ClaimKind.UNCERTAIN else kind
        statements.append(
            Statement(finished, sentence.start + a, sentence.start + b, own_kind, True, whole=whole, before=before)
        )
    context.previous_text, context.previous_is_question = body if len(body) <= _LONGEST_BEFORE else "", False
    context.previous_tokens = tokens
    context.subject_tokens = resolved or plain_subject(tokens)
    return statements


def _without_ellipsis(body: str, context: TextContext) -> Sequence[str]:
    """The statements of an elliptical sentence, in full; none where nothing is left out."""
    whole = complete_statement(
        body, context.previous_tokens, context.previous_text if context.previous_is_question else ""
    )
    return (whole,) if whole is not None else split_shared_predicate(body) or read_labels(body)


def _whole(body: str, tokens: list[Token], resolved: list[Token]) -> str:
    """The statement that the clauses were cut from, its opening pronoun resolved where theirs is."""
    said = render([*resolved, *tokens[1:]]) if resolved and opens_with_pronoun(tokens) else body
    return sentence_case(said, ended=body[-1:] in ".!")


def critical_commitment(text: str) -> bool:
    """Whether the statement commits to an action, and is therefore procedural without being an instruction."""
    return "commitment" in critical_reasons(text, text)


_LONGEST_BEFORE = 400
"""Characters; a longer sentence is not kept as the context of the next one."""
_SHORT_ANSWER = 8
"""Tokens of a sentence that may be the answer to a question in the text itself."""
_ELSEWHERE = 1 << 40
"""An offset past the end of any text."""


def _antecedent(clauses: list[Clause], context: TextContext) -> list[Token]:
    pronoun = opens_with_pronoun(clauses[0].tokens)
    found = (
        antecedent(context.previous_tokens, context.subject_tokens, pronoun)
        if pronoun and context.previous_tokens
        else []
    )
    # These tokens are from another sentence: their offsets must not seem adjacent to words of this one.
    return [token._replace(start=token.start + _ELSEWHERE, end=token.end + _ELSEWHERE) for token in found]
