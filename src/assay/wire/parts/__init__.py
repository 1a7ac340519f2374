"""Parts of an answer beside its text: tokens with their probabilities, errors, the model's reasoning."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.wire.parts.reasoning import without_reasoning as without_reasoning
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".reasoning": ("without_reasoning",),
        },
    )
