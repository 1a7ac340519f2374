"""Traces the arguments of a tool call to the sources of the run."""
