"""Fills the model card from what was recorded and measured: data, training, figures, weakest slices, edits and energy.

    python -m train.model_card --dev .work/eval --held .work/held --edits .work/edits.txt --cpu-hours 3.3 1.1 2.1

`--dev` and `--held` are folders that `assay eval --out` wrote, over the development sets and over what
`train.held_out` wrote; `--edits` is what `train.measure_edits` printed; `--cpu-hours` says for each stage of training
how long its cores worked. What is not given stays as it stands. Only the places between `<!-- NAME -->` markers are
written; the rest of the card is prose that a person keeps.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from train.draw_errors import replaced
from train.held_out import REPOSITORY
from train.licences import SOURCES
from train.rows import QUOTAS
from train.scenario_rows import batches, kept_claims

WATTS_PER_CORE = 15.0
"""What a busy core of a server draws with its share of memory and board, assumed: these machines show no meter."""
LEAST_ROWS = 100
"""Rows that a slice needs to be among the weakest."""
WEAKEST = 8
"""Weakest slices that are shown."""

WRITTEN_BY = "language models that worked from a guide, most batches read a second time blind by another; by no person"
"""Who wrote and labelled the scenarios."""

Json = Mapping[str, Any]


def about_table(manifest: Json) -> list[str]:
    """What the network is and how it came about, as the manifest of its weights tells it, in Markdown."""
    stages = _stages(manifest.get("training", {}))
    made = (
        "`make train` (see [train/README.md](../train/README.md))"
        if stages == 1
        else f"{stages} stages of `train.network`, each from the weights of the one before (`make train` runs the "
        "first of such stages, `make train-on` a further one; see [train/README.md](../train/README.md))"
    )
    kept = (
        "; settings and figures of every stage stand in `manifest.json` beside the weights, whose digests are verified "
        "on load. The stages were run by hand over several sessions, so that one command repeats a stage, not the line"
        if stages > 1
        else "; settings and figures stand in `manifest.json` beside the weights, whose digests are verified on load"
    )
    rows = {
        "what it is": "a cross-encoder, 12 layers of 384, 33.4M parameters, int8, that reads a premise and a claim and "
        "gives entailment, neutral and contradiction, and for every word of the claim how likely it is wrong",
        "base": f"{manifest['base']}, rebuilt from an int8 export",
        "licence": manifest["licence"],
        "made by": made + kept,
        "more figures": "[benchmarks/RESULTS.md](../benchmarks/RESULTS.md): speed, int8 against float, edits by kind",
        "errors": "[errors.md](errors.md): read one by one and sorted into causes",
    }
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())]


def _stages(training: Json) -> int:
    """How many runs a record tells of: as a list, or each holding the one `before` it."""
    if "stages" in training:
        return len(training["stages"])
    return 1 + (_stages(training["before"]) if "before" in training else 0)


def data_table() -> list[str]:
    """The sets with their licences and the rows that a run takes of them at most, in Markdown."""
    lines = ["| sets | rows a run at most | licence | source | labelled by |", "|---|---|---|---|---|"]
    for source in SOURCES:
        rows = sum(QUOTAS[name] for name in source.sets)
        cells = (", ".join(source.sets), f"{rows:,}", source.licence, source.repository, source.by)
        lines.append(f"| {' | '.join(cells)} |")
    written = sum(1 for found in batches("train").values() for one in found for _ in kept_claims(one))
    cells = ("scenarios", f"{written:,} a reading", "Apache-2.0, of this project", "`train/scenarios`", WRITTEN_BY)
    lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", f"At most {sum(QUOTAS.values()):,} labelled rows a run beside the scenarios."]


def stages_table(manifest: Json) -> list[str]:
    """The stages of training as the manifest of the weights tells them, in Markdown."""
    lines = [
        "| stage | steps | tokens | rows of edits | rate | held-out accuracy | balanced |",
        "|---|---|---|---|---|---|---|",
    ]
    training = manifest.get("training", {})
    for number, stage in enumerate(training.get("stages", [training]), 1):
        settings = stage.get("settings", {})
        held = stage.get("held_out", {})
        held = held.get("sets", held)
        cells = (
            f"{number}. {stage.get('what', 'one run')}",
            _count(stage.get("steps")),
            _count(stage.get("tokens")),
            _count(settings.get("rows_of_edits")),
            f"{settings['rate']:g}" if "rate" in settings else "",
            _rate(held.get("accuracy")),
            _rate(held.get("balanced")),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", f"{manifest['name']}, version {manifest['version']}, from {manifest['base']}."]


def figures_table(summary: Json) -> list[str]:
    """The figures of an evaluation by set, with intervals, in Markdown."""
    names = ("balanced_accuracy", "auroc", "f1", "fpr", "fnr", "ece", "contradiction_auroc", "span_f1")
    words = (
        "balanced accuracy",
        "AUROC",
        "F1 of wrong",
        "FPR",
        "FNR",
        "ECE",
        "contradicted against unsupported",
        "span F1",
    )
    entries = [summary["overall"], *sorted(summary["sets"], key=lambda entry: str(entry["name"]))]
    shown = [
        (name, word)
        for name, word in zip(names, words, strict=True)
        if any(entry["figures"].get(name, {}).get("value") is not None for entry in entries)
    ]
    lines = [f"| set | rows | {' | '.join(word for _, word in shown)} |", "|---|---|" + "---|" * len(shown)]
    for entry in entries:
        cells = (_cell(entry["figures"].get(name)) for name, _ in shown)
        lines.append(f"| {entry['name']} | {entry['rows']:,} | {' | '.join(cells)} |")
    who = summary["identity"]
    return [*lines, "", f"Judged by {who.get('verifier', 'assay')} under the policy `{who.get('policy', 'general')}`."]


def weakest_table(summary: Json) -> list[str]:
    """The slices with the lowest balanced accuracy, in Markdown."""
    found = [
        (entry["figures"]["balanced_accuracy"]["value"], way, entry)
        for way, entries in summary["slices"].items()
        for entry in entries
        if entry["rows"] >= LEAST_ROWS and entry["figures"]["balanced_accuracy"]["value"] is not None
    ]
    found.sort(key=lambda item: (item[0], item[1], item[2]["name"]))
    lines = ["| slice | rows | balanced accuracy | FPR | FNR |", "|---|---|---|---|---|"]
    for _, way, entry in found[:WEAKEST]:
        cells = [_cell(entry["figures"][name]) for name in ("balanced_accuracy", "fpr", "fnr")]
        lines.append(f"| {way}: {entry['name']} | {entry['rows']:,} | {' | '.join(cells)} |")
    return lines


def edits_table(printed: str) -> list[str]:
    """Planted edits in prose and in records, from the lines that `train.measure_edits` printed, in Markdown.

    Raises:
        ValueError: the text has no line of prose or of records.
    """
    lines = [
        "| planted edits in | pairs | found | false alarms on twins | marked to the word, of what is found |",
        "|---|---|---|---|---|",
    ]
    rows = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line.strip()}
    for name in ("prose", "records"):
        if len(rows.get(name, ())) < 5:
            raise ValueError(f"expected a line of {name} as train.measure_edits prints it, found none")
        pairs, found, alarms, _, exact = rows[name][:5]
        lines.append(f"| {name} | {pairs} | {found} | {alarms} | {exact} |")
    return lines


def energy_table(cpu_hours: Sequence[float]) -> list[str]:
    """CPU hours of each stage and what they come to, in Markdown."""
    lines = ["| stage | CPU hours | kWh |", "|---|---|---|"]
    parts = [*((str(number), hours) for number, hours in enumerate(cpu_hours, 1)), ("all", sum(cpu_hours))]
    lines += [f"| {name} | {hours:.1f} | {hours * WATTS_PER_CORE / 1000:.3f} |" for name, hours in parts]
    note = (
        f"kWh = CPU hours x {WATTS_PER_CORE:g} W, an assumed draw of a busy core with its share of memory and board, "
        "without cooling; nothing was metered. Tries that were thrown away are not counted."
    )
    return [*lines, "", note]


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""


def _rate(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else ""


def _cell(figure: Json | None) -> str:
    if figure is None or figure["value"] is None:
        return ""
    if figure["low"] is None or figure["high"] is None:
        return f"{figure['value']:.3f}"
    return f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"


def main() -> None:
    """Read arguments, fill the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--card", type=Path, default=REPOSITORY / "docs" / "model-card.md")
    parser.add_argument("--weights", type=Path, default=REPOSITORY / "src" / "assay" / "models" / "weights")
    parser.add_argument("--dev", type=Path, help="folder of an evaluation of the development sets")
    parser.add_argument("--held", type=Path, help="folder of an evaluation of the held-out documents")
    parser.add_argument("--edits", type=Path, help="what train.measure_edits printed")
    parser.add_argument("--cpu-hours", type=float, nargs="+", help="of each stage of training")
    arguments = parser.parse_args()
    manifest = json.loads((arguments.weights / "manifest.json").read_text())
    parts = {"about": about_table(manifest), "data": data_table(), "stages": stages_table(manifest)}
    if arguments.dev is not None:
        summary = json.loads((arguments.dev / "summary.json").read_text())
        parts |= {"dev": figures_table(summary), "weakest": weakest_table(summary)}
    if arguments.held is not None:
        parts["held"] = figures_table(json.loads((arguments.held / "summary.json").read_text()))
    if arguments.edits is not None:
        parts["edits"] = edits_table(arguments.edits.read_text())
    if arguments.cpu_hours is not None:
        parts["energy"] = energy_table(arguments.cpu_hours)
    text = arguments.card.read_text()
    for name, lines in parts.items():
        text = replaced(text, name, lines)
    arguments.card.write_text(text)
    print(f"{arguments.card}: wrote {', '.join(parts)}")


if __name__ == "__main__":
    main()
