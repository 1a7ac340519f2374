"""Make the tiny random networks under tests/models/tiny (needs the `onnx` package, which the tests do not).

    python tests/models/make_tiny_model.py

Each takes token numbers, averages random vectors of the words of premise and claim, and gives random linear scores of
the two means and their product. They judge nothing; they have the shape of a cross-encoder in ONNX, and dynamic int8
quantisation of the last product, so that a score depends on its neighbours where pairs are put into one batch.
`products` is a small layer of the operators that the shipped graph consists of.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent / "tiny"
VOCABULARY, WIDTH = 384, 6


def graph(outputs: int, *, types: bool = True, flat: bool = False, tokens: str = "") -> Any:
    """A classifier of pairs with `outputs` scores; without token types, or with a shape that is none, on demand.

    `tokens` adds a score for every token: the mean of its random vector ("all"), or of the first one alone ("first").
    """
    onnx = import_module("onnx")  # not among the test dependencies
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(7)
    constants = {
        "table": rng.normal(size=(VOCABULARY, WIDTH)).astype(np.float32),
        "weight": rng.integers(-127, 127, size=(WIDTH * 2, outputs)).astype(np.int8),
        "scale": np.array(0.02, np.float32),
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
    }
    second = "token_type_ids" if types else "attention_mask"
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=real),
        helper.make_node("Cast", [second], ["types"], to=real),
        helper.make_node("Unsqueeze", ["mask", "last"], ["mask3"]),
        helper.make_node("Unsqueeze", ["types", "last"], ["types3"]),
        helper.make_node("Mul", ["words", "mask3"], ["kept"]),
        helper.make_node("Mul", ["words", "types3"], ["claim"]),
        helper.make_node("ReduceMean", ["kept"], ["all"], axes=[1], keepdims=0),
        helper.make_node("ReduceMean", ["claim"], ["part"], axes=[1], keepdims=0),
        helper.make_node("Concat", ["all", "part"], ["features"], axis=1),
        helper.make_node("Tanh", ["features"], ["bounded"]),
        helper.make_node("DynamicQuantizeLinear", ["bounded"], ["q", "q_scale", "q_zero"]),
        helper.make_node("MatMulInteger", ["q", "weight", "q_zero"], ["product"]),
        helper.make_node("Cast", ["product"], ["real"], to=real),
        helper.make_node("Mul", ["q_scale", "scale"], ["both"]),
        helper.make_node("Mul", ["real", "both"], ["scores"]),
        helper.make_node("Unsqueeze", ["scores", "middle"], ["logits"])
        if flat
        else helper.make_node("Identity", ["scores"], ["logits"]),
    ]
    if tokens:
        nodes.append(helper.make_node("ReduceMean", ["words"], ["by_token"], axes=[2], keepdims=0))
        nodes.append(
            helper.make_node("Mul", ["by_token", "ten"], ["token_logits"])
            if tokens == "all"
            else helper.make_node("ReduceMean", ["by_token"], ["token_logits"], axes=[1], keepdims=1)
        )
        constants["ten"] = np.array(10, np.float32)
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    inputs = [helper.make_tensor_value_info(n, onnx.TensorProto.INT64, ["batch", "length"]) for n in names]
    shape = ["batch", 1, outputs] if flat else ["batch", outputs]
    output = helper.make_tensor_value_info("logits", real, shape)
    outputs_given = [output]
    if tokens:
        outputs_given.append(helper.make_tensor_value_info("token_logits", real, ["batch", "tokens"]))
    initial = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    model = helper.make_model(
        helper.make_graph(nodes, "tiny", inputs, outputs_given, initial), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def products() -> Any:
    """A network of one layer in the operators of ONNX Runtime's own that the shipped graph consists of.

    Three products quantise what they are given: one with a bias, one with weights whose zero is not 0, and one with
    neither. Both heads are there.
    """
    onnx = import_module("onnx")
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(11)
    width, heads = 16, 2

    def scale(size: int) -> Any:
        return rng.uniform(0.004, 0.012, size).astype(np.float32)

    constants = {
        "table": rng.normal(size=(VOCABULARY, width)).astype(np.float32),
        "kinds": rng.normal(size=(2, width)).astype(np.float32),
        "merged_weight": rng.integers(-127, 128, size=(width, 3 * width)).astype(np.int8),
        "merged_scale": scale(3 * width),
        "merged_zero": np.zeros(3 * width, np.int8),
        "merged_bias": rng.normal(size=3 * width).astype(np.float32),
        "wide_weight": rng.integers(-100, 101, size=(width, 2 * width)).astype(np.int8),
        "wide_scale": scale(2 * width),
        "wide_zero": rng.integers(-9, 10, size=2 * width).astype(np.int8),
        "narrow_weight": rng.integers(-127, 128, size=(2 * width, width)).astype(np.int8),
        "narrow_scale": scale(width),
        "gain": rng.uniform(0.5, 1.5, width).astype(np.float32),
        "shift": rng.normal(size=width).astype(np.float32),
        "sizes": np.array([width] * 3, np.int64),
        "first": np.array(0, np.int64),
        "by_token": rng.normal(size=(width, 1)).astype(np.float32),
        "last_axis": np.array([2], np.int64),
        "by_pair": rng.normal(size=(width, 3)).astype(np.float32),
    }

    def product(name: str, source: str, *more: str) -> Any:
        given = [source, f"{name}_weight", f"{name}_scale", *more]
        return helper.make_node("DynamicQuantizeMatMul", given, [name], domain="com.microsoft")

    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Gather", ["kinds", "token_type_ids"], ["types"]),
        helper.make_node("Add", ["words", "types"], ["embedded"]),
        product("merged", "embedded", "merged_zero", "merged_bias"),
        helper.make_node("Split", ["merged", "sizes"], ["q", "k", "v"], axis=2),
        helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["seen"], domain="com.microsoft", num_heads=heads),
        helper.make_node("Add", ["seen", "embedded"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "gain", "shift"], ["normal"], axis=-1, epsilon=1e-12),
        product("wide", "normal", "wide_zero"),
        helper.make_node("Gelu", ["wide"], ["active"], domain="com.microsoft"),
        product("narrow", "active"),
        helper.make_node("Gather", ["narrow", "first"], ["opening"], axis=1),
        helper.make_node("MatMul", ["opening", "by_pair"], ["logits"]),
        helper.make_node("MatMul", ["narrow", "by_token"], ["each"]),
        helper.make_node("Squeeze", ["each", "last_axis"], ["token_logits"]),
    ]
    integers = onnx.TensorProto.INT64
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "products",
            [helper.make_tensor_value_info(n, integers, ["batch", "length"]) for n in ("input_ids", "token_type_ids")],
            [
                helper.make_tensor_value_info("logits", real, ["batch", 3]),
                helper.make_tensor_value_info("token_logits", real, ["batch", "length"]),
            ],
            [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
    )
    model.ir_version = 8
    return model


def main() -> None:
    """Write the files."""
    HERE.mkdir(exist_ok=True)
    save = import_module("onnx").save
    save(graph(3), HERE / "three.onnx")
    save(graph(2), HERE / "two.onnx")
    save(graph(1), HERE / "score.onnx")
    save(graph(3, types=False), HERE / "untyped.onnx")
    save(graph(3, flat=True), HERE / "misshapen.onnx")
    save(graph(3, tokens="all"), HERE / "words.onnx")
    save(graph(3, tokens="first"), HERE / "misworded.onnx")
    save(products(), HERE / "products.onnx")


if __name__ == "__main__":
    main()
