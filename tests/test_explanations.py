"""Every code that is emitted is explained, and docs/findings.md says the same."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import assay
from assay.reporting import explanation_of, explanations
from assay.schema.report_parts.judgements import ClaimJudgement, Omission
from assay.schema.report_parts.provenance import EntityKind
from assay.verify.documents.json_schema import _CODES
from assay.verify.tools.action_claims import ActionStanding

ROOT = Path(assay.__file__ or "").parent
CODE = re.compile(r"[a-z0-9]+(\.[a-z0-9_]+)+")
EMITTERS = {"Issue", "ExactFinding", "Finding", "Fault", "JsonTextError", "Suggestion", "LogicFinding"}
"""What carries a code: as the argument `code`, or as the first one."""


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for room in ("guard", "verify", "policy", "schema", "rewrite", "retrieve", "knowledge", "text", "cli/formats"):
        for path in sorted((ROOT / room).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def literals(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
            yield node.value


@cache
def emitted() -> tuple[tuple[Path, str], ...]:
    """Codes that are written out: in a call that carries one, and anywhere else by a prefix that a code has."""
    everything = list(trees())
    direct: list[tuple[Path, str]] = []
    for path, tree in everything:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            given = [one.value for one in node.keywords if one.arg == "code"]
            given += node.args[:1] if name in EMITTERS else []
            direct += [(path, code) for value in given for code in literals(value)]
    prefixes = {code.partition(".")[0] for code in (*(one for _, one in direct), *explanations())}
    other = ((path, code) for path, tree in everything for code in literals(tree))
    return (*direct, *((path, code) for path, code in other if code.partition(".")[0] in prefixes))


def test_every_code_that_stands_in_the_source_is_explained() -> None:
    found = emitted()
    assert len({code for _, code in found}) > 80, "the search finds the codes"
    lacking = {f"{code} ({path})" for path, code in found if explanation_of(code) is None}
    assert not lacking, "explain them in src/assay/reporting/explanations.yaml:\n" + "\n".join(sorted(lacking))


def pattern(model: type, field: str) -> list[str]:
    (found,) = [one.pattern for one in model.model_fields[field].metadata if hasattr(one, "pattern")]  # type: ignore[attr-defined]
    return str(found).strip("^$()").split("|")


@pytest.mark.parametrize(
    "code",
    [
        *(f"structure.{code}" for code in sorted(set(_CODES.values()))),
        *(f"action.{one.value}" for one in ActionStanding),
        *(f"tool.invented_{one.value}" for one in EntityKind),
        *(f"judge.{one}" for one in pattern(ClaimJudgement, "outcome")),
        *(f"completeness.{one}" for one in pattern(Omission, "kind")),
        *(f"citation.{one}" for one in ("fabricated", "misquoted", "misattributed", "non_entailing", "unchecked")),
        "arguments.duplicate_key",
        "value.not_finite",
        "item.unknown_type",
        "decision.block",
    ],
)
def test_every_code_that_is_put_together_is_explained(code: str) -> None:
    assert explanation_of(code) is not None


def test_explanations_are_sentences_and_no_code_is_explained_that_nothing_emits() -> None:
    named = {code for _, code in emitted()}
    made = {"structure", "action", "tool", "judge", "completeness", "citation", "decision", "eval"}
    for code, one in explanations().items():
        assert one.meaning.endswith(".")
        assert one.remedy.endswith(".")
        assert not one.title.endswith(".")
        assert code in named or code.endswith("*") or code.partition(".")[0] in made, code


def test_the_page_lists_every_code() -> None:
    page = (Path(__file__).parents[1] / "docs" / "findings.md").read_text(encoding="utf-8")
    for code, one in explanations().items():
        assert f"| `{code}` | {one.title} | {one.meaning} | {one.remedy} |".replace("\n", " ") in page, (
            "write the page anew: python -m tests.test_explanations"
        )


if __name__ == "__main__":
    rows = "".join(f"| `{code}` | {x.title} | {x.meaning} | {x.remedy} |\n" for code, x in explanations().items())
    intro = (
        "# Findings\n\nEvery finding has a code. `assay explain CODE` says the same on the command line. A code with a "
        "star stands for a family. This page is made of `src/assay/reporting/explanations.yaml` by "
        "`python -m tests.test_explanations`.\n\n"
        "| code | what is so | what was found | what to do |\n|---|---|---|---|\n"
    )
    (Path(__file__).parents[1] / "docs" / "findings.md").write_text(intro + rows, encoding="utf-8")
