"""One loaded ONNX graph that several threads may ask at once. The only file that knows ONNX Runtime.

`open_session` is the place where another runtime, such as OpenVINO, would be chosen when it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ModelError, VerifierError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXPORT_ADVICE = "export the model again or restore the file"


def _runtime_errors() -> tuple[type[Exception], ...]:
    """What ONNX Runtime raises: its own classes have no common root of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = ("Fail", "InvalidArgument", "NoSuchFile", "NoModel", "InvalidProtobuf", "InvalidGraph", "NotImplemented")
    return (*(getattr(state, name) for name in names), state.RuntimeException, state.EPFail, RuntimeError, ValueError)


class OnnxSession:
    """A classifier graph: token inputs of shape (batch, length), one output of shape (batch, labels)."""

    def __init__(self, session: Any, path: Path) -> None:
        self._session = session
        self._path = path
        self._errors = _runtime_errors()
        self.inputs: dict[str, str] = {i.name: i.type for i in session.get_inputs()}
        """The names of the inputs and their types, such as `tensor(int64)`."""
        outputs = [o.name for o in session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]

    def run(self, feed: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """The raw output for one batch.

        Raises:
            VerifierError: the runtime failed.
        """
        try:
            result: NDArray[np.float32] = self._session.run([self._output], dict(feed))[0]
        except self._errors as error:
            raise VerifierError(f"{self._path}: the network failed on a pair: {error}") from error
        return result


def open_session(path: Path) -> OnnxSession:
    """Load a graph for use by many threads, each of which computes alone.

    One thread inside a run makes the result independent of the number of threads, and was no slower than two on any
    length (docs/adr/0006-deterministic-batches.md). Memory patterns are off because lengths differ from run to run.

    Raises:
        ModelError: the file is broken, cut short, or uses what the runtime does not know.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _runtime_errors() as error:
        raise ModelError(f"{path}: expected an ONNX graph, got: {error}; {EXPORT_ADVICE}") from error
    return OnnxSession(session, path)
