"""`assay audit replay`: a recorded check is run again (`assay.server.audit.replay`)."""

from assay.server.audit.replay import GuardOf, Replay, chat_models_in, content_of_bundle, replay

__all__ = ["GuardOf", "Replay", "chat_models_in", "content_of_bundle", "replay"]
