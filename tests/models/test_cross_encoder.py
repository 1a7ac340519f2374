import json
from pathlib import Path

import numpy as np
import pytest
from tests.models.tiny_models import LABELS, TINY, write_model

from assay.errors import ModelError, VerifierError
from assay.models.cross_encoder import OnnxCrossEncoder, find_graph, load_embedded, usable_cpus
from assay.models.load import load_scorer
from assay.models.manifest import EMBEDDED, MANIFEST, Manifest, write_manifest
from assay.models.onnx_session import open_session

PAIR = ("Partners are entitled to 2 weeks of leave.", "Partners get 4 weeks of leave.")


@pytest.mark.parametrize("at", ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "my_export.onnx"])
def test_the_graph_is_found_wherever_exporters_put_it(tmp_path: Path, at: str) -> None:
    assert find_graph(write_model(tmp_path, at=at)) == tmp_path / at
    assert OnnxCrossEncoder.load(tmp_path).score([PAIR]).shape == (1, 3)


def test_two_graphs_of_unknown_names_are_ambiguous(tmp_path: Path) -> None:
    write_model(tmp_path, at="one.onnx")
    write_model(tmp_path, at="other.onnx")
    with pytest.raises(ModelError, match=r"several ONNX files \(one\.onnx, other\.onnx\)"):
        OnnxCrossEncoder.load(tmp_path)


def test_labels_in_another_order_permute_the_columns(tmp_path: Path) -> None:
    ours = OnnxCrossEncoder.load(write_model(tmp_path / "a")).score([PAIR])[0]
    theirs = write_model(tmp_path / "b", labels=("Contradiction", "ENTAILMENT", "neutral"))
    assert OnnxCrossEncoder.load(theirs).score([PAIR])[0] == pytest.approx(ours[[1, 2, 0]], abs=1e-6)


def test_labels_may_come_from_label2id(tmp_path: Path) -> None:
    write_model(tmp_path)
    before = OnnxCrossEncoder.load(tmp_path).score([PAIR])
    config = {"label2id": {label: i for i, label in enumerate(LABELS)}, "max_position_embeddings": 128}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert (OnnxCrossEncoder.load(tmp_path).score([PAIR]) == before).all()


@pytest.mark.parametrize(
    ("graph", "labels", "message"),
    [
        ("three", ("LABEL_0", "LABEL_1", "LABEL_2"), "config.json.*no names.*id2label"),
        ("three", ("joy", "anger", "fear"), r"config.json.*\['joy', 'anger', 'fear'\].*id2label"),
        ("three", ("entailment", "entailment", "neutral"), "config.json.*labels are"),
        ("three", ("entailment", "not_entailment"), "2 labels are declared but the network has 3 outputs"),
        ("three", None, "config.json.*no names"),
        ("two", ("entailment", "contradiction"), "config.json.*labels are"),
        ("misshapen", LABELS, r"model.onnx: its output has shape \(1, 1, 3\)"),
    ],
)
def test_a_network_that_cannot_judge_claims_is_refused(
    tmp_path: Path, graph: str, labels: tuple[str, ...] | None, message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        OnnxCrossEncoder.load(write_model(tmp_path, graph, labels))


@pytest.mark.parametrize("keep", [0, 1, 100, 5_000])
def test_a_graph_cut_short_is_refused_by_name(tmp_path: Path, keep: int) -> None:
    write_model(tmp_path)
    (tmp_path / "model.onnx").write_bytes((TINY / "three.onnx").read_bytes()[:keep])
    with pytest.raises(ModelError, match=r"model\.onnx"):
        OnnxCrossEncoder.load(tmp_path)


def test_a_graph_of_noise_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(bytes(range(256)) * 40)
    with pytest.raises(ModelError, match=r"model\.onnx: expected an ONNX graph"):
        OnnxCrossEncoder.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", None),
        ("tokenizer.json", "{"),
        ("tokenizer.json", '{"version": "9"}'),
        ("tokenizer.json", "[]"),
        ("config.json", "{"),
        ("config.json", "[1]"),
        ("config.json", '{"max_position_embeddings": -4, "num_labels": 3}'),
        ("config.json", '{"max_position_embeddings": 8}'),
        ("config.json", '{"id2label": {"a": "entailment"}}'),
        ("config.json", '{"id2label": {"1": "entailment"}}'),
        ("tokenizer_config.json", "nonsense"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, content: str | None) -> None:
    write_model(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match="config.json" if "config" in name else name):
        OnnxCrossEncoder.load(tmp_path)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no directory"):
        load_scorer(tmp_path / "absent")
    with pytest.raises(ModelError, match="no ONNX file"):
        load_scorer(tmp_path)


def test_pytorch_weights_alone_say_how_to_export_them(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match=r"optimum-cli export onnx|tokenizer\.json"):
        load_scorer(tmp_path)


def test_the_tokenizers_own_cut_is_switched_off(tmp_path: Path) -> None:
    scorer = OnnxCrossEncoder.load(write_model(tmp_path))
    assert scorer.count_tokens(["cats " * 60, "cats"]) == [60, 1]
    short, long = scorer.score([("cats " * 60, "Cats."), ("cats " * 60 + "sleep", "Cats.")])
    assert not np.array_equal(short, long)


def test_a_word_longer_than_the_tokenizer_reads_is_read_in_pieces(tmp_path: Path) -> None:
    scorer = OnnxCrossEncoder.load(write_model(tmp_path))
    assert scorer.count_tokens(["x" * 1_000, "x" * 100])[0] == 1_000
    with pytest.raises(VerifierError):
        scorer.score([("x" * 1_000, "A claim.")])


def test_special_tokens_in_a_text_are_ordinary_words(tmp_path: Path) -> None:
    scorer = OnnxCrossEncoder.load(write_model(tmp_path))
    assert scorer.count_tokens(["[SEP]"]) == scorer.count_tokens(["[sep]"]) == [5]


def test_the_limit_follows_positions_and_their_offset(tmp_path: Path) -> None:
    write_model(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "roberta", "max_position_embeddings": 130, "pad_token_id": 1}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert OnnxCrossEncoder.load(tmp_path).max_pair_tokens == 128
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 64}', encoding="utf-8")
    assert OnnxCrossEncoder.load(tmp_path).max_pair_tokens == 64


def test_a_batch_would_have_changed_the_score(tmp_path: Path) -> None:
    """Guards the reason for one pair a run: this graph quantises over the batch as the usual exports do."""
    write_model(tmp_path)
    session = open_session(tmp_path / "model.onnx")
    rows = np.array([[5, 9, 30, 31], [40, 8, 7, 60]])
    types = np.array([[0, 0, 1, 1]] * 2)
    together = session.run({"input_ids": rows, "attention_mask": rows * 0 + 1, "token_type_ids": types})
    alone = session.run({"input_ids": rows[:1], "attention_mask": rows[:1] * 0 + 1, "token_type_ids": types[:1]})
    assert not np.array_equal(together[0], alone[0])


def test_a_changed_config_changes_the_digest(tmp_path: Path) -> None:
    before = OnnxCrossEncoder.load(write_model(tmp_path)).digest
    assert OnnxCrossEncoder.load(tmp_path).digest == before
    text = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(text + "\n", encoding="utf-8")
    assert OnnxCrossEncoder.load(tmp_path).digest != before


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_file_altered_after_the_manifest_is_refused(tmp_path: Path, name: str) -> None:
    write_model(tmp_path)
    files = dict.fromkeys(("model.onnx", "tokenizer.json", "config.json"), "")
    write_manifest(tmp_path, Manifest(name="tiny", version="1", files=files))
    assert OnnxCrossEncoder.load(tmp_path).name == "tiny 1"
    content = bytearray((tmp_path / name).read_bytes())
    content[-1] ^= 1
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=rf"{name}: its SHA-256 is .* the manifest says"):
        OnnxCrossEncoder.load(tmp_path)


def test_zero_threads_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="at least 1"):
        OnnxCrossEncoder.load(write_model(tmp_path), threads=0)
    assert usable_cpus() >= 1


@pytest.mark.skipif(not (EMBEDDED / MANIFEST).exists(), reason="the trained network is not in this checkout")
def test_the_embedded_network_tells_three_ways_apart() -> None:
    scorer = load_embedded()
    assert scorer.three_way
    text = "The museum opens at nine."
    same, other, more = scorer.score(
        [(text, text), (text, "The museum never opens."), (text, "The museum was designed by a famous architect.")]
    )
    assert (same.argmax(), more.argmax(), other.argmax()) == (0, 1, 2)


def test_a_package_without_its_weights_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.models.registry.EMBEDDED", tmp_path)
    with pytest.raises(ModelError, match="install the package again"):
        load_embedded()
