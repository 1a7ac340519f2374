"""The int8 form of a small graph against its float form; needs the packages that export needs."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the export needs the onnx package")
quantise: ModuleType = pytest.importorskip("train.quantise")

WIDTH = 32


def test_scales_bring_whole_numbers_back_within_half_a_step() -> None:
    weight = np.random.default_rng(1).normal(size=(8, 5)).astype(np.float32)
    for axis in (0, 1):
        numbers, scale = quantise.scaled(weight, axis)
        back = numbers * np.expand_dims(scale, 1 - axis)
        assert scale.shape == (weight.shape[axis],)
        assert (np.abs(back - weight) <= np.expand_dims(scale, 1 - axis) * 0.501).all()


def test_a_column_of_zeros_stays_zero() -> None:
    numbers, scale = quantise.scaled(np.zeros((4, 2), np.float32), 1)
    assert not numbers.any()
    assert np.isfinite(scale).all()


def test_a_layer_in_int8_follows_the_float_one(tmp_path: Path) -> None:
    import onnxruntime

    rng = np.random.default_rng(2)
    shapes = {
        "qkv": (WIDTH, 3 * WIDTH),
        "qkv_b": (3 * WIDTH,),
        "out": (WIDTH, WIDTH),
        "out_b": (WIDTH,),
        "gain": (WIDTH,),
        "shift": (WIDTH,),
        "up": (WIDTH, 64),
        "up_b": (64,),
    }
    stored = {name: rng.normal(scale=0.2, size=shape).astype(np.float32) for name, shape in shapes.items()}
    stored["gain"] += 1
    node = onnx.helper.make_node
    own = {"domain": "com.microsoft"}
    nodes = [
        node("Attention", ["x", "qkv", "qkv_b"], ["heads"], num_heads=4, **own),
        node("MatMul", ["heads", "out"], ["mixed"]),
        node("SkipLayerNormalization", ["mixed", "x", "gain", "shift", "out_b"], ["normal"], epsilon=1e-12, **own),
        node("MatMul", ["normal", "up"], ["wide"]),
        node("BiasGelu", ["wide", "up_b"], ["y"], **own),
    ]
    real = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes,
        "layer",
        [onnx.helper.make_tensor_value_info("x", real, [1, "tokens", WIDTH])],
        [onnx.helper.make_tensor_value_info("y", real, [1, "tokens", 64])],
        [onnx.numpy_helper.from_array(v, k) for k, v in stored.items()],
    )
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    onnx.save(model, str(tmp_path / "float.onnx"))
    quantise.quantise(tmp_path / "float.onnx", tmp_path / "int8.onnx")
    kinds = {n.op_type for n in onnx.load(str(tmp_path / "int8.onnx")).graph.node}
    assert kinds == {"DynamicQuantizeMatMul", "Split", "MultiHeadAttention", "Add", "LayerNormalization", "Gelu"}
    feed = {"x": rng.normal(size=(1, 9, WIDTH)).astype(np.float32)}
    wanted, got = (
        onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"]).run(None, feed)[0]
        for name in ("float.onnx", "int8.onnx")
    )
    assert np.abs(wanted - got).max() < 0.05 * np.abs(wanted).max()
