"""Systems under test: functions, commands, chat endpoints, HTTP services, MCP tools and LangChain runnables."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.targets.interface import Reply as Reply
    from assay.redteam.targets.interface import Request as Request
    from assay.redteam.targets.interface import Target as Target
    from assay.redteam.targets.interface import TargetError as TargetError
    from assay.redteam.targets.interface import estimated_tokens as estimated_tokens
    from assay.redteam.targets.interface import reply_of as reply_of
    from assay.redteam.targets.interface import request_of as request_of
    from assay.redteam.targets.loading import load_target as load_target
    from assay.redteam.targets.python_function import PythonFunction as PythonFunction
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".interface": ("Reply", "Request", "Target", "TargetError", "estimated_tokens", "reply_of", "request_of"),
            ".loading": ("load_target",),
            ".python_function": ("PythonFunction",),
        },
    )
