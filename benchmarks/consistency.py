"""Whether two claims say the same: bidirectional entailment against cosine 0.85.

    python benchmarks/consistency.py DATA --embedding-model MINILM [--rows 400]

DATA is the folder of labelled data, MINILM a folder with all-MiniLM-L6-v2. Pairs come from development sets and are
never the same pair twice:

    same        a claim and itself in other words: pairs of `sick` that their authors judge to entail each other both
                ways (or, where only one way is recorded, with the same number of content words), and claims changed by
                rules that keep their meaning (an adjunct moved to the front, a number as a word)
    denied      pairs that a set labels contradicted, and claims with one number or the polarity changed
    different   pairs that a set labels unsupported

Reported are accuracy, kappa, precision and recall of "same", and the share of denied pairs taken for the same, for
entailment with and without the comparison of values, cosine at 0.85, and cosine at the threshold that is best here.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.config import embedded_scorer
from assay.evaluation.figures.sentence_embedding import SentenceEmbedder
from assay.evaluation.rows.reading import read_rows
from assay.stats.classification import auroc
from assay.text.lexicon.lexemes import STOP_WORDS, find_words, word_list
from assay.verify.consistency.clusters import SAME, same_probability, values_differ

SEED = 8
SETS = ("sick.test", "lingnli.dev", "dnc_function_words.all", "anli_r1.dev", "healthver.dev")
LONGEST = 220
"""Characters of a premise that may still be called one claim."""
COSINE = 0.85
"""A threshold of cosine in common use."""
_NUMBER = re.compile(r"(?<![\d.,$])\b([2-9]|1[0-2])\b(?![\d.,%:])")
_WORDS = dict(zip(range(2, 13), word_list("two three four five six seven eight nine ten eleven twelve"), strict=True))
_OPENING = re.compile(r"^(?P<rest>[^,]{20,}) (?P<when>(?:in|on|since|after|before|during) [^,]{4,60}?)[.]?$")
_IS = re.compile(r"\b(is|are|was|were)\b(?! not)")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two claims and how they stand to each other."""

    first: str
    second: str
    kind: str
    """same, denied or different."""
    source: str


def content(text: str) -> int:
    """How many content words a claim has."""
    return len({w.stem for w in find_words(text).lexemes if w.fold not in STOP_WORDS})


def labelled_pairs(data: Path, most: int) -> list[Pair]:
    """Pairs whose relation people judged."""
    kinds = {"contradicted": "denied", "unsupported": "different"}
    found: list[Pair] = []
    for name in SETS:
        rows = [r for r in read_rows(data / "dev" / f"{name}.jsonl.gz") if len(r.evidence[0].text) <= LONGEST]
        random.Random(SEED).shuffle(rows)
        for label, kind in kinds.items():
            chosen = [r for r in rows if r.label == label][:most]
            found += [Pair(r.evidence[0].text, r.text, kind, name.split(".")[0]) for r in chosen]
    sick = [r for r in read_rows(data / "dev" / "sick.test.jsonl.gz") if r.label == "supported"]
    known = {(r.evidence[0].text, r.text) for r in sick}
    random.Random(SEED).shuffle(sick)
    equal = [r for r in sick if (r.text, r.evidence[0].text) in known or content(r.text) == content(r.evidence[0].text)]
    return found + [Pair(r.evidence[0].text, r.text, "same", "sick") for r in equal[:most]]


def moved(text: str) -> str | None:
    """A closing adjunct of time or place put to the front."""
    match = _OPENING.match(text)
    if match is None:
        return None
    rest, when = match["rest"], match["when"]
    head = rest[0].lower() if rest.split()[0] in _ARTICLES else rest[0]
    return f"{when[0].upper()}{when[1:]}, {head}{rest[1:]}."


_ARTICLES = {"The", "A", "An", "This", "These", "Its", "His", "Her", "Their"}


def spelled(text: str) -> str | None:
    """A small number as a word."""
    match = _NUMBER.search(text)
    return None if match is None else text[: match.start()] + _WORDS[int(match[1])] + text[match.end() :]


def renumbered(text: str) -> str | None:
    """One number changed."""
    match = re.search(r"\d+", text)
    if match is None or len(match.group()) > 6:
        return None
    value = int(match.group())
    return text[: match.start()] + str(value + max(1, value // 7)) + text[match.end() :]


def negated(text: str) -> str | None:
    """The first form of to be denied."""
    match = _IS.search(text)
    return None if match is None else f"{text[: match.end()]} not{text[match.end() :]}"


def made_pairs(data: Path, most: int) -> list[Pair]:
    """Pairs made of development claims by rules."""
    makers: tuple[tuple[str, Callable[[str], str | None]], ...] = (
        ("same", moved),
        ("same", spelled),
        ("denied", renumbered),
        ("denied", negated),
    )
    found: list[Pair] = []
    rows = [r for name in SETS for r in read_rows(data / "dev" / f"{name}.jsonl.gz")]
    texts = sorted({r.text for r in rows if 30 <= len(r.text) <= LONGEST})
    random.Random(SEED).shuffle(texts)
    for kind, make in makers:
        made = [(text, changed) for text in texts if (changed := make(text)) is not None][: most // 2]
        found += [Pair(text, changed, kind, f"made: {make.__name__}") for text, changed in made]
    return found


def kappa(truth: Sequence[bool], said: Sequence[bool]) -> float:
    """Cohen's kappa."""
    observed = float(np.mean([a == b for a, b in zip(truth, said, strict=True)]))
    p, q = float(np.mean(truth)), float(np.mean(said))
    chance = p * q + (1 - p) * (1 - q)
    return 1.0 if chance == 1 else (observed - chance) / (1 - chance)


def line(name: str, pairs: Sequence[Pair], said: Sequence[bool]) -> str:
    """One line of the table."""
    truth = [pair.kind == "same" for pair in pairs]
    hits = sum(a and b for a, b in zip(truth, said, strict=True))
    accuracy = float(np.mean([a == b for a, b in zip(truth, said, strict=True)]))
    denied = [flag for pair, flag in zip(pairs, said, strict=True) if pair.kind == "denied"]
    precision = hits / max(1, sum(said))
    return (
        f"| {name} | {accuracy:.3f} | {kappa(truth, said):.3f} | {precision:.3f} | {hits / max(1, sum(truth)):.3f} | "
        f"{float(np.mean(denied)):.3f} |"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of labelled data")
    parser.add_argument("--embedding-model", type=Path, required=True, help="a sentence-transformers folder")
    parser.add_argument("--rows", type=int, default=400, help="pairs of each sort and set")
    args = parser.parse_args()
    pairs = list(
        {
            (p.first, p.second): p for p in (*labelled_pairs(args.data, args.rows), *made_pairs(args.data, args.rows))
        }.values()
    )
    texts = sorted({text for pair in pairs for text in (pair.first, pair.second)})
    vectors = dict(zip(texts, SentenceEmbedder(args.embedding_model).embed(texts), strict=True))
    cosine = [float(np.dot(vectors[p.first], vectors[p.second])) for p in pairs]
    likeness = same_probability([(p.first, p.second) for p in pairs], embedded_scorer())
    entailed = [likeness[p.first, p.second] for p in pairs]
    differ = [values_differ(p.first, p.second) for p in pairs]
    truth = [p.kind == "same" for p in pairs]
    best = max(np.unique(np.round(cosine, 3)), key=lambda t: kappa(truth, [c >= t for c in cosine]))
    counts = {kind: sum(p.kind == kind for p in pairs) for kind in ("same", "denied", "different")}
    print(f"{len(pairs)} pairs: {counts}\n")
    systems = {
        "entailment both ways and values (ours)": [e >= SAME and not d for e, d in zip(entailed, differ, strict=True)],
        "entailment both ways": [e >= SAME for e in entailed],
        f"cosine {COSINE}": [c >= COSINE for c in cosine],
        f"cosine {best:g}, best for these pairs": [c >= best for c in cosine],
    }
    print("| said to be the same by | accuracy | kappa | precision | recall | denied taken for same |")
    print("|---|---|---|---|---|---|")
    for name, said in systems.items():
        print(line(name, pairs, said))
    held = [0.0 if d else e for e, d in zip(entailed, differ, strict=True)]
    areas = [auroc(truth, values).value for values in (held, cosine)]
    print(f"\nAUROC of same: entailment and values {areas[0]:.3f}, cosine {areas[1]:.3f}")
    print("\n| source | kind | pairs | ours says same | cosine 0.85 says same |\n|---|---|---|---|---|")
    ours, _, theirs, _ = systems.values()
    for source, kind in sorted({(p.source, p.kind) for p in pairs}):
        rows = [at for at, p in enumerate(pairs) if (p.source, p.kind) == (source, kind)]
        shares = [float(np.mean([said[at] for at in rows])) for said in (ours, theirs)]
        print(f"| {source} | {kind} | {len(rows)} | {shares[0]:.3f} | {shares[1]:.3f} |")


if __name__ == "__main__":
    main()
