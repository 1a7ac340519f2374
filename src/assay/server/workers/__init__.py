"""Several worker processes over one socket: their supervision, and the memory that they share."""

from assay.server.workers.supervision import Workers, can_share
from assay.server.workers.warmup import warm

__all__ = ["Workers", "can_share", "warm"]
