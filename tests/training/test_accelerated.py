"""Training on an accelerator does what `train.network` does. Needs PyTorch: `make test-train`."""

import json
import math
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is for training only; `make test-train` has it")
pytest.importorskip("transformers", reason="transformers is for training only; `make test-train` has it")

import torch
from train.accelerated import (
    Network,
    Packed,
    Rows,
    Settings,
    auroc,
    endless,
    figures,
    margin_loss,
    pair_loss,
    read_packed,
    stored,
    to_theirs,
    token_loss,
    train,
)
from train.network import Encoded, loss_of, tensors
from train.network import margin_loss as margin_of_network
from train.network import token_loss as token_loss_of_network
from train.pack import arrays, flat, put_back, write_packed
from train.rows import Row
from train.two_heads import TwoHeads
from transformers import BertConfig, BertForSequenceClassification

HEADS = 4
torch.set_num_threads(1)  # of networks this small two threads only wait for each other


def small_network(seed: int = 3) -> TwoHeads:
    """Three layers of random weights, shaped as the one that ships."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=50,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=HEADS,
        intermediate_size=48,
        max_position_embeddings=32,
        num_labels=3,
        attn_implementation="eager",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return TwoHeads(BertForSequenceClassification(config), torch.nn.Linear(24, 1)).eval()


def some_rows(count: int = 40) -> list[Encoded]:
    """Pairs of random tokens; a claim that begins with token 9 is right, one with token 8 is wrong."""
    rng = np.random.default_rng(5)
    made = []
    for number in range(count):
        premise = [1, *rng.integers(10, 50, rng.integers(3, 9)).tolist(), 2]
        right = number % 2 == 0
        claim = [9 if right else 8, *rng.integers(10, 50, rng.integers(1, 5)).tolist(), 2]
        told = [0 if right else -1] * (len(claim) - 1)
        if not right:
            told[0] = 1
        wrong = [-1] * len(premise) + [*told, -1]
        types = [0] * len(premise) + [1] * len(claim)
        made.append(Encoded(premise + claim, types, 0 if right else 1 + number % 3, wrong, f"g{number // 4}"))
    return made


@pytest.fixture(name="packed")
def _packed(tmp_path: Path) -> Packed:
    items = some_rows()
    rows = [Row("some", ("a",), "b", "supported") for _ in items]
    write_packed(tmp_path / "rows.npz.xz", arrays(items, rows, ["one"] * 20 + ["two"] * 20))
    return read_packed(tmp_path / "rows.npz.xz")


def test_packed_rows_come_back_as_they_were_encoded(packed: Packed) -> None:
    for place, item in enumerate(some_rows()):
        here = slice(packed.starts[place], packed.starts[place] + packed.lengths[place])
        assert packed.ids[here].tolist() == item.ids
        assert packed.wrong[here].tolist() == item.wrong
        assert packed.firsts[place] == item.types.index(1)
        assert packed.targets[place] == item.target
    assert [packed.names[part] for part in packed.parts] == ["one"] * 20 + ["two"] * 20
    assert packed.groups.tolist() == [number // 4 for number in range(40)]


@torch.no_grad()
def test_the_network_gives_what_the_one_of_two_heads_gives(packed: Packed) -> None:
    model = small_network()
    chosen = torch.tensor([3, 17, 30])
    width = int(packed.lengths[chosen.numpy()].max())
    ids, types, present, _ = Rows(packed, torch.device("cpu")).gather(chosen, width)
    logits, tokens = Network(flat(model), HEADS, 0.0).eval()(ids, types, present)
    expected = model(*tensors([some_rows()[place] for place in chosen.tolist()]))
    assert torch.allclose(logits, expected[0], atol=1e-5)
    assert torch.allclose(tokens[present], expected[1][present], atol=1e-5)


@torch.no_grad()
def test_the_losses_are_those_of_training_on_a_processor(packed: Packed) -> None:
    batch = some_rows()[:11]
    chosen = torch.arange(11)
    rows = Rows(packed, torch.device("cpu"))
    width = int(packed.lengths[:11].max())
    _, _, _, wrong = rows.gather(chosen, width)
    torch.manual_seed(1)
    logits, tokens, targets = torch.randn(11, 3), torch.randn(11, width), rows.targets[chosen]
    assert pair_loss(logits, targets, 0.1) == pytest.approx(loss_of(logits, targets, 0.1).item(), rel=1e-5)
    ours = margin_loss(logits, targets, rows.groups[chosen], 2.0)
    assert ours == pytest.approx(margin_of_network(logits, batch, 2.0).item(), rel=1e-5)
    assert token_loss(tokens, wrong) == pytest.approx(token_loss_of_network(tokens, batch).item(), rel=1e-5)


def test_a_pass_reads_each_row_of_a_part_before_any_comes_again_and_keeps_groups_whole(packed: Packed) -> None:
    batches = endless(packed, {"one": 0.5, "two": 0.5}, rows=40, budget=80, seed=1)
    seen: list[int] = []
    while len(seen) < 40:
        batch = next(batches)
        counts = np.unique(packed.groups[batch], return_counts=True)[1]
        assert (counts == 4).all()
        seen += batch
    assert sorted(seen) == list(range(40))


def test_shares_of_parts_are_kept(packed: Packed) -> None:
    read = [place for batch in islice(endless(packed, {"one": 0.8, "two": 0.2}, 20, 80, 1), 60) for place in batch]
    share = float(np.mean(packed.parts[read] == packed.names.index("one")))
    assert 0.7 < share < 0.9


def test_training_learns_and_what_it_moved_goes_back_into_a_checkpoint(packed: Packed) -> None:
    start = flat(small_network())
    rows = Rows(packed, torch.device("cpu"))
    settings = Settings(seconds=0, rate=3e-3, batch_tokens=300, dropout=0.0, seed=2)
    network = train(start, packed, rows, {"one": 0.5, "two": 0.5}, settings, heads=HEADS, steps=120).network
    measured = figures(network, rows, packed, ["one", "two"])
    assert measured["two"] > 0.95
    assert measured["two, balanced"] > 0.9
    model = small_network()
    put_back(model, stored(network))
    rebuilt = flat(model)
    moved = to_theirs(dict(network.named_parameters()))
    assert all(torch.allclose(rebuilt[name], value.detach(), atol=2e-3) for name, value in moved.items())
    assert torch.equal(
        rebuilt["bert.embeddings.word_embeddings.weight"], start["bert.embeddings.word_embeddings.weight"]
    )


def test_a_network_learns_from_another_what_no_label_says(packed: Packed) -> None:
    settings = Settings(seconds=0, rate=3e-3, batch_tokens=300, dropout=0.0, teacher_weight=1.0, margin_weight=0.0)
    rows = Rows(packed, torch.device("cpu"))
    teacher = Network(flat(small_network(seed=8)), HEADS, 0.0).eval()
    network = train(
        flat(small_network()), packed, rows, {"one": 1.0}, settings, heads=HEADS, teachers=[teacher], steps=150
    ).network
    chosen = torch.arange(20)
    ids, types, present, _ = rows.gather(chosen, int(packed.lengths[:20].max()))
    with torch.no_grad():
        told, learnt = teacher(ids, types, present)[0], network.eval()(ids, types, present)[0]
    assert (told.softmax(-1) - learnt.softmax(-1)).abs().mean() < 0.03


def test_auroc_counts_ties_half() -> None:
    assert auroc(np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, False, True, True])) == pytest.approx(0.875)
    assert math.isnan(auroc(np.array([0.1]), np.array([True])))


def test_a_checkpoint_of_another_network_is_refused() -> None:
    with pytest.raises(SystemExit, match="weights are missing"):
        put_back(small_network(), {"classifier.bias": torch.zeros(3)})


def test_packed_names_are_plain_json(packed: Packed) -> None:
    assert json.loads(json.dumps(packed.names)) == ["one", "two"]
