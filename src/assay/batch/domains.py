"""The domain that a row is of and the language that it is written in, told without a model.

A row's own `meta.domain` says it best. Without one the name of a set that is published and well known does; a set that
is neither is in the domain `not stated`. Languages are told by script and, among those of Latin script, by their
commonest words, which is sure enough to see that a verifier fails in one of them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

from assay.batch.rows import Row

UNSTATED: Final = "not stated"
"""The domain of a row that nothing is known of."""

_SETS: Final[Mapping[str, str]] = {
    "captions of scenes": "snli cad_nli sick breaking_nli negnli_snli",
    "mixed writing and speech": (
        "mnli mnli_binary taxinli negnli_mnli lingnli help_conjdisj med dnc_function_words megaveridicality "
        "commitmentbank ambient_disamb"
    ),
    "encyclopedia": (
        "fevernli_binary fever_rte fever_symmetric fm2 wice_claim wice_claim_oracle wice_nonsupported_tokens conjnli "
        "anli_r1 anli_r2 anli_r3 propsegment_wiki halueval_qa500"
    ),
    "health and science": "healthver checkcovid scifact_rte nli4ct",
    "tables and records": "infotabs tabfact_pairs scitab",
    "dialogue and meetings": (
        "begin_wow begin_cmudog begin_topicalchat q2_wow_cross faithdial_audit summedits_samsum summedits_qmsumm"
    ),
    "news": "defacto bump_task1 bump_task2 negnli_rte",
    "business": "summedits_ectsum summedits_sales_email",
    "stories": "storysumm",
    "logic": "folio",
    "web pages": "factcheck_gpt",
}
_DOMAINS: Final = {name: domain for domain, names in _SETS.items() for name in names.split()}

_COMMON: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "English": (
            "the of and is was are were to that it for with his her from this which not has have by they be a an in "
            "on at as no do does did there he she i you we or but will would can could who what their its been had some"
        ),
        "German": "der die das und ist nicht ein eine den dem des von mit auf für im zu wird wurde sind auch sich",
        "French": "le la les des et est un une du dans que qui pour sur pas au aux par avec ne plus sont été ce",
        "Spanish": "el la los las de y es un una en que del por con para no se su al lo como fue son más",
        "Italian": "il lo la gli di e è un una in che del della per con non si sono da nel alla più anche",
        "Portuguese": "o a os as de e é um uma em que do da por com para não se no na ao foi são mais",
        "Dutch": "de het een en van is in dat op te niet zijn met voor door aan ook werd wordt er naar bij",
    }.items()
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_SCRIPTS: Final[Mapping[str, str]] = {
    "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean", "CJK": "Chinese", "CYRILLIC": "Cyrillic script",
    "GREEK": "Greek", "ARABIC": "Arabic script", "HEBREW": "Hebrew", "DEVANAGARI": "Devanagari script", "THAI": "Thai",
    "LATIN": "Latin script",
}  # fmt: skip
LEAST_VOTES: Final = 2
"""Common words that tell a language: one alone may be a part of a name ("van", "de")."""
_READ: Final = 600
"""Characters that are read to tell a language."""


def domain_of(row: Row) -> str:
    """The domain of a row: what its `meta.domain` says, else that of its set.

    The names of known sets come first, since some of them use `meta.domain` for parts of their own.
    """
    stated = row.meta.get("domain")
    return _DOMAINS.get(row.set) or (str(stated)[:80] if stated not in (None, "") else UNSTATED)


def language_of(row: Row) -> str:
    """The language of a row's claim, or of its evidence where the claim is too short to tell."""
    for text in (row.text, *(piece.text for piece in row.evidence[:1])):
        found = language(text)
        if found != UNSTATED:
            return found
    return UNSTATED


def language(text: str) -> str:
    """The language of a text, or its script, or `not stated` where neither can be told.

    >>> language("The contract is not valid."), language("Der Vertrag ist nicht gültig."), language("42")
    ('English', 'German', 'not stated')
    """
    script = _script(text[:_READ])
    if script != "Latin script":
        return script
    words = Counter(_WORD.findall(text[:_READ].lower()))
    votes = {name: sum(words[word] for word in common) for name, common in _COMMON.items()}
    best = max(votes, key=lambda name: votes[name])
    rivals = sorted(votes.values())
    return best if votes[best] >= LEAST_VOTES and rivals[-1] > rivals[-2] else UNSTATED


def _script(text: str) -> str:
    """The commonest script of the letters; kana among Chinese signs make a text Japanese."""
    found: Counter[str] = Counter()
    for letter in filter(str.isalpha, text):
        found[_SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0].partition("-")[0], "another script")] += 1
    if not found:
        return UNSTATED
    most = found.most_common(1)[0][0]
    return "Japanese" if most == "Chinese" and found["Japanese"] else most
