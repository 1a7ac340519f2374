"""Prompt files, each versioned by its content, and the fence around foreign text.

A prompt holds our own words. Everything that others wrote (questions, evidence, outputs, answers of models) is passed
in as `Data` and rendered as JSON between two marks, so that none of it can be read as one of our instructions.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.prompts.evidence import evidence_record as evidence_record
    from assay.prompts.fence import Data as Data
    from assay.prompts.fence import unfenced as unfenced
    from assay.prompts.template import Prompt as Prompt
    from assay.prompts.template import Rendered as Rendered
    from assay.prompts.template import load_prompt as load_prompt
    from assay.prompts.template import prompt_names as prompt_names
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".evidence": ("evidence_record",),
            ".fence": ("Data", "unfenced"),
            ".template": ("Prompt", "Rendered", "load_prompt", "prompt_names"),
        },
    )
