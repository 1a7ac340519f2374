"""Networks that ship with the package are chosen by name."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models.tiny_models import write_model

from assay import config
from assay.config import Guard, read_settings
from assay.errors import ModelError
from assay.models import registry
from assay.models.cross_encoder import load_embedded
from assay.models.manifest import Manifest, write_manifest
from assay.models.registry import embedded_directory, embedded_name, embedded_names

FILES = dict.fromkeys(("model.onnx", "tokenizer.json", "config.json"), "")


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with two networks, `default` and `fast`."""
    folder = tmp_path / "weights"
    write_manifest(write_model(folder), Manifest("tiny", "1", FILES))
    write_manifest(
        write_model(folder / "fast", "two", ("entailment", "not_entailment")), Manifest("tiny-fast", "2", FILES)
    )
    monkeypatch.setattr(registry, "EMBEDDED", folder)
    config._embedded_scorer.cache_clear()
    yield folder
    config._embedded_scorer.cache_clear()


def test_the_package_has_its_default_network() -> None:
    assert embedded_names()[0] == "default"
    assert load_embedded("default").digest == load_embedded().digest


def test_a_folder_with_a_manifest_beside_the_default_one_is_a_network(weights: Path) -> None:
    (weights / "no-manifest").mkdir()
    (weights / "Not A Name").mkdir()
    (weights / "Not A Name" / "manifest.json").write_text("{}", encoding="utf-8")
    assert embedded_names() == ("default", "fast")
    assert embedded_directory("fast") == weights / "fast"
    assert (load_embedded().name, load_embedded("fast").name) == ("tiny 1", "tiny-fast 2")
    assert load_embedded().digest != load_embedded("fast").digest


def test_a_guard_judges_with_the_network_that_is_named(weights: Path) -> None:
    default, fast = Guard(environ={}), Guard(model="fast", environ={})
    assert default.verifier.name.endswith("with tiny 1")
    assert fast.verifier.name.endswith("with tiny-fast 2")
    assert default.verifier.digest != fast.verifier.digest
    assert Guard(model=Path("fast"), environ={}).verifier == fast.verifier  # as the command line gives it


def test_the_environment_names_the_network_where_the_caller_names_none(weights: Path, tmp_path: Path) -> None:
    assert read_settings({"ASSAY_VERIFIER": " "}).verifier is None
    assert Guard(environ={"ASSAY_VERIFIER": "fast"}).verifier == Guard(model="fast", environ={}).verifier
    assert Guard(model="default", environ={"ASSAY_VERIFIER": "fast"}).verifier == Guard(environ={}).verifier
    mine = write_model(tmp_path / "mine")
    assert Guard(environ={"ASSAY_VERIFIER": str(mine)}).verifier.name.endswith("with mine")


def test_a_check_follows_the_environment(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {}
    for name in ("default", "fast"):
        monkeypatch.setenv("ASSAY_VERIFIER", name)
        told[name] = config.check("Cats sleep a lot.", evidence=["Cats sleep."]).verifier.name
    assert told["default"].endswith("with tiny 1")
    assert told["fast"].endswith("with tiny-fast 2")


def test_a_network_is_loaded_once_for_a_process(weights: Path) -> None:
    assert config.embedded_scorer("fast") is config.embedded_scorer("fast")
    assert config.embedded_scorer() is config.embedded_scorer("default")


def test_an_unknown_name_lists_those_that_there_are(weights: Path) -> None:
    with pytest.raises(ModelError, match=r"\(default, fast\), got 'faster'"):
        embedded_directory("faster")
    with pytest.raises(ModelError, match="faster"):
        Guard(model="faster", environ={})


def test_a_name_that_is_also_a_folder_here_is_refused(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = weights.parent / "elsewhere"
    write_model(elsewhere / "fast")
    assert embedded_name(elsewhere / "fast") is None
    monkeypatch.chdir(elsewhere)
    with pytest.raises(ModelError, match="a folder of that name here"):
        Guard(model="fast", environ={})


def test_an_altered_network_is_refused_under_its_name(weights: Path) -> None:
    settings = json.loads((weights / "fast" / "config.json").read_text(encoding="utf-8"))
    (weights / "fast" / "config.json").write_text(json.dumps({**settings, "more": 1}), encoding="utf-8")
    with pytest.raises(ModelError, match="altered"):
        load_embedded("fast")


def test_a_package_without_weights_says_to_install_it_again(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="install the package again"):
        embedded_directory("default", tmp_path)
