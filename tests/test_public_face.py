"""What `import assay` gives, and that it costs nothing."""

import subprocess
import sys

import pytest

import assay

HEAVY = ("numpy", "onnxruntime", "pydantic", "tokenizers", "nupunkt", "rapidfuzz", "rich", "typer", "yaml")


def test_every_public_name_can_be_loaded() -> None:
    for name in assay.__all__:
        assert getattr(assay, name) is not None, name


def test_the_list_of_public_names_is_sorted_and_complete() -> None:
    assert assay.__all__ == sorted(assay.__all__, key=lambda n: (n == "__version__", n.startswith("_"), n)) or set(
        assay.__all__
    ) == {*assay._HOMES, "__version__"}
    assert set(dir(assay)) >= set(assay.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="verify_everything"):
        _ = assay.verify_everything


def test_importing_assay_imports_nothing_heavy() -> None:
    code = f"import sys, assay; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_assay_prints_and_reads_nothing() -> None:
    hook = "lambda e, a: print(e, a) if e == 'open' and 'assay' in str(a[0]) and '.py' not in str(a[0]) else None"
    code = f"import sys; sys.addaudithook({hook}); import assay"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr == ""
