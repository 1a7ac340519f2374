"""Writing outputs anew: grounded answers, documents, probes and the revise loop. It knows interfaces only, no model."""
