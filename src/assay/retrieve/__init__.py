"""What may be evidence: windows over it and the ranking of them."""
