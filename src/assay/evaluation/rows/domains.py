"""The domain and the language of a row, recognised without a model.

The domain is that of the set if the set is published and well known, else the row's own `meta.domain`, else
`not stated`. Languages are recognised by script and, among those of Latin script, by their commonest words; that is
sure enough to show that a verifier fails in one of them.
"""

from collections.abc import Mapping
from typing import Final

from assay.evaluation.rows.reading import Row
from assay.text.sentences import UNSTATED, language

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


def domain_of(row: Row) -> str:
    """The domain of a row: that of a known set, else its `meta.domain`, else `not stated`.

    Known sets come first, since some of them use `meta.domain` for subdivisions of their own.
    """
    stated = row.meta.get("domain")
    return _DOMAINS.get(row.set) or (str(stated)[:80] if stated not in (None, "") else UNSTATED)


def language_of(row: Row) -> str:
    """The language of a row's claim, or of its first passage if the claim is too short to tell."""
    for text in (row.text, *(piece.text for piece in row.evidence[:1])):
        found = language(text)
        if found != UNSTATED:
            return found
    return UNSTATED
