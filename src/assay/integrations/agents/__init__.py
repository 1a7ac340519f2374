"""Adapters of further agent frameworks, each in its framework's own idiom; none is loaded unasked (docs/agents.md)."""
