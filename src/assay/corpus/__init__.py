"""Checks of a whole corpus: duplicates, replaced versions, contradictions, documents that are never retrieved.

See docs/corpus.md.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.corpus.check import CorpusOptions as CorpusOptions
    from assay.corpus.check import check_corpus as check_corpus
    from assay.corpus.page import corpus_page as corpus_page
    from assay.corpus.report import FINDINGS as FINDINGS
    from assay.corpus.report import CorpusReport as CorpusReport
    from assay.corpus.site import SiteLimits as SiteLimits
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".check": ("CorpusOptions", "check_corpus"),
            ".page": ("corpus_page",),
            ".report": ("CorpusReport", "FINDINGS"),
            ".site": ("SiteLimits",),
        },
    )
