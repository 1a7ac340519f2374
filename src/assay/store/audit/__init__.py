"""The audit log: an append-only Merkle tree with signed checkpoints, and everything that proves it."""
