"""Scenarios as people write them, and as training reads them.

A scenario is evidence, a question and labelled claims (see ``train/scenarios/README.md``). It is written in a plain
text form that needs no escaping and no repetition, and kept as one JSON object a line:

    === leave-003
    domain: hr policy
    style: policy page
    question: How long is partner leave?
    --- evidence hr-2 | Leave policy v3.1 | 2026-01-15
    Partners are entitled to two weeks of paid leave.
    --- claims
    S paraphrase | A partner can stay at home for a fortnight without losing pay.
    C number | Partners get ⟦four weeks⟧ of leave. | two weeks
    U extrapolation | Partners may ⟦work from home⟧ afterwards.
    --- answer
    In short: {0} {1}

    python -m train.scenario_text compile BATCH.txt ... --out BATCH.jsonl
    python -m train.scenario_text blind BATCH.jsonl --out BATCH.blind.txt
    python -m train.scenario_text second BATCH.jsonl BATCH.labels.txt
    python -m train.scenario_text surface FILE.jsonl ...

``second`` writes what a second reader chose into each claim and prints how far the two agreed; ``surface`` fits a
logistic model on what can be seen of a claim without understanding it and prints its AUROC by five-fold
cross-validation over scenarios: 0.5 says that the label cannot be guessed.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from assay.stats.classification import auroc
from train.documents import with_documents

Scenario = dict[str, Any]
LABELS = {"S": "supported", "C": "contradicted", "U": "unsupported"}
_HEADER = re.compile(r"^(domain|style|language|question|source): ?(.*)$")
_CLAIM = re.compile(r"^([SCU]) ([^|]*?) \| (.*)$")
_MARK = re.compile(r"⟦([^⟦⟧]*)⟧")
_PLACE = re.compile(r"\{(\d+)\}")


class ScenarioError(ValueError):
    """A text that is no scenario; the message says where and what was expected."""


def compile_scenarios(text: str, name: str = "text") -> list[Scenario]:
    """The scenarios of a text in the written form, in its order.

    Raises:
        ScenarioError: where the text departs from the form.
    """
    blocks = re.split(r"^=== *", text, flags=re.MULTILINE)
    if blocks[0].strip():
        raise ScenarioError(f"{name}: text before the first line '=== ID'")
    return [_scenario(block, name) for block in blocks[1:]]


def _scenario(block: str, name: str) -> Scenario:
    head, *parts = re.split(r"^--- *", block, flags=re.MULTILINE)
    lines = head.strip("\n").split("\n")
    found: Scenario = {"id": lines[0].strip()}
    where = f"{name}: {found['id']}"
    for line in lines[1:]:
        if not line.strip():
            continue
        matched = _HEADER.match(line)
        if not matched:
            raise ScenarioError(f"{where}: expected 'domain:', 'style:', 'language:' or 'question:', got {line!r}")
        found[matched[1]] = matched[2].strip()
    found["evidence"], found["claims"] = [], []
    answer = ""
    for part in parts:
        title, _, body = part.partition("\n")
        if title.startswith("evidence"):
            found["evidence"].append(_evidence(title[8:], body, where))
        elif title.strip() == "claims":
            found["claims"] = [_claim(line, where) for line in body.split("\n") if line.strip()]
        elif title.strip() == "answer":
            answer = body.strip()
        else:
            raise ScenarioError(f"{where}: expected '--- evidence', '--- claims' or '--- answer', got '--- {title}'")
    found["in_answer"] = list(dict.fromkeys(int(place) for place in _PLACE.findall(answer)))
    if any(place >= len(found["claims"]) for place in found["in_answer"]):
        raise ScenarioError(f"{where}: the answer names a claim that is not there")
    found["answer"] = _PLACE.sub(lambda place: found["claims"][int(place[1])]["text"], answer)
    _require(found, where)
    return found


def _evidence(title: str, body: str, where: str) -> dict[str, str]:
    fields = [field.strip() for field in title.split(" | ")]
    if not fields[0]:
        raise ScenarioError(f"{where}: evidence without an id")
    given = dict(zip(("id", "title", "date"), fields, strict=False))
    return {key: value for key, value in given.items() if value} | {"text": body.strip("\n")}


def _claim(line: str, where: str) -> dict[str, Any]:
    matched = _CLAIM.match(line)
    if not matched:
        raise ScenarioError(
            f"{where}: expected 'S kind | claim', 'C kind | claim | say' or 'U kind | claim', got {line!r}"
        )
    label, text, say = LABELS[matched[1]], matched[3].strip(), ""
    if label != "supported" and " | " in text:
        text, _, say = text.rpartition(" | ")
    wrong = _MARK.findall(text)
    claim: dict[str, Any] = {"text": _MARK.sub(r"\1", text).strip(), "label": label, "kind": matched[2].strip()}
    if (label == "supported") == bool(wrong):
        raise ScenarioError(f"{where}: a supported claim marks nothing and a wrong one its wrong words: {line!r}")
    if wrong:
        claim["wrong"] = wrong
    if say.strip():
        claim["say"] = say.strip()
    return claim


def _require(scenario: Scenario, where: str) -> None:
    if not scenario.get("domain") or not scenario.get("question"):
        raise ScenarioError(f"{where}: no domain or no question")
    if not scenario["evidence"] or any(not passage["text"].strip() for passage in scenario["evidence"]):
        raise ScenarioError(f"{where}: no evidence, or an empty passage")
    if len({passage["id"] for passage in scenario["evidence"]}) < len(scenario["evidence"]):
        raise ScenarioError(f"{where}: ids of passages repeat")
    if len(scenario["claims"]) < 4:
        raise ScenarioError(f"{where}: {len(scenario['claims'])} claims, expected at least 4")


def read_scenarios(path: Path) -> list[Scenario]:
    """The scenarios of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write_scenarios(path: Path, scenarios: Iterable[Scenario]) -> None:
    """One JSON object a line."""
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in scenarios), encoding="utf-8")


def agreed(scenario: Scenario) -> Iterator[tuple[int, dict[str, Any]]]:
    """The claims on which both readers agree that they are supported, or that they are not, with their places."""
    for place, claim in enumerate(scenario["claims"]):
        second = claim.get("second")
        if second in LABELS.values() and (second == "supported") == (claim["label"] == "supported"):
            yield place, claim


def blind(scenarios: Iterable[Scenario], seed: int = 7) -> str:
    """The scenarios as a second reader gets them: claims in another order, without labels."""
    shuffle, out = random.Random(seed), []
    for scenario in scenarios:
        out.append(f"=== {scenario['id']}\nquestion: {scenario['question']}")
        for passage in scenario["evidence"]:
            head = " | ".join(passage[key] for key in ("id", "title", "date") if passage.get(key))
            out.append(f"--- evidence {head}\n{passage['text']}")
        out.append("--- claims")
        order = list(range(len(scenario["claims"])))
        shuffle.shuffle(order)
        out += [f"{place}: {scenario['claims'][place]['text']}" for place in order]
        out.append("")
    return "\n".join(out)


def merge_second(scenarios: list[Scenario], labels: str) -> dict[str, int]:
    """Write a second reader's labels (lines of ``ID PLACE S|C|U|?``) into the claims; counts of how they compare."""
    by_id = {scenario["id"]: scenario for scenario in scenarios}
    counts: collections.Counter[str] = collections.Counter()
    for line in labels.splitlines():
        fields = line.split()
        if len(fields) < 3 or not fields[1].isdigit():
            continue
        name, place, letter = fields[0], int(fields[1]), fields[2].upper()
        if name not in by_id or place >= len(by_id[name]["claims"]):
            raise ScenarioError(f"no claim {place} in a scenario {name!r}")
        claim = by_id[name]["claims"][place]
        claim["second"] = LABELS.get(letter, "arguable")
    for scenario in scenarios:
        for claim in scenario["claims"]:
            second = claim.get("second")
            counts["claims"] += 1
            if second is None:
                counts["unread"] += 1
            elif second == "arguable":
                counts["arguable"] += 1
            else:
                counts["read"] += 1
                counts["same of three"] += second == claim["label"]
                counts["same of two"] += (second == "supported") == (claim["label"] == "supported")
    return dict(counts)


_WORD = re.compile(r"[^\W_]+")


def surface_features(scenario: Scenario, place: int) -> list[float]:
    """What can be seen of a claim without understanding it.

    Length, the share of its words that stand in the evidence (all, and those of five letters and more), its longest
    shared run, numbers and whether they stand there, capitals, place, punctuation, hedges.
    """
    claim = scenario["claims"][place]["text"]
    evidence = " ".join(f"{p.get('title', '')} {p.get('date', '')} {p['text']}" for p in scenario["evidence"]).lower()
    words, known = _WORD.findall(claim.lower()), set(_WORD.findall(evidence))
    long_words = [word for word in words if len(word) > 4]
    numbers = re.findall(r"\d+(?:[.,]\d+)*", claim)
    run = longest = 0
    for word in words:
        run = run + 1 if word in known else 0
        longest = max(longest, run)
    return [
        len(words),
        math.log1p(len(claim)),
        sum(word in known for word in words) / max(1, len(words)),
        sum(word in known for word in long_words) / max(1, len(long_words)),
        longest / max(1, len(words)),
        len(numbers),
        sum(number in evidence for number in numbers) / len(numbers) if numbers else 0.5,
        sum(letter.isupper() for letter in claim) / max(1, len(claim)),
        place / max(1, len(scenario["claims"])),
        claim.count(","),
        float(any(word in words for word in ("not", "no", "never", "without"))),
        float(any(word in words for word in ("all", "always", "only", "every", "must"))),
        float(any(word in words for word in ("may", "can", "could", "might"))),
        float(any(word in words for word in ("because", "since", "so", "due"))),
    ]


def surface_auroc(scenarios: list[Scenario], folds: int = 5) -> float:
    """AUROC of a logistic model on :func:`surface_features`, each scenario scored by a model that has not seen it."""
    rows, wrong, fold = [], [], []
    for number, scenario in enumerate(scenarios):
        for place, claim in enumerate(scenario["claims"]):
            rows.append(surface_features(scenario, place))
            wrong.append(claim["label"] != "supported")
            fold.append(number % folds)
    x, y, part = np.array(rows), np.array(wrong, dtype=float), np.array(fold)
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-9)
    x = np.hstack([x, x**2, np.ones((len(x), 1))])
    scores = np.zeros(len(y))
    for held in range(folds):
        w = _logistic(x[part != held], y[part != held])
        scores[part == held] = x[part == held] @ w
    value = auroc(y > 0.5, scores).value
    if value is None:
        raise ScenarioError("no claim is supported, or none is wrong")
    return value


def _logistic(x: np.ndarray, y: np.ndarray, ridge: float = 1.0, steps: int = 25) -> np.ndarray:
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(x.shape[1])
        w -= np.linalg.solve(hessian, x.T @ (p - y) + ridge * w)
    return w


def main(arguments: list[str] | None = None) -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(prog="python -m train.scenario_text", description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=["compile", "blind", "second", "surface"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.verb == "compile":
            found = [one for path in given.files for one in compile_scenarios(path.read_text("utf-8"), path.name)]
            _require_own_ids(found)
            if given.out:
                write_scenarios(given.out, found)
            _describe(found)
        elif given.verb == "blind":
            text = blind(one for path in given.files for one in with_documents(read_scenarios(path)))
            given.out.write_text(text, encoding="utf-8") if given.out else print(text)
        elif given.verb == "second":
            scenarios = read_scenarios(given.files[0])
            print(merge_second(scenarios, "\n".join(path.read_text("utf-8") for path in given.files[1:])))
            write_scenarios(given.out or given.files[0], scenarios)
        else:
            _describe([one for path in given.files for one in with_documents(read_scenarios(path))])
    except ScenarioError as error:
        print(f"train.scenario_text: {error}", file=sys.stderr)
        return 2
    return 0


def _require_own_ids(scenarios: Iterable[Scenario]) -> None:
    counts = collections.Counter(one["id"] for one in scenarios)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ScenarioError(f"ids stand twice: {', '.join(repeated)}")


def _describe(scenarios: list[Scenario]) -> None:
    labels = collections.Counter(claim["label"] for one in scenarios for claim in one["claims"])
    print(f"{len(scenarios)} scenarios, {sum(labels.values())} claims {dict(labels)}")
    sides: dict[str, list[list[float]]] = {"supported": [], "wrong": []}
    for one in scenarios:
        for place, claim in enumerate(one["claims"]):
            side = "supported" if claim["label"] == "supported" else "wrong"
            sides[side].append(surface_features(one, place))
    for side, rows in sides.items():
        if rows:
            mean = np.array(rows).mean(axis=0)
            shares = f"{mean[2]:.2f} of them in the evidence, {mean[3]:.2f} of the long ones"
            print(f"{side}: {mean[0]:.1f} words a claim, {shares}")
    if len(scenarios) >= 10:
        print(f"surface features alone: AUROC {surface_auroc(scenarios):.3f}")


if __name__ == "__main__":
    sys.exit(main())
