"""Conflicts planted in real documents: how many a screening finds, and how often passages that agree raise an alarm.

    python -m benchmarks.planted_conflicts --data ../shared/data [--part read|unseen] [--cases]

`gate/planted_conflicts.jsonl` names a document of the labelled data by its digest (the documents themselves are not
part of this repository) and has a sentence on it, written by hand in other words, of which one form agrees with the
document and the other does not: another value, name, state or denial. Of some there is a `near` sentence besides, on
another thing of the same kind, with which nothing disagrees. All of it was written from the first `characters` of each
document, before anything was screened, by one reader who found no contradiction there. The documents are of the sides
of the split that the network was not trained on: `read` (`fit`), which rules may be made with, and `unseen` (`test`),
of which counts alone are printed.

A document is cut into passages of three sentences, of fewer where it is short. Counted are: the form that disagrees in
one of the passages and a conflict told of that sentence (found); the passages as they are, the form that agrees, and
the near sentence, each with a conflict told (false alarms). `pairs` are the pairs of passages of one document.
"""

import argparse
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from train.rows import detokenise

from assay import Guard
from assay.policy import ScreenPolicy, preset
from assay.schema import Evidence
from assay.text.lexicon import find_words
from assay.text.sentences import split_sentences

_FILE = Path(__file__).with_name("gate") / "planted_conflicts.jsonl"
TODAY = date(2026, 6, 1)
PER_PASSAGE = 3
"""Sentences of a passage; fewer where there would be fewer than three passages."""
_FORMS = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")


@dataclass(frozen=True)
class Planted:
    """Passages of one document, one of which may have a sentence more."""

    part: str
    kind: str
    """`passages`, `right`, `near` or `wrong`."""
    question: str
    passages: tuple[Evidence, ...]
    sentence: str | None = None
    """What was planted; none in the passages as they are."""

    @property
    def disagrees(self) -> bool:
        """Whether the planted sentence contradicts the document."""
        return self.kind == "wrong"


def documents(data: Path, wanted: frozenset[tuple[str, str]]) -> dict[str, str]:
    """Texts of documents by their digests.

    Args:
        data: the labelled data.
        wanted: sets and digests.
    """
    found: dict[str, str] = {}
    digests = {digest for _, digest in wanted}
    for name in sorted({name for name, _ in wanted}):
        for path in sorted((data / "train").glob(f"{name}.*.jsonl.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for line in lines:
                    parts = json.loads(line)["evidence"]
                    text = "\n".join(detokenise(part) for part in parts if part.strip())
                    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
                    if digest in digests:
                        found[digest] = text
    return found


def cut(text: str, most: int) -> list[str]:
    """The passages of a document, from its whole sentences within so many characters."""
    spans = [span for span in split_sentences(text) if span.end <= most]
    size = max(1, min(PER_PASSAGE, len(spans) // 3))
    groups = [spans[at : at + size] for at in range(0, len(spans), size)]
    return [text[group[0].start : group[-1].end] for group in groups]


def planted_in(passages: list[str], sentence: str) -> tuple[Evidence, ...]:
    """The passages with a sentence at the end of the one that shares least with it: it disagrees with another one."""

    def stems(text: str) -> set[str]:
        return {word.stem for word in find_words(text).lexemes if word.weight}

    own = stems(sentence)
    host = min(range(len(passages)), key=lambda at: (len(own & stems(passages[at])), -at))
    texts = [f"{text} {sentence}" if at == host else text for at, text in enumerate(passages)]
    return tuple(Evidence(id=f"p{at}", text=text) for at, text in enumerate(texts))


def cases(data: Path, part: str | None = None) -> Iterator[Planted]:
    """All cases, those of one document after each other."""
    with _FILE.open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if part is None or row["part"] == part]
    texts = documents(data, frozenset((row["set"], row["document"]) for row in rows))
    for row in rows:
        passages = cut(texts[row["document"]], row["characters"])
        plain = tuple(Evidence(id=f"p{at}", text=text) for at, text in enumerate(passages))
        yield Planted(row["part"], "passages", row["question"], plain)
        forms = {kind: _FORMS.sub(rf"\{number}", row["planted"]) for kind, number in (("right", 1), ("wrong", 2))}
        if "near" in row:
            forms["near"] = row["near"]
        for kind, sentence in forms.items():
            yield Planted(row["part"], kind, row["question"], planted_in(passages, sentence), sentence)


def main() -> None:
    """Screen all cases, print counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=("read", "unseen"))
    parser.add_argument("--cases", action="store_true", help="print each case of `read` that went wrong")
    given = parser.parse_args()
    screen = ScreenPolicy(
        minimum_relevance=0.0, confident_relevance=0.0, duplicates="keep", language="any", injections="keep"
    )
    guard = Guard(preset("general").model_copy(update={"screen": screen}))
    told: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    pairs: Counter[tuple[str, bool]] = Counter()
    for case in cases(given.data, given.part):
        found = [
            one
            for one in guard.screen(case.question, case.passages, as_of=TODAY).conflicts
            if case.sentence is None or case.sentence in (one.first_text, one.second_text)
        ]
        total[case.part, case.kind] += 1
        told[case.part, case.kind] += bool(found)
        if case.sentence is None:
            pairs[case.part, True] += len({(one.first, one.second) for one in found})
            pairs[case.part, False] += len(case.passages) * (len(case.passages) - 1) // 2
        if given.cases and case.part == "read" and bool(found) != case.disagrees:
            print(case.kind, case.sentence, [(one.first_text, one.second_text) for one in found])
    for part in sorted({part for part, _ in total}):
        said = {kind: f"{told[part, kind]} of {total[part, kind]}" for _, kind in sorted(total) if total[part, kind]}
        agreeing = [kind for kind in ("passages", "right", "near") if total[part, kind]]
        alarms, asked = sum(told[part, kind] for kind in agreeing), sum(total[part, kind] for kind in agreeing)
        said["pairs of passages"] = f"{pairs[part, True]} of {pairs[part, False]}"
        print(f"{part}: found {said.pop('wrong')}; alarms where they agree {alarms} of {asked} ({said})")


if __name__ == "__main__":
    main()
