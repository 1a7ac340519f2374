"""`assay audit replay`: a recorded check is run again (`assay.server.audit.replay`)."""

from assay.server.audit.replay import GuardOf as GuardOf
from assay.server.audit.replay import Replay as Replay
from assay.server.audit.replay import content_of_bundle as content_of_bundle
from assay.server.audit.replay import heard_in as heard_in
from assay.server.audit.replay import replay as replay
