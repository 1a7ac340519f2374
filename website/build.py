"""Builds the site of the documentation: `python -m website.build [--out DIR] [--serve]`.

The pages are those of `docs/` and of the repository beside it, so that they read the same there; what only the site has
is made here: a reference from the docstrings, one of the commands from their `--help`, one of the REST API from its
OpenAPI document. Links are rewritten to where things stand on the site. A link that leads nowhere ends the build.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import io
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = {
    "README.md": "index.md",
    "benchmarks/RESULTS.md": "figures.md",
    "benchmarks/README.md": "benchmarks.md",
    "train/README.md": "train.md",
    "train/scenarios/README.md": "scenarios.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Pages outside of `docs/`, and where they stand on the site."""
PUBLIC: Final = (
    "assay",
    "assay.schema",
    "assay.policy",
    "assay.guard",
    "assay.pytest",
    "assay.evaluation",
    "assay.retrieve",
    "assay.knowledge",
    "assay.receipt",
    "assay.monitor",
    "assay.stats",
    "assay.redteam",
    "assay.batch",
)
"""The packages whose names are for users, with a page of the reference each."""
MODULES: Final = (
    "assay.errors",
    "assay.testing",
    "assay.models.chat.load",
    "assay.store.db.store",
    "assay.integrations.openai",
    "assay.integrations.anthropic",
    "assay.integrations.langchain",
    "assay.integrations.llama_index",
    "assay.integrations.haystack",
    "assay.integrations.dspy",
    "assay.integrations.litellm",
    "assay.integrations.openai_agents",
    "assay.integrations.pydantic_ai",
    "assay.integrations.mcp",
    "assay.integrations.agents.crewai",
    "assay.integrations.agents.google_adk",
    "assay.integrations.agents.smolagents",
    "assay.integrations.agents.agent_framework",
    "assay.integrations.agents.strands",
    "assay.integrations.evaluators.langfuse",
    "assay.integrations.evaluators.phoenix",
    "assay.integrations.opentelemetry",
)
"""Modules for users that stand behind no door, shown whole; the frameworks they need are not imported for it."""
_LINK: Final = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)((?:\s+\"[^\"]*\")?\))")
_FENCE: Final = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def placed(path: str) -> str:
    """Where a file of the repository stands on the site, relative to its root.

    >>> placed("docs/metrics.md"), placed("README.md"), placed("src/assay/py.typed")
    ('metrics.md', 'index.md', 'files/src/assay/py.typed')
    """
    if path in PAGES:
        return PAGES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"files/{path}"


def rewritten(text: str, source: str, wanted: set[str]) -> str:
    """A page with its links led to where things stand on the site; what they lead to is added to `wanted`.

    Args:
        text: the page, in Markdown.
        source: its path in the repository.
        wanted: paths of files of the repository that the site has to have.
    """
    here = posixpath.dirname(placed(source))

    def led(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        name, mark, anchor = target.partition("#")
        if not name or re.match(r"[a-z]+:", name):
            return match.group()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
        if (ROOT / path).is_dir():
            if not (ROOT / path / "README.md").is_file() and path != "docs/adr":
                return match.group(0).replace(match.group(0), f"{before.lstrip('!')[1:-2]}")
            path = f"{path}/README.md" if path != "docs/adr" else "docs/adr/index.md"
        elif (ROOT / path).is_file():
            wanted.add(path)
        return f"{before}{posixpath.relpath(placed(path), here or '.')}{mark}{anchor}{after}"

    parts, at = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(led, text[at : fence.start()]), fence.group()]
        at = fence.end()
    return "".join([*parts, _LINK.sub(led, text[at:])])


def stage(folder: Path) -> None:
    """Writes all pages and what they lead to into a folder."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "docs", *PAGES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    wanted: set[str] = {path for path in tracked if (ROOT / path).is_file()}
    done: set[str] = set()
    while wanted - done:
        path = min(wanted - done)
        done.add(path)
        there = folder / placed(path)
        there.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md") and not placed(path).startswith("files/"):
            there.write_text(rewritten((ROOT / path).read_text("utf-8"), path, wanted), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / path, there)
    for name, text in {**reference(), "reference/commands.md": commands(), "reference/rest.md": rest()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "adr" / "index.md").write_text(decisions(), encoding="utf-8")


def decisions() -> str:
    """The list of the decisions."""
    lines = ["# Decisions", "", "Each with what it costs.", ""]
    for path in sorted((ROOT / "docs/adr").glob("[0-9]*.md")):
        title = path.read_text("utf-8").splitlines()[0].lstrip("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines) + "\n"


def names_of(package: str) -> Iterator[tuple[str, str]]:
    """The public names of a package, each with the module that defines it."""
    module = importlib.import_module(package)
    for name in sorted(getattr(module, "__all__", ())):
        if not name.startswith("__"):
            value = getattr(module, name)
            home = getattr(value, "__module__", None) if inspect.isclass(value) or inspect.isroutine(value) else None
            yield name, home or _home(module, name)


def _home(package: Any, name: str) -> str:
    """The module of a value that does not say it: the one below the package that sets it at its top."""
    for key, module in sorted(sys.modules.items()):
        if key.startswith(f"{package.__name__}.") and name in vars(module):
            source = getattr(module, "__file__", None)
            if source and re.search(rf"^{name}\b\s*(?::|=)", Path(source).read_text("utf-8"), re.MULTILINE):
                return key
    return str(package.__name__)


def reference() -> dict[str, str]:
    """The pages of the reference by name: one a package, made of docstrings by mkdocstrings."""
    pages = {}
    for package in PUBLIC:
        module = importlib.import_module(package)
        about = (inspect.getdoc(module) or "").strip()
        lines = [f"# `{package}`", "", about, ""]
        for name, home in names_of(package):
            lines += [f"## `{package}.{name}` {{ #{package}.{name} }}", "", f"::: {home}.{name}", ""]
        pages[f"reference/{package}.md"] = "\n".join(lines)
    lines = ["# Other modules", ""]
    for name in MODULES:
        lines += [
            f"## `{name}` {{ #{name} }}",
            "",
            f"::: {name}",
            "    options:",
            "      show_root_toc_entry: false",
            "",
        ]
    pages["reference/modules.md"] = "\n".join(lines)
    return pages


def commands() -> str:
    """The `--help` of every command."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from assay.cli.app import app

    lines = ["# The command", "", "`assay COMMAND --help` prints the same.", ""]
    pending: list[tuple[tuple[str, ...], Any]] = [((), get_command(app))]
    while pending:
        names, command = pending.pop(0)
        told = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "100", "NO_COLOR": "1"}, prog_name="assay")
        lines += [f"## `{' '.join(('assay', *names))}`", "", "```text", told.output.strip("\n"), "```", ""]
        children = getattr(command, "commands", {})
        pending = [((*names, name), verb) for name, verb in children.items()] + pending
    return "\n".join(lines)


def rest() -> str:
    """The operations of the REST API of a server with a database, which has all routes."""
    from assay.server.app import create_app
    from assay.server.guards import Guards
    from assay.server.settings import ServerSettings
    from assay.store.db.store import Store
    from assay.testing import FakeScorer

    with TemporaryDirectory() as folder, Store(str(Path(folder) / "assay.db")) as store:
        made = create_app(
            ServerSettings(), guards=lambda: Guards("general", scorer=FakeScorer(), environ={}), store=store
        )
        document: dict[str, Any] = made.api.openapi()
    lines = ["# The REST API", "", "A server shows the whole document at `/openapi.json`.", ""]
    lines += ["| operation | what it does |", "|---|---|"]
    for path, item in document["paths"].items():
        for verb, operation in item.items():
            said = str(operation.get("summary") or operation.get("description", "")).split("\n")[0]
            lines.append(f"| `{verb.upper()} {path}` | {said.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def configuration() -> str:
    """The configuration of the site: `website/zensical.toml` with what only the build knows."""
    text = (ROOT / "website/zensical.toml").read_text("utf-8")
    version = (ROOT / "src/assay/_version.py").read_text("utf-8").split('"')[1]
    packages = "\n".join(f'      {{ "{name}" = "reference/{name}.md" }},' for name in PUBLIC[1:])
    made = {"@VERSION@": version, "@SOURCES@": json.dumps(str(ROOT / "src")), "@PACKAGES@": packages}
    for name, value in made.items():
        text = text.replace(name, value)
    return text


def build(work: Path, out: Path) -> None:
    """Builds the site strictly.

    Args:
        work: a folder for what is built from; it is emptied first.
        out: where the site goes.

    Raises:
        SystemExit: a link leads nowhere, or the build failed otherwise.
    """
    shutil.rmtree(work, ignore_errors=True)
    docs = work / "docs"
    stage(docs)
    (work / "zensical.toml").write_text(configuration(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(work / "zensical.toml")],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    if done.returncode:
        told = io.StringIO(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)).getvalue()
        raise SystemExit(f"The site was not built:\n{told[-8_000:]}")
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(work / "site", out)


def main() -> None:
    """Read arguments, build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build/site", help="the folder of the site")
    parser.add_argument("--serve", action="store_true", help="show it at http://127.0.0.1:8000 afterwards")
    given = parser.parse_args()
    build(ROOT / "build/website", given.out)
    print(
        f"The site stands in {os.path.relpath(given.out)}; `make docs-serve` shows it, search and all, with no network."
    )
    if given.serve:
        subprocess.run(
            [sys.executable, "-m", "http.server", "8000", "--bind", "127.0.0.1", "-d", str(given.out)], check=False
        )


if __name__ == "__main__":
    main()
