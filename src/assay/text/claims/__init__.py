"""Claims in a text by rules alone: statements, their clauses, their kinds, and whether they are critical."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.claims.answer_fragments import is_fragment as is_fragment
    from assay.text.claims.clauses import find_verb as find_verb
    from assay.text.claims.clauses import stands_alone as stands_alone
    from assay.text.claims.clauses import subject_of as subject_of
    from assay.text.claims.criticality import critical_reasons as critical_reasons
    from assay.text.claims.hedging import hedge_score as hedge_score
    from assay.text.claims.hedging import without_hedges as without_hedges
    from assay.text.claims.interface import ClaimExtractor as ClaimExtractor
    from assay.text.claims.kinds.abstentions import is_abstention as is_abstention
    from assay.text.claims.kinds.courtesies import named_in_small_talk as named_in_small_talk
    from assay.text.claims.rule_extractor import RuleClaimExtractor as RuleClaimExtractor
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".answer_fragments": ("is_fragment",),
            ".clauses": ("find_verb", "stands_alone", "subject_of"),
            ".criticality": ("critical_reasons",),
            ".hedging": ("hedge_score", "without_hedges"),
            ".interface": ("ClaimExtractor",),
            ".rule_extractor": ("RuleClaimExtractor",),
            ".kinds.abstentions": ("is_abstention",),
            ".kinds.courtesies": ("named_in_small_talk",),
        },
    )
