"""Labelled rows: read, de-duplicated, split by document and mixed for training.

A row pairs a claim with its evidence; its label is one of `supported`, `contradicted`, `unsupported` and
`not_supported` (the source does not tell the last two apart). The split is a function of the evidence text
alone, so that one document never stands on two sides, in whichever set it appears. Documents of two sides that share
text (`train.kin`) are on neither: the one that is not for training is `shared`, and nothing is fitted on it or
measured on it as unseen.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from train.kin import kin

Label = Literal["supported", "contradicted", "unsupported", "not_supported"]
Part = Literal["train", "fit", "test", "shared"]

FIT_BUCKETS = range(8)  # 8% of documents fit the combination and its calibration
ANSWER_TEST_BUCKETS = range(8, 38)  # of models' answers 30%: there are few
TEST_BUCKETS = range(8, 18)  # 10% are never seen by anything that is fitted


@dataclass(frozen=True)
class Row:
    """One labelled pair, as the network reads it."""

    source: str
    """The set that it comes from, or `edit:KIND` for a row made here."""
    evidence: tuple[str, ...]
    claim: str
    label: Label
    question: str | None = None
    spans: tuple[tuple[int, int], ...] = ()
    """Character ranges of the claim that are known to be wrong."""
    shared: bool = False
    """Whether its document shares text with one of a side that is fitted before its own."""
    group: str | None = None
    """What it stands beside: right and wrong claims of one group are trained with a margin between them."""

    @property
    def document(self) -> str:
        """The evidence with case, spacing and punctuation folded: the identity that the split is made by."""
        return fold(" ".join(self.evidence))


REVIEWS = "reviews"
"""The set of what reviewers decided. Rows of one's own are not among those of the shipped network, so that they stand
in no quota: all are taken, since they are the outputs that a network was unsure of."""

# Rows taken from each set at most, in the order of a seeded shuffle. Sets of one domain and template are held
# back so that people's labels on natural text lead; the figures follow the doubts column of the data's index.
QUOTAS: dict[str, int] = {
    "mnli": 9_000,
    "taxinli": 6_000,
    "mnli_binary": 5_000,
    "snli": 16_000,
    "cad_nli": 10_000,
    "infotabs": 16_000,
    "tabfact_pairs": 6_000,
    "conjnli": 5_000,
    "negnli_mnli": 1_200,
    "negnli_snli": 1_000,
    "negnli_rte": 1_200,
    "folio": 900,
    "ambient_disamb": 1_000,
    "scitab": 1_000,
    "checkcovid": 1_200,
    "megaveridicality": 3_000,
    "fm2": 1_100,
    "fever_symmetric": 1_300,
    "defacto": 2_300,
    "storysumm": 150,
    "fevernli_binary": 12_000,
    "fever_rte": 11_000,
    "begin_wow": 400,
    "begin_cmudog": 300,
    "begin_topicalchat": 350,
    "q2_wow_cross": 1_000,
    "faithdial_audit": 1_600,
    "wice_claim": 320,
    "wice_claim_oracle": 950,
    "wice_nonsupported_tokens": 450,
    "summedits_ectsum": 600,
    "summedits_qmsumm": 400,
    "summedits_sales_email": 550,
    "summedits_samsum": 600,
    "bump_task1": 700,
    "bump_task2": 350,
    "scifact_rte": 700,
    "factcheck_gpt": 2_800,
    "halueval_qa500": 1_200,
    "help_conjdisj": 2_500,
    "med": 4_500,
    "breaking_nli": 2_000,
    "expertqa": 800,
    "expertqa_ab": 450,
    "stanford_gensearch": 600,
    "attributedqa": 80,
    "refchecker_dolly_triplets": 2_000,
    "refchecker_dolly_answers": 650,
    "mtrag_human_eval": 350,
    "xsumfaith": 900,
    "cliff": 550,
    "fib_xsum": 900,
    "bamboo_senhallu_4k": 200,
    "bamboo_abshallu_4k": 200,
    "condaqa": 2_500,
    "pubmedqa_yesno": 900,
    "scone": 2_000,
    "liar_plus": 300,
    "indonli": 1_200,
    "farstail": 800,
    "klue_nli": 500,
    "jnli": 500,
}
ANSWERS = frozenset(
    {
        "expertqa",
        "expertqa_ab",
        "stanford_gensearch",
        "attributedqa",
        "refchecker_dolly_triplets",
        "refchecker_dolly_answers",
        "mtrag_human_eval",
    }
)
"""Sets of models' answers over passages that people labelled: the kind that the verifier meets, so that more of their
documents are kept for measuring."""
ASKED = frozenset({"condaqa", "pubmedqa_yesno"})
"""Sets whose claims are "Yes." and "No." and say nothing without their question."""
_FITTED: tuple[Part, ...] = ("train", "fit", "test")
"""The sides of the split in the order in which something is fitted on them; on the last nothing is."""
NEGATIVE_ONLY_REFUTED = frozenset({"fever_rte"})  # its not_supported rows are refuted wherever they could be checked


def fold(text: str) -> str:
    """Lower-case words and digits alone, joined by single spaces.

    >>> fold("Partners:  4 Weeks!")
    'partners 4 weeks'
    """
    return " ".join(re.findall(r"\w+", text.lower()))


def detokenise(text: str) -> str:
    """Undo the spacing and bracket codes of tokenised corpora.

    >>> detokenise("Paris -LRB- France -RRB- , a city .")
    'Paris (France), a city.'
    """
    text = text.replace("-LRB- ", "(").replace(" -RRB-", ")").replace("-LRB-", "(").replace("-RRB-", ")")
    text = re.sub(r"\( ", "(", re.sub(r" \)", ")", text))
    return re.sub(r" ('s|n't|[,.;:!?%])(?=\s|$)", r"\1", text)


def bucket(document: str) -> int:
    """A number in [0, 100) that depends on the folded document text alone."""
    return int.from_bytes(hashlib.blake2b(document.encode(), digest_size=4).digest(), "big") % 100


def part_of(row: Row) -> Part:
    """Which side of the split the row's document is on."""
    if row.shared:
        return "shared"
    number = bucket(row.document)
    if number in FIT_BUCKETS:
        return "fit"
    return "test" if number in (ANSWER_TEST_BUCKETS if row.source in ANSWERS else TEST_BUCKETS) else "train"


def read_rows(path: Path) -> Iterator[Row]:
    """Read one JSON Lines file of the labelled data, gzipped or not: sets as they are collected, and what
    `assay review export` writes of reviewers' decisions, whose rows label a whole answer or one claim of it.

    Raises:
        KeyError: a row lacks `set`, `evidence`, `claim` (or `answer`) or `label`.
    """
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            question = (raw.get("meta") or {}).get("question") if raw["set"].startswith("halueval") else None
            if raw["set"] == REVIEWS or raw["set"] in ASKED:
                question = raw.get("question")
            label: Label = raw["label"]
            if raw["set"] in NEGATIVE_ONLY_REFUTED and label == "not_supported":
                label = "contradicted"
            yield Row(
                source=raw["set"],
                evidence=tuple(one if isinstance(one, str) else one["text"] for one in raw["evidence"]),
                claim=raw["claim"] if "claim" in raw else raw["answer"],
                label=label,
                question=question,
                spans=tuple((int(start), int(end)) for start, end in raw.get("spans") or ()),
            )


def unique(rows: Iterable[Row]) -> Iterator[Row]:
    """Drop pairs that were seen before in any set; where labels disagree the first stands."""
    seen: set[bytes] = set()
    for row in rows:
        key = hashlib.blake2b(f"{row.document}\0{fold(row.claim)}".encode(), digest_size=12).digest()
        if key not in seen:
            seen.add(key)
            yield row


def load_training_sets(data: Path) -> list[Row]:
    """All rows of `data/train`, without those whose evidence also stands in `data/dev`, each pair once.

    Rows of the later sides of the split whose documents share text with an earlier side are marked `shared`.
    """
    held_out = {row.document for path in sorted((data / "dev").glob("*.jsonl.gz")) for row in read_rows(path)}
    files = sorted([*(data / "train").glob("*.jsonl.gz"), *(data / "train").glob("*.jsonl")])
    rows = [row for row in unique(row for path in files for row in read_rows(path)) if row.document not in held_out]
    return marked_shared(rows)


def marked_shared(rows: Sequence[Row]) -> list[Row]:
    """The rows, `shared` where their document has kin on a side that is fitted before its own: train, fit, test."""
    sides = [_FITTED.index(part_of(row)) for row in rows]
    groups = kin([(row.document, fold(row.claim)) for row in rows])
    earliest: dict[int, int] = {}
    for group, side in zip(groups, sides, strict=True):
        earliest[group] = min(side, earliest.get(group, side))
    return [
        dataclasses.replace(row, shared=True) if earliest[group] < side else row
        for row, group, side in zip(rows, groups, sides, strict=True)
    ]


def mix(rows: Iterable[Row], seed: int) -> list[Row]:
    """The training mixture: every set shuffled and cut to its quota.

    A fact of its own counts: a set that has no quota raises rather than being left out in silence.

    Raises:
        KeyError: a set is not named in `QUOTAS`, and is not of reviewers' decisions.
    """
    rng = random.Random(seed)
    pools: dict[str, list[Row]] = {}
    for row in rows:
        pools.setdefault(row.source, []).append(row)
    mixed: list[Row] = []
    for source in sorted(pools):
        rng.shuffle(pools[source])
        mixed.extend(pools[source] if source == REVIEWS else pools[source][: QUOTAS[source]])
    rng.shuffle(mixed)
    return mixed


def strangers(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """Claims beside the evidence of another document of their set, which neither supports nor contradicts them.

    Without such rows a network learns from caption pairs that whatever speaks of something else contradicts. Half the
    time the document is the one of fifty that shares most of the claim's words, so that the rows are not too easy.
    Tables and claims of the same page are left out: one could well decide the other.
    """
    rng = random.Random(seed)
    pools: dict[str, list[Row]] = {}
    for row in rows:
        if not row.source.startswith(("infotabs", "tabfact", "megaveridicality", "edit:")) and row.question is None:
            pools.setdefault(row.source, []).append(row)
    made: list[Row] = []
    names = [name for name, pool in sorted(pools.items()) for _ in range(len(pool)) if len(pool) >= 100]
    while len(made) < count and names:
        pool = pools[rng.choice(names)]
        row = rng.choice(pool)
        wanted = set(fold(row.claim).split())
        others = [o for o in rng.sample(pool, 50 if rng.random() < 0.5 else 2) if o.document != row.document]
        if not others or not wanted:
            continue
        other = max(others, key=lambda o: len(wanted & set(o.document.split())) / len(wanted))
        if len(wanted & set(other.document.split())) < 0.75 * len(wanted):
            made.append(Row("stranger", other.evidence, row.claim, "unsupported"))
    return made


def report(rows: Iterable[Row]) -> str:
    """Counts and label balance by set, as an aligned table."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        counts.setdefault(row.source, Counter())[row.label] += 1
    labels = ("supported", "contradicted", "unsupported", "not_supported")
    lines = [f"{'set':32}" + "".join(f"{label:>15}" for label in labels)]
    lines += [f"{source:32}" + "".join(f"{counts[source][label]:15}" for label in labels) for source in sorted(counts)]
    total: Counter[str] = sum(counts.values(), Counter())
    lines.append(f"{'total':32}" + "".join(f"{total[label]:15}" for label in labels))
    return "\n".join(lines)
