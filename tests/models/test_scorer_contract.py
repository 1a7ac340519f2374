"""The shared contract over every scorer of pairs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models.openvino_installed import needs_openvino
from tests.models.scorer_contract import CHECKS
from tests.models.tiny_models import write_model

from assay.models.cache import CachedScorer
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.models.interface import PairScorer
from assay.testing import FailingScorer, FakeScorer, ScriptedScorer

MAKERS: dict[str, Callable[[Path], PairScorer]] = {
    "onnx": lambda path: OnnxCrossEncoder.load(write_model(path)),
    "onnx, one thread": lambda path: OnnxCrossEncoder.load(write_model(path), threads=1),
    "onnx, five threads": lambda path: OnnxCrossEncoder.load(write_model(path), threads=5),
    "onnx, two labels": lambda path: OnnxCrossEncoder.load(write_model(path, "two", ("not_entailment", "entailment"))),
    "onnx, single score": lambda path: OnnxCrossEncoder.load(write_model(path, "score", None)),
    "onnx, no token types": lambda path: OnnxCrossEncoder.load(write_model(path, "untyped")),
    "onnx, with words": lambda path: OnnxCrossEncoder.load(write_model(path, "words")),
    "onnx, the shipped operators": lambda path: OnnxCrossEncoder.load(write_model(path, "products")),
    "openvino": lambda path: OnnxCrossEncoder.load(write_model(path), runtime="openvino"),
    "openvino, one thread": lambda path: OnnxCrossEncoder.load(write_model(path), threads=1, runtime="openvino"),
    "openvino, single score": lambda path: OnnxCrossEncoder.load(write_model(path, "score", None), runtime="openvino"),
    "openvino, no token types": lambda path: OnnxCrossEncoder.load(write_model(path, "untyped"), runtime="openvino"),
    "openvino, the shipped operators": lambda path: OnnxCrossEncoder.load(
        write_model(path, "products"), threads=3, runtime="openvino"
    ),
    "openvino, cached": lambda path: CachedScorer(
        OnnxCrossEncoder.load(write_model(path, "words"), runtime="openvino")
    ),
    "cached": lambda path: CachedScorer(OnnxCrossEncoder.load(write_model(path))),
    "cached, with words": lambda path: CachedScorer(OnnxCrossEncoder.load(write_model(path, "words"))),
    "cached, another kind behind": lambda path: CachedScorer(FakeScorer()),
    "fake": lambda path: FakeScorer(),
    "fake, single score": lambda path: FakeScorer(three_way=False),
    "scripted": lambda path: ScriptedScorer({("a", "b"): (1.0, 0.0, 0.0)}),
    "failing on one word": lambda path: FailingScorer(only="poison"),
}


@pytest.fixture(
    params=[pytest.param(name, marks=needs_openvino if name.startswith("openvino") else ()) for name in MAKERS]
)
def scorer(request: pytest.FixtureRequest, tmp_path: Path) -> PairScorer:
    return MAKERS[request.param](tmp_path)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_scorer_keeps_the_contract(check: Callable[[PairScorer], None], scorer: PairScorer) -> None:
    check(scorer)
