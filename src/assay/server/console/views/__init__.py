"""Views that several pages share: a report and its parts, revisions, tool calls, traces, proofs, rows of runs."""
