"""Export a trained checkpoint to the int8 ONNX form that ships with the package.

    python -m train.export --run .work/run --out src/assay/models/weights --name assay-verifier-12

The graph is fused by ONNX Runtime's transformer optimiser, then its matrix products and embeddings are quantised to
int8 (weights per channel; activations at run time). Beside it stand the tokenizer, the configuration and a
manifest with the digest of every file, which is verified when the model is loaded.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import optimize_model
from transformers import AutoModelForSequenceClassification, AutoTokenizer

LICENCE = "Apache-2.0"
BASE = "cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0)"


class Logits(torch.nn.Module):
    """The network with plain tensors in and logits out."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Logits of shape (batch, labels) for inputs of shape (batch, tokens)."""
        return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits


def export_float(checkpoint: Path, target: Path) -> None:
    """Write the float graph with free batch and token dimensions."""
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, attn_implementation="eager").eval()
    sample = torch.ones(2, 16, dtype=torch.long)
    names = ("input_ids", "attention_mask", "token_type_ids")
    torch.onnx.export(
        Logits(model), (sample, sample, sample), str(target), input_names=list(names), output_names=["logits"],
        dynamic_axes={**{n: {0: "batch", 1: "tokens"} for n in names}, "logits": {0: "batch"}},
        opset_version=17, dynamo=False,
    )  # fmt: skip


def fuse(source: Path, target: Path, heads: int, width: int) -> None:
    """Fuse attention, layer normalisation and GELU."""
    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False  # kept apart so that the embeddings can be quantised
    optimised = optimize_model(
        str(source), model_type="bert", num_heads=heads, hidden_size=width, optimization_options=options
    )
    optimised.save_model_to_file(str(target))


def quantise(source: Path, target: Path) -> None:
    """Quantise matrix products and embeddings to int8."""
    quantize_dynamic(
        str(source), str(target), op_types_to_quantize=["MatMul", "Attention", "Gather", "Gemm"], per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT},
    )  # fmt: skip


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Read arguments and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="the folder that training wrote")
    parser.add_argument("--out", type=Path, required=True, help="the folder of weights to write")
    parser.add_argument("--name", required=True)
    parser.add_argument("--version", default="1")
    arguments = parser.parse_args()
    checkpoint = arguments.run / "model"
    config = json.loads((checkpoint / "config.json").read_text())
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain, fused = Path(folder) / "float.onnx", Path(folder) / "fused.onnx"
        export_float(checkpoint, plain)
        fuse(plain, fused, config["num_attention_heads"], config["hidden_size"])
        quantise(fused, arguments.out / "model.onnx")
    onnx.checker.check_model(str(arguments.out / "model.onnx"), full_check=False)
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        shutil.copy(Path(folder) / "tokenizer.json", arguments.out / "tokenizer.json")
    kept = (
        "model_type",
        "num_hidden_layers",
        "hidden_size",
        "max_position_embeddings",
        "vocab_size",
        "id2label",
        "label2id",
    )
    (arguments.out / "config.json").write_text(json.dumps({key: config[key] for key in kept}, indent=2) + "\n")
    record = arguments.run / "run.json"
    manifest = {
        "name": arguments.name,
        "version": arguments.version,
        "base": BASE,
        "licence": LICENCE,
        "labels": [config["id2label"][str(i)].lower() for i in range(3)],
        "training": json.loads(record.read_text()) if record.exists() else {},
        "files": {name: digest(arguments.out / name) for name in ("model.onnx", "tokenizer.json", "config.json")},
    }
    (arguments.out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    size = (arguments.out / "model.onnx").stat().st_size / 2**20
    print(f"{arguments.out}: {size:.1f} MiB, {manifest['files']['model.onnx'][:12]}")


if __name__ == "__main__":
    main()
