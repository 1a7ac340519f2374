"""Real runs of pytest with the plugin, in folders and processes of their own."""

import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = any(point.value == "assay.pytest.plugin" for point in entry_points(group="pytest11"))
"""Whether this environment's assay was installed since it has the entry point."""

Run = Callable[..., pytest.RunResult]

RULES = '''
import pytest
from assay.guard import Guard
from assay.testing import FakeScorer


@pytest.fixture(scope="session")
def rules() -> Guard:
    """A guard that judges by rules that a reader can follow, in no time."""
    return Guard("general", scorer=FakeScorer())
'''


@pytest.fixture
def sub_run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Writes the files, runs pytest on them as a process and gives what it wrote."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    for name in ("PYTEST_ADDOPTS", "ASSAY_CONFIG", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CI"):
        monkeypatch.delenv(name, raising=False)

    def run(files: Mapping[str, str], *arguments: str, plugin: bool = not INSTALLED) -> pytest.RunResult:
        for name, text in {"conftest.py": RULES, "pytest.ini": "[pytest]\n", **files}.items():
            path = pytester.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        loaded = ["-p", "assay.pytest.plugin"] if plugin else []
        return pytester.run(sys.executable, "-m", "pytest", *loaded, "-p", "no:cacheprovider", *arguments, timeout=120)

    return run
