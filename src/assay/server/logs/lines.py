"""The lines of the log, as JSON for programs or as text for people, at the level that the environment sets."""

import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from assay.errors import PolicyError
from assay.server.logs.redaction import redacted, redacted_value
from assay.server.logs.request_ids import current_id

LEVEL: Final = "ASSAY_LOG_LEVEL"
FORMAT: Final = "ASSAY_LOG_FORMAT"
LEVELS: Final = ("debug", "info", "warning", "error", "critical")


class LogFormat(StrEnum):
    """How lines are written."""

    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The level and the format of the log."""

    level: str = "info"
    """The least level that is written, one of `LEVELS`."""
    format: LogFormat = LogFormat.JSON


def log_settings(environ: Mapping[str, str]) -> LogSettings:
    """The settings of the log in the environment.

    Raises:
        PolicyError: the level or the format is unknown.
    """
    level, form = environ.get(LEVEL, "").strip().lower() or "info", environ.get(FORMAT, "").strip().lower() or "json"
    if level not in LEVELS:
        raise PolicyError(f"expected {LEVEL} to be one of {', '.join(LEVELS)}, got {level[:40]!r}")
    if form not in list(LogFormat):
        raise PolicyError(f"expected {FORMAT} to be json or text, got {form[:40]!r}")
    return LogSettings(level, LogFormat(form))


class _LineFormatter(logging.Formatter):
    """What both formats share: the time is formatted once a second, and fields and messages are redacted."""

    def __init__(self) -> None:
        super().__init__()
        self._second = (-1, "")

    def head(self, record: logging.LogRecord) -> dict[str, Any]:
        """Time, level, and the id of the request where there is one."""
        second = int(record.created)
        if second != self._second[0]:
            # One assignment, because another thread may be here at the same time.
            self._second = second, self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z")
        made: dict[str, Any] = {"time": self._second[1], "level": record.levelname.lower()}
        id_ = current_id.get()
        if id_ is not None:
            made["request_id"] = id_
        return made

    def fields(self, record: logging.LogRecord) -> dict[str, Any] | None:
        """The fields of a record's `line`; none where it has only a message."""
        line = getattr(record, "line", None)
        return redacted_value(line) if isinstance(line, dict) else None

    def message(self, record: logging.LogRecord) -> str:
        """The message, with the traceback where there is one."""
        message = record.getMessage()
        if record.exc_info:
            message = f"{message}\n{self.formatException(record.exc_info)}"
        return redacted(message)


class JsonLines(_LineFormatter):
    """One JSON object a line; the fields of a record's `line` are in it beside the time and the level."""

    def __init__(self) -> None:
        super().__init__()
        self._encode = json.JSONEncoder(ensure_ascii=False).encode

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        fields = self.fields(record)
        if fields is None:
            fields = {"event": "log", "logger": record.name, "message": self.message(record)}
        return self._encode({**self.head(record), **fields})


class TextLines(_LineFormatter):
    """One line for people. Control characters are escaped, so that no client can forge a line of the log."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        head, fields = self.head(record), self.fields(record)
        id_ = f" [{head['request_id']}]" if "request_id" in head else ""
        if fields is None:
            text = f"{record.name}: {_escaped(self.message(record))}"
        else:
            text = " ".join(f"{name}={_word(value)}" for name, value in fields.items() if value is not None)
        return f"{head['time']} {head['level'].upper():8}{id_} {text}"


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _escaped(text) if text.isprintable() and " " not in text and text else json.dumps(text)


def _escaped(text: str) -> str:
    # A traceback keeps its lines, indented: only a line of the log begins with a time.
    return "\n  ".join(
        "".join(one if one.isprintable() or one == "\t" else ascii(one)[1:-1] for one in line)
        for line in text.split("\n")
    )


def set_up_logging(settings: LogSettings) -> None:
    """Write the log of this process to standard error, replacing any earlier set-up."""
    # Every record would look up its caller, its thread and its process, which no line contains.
    logging._srcfile = None  # noqa: SLF001 the way that the documentation of logging gives
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if settings.format is LogFormat.JSON else TextLines())
    logging.basicConfig(handlers=[handler], level=settings.level.upper(), force=True)
    for name in ("asyncio", "alembic"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
