"""What was exported comes back as a checkpoint that training can go on from. Needs PyTorch: `make test-train`."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is for training only; `make test-train` has it")
pytest.importorskip("transformers", reason="transformers is for training only; `make test-train` has it")

import onnx
import torch
from train.export import export_float, fuse
from train.quantise import quantise
from train.shipped import distance, rebuild
from train.two_heads import TwoHeads, save_two_heads
from transformers import BertConfig, BertForSequenceClassification

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::UserWarning", "ignore:.*:torch.jit.TracerWarning"
)
LABELS = {0: "entailment", 1: "neutral", 2: "contradiction"}


@pytest.fixture
def trained() -> TwoHeads:
    """Three layers of random weights, with a table of words that is large enough to be quantised."""
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=1_100,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=256,
        num_labels=3,
        id2label=LABELS,
        label2id={v: k for k, v in LABELS.items()},
        attn_implementation="eager",
        initializer_range=0.2,
    )
    network = TwoHeads(BertForSequenceClassification(config), torch.nn.Linear(24, 1)).eval()
    with torch.no_grad():
        for parameter in network.parameters():  # as training leaves them: no two biases or norms are the same
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return network


@pytest.fixture
def weights(trained: TwoHeads, tmp_path: Path) -> Path:
    """The same network as `train.export` writes it."""
    save_two_heads(trained, tmp_path / "model")
    folder = tmp_path / "weights"
    folder.mkdir()
    export_float(tmp_path / "model", tmp_path / "float.onnx")
    fuse(tmp_path / "float.onnx", tmp_path / "fused.onnx", heads=4, width=24)
    quantise(tmp_path / "fused.onnx", folder / "model.onnx")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    kept = (
        "model_type",
        "num_hidden_layers",
        "hidden_size",
        "max_position_embeddings",
        "vocab_size",
        "id2label",
        "label2id",
    )
    (folder / "config.json").write_text(json.dumps({key: config[key] for key in kept}))
    return folder


def test_every_weight_comes_back_to_within_its_rounding(trained: TwoHeads, weights: Path) -> None:
    wanted, got = trained.state_dict(), rebuild(weights).state_dict()
    lost = "network.bert.encoder.layer.2.attention.self.key.bias"  # the softmax takes it out
    assert set(got) == set(wanted)
    for name, tensor in wanted.items():
        if tensor.is_floating_point() and name != lost:
            assert float((got[name] - tensor).abs().max()) <= float(tensor.abs().max()) / 127 / 2 + 1e-6, name


def test_the_rebuilt_network_judges_as_the_graph_does(weights: Path) -> None:
    assert distance(rebuild(weights), weights) < 0.05


def test_a_graph_of_another_exporter_is_refused(weights: Path) -> None:
    graph = onnx.load(str(weights / "model.onnx"))
    for tensor in graph.graph.initializer:
        tensor.name = f"other.{tensor.name}"
    onnx.save(graph, str(weights / "model.onnx"))
    with pytest.raises(SystemExit, match=r"train\.export"):
        rebuild(weights)
