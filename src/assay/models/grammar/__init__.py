"""Token masks for local models: what a schema does not allow cannot be generated.

See docs/concepts.md#structured-output.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.models.grammar.mask import GrammarEngine as GrammarEngine
    from assay.models.grammar.mask import JsonGrammar as JsonGrammar
    from assay.models.grammar.mask import TokenMask as TokenMask
    from assay.models.grammar.sampling import sample_document as sample_document
    from assay.models.grammar.vocabulary import Vocabulary as Vocabulary
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".mask": ("GrammarEngine", "JsonGrammar", "TokenMask"),
            ".sampling": ("sample_document",),
            ".vocabulary": ("Vocabulary",),
        },
    )
