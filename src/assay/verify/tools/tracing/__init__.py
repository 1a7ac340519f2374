"""Where the arguments of a tool call come from."""
