"""Several worker processes over one socket: how they are kept at work, and what they share."""

from assay.server.workers.supervision import Workers, can_share
from assay.server.workers.warming import warm

__all__ = ["Workers", "can_share", "warm"]
