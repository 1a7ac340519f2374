"""The check of a whole corpus: time, memory, what was planted and found, and false alarms.

    python -m benchmarks.corpus [--documents 10000] [--seed 7] [--folder DIR] [--gate] [--once] [--json]

Makes a corpus by a seed: documents of an invented organisation, each on a thing of its own, in Markdown, text, HTML,
DOCX and (with pypdf) PDF. Hundreds of them share each sentence but for names and values, which makes false alarms.
Planted for every 10,000: 300 copies and 200 near copies, 300 older versions, 100 expired documents, 50 that are not in
force yet, and 200 notices that say another value of a thing than its document, in other words. Then checks it in a
process of its own, once anew, once unchanged, and once after a hundredth of it was changed.

`--gate` puts the 100 pairs of `gate/conflicts.jsonl`, written by hand, among a tenth of the documents instead, and
counts how many of them are told.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from tests.corpus import made

from assay.corpus.formats import needs_package

TODAY = date(2026, 6, 1)
_SYLLABLES = (
    "ba",
    "be",
    "bi",
    "bo",
    "bra",
    "da",
    "de",
    "dor",
    "fa",
    "fel",
    "gal",
    "gra",
    "ha",
    "hol",
    "il",
    "jo",
    "ka",
    "kel",
    "lan",
    "lo",
    "mar",
    "mi",
    "na",
    "nor",
    "o",
    "pel",
    "ra",
    "ri",
    "sa",
    "sel",
    "ta",
    "tor",
    "u",
    "va",
    "ven",
    "wil",
)
_KINDS = (
    "hall",
    "workshop",
    "archive",
    "laboratory",
    "library",
    "garden",
    "shelter",
    "kitchen",
    "studio",
    "depot",
    "station",
    "clinic",
    "nursery",
    "harbour",
    "mill",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True)
class Fact:
    """A sentence with a value, in the words of a document and of a notice."""

    document: str
    notice: str
    values: tuple[str, ...]


def facts() -> list[Fact]:
    """What can be said of a thing: `{n}` is its name, `{k}` its kind, `{v}` the value."""
    number = tuple(str(one) for one in range(12, 95, 7))
    month, day = tuple(_MONTHS), tuple(_DAYS)
    return [
        Fact(
            "The {k} {n} has room for {v} visitors at a time.",
            "At most {v} visitors may be in the {k} {n} at once.",
            number,
        ),
        Fact(
            "Entrance to the {k} {n} costs {v} euros for adults.", "Adults pay {v} euros to enter the {k} {n}.", number
        ),
        Fact("The {k} {n} is closed on {v}.", "The {k} {n} does not open on {v}.", day),
        Fact(
            "Keys of the {k} {n} have to be returned within {v} days.",
            "Who borrows keys of the {k} {n} has {v} days to return them.",
            number,
        ),
        Fact(
            "The {k} {n} was built in {v} and belongs to the town.",
            "The town's {k} {n} dates from {v}: it was built in that year.",
            tuple(str(y) for y in range(1880, 2015, 11)),
        ),
        Fact("Repairs of the {k} {n} begin in {v}.", "In {v} the repairs of the {k} {n} will begin.", month),
        Fact("The lease of the {k} {n} runs for {v} months.", "The {k} {n} is leased for {v} months.", number),
        Fact(
            "The {k} {n} is inspected every {v} weeks.",
            "An inspection of the {k} {n} takes place every {v} weeks.",
            number,
        ),
    ]


_PLAIN = (
    "Whoever wants to use it writes to the office, which answers as a rule within {a} working days.",
    "Groups of more than {a} people are asked to announce themselves by telephone.",
    "The staff of {p} look after the building and its equipment.",
    "A deposit of {a} euros is kept until the rooms have been cleaned.",
    "Bicycles can be left in the yard behind the building.",
    "In winter the heating is switched on at {b} in the morning.",
    "The nearest stop is {p}, from where it is a walk of {b} minutes.",
    "Complaints are collected and discussed at the meeting in {m}.",
    "The lights are switched off by a timer after {a} minutes.",
    "Lost property is kept for {a} days and then handed to {p}.",
    "Photographs may be taken, but not with a tripod.",
    "{p} decides on exceptions and tells the applicants in writing.",
)


@dataclass
class Planted:
    """What was put into a corpus on purpose, by paths."""

    copies: set[str] = field(default_factory=set)
    older: set[str] = field(default_factory=set)
    expired: set[str] = field(default_factory=set)
    not_yet: set[str] = field(default_factory=set)
    conflicts: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True)
class Made:
    """A document before it is a file."""

    title: str
    paragraphs: tuple[str, ...]
    told: tuple[tuple[Fact, str], ...]
    name: str
    kind: str


def document(number: int, rng: random.Random, pool: list[Fact]) -> Made:
    """One document on one thing."""
    name = "".join(rng.choice(_SYLLABLES) for _ in range(3)).capitalize() + rng.choice(("", "stead", "ford", "berg"))
    name = f"{name}{_SYLLABLES[number % len(_SYLLABLES)]}"
    kind = rng.choice(_KINDS)
    chosen = [(one, rng.choice(one.values)) for one in rng.sample(pool, 4)]
    said = [fact.document.format(n=name, k=kind, v=value) for fact, value in chosen]
    plain = [
        line.format(
            a=rng.randint(3, 60),
            b=rng.randint(5, 11),
            m=rng.choice(_MONTHS),
            p="".join(rng.choice(_SYLLABLES) for _ in range(3)).capitalize(),
        )
        for line in rng.sample(_PLAIN, 6)
    ]
    paragraphs = (
        " ".join([said[0], *plain[:2]]),
        " ".join([said[1], said[2], plain[2]]),
        " ".join([*plain[3:5], said[3], plain[5]]),
    )
    return Made(f"{kind.capitalize()} {name}", paragraphs, tuple(chosen), name, kind)


class Corpus:
    """Writes documents as files of several kinds, and remembers what was planted."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        """Into an empty folder."""
        self.folder, self.rng, self.planted, self.count = folder, rng, Planted(), 0
        self.kinds = (
            [".md"] * 10
            + [".txt"] * 4
            + [".html"] * 4
            + [".docx"]
            + ([".pdf"] if needs_package(".pdf") is None else [])
        )

    def write(self, title: str, paragraphs: tuple[str, ...], head: dict[str, str] | None = None) -> str:
        """A file; its path within the corpus. One with metadata is Markdown."""
        self.count += 1
        ending = ".md" if head else self.rng.choice(self.kinds)
        place = f"{self.count % 97:02}/d{self.count:06}{ending}"
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_file(ending, title, paragraphs, head or {}))
        return place


def _file(ending: str, title: str, paragraphs: tuple[str, ...], head: dict[str, str]) -> bytes:
    if ending == ".docx":
        return made.docx(made.paragraph(title, "Titel") + "".join(map(made.paragraph, paragraphs)))
    if ending == ".pdf":
        lines = [title, ""]
        for one in paragraphs:
            words, line = one.split(), ""
            for word in words:
                line, lines = (f"{line} {word}".strip(), lines) if len(line) < 80 else (word, [*lines, line])
            lines += [line, ""]
        return made.pdf([lines], title)
    if ending == ".html":
        body = "".join(f"<p>{one}</p>" for one in paragraphs)
        return f"<!doctype html><title>{title}</title><body><nav>Home</nav><h1>{title}</h1>{body}".encode()
    front = "".join(f"{name}: {value}\n" for name, value in head.items())
    front = f"---\n{front}---\n" if head else ""
    mark = "# " if ending == ".md" else ""
    body = "\n\n".join(paragraphs)
    return f"{front}{mark}{title}\n\n{body}\n".encode()


def write_corpus(folder: Path, size: int, seed: int) -> Planted:
    """So many documents with what is planted in them."""
    rng = random.Random(seed)
    corpus, pool = Corpus(folder, rng), facts()
    share = size / 10_000
    wanted = {
        name: round(count * share)
        for name, count in (
            ("copy", 300),
            ("near", 200),
            ("older", 300),
            ("expired", 100),
            ("not_yet", 50),
            ("conflict", 200),
        )
    }
    jobs = [name for name, count in wanted.items() for _ in range(count)]
    two = sum(name not in {"expired", "not_yet"} for name in jobs)  # of these two files are written
    jobs += ["plain"] * (size - len(jobs) - two)
    rng.shuffle(jobs)
    for number, job in enumerate(jobs):
        _plant(corpus, document(number, rng, pool), job, rng)
    return corpus.planted


def _plant(corpus: Corpus, one: Made, job: str, rng: random.Random) -> None:
    planted = corpus.planted
    if job == "expired":
        planted.expired.add(
            corpus.write(one.title, one.paragraphs, {"valid_until": f"{rng.randint(2019, 2025)}-03-31"})
        )
    elif job == "not_yet":
        planted.not_yet.add(
            corpus.write(one.title, one.paragraphs, {"effective_date": f"2027-{rng.randint(1, 9):02}-01"})
        )
    elif job == "older":
        fact, value = one.told[0]
        other = rng.choice([v for v in fact.values if v != value])
        changed = (one.paragraphs[0].replace(value, other, 1), *one.paragraphs[1:])
        number = rng.randint(1, 8)
        planted.older.add(corpus.write(f"{one.title} v{number}", changed))
        corpus.write(f"{one.title} v{number + 1}", one.paragraphs)
    else:
        path = corpus.write(one.title, one.paragraphs)
        if job == "copy":
            planted.copies.add(corpus.write(f"Copy of {one.title}", one.paragraphs))
        elif job == "near":
            near = (one.paragraphs[0].replace("as a rule", "usually"), *one.paragraphs[1:])
            planted.copies.add(corpus.write(one.title, near))
        elif job == "conflict":
            fact, value = rng.choice(one.told)
            other = rng.choice([v for v in fact.values if v != value])
            text = fact.notice.format(n=one.name, k=one.kind, v=other)
            about = "Please note the following for the coming season. "
            notice = corpus.write(
                f"Notice on the {one.kind} {one.name}", (f"{about}{text}", "The office answers questions.")
            )
            planted.conflicts.add((min(path, notice), max(path, notice)))


# Measuring


def _checked(folder: Path, state: Path) -> dict[str, Any]:
    """One check in a process of its own."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.corpus", "--check", str(folder), "--state", str(state)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return {**told, "wall_s": round(time.monotonic() - begun, 1)}


def check_once(folder: Path, state: Path) -> None:
    """Checks a folder and prints the report with what it took."""
    from assay import Guard
    from assay.corpus import CorpusOptions, check_corpus

    steps: dict[str, float] = {}
    begun = time.monotonic()

    def progress(step: str, done: int, total: int | None) -> None:
        del done, total
        steps[step] = round(time.monotonic() - begun, 1)

    options = CorpusOptions(as_of=TODAY, most=100_000, processes=2)
    report = check_corpus(folder, Guard("general"), state, options, progress=progress)
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    json.dump(
        {
            "report": report.model_dump(mode="json", exclude={"versions"}),
            "steps": steps,
            "cpu_s": round(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, 1),
            "peak_mb": round(own.ru_maxrss / 1024),
            "reader_mb": round(children.ru_maxrss / 1024),
            "state_mb": round(state.stat().st_size / 1e6),
        },
        sys.stdout,
    )


def scores(report: dict[str, Any], planted: Planted) -> Iterator[tuple[str, int, int, int]]:
    """For each kind: planted, found of these, and told besides."""
    copies = {copy["document"]: one["document"] for one in report["duplicates"] for copy in one["copies"]}
    pairs = {*copies, *copies.values()}
    # Of two that say the same either may stay.
    found = sum(one in pairs for one in planted.copies)
    yield "copies and near copies", len(planted.copies), found, report["counts"]["duplicate"] - found
    by = {
        kind: {one["document"] for one in report["out_of_force"] if one["standing"] == kind}
        for kind in ("superseded", "expired", "not_yet_in_force")
    }
    for words, kind, wanted in (
        ("older versions", "superseded", planted.older),
        ("expired", "expired", planted.expired),
        ("not yet in force", "not_yet_in_force", planted.not_yet),
    ):
        yield words, len(wanted), len(by[kind] & wanted), len(by[kind] - wanted)
    told = {(one["first"], one["second"]) for one in report["conflicts"]}
    yield "contradictions", len(planted.conflicts), len(told & planted.conflicts), len(told - planted.conflicts)


def gate_corpus(folder: Path, size: int, seed: int) -> Planted:
    """The pairs written by hand among documents with nothing planted."""
    rng = random.Random(seed)
    corpus, pool = Corpus(folder, rng), facts()
    for number in range(size):
        _plant(corpus, document(number, rng, pool), "plain", rng)
    planted = Planted()
    lines = Path(__file__).with_name("gate").joinpath("conflicts.jsonl").read_text(encoding="utf-8").splitlines()
    for number, case in enumerate(map(json.loads, lines)):
        names = []
        for place, item in enumerate(case["evidence"]):
            title = f"# {item['title']}\n\n" if item.get("title") else ""
            names.append(f"p{number:03}-{place}.md")
            (folder / names[-1]).write_text(title + item["text"], encoding="utf-8")
        planted.conflicts.add((min(names[:2]), max(names[:2])))
    return planted


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="where the corpus is made; a temporary folder by default")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--once", action="store_true", help="check anew alone")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--state", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.check is not None:
        check_once(given.check, given.state)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)) / "corpus"
        state = folder.with_name("state.sqlite")
        size = given.documents // 10 if given.gate else given.documents
        planted = (gate_corpus if given.gate else write_corpus)(folder, size, given.seed)
        runs = {"anew": _checked(folder, state)}
        first = runs["anew"]["report"]
        if not given.gate and not given.once:
            runs["unchanged"] = _checked(folder, state)
            for path in sorted(folder.rglob("*.md"))[: size // 100]:
                path.write_text(
                    path.read_text(encoding="utf-8") + "\nThe yard is swept every evening.\n", encoding="utf-8"
                )
            runs["a hundredth changed"] = _checked(folder, state)
        found = list(scores(first, planted))
        if given.json:
            print(
                json.dumps(
                    {
                        "runs": {n: {k: v for k, v in r.items() if k != "report"} for n, r in runs.items()},
                        "found": found,
                    }
                )
            )
            return
        print(f"{first['files']['found']:,} documents, {first['files']['characters']:,} characters, seed {given.seed}")
        for name, run in runs.items():
            print(
                f"{name}: {run['wall_s']} s, {run['cpu_s']} s of processors, at most {run['peak_mb']} MB (readers "
                f"{run['reader_mb']} MB), state {run['state_mb']} MB, "
                f"read {run['report']['files']['read']:,}; {run['steps']}"
            )
        for words, wanted, hit, besides in found:
            if wanted or besides:
                print(f"{words}: planted {wanted}, found {hit}, told besides {besides}")


if __name__ == "__main__":
    main()
