"""Stage 1 on public data: JSON Schema suites, BFCL calls and mutations of them, airline traces, and the time of a call.

    python benchmarks/tool_calls.py --data DIR/tool [--cases N]

Four parts. The JSON Schema test suites, by draft, required and optional apart, those that need remote documents (which
are never fetched) apart again. BFCL: calls made of the accepted values must pass, and each call with one thing changed
must be rejected with a message that names the argument. Traces of an airline agent without their declarations: how
many of the calls that an agent really made would be held back, in runs that reached their goal and in those that did
not; and of the answers, how many claimed actions are called false, before and after the calls that did them are taken
away. Last, microseconds of processor time a call. `--cases N` prints N cases of every kind that was not as wanted.
"""

import argparse
import gzip
import json
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.schema.report_parts.provenance import SourceKind
from assay.schema.run.arguments import Arguments, read_arguments
from assay.schema.run.model import TextPart, ToolCall, ToolDeclaration, ToolResult
from assay.verify.documents.json_schema import compile_schema
from assay.verify.tools import (
    ActionStatus,
    CallCheck,
    CallStatus,
    Rules,
    Sources,
    SourceText,
    Toolbox,
    ToolRule,
    call_outcomes,
    check_call,
    claimed_actions,
)
from assay.verify.tools.tracing_rules import ArgumentRule, Tracing

_DRAFTS = {"4": "draft4", "6": "draft6", "7": "draft7", "201909": "draft2019-09", "202012": "draft2020-12"}
_BFCL = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "simple_java",
    "simple_javascript",
)
_AIRLINE_NOW = datetime(2024, 5, 15, 15, 0, tzinfo=UTC)
"""What the system prompt of the traces says is now."""

_SCHEMA_CODES = (
    "tool.type",
    "tool.enum",
    "tool.missing_argument",
    "tool.surplus_argument",
    "tool.range",
    "tool.choice",
)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def json_schema_suites(data: Path, cases: int) -> None:
    """Prints the pass rate of each draft."""
    print("JSON Schema test suites (formats asserted; 'remote' cases need a document that is never fetched)")
    for name, draft in _DRAFTS.items():
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        let_through = 0
        for row in _rows(data / f"jsonschema_draft{name}.test.jsonl.gz"):
            meta = row["meta"]
            kind = ("optional" if meta["optional"] else "required") + (" remote" if meta["needs_remotes"] else "")
            # The suite says of these that a format is a note by default; it is asserted everywhere else.
            formats = "only an annotation by default" not in meta["test"]
            wanted = row["label"] == "supported"
            try:
                validator = compile_schema(json.loads(row["evidence"][0]), draft, formats=formats)
                got: bool | None = validator.is_valid(json.loads(row["claim"]))
            except InputError:
                got = None
            total[kind] += 1
            right[kind] += got is wanted
            let_through += bool(got) and not wanted
            if got is not wanted and "remote" not in kind and cases > 0:
                print("   not as wanted:", row["id"], meta["group"], "|", meta["test"])
        parts = ", ".join(f"{kind} {right[kind]}/{total[kind]}" for kind in sorted(total))
        print(f"  {draft:13} {parts}; invalid let through {let_through}")


@dataclass
class Sample:
    """One call of BFCL with what it is checked against."""

    row: str
    category: str
    call: dict[str, Any]
    name: str
    tools: Toolbox
    sources: Sources
    schema: dict[str, Any]
    said: str
    names: tuple[str, ...]


@dataclass
class Tally:
    """How many of one kind were as wanted, and those that were not."""

    total: int = 0
    good: int = 0
    named: int = 0
    others: list[str] = field(default_factory=list)


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _value(_first(options)) for key, options in value.items() if not _leaves_out(options)}
    return [_value(item) for item in value] if isinstance(value, list) else value


def _first(options: Any) -> Any:
    return options[0] if isinstance(options, list) and options else options


def _leaves_out(options: Any) -> bool:
    return isinstance(options, list) and (not options or options[0] == "")


def bfcl_samples(data: Path) -> Iterator[Sample]:
    """The calls that BFCL accepts, with the first accepted value of each argument."""
    for category in _BFCL:
        for row in _rows(data / f"bfcl.{category}.jsonl.gz"):
            declared = [
                ToolDeclaration(name=f["name"], description=f.get("description"), parameters=f["parameters"])
                for f in row["functions"]
            ]
            texts = [message for turn in row["question"] for message in turn]
            sources = Sources(
                SourceText(
                    SourceKind.USER if message["role"] == "user" else SourceKind.SYSTEM, f"m{n}", message["content"]
                )
                for n, message in enumerate(texts)
            )
            tools = Toolbox(declared)
            said = " ".join(message["content"] for message in texts)
            for truth in row["ground_truth"] or []:
                for name, accepted in truth.items():
                    yield Sample(
                        row["id"],
                        category,
                        _value(accepted),
                        name,
                        tools,
                        sources,
                        tools.schema(name) or {},
                        said,
                        tuple(tools.declarations),
                    )


def _check(sample: Sample, call: dict[str, Any], name: str | None = None) -> CallCheck:
    made = ToolCall(name=name or sample.name, arguments=Arguments(value=call))
    return check_call(made, sample.tools, sample.sources)


def bfcl(data: Path, cases: int) -> list[Sample]:
    """Prints how many accepted calls pass and how many mutated ones are caught; the samples that passed."""
    passed: list[Sample] = []
    over: list[str] = []
    broken: Counter[str] = Counter()
    count = 0
    for sample in bfcl_samples(data):
        count += 1
        check = _check(sample, sample.call)
        if check.accepted:
            passed.append(sample)
        elif any(issue.code in _SCHEMA_CODES for issue in check.issues):
            broken[sample.category] += 1
        else:
            over.append(f"{sample.row}: {check.issues[0].message[:110]} <- {sample.said[-110:]!r}")
    kept = count - broken.total()
    print(f"\nBFCL: {count} accepted calls; {broken.total()} of them break their own declared schema ({dict(broken)})")
    print(f"  of the other {kept}, held back {len(over)} = {len(over) / kept:.2%}")
    for line in over[:cases]:
        print("   ", line)
    tallies = _mutated(passed)
    total = sum(tally.total for tally in tallies.values())
    caught = sum(tally.good for tally in tallies.values())
    named = sum(tally.named for tally in tallies.values())
    print(f"  mutations of the {len(passed)} that pass: {caught}/{total} = {caught / total:.2%} rejected, ", end="")
    print(f"the message names the argument in {named / total:.2%}")
    for kind, tally in tallies.items():
        print(f"    {kind:18} {tally.good:5}/{tally.total:<5} {tally.good / max(tally.total, 1):7.2%}")
        for line in tally.others[:cases]:
            print("       let through:", line)
    return passed


def _mutated(samples: list[Sample]) -> dict[str, Tally]:
    rng = random.Random(20240515)
    tallies: dict[str, Tally] = {kind: Tally() for kind in _MUTATIONS}
    for sample in samples:
        for kind, mutate in _MUTATIONS.items():
            made = mutate(sample, rng)
            if made is None:
                continue
            call, name, about = made
            check = _check(sample, call, name)
            tally = tallies[kind]
            tally.total += 1
            caught = check.status is CallStatus.REJECTED
            tally.good += caught
            tally.named += caught and any(
                about in issue.message or about in (issue.path or "") for issue in check.issues
            )
            if not caught:
                tally.others.append(f"{sample.row} {about}={call.get(about)!r} <- {sample.said[-120:]!r}")
    return tallies


Mutated = tuple[dict[str, Any], str | None, str] | None


def _wrong_type(sample: Sample, rng: random.Random) -> Mutated:
    keys = [key for key, value in sample.call.items() if _type_of(sample, key) and value is not None]
    if not keys:
        return None
    key = rng.choice(keys)
    other: Any = {"unexpected": True} if _type_of(sample, key) != "object" else "a text"
    return {**sample.call, key: other}, None, key


def _type_of(sample: Sample, key: str) -> str | None:
    about = sample.schema.get("properties", {}).get(key, {})
    kind = about.get("type")
    return kind if isinstance(kind, str) else None


def _missing(sample: Sample, rng: random.Random) -> Mutated:
    keys = [key for key in sample.schema.get("required", []) if key in sample.call]
    if not keys:
        return None
    gone = rng.choice(keys)
    return {key: value for key, value in sample.call.items() if key != gone}, None, gone


def _unknown_tool(sample: Sample, rng: random.Random) -> Mutated:
    name = rng.choice([f"{sample.name}_v2", sample.name[:-1] or "x", f"do_{sample.name}"])
    return None if name in sample.names else (sample.call, name, name)


def _surplus(sample: Sample, rng: random.Random) -> Mutated:
    key = rng.choice(["verbose_mode", "extra_notes", "callback_url", "user_token"])
    return None if key in sample.call else ({**sample.call, key: "yes"}, None, key)


def _wrong_enum(sample: Sample, rng: random.Random) -> Mutated:
    keys = [
        key for key in sample.call if isinstance(sample.schema.get("properties", {}).get(key, {}).get("enum"), list)
    ]
    return ({**sample.call, key: "quux_value"}, None, key) if keys and (key := rng.choice(keys)) else None


def _texts(sample: Sample) -> list[str]:
    fields = sample.schema.get("properties", {})
    return [
        key
        for key, value in sample.call.items()
        if isinstance(value, str)
        and _type_of(sample, key) == "string"
        and not {"enum", "format", "pattern", "maxLength"} & set(fields.get(key, {}))
    ]


def _invented(make: Callable[[random.Random], str]) -> Callable[[Sample, random.Random], Mutated]:
    def mutate(sample: Sample, rng: random.Random) -> Mutated:
        keys = _texts(sample)
        if not keys:
            return None
        key = rng.choice(keys)
        return {**sample.call, key: make(rng)}, None, key

    return mutate


def _id(rng: random.Random) -> str:
    return rng.choice(["ORD", "usr_", "RES-", "acct_", "TX"]) + "".join(
        rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=7)
    )


def _url(rng: random.Random) -> str:
    host = rng.choice(["helios.com", "northgate.io", "quillon.com"])
    return f"https://www.{host}/doc/{rng.randint(100, 9999)}"


def _email(rng: random.Random) -> str:
    return (
        f"{rng.choice(['maria', 'j.doe', 'support'])}{rng.randint(10, 99)}@{rng.choice(['veltro', 'omnisource'])}.org"
    )


def _date(sample: Sample, rng: random.Random) -> Mutated:
    keys = [key for key in _texts(sample) if any(c.isdigit() for c in sample.call[key]) and "date" in key.lower()]
    if not keys:
        return None
    key = rng.choice(keys)
    return (
        {**sample.call, key: f"{rng.randint(1971, 1989)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"},
        None,
        key,
    )


def _near_date(sample: Sample, rng: random.Random) -> Mutated:
    """The day moved by 2 to 20 days within its month."""
    keys = [key for key in _texts(sample) if _ISO.fullmatch(sample.call[key])]
    if not keys:
        return None
    key = rng.choice(keys)
    value = sample.call[key]
    day = (int(value[8:]) - 1 + rng.randint(2, 20)) % 28 + 1
    return None if day == int(value[8:]) else ({**sample.call, key: f"{value[:8]}{day:02d}"}, None, key)


def _amount(sample: Sample, rng: random.Random) -> Mutated:
    keys = [key for key, value in sample.call.items() if isinstance(value, int | float) and not isinstance(value, bool)]
    keys = [key for key in keys if "enum" not in sample.schema.get("properties", {}).get(key, {})]
    if not keys:
        return None
    key = rng.choice(keys)
    value = sample.call[key]
    other = value + rng.randint(3, 60) * max(1, int(abs(value)) // 20) + rng.choice([1, 7])
    return {**sample.call, key: other}, None, key


def _wrong_unit(sample: Sample, rng: random.Random) -> Mutated:
    for key, value in sample.call.items():
        fields = sample.schema.get("properties", {}).get(key, {})
        if "unit" in key.lower() and isinstance(value, str) and f" {value.lower()}" in sample.said.lower():
            others = _OTHER_UNITS.get(value.lower().rstrip("s"))
            options = fields.get("enum")
            if others and not key.lower().startswith("to"):
                other = rng.choice([o for o in others if not options or o in options] or others)
                return {**sample.call, key: other}, None, key
    return None


_OTHER_UNITS = {
    "celsius": ["fahrenheit"],
    "fahrenheit": ["celsius"],
    "meter": ["feet", "miles"],
    "km": ["miles"],
    "mile": ["km"],
    "kilometer": ["miles"],
    "feet": ["meters"],
    "foot": ["meters"],
    "inch": ["cm"],
    "cm": ["inch"],
    "kg": ["lb"],
    "pound": ["kg"],
    "kilogram": ["pounds"],
    "m": ["ft"],
}
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_MUTATIONS: dict[str, Callable[[Sample, random.Random], Mutated]] = {
    "wrong type": _wrong_type,
    "missing argument": _missing,
    "surplus argument": _surplus,
    "unknown tool": _unknown_tool,
    "wrong enum value": _wrong_enum,
    "invented id": _invented(_id),
    "invented URL": _invented(_url),
    "invented e-mail": _invented(_email),
    "invented date": _date,
    "day moved": _near_date,
    "invented amount": _amount,
    "wrong unit": _wrong_unit,
}


def airline(data: Path, cases: int) -> None:
    """Prints how many calls of real traces would be held back, and how claimed actions fare."""
    rows = list(_rows(data / "taubench_airline_gpt4o.trajectories.jsonl.gz"))
    names = {call["function"]["name"] for row in rows for m in row["messages"] for call in m.get("tool_calls") or []}
    tools = Toolbox(ToolDeclaration(name=name, parameters={"type": "object"}) for name in names)
    pads = {"think": ToolRule(default=ArgumentRule(tracing=Tracing.OFF))}
    for label, rules in (("every tool traced", Rules()), ("the scratch pad not traced", Rules(tools=pads))):
        total: Counter[bool] = Counter()
        held: Counter[bool] = Counter()
        lines = []
        for row in rows:
            for index, check in _trace_checks(row, tools, rules):
                won = row["reward"] == 1.0
                total[won] += 1
                held[won] += not check.accepted
                if not check.accepted:
                    said = "; ".join(dict.fromkeys(issue.message[:70] for issue in check.issues))
                    lines.append(f"{row['id']} message {index}, reward {row['reward']:g}, {check.tool}: {said}")
        print(
            f"\nairline traces, {label}: held back {held[True]}/{total[True]} = {held[True] / total[True]:.2%} of the ",
            end="",
        )
        print(f"calls in runs that reached their goal, {held[False]}/{total[False]} = ", end="")
        print(f"{held[False] / total[False]:.2%} in others")
        for line in sorted(lines, key=lambda text: "reward 1" not in text)[:cases]:
            print("   ", line)
    for label, lose in (("as they are", False), ("without the calls that changed something", True)):
        found = Counter(
            f"{action.status.value}/{action.grade.value}" for row in rows for action in _trace_actions(row, lose)
        )
        wrong = sum(n for key, n in found.items() if not key.startswith(ActionStatus.DONE.value))
        print(f"  claimed actions, traces {label}: {found.total()} found, {wrong} called false: {dict(found)}")


def _trace_checks(row: dict[str, Any], tools: Toolbox, rules: Rules) -> Iterator[tuple[int, CallCheck]]:
    kinds = {"user": SourceKind.USER, "system": SourceKind.SYSTEM, "tool": SourceKind.TOOL}
    sources = Sources((), _AIRLINE_NOW)
    for index, message in enumerate(row["messages"]):
        for call in message.get("tool_calls") or []:
            made = ToolCall(name=call["function"]["name"], arguments=read_arguments(call["function"]["arguments"]))
            yield index, check_call(made, tools, sources, rules)
        if message["role"] in kinds and message.get("content"):
            sources = sources.append(SourceText(kinds[message["role"]], f"message {index}", message["content"]))


def _trace_actions(row: dict[str, Any], lose: bool) -> Iterator[Any]:
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    for index, message in enumerate(row["messages"]):
        for call in message.get("tool_calls") or []:
            name = call["function"]["name"]
            if not lose or name.split("_")[0] not in ("book", "cancel", "update", "send", "transfer"):
                calls.append(ToolCall(id=str(index), name=name, arguments=read_arguments("{}")))
        if message["role"] == "tool":
            results.append(ToolResult(call_id=str(index - 1), content=(TextPart(text=message["content"]),)))
        elif message["role"] == "assistant" and message.get("content") and not message.get("tool_calls"):
            yield from claimed_actions(message["content"], call_outcomes(calls, results))


def speed(samples: list[Sample]) -> None:
    """Prints microseconds of processor time a call, on calls whose validators are compiled already."""
    chosen = samples[:400]
    for sample in chosen:
        _check(sample, sample.call)
    warm, cold = [], []
    for sample in chosen:
        start = time.thread_time()
        _check(sample, sample.call)
        warm.append(time.thread_time() - start)
        fresh = Sources(SourceText(text.kind, text.id, text.text) for text in sample.sources.texts)
        start = time.thread_time()
        check_call(ToolCall(name=sample.name, arguments=Arguments(value=sample.call)), sample.tools, fresh)
        cold.append(time.thread_time() - start)
    for label, times in (("sources indexed already", warm), ("sources seen for the first time", cold)):
        ordered = sorted(times)
        middle, late = statistics.median(ordered) * 1e6, ordered[int(len(ordered) * 0.95)] * 1e6
        print(f"  microseconds a call, {label}: median {middle:.0f}, 95% below {late:.0f}")


def main() -> None:
    """Reads the arguments and prints the parts in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the tool data")
    parser.add_argument("--cases", type=int, default=0, help="how many cases of each kind to print")
    options = parser.parse_args()
    json_schema_suites(options.data, options.cases)
    passed = bfcl(options.data, options.cases)
    airline(options.data, options.cases)
    print("\nspeed")
    speed(passed)


if __name__ == "__main__":
    main()
