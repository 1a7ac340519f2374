"""What the training of the network rests on. Needs PyTorch: `make test-train`."""

import gzip
import json
import random
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is for training only; `make test-train` has it")
pytest.importorskip("transformers", reason="transformers is for training only; `make test-train` has it")

import torch
from train.average import average
from train.network import (
    Encoded,
    Settings,
    batches,
    factor,
    keep_layers,
    loss_of,
    margin_loss,
    parameter_groups,
    same_run,
    teacher_loss,
    teaching,
    tensors,
    token_loss,
    wrong_characters,
)
from train.rows import Row, strangers
from train.shipped import SPECIAL
from train.two_heads import TwoHeads, load_two_heads, save_two_heads
from train.written import write_made
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from train import network


def small_network() -> TwoHeads:
    """Three layers of random weights."""
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=50,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=32,
        num_labels=3,
        attn_implementation="eager",
    )
    return TwoHeads(BertForSequenceClassification(config), torch.nn.Linear(24, 1)).eval()


def example(*ids: int, target: int = 0, wrong: tuple[int, ...] = ()) -> Encoded:
    return Encoded(list(ids), [0] * len(ids), target, list(wrong) or [-1] * len(ids))


@torch.no_grad()
def test_the_first_row_alone_gives_what_the_whole_last_layer_gives() -> None:
    model = small_network()
    ids, mask, types = tensors([example(1, 5, 7, 9, 2), example(1, 6, 2), example(1, 8, 8, 2)])
    assert mask is not None
    whole = model.network(input_ids=ids, attention_mask=mask, token_type_ids=types).logits
    logits, tokens = model(ids, mask, types)
    assert torch.allclose(logits, whole, atol=1e-5)
    assert tokens is not None
    assert tokens.shape == ids.shape


@torch.no_grad()
def test_padding_moves_no_score() -> None:
    model = small_network()
    alone = model(*tensors([example(1, 6, 2)]))[0][0]
    beside = model(*tensors([example(1, 6, 2), example(1, 5, 7, 9, 9, 9, 2)]))[0][0]
    assert torch.allclose(alone, beside, atol=1e-5)


@torch.no_grad()
def test_both_heads_come_back_from_a_folder(tmp_path: Path) -> None:
    model = small_network()
    save_two_heads(model, tmp_path)
    again = load_two_heads(tmp_path).eval()
    inputs = tensors([example(1, 5, 7, 2)])
    for before, after in zip(model(*inputs), again(*inputs), strict=True):
        assert before is not None
        assert after is not None
        assert torch.allclose(before, after, atol=1e-6)


def test_a_row_that_does_not_tell_the_two_wrong_labels_apart_trains_their_sum() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0]])
    either = loss_of(logits, torch.tensor([3]))
    shares = logits.softmax(-1)[0]
    assert either.item() == pytest.approx(-torch.log(shares[1] + shares[2]).item(), abs=1e-6)


def test_tokens_that_are_not_known_teach_nothing() -> None:
    logits = torch.zeros(2, 4)
    known = token_loss(logits, [example(1, 5, 6, 2, wrong=(-1, 1, 0, -1)), example(1, 2)])
    assert known.item() == pytest.approx(0.6931, abs=1e-3)
    assert token_loss(logits, [example(1, 2), example(1, 2)]).item() == 0


def test_a_supported_claim_has_no_wrong_character_and_an_unmarked_wrong_one_is_not_known() -> None:
    assert wrong_characters(Row("set", ("Tea is hot.",), "Tea is hot.", "supported"), "Tea is hot.") == [False] * 11
    assert wrong_characters(Row("set", ("Tea is hot.",), "Tea is cold.", "contradicted"), "Tea is cold.") is None


def test_marks_move_with_the_text_where_spacing_is_undone() -> None:
    row = Row("set", ("Tea is hot .",), "Tea , too , is cold .", "contradicted", spans=((15, 19),))
    wrong = wrong_characters(row, "Tea, too, is cold.")
    assert wrong is not None
    assert "".join(c for c, marked in zip("Tea, too, is cold.", wrong, strict=True) if marked) == "cold"


def test_batches_stay_within_the_budget_and_lose_nothing() -> None:
    items = [example(*range(1, n + 1)) for n in range(2, 30)]
    made = list(batches(items, 64, random.Random(1)))
    assert sorted(len(e.ids) for batch in made for e in batch) == list(range(2, 30))
    assert all(max(len(e.ids) for e in batch) * len(batch) <= 64 or len(batch) == 1 for batch in made)


def test_the_rate_rises_stays_and_falls_to_nothing() -> None:
    settings = Settings(warm_share=0.1, decay_share=0.5)
    assert [round(factor(p, settings), 3) for p in (0.0, 0.05, 0.1, 0.4, 0.75, 1.0)] == [0.0, 0.5, 1.0, 1.0, 0.5, 0.0]
    assert factor(0.99, Settings(decay_share=0.0)) == 1.0


def test_a_stranger_is_never_beside_its_own_document() -> None:
    rows = [
        Row("set", (f"Document {i} speaks of item{i}.",), f"The item{i} is green.", "supported") for i in range(120)
    ]
    made = strangers(rows, 40, 5)
    assert len(made) == 40
    own = {row.claim: row.evidence for row in rows}
    assert all(row.label == "unsupported" and row.evidence != own[row.claim] for row in made)


@torch.no_grad()
def test_fewer_layers_are_chosen_evenly_and_the_last_is_among_them(tmp_path: Path) -> None:
    model = small_network()
    last = model.network.bert.encoder.layer[2].output.dense.weight.clone()
    keep_layers(model, 2)
    assert len(model.network.bert.encoder.layer) == 2
    assert torch.equal(model.network.bert.encoder.layer[1].output.dense.weight, last)
    save_two_heads(model, tmp_path)
    inputs = tensors([example(1, 5, 7, 2)])
    assert torch.allclose(load_two_heads(tmp_path).eval()(*inputs)[0], model(*inputs)[0])


def test_the_distance_from_a_teacher_is_least_where_both_agree() -> None:
    batch = [example(1, 5, 2, wrong=(-1, 1, -1))]
    logits = torch.tensor([[2.0, 0.0, -1.0]]), torch.tensor([[9.0, 1.0, 9.0]])
    wanted = logits[0].softmax(-1), logits[1].sigmoid()
    same_pair, same_tokens = teacher_loss(logits, wanted, batch)
    other_pair, other_tokens = teacher_loss((-logits[0], -logits[1]), wanted, batch)
    assert same_pair < other_pair
    assert same_tokens < other_tokens
    _, unknown = teacher_loss((-logits[0], -logits[1]), wanted, [example(1, 5, 2)])
    assert unknown == 0


def test_several_teachers_say_the_mean_of_what_each_says() -> None:
    first, second = small_network(), small_network()
    torch.nn.init.constant_(second.network.classifier.bias, 3.0)
    torch.nn.init.zeros_(second.network.classifier.weight)
    batch = [example(1, 5, 7, 2), example(1, 6, 2)]
    labels, wrong = teaching([first, second], batch)
    alone = [teaching([one], batch) for one in (first, second)]
    assert torch.allclose(alone[1][0], torch.full((2, 3), 1 / 3), atol=1e-3)
    assert torch.allclose(labels, (alone[0][0] + alone[1][0]) / 2)
    assert torch.allclose(wrong, (alone[0][1] + alone[1][1]) / 2)
    assert torch.allclose(labels.sum(-1), torch.ones(2), atol=1e-5)


def test_smoothed_labels_ask_for_less_than_certainty() -> None:
    sure, unsure = torch.tensor([[20.0, 0.0, 0.0]]), torch.tensor([[4.0, 0.0, 0.0]])
    right = torch.tensor([0])
    assert loss_of(sure, right) < loss_of(unsure, right)
    assert loss_of(sure, right, 0.1) > loss_of(unsure, right, 0.1)
    assert loss_of(sure, right, 0.1).item() == pytest.approx(0.1 * 40 / 3, abs=1e-3)


def test_the_embeddings_of_words_and_places_stay_and_those_of_the_two_texts_learn() -> None:
    model = small_network()
    parameter_groups(model, Settings())
    named = {name: p.requires_grad for name, p in model.network.bert.embeddings.named_parameters()}
    assert [n for n, on in named.items() if not on] == ["word_embeddings.weight", "position_embeddings.weight"]


@torch.no_grad()
def test_an_average_lies_between_two_networks_and_refuses_other_shapes() -> None:
    first, second = small_network(), small_network()
    second.token_head.weight += 1.0  # type: ignore[union-attr,operator]
    before = first.token_head.weight.clone()  # type: ignore[union-attr,operator]
    mixed = average(first, second, 0.25)
    assert torch.allclose(mixed.token_head.weight, before + 0.25)  # type: ignore[union-attr,arg-type]
    smaller = small_network()
    keep_layers(smaller, 2)
    with pytest.raises(ValueError, match="one shape"):
        average(first, smaller, 0.5)
    with pytest.raises(ValueError, match="share"):
        average(first, second, 1.5)


def base_and_data(folder: Path) -> tuple[Path, Path]:
    """A network of two narrow layers with the shipped tokenizer, and 160 labelled pairs with documents of each side."""
    torch.manual_seed(5)
    base, data = folder / "base", folder / "data"
    tokenizer = Path(network.__file__).parents[1] / "src" / "assay" / "models" / "weights" / "tokenizer.json"
    read = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer), **SPECIAL)
    config = BertConfig(
        vocab_size=len(read),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=400,
        num_labels=3,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    base.mkdir()
    save_two_heads(TwoHeads(BertForSequenceClassification(config), torch.nn.Linear(16, 1)), base)
    read.save_pretrained(base)
    for part in ("train", "dev"):
        (data / part).mkdir(parents=True)
    labels = ("supported", "contradicted", "unsupported")
    with gzip.open(data / "train" / "fm2.jsonl.gz", "wt") as out:
        for n in range(160):
            evidence = f"House {n} was sold to Anna in {1800 + n} for {n + 3} pounds, and Peter lived there."
            claim = f"House {n} was sold for {n + 3} pounds."
            out.write(json.dumps({"set": "fm2", "evidence": [evidence], "claim": claim, "label": labels[n % 3]}) + "\n")
    return base, data


def train(monkeypatch: pytest.MonkeyPatch, base: Path, data: Path, out: Path, *said: str) -> dict[str, torch.Tensor]:
    """Six steps by one thread; returns the weights."""
    settled = ["--base", base, "--data", data, "--out", out, "--steps", "6", "--threads", "1", "--rows-of-edits", "12"]
    monkeypatch.setattr(sys, "argv", ["network", *map(str, settled), *said])
    network.main()
    return load_two_heads(out / "model").state_dict()


def test_a_run_that_was_stopped_and_resumed_gives_the_weights_of_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, data = base_and_data(tmp_path)
    monkeypatch.setattr(network, "CHECKPOINT_SECONDS", -1.0)  # after every step
    whole = train(monkeypatch, base, data, tmp_path / "whole")
    keep, kept = network.save_checkpoint, 0

    def stop_after_three(*said: object) -> None:
        nonlocal kept
        keep(*said)  # type: ignore[arg-type]
        kept += 1
        if kept == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(network, "save_checkpoint", stop_after_three)
    with pytest.raises(KeyboardInterrupt):
        train(monkeypatch, base, data, tmp_path / "cut")
    monkeypatch.setattr(network, "save_checkpoint", keep)
    checkpoint = str(tmp_path / "cut" / "checkpoint.pt")
    resumed = train(monkeypatch, base, data, tmp_path / "cut", "--resume", checkpoint)
    begun = load_two_heads(base).state_dict()
    assert any(not torch.equal(begun[name], value) for name, value in whole.items())
    assert all(torch.equal(resumed[name], value) for name, value in whole.items())  # bit for bit
    records = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("whole", "cut")]
    assert [record["steps"] for record in records] == [6, 6]
    assert len({json.dumps({**record, "commit": None}) for record in records}) == 1
    assert len(records[0]["rows"]["digest"]) == 64
    assert {"python", "torch", "transformers"} <= set(records[0]["versions"])
    with pytest.raises(SystemExit, match=r"rate is 0\.001 and was 7e-05"):
        train(monkeypatch, base, data, tmp_path / "cut", "--resume", checkpoint, "--rate", "0.001")
    with gzip.open(data / "train" / "fm2.jsonl.gz", "rt") as lines:
        fewer = list(lines)[::2]
    with gzip.open(data / "train" / "fm2.jsonl.gz", "wt") as out:
        out.writelines(fewer)
    with pytest.raises(SystemExit, match="rows is"):
        train(monkeypatch, base, data, tmp_path / "cut", "--resume", checkpoint)


def test_rows_of_a_file_are_trained_on_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, data = base_and_data(tmp_path)
    rows = [Row("mnli", (f"Tea {n} is hot.",), "Tea is hot.", "supported") for n in range(8)]
    rows.append(Row("edit:negation", ("Tea is hot.",), "Tea is not hot.", "contradicted", spans=((7, 10),)))
    write_made(tmp_path / "rows.jsonl.gz", rows)
    (tmp_path / "rows.jsonl.gz.json").write_text('{"settings": {"seed": 7}}')
    train(monkeypatch, base, data, tmp_path / "out", "--rows", str(tmp_path / "rows.jsonl.gz"))
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["rows"]["count"] == 9
    assert (record["settings"]["rows_of_edits"], record["settings"]["rows_of_strangers"]) == (1, 0)
    assert record["made"]["settings"] == {"seed": 7}
    assert len(record["made"]["file"]) == 64


def test_a_checkpoint_that_does_not_say_what_it_is_of_is_refused() -> None:
    same_run({"seed": 7}, {"seed": 7})
    with pytest.raises(SystemExit, match="does not say"):
        same_run(None, {"seed": 7})
    with pytest.raises(SystemExit, match="seed is 7 and was None"):
        same_run({}, {"seed": 7})


def grouped(group: str | None, target: int, length: int = 4) -> Encoded:
    return Encoded(list(range(length)), [0] * length, target, [-1] * length, group)


def test_a_right_claim_far_above_the_wrong_ones_of_its_group_costs_next_to_nothing() -> None:
    batch = [grouped("s/0", 0), grouped("s/0", 1), grouped("s/0", 2)]
    far = torch.tensor([[9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]])
    near = torch.zeros((3, 3))
    assert float(margin_loss(far, batch, 2.0)) < 0.01 < 1 < float(margin_loss(near, batch, 2.0))


def test_claims_of_different_groups_and_rows_without_one_are_held_to_no_margin() -> None:
    batch = [grouped("s/0", 0), grouped("s/1", 1), grouped(None, 0), grouped(None, 2)]
    assert float(margin_loss(torch.randn((4, 3)), batch, 2.0)) == 0.0


def test_a_margin_pulls_right_up_and_wrong_down() -> None:
    logits = torch.zeros((2, 3), requires_grad=True)
    margin_loss(logits, [grouped("s", 0), grouped("s", 2)], 2.0).backward()
    assert logits.grad is not None
    assert float(logits.grad[0, 0]) < 0 < float(logits.grad[1, 0])


def test_a_group_is_read_in_one_batch_and_nothing_is_lost() -> None:
    rng = random.Random(5)
    items = [grouped(f"g/{n // 4}" if n < 80 else None, n % 3, rng.randint(4, 30)) for n in range(200)]
    made = list(batches(items, 200, random.Random(1)))
    assert sorted(id(item) for batch in made for item in batch) == sorted(map(id, items))
    assert all(max(len(item.ids) for item in batch) * len(batch) <= 200 for batch in made if len(batch) > 1)
    places = {item.group: {n for n, batch in enumerate(made) if item in batch} for item in items if item.group}
    together = sum(
        len({n for n, batch in enumerate(made) if any(item.group == group for item in batch)}) == 1 for group in places
    )
    assert together >= 0.6 * len(places)  # a batch may end within a group
