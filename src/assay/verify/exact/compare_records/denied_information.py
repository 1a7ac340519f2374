"""Whether the evidence contains what a claim says that it does not: "The record shows no total"."""

import re
from typing import Final

from assay.schema import EvidenceSpan
from assay.text.claims import is_abstention
from assay.text.lexicon import find_words, lexeme, word_set
from assay.verify.exact.index import ExactIndex

_OF_TELLING: Final = frozenset(
    lexeme(word).stem
    for word in word_set(
        """say says said show shows shown mention mentions mentioned tell tells told give gives given state states
        stated list lists listed specify specifies specified contain contains include includes have has record records
        page pages document documents passage passages evidence source sources policy result results data information
        detail details text entry entries field fields order name value any kind about nothing no not does do is are
        available known unknown there what which how much many silent made leaflet report"""
    )
)
"""Stems of the words with which a text says that information is missing."""
_TELL: Final = r"(?:show|mention|say|tell|give|state|list|specify|name|record)"
_DENYING: Final = re.compile(
    rf"\b(?:does|do|did)(?:\snot|n['’]t)\s{_TELL}\b|\b(?:says?|tells?)\snothing\b|\b(?:is|are)\ssilent\b"
    r"|\bnothing\s(?:is|was)\s(?:said|told|stated|mentioned|given|recorded)\b"
    r"|\bno\s.{1,60}\s(?:is|are|was|were)\s(?:mentioned|given|stated|listed|shown|specified|named|recorded)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"\b(?:whether|if|how|what|which|who|whom|whose|when|where|why|that)\b", re.IGNORECASE)
"""Words that begin a clause: a sentence may have every word of "why the bridge is closed" and still give no reason."""
_MOST_LOOKED_AT: Final = 400


def refuting_field(claim: str, index: ExactIndex) -> EvidenceSpan | None:
    """The field of a record that has what a claim says is missing; none where the claim may be about anything else.

    Every content word of the claim has to name the field or say that information is missing: that a record has a total
    says nothing about when it was paid.
    """
    if not index.records or _DENYING.search(claim) is None:
        return None
    stems = {word.stem for word in find_words(claim).lexemes if word.weight} - _OF_TELLING
    if not stems:
        return None
    for record in index.records.records[:_MOST_LOOKED_AT]:
        for cell in record.cells:
            if cell.kind != "none" and cell.text.strip() and cell.needed and cell.needed <= stems <= cell.stems:
                passage = index.records.groups[record.group].passage
                return index.passage_span(passage, cell.start, cell.end, "contradicts", 1.0)
    return None


def refuting_sentence(claim: str, index: ExactIndex) -> EvidenceSpan | None:
    """The sentence that mentions everything that a claim says no source mentions: "No fee is mentioned" beside a fee.

    Args:
        claim: a claim that is known to say that the evidence lacks some information.
        index: the evidence.
    """
    if _CLAUSE.search(claim):
        return None
    stems = {word.stem for word in find_words(claim).lexemes if word.weight or word.fold[:1].isdigit()} - _OF_TELLING
    if not stems:
        return None
    places = [set(index.postings.get(stem, ())) for stem in stems]
    for number in sorted(set.intersection(*places))[:_MOST_LOOKED_AT]:
        sentence = index.sentences[number]
        text = index.passages[sentence.passage].text[sentence.start : sentence.end]
        if not is_abstention(text) and not text.rstrip().endswith("?"):
            return index.span(number, sentence.start, sentence.end, "contradicts", 1.0)
    return None
