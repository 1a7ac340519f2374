"""What runs a network: ONNX Runtime, or OpenVINO or a GPU where it is asked for.

The runtime is a setting, and never depends on what happens to be installed: scores differ in the last digits between
runtimes, and sometimes by more, where a value is rounded the other way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol, get_args

from assay.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Runtime = Literal["onnxruntime", "openvino", "cuda"]
DEFAULT_RUNTIME: Final[Runtime] = "onnxruntime"
"""Runs a network where nothing else is set; weights without an ONNX graph then run under PyTorch on the CPU."""
RUNTIMES: Final[tuple[Runtime, ...]] = get_args(Runtime)
"""`cuda` is PyTorch on a GPU, for a folder that holds PyTorch weights."""
GRAPH_RUNTIMES: Final[tuple[Runtime, ...]] = ("onnxruntime", "openvino")
"""Those that run an ONNX graph."""


class NetworkSession(Protocol):
    """One loaded graph, shared by several threads."""

    inputs: dict[str, str]
    """The names of the inputs and their types, such as `tensor(int64)`."""
    tells_tokens: bool
    """Whether the graph has an output that scores how wrong each token is."""

    def run(self, feed: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """The raw outputs for one pair: of the pair, and of its tokens where the graph tells tokens.

        Raises:
            VerifierError: the runtime failed.
        """
        ...


def read_runtime(name: str) -> Runtime:
    """The runtime of that name.

    Raises:
        ModelError: there is none.

    >>> read_runtime("openvino")
    'openvino'
    """
    for runtime in RUNTIMES:
        if runtime == name:
            return runtime
    raise ModelError(f"expected a runtime ({', '.join(RUNTIMES)}), got {name!r}")


def start_session(graph: Path, runtime: Runtime, threads: int) -> NetworkSession:
    """Load a graph under a runtime.

    Args:
        graph: an ONNX file, its content verified before.
        runtime: what runs it.
        threads: how many runs may go on at once.

    Raises:
        ModelError: the file or the runtime cannot be used.
    """
    if runtime == "cuda":
        raise ModelError(
            f"{graph}: the runtime cuda runs PyTorch weights, and this is an ONNX graph; name the folder of a "
            "checkpoint with --verifier or ASSAY_VERIFIER, or take another runtime"
        )
    if runtime == "openvino":
        from assay.models.openvino_session import open_openvino

        return open_openvino(graph, threads)
    from assay.models.onnx_session import open_session

    return open_session(graph)


def known_as(name: str, digest: str, runtime: Runtime) -> tuple[str, str]:
    """The name and digest of a network under a runtime, as in reports, receipts, promises and cache keys.

    Under ONNX Runtime they are those of the files. Under another runtime both differ, so that cached scores,
    calibrations and receipts of one runtime are never taken for those of another.

    >>> known_as("tiny 1", "0" * 64, "onnxruntime") == ("tiny 1", "0" * 64)
    True
    >>> known_as("tiny 1", "0" * 64, "openvino")[0]
    'tiny 1 (openvino)'
    """
    if runtime == DEFAULT_RUNTIME:
        return name, digest
    return f"{name} ({runtime})", hashlib.sha256(f"{digest} {runtime}".encode()).hexdigest()
