"""The fused float graph in int8: which operators of ONNX Runtime the network consists of in use.

Every product of activations and weights becomes one `DynamicQuantizeMatMul`: it quantises its input with one scale
for the pair, multiplies in int8 and adds the bias while it scales back. Weights have a scale for every output. Chosen
by measurement (processor time of one pair on one core, ONNX Runtime 1.31, against what `quantize_dynamic` writes):

- `Add` and `LayerNormalization` instead of `SkipLayerNormalization`, which takes five times as long as the two: 1.2
  times as fast at 64 tokens, 1.2 at 256;
- one merged product and `MultiHeadAttention` instead of `QAttention`: the same at 64 tokens, 1.04 at 256;
- biases inside the products, so that `Gelu` has none to add: 1.04.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
FLOAT_PRODUCTS = ("/classifier/Gemm", "/token_head/MatMul")
"""The two heads stay in float; so do products with a matrix a head, which have three dimensions."""


def scaled(weight: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers between -127 and 127 and the scale that brings them back, one for each place along `axis`."""
    largest = np.abs(weight).max(axis=1 - axis, keepdims=True)
    scale = (np.maximum(largest, 1e-12) / 127).astype(np.float32)
    return np.rint(weight / scale).astype(np.int8), scale.squeeze(1 - axis)


class Quantiser:
    """Rewrites one graph node by node."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.stored = {tensor.name: tensor for tensor in model.graph.initializer}
        self.readers: dict[str, list[NodeProto]] = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.nodes: list[NodeProto] = []
        self.merged_biases: set[str] = set()
        """Inputs that a product has already added."""

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        """Keep a new tensor."""
        self.stored[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def node(self, kind: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: object) -> None:
        """Add a node, named by what it makes."""
        name = f"{outputs[0]}/{kind}"
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, domain=domain, **attributes))

    def product(self, source: str, weight: NDArray[np.float32], bias: str, output: str) -> None:
        """Activations times a weight (inputs, outputs), plus a bias."""
        numbers, scale = scaled(weight, axis=1)
        inputs = [
            source,
            self.constant(f"{output}/weight", numbers),
            self.constant(f"{output}/scale", scale),
            self.constant(f"{output}/zero", np.zeros(scale.shape, np.int8)),
        ]
        self.node("DynamicQuantizeMatMul", [*inputs, *([bias] if bias else [])], [output], MICROSOFT)

    def weight_of(self, node: NodeProto) -> NDArray[np.float32] | None:
        """The constant matrix that a node multiplies by, none where there is none or it stays in float."""
        tensor = self.stored.get(node.input[1])
        if tensor is None or node.name in FLOAT_PRODUCTS or len(tensor.dims) != 2:
            return None
        return numpy_helper.to_array(tensor)

    def attention(self, node: NodeProto) -> None:
        """Queries, keys and values in one product, then the heads."""
        source, weight, bias = node.input[:3]
        output = node.output[0]
        self.product(source, numpy_helper.to_array(self.stored[weight]), bias, f"{output}/merged")
        width = self.stored[weight].dims[0]
        parts = [f"{output}/{part}" for part in ("query", "key", "value")]
        sizes = self.constant(f"{output}/sizes", np.array([width] * 3, np.int64))
        self.node("Split", [f"{output}/merged", sizes], parts, axis=2)
        heads = next(a.i for a in node.attribute if a.name == "num_heads")
        self.node("MultiHeadAttention", parts, [output], MICROSOFT, num_heads=heads)

    def matmul(self, node: NodeProto) -> None:
        """A product; the bias that its only reader would add is added here."""
        weight = self.weight_of(node)
        if weight is None:
            self.nodes.append(node)
            return
        readers = self.readers[node.output[0]]
        at = {"SkipLayerNormalization": 4, "BiasGelu": 1}.get(readers[0].op_type) if len(readers) == 1 else None
        bias = readers[0].input[at] if at is not None and len(readers[0].input) > at else ""
        self.merged_biases.add(bias)
        self.product(node.input[0], weight, bias, node.output[0])

    def gemm(self, node: NodeProto) -> None:
        """A product with its bias, as linear layers over single rows are exported."""
        weight = self.weight_of(node)
        if weight is None:
            self.nodes.append(node)
            return
        turned = any(a.name == "transB" and a.i for a in node.attribute)
        self.product(node.input[0], weight.T if turned else weight, node.input[2], node.output[0])

    def skip_norm(self, node: NodeProto) -> None:
        """The sum of two tensors, normalised."""
        if len(node.input) > 4 and node.input[4] not in self.merged_biases:
            self.nodes.append(node)
            return
        total = f"{node.output[0]}/sum"
        epsilon = next(a.f for a in node.attribute if a.name == "epsilon")
        self.node("Add", list(node.input[:2]), [total])
        self.node("LayerNormalization", [total, *node.input[2:4]], [node.output[0]], axis=-1, epsilon=epsilon)

    def gelu(self, node: NodeProto) -> None:
        """The activation, its bias added before."""
        if node.input[1] not in self.merged_biases:
            self.nodes.append(node)
            return
        self.node("Gelu", [node.input[0]], [node.output[0]], MICROSOFT)

    def gather(self, node: NodeProto) -> None:
        """A table of embeddings with one scale for each row; small tables stay as they are."""
        tensor = self.stored.get(node.input[0])
        if tensor is None or len(tensor.dims) != 2 or tensor.dims[0] < 1_024:
            self.nodes.append(node)
            return
        numbers, scale = scaled(numpy_helper.to_array(tensor), axis=0)
        table, output = node.input[0], node.output[0]
        picked = [f"{output}/numbers", f"{output}/real", f"{output}/scale"]
        self.node("Gather", [self.constant(f"{table}/numbers", numbers), node.input[1]], [picked[0]])
        self.node("Cast", [picked[0]], [picked[1]], to=onnx.TensorProto.FLOAT)
        self.node("Gather", [self.constant(f"{table}/scale", scale[:, None]), node.input[1]], [picked[2]])
        self.node("Mul", [picked[1], picked[2]], [output])

    def rewrite(self) -> onnx.ModelProto:
        """The model in int8."""
        graph = self.model.graph
        rules: dict[str, Callable[[NodeProto], None]] = {
            "Attention": self.attention,
            "MatMul": self.matmul,
            "Gemm": self.gemm,
            "BiasGelu": self.gelu,
            "SkipLayerNormalization": self.skip_norm,
            "Gather": self.gather,
        }
        for node in list(graph.node):
            rules.get(node.op_type, self.nodes.append)(node)
        read = {name for node in self.nodes for name in node.input}
        for field, values in (
            (graph.node, self.nodes),
            (graph.initializer, [t for n, t in self.stored.items() if n in read]),
            (graph.value_info, []),
        ):
            kept = [type(value).FromString(value.SerializeToString()) for value in values]
            del field[:]
            field.extend(kept)
        return self.model


def quantise(source: Path, target: Path) -> None:
    """Write the int8 form of a fused float graph."""
    onnx.save(Quantiser(onnx.load(str(source))).rewrite(), str(target))
