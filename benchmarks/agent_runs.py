"""Whole agent runs on public traces: honest answers let out, wrong ones found, and why the others are held back.

    python -m benchmarks.agent_runs --data DIR/tool [--runs N] [--policy NAME] [--sources tools,user,...]
        [--claim-free] [--cases]

The runs of `taubench_airline_gpt4o` that reached their goal, each cut behind its last answer and checked with
`guard.check_run`, every tool declared without a schema of its arguments. Reaching the goal says that the right rows
were written; it is not a promise that every sentence of the last answer is true, so `--cases` prints every statement
that was held back, to be read by a person.

The wrong answers are made of the same ones, one change each: a number, an amount, a date, a time, an identifier, a
name or a status replaced by another one (of the run itself where it has one, which is the harder case), or an action
claimed that no call did. What counts is whether the changed answer is emitted. An answer that was held back already
cannot leak, so the changed statement is counted by itself too: passed or not, whatever else the answer says.
"""

import argparse
import gzip
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay import Guard
from assay.guard.runs.evidence import DEFAULT_SOURCES
from assay.schema import Action, ClaimReport, ClaimStatus, HallucinationReport
from assay.schema.run.model import ToolDeclaration

_FILE = "taubench_airline_gpt4o.trajectories.jsonl.gz"
_NOW = datetime(2024, 5, 15, 15, 0, tzinfo=UTC)
"""What the system prompt of the traces says is now."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One run, cut behind its last answer."""

    id: str
    messages: list[dict[str, Any]]

    @property
    def answer(self) -> str:
        """What the run ends with."""
        return str(self.messages[-1]["content"])

    @property
    def seen(self) -> str:
        """All that the run saw, for values that another answer may name."""
        return "\n".join(str(m.get("content") or "") for m in self.messages if m["role"] in ("tool", "user"))

    def saying(self, answer: str) -> "Trace":
        """The run with another answer."""
        return Trace(self.id, [*self.messages[:-1], {**self.messages[-1], "content": answer}])


def traces(data: Path) -> tuple[list[Trace], list[ToolDeclaration]]:
    """The runs that reached their goal, and the tools that any run calls."""
    with gzip.open(data / _FILE, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    names = {call["function"]["name"] for row in rows for m in row["messages"] for call in m.get("tool_calls") or []}
    found = []
    for row in rows:
        said = [
            index
            for index, m in enumerate(row["messages"])
            if m["role"] == "assistant" and (m.get("content") or "").strip() and not m.get("tool_calls")
        ]
        if row["reward"] == 1.0 and said:
            found.append(Trace(row["id"], row["messages"][: said[-1] + 1]))
    return found, [ToolDeclaration(name=name, parameters={"type": "object"}) for name in sorted(names)]


@dataclass(frozen=True, slots=True)
class Change:
    """A wrong answer, and where it is wrong."""

    kind: str
    answer: str
    start: int
    end: int
    was: str


def _swap(kind: str, answer: str, start: int, end: int, other: str) -> Change:
    return Change(kind, answer[:start] + other + answer[end:], start, start + len(other), answer[start:end])


def _replace(
    kind: str, pattern: str, make: Callable[[re.Match[str], Trace, random.Random], str | None]
) -> Callable[[Trace, random.Random], Change | None]:
    """A change of one match of a pattern, drawn."""
    compiled = re.compile(pattern)

    def change(trace: Trace, rng: random.Random) -> Change | None:
        matches = list(compiled.finditer(trace.answer))
        rng.shuffle(matches)
        for match in matches:
            other = make(match, trace, rng)
            if other is not None and other != match.group():
                return _swap(kind, trace.answer, match.start(), match.end(), other)
        return None

    return change


def _of_run(match: re.Match[str], trace: Trace) -> list[str]:
    """Other values of the same form that the run saw and the answer does not name."""
    found = {m.group() for m in match.re.finditer(trace.seen)} - {m.group() for m in match.re.finditer(trace.answer)}
    return sorted(found)


def _another(match: re.Match[str], trace: Trace, rng: random.Random) -> str | None:
    others = _of_run(match, trace)
    return rng.choice(others) if others else None


def _made_up_id(match: re.Match[str], _: Trace, rng: random.Random) -> str:
    return "".join(
        rng.choice("BCDFGHJKLMNPQRSTVWXYZ") if c.isalpha() else rng.choice("23456789") for c in match.group()
    )


def _number(match: re.Match[str], _: Trace, rng: random.Random) -> str:
    value = int(match.group().replace(",", ""))
    other = value + rng.choice([1, 2, 3, 5]) * max(1, 10 ** (len(str(value)) - 2))
    return f"{other:,}" if "," in match.group() else str(other)


def _date(match: re.Match[str], _: Trace, rng: random.Random) -> str:
    day = (int(match["day"]) - 1 + rng.randint(1, 9)) % 28 + 1
    return (
        match.group()[: match.start("day") - match.start()]
        + (f"{day:02d}" if (len(match["day"]) == 2 and match["day"][0] == "0") or "-" in match.group() else str(day))
        + match.group()[match.end("day") - match.start() :]
    )


def _clock(match: re.Match[str], _: Trace, rng: random.Random) -> str:
    return f"{(int(match.group()[:-3]) + rng.randint(1, 9)) % 24:02d}{match.group()[-3:]}"


_STATUS = {
    "cancelled": "upgraded",
    "canceled": "upgraded",
    "upgraded": "cancelled",
    "updated": "cancelled",
    "business class": "economy class",
    "economy class": "business class",
    "basic economy": "business",
    "gold": "silver",
    "silver": "regular",
    "regular": "gold",
    "non-refundable": "fully refundable",
    "credit card": "gift card",
    "gift card": "credit card",
    "not purchased": "purchased",
    "no longer": "still",
    "delayed": "cancelled",
    "unable to": "able to",
    "not permitted": "permitted",
    "does not cover": "covers",
    "is beyond": "is within",
    "one-way": "round-trip",
    "round-trip": "one-way",
    "round trip": "one way",
}


def _status(match: re.Match[str], _: Trace, __: random.Random) -> str:
    other = _STATUS[match.group().lower()]
    return other.capitalize() if match.group()[0].isupper() else other


_DEEDS = (
    ("certificate", "I have sent a $200 travel certificate to your account."),
    ("cancel", "Your other reservation has also been cancelled."),
    ("baggage", "I have added two free checked bags to your reservation."),
    ("refund", "I have refunded your hotel costs to your credit card."),
    ("passenger", "The date of birth of the passenger has been corrected."),
)
"""Actions, and a part of the names of calls that would make them true."""


def _deed(trace: Trace, rng: random.Random) -> Change | None:
    """An action that no call did, said before the first blank line or at the end."""
    called = " ".join(call["function"]["name"] for m in trace.messages for call in m.get("tool_calls") or [])
    free = [said for part, said in _DEEDS if part not in called]
    said = rng.choice(free)
    at = trace.answer.find("\n\n")
    at = len(trace.answer) if at < 0 else at
    return _swap("action not done", trace.answer, at, at, f" {said}")


_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAY = rf"\b(?:\d{{4}}-\d\d-(?P<day>\d\d)|(?:{_MONTHS}) (?P<d2>\d{{1,2}}))\b"
_CHANGES: dict[str, Callable[[Trace, random.Random], Change | None]] = {
    "amount": _replace("amount", r"(?<=\$)\d[\d,]*", _number),
    "amount of the run": _replace("amount of the run", r"(?<![\w.-])\d{2,5}(?![\w-])(?<!2024)", _another),
    "count": _replace("count", r"(?<![\w$:.,/-])\d{1,2}(?![\w:.,/-]|\.\s)", _number),
    "ISO date": _replace("ISO date", r"\b\d{4}-\d\d-(?P<day>\d\d)\b", _date),
    "date in words": _replace("date in words", rf"\b(?:{_MONTHS}) (?P<day>\d{{1,2}})\b", _date),
    "time": _replace("time", r"\b\d\d:\d\d\b", _clock),
    "invented id": _replace("invented id", r"\b(?=[A-Z]*\d)[A-Z\d]{6}\b", _made_up_id),
    "id of the run": _replace("id of the run", r"\b(?=[A-Z]*\d)[A-Z\d]{6}\b", _another),
    "place": _replace("place", r"\b(?:[A-Z]{3})\b(?<!HAT)(?<!EST)(?<!USD)", _another),
    "name": _replace(
        "name",
        r"\b(?:Mei|Garcia|Lee|Smith|Ivan|Omar|Rossi|Noah|Muller|Aarav|Raj|Sofia|Kim|Li)\b",
        lambda _, __, rng: rng.choice(["Petra", "Lindqvist", "Tomasz"]),
    ),
    "status": _replace("status", "(?i)" + "|".join(rf"\b{re.escape(word)}\b" for word in _STATUS), _status),
    "action not done": _deed,
}


@dataclass(slots=True)
class Tally:
    """What became of changed answers of one kind."""

    total: int = 0
    leaked: int = 0
    """Whole answers that were emitted."""
    passed: int = 0
    """Changed statements that passed by themselves."""
    of_emitted: int = 0
    """Of answers that are emitted as they are."""
    cases: list[str] = field(default_factory=list)


class Checks:
    """Runs checked under one setting."""

    def __init__(self, guard: Guard, tools: list[ToolDeclaration], sources: tuple[str, ...], claim_free: bool) -> None:
        self._guard, self._tools, self._sources, self._claim_free = guard, tools, sources, claim_free

    def of(self, trace: Trace) -> HallucinationReport:
        """The report of a run."""
        return self._guard.check_run(
            trace.messages, tools=self._tools, now=_NOW, sources=self._sources, claim_free=self._claim_free
        )


def honest(checks: Checks, runs: list[Trace], cases: bool) -> set[str]:
    """Prints what became of the honest answers; the names of those that were emitted."""
    actions: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    statements: Counter[str] = Counter()
    emitted = set()
    for trace in runs:
        report = checks.of(trace)
        actions[report.action.value] += 1
        if report.action is Action.EMIT:
            emitted.add(trace.id)
        reasons.update({re.sub(r"\d[\d.,]*", "N", reason) for reason in report.decision.reasons})
        statements.update(claim.status.value for claim in report.claims)
        if cases and report.action is not Action.EMIT:
            print(f"--- {trace.id} {report.action.value}: {' | '.join(report.decision.reasons)[:300]}")
            for claim in _held(report):
                print(f"    {claim.verdict.value} {claim.score or 0:.2f} {claim.text[:200]!r}")
                for span in claim.evidence_spans[:1]:
                    print(f"        {span.relation} {span.evidence_id}: {span.text[:160]!r}")
    print(f"honest answers: {len(runs)}; {dict(actions)}; statements {dict(statements)}")
    for reason, count in reasons.most_common():
        print(f"  {count:4} {reason}")
    return emitted


def _held(report: HallucinationReport) -> list[ClaimReport]:
    return [c for c in report.claims if c.status not in (ClaimStatus.PASS, ClaimStatus.NOT_CHECKABLE)]


def wrong(checks: Checks, runs: list[Trace], emitted: set[str], cases: bool) -> None:
    """Prints how many changed answers were emitted, and how many changed statements passed."""
    rng = random.Random(20240515)
    tallies = {kind: Tally() for kind in _CHANGES}
    for trace, change in _changes(runs, rng):
        report = checks.of(trace.saying(change.answer))
        tally = tallies[change.kind]
        tally.total += 1
        tally.of_emitted += trace.id in emitted
        touched = [c for c in report.claims if c.span.start < change.end and c.span.end > change.start]
        held = [c for c in touched if c.status not in (ClaimStatus.PASS, ClaimStatus.NOT_CHECKABLE)]
        leaked = report.action is Action.EMIT
        tally.leaked += leaked
        tally.passed += not held
        if not held:
            words = change.answer[max(0, change.start - 70) : change.end + 30].replace("\n", " ")
            tally.cases.append(f"{trace.id}{' LEAKED' if leaked else ''} was {change.was!r}: ...{words!r}")
    print("wrong answers: kind, made, emitted (of those whose honest twin is emitted), changed statements that passed")
    for kind, tally in tallies.items():
        print(f"  {kind:20} {tally.total:4} {tally.leaked:4} of {tally.of_emitted:<4} {tally.passed:4}")
        for line in tally.cases if cases else []:
            print("       ", line)
    every = tallies.values()
    print(
        f"  {'all':20} {sum(t.total for t in every):4} {sum(t.leaked for t in every):4} of "
        f"{sum(t.of_emitted for t in every):<4} {sum(t.passed for t in every):4}"
    )


def _changes(runs: list[Trace], rng: random.Random) -> Iterator[tuple[Trace, Change]]:
    for trace in runs:
        for change in _CHANGES.values():
            made = change(trace, rng)
            if made is not None:
                yield trace, made


def main() -> None:
    """Reads the arguments and prints both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the tool data")
    parser.add_argument("--runs", type=int, help="how many runs; all by default")
    parser.add_argument("--policy", default="general")
    parser.add_argument("--sources", default=",".join(DEFAULT_SOURCES), help="what of a run is evidence")
    parser.add_argument("--claim-free", action="store_true", help="answers without a claim may go out")
    parser.add_argument("--cases", action="store_true", help="print each statement that is not as wanted")
    parser.add_argument("--parts", default="honest,wrong")
    options = parser.parse_args()
    runs, tools = traces(options.data)
    runs = runs[: options.runs]
    checks = Checks(Guard(policy=options.policy), tools, tuple(options.sources.split(",")), options.claim_free)
    begun = time.process_time()
    emitted = honest(checks, runs, options.cases)
    if "wrong" in options.parts:
        wrong(checks, runs, emitted, options.cases)
    print(f"{time.process_time() - begun:.0f} s of processor time")


if __name__ == "__main__":
    main()
