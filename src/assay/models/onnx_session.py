"""One loaded ONNX graph, shared by several threads. The only module that uses ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ModelError, VerifierError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOKEN_OUTPUT = "token_logits"  # noqa: S105 an output, no password
EXPORT_ADVICE = "export the model again or restore the file"


def _runtime() -> Any:
    """ONNX Runtime with its telemetry off.

    From version 1.29 on its builds for Linux send the names and digests of graphs to their maker, from a thread that
    the import starts. Nothing of what is checked here may leave the machine, and a process with threads cannot be
    forked safely.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # for a program that had imported it already
    return onnxruntime


def _runtime_errors() -> tuple[type[Exception], ...]:
    """What ONNX Runtime raises: its exception classes have no common base below `Exception`."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = ("Fail", "InvalidArgument", "NoSuchFile", "NoModel", "InvalidProtobuf", "InvalidGraph", "NotImplemented")
    return (*(getattr(state, name) for name in names), state.RuntimeException, state.EPFail, RuntimeError, ValueError)


class OnnxSession:
    """A classifier graph: token inputs of shape (batch, length), an output of shape (batch, labels).

    A second output named `token_logits`, of shape (batch, length), scores how wrong each token is.
    """

    def __init__(self, session: Any, path: Path) -> None:
        self._session = session
        self._path = path
        self._errors = _runtime_errors()
        self.inputs: dict[str, str] = {i.name: i.type for i in session.get_inputs()}
        """The names of the inputs and their types, such as `tensor(int64)`."""
        outputs = [o.name for o in session.get_outputs()]
        self._outputs = ["logits" if "logits" in outputs else outputs[0]]
        self.tells_tokens = TOKEN_OUTPUT in outputs
        """Whether the graph has the second output."""
        if self.tells_tokens:
            self._outputs.append(TOKEN_OUTPUT)

    def run(self, feed: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """The raw outputs for one batch: of the pairs, and of their tokens where the graph tells tokens.

        Raises:
            VerifierError: the runtime failed.
        """
        try:
            logits, *tokens = self._session.run(self._outputs, dict(feed))
        except self._errors as error:
            raise VerifierError(f"{self._path}: the network failed on a pair: {error}") from error
        return logits, tokens[0] if tokens else None


def open_session(path: Path) -> OnnxSession:
    """Load a graph for use by many threads, each of which computes alone.

    One thread inside a run makes the result independent of the number of threads, and was no slower than two on any
    length (docs/adr/0006-deterministic-batches.md). Memory patterns are off because lengths differ from run to run.

    Raises:
        ModelError: the file is broken, cut short, or uses operators that the runtime lacks.
    """
    onnxruntime = _runtime()
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
