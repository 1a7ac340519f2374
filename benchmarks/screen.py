"""The retrieval gate: relevance, conflicts, versions and speed.

    python -m benchmarks.screen [--sections relevance,conflicts,versions,speed] [--data ../shared/data] [--cases]

relevance: questions of the held-out written scenarios, and with `--data` of public sets, over pools of passages of
    other questions (`train.fit_relevance`): nDCG@5 and AUROC of BM25, the bare cross-encoder and the fitted model.
conflicts: the 100 pairs of `gate/conflicts.jsonl`, which disagree, the 40 of `gate/screen_pairs.jsonl`, half of which
    agree and of which only counts are looked at, with `--data` sentences with a planted edit beside
    held-out documents; false alarms on the passages of held-out scenarios that are not about one, with a right claim
    beside them (conflicts with the claim), and on the unedited sentences.
versions: 500 generated cases whose metadata say what holds, in the spellings of several frameworks, and 300 whose
    titles, file names, stamps or wording alone do.
speed: milliseconds for 20 passages, and how the time grows up to 200, each text new to the process.
"""

import argparse
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from train.fit_screen_conflicts import Case, planted_cases, written_cases
from train.scenario_rows import batches, evidence_of

from assay import Guard
from assay.guard.screening.versions import versions_of
from assay.policy import ScreenPolicy, preset
from assay.retrieve.documents import read_passages
from assay.schema import Evidence
from assay.schema.screening import Standing

TODAY = date(2026, 6, 1)
SEED = 17
_GATE = Path(__file__).with_name("gate")
_UNSEEN = "unseen "
"""How the kinds of the pairs begin that are for counting alone: no misses of theirs are printed."""


@dataclass(frozen=True)
class Versioned:
    """Passages of which some are not in force, and how each stands."""

    kind: str
    passages: list[dict[str, Any]]
    standing: dict[str, Standing]


def texts() -> list[str]:
    """Passages of the held-out scenarios, which nothing of the gate was fitted on."""
    found = [item.text for some in batches("test").values() for one in some for item in evidence_of(one)]
    return sorted({text for text in found if 80 <= len(text) <= 1_500})


_VERSION_FIELDS = ("version", "doc_version", "documentVersion", "Version", "revision", "version_number", "rev")
_FROM_FIELDS = (
    "effective_date",
    "effectiveDate",
    "valid_from",
    "validFrom",
    "effective-from",
    "Effective Date",
    "start_date",
)
_UNTIL_FIELDS = (
    "expiry_date",
    "expiryDate",
    "expires",
    "expires_at",
    "valid_until",
    "validTo",
    "expiration_date",
    "end_date",
)
_DOCUMENT_FIELDS = ("document_id", "documentId", "Document ID", "document-id", "ref_doc_id", "doc_id")


def _written(day: date, rng: random.Random) -> Any:
    """A day as metadata have it."""
    return rng.choice(
        [
            day.isoformat(),
            f"{day.isoformat()}T09:30:00Z",
            f"{day.day} {day:%B} {day.year}",
            day,
            f"{day:%B} {day.day}, {day.year}",
            int((day - date(1970, 1, 1)).total_seconds()) + 36_000,
            f"D:{day:%Y%m%d}093000+00'00'",
        ]
    )


def _two_versions(rng: random.Random) -> tuple[Any, Any]:
    major, minor = rng.randint(1, 12), rng.randint(0, 9)
    return rng.choice(
        [
            (f"{major}.{minor}", f"{major + 1}.0"),
            (f"v{major}.{minor}", f"v{major}.{minor + 1}"),
            (major, major + 1),
            (float(f"{major}.{minor}"), float(major + 2)),
            (f"Rev. {chr(64 + major)}", f"Rev. {chr(65 + major)}"),
            (f"{major}.{minor}.9", f"{major}.{minor}.10"),
            (f"{major + 1}.0-rc1", f"{major + 1}.0"),
            ("2023-11", "2024-02"),
            (f"version {major}", f"version {major + 1}"),
        ]
    )


def with_metadata(count: int, rng: random.Random) -> Iterator[Versioned]:
    """Cases whose metadata say what holds: in force, replaced, expired, not yet in force, or of two documents."""
    pool = texts()
    kinds = ("version", "effective", "expired", "not yet", "two documents", "same version", "coming version")
    for number in range(count):
        kind = kinds[number % len(kinds)]
        one, other = rng.sample(pool, 2)
        name = rng.choice(_DOCUMENT_FIELDS)
        days = sorted(TODAY - timedelta(days=rng.randint(30, 3_000)) for _ in range(2))
        if days[0] == days[1]:
            days[0] -= timedelta(days=1)
        first: dict[str, Any] = {name: f"doc-{number}"}
        second: dict[str, Any] = {name: f"doc-{number}"}
        standing = {"a": Standing.IN_FORCE, "b": Standing.IN_FORCE}
        field = rng.choice(_VERSION_FIELDS)
        since, until = rng.choice(_FROM_FIELDS), rng.choice(_UNTIL_FIELDS)
        if kind in {"version", "coming version", "two documents"}:
            first[field], second[field] = _two_versions(rng)
        if kind == "version":
            standing["a"] = Standing.SUPERSEDED
        elif kind == "effective":
            first[since], second[since] = (_written(day, rng) for day in days)
            standing["a"] = Standing.SUPERSEDED
        elif kind == "expired":
            first[until] = _written(days[0], rng)
            standing["a"] = Standing.EXPIRED
            second[name] = f"doc-{number}-other"
        elif kind == "not yet":
            first[since] = _written(TODAY + timedelta(days=rng.randint(2, 900)), rng)
            standing["a"] = Standing.NOT_YET
            second[name] = f"doc-{number}-other"
        elif kind == "coming version":
            second[since] = _written(TODAY + timedelta(days=rng.randint(2, 900)), rng)
            standing["b"] = Standing.NOT_YET
        elif kind == "two documents":
            second[name] = f"doc-{number}-other"
        else:
            first[field] = second[field] = _two_versions(rng)[0]
        made = [_passage("a", one, first, rng), _passage("b", other, second, rng)]
        rng.shuffle(made)
        yield Versioned(kind, made, standing)


def _passage(name: str, text: str, metadata: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A passage in the form of one of the frameworks."""
    shape = rng.choice(("langchain", "haystack", "flat", "llama"))
    if shape == "langchain":
        return {"id": name, "page_content": text, "metadata": {"source": "kb", "page": 3, **metadata}}
    if shape == "haystack":
        return {"id": name, "content": text, "meta": {"split_id": 0, **metadata}}
    if shape == "llama":
        return {"id": name, "text": text, "metadata": {"file_type": "text/markdown", **metadata}}
    return {"id": name, "text": text, **metadata}


_NAMES = (
    "Leave policy",
    "Travel expenses guide",
    "Security handbook",
    "Price list",
    "Warranty terms",
    "Data protection notice",
    "Onboarding checklist",
    "Fire safety rules",
    "Admission rules",
    "Tenancy agreement",
    "Style guide",
)


def without_metadata(count: int, rng: random.Random) -> Iterator[Versioned]:
    """Cases in which titles, file names, stamps or wording say what holds."""
    pool = texts()
    kinds = (
        "title version",
        "title year",
        "file name",
        "stamp",
        "content and stamp",
        "replaces",
        "marked",
        "draft",
        "two documents",
        "two titles",
    )
    for number in range(count):
        kind = kinds[number % len(kinds)]
        old = rng.choice(pool)
        new = _edited(old, rng)
        name, year = rng.choice(_NAMES), rng.randint(2016, 2024)
        low, high = f"{rng.randint(1, 4)}.{rng.randint(0, 9)}", f"{rng.randint(5, 9)}.{rng.randint(0, 9)}"
        a: dict[str, Any] = {"id": "a", "text": old}
        b: dict[str, Any] = {"id": "b", "text": new}
        standing = {"a": Standing.SUPERSEDED, "b": Standing.IN_FORCE}
        if kind == "title version":
            form = rng.choice(("{name} v{v}", "{name} (version {v})", "{name} v{v}, {y}", "{name}, rev. {v}"))
            a["title"], b["title"] = form.format(name=name, v=low, y=year), form.format(name=name, v=high, y=year + 2)
        elif kind == "title year":
            a["title"], b["title"] = f"{name} {year}", f"{name} {year + 1}"
        elif kind == "file name":
            slug = name.lower().replace(" ", rng.choice("_-"))
            a["source"], b["source"] = f"kb/{slug}_v{low}.pdf", f"kb/{slug}_v{high}.pdf"
        elif kind == "stamp":
            a["title"] = b["title"] = name
            a["text"], b["text"] = f"Last updated: 3 June {year}.\n{old}", f"Last updated: 9 May {year + 1}.\n{new}"
        elif kind == "content and stamp":
            a["text"], b["text"] = f"Effective 1 March {year}.\n{old}", f"Effective 1 April {year + 1}.\n{new}"
        elif kind == "replaces":
            a["title"], b["title"] = name, f"New {name.lower()}"
            b["text"] = f"This document replaces the {name.lower()}.\n{new}"
        elif kind == "marked":
            a["title"], b["title"] = f"{name} [superseded]", rng.choice([n for n in _NAMES if n != name])
            standing["a"] = Standing.EXPIRED
        elif kind == "draft":
            a["title"], b["title"] = f"Draft {name.lower()}", name
        else:
            b["text"] = rng.choice([text for text in pool if text != old])
            standing["a"] = Standing.IN_FORCE
            if kind == "two titles":
                other = rng.choice([n for n in _NAMES if n != name])
                a["title"], b["title"] = f"{name} v{low}", f"{other} v{high}"
        made = [a, b]
        rng.shuffle(made)
        yield Versioned(kind, made, standing)


def _edited(text: str, rng: random.Random) -> str:
    """The text with one number or word another one, as versions have it."""
    words = text.split(" ")
    numbers = [n for n, word in enumerate(words) if word.isdigit()]
    at = rng.choice(numbers) if numbers else rng.randrange(len(words))
    words[at] = str(int(words[at]) + rng.randint(1, 9)) if numbers else "otherwise"
    return " ".join(words)


def versions(*, cases: bool) -> None:
    """Print how many generated cases are right in all."""
    rng = random.Random(SEED)
    for name, made in (("with metadata", with_metadata(500, rng)), ("without", without_metadata(300, rng))):
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for case in made:
            found = versions_of(read_passages(case.passages), TODAY)
            got = {name: known.standing for name, known in found.of.items()}
            total[case.kind] += 1
            right[case.kind] += got == case.standing
            if cases and got != case.standing:
                print(case.kind, case.passages, got)
        print(f"versions {name}: {right.total()} of {total.total()}")
        print("  ", {kind: f"{right[kind]} of {count}" for kind, count in total.items()})


def _guard(**settings: Any) -> Any:
    screen = ScreenPolicy(minimum_relevance=0.0, confident_relevance=0.0, **settings)
    return Guard(preset("general").model_copy(update={"screen": screen}))


def conflicts(data: Path | None, *, cases: bool) -> None:
    """Print conflicts found and false alarms, by kind."""
    guard = _guard(duplicates="keep", language="any", injections="keep")
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case in _conflict_cases(data):
        question = case.question or case.passages[-1].text[:200]
        told = [
            one
            for one in guard.screen(question, case.passages, as_of=TODAY).conflicts
            if case.about is None or case.about in (one.first, one.second)
        ]
        kind = f"{case.kind}, {'disagree' if case.disagrees else 'agree'}"
        total[kind] += 1
        found[kind] += bool(told)
        if cases and bool(told) != case.disagrees and not case.kind.startswith(_UNSEEN):
            print(kind, [item.text[:300] for item in case.passages], told)
    for kind in sorted(total):
        print(f"conflicts {kind:40} told in {found[kind]} of {total[kind]}")
    for start, side in ((_UNSEEN, "disagree"), (_UNSEEN, "agree"), ("", "disagree"), ("", "agree")):
        some = [kind for kind in total if kind.startswith(start) and kind.endswith(f", {side}")]
        print(
            f"conflicts of all {start}pairs that {side}: {sum(found[k] for k in some)} of {sum(total[k] for k in some)}"
        )


def _conflict_cases(data: Path | None) -> Iterator[Case]:
    with (_GATE / "conflicts.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            items = tuple(Evidence(**one) for one in row["evidence"])
            yield Case(f"by hand {row['kind']}", items, row["claim"], True)  # what is asked: whether it is so
    with (_GATE / "screen_pairs.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            items = tuple(Evidence(**one) for one in row["evidence"])
            yield Case(f"{_UNSEEN}pairs", items, row["question"], row["disagree"])
    seen: set[str] = set()
    beside = 0
    for case in written_cases("test"):
        own = case.passages[:-1]
        key = "\n".join(item.text for item in own)
        if key not in seen and len(own) > 1:
            seen.add(key)
            yield Case("passages of one scenario", own, case.question, False)
        if not case.disagrees and beside < 200:
            beside += 1
            yield replace(case, kind="right claim beside them", about=case.passages[-1].id)
    if data is not None:
        yield from planted_cases(data, "test", 15)


def relevance(data: Path | None) -> None:
    """Print nDCG@5 and AUROC beside BM25 and the bare cross-encoder; nothing here was fitted on."""
    from train.fit_relevance import features_of, pools, public_questions, report, written_questions
    from train.scenario_rows import WEIGHTS

    from assay.models.cross_encoder import OnnxCrossEncoder
    from assay.retrieve.relevance import load_relevance

    scorer = OnnxCrossEncoder.load(WEIGHTS)
    asked = [*(public_questions(data) if data is not None else ()), *written_questions()]
    rows = [
        (question, one, features)
        for question, pool in pools([one for one in asked if one.test])
        for one, features in zip(pool, features_of(question.text, [p.text for p in pool], scorer), strict=True)
    ]
    report(rows, load_relevance())


def speed() -> None:
    """Print milliseconds by the clock and of the processor, each run over texts that are new to the process."""
    guard = Guard("general")
    pool = texts()
    rng = random.Random(SEED)
    asked = [one["question"] for some in batches("test").values() for one in some if one.get("question")]
    guard.screen(asked[0], pool[:20], as_of=TODAY)
    for count, runs in ((20, 7), (50, 3), (100, 3), (200, 3)):
        clock: list[float] = []
        work: list[float] = []
        for _ in range(runs):
            chosen = [f"{text[:900]} {rng.randint(10**6, 10**7)}" for text in rng.sample(pool, min(count, len(pool)))]
            begun, spent = time.perf_counter(), time.process_time()
            guard.screen(rng.choice(asked), chosen, as_of=TODAY)
            clock.append((time.perf_counter() - begun) * 1_000)
            work.append((time.process_time() - spent) * 1_000)
        print(
            f"speed {count:4} passages: median {statistics.median(clock):7.0f} ms, best {min(clock):7.0f} ms, "
            f"processor {statistics.median(work):7.0f} ms"
        )


def main() -> None:
    """Run the sections that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", default="relevance,conflicts,versions,speed")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cases", action="store_true", help="print each case that went wrong")
    given = parser.parse_args()
    sections: dict[str, Callable[[], None]] = {
        "relevance": lambda: relevance(given.data),
        "conflicts": lambda: conflicts(given.data, cases=given.cases),
        "versions": lambda: versions(cases=given.cases),
        "speed": speed,
    }
    for name in given.sections.split(","):
        sections[name]()


if __name__ == "__main__":
    main()
