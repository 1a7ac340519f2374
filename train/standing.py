"""Measures where the presets stand between the two rates, and writes what the package tells of it.

    python -m train.standing --data ../shared/data --out src/assay/policy/calibration/standing.json

The rows are answers of language models that people labelled (`train.model_answers`) on the side of the split that
nothing was trained or fitted on. What is written are counts and a curve for each preset, by its digest, and the
digests of the verifier and of the rows.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from assay.cli.evaluate import GATES, identity_of
from assay.config import Guard
from assay.evaluation.figures.gate_rates import Decided, curve
from assay.evaluation.rows.reading import Row, read_rows
from assay.evaluation.rows.results import ResultLog
from assay.evaluation.runner import evaluate
from assay.policy.presets import PRESETS
from assay.schema import Action
from train.model_answers import records
from train.provenance import file_digest
from train.rows import load_training_sets

POINTS = 41
"""Points of a curve that are kept."""


def measured(guard: Guard, rows: list[Row]) -> dict[str, Any]:
    """What each preset did with each row."""
    gates = [guard.under(name) for name in GATES if name != guard.policy.name]
    with ResultLog(None, identity_of(guard)) as log:
        results = evaluate(guard, rows, log, lambda done: print(f"{done} rows", flush=True), gates)
    found: dict[str, Any] = {}
    for name in GATES:
        decided = [
            Decided(row.label == "supported", *result.gates[name])
            for row, result in zip(rows, results, strict=True)
            if result.gates
        ]
        honest = [one for one in decided if one.honest]
        wrong = [one for one in decided if not one.honest]
        points = curve(decided)
        step = max(1, len(points) // POINTS)
        found[PRESETS[name].digest] = {
            "name": name,
            "honest": len(honest),
            "emitted": sum(one.action == Action.EMIT for one in honest),
            "wrong": len(wrong),
            "stopped": sum(one.action != Action.EMIT for one in wrong),
            "threshold": PRESETS[name].emit_threshold,
            "curve": [[round(value, 4) for value in point] for point in points[::step]],
        }
    return found


def main() -> None:
    """Read arguments, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with train/ and dev/")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    guard = Guard("general")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model-answers.jsonl"
        found = records(given.data, load_training_sets(given.data), "test")
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found), encoding="utf-8")
        rows = list(read_rows(path))
        presets = measured(guard, rows)
        told = {
            "made_by": "python -m train.standing",
            "verifier": {"name": guard.verifier.name, "digest": guard.verifier.digest},
            "rows": {"count": len(rows), "digest": file_digest(path)},
            "presets": presets,
        }
    given.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for one in presets.values():
        print(f"{one['name']}: emitted {one['emitted']} of {one['honest']}, stopped {one['stopped']} of {one['wrong']}")


if __name__ == "__main__":
    main()
