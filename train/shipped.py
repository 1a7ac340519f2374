"""The float form of weights that were exported: where training goes on when no checkpoint is at hand.

    python -m train.shipped --weights src/assay/models/weights --out .work/shipped
    python -m train.network --base .work/shipped/model --data ../shared/data --out .work/run --minutes 60

The package carries the network in int8 with a scale for every output, so each weight comes back rounded to 1/127 of
the largest of its output. The rebuilt network is held against the graph before it is written. What the graph does not
say is gone: the bias of the last layer's keys (which the softmax takes out) becomes 0.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from train.two_heads import TwoHeads, save_two_heads

TOLERANCE = 0.25
"""How far the mean of the rebuilt logits may lie from the graph's, which rounds activations as well; the logits
themselves lie between -6 and 6."""

LAYER = {
    "attended.dense": "attention.output.dense",
    "attended.LayerNorm": "attention.output.LayerNorm",
    "intermediate.dense": "intermediate.dense",
    "output.dense": "output.dense",
    "output.LayerNorm": "output.LayerNorm",
}
"""Names of a layer's parts in the graph, and in a transformers checkpoint."""
LAST = {
    **{k: v for k, v in LAYER.items() if "attended" not in k},
    "query": "attention.self.query",
    "dense": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
}


SPECIAL = {
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "mask_token": "[MASK]",
    "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
}
"""What the tokenizer's file does not name."""


class Exported:
    """The tensors of an exported graph in float, by what they are."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        self._nodes = {node.name: node for node in graph.node}

    def plain(self, name: str) -> NDArray[np.float32]:
        """A tensor that was kept in float.

        Raises:
            SystemExit: the graph has none of this name.
        """
        if name not in self._stored:
            raise SystemExit(f"The graph has no tensor {name!r}; `train.export` writes those that can be rebuilt.")
        return np.asarray(self._stored[name], np.float32)

    def read_by(self, node: str, place: int) -> NDArray[np.float32]:
        """The tensor that a node reads at a place, where the exporter chose its name."""
        if node not in self._nodes:
            raise SystemExit(f"The graph has no node {node!r}; `train.export` writes those that can be rebuilt.")
        return self.plain(self._nodes[node].input[place])

    def product(self, output: str) -> NDArray[np.float32]:
        """The weight (outputs, inputs) of an int8 product, by the name of what it makes."""
        return (self.plain(f"{output}/weight") * self.plain(f"{output}/scale")).T

    @property
    def layers(self) -> int:
        """How many layers are computed for every token."""
        return sum(name.endswith("attention.bias") for name in self._stored)

    def heads(self) -> int:
        """Heads of attention, from the shape of the last layer's keys (heads, size, width)."""
        return int(self.read_by("/last/MatMul", 1).shape[0])


def layer_weights(graph: Exported, number: int) -> dict[str, NDArray[np.float32]]:
    """The weights of one whole layer by their names in a checkpoint."""
    mine, theirs = f"layers.{number}", f"bert.encoder.layer.{number}"
    made = {}
    parts = ("query", "key", "value")
    merged = graph.product(f"/{mine}/attention/Attention_output_0/merged")
    for part, weight, bias in zip(
        parts, np.split(merged, 3), np.split(graph.plain(f"{mine}.attention.bias"), 3), strict=True
    ):
        made[f"{theirs}.attention.self.{part}.weight"] = weight
        made[f"{theirs}.attention.self.{part}.bias"] = bias
    for ours, name in LAYER.items():
        made[f"{theirs}.{name}.weight"] = (
            graph.plain(f"{mine}.{ours}.weight")
            if ours.endswith("LayerNorm")
            else graph.product(f"/{mine}/{ours.replace('.', '/')}/MatMul_output_0")
        )
        made[f"{theirs}.{name}.bias"] = graph.plain(f"{mine}.{ours}.bias")
    return made


def last_weights(graph: Exported) -> dict[str, NDArray[np.float32]]:
    """The weights of the layer that is computed for the first token alone (see `train.last_row`)."""
    theirs = f"bert.encoder.layer.{graph.layers}"
    keys, values = graph.read_by("/last/MatMul", 1), graph.read_by("/last/MatMul_3", 1)
    heads, size, width = keys.shape
    made = {
        f"{theirs}.attention.self.key.weight": (keys * np.float32(size) ** np.float32(0.5)).reshape(width, width),
        f"{theirs}.attention.self.key.bias": np.zeros(width, np.float32),
        f"{theirs}.attention.self.value.weight": values.transpose(0, 2, 1).reshape(heads * size, width),
        f"{theirs}.attention.self.value.bias": graph.read_by("/last/Add", 1),
    }
    for ours, name in LAST.items():
        made[f"{theirs}.{name}.weight"] = (
            graph.plain(f"last.{ours}.weight")
            if ours.endswith(("norm", "Norm"))
            else graph.product(f"/last/{ours.replace('.', '/')}/Gemm_output_0")
        )
        made[f"{theirs}.{name}.bias"] = graph.plain(f"last.{ours}.bias")
    return made


def embedding_weights(graph: Exported) -> dict[str, NDArray[np.float32]]:
    """The tables of words, places and texts, and their normalisation."""
    table = "embeddings.word_embeddings.weight"
    made = {f"bert.{table}": graph.plain(f"{table}/numbers") * graph.plain(f"{table}/scale")}
    for name in ("position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight", "LayerNorm.bias"):
        made[f"bert.embeddings.{name}"] = graph.plain(f"embeddings.{name}")
    return made


def rebuild(folder: Path) -> TwoHeads:
    """The float network of a folder that `train.export` wrote.

    Raises:
        SystemExit: the graph is not one that `train.export` writes.
    """
    graph = Exported(onnx.load(str(folder / "model.onnx")).graph)
    config = json.loads((folder / "config.json").read_text())
    weights = {**embedding_weights(graph), **last_weights(graph)}
    for number in range(graph.layers):
        weights |= layer_weights(graph, number)
    weights["bert.pooler.dense.weight"] = graph.product("/pooler/Gemm_output_0")
    weights["bert.pooler.dense.bias"] = graph.plain("pooler.bias")
    for name in ("weight", "bias"):
        weights[f"classifier.{name}"] = graph.plain(f"classifier.{name}")
    shape = {key: config[key] for key in config if key not in {"id2label", "label2id"}}
    network = BertForSequenceClassification(
        BertConfig(
            **shape,
            num_attention_heads=graph.heads(),
            intermediate_size=weights["bert.encoder.layer.0.intermediate.dense.bias"].shape[0],
            num_labels=len(config["id2label"]),
            id2label={int(k): v for k, v in config["id2label"].items()},
            label2id=config["label2id"],
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            attn_implementation="eager",
        )
    )
    tensors = {name: torch.from_numpy(np.array(value)) for name, value in weights.items()}
    fixed = {name: value for name, value in network.state_dict().items() if name.endswith("position_ids")}
    network.load_state_dict({**fixed, **tensors})
    head = torch.nn.Linear(network.config.hidden_size, 1)
    head.load_state_dict(
        {
            "weight": torch.from_numpy(graph.read_by("/token_head/MatMul", 1).T.copy()),
            "bias": torch.from_numpy(graph.plain("token_head.bias").copy()),
        }
    )
    rebuilt: TwoHeads = TwoHeads(network, head).eval()
    return rebuilt


def distance(network: TwoHeads, folder: Path) -> float:
    """The mean distance of the rebuilt logits from the graph's, over random pairs of several lengths."""
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    generator = torch.Generator().manual_seed(1)
    moved: list[float] = []
    for tokens in (12, 61, 200):
        ids = torch.randint(network.network.config.vocab_size, (4, tokens), generator=generator)
        types = (torch.arange(tokens) >= tokens - 7).long().repeat(4, 1)
        with torch.no_grad():
            mine = network(ids, None, types)[0].numpy()
        for row in range(len(ids)):
            fed = {"input_ids": ids[row : row + 1].numpy(), "token_type_ids": types[row : row + 1].numpy()}
            moved.append(float(abs(session.run(["logits"], fed)[0][0] - mine[row]).mean()))
    return sum(moved) / len(moved)


def main() -> None:
    """Read arguments, rebuild, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="the folder that `train.export` wrote")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write, as a run of training would")
    arguments = parser.parse_args()
    network = rebuild(arguments.weights)
    moved = distance(network, arguments.weights)
    if moved > TOLERANCE:
        raise SystemExit(f"The rebuilt network differs by {moved:.2g} from the graph, at most {TOLERANCE} expected.")
    print(f"rebuilt: logits within {moved:.2g} of the graph on average")
    checkpoint = arguments.out / "model"
    checkpoint.mkdir(parents=True, exist_ok=True)
    save_two_heads(network, checkpoint)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(arguments.weights / "tokenizer.json"), **SPECIAL)
    tokenizer.save_pretrained(checkpoint)
    manifest = json.loads((arguments.weights / "manifest.json").read_text())
    (arguments.out / "run.json").write_text(json.dumps(manifest["training"], indent=2) + "\n")
    shutil.copy(arguments.weights / "manifest.json", arguments.out / "manifest.json")


if __name__ == "__main__":
    main()
