"""One kind of mention of a claim against the same kind in the evidence, a file each."""
