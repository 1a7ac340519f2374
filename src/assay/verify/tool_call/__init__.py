"""Stage 1 of seed 002: tool calls are checked before they are executed, and what an answer claims to have done after.

Pure functions over values: nothing is fetched, executed or stored here.
"""
