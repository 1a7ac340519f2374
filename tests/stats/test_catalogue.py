"""The documentation of metrics lists what the code has, and nothing else."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

from assay.stats import calibration, classification, metrics
from assay.stats.catalogue import EVALUATION, OUTPUT, Definition, render

DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"


def public_functions(module: ModuleType) -> set[str]:
    return {
        name
        for name, member in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_") and member.__module__ == module.__name__
    }


def test_the_document_is_what_the_catalogue_renders() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render()


@pytest.mark.parametrize("definition", OUTPUT + EVALUATION, ids=lambda definition: definition.name)
def test_every_entry_names_a_function_and_is_complete(definition: Definition) -> None:
    module, function = definition.function.split(".")
    assert callable(getattr(importlib.import_module(f"assay.stats.{module}"), function))
    assert all((definition.formula, definition.source, definition.range, definition.undefined))


def test_every_metric_of_an_output_is_listed() -> None:
    listed = {entry.function.removeprefix("metrics.") for entry in OUTPUT}
    assert listed == public_functions(metrics)


def test_every_figure_of_an_evaluation_is_listed_or_is_no_figure() -> None:
    listed = {entry.function.split(".")[1] for entry in EVALUATION}
    tools = {"confusion", "roc_curve", "precision_recall_curve", "choose_threshold", "bootstrap_interval", "sigmoid"}
    tools |= {"reliability", "adaptive_reliability"}
    tools |= {name for name in public_functions(calibration) if name.startswith("fit_")}
    assert public_functions(classification) | public_functions(calibration) == listed | tools


def test_names_are_unique() -> None:
    names = [entry.name for entry in OUTPUT + EVALUATION]
    assert len(names) == len(set(names))
