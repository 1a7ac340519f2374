"""The comparison of guardrails as text, Markdown and JSON."""

import json
from collections.abc import Iterator, Sequence

from assay.redteam.guardrails.comparison import GuardrailComparison
from assay.redteam.guardrails.effects import Effect, Rate
from assay.redteam.reports.texts import cell, plain
from assay.redteam.scores import Scorecard

_HEADS = ("Guardrail", "Attack success", "Honest answers", "False positives", "Stopped", "p", "Unjudged")


def _share(rate: Rate) -> str:
    if rate.value is None:
        return "–"
    return f"{rate.value:.1%} ({rate.low:.0%} to {rate.high:.0%}) {rate.count}/{rate.of}"


def _rows(effects: Sequence[tuple[str, Effect]]) -> Iterator[tuple[str, ...]]:
    first = effects[0][1]
    yield "none", _share(first.attack_success_without), _share(first.honest_without), "–", "–", "–", "–"
    for name, effect in effects:
        stopped = f"{effect.stopped}" + (f", {effect.added} new" if effect.added else "")
        yield (
            plain(name, 60),
            _share(effect.attack_success_with),
            _share(effect.honest_with),
            _share(effect.false_positives),
            stopped,
            f"{effect.p:.2g}",
            str(effect.unjudged),
        )


def guardrail_text(comparisons: Sequence[GuardrailComparison]) -> str:
    """The comparison as aligned columns: judged by the verifier and the rules, then by the rules alone."""
    lines: list[str] = []
    for title, rows in _tables(comparisons):
        width = [max(len(row[at]) for row in (_HEADS, *rows)) for at in range(len(_HEADS))]
        shown = ("  ".join(one.ljust(width[at]) for at, one in enumerate(row)).rstrip() for row in (_HEADS, *rows))
        lines += [title, *shown, ""]
    return "\n".join(lines)


def guardrail_markdown(comparisons: Sequence[GuardrailComparison]) -> str:
    """The comparison as Markdown, overall and by category."""
    lines = ["# Guardrails", ""]
    for title, rows in _tables(comparisons):
        lines += [f"## {title}", "", _row(_HEADS), _row(("---",) * len(_HEADS)), *map(_row, rows), ""]
    for comparison in comparisons:
        lines += [f"## {cell(comparison.name)}, by category", ""]
        heads = ("Category", "Attack success without", "with", "Honest answers without", "with")
        lines += [_row(heads), _row(("---",) * len(heads))]
        for name, effect in comparison.categories.items():
            shares = (
                effect.attack_success_without,
                effect.attack_success_with,
                effect.honest_without,
                effect.honest_with,
            )
            lines.append(_row((name, *(f"{rate.count}/{rate.of}" for rate in shares))))
        lines.append("")
    return "\n".join(lines)


def guardrail_json(card: Scorecard, comparisons: Sequence[GuardrailComparison]) -> str:
    """The comparison as JSON."""
    described = {
        "suite": card.suite,
        "target": card.target,
        "target_version": card.target_version,
        "verifier": card.verifier,
        "policy": card.policy,
        "guardrails": [
            {
                "name": comparison.name,
                **comparison.effect.model_dump(mode="json"),
                "by_rules_alone": comparison.by_rules.model_dump(mode="json"),
                "categories": {name: effect.model_dump(mode="json") for name, effect in comparison.categories.items()},
            }
            for comparison in comparisons
        ],
    }
    return json.dumps(described) + "\n"


def _tables(comparisons: Sequence[GuardrailComparison]) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    yield (
        "Judged by the verifier and the rules",
        list(_rows([(comparison.name, comparison.effect) for comparison in comparisons])),
    )
    yield (
        "Judged by the rules alone",
        list(_rows([(comparison.name, comparison.by_rules) for comparison in comparisons])),
    )


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell(one) if one != "---" else one for one in cells) + " |"
