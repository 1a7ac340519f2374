"""The red team: attacks written from a corpus, run against a system, judged by the verifier and scored by category."""
