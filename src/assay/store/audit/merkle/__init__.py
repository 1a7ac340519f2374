"""The Merkle tree of the log, its checkpoints and its proofs, in forms that others read."""
