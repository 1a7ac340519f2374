"""Text in, structure out: sentences, claims, quantities, dates, names, citations and hedges."""
