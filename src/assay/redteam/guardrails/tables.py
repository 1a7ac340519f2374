"""What guardrails change, as text, Markdown and JSON."""

import json
from collections.abc import Iterator, Sequence

from assay.redteam.guardrails.comparing import Compared
from assay.redteam.guardrails.effects import Effect, Rate
from assay.redteam.reports.texts import cell, plain
from assay.redteam.scores import Scorecard

_HEADS = ("Guardrail", "Attack success", "Honest answers", "False positives", "Stopped", "p", "Unjudged")


def _share(rate: Rate) -> str:
    if rate.value is None:
        return "–"
    return f"{rate.value:.1%} ({rate.low:.0%} to {rate.high:.0%}) {rate.count}/{rate.of}"


def _rows(found: Sequence[tuple[str, Effect]]) -> Iterator[tuple[str, ...]]:
    first = found[0][1]
    yield "none", _share(first.attack_success_without), _share(first.honest_without), "–", "–", "–", "–"
    for name, one in found:
        stopped = f"{one.stopped}" + (f", {one.added} new" if one.added else "")
        yield (
            plain(name, 60),
            _share(one.attack_success_with),
            _share(one.honest_with),
            _share(one.false_positives),
            stopped,
            f"{one.p:.2g}",
            str(one.unjudged),
        )


def guardrail_text(found: Sequence[Compared]) -> str:
    """The comparison in columns: judged by the verifier and the rules, and by the rules alone."""
    lines: list[str] = []
    for title, rows in _tables(found):
        width = [max(len(row[at]) for row in (_HEADS, *rows)) for at in range(len(_HEADS))]
        shown = ("  ".join(one.ljust(width[at]) for at, one in enumerate(row)).rstrip() for row in (_HEADS, *rows))
        lines += [title, *shown, ""]
    return "\n".join(lines)


def guardrail_markdown(found: Sequence[Compared]) -> str:
    """The comparison as Markdown, by category too."""
    lines = ["# Guardrails", ""]
    for title, rows in _tables(found):
        lines += [f"## {title}", "", _row(_HEADS), _row(("---",) * len(_HEADS)), *map(_row, rows), ""]
    for one in found:
        lines += [f"## {cell(one.name)}, by category", ""]
        heads = ("Category", "Attack success without", "with", "Honest answers without", "with")
        lines += [_row(heads), _row(("---",) * len(heads))]
        for name, effect in one.categories.items():
            shares = (
                effect.attack_success_without,
                effect.attack_success_with,
                effect.honest_without,
                effect.honest_with,
            )
            lines.append(_row((name, *(f"{rate.count}/{rate.of}" for rate in shares))))
        lines.append("")
    return "\n".join(lines)


def guardrail_json(card: Scorecard, found: Sequence[Compared]) -> str:
    """The comparison as JSON."""
    described = {
        "suite": card.suite,
        "target": card.target,
        "target_version": card.target_version,
        "verifier": card.verifier,
        "policy": card.policy,
        "guardrails": [
            {
                "name": one.name,
                **one.effect.model_dump(mode="json"),
                "by_rules_alone": one.by_rules.model_dump(mode="json"),
                "categories": {name: effect.model_dump(mode="json") for name, effect in one.categories.items()},
            }
            for one in found
        ],
    }
    return json.dumps(described) + "\n"


def _tables(found: Sequence[Compared]) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    yield "Judged by the verifier and the rules", list(_rows([(one.name, one.effect) for one in found]))
    yield "Judged by the rules alone", list(_rows([(one.name, one.by_rules) for one in found]))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell(one) if one != "---" else one for one in cells) + " |"
