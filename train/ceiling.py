"""How far verdicts can agree with the labels on which the two rates are measured.

    python -m train.ceiling --data ../shared/data

People labelled the answers of `train.model_answers`, and people disagree: on some sets more than on others. A reader
who had seen no label (a large language model, one row after the other, told to judge faithfulness to the evidence)
gave every answer of the `test` side a probability that all of it is supported; its verdicts are kept in
`train/readers/test-answers.jsonl`, with neither texts nor labels. This prints, by set, the two rates and the AUROC of
the reader beside those of the preset `general`. Where the reader does not reach a pair of rates, the labels do not
give it: no verifier can be asked for more on that set without being fitted to its annotators.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from assay.cli.evaluate import identity_of
from assay.config import Guard
from assay.errors import InputError
from assay.evaluation.figures.gate_rates import Decided, Rates, rates
from assay.evaluation.rows.reading import read_rows
from assay.evaluation.rows.results import ResultLog
from assay.evaluation.runner import evaluate
from assay.schema import Action
from assay.stats.classification import auroc
from train.model_answers import records
from train.rows import load_training_sets

VERDICTS = Path(__file__).parent / "readers" / "test-answers.jsonl"
"""The reader's verdicts: set, id, probability, and whether it would emit the answer."""
DISPUTED = ("expertqa", "expertqa_ab")
"""Sets on whose labels readers and verifiers agree little better than chance."""


def verdicts(path: Path = VERDICTS) -> dict[tuple[str, str], tuple[float, bool]]:
    """By set and id: the probability that everything in the answer is supported, and whether the reader says so.

    Raises:
        InputError: a row is told of twice.
    """
    found: dict[tuple[str, str], tuple[float, bool]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = row["set"], str(row["id"])
        if key in found:
            raise InputError(f"{path}: expected one verdict on each row, got two on {key}")
        found[key] = float(row["p"]), bool(row["supported"])
    return found


def line_of(name: str, reader: Sequence[Decided], gate: Sequence[Decided]) -> str:
    """A line of the table.

    >>> honest, wrong = Decided(True, "emit", 0.9), Decided(False, "block", 0.1)
    >>> line_of("some set", [honest, wrong], [honest, wrong])
    '| some set | 1 of 1 | 1 of 1 | 1.000 | 1 of 1 | 1 of 1 | 1.000 |'
    """

    def cells(decided: Sequence[Decided]) -> list[str]:
        both: Rates = rates(name, decided)
        scores = [-1.0 if one.score is None else one.score for one in decided]
        area = auroc([one.honest for one in decided], scores).value
        shares = [f"{one.count} of {one.of}" for one in (both.honest_emitted, both.wrong_stopped)]
        return [*shares, "" if area is None else f"{area:.3f}"]

    return f"| {' | '.join([name, *cells(reader), *cells(gate)])} |"


def main() -> None:
    """Read arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with train/ and dev/")
    given = parser.parse_args()
    known, guard = verdicts(), Guard("general")
    found = list(records(given.data, load_training_sets(given.data), "test"))
    missing = [one for one in found if (one["set"], str(one["id"])) not in known]
    if missing:
        raise SystemExit(f"the reader gave no verdict on {len(missing)} of {len(found)} rows: the sets have changed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found), encoding="utf-8")
        rows = list(read_rows(path))
        with ResultLog(None, identity_of(guard)) as log:
            results = evaluate(guard, rows, log, lambda done: print(f"{done} rows", flush=True), [])
    reader, gate = [], []
    for raw, row, result in zip(found, rows, results, strict=True):
        honest = row.label == "supported"
        p, says = known[raw["set"], str(raw["id"])]
        reader.append(Decided(honest, Action.EMIT if says else Action.BLOCK, p))
        gate.append(Decided(honest, *result.gates[guard.policy.name]))
    print("| set | reader: honest emitted | wrong stopped | AUROC | general: honest emitted | wrong stopped | AUROC |")
    print("|---" * 7 + "|")
    sets = [raw["set"] for raw in found]
    groups = {name: {name} for name in sorted(set(sets))}
    groups |= {"all": set(sets), "all but ExpertQA": set(sets) - set(DISPUTED)}
    for name, members in groups.items():
        places = [place for place, one in enumerate(sets) if one in members]
        print(line_of(name, [reader[place] for place in places], [gate[place] for place in places]))


if __name__ == "__main__":
    main()
