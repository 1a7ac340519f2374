"""Everything of assay that the net uses and that is no public name: all that a move has to touch here."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.cli.app import app as _app
from assay.cli.reports.html_report import html_report
from assay.cli.reports.text_report import text_report
from assay.cli.terminal import plain
from assay.models.interface import PairScorer
from assay.models.manifest import EMBEDDED, read_manifest
from assay.schema import HallucinationReport
from assay.schema.coerce import coerce_evidence
from assay.schema.publish import PUBLISHED, published_schema
from assay.server.app import create_app
from assay.server.guards import Guards
from assay.server.settings import ServerSettings
from assay.server.settings import Upstream as UpstreamSetting
from assay.store.db.store import Store
from assay.testing import FakeScorer
from assay.verify.network.combination import load_combination

COMMAND = _app
"""The command as typer's application."""


def pages(name: str, report: HallucinationReport, evidence: Any) -> dict[str, str]:
    """The report as the command writes it for people."""
    return {"text": plain(text_report(name, report)), "html": html_report(name, report, coerce_evidence(evidence))}


def published() -> dict[str, dict[str, Any]]:
    """The published JSON Schemas by name."""
    return {name: published_schema(name) for name in PUBLISHED}


def openapi() -> dict[str, Any]:
    """The OpenAPI document of a server with a database, which has all routes."""
    settings = ServerSettings(upstreams=(UpstreamSetting("main", "http://127.0.0.1:1"),))
    with TemporaryDirectory() as folder, Store(str(Path(folder) / "assay.db")) as store:
        made = create_app(settings, guards=lambda: Guards("general", scorer=FakeScorer(), environ={}), store=store)
        return made.api.openapi()


def command() -> Any:
    """The command as click's group of verbs."""
    import typer

    return typer.main.get_command(COMMAND)


def weights_digest() -> str:
    """Identifies the shipped network: its name, version and files."""
    manifest = read_manifest(EMBEDDED)
    if manifest is None:
        return "none"
    return f"{manifest.name} {manifest.version} {'/'.join(sorted(manifest.files.values()))}"


def combination_digest() -> str:
    """Identifies the coefficients that turn signals into probabilities."""
    return load_combination().digest


def fake_scorer() -> PairScorer:
    """The scorer whose rules a reader can follow."""
    return FakeScorer()
