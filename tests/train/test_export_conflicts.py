"""The conflict network's graph reads its table of words from the verifier's file."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest

from assay.models.conflicts.network import GRAPH
from assay.models.manifest import EMBEDDED

onnx = pytest.importorskip("onnx", reason="the export needs the onnx package")
export: ModuleType = pytest.importorskip("train.export_conflicts", reason="the export needs PyTorch")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """The graph that ships, with a table of its own."""
    path = tmp_path / "whole.onnx"
    onnx.save(onnx.load(str(EMBEDDED / GRAPH)), str(path))
    return path


def test_the_graph_with_the_shared_table_gives_what_a_whole_one_gives(whole: Path) -> None:
    assert whole.stat().st_size - (EMBEDDED / GRAPH).stat().st_size > 10_000_000
    assert export.distance(EMBEDDED / GRAPH, whole) == 0


def test_a_graph_is_shared_only_with_a_verifier_of_the_same_table(tmp_path: Path, whole: Path) -> None:
    verifier = tmp_path / "model.onnx"
    shutil.copy(EMBEDDED / "model.onnx", verifier)
    shared = export.shared_table(onnx.load(str(whole)), verifier)
    table = next(tensor for tensor in shared.graph.initializer if tensor.name == export.TABLE)
    assert {entry.key: entry.value for entry in table.external_data}["location"] == "model.onnx"
    graph = onnx.load(str(verifier))
    theirs = next(tensor for tensor in graph.graph.initializer if tensor.name == export.TABLE)
    theirs.raw_data = bytes(len(theirs.raw_data))
    onnx.save(graph, str(verifier))
    with pytest.raises(SystemExit, match="another table of words"):
        export.shared_table(onnx.load(str(whole)), verifier)
