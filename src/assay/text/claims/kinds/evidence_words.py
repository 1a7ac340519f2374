# ruff: noqa: E501 one alternative of a pattern a line
"""Parts of patterns for how a text mentions its evidence: "the provided passages", "as stated in"."""

import re

from assay.text.citations.passage_references import POINTER

SOURCE = (
    r"(?:(?:the|this|these|those|your|our|my|provided|given|available|retrieved|supplied|above|following|attached|"
    r"cited|search|source|reference|official|information|data|evidence|context|contexts|passages?|documents?|sources?|"
    r"texts?|articles?|excerpts?|results?|materials?|records?|files?|knowledge|base|policy|handbook|in|of|and|from|"
    r"you|i|have|has|shared|company|internal|documentation|snippets?|above)[ ,]+){1,10}?"
)
_GIVEN = r"(?:following|given|provided|supplied|retrieved|available|above|cited)"
THESE = rf"(?:{POINTER}|(?:the|these|this|all|both|none of the)(?: of the)?\s(?:{_GIVEN}\s)?(?:passages?|documents?|sources?|contexts?|texts?|articles?|excerpts?|snippets?|search results?|evidence|information)(?:\s{_GIVEN})?)"
"""The given evidence as the subject of a sentence."""
REPORTS = r"(?:states?|says?|mentions?|notes?|indicates?|shows?|confirms?|explains?|reports?|adds?|suggests?|reveals?|specif(?:y|ies)|describes?)"
REPORTED = r"(?:stated|said|mentioned|noted|indicated|shown|confirmed|explained|reported|described|outlined|discussed|specified|suggested|recommended|provided|listed|seen|written)"
CITED = (
    rf"(?:{POINTER}|(?:the\s|these\s)?(?:{_GIVEN}\s)?(?:passages?|excerpts?|snippets?|search results?)(?:\s{_GIVEN})?"
    rf"|(?:the\s|these\s)?{_GIVEN}\s(?:context|texts?|documents?|sources?|articles?|information|evidence)|the\s(?:context|texts?|documents?|sources?|information)\s{_GIVEN}(?:\sin\sthe\spassages?)?)"
)
"""The given evidence as what a claim is ascribed to: by number, or by a word that can mean nothing else."""
SOURCES_NOUN = (
    r"(?:documents?|passages?|sources?|context|contexts|texts?|articles?|evidence|excerpts?|materials?|information|"
    r"records?|policy|handbook|data|files?|results?|documentation|knowledge base|snippets?|answer|question|pages?|leaflet|"
    r"reports?|menu|notes|minutes|manual|guide|brochure|contract|letter|notice|terms|instructions|listing|agreement|website)"
)
EVIDENCE_NOUN = r"(?:documents?|passages?|sources?|contexts?|texts?|articles?|evidence|excerpts?|snippets?|information|materials?|search results?)"
"""Nouns that can only mean the given evidence: "the policy does not cover it" is about the world, "the passage does
not" is not."""
AT_HAND = r"(?:\s(?:provided|above|given|available|supplied|retrieved|i have|you shared|you provided)){0,2}"

EVIDENCE_MENTION = re.compile(CITED, re.IGNORECASE)
