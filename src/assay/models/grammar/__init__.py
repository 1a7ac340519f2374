"""Token masks for local models: what a schema does not allow cannot be generated.

See docs/concepts.md#structured-output.
"""

from assay.models.grammar.mask import GrammarEngine, JsonGrammar, TokenMask
from assay.models.grammar.sampling import sample_document
from assay.models.grammar.vocabulary import Vocabulary

__all__ = ["GrammarEngine", "JsonGrammar", "TokenMask", "Vocabulary", "sample_document"]
