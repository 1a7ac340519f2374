"""The exact tier: compares words, numbers, dates, names and quotations of a claim with the evidence by rules.

`index_evidence` indexes the evidence once; `check_exact` compares one claim with it. Findings give the characters of
the claim and of the evidence that differ; signals are features in [0, 1] for the calibrated combination of the tiers.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.exact.compare_records.denied_information import refuting_field as refuting_field
    from assay.verify.exact.compare_records.denied_information import refuting_sentence as refuting_sentence
    from assay.verify.exact.findings import EXACT_SIGNALS as EXACT_SIGNALS
    from assay.verify.exact.findings import ExactFinding as ExactFinding
    from assay.verify.exact.findings import ExactResult as ExactResult
    from assay.verify.exact.index import ExactIndex as ExactIndex
    from assay.verify.exact.index_builder import index_evidence as index_evidence
    from assay.verify.exact.index_cache import ExactIndexCache as ExactIndexCache
    from assay.verify.exact.index_cache import content_key as content_key
    from assay.verify.exact.verifier import check_exact as check_exact
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".compare_records.denied_information": ("refuting_field", "refuting_sentence"),
            ".findings": ("EXACT_SIGNALS", "ExactFinding", "ExactResult"),
            ".index": ("ExactIndex",),
            ".index_builder": ("index_evidence",),
            ".index_cache": ("ExactIndexCache", "content_key"),
            ".verifier": ("check_exact",),
        },
    )
