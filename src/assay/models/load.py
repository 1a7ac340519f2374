"""A scorer from a directory, by what the directory holds."""

from __future__ import annotations

from pathlib import Path

from assay.errors import ModelError
from assay.models.cross_encoder import OnnxCrossEncoder, find_graph
from assay.models.interface import PairScorer
from assay.models.runtime import DEFAULT_RUNTIME, Runtime
from assay.models.torch_cross_encoder import WEIGHTS, TorchCrossEncoder


def load_scorer(directory: Path | str, *, threads: int | None = None, runtime: Runtime = DEFAULT_RUNTIME) -> PairScorer:
    """The cross-encoder in a directory: its ONNX graph where there is one, else its PyTorch weights.

    On a GPU (`cuda`) the weights come first.

    Args:
        directory: a Hugging Face model directory.
        threads: how many pairs are judged at once; the usable CPUs by default.
        runtime: what runs it; `openvino` runs an ONNX graph and needs the extra of that name, `cuda` runs PyTorch
            weights on a GPU and needs the extra `torch`.

    Raises:
        ModelError: nothing in the directory can judge claims; the message names the file and says what to do.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise ModelError(f"{directory}: expected the directory of a cross-encoder, got no directory")
    weights = any((directory / name).exists() for name in WEIGHTS)
    if runtime == "cuda" and weights:
        return TorchCrossEncoder.load(directory, runtime=runtime)
    if weights and find_graph(directory) is None:
        if runtime != DEFAULT_RUNTIME:
            raise ModelError(f"{directory}: holds no ONNX graph, which the runtime {runtime} needs; export the model")
        return TorchCrossEncoder.load(directory)
    return OnnxCrossEncoder.load(directory, threads=threads, runtime=runtime)
