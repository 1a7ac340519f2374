"""A target that a YAML file declares: `file:target.yaml` (docs/redteam.md#declared-targets)."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assay.errors import InputError
from assay.redteam.cases import first_fault
from assay.redteam.targets.http_template import HttpSettings, HttpTemplate
from assay.redteam.targets.interface import Target
from assay.redteam.targets.langchain_runnable import LangChainRunnable
from assay.redteam.targets.mcp_tool import McpSettings, McpTool
from assay.redteam.targets.python_function import load_object
from assay.redteam.targets.templates import checked_pointer

LONGEST_FILE: Final = 100_000
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str | None = Field(default=None, pattern=r"^[\w .-]{1,60}$")
    """The name of the target in records."""


class _Http(_Declared):
    kind: Literal["http"]
    url: str
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    headers: dict[str, str] = Field(default_factory=dict)
    """Values may refer to environment variables: `Bearer ${HELPDESK_KEY}`."""
    body: Any
    answer: str = ""
    tokens_in: str | None = None
    tokens_out: str | None = None


class _Mcp(_Declared):
    kind: Literal["mcp"]
    command: list[str] = Field(default_factory=list)
    url: str | None = None
    tool: str
    arguments: dict[str, Any]
    answer: str | None = None
    environment: list[str] = Field(default_factory=list)
    """Names of environment variables that are passed to the server."""


class _LangChain(_Declared):
    kind: Literal["langchain"]
    runnable: str
    """MODULE:NAME."""
    input: Any = None
    answer: str | None = None


_READER: Final[TypeAdapter[_Http | _Mcp | _LangChain]] = TypeAdapter(
    Annotated[_Http | _Mcp | _LangChain, Field(discriminator="kind")]
)


def load_declared(path: Path, timeout_s: float, environ: Mapping[str, str]) -> Target:
    """Loads the target that a file declares. Its name contains a digest of the file, so that a changed template is
    another target.

    Args:
        path: the YAML file.
        timeout_s: the most seconds of one answer.
        environ: the environment variables that the file may name.

    Raises:
        InputError: the file cannot be read, is not a valid declaration, or names a variable that is not set.
        MissingPackageError: the target needs a package that is not installed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(text) > LONGEST_FILE:
        raise InputError(f"{path}: expected at most {LONGEST_FILE:,} characters")
    try:
        declared = _READER.validate_python(yaml.safe_load(text))
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: expected YAML: {error}") from error
    except ValidationError as error:
        raise InputError(f"{path}: expected a target: {first_fault(error)}") from error
    name = f"{declared.kind}:{declared.name or path.stem}#{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    if isinstance(declared, _Http):
        return _http(declared, name, timeout_s, environ)
    if declared.answer is not None:
        checked_pointer(declared.answer, str(path))
    if isinstance(declared, _LangChain):
        loaded = load_object(declared.runnable, "langchain")
        return LangChainRunnable(loaded, name, timeout_s, declared.input, declared.answer)
    environment = {one: _variable(one, environ, path) for one in declared.environment}
    settings = McpSettings(
        declared.tool, declared.arguments, tuple(declared.command), declared.url, declared.answer, environment
    )
    return McpTool(settings, name, timeout_s)


def _http(declared: _Http, name: str, timeout_s: float, environ: Mapping[str, str]) -> HttpTemplate:
    pointers = [declared.answer, *(one for one in (declared.tokens_in, declared.tokens_out) if one is not None)]
    for pointer in pointers:
        checked_pointer(pointer, name)
    headers = {}
    for header, value in declared.headers.items():
        filled = _VARIABLE.sub(lambda found: _variable(found[1], environ, name), value)
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", header) or re.search(r"[\r\n\x00]", filled):
            raise InputError(f"{name}: the header {header!r} has a name or a value that no request can carry")
        headers[header] = filled
    settings = HttpSettings(
        declared.url, declared.body, declared.method, declared.answer, declared.tokens_in, declared.tokens_out, headers
    )
    return HttpTemplate(settings, name, timeout_s)


def _variable(name: str, environ: Mapping[str, str], where: object) -> str:
    found = environ.get(name)
    if found is None:
        raise InputError(f"{where}: the variable {name} is not set in the environment")
    return found
