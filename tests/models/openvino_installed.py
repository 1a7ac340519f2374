"""Whether OpenVINO is there to be tested: an extra that `make test` does without and `make test-slow` installs."""

import os
from importlib.util import find_spec

import pytest

INSTALLED = find_spec("openvino") is not None
if os.environ.get("ASSAY_OPENVINO") == "required" and not INSTALLED:
    raise RuntimeError("ASSAY_OPENVINO is required, but the extra openvino is not installed")
needs_openvino = pytest.mark.skipif(not INSTALLED, reason="the extra openvino is not installed; see `make test-slow`")
