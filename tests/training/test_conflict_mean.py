"""The mean of several runs of the conflict network. Needs PyTorch: `make test-train`."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is for training only; `make test-train` has it")
pytest.importorskip("transformers", reason="transformers is for training only; `make test-train` has it")

import torch
from train.export_conflicts import mean_of
from train.two_heads import TwoHeads, load_two_heads, save_two_heads
from transformers import BertConfig, BertForSequenceClassification

SHAPE = BertConfig(
    vocab_size=9, hidden_size=4, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4, num_labels=1
)


def test_the_mean_of_two_runs_lies_between_them_and_that_of_one_is_itself(tmp_path: Path) -> None:
    runs = [tmp_path / "one", tmp_path / "other"]
    for run in runs:
        save_two_heads(TwoHeads(BertForSequenceClassification(SHAPE)), run)
    one, other = (load_two_heads(run).state_dict() for run in runs)
    mean = load_two_heads(mean_of(runs, tmp_path / "mean")).state_dict()
    for name, value in mean.items():
        assert torch.allclose(value.float(), (one[name].float() + other[name].float()) / 2, atol=1e-6), name
    assert mean_of(runs[:1], tmp_path / "none") == runs[0]
