"""The Merkle tree of the log, its checkpoints and its proofs, in standard formats (RFC 6962, C2SP)."""
