"""One loaded ONNX graph run by OpenVINO (extra `openvino`). The only module that uses OpenVINO.

OpenVINO reads the same verified file as ONNX Runtime. By itself it would compute a matrix product of the shipped graph
(`DynamicQuantizeMatMul`) in float, or quantise by its own rule. `_product` defines that operator in OpenVINO's own
operators, step by step: one scale and one zero point for all activations of a pair, whole
numbers times whole numbers, scaled back. OpenVINO's low-precision passes make int8 kernels of that, and the scores
stay those of ONNX Runtime but for the order in which sums are rounded. See docs/adr/0027-openvino-as-an-extra.md.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ModelError, VerifierError
from assay.models.onnx_session import EXPORT_ADVICE, TOKEN_OUTPUT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INSTALL_ADVICE = "install the extra: `pip install 'assay-ai[openvino]'`, or choose the runtime onnxruntime"
TELEMETRY = "openvino_telemetry"
"""The package by which `import openvino` reports to its maker; where it is missing OpenVINO uses a stub."""
SMALLEST_SCALE = 1e-30
"""Added to each scale: activations that are all zero would have the scale 0."""
_importing = threading.Lock()


def _runtime() -> Any:
    """OpenVINO, imported without its telemetry.

    Its import sends an event to a web service unless the telemetry package cannot be imported. Checking a claim
    must not send anything off the machine, so the package is hidden while OpenVINO looks for it. Where a program has
    imported OpenVINO already, its choice stands.

    Raises:
        ModelError: OpenVINO is not installed or cannot be loaded here.
    """
    with _importing:
        hidden = "openvino" not in sys.modules and TELEMETRY not in sys.modules
        if hidden:
            sys.modules[TELEMETRY] = None  # type: ignore[assignment]  # the documented way to make an import fail
        try:
            import openvino
            import openvino.frontend.onnx
            import openvino.opset13
        except ImportError as error:
            raise ModelError(
                f"the runtime openvino was asked for, but it cannot be imported ({error}); {INSTALL_ADVICE}"
            ) from error
        finally:
            if hidden:
                del sys.modules[TELEMETRY]
    return openvino


def _constant(node: Any, index: int) -> NDArray[Any]:
    """The numbers of an input that the graph stores.

    Raises:
        ValueError: the input is computed.
    """
    producer = node.get_input(index).get_node()
    if producer.get_type_name() != "Constant":
        raise ValueError(f"input {index} of DynamicQuantizeMatMul is computed, expected numbers that the graph stores")
    numbers: NDArray[Any] = producer.data
    return numbers


def _product(node: Any) -> Any:
    """ONNX Runtime's `DynamicQuantizeMatMul` in operators that OpenVINO turns into an int8 kernel.

    Activations x become whole numbers q = clip(round(x / scale) + zero, 0, 255) with scale = (high - low) / 255 and
    zero = round(-low / scale) over the range of x and 0. Since x is about (q - zero) * scale, the product with a
    weight w is (q w - zero * (sum of each column of w)) * scale, where the sums are known beforehand.

    Raises:
        ValueError: the weights are computed, or the rank of the activations is not known.
    """
    import numpy as np

    op = _runtime().opset13
    source = node.get_input(0)
    rank = source.get_partial_shape().rank
    if rank.is_dynamic:
        raise ValueError("the rank of the input of DynamicQuantizeMatMul is not known")
    weight, weight_scale = _constant(node, 1), _constant(node, 2).reshape(-1).astype(np.float32)
    weight_zero = _constant(node, 3).reshape(-1) if node.get_input_size() > 3 else np.zeros(1, weight.dtype)
    columns = np.ascontiguousarray(weight.T)  # a row for each output: as the kernels store it
    centred = columns.astype(np.float32) - weight_zero.astype(np.float32)[:, None]

    def number(value: float) -> Any:
        return op.constant(np.array(value, np.float32))

    axes = op.constant(np.arange(rank.get_length(), dtype=np.int64))
    above = op.relu(op.reduce_max(source, axes, True))
    below = op.relu(op.negative(op.reduce_min(source, axes, True)))
    scale = op.multiply(op.add(op.add(above, below), number(SMALLEST_SCALE)), number(1 / 255))
    zero = op.round(op.divide(below, scale), "half_to_even")
    shifted = op.add(op.divide(source, scale), zero)
    whole = op.fake_quantize(shifted, number(0), number(255), number(0), number(255), 256)
    real = op.convert(op.constant(columns), "f32")
    if weight_zero.any():
        real = op.subtract(real, op.constant(weight_zero.astype(np.float32)[:, None]))
    real = op.multiply(real, op.constant(weight_scale[:, None]))
    sums = centred.sum(axis=1) * weight_scale
    product = op.subtract(op.matmul(whole, real, False, True), op.multiply(zero, op.constant(sums)))
    product = op.multiply(product, scale)
    if node.get_input_size() > 4:
        product = op.add(product, node.get_input(4))
    return product.outputs()


class OpenVinoSession:
    """A classifier graph under OpenVINO; see `assay.models.onnx_session.OnnxSession` for its outputs.

    Each pair is one run, computed by the caller's thread. As many runs go on at once as there are streams.
    """

    def __init__(self, compiled: Any, path: Path) -> None:
        self._compiled = compiled
        self._path = path
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.inputs: dict[str, str] = {_name(i): _onnx_type(i) for i in compiled.inputs}
        """The names of the inputs and their types, such as `tensor(int64)`."""
        outputs = [_name(o) for o in compiled.outputs]
        self._outputs = [outputs.index("logits") if "logits" in outputs else 0]
        self.tells_tokens = TOKEN_OUTPUT in outputs
        """Whether the graph has the second output."""
        if self.tells_tokens:
            self._outputs.append(outputs.index(TOKEN_OUTPUT))

    def run(self, feed: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """The raw outputs for one pair, and of its tokens where the graph tells tokens.

        Raises:
            VerifierError: the runtime failed.
        """
        try:
            request = self._idle.get_nowait()
        except queue.Empty:
            request = self._compiled.create_infer_request()
        try:
            request.infer(dict(feed), share_inputs=True)
            # Copies: the request writes its next answer to the same place.
            logits, *tokens = (request.get_output_tensor(at).data.copy() for at in self._outputs)
        except (RuntimeError, ValueError, TypeError, KeyError) as error:
            raise VerifierError(f"{self._path}: the network failed on a pair: {error}") from error
        self._idle.put(request)  # a request that failed is not used again
        return logits, tokens[0] if tokens else None


def _name(port: Any) -> str:
    """The shortest of a port's names: translated graphs keep the ONNX name beside others."""
    return min(port.names, key=lambda name: (len(name), name)) if port.names else ""


def _onnx_type(port: Any) -> str:
    kind = port.element_type.get_type_name()
    return {"i64": "tensor(int64)", "i32": "tensor(int32)"}.get(kind, f"tensor({kind})")


def open_openvino(path: Path, threads: int) -> OpenVinoSession:
    """Load a graph for use by many threads, each of which computes alone.

    Numbers are computed as the graph says: no float is shortened to bfloat16 where the processor could, and nothing
    is quantised that the graph does not quantise, so that scores are the same on every run. Threads are left where
    the operating system puts them.

    Args:
        path: an ONNX file.
        threads: how many runs may go on at once, at least 1.

    Raises:
        ModelError: OpenVINO is not installed, or the file is broken, cut short, or uses operators that OpenVINO lacks.
    """
    openvino = _runtime()
    settings = {
        "NUM_STREAMS": threads,
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
        "ENABLE_CPU_PINNING": False,
    }
    try:
        core = openvino.Core()
        core.add_extension(
            openvino.frontend.onnx.ConversionExtension("DynamicQuantizeMatMul", "com.microsoft", _product)
        )
        model = core.read_model(str(path))
        model.reshape({i: [1, -1] for i in range(len(model.inputs))})  # one pair a run: fewer shapes to work out
        compiled = core.compile_model(model, "CPU", settings)
        return OpenVinoSession(compiled, path)
    except (RuntimeError, ValueError, TypeError) as error:
        why = " ".join(str(error).split())[-300:]  # the cause is at the end, after source locations in OpenVINO
        raise ModelError(f"{path}: expected an ONNX graph that OpenVINO runs, got: {why}; {EXPORT_ADVICE}") from error
