"""What pages of the documentation tell people to type: commands that the command line takes, Python that compiles."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command

from assay.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/tutorials").glob("*.md"), ROOT / "README.md"])
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    """Page and text of each block of a language."""
    return [
        (page.stem, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))
        for page in PAGES
        for indent, found, text in FENCE.findall(page.read_text("utf-8"))
        if found == language
    ]


def commands() -> list[tuple[str, str]]:
    """Page and text of each command of assay, lines that go on joined."""
    found = []
    for page, text in blocks("sh"):
        for line in re.sub(r"\\\n\s*", "", text).splitlines():
            words = line.split("  #", maxsplit=1)[0].split(" # ", maxsplit=1)[0].strip().removesuffix("&").strip()
            if words.startswith("assay "):
                found.append((page, re.split(r" [|<>]{1,2} ?", words, maxsplit=1)[0]))
    return found


def parsed(words: list[str]) -> Any:
    """The context of the innermost command that the words name, as the command line reads them."""
    command: Any = get_command(app)
    context: Any = None
    while True:
        context = command.make_context("assay", list(words), parent=context)
        children = getattr(command, "commands", None)
        rest = [*getattr(context, "_protected_args", ()), *context.args]
        if children is None or not rest:
            return context
        command, words = children[rest[0]], rest[1:]


@pytest.fixture(autouse=True)
def _in_a_folder_with_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and folders that the commands name are there."""
    monkeypatch.chdir(tmp_path)
    for _, line in commands():
        for word in shlex.split(line)[1:]:
            for name in re.split(r"[=@]", word):
                path = Path(name)
                if re.fullmatch(r"[\w][\w./-]*", name) and not path.is_absolute() and ".." not in path.parts:
                    if name.endswith("/") or "." not in path.name:
                        if not path.exists():
                            path.mkdir(parents=True, exist_ok=True)
                    elif not path.exists():
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.touch()


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda value: value)
def test_each_command_in_the_documentation_is_one_that_the_command_line_takes(page: str, line: str) -> None:
    try:
        parsed(shlex.split(line)[1:])
    except click.exceptions.Exit:  # `--help` and the like end here
        return
    except click.UsageError as error:
        pytest.fail(f"{page}: `{line}`: {error.format_message()}")


@pytest.mark.parametrize(("page", "text"), blocks("python"), ids=lambda value: value.split("\n")[0][:60])
def test_each_python_block_compiles_and_imports_what_exists(page: str, text: str) -> None:
    code = compile(text, page, "exec", flags=0x2000)  # top-level await is allowed, as in a notebook
    # Those of frameworks are run with their real packages, where these are: tests/integrations.
    lines = [line for line in text.splitlines() if re.match(r"(?:from|import) assay\b(?!\.integrations)", line)]
    for line in lines:
        if "(" not in line:
            exec(compile(line, page, "exec"), {})  # noqa: S102 an import of our own
    assert code.co_code
