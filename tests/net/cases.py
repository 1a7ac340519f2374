"""The cases of the net: some 3,000 inputs, each with a name that stays.

Which scenarios take part, and under which preset a case is checked, hangs on its name alone (`drawn`): a scenario more
is a case more, and moves no other one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tests.guard.runs import CANCELLED, FALSE, FOUND, TRUE, transcript
from tests.net.material import (
    PRESETS,
    Case,
    answer_of,
    drawn,
    evidence_of,
    gate_rows,
    locale_of,
    preset_of,
    scenarios,
)

_STAKES: Final = ("low", "medium", "medium", "high")
_NETWORK_SHARE: Final = {"claim": 12, "answer": 16, "evasion": 8, "conflict": 5, "superseded": 5, "run": 12}
"""One case in so many of a family is put to the shipped network as well."""


def cases() -> Iterator[Case]:
    """All cases, each name once."""
    for family in (
        _gate,
        _claims,
        _answers,
        _cited,
        _documents,
        _tables,
        _runs,
        _streams,
        _repairs,
        _judged,
        _pages,
        _everywhere,
    ):
        yield from family()


def network_cases() -> Iterator[Case]:
    """Those that are put to the shipped network too."""
    for case in cases():
        family = case.id.split(":", 1)[0]
        if family in _NETWORK_SHARE and drawn(f"network {case.id}", _NETWORK_SHARE[family]) == 0:
            yield case


def _case(name: str, given: Mapping[str, Any], *, way: Any = "check", policy: str | None = None) -> Case:
    stakes = _STAKES[drawn(f"stakes {name}", len(_STAKES))]
    return Case(name, way, policy or preset_of(name), {"stakes": stakes, **given})


def _gate() -> Iterator[Case]:
    """The hand-written cases of the gate: evasions, sources that disagree, versions that replace each other."""
    for row in gate_rows("evasions"):
        given = {"answer": row["output"], "evidence": row["evidence"], "question": row["question"]}
        yield _case(f"evasion:{row['id']}", given)
    for row in gate_rows("conflicts"):
        yield _case(f"conflict:{row['id']}", {"answer": row["claim"], "evidence": row["evidence"]})
    for row in gate_rows("superseded"):
        for side in ("right", "wrong"):
            yield _case(f"superseded:{row['id']}/{side}", {"answer": row[side], "evidence": row["evidence"]})


def _asked(scenario: Mapping[str, Any], answer: str) -> dict[str, Any]:
    return {
        "answer": answer,
        "evidence": evidence_of(scenario),
        "question": scenario["question"],
        "locale": locale_of(scenario),
    }


def _claims() -> Iterator[Case]:
    """Single claims, right and wrong ones."""
    for scenario in scenarios():
        for number, claim in enumerate(scenario["claims"]):
            name = f"claim:{scenario['id']}/{number}"
            if drawn(name, 34) == 0:
                yield _case(name, _asked(scenario, claim["text"]))


def _some(family: str, one_in: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for scenario in scenarios():
        name = f"{family}:{scenario['id']}"
        if drawn(name, one_in) == 0:
            yield name, scenario


def _answers() -> Iterator[Case]:
    """Whole answers."""
    for name, scenario in _some("answer", 5):
        yield _case(name, _asked(scenario, answer_of(scenario)))


def _cited() -> Iterator[Case]:
    """Answers whose sentences cite: the passages in turn, and now and then one that is not there."""
    for name, scenario in _some("cited", 14):
        ids = [one["id"] for one in evidence_of(scenario)]
        sentences = re.split(r"(?<=[.!?])\s+", answer_of(scenario))
        marks = [
            ids[drawn(f"{name} {at}", len(ids))] if drawn(f"{name}/{at}", 6) else "nowhere-7"
            for at in range(len(sentences))
        ]
        answer = " ".join(f"{said.rstrip('.')} [{mark}]." for said, mark in zip(sentences, marks, strict=True))
        yield _case(name, _asked(scenario, answer))


def _records() -> Iterator[tuple[dict[str, Any], Any]]:
    """Scenarios with a passage that is one JSON object, and that object."""
    for scenario in scenarios():
        for passage in scenario["evidence"]:
            if passage["text"].lstrip().startswith("{"):
                try:
                    yield scenario, json.loads(passage["text"])
                except ValueError:
                    continue
                break


def _documents() -> Iterator[Case]:
    """JSON answers: the record as it stands, with one value changed, held to a schema, with rules, and broken."""
    for scenario, record in _records():
        base = f"document:{scenario['id']}"
        if drawn(base, 5):
            continue
        given = _asked(scenario, "")
        yield _case(f"{base}/plain", {**given, "answer": json.dumps(record, ensure_ascii=False)})
        changed = _changed(record, base)
        yield _case(f"{base}/changed", {**given, "answer": json.dumps(changed, ensure_ascii=False)})
        schema = {"type": "object", "required": [*sorted(record)[:2], "absent"][drawn(base, 2) :]}
        yield _case(f"{base}/schema", {**given, "answer": json.dumps(changed, indent=1), "schema": schema})
        names = sorted(record)
        structure = {"skip": [f"/{names[0]}"], "references": [f"/{names[-1]}"]}
        with_rules = {**given, "answer": json.dumps(record), "schema": True, "structure": structure}
        yield _case(f"{base}/rules", with_rules)
        yield _case(f"{base}/broken", {**given, "answer": json.dumps(record)[:-1] + ",}", "schema": schema})


def _changed(value: Any, name: str) -> Any:
    """The value with one of its leaves changed, which one hangs on the name."""
    places = list(_leaves(value))
    if not places:
        return value
    path = places[drawn(f"{name} change", len(places))]
    made = json.loads(json.dumps(value))
    holder = made
    for step in path[:-1]:
        holder = holder[step]
    old = holder[path[-1]]
    holder[path[-1]] = (
        not old if isinstance(old, bool) else old + 3 if isinstance(old, int | float) else f"{old or 'none'} (new)"
    )
    return made


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(member, (*path, key))
    elif path:
        yield path


def _tables() -> Iterator[Case]:
    """Answers that hold a table and a list of labelled values, made of records."""
    for scenario, record in _records():
        base = f"table:{scenario['id']}"
        flat = {key: value for key, value in record.items() if isinstance(value, str | int | float)}
        if drawn(base, 7) or len(flat) < 2:
            continue
        rows = {"right": flat, "wrong": _changed(flat, base)}
        for kind, shown in rows.items():
            table = "\n".join(["| field | value |", "|---|---|", *(f"| {key} | {shown[key]} |" for key in shown)])
            listed = "\n".join(f"- **{key.replace('_', ' ')}**: {value}" for key, value in shown.items())
            yield _case(f"{base}/{kind}", _asked(scenario, f"Here is what the record says.\n\n{table}\n"))
            yield _case(f"{base}/{kind}/list", _asked(scenario, listed))


def _runs() -> Iterator[Case]:
    """Agent runs: those of the tests of the guard, and scenarios whose evidence came from tools."""
    said = {
        "true": TRUE,
        "false": FALSE,
        "both": f"{TRUE} {FALSE}",
        "done": "I have cancelled your order W-17.",
        "cited": "Order W-17 is in Hamburg [dispatch-9].",
        "none": None,
        "invented": "Mrs Okafor has it.",
    }
    invented = ("get_order", {"order_id": "W-99"}, "nothing")
    broken = ("get_order", '{"order_id": ', None)
    calls: dict[str, tuple[Any, ...]] = {
        "none": (),
        "found": (FOUND,),
        "cancelled": (FOUND, CANCELLED),
        "invented": (invented,),
        "open": (FOUND, ("cancel_order", {"order_id": "W-17"}, None)),
        "broken": (broken,),
    }
    for what, answer in said.items():
        for how, made in calls.items():
            for declared in (True, False):
                name = f"run:tests/{what}/{how}/{'declared' if declared else 'bare'}"
                yield _case(name, {"run": transcript(answer, *made, declared=declared)}, way="run")
    for scenario in scenarios():
        name = f"run:{scenario['id']}"
        if any(one["id"].startswith("user") or "_" in one["id"] for one in scenario["evidence"]) and not drawn(name, 2):
            yield _case(name, _run_of(name, scenario), way="run")


def _run_of(name: str, scenario: Mapping[str, Any]) -> dict[str, Any]:
    """A transcript in which each passage is what a tool returned, or a word of the user."""
    passages = evidence_of(scenario)
    spoken = [one["text"] for one in passages if one["id"].startswith("user")]
    calls: list[tuple[str, dict[str, Any], str]] = [
        (re.sub(r"\W+", "_", one["id"]), {}, one["text"]) for one in passages if not one["id"].startswith("user")
    ]
    user = "\n".join([scenario["question"], *spoken])
    made = transcript(answer_of(scenario), *calls, user=user, declared=False)
    tools = [{"type": "function", "function": {"name": call, "parameters": {"type": "object"}}} for call, *_ in calls]
    declared = {"tools": tools} if drawn(f"declared {name}", 4) else {}
    return {"run": {"messages": made, **declared}, "locale": locale_of(scenario)}


def _pieces(name: str, text: str) -> list[str]:
    """The text in pieces of a length that hangs on the name."""
    size = (1, 4, 9, 25, 80)[drawn(f"pieces {name}", 5)]
    return [text[at : at + size] for at in range(0, len(text), size)]


def _streams() -> Iterator[Case]:
    """Texts that are checked while they are made, held back or corrected."""
    for row in gate_rows("evasions"):
        name = f"stream:{row['id']}"
        if drawn(name, 4) == 0:
            given = {"pieces": _pieces(name, row["output"]), "evidence": row["evidence"], "question": row["question"]}
            yield _case(name, {**given, "mode": ("enforce", "annotate")[drawn(f"mode {name}", 2)]}, way="stream")
    for name, scenario in _some("stream", 22):
        given = _asked(scenario, "")
        del given["answer"]
        pieces = _pieces(name, answer_of(scenario))
        yield _case(
            name, {**given, "pieces": pieces, "mode": ("enforce", "annotate")[drawn(f"mode {name}", 2)]}, way="stream"
        )


def _repairs() -> Iterator[Case]:
    """Answers that are corrected with the evidence's own values; no model is asked."""
    for name, scenario in _some("repair", 18):
        wrong = [claim["text"] for claim in scenario["claims"] if claim["label"] == "contradicted"][:2]
        right = [claim["text"] for claim in scenario["claims"] if claim["label"] == "supported"][:2]
        yield _case(name, _asked(scenario, " ".join([*right[:1], *wrong, *right[1:]])), way="repair")


def _judged() -> Iterator[Case]:
    """Answers about which a scripted judge is asked."""
    for name, scenario in _some("judged", 20):
        rule = ("everything", "nothing", "opposite", "unreadable")[drawn(f"rule {name}", 4)]
        yield _case(name, {**_asked(scenario, answer_of(scenario)), "rule": rule}, way="judged")


def _pages() -> Iterator[Case]:
    """Reports as people read them, as text and as HTML."""
    for name, scenario in _some("page", 22):
        yield _case(name, _asked(scenario, answer_of(scenario)), way="page")


def _everywhere() -> Iterator[Case]:
    """A few of each kind under every preset."""
    chosen: Sequence[tuple[Callable[[], Iterator[Case]], int]] = (
        (_gate, 40),
        (_cited, 20),
        (_documents, 24),
        (_runs, 24),
        (_answers, 40),
    )
    for family, one_in in chosen:
        for case in family():
            if drawn(f"everywhere {case.id}", one_in) == 0:
                for policy in PRESETS:
                    yield Case(f"preset:{policy}/{case.id}", case.way, policy, case.given)
