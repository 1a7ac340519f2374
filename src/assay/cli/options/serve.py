"""The options of `assay serve`, of `assay doctor`, which examines them, and of `assay mcp`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.operations.engines import read_workers
from assay.cli.options.shared import BaseUrlOption, GuardOptions
from assay.schema import Stakes


@dataclass(frozen=True, kw_only=True)
class ServerOptions(GuardOptions):
    """The options of a server."""

    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8080
    upstream: Annotated[
        tuple[str, ...],
        typer.Option("--upstream", metavar="[NAME=]URL", envvar="ASSAY_UPSTREAM_URL", help="May be repeated."),
    ] = ()
    gateway: Annotated[
        Path | None, typer.Option("--gateway", metavar="FILE", help="Upstreams, routes and limits in YAML.")
    ] = None
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", envvar="ASSAY_KEYS", help="API keys; see `assay keys`.")
    ] = None
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="Where checks are recorded."),
    ] = None
    llm: Annotated[
        str | None, typer.Option("--llm", metavar="NAME", help="A chat model that checks ask as a judge.")
    ] = None
    base_url: BaseUrlOption = None
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="enforce, annotate, shadow or off. [default: enforce]")
    ] = None
    workers: Annotated[
        int, typer.Option(metavar="N|auto", parser=read_workers, help="Processes; auto is one for each processor.")
    ] = 1
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="WHICH",
            help="Which claims the judge is asked about: policy, uncertain (the default) or all.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(ServerOptions):
    """The options of `assay doctor`: those of a server, and how much is examined."""

    online: Annotated[
        bool, typer.Option("--online", help="Ask the upstreams and the judge too, and compare their clocks.")
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Write the notes as JSON.")] = False


@dataclass(frozen=True, kw_only=True)
class McpOptions(GuardOptions):
    """The options of `assay mcp`."""

    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP in place of standard input and output.")] = False
    host: Annotated[str, typer.Option(help="The loopback address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8000
    stakes: Annotated[Stakes, typer.Option(help="How much depends on answers; a call may raise it, not lower it.")] = (
        Stakes.MEDIUM
    )
