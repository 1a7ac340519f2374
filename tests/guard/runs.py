"""Runs for the tests of the guard, in the form of chat messages."""

import json
from typing import Any

ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": description, "parameters": ORDER}}
    for name, description in (("get_order", "Gets an order."), ("cancel_order", "Cancels an order."))
]
ASKED = "Where is my order W-17? Please cancel it if it is late."
FOUND = ("get_order", {"order_id": "W-17"}, "Order W-17 is in Hamburg. Order W-17 arrives on 3 May 2026.")
CANCELLED = ("cancel_order", {"order_id": "W-17"}, '{"status": "cancelled"}')
TRUE = "Order W-17 is in Hamburg."
FALSE = "Order W-17 arrives on 9 May 2026."

Call = tuple[str, Any, str | None]


def transcript(answer: Any, *calls: Call, user: str = ASKED, declared: bool = True) -> Any:
    """A chat request whose messages end with the answer; a call is its name, its arguments and its result."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You help customers."}]
    messages.append({"role": "user", "content": user})
    for number, (name, arguments, result) in enumerate(calls):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": written}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        if result is not None:
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    if answer is not None:
        messages.append({"role": "assistant", "content": answer})
    return {"messages": messages, "tools": TOOLS} if declared else messages
