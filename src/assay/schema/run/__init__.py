"""The run of an agent in one normal form."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.schema.run.arguments import Arguments as Arguments
    from assay.schema.run.arguments import ArgumentsForm as ArgumentsForm
    from assay.schema.run.arguments import free_text as free_text
    from assay.schema.run.arguments import read_argument_object as read_argument_object
    from assay.schema.run.arguments import read_arguments as read_arguments
    from assay.schema.run.builder import RunBuilder as RunBuilder
    from assay.schema.run.json_values import plain_json as plain_json
    from assay.schema.run.model import DataPart as DataPart
    from assay.schema.run.model import Executor as Executor
    from assay.schema.run.model import ModelTurn as ModelTurn
    from assay.schema.run.model import Opaque as Opaque
    from assay.schema.run.model import Passage as Passage
    from assay.schema.run.model import ReasoningPart as ReasoningPart
    from assay.schema.run.model import Run as Run
    from assay.schema.run.model import Step as Step
    from assay.schema.run.model import SystemPrompt as SystemPrompt
    from assay.schema.run.model import TextPart as TextPart
    from assay.schema.run.model import ToolCall as ToolCall
    from assay.schema.run.model import ToolDeclaration as ToolDeclaration
    from assay.schema.run.model import ToolResult as ToolResult
    from assay.schema.run.model import UserInput as UserInput
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".arguments": ("Arguments", "ArgumentsForm", "free_text", "read_argument_object", "read_arguments"),
            ".builder": ("RunBuilder",),
            ".json_values": ("plain_json",),
            ".model": (
                "DataPart",
                "Executor",
                "ModelTurn",
                "Opaque",
                "Passage",
                "ReasoningPart",
                "Run",
                "Step",
                "SystemPrompt",
                "TextPart",
                "ToolCall",
                "ToolDeclaration",
                "ToolResult",
                "UserInput",
            ),
        },
    )
