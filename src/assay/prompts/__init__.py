"""Prompts as files, each with a version by its content, and the fence that foreign text stands in.

A prompt is what we say; everything that others wrote (questions, evidence, outputs, answers of models) goes in as
`Data` and comes out between two marks, as JSON, so that none of it can be read as an instruction of ours.
"""

from assay.prompts.fence import Data, unfenced
from assay.prompts.template import Prompt, Rendered, load_prompt, prompt_names

__all__ = ["Data", "Prompt", "Rendered", "load_prompt", "prompt_names", "unfenced"]
