"""`assay audit replay`: a recorded check is run again (`assay.server.audit.replay`)."""

from assay.server.audit.replay import GuardOf, Replay, content_of_bundle, heard_in, replay

__all__ = ["GuardOf", "Replay", "content_of_bundle", "heard_in", "replay"]
