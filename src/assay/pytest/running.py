"""Where the plugin tells assertions which test runs. Imports nothing, since every test of every project passes it."""

from contextvars import ContextVar
from typing import Any, Final

CURRENT: Final[ContextVar[Any]] = ContextVar("assay_running_test", default=None)
"""What has a method `test` that gives the running test; none outside of pytest, where nothing is recorded and nothing
is accepted."""
