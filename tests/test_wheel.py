"""The built package as users get it: the same bytes each time, and all that it needs in a bare environment."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from assay._version import __version__

ROOT = Path(__file__).parent.parent
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "src")
pytestmark = pytest.mark.slow


def clean_environ(**more: str) -> dict[str, str]:
    names = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    return {**{name: value for name, value in os.environ.items() if name not in names and "ASSAY_" not in name}, **more}


def built(folder: Path, umask: int) -> Path:
    """The wheel of a copy of the sources that lies elsewhere, is newer, and has other permissions."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(ROOT / name, folder / name)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", "."],
        cwd=folder,
        check=True,
        env=clean_environ(SOURCE_DATE_EPOCH="1764201600"),
        umask=umask,
        timeout=600,
    )
    (wheel,) = (folder / "dist").iterdir()
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("first") / "assay", 0o022)


def test_two_builds_of_the_same_sources_have_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    again = built(tmp_path / "a longer path" / "somewhere else", 0o077)
    assert again.name == wheel.name
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"assay", f"assay_ai-{__version__}.dist-info"}
    assert [name for name in names if "/tests/" in name or name.endswith((".pyc", ".db"))] == []
    assert {"assay/py.typed", "assay/cli/app.py"} <= set(names)


def test_the_wheel_checks_the_example_in_an_environment_that_had_nothing(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare")
    python = tmp_path / "bare" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", str(wheel)]
    subprocess.run(install, check=True, env=clean_environ(), timeout=900)
    example = ROOT / "examples" / "parental-leave"
    done = subprocess.run(
        [
            tmp_path / "bare" / "bin" / "assay",
            "check",
            example / "answer.md",
            "--evidence",
            example / "evidence",
            "--question",
            f"@{example / 'question.txt'}",
            "--policy",
            "rag",
            "--format",
            "json",
        ],
        cwd=tmp_path,
        env=clean_environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["action"] != "emit"
    where = subprocess.run(
        [python, "-c", "import assay; print(assay.__file__)"],
        cwd=tmp_path,
        env=clean_environ(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path / "bare") in where.stdout
