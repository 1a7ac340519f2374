"""Every code that is emitted is explained, and docs/findings.md says the same."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.monitor import Consequence
from assay.policy import LABELS, Route
from assay.reporting import explanation_of, explanations, report_words
from assay.rewrite.answers.abstention import _ADVICE
from assay.schema.report_parts.abstention import AbstentionTrigger
from assay.schema.report_parts.judgements import ClaimJudgement, Omission
from assay.schema.report_parts.provenance import EntityKind
from assay.stats import SIGNALS
from assay.text.claims import critical_reasons
from assay.verify.documents.json_repair import _FAULTS
from assay.verify.documents.json_schema import _CODES
from assay.verify.tools.action_claims import ActionStatus

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
        *(f"action.{one.value}" for one in ActionStatus),
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


SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "schema" / "report.schema.json").read_text(encoding="utf-8"))


def fields(node: dict[str, Any], path: str = "", seen: frozenset[str] = frozenset()) -> Iterator[tuple[str, list[str]]]:
    """Every field of a report by its path, with the words that it may have; none where it takes any text."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from fields(SCHEMA["$defs"][name], path, seen | {name})
        return
    for one in node.get("anyOf", []):
        yield from fields(one, path, seen)
    closed = re.fullmatch(r"\^\(([\w|]+)\)\$", node.get("pattern", ""))
    yield path, [str(one) for one in node.get("enum", closed[1].split("|") if closed else [])]
    if "items" in node:
        yield from fields(node["items"], f"{path}[]", seen)
    for name, one in node.get("properties", {}).items():
        yield from fields(one, f"{path}.{name}".lstrip("."), seen)


def vocabularies() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for word, ones in report_words().items():
        for one in ones:
            found.setdefault(one.field, set()).add(word)
    return found


def test_every_word_of_a_closed_vocabulary_in_a_report_is_explained() -> None:
    explained = vocabularies()
    closed = [(path, set(words)) for path, words in fields(SCHEMA) if words]
    assert len(closed) > 50, "the search finds the vocabularies"
    lacking = [path for path, words in closed if not any(words <= known for known in explained.values())]
    assert not lacking, "explain them in src/assay/reporting/report_words.yaml"
    for path, words in closed:
        assert explained.get(path, words) == words, path


def test_every_explained_word_belongs_to_a_field_that_a_report_has() -> None:
    assert vocabularies().keys() <= {path for path, _ in fields(SCHEMA)}


def test_words_of_open_fields_are_those_that_the_program_writes() -> None:
    explained = vocabularies()
    assert explained["decision.route"] == {one.value for one in Route}
    for name in ("verdict", "abstention", "routing", "escalation"):
        assert explained[f"labels.{name}"] >= {getattr(labels, name) for labels in LABELS.values()}
    assert explained["abstention.reason"] >= {one.value for one in AbstentionTrigger}
    assert explained["abstention.signals[].name"] == set(SIGNALS)
    assert explained["generation.documents[].repairs[].code"] == set(_FAULTS)
    assert explained["abstention.suggested_actions[]"] == set(_ADVICE)
    assert explained["policy.overlays[]"] <= {one.value for one in Consequence}
    assert critical_reasons("Acme paid $5 on 3 May 2020 and we will refund it.", "[1]") != ()
    for text in ("5 apples", "in May 2020", "Acme Ltd", "W-17", "We will refund it."):
        assert set(critical_reasons(text, f"{text} [1]")) <= explained["claims[].critical_reasons[]"]


@pytest.mark.parametrize("word", ["retrieval_miss", "withhold_closest_sources", "injected_instructions", "async"])
def test_the_meaning_of_a_word_is_a_sentence(word: str) -> None:
    (one,) = report_words()[word]
    assert one.meaning.endswith(".")
    assert not one.title.endswith(".")


def test_all_meanings_are_sentences() -> None:
    for ones in report_words().values():
        assert all(one.meaning.endswith(".") and one.title[0].islower() for one in ones)


def test_the_page_lists_every_word() -> None:
    page = (Path(__file__).parents[1] / "docs" / "findings.md").read_text(encoding="utf-8")
    for ones in report_words().values():
        for one in ones:
            assert f"| `{one.word}` | {one.meaning} |" in page, "write the page anew: python -m tests.test_explanations"


def words_section() -> str:
    """The tables of the page, one for each field."""
    titles = {one.field: one.title for ones in report_words().values() for one in ones}
    parts = ["\n## Words of a report\n\n`assay explain WORD` says the same. Each table is one field of a report.\n"]
    for field, title in titles.items():
        parts.append(f"\n`{field}`: {title}\n\n| word | meaning |\n|---|---|\n")
        parts += [
            f"| `{one.word}` | {one.meaning} |\n"
            for ones in report_words().values()
            for one in ones
            if one.field == field
        ]
    return "".join(parts)


if __name__ == "__main__":
    rows = "".join(f"| `{code}` | {x.title} | {x.meaning} | {x.remedy} |\n" for code, x in explanations().items())
    intro = (
        "# Findings\n\nEvery finding has a code. `assay explain CODE` says the same on the command line. A code with a "
        "star stands for a family. This page is made of `explanations.yaml` and `report_words.yaml` in "
        "`src/assay/reporting` by "
        "`python -m tests.test_explanations`.\n\n"
        "| code | what is so | what was found | what to do |\n|---|---|---|---|\n"
    )
    (Path(__file__).parents[1] / "docs" / "findings.md").write_text(intro + rows + words_section(), encoding="utf-8")
