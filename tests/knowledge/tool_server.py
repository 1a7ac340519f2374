"""An MCP server on stdio with a tool that knows prices; what tests of the kind `mcp` start."""

from typing import Any

from mcp.server.mcpserver import MCPServer

PRICES = {"Aria 2": 59.99, "Lark": 20.0, "Heron": 149.5}
server = MCPServer("prices")


@server.tool()  # type: ignore[untyped-decorator]
def price(name: str) -> str:
    """What a product costs."""
    if name == "breaks":
        raise ValueError("broken")
    return f"{name} costs EUR {PRICES[name]}." if name in PRICES else ""


@server.tool()  # type: ignore[untyped-decorator]
def listed(name: str) -> dict[str, Any]:
    """The same as a structure."""
    found = [{"name": name, "price": PRICES[name]}] if name in PRICES else []
    return {"items": found}


if __name__ == "__main__":
    server.run("stdio")
