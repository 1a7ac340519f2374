"""Systems under test: functions, commands and endpoints."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.targets.interface import Request as Request
    from assay.redteam.targets.interface import Target as Target
    from assay.redteam.targets.interface import TargetError as TargetError
    from assay.redteam.targets.interface import request_of as request_of
    from assay.redteam.targets.loading import load_target as load_target
    from assay.redteam.targets.python_function import PythonFunction as PythonFunction
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".interface": ("Request", "Target", "TargetError", "request_of"),
            ".loading": ("load_target",),
            ".python_function": ("PythonFunction",),
        },
    )
