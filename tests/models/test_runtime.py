"""The same verified file under another runtime: what it must agree on, and by what the two are told apart."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.models.openvino_installed import needs_openvino
from tests.models.tiny_models import TINY, write_model

from assay import config
from assay.config import Guard, read_settings
from assay.errors import ModelError, VerifierError
from assay.models import registry
from assay.models.cache import pair_key
from assay.models.cross_encoder import OnnxCrossEncoder, load_embedded
from assay.models.load import load_scorer
from assay.models.manifest import EMBEDDED, MANIFEST, Manifest, write_manifest
from assay.models.onnx_session import open_session
from assay.models.openvino_session import open_openvino
from assay.models.runtime import GRAPH_RUNTIMES, RUNTIMES, known_as, read_runtime

FILES = dict.fromkeys(("model.onnx", "tokenizer.json", "config.json"), "")
PAIRS = [
    ("The museum opens at nine.", "The museum opens at nine."),
    ("The museum opens at nine.", "The museum never opens."),
    ("The museum opens at nine.", "The museum was designed by a famous architect."),
    ("The bridge opened in 1932 and was rebuilt in 1970.", "The bridge was opened in 1932."),
    ("Partners are entitled to 2 weeks of leave.", "Partners get 4 weeks of leave."),
]


def feed(tokens: int, seed: int) -> dict[str, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    return {
        "input_ids": rng.integers(0, 380, (1, tokens)),
        "token_type_ids": (np.arange(tokens) >= tokens // 2).astype(np.int64)[None],
    }


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with one small network."""
    folder = tmp_path / "weights"
    write_manifest(write_model(folder), Manifest("tiny", "1", FILES))
    monkeypatch.setattr(registry, "EMBEDDED", folder)
    config._embedded_scorer.cache_clear()
    config._guard_of.cache_clear()
    yield folder
    config._embedded_scorer.cache_clear()
    config._guard_of.cache_clear()


@pytest.fixture
def without_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra."""
    for name in [name for name in sys.modules if name.split(".")[0] == "openvino"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openvino", None)


def test_asking_for_a_runtime_that_is_not_installed_says_what_to_install(weights: Path, without_openvino: None) -> None:
    with pytest.raises(ModelError, match=r"pip install 'assay-ai\[openvino\]'"):
        Guard(runtime="openvino", environ={})
    with pytest.raises(ModelError, match=r"pip install 'assay-ai\[openvino\]'"):
        Guard(environ={"ASSAY_RUNTIME": "openvino"})
    assert Guard(environ={}).verifier.name.endswith("with tiny 1")


def test_a_name_that_is_no_runtime_lists_those_that_there_are(weights: Path) -> None:
    assert [read_runtime(name) for name in RUNTIMES] == ["onnxruntime", "openvino", "cuda"]
    with pytest.raises(ModelError, match=r"\(onnxruntime, openvino, cuda\), got 'tensorrt'"):
        Guard(environ={"ASSAY_RUNTIME": "tensorrt"})


def test_the_caller_counts_before_the_environment(weights: Path, without_openvino: None) -> None:
    assert read_settings({"ASSAY_RUNTIME": " "}).runtime is None
    guard = Guard(runtime="onnxruntime", environ={"ASSAY_RUNTIME": "openvino"})
    assert guard.verifier == Guard(environ={}).verifier


def test_onnx_runtime_keeps_the_identity_that_files_have() -> None:
    assert known_as("tiny 1", "ab" * 32, "onnxruntime") == ("tiny 1", "ab" * 32)


def test_two_runtimes_have_two_identities_and_share_no_remembered_score() -> None:
    name, digest = known_as("tiny 1", "ab" * 32, "openvino")
    assert name == "tiny 1 (openvino)"
    assert len(digest) == 64
    assert digest != "ab" * 32
    assert known_as("tiny 1", "ac" * 32, "openvino")[1] != digest
    assert pair_key(digest, *PAIRS[0]) != pair_key("ab" * 32, *PAIRS[0])


def test_weights_without_a_graph_have_no_other_runtime(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="holds no ONNX graph, which the runtime openvino needs"):
        load_scorer(tmp_path, runtime="openvino")


def test_a_graph_is_not_run_on_a_gpu(weights: Path) -> None:
    with pytest.raises(ModelError, match="runs PyTorch weights, and this is an ONNX graph"):
        Guard(environ={"ASSAY_RUNTIME": "cuda"})


def test_weights_for_a_gpu_need_the_extra_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match=r"pip install 'assay-ai\[torch\]'"):
        load_scorer(tmp_path, runtime="cuda")


@needs_openvino
@pytest.mark.parametrize("graph", ["three", "two", "score", "untyped", "words", "products"])
def test_a_graph_has_the_same_inputs_and_outputs_under_both(graph: str) -> None:
    one, other = open_session(TINY / f"{graph}.onnx"), open_openvino(TINY / f"{graph}.onnx", 1)
    assert other.inputs == one.inputs
    assert other.tells_tokens == one.tells_tokens


@needs_openvino
def test_products_quantised_in_use_come_out_the_same() -> None:
    """With a bias, with weights whose zero is not 0, and with neither, at many lengths.

    A sum rounded in another order may push a number over the edge between two whole ones, so one in ten may be off.
    """
    one, other = open_session(TINY / "products.onnx"), open_openvino(TINY / "products.onnx", 1)
    off, spread = [], []
    for tokens in range(2, 100, 3):
        for seed in range(3):
            (pair, words), (same_pair, same_words) = one.run(feed(tokens, seed)), other.run(feed(tokens, seed))
            assert words is not None
            assert same_words is not None
            off.append(max(float(abs(pair - same_pair).max()), float(abs(words - same_words).max())))
            spread.append(float(words.std()))
    assert np.quantile(off, 0.9) < 1e-3 * np.mean(spread)
    assert max(off) < 0.1 * np.mean(spread)


@needs_openvino
def test_runs_of_many_threads_come_out_like_those_of_one() -> None:
    from concurrent.futures import ThreadPoolExecutor

    feeds = [feed(tokens, tokens) for tokens in range(2, 60)]
    alone = [open_openvino(TINY / "products.onnx", 1).run(given)[0].tobytes() for given in feeds]
    shared = open_openvino(TINY / "products.onnx", 3)
    with ThreadPoolExecutor(6) as pool:
        together = [logits.tobytes() for logits, _ in pool.map(shared.run, feeds)]
    assert together == alone


@needs_openvino
@pytest.mark.skipif(not (EMBEDDED / MANIFEST).exists(), reason="the trained network is not in this checkout")
def test_the_embedded_network_judges_alike_under_both() -> None:
    one, other = load_embedded(), load_embedded(runtime="openvino")
    assert (other.name, other.digest) == known_as(one.name, one.digest, "openvino")
    assert other.three_way
    assert [other.words(claim) for _, claim in PAIRS] == [one.words(claim) for _, claim in PAIRS]
    (scores, words), (same_scores, same_words) = one.score_words(PAIRS), other.score_words(PAIRS)
    assert abs(scores - same_scores).max() < 0.15
    assert (scores.argmax(axis=1) == same_scores.argmax(axis=1)).all()
    for row, same_row in zip(words, same_words, strict=True):
        assert row == pytest.approx(same_row, abs=0.3)
    assert other.score(PAIRS).tobytes() == load_embedded(runtime="openvino").score(PAIRS).tobytes()


@needs_openvino
def test_a_report_names_the_runtime_and_checks_never_share_scores_over_runtimes(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {}
    for runtime in GRAPH_RUNTIMES:
        monkeypatch.setenv("ASSAY_RUNTIME", runtime)
        told[runtime] = config.check("Cats sleep a lot.", evidence=["Cats sleep."]).verifier
    assert told["onnxruntime"].name.endswith("with tiny 1")
    assert told["openvino"].name.endswith("with tiny 1 (openvino)")
    assert told["onnxruntime"].digest != told["openvino"].digest
    assert Guard(runtime="openvino", environ={}).verifier == told["openvino"]
    assert config.embedded_scorer("default", "openvino") is config.embedded_scorer("default", "openvino")
    assert config.embedded_scorer("default", "openvino") is not config.embedded_scorer("default")


@needs_openvino
def test_files_are_held_against_the_manifest_under_every_runtime(weights: Path) -> None:
    settings = json.loads((weights / "config.json").read_text(encoding="utf-8"))
    (weights / "config.json").write_text(json.dumps({**settings, "more": 1}), encoding="utf-8")
    with pytest.raises(ModelError, match="altered"):
        load_embedded(runtime="openvino")


@needs_openvino
@pytest.mark.parametrize("keep", [0, 1, 100, 1_000])
def test_a_graph_cut_short_is_refused_by_name(tmp_path: Path, keep: int) -> None:
    write_model(tmp_path, "products")
    (tmp_path / "model.onnx").write_bytes((TINY / "products.onnx").read_bytes()[:keep])
    with pytest.raises(ModelError, match=r"model\.onnx"):
        OnnxCrossEncoder.load(tmp_path, runtime="openvino")


@needs_openvino
def test_an_operator_that_openvino_does_not_know_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path, "products")
    graph = (TINY / "products.onnx").read_bytes()
    assert graph.count(b"MultiHeadAttention") == 1
    (tmp_path / "model.onnx").write_bytes(graph.replace(b"MultiHeadAttention", b"MultiHeadAttentiom"))
    with pytest.raises(ModelError, match=r"model\.onnx: expected an ONNX graph that OpenVINO runs.*MultiHeadAttentiom"):
        OnnxCrossEncoder.load(tmp_path, runtime="openvino")


@needs_openvino
def test_several_pairs_in_one_run_are_refused_and_leave_the_session_of_use() -> None:
    session = open_openvino(TINY / "products.onnx", 1)
    before = session.run(feed(9, 1))[0]
    two = {name: np.repeat(values, 2, axis=0) for name, values in feed(9, 1).items()}
    with pytest.raises(VerifierError, match=r"products\.onnx: the network failed on a pair"):
        session.run(two)
    assert session.run(feed(9, 1))[0].tobytes() == before.tobytes()


@needs_openvino
def test_loading_openvino_sends_nothing_and_takes_nothing_from_the_program(tmp_path: Path) -> None:
    """Its own import would report to its maker where `openvino_telemetry` is installed, which it requires."""
    write_model(tmp_path)
    code = (
        "import sys, time\n"
        "sys.addaudithook(lambda event, args: print(event, args)\n"
        "                 if event.split('.')[0] in ('socket', 'urllib', 'http', 'subprocess') else None)\n"
        "from assay.models.cross_encoder import OnnxCrossEncoder\n"
        f"OnnxCrossEncoder.load({str(tmp_path)!r}, runtime='openvino').score([('Cats sleep.', 'Cats.')])\n"
        "assert 'openvino_telemetry' not in sys.modules\n"
        "import importlib.util\n"
        "assert importlib.util.find_spec('openvino_telemetry')\n"
        "time.sleep(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout == ""
