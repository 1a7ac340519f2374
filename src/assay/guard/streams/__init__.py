"""Checks of text while it is generated."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.guard.streams.flow import STREAM as STREAM
    from assay.guard.streams.flow import Flow as Flow
    from assay.guard.streams.flow import StreamTiming as StreamTiming
    from assay.guard.streams.holdback import Job as Job
    from assay.guard.streams.holdback import StreamDelta as StreamDelta
    from assay.guard.streams.runner import Check as Check
    from assay.guard.streams.runner import adrive as adrive
    from assay.guard.streams.runner import drive as drive
    from assay.guard.streams.runner import ruled as ruled
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".flow": ("Flow", "STREAM", "StreamTiming"),
            ".holdback": ("Job", "StreamDelta"),
            ".runner": ("Check", "adrive", "drive", "ruled"),
        },
    )
