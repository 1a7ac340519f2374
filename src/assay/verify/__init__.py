"""Whether evidence supports a claim: exact, entailment, citations, structure, and their combination."""
