"""`assay mcp`: the checks as tools of an MCP server, on standard input and output or over HTTP."""

from ipaddress import ip_address

from assay.cli.options.serve import McpOptions
from assay.config import build_guard
from assay.errors import InputError


def run_mcp(options: McpOptions) -> None:
    """Serves until the client disconnects or the process is asked to stop.

    Raises:
        InputError: the package is not installed, or the address is not a loopback address.
    """
    try:
        from assay.integrations.mcp import mcp_server
    except ImportError as error:
        raise InputError(str(error)) from error
    if options.http and not _is_loopback(options.host):
        raise InputError(
            f"the MCP server asks for no key, so it listens on this machine only: expected a loopback address, got "
            f"{options.host!r}. Put a proxy before it that knows its users"
        )
    server = mcp_server(build_guard(options.policy, options.verifier), stakes=options.stakes)
    if options.http:
        server.run("streamable-http", host=options.host, port=options.port)
    else:
        server.run("stdio")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
