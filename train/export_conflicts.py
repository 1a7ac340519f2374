"""Export the conflict network to the int8 ONNX form that ships with the package.

    python -m train.export_conflicts --run .work/conflicts [OTHER ...] --out src/assay/models/weights --version 1

Of several runs the mean of their weights is taken: a later stage forgets some of what an earlier one knew, and the mean
keeps both. The record of stages is that of the first. The graph is made as `train.export` makes the verifier's. Its
table of words was not trained (`train.conflict_network`), so it is the one in `model.onnx` of the same folder, number
for number: `conflicts.onnx` names the place of it in that file in place of a copy of 11 MiB. The manifest
`conflicts.json` holds the digests of both graphs, so that neither is ever read with another version of the other.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, numpy_helper

from train.export import BASE, LICENCE, check_close, digest, export_float, fuse
from train.quantise import quantise
from train.two_heads import load_two_heads, save_two_heads

TABLE = "embeddings.word_embeddings.weight/numbers"
"""The table of words in an exported graph."""
GRAPH, SHARED, MANIFEST = "conflicts.onnx", "model.onnx", "conflicts.json"


def shared_table(graph: onnx.ModelProto, verifier: Path) -> onnx.ModelProto:
    """The graph with its table of words in the verifier's file.

    Raises:
        SystemExit: the tables differ, or the verifier's cannot be found in its file.
    """
    tensors = {tensor.name: tensor for tensor in graph.graph.initializer}
    theirs = {tensor.name: tensor for tensor in onnx.load(str(verifier)).graph.initializer}
    mine, own = tensors[TABLE], numpy_helper.to_array(theirs[TABLE])
    if not np.array_equal(numpy_helper.to_array(mine), own):
        raise SystemExit(f"{verifier}: has another table of words; train from these weights (train.shipped)")
    content, numbers = verifier.read_bytes(), own.tobytes()
    offset = content.find(numbers)
    if offset < 0:
        raise SystemExit(f"{verifier}: its table of words does not stand in one piece; export it again")
    mine.ClearField("raw_data")
    mine.data_location = TensorProto.EXTERNAL
    del mine.external_data[:]
    for key, value in (("location", SHARED), ("offset", str(offset)), ("length", str(len(numbers)))):
        mine.external_data.add(key=key, value=value)
    return graph


def mean_of(checkpoints: Sequence[Path], folder: Path) -> Path:
    """A checkpoint with the mean of the weights of several; of one, that one itself.

    Args:
        checkpoints: folders that `train.conflict_network` wrote.
        folder: where the mean is written.
    """
    if len(checkpoints) == 1:
        return checkpoints[0]
    first, *others = (load_two_heads(one) for one in checkpoints)
    weights = [one.state_dict() for one in (first, *others)]
    first.load_state_dict(
        {
            name: sum(one[name] for one in weights) / len(weights) if value.is_floating_point() else value
            for name, value in weights[0].items()
        }
    )
    save_two_heads(first, folder)
    return folder


def distance(graph: Path, whole: Path) -> float:
    """How far the outputs of the graph with the shared table are from those of the whole one, over random pairs."""
    sessions = [onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]) for path in (graph, whole)]
    chance = np.random.default_rng(1)
    moved = 0.0
    for tokens in (9, 40, 150):
        types = (np.arange(tokens) >= tokens // 2).astype(np.int64)[None]
        fed = {"input_ids": chance.integers(0, 30_000, (1, tokens)), "token_type_ids": types}
        one, other = (session.run(["logits"], fed)[0] for session in sessions)
        moved = max(moved, float(abs(one - other).max()))
    return moved


def main() -> None:
    """Read arguments and write graph and manifest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, nargs="+", required=True, help="folders that train.conflict_network wrote")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the verifier's weights")
    parser.add_argument("--version", required=True)
    given = parser.parse_args()
    config = json.loads((given.run[0] / "model" / "config.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = mean_of([run / "model" for run in given.run], Path(folder) / "mean")
        plain, fused, whole = (Path(folder) / name for name in ("float.onnx", "fused.onnx", "whole.onnx"))
        export_float(checkpoint, plain)
        fuse(plain, fused, config["num_attention_heads"], config["hidden_size"])
        print(f"float graph: within {check_close(checkpoint, fused):.1g} of the checkpoint")
        quantise(fused, whole)
        graph = shared_table(onnx.load(str(whole)), given.out / SHARED)
        (given.out / GRAPH).write_bytes(graph.SerializeToString())
        moved = distance(given.out / GRAPH, whole)
    if moved > 0:
        raise SystemExit(f"The graph with the shared table differs by {moved:.2g} from the whole one.")
    manifest = {
        "name": "assay-conflicts-12",
        "version": given.version,
        "base": BASE,
        "licence": LICENCE,
        "labels": ["conflict"],
        "training": {"stages": json.loads((given.run[0] / "run.json").read_text()), "mean_of_runs": len(given.run)},
        "files": {name: digest(given.out / name) for name in (GRAPH, SHARED, "tokenizer.json", "config.json")},
    }
    (given.out / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    size = (given.out / GRAPH).stat().st_size / 2**20
    print(f"{given.out / GRAPH}: {size:.1f} MiB")


if __name__ == "__main__":
    main()
