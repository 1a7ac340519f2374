"""The running test, handed from the plugin to assertions. Imports little: every test of every project sets it."""

from contextvars import ContextVar
from typing import Any, Final

CURRENT: Final[ContextVar[Any]] = ContextVar("assay_running_test", default=None)
"""An object whose method `resolve` gives the running test; none outside of pytest, where nothing is recorded or
accepted."""
