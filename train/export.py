"""Export a trained checkpoint to the int8 ONNX form that ships with the package.

    python -m train.export --run .work/run --out src/assay/models/weights --name assay-verifier-12

The last layer is computed for the first token alone (`train.last_row`). The graph is fused by ONNX Runtime's
transformer optimiser and held against the checkpoint, then rewritten in int8 (`train.quantise`). A checkpoint with
`token_head.safetensors` beside it gets a second output `token_logits`, one number for every token. Beside the graph
stand the tokenizer, the configuration and a manifest with the digest of every file, which is verified on loading.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import onnx
import onnxruntime
import torch
from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import optimize_model
from transformers import AutoTokenizer

from train.last_row import Exported
from train.quantise import quantise
from train.two_heads import load_two_heads

LICENCE = "Apache-2.0"
BASE = "cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0)"
INPUTS = ("input_ids", "token_type_ids")
TOLERANCE = 1e-4
"""How far the outputs of the float graph may lie from the checkpoint's."""


def export_float(checkpoint: Path, target: Path) -> None:
    """Write the float graph with free batch and token dimensions; all pairs of a batch are of one length."""
    network = Exported(load_two_heads(checkpoint)).eval()
    sample = torch.ones(2, 16, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in (*INPUTS, *network.outputs)}
    torch.onnx.export(
        network,
        (sample, sample),
        str(target),
        input_names=list(INPUTS),
        output_names=list(network.outputs),
        dynamic_axes=axes | {"logits": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )


def fuse(source: Path, target: Path, heads: int, width: int) -> None:
    """Fuse layer normalisation and GELU; attention is one operator already."""
    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False  # kept apart so that the embeddings can be quantised
    optimised = optimize_model(
        str(source), model_type="bert", num_heads=heads, hidden_size=width, optimization_options=options
    )
    optimised.save_model_to_file(str(target))


def check_close(checkpoint: Path, graph: Path) -> float:
    """How far the outputs of the float graph are from those of the network as it was trained.

    Raises:
        SystemExit: further than `TOLERANCE`.
    """
    trained = load_two_heads(checkpoint).eval()
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    generator = torch.Generator().manual_seed(1)
    moved = 0.0
    for tokens in (8, 61, 200):
        ids = torch.randint(trained.network.config.vocab_size, (2, tokens), generator=generator)
        types = (torch.arange(tokens) >= tokens - 7).long().repeat(2, 1)
        with torch.no_grad():
            wanted = [out.numpy() for out in trained(ids, None, types) if out is not None]
        got = session.run(None, {"input_ids": ids.numpy(), "token_type_ids": types.numpy()})
        moved = max(moved, *(float(abs(a - b).max()) for a, b in zip(wanted, got, strict=True)))
    if moved > TOLERANCE:
        raise SystemExit(f"The graph differs by {moved:.2g} from the checkpoint, at most {TOLERANCE} expected.")
    return moved


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
        print(f"float graph: within {check_close(checkpoint, fused):.1g} of the checkpoint")
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
