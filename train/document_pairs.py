"""Pairs of a sentence of a real document and a statement beside it: further pairs that `train.conflict_network` learns.

Sentences of real documents are long and say several things, and what stands elsewhere on the same matter does not name
it anew: "the defender", "the study". The items of `train/conflicts` are of one length on both sides and name what they
are about. These pairs are not:

- rows of the labelled data whose claims are known to be refuted or supported by their evidence, or not told by it;
- statements that were written beside documents of the labelled data (`train/conflicts/documents`; the card is
  `train/conflicts/README.md`). The documents are no part of this repository: a line names one by its set and digest,
  and its sentences by their places in it. A `wrong` statement cannot be right together with the sentences that it is
  `of`, a `right` one agrees with them on the same point, a `near` one is compatible with the whole document. `against`
  are the sentences that a second reader, who was shown the statements without what they are, took each to contradict.

    python -m train.document_pairs show --data DATA --sets SET=NUMBER ... --documents FOLDER [--apart FILE] [--seed N]
    python -m train.document_pairs blind TEXT... --documents FOLDER --out FOLDER [--seed N]
    python -m train.document_pairs compile TEXT... --documents FOLDER --answers FOLDER [--out FOLDER]

`show` writes files of fifty documents with numbered sentences (`NAME.txt`, and `NAME.json` with their places), of the
side that is trained on; none that shares text with a document that a file of cases names (`--apart`, such as
`benchmarks/gate/planted_conflicts.jsonl`). `TEXT` (`NAME.txt` too) is what is written beside one: a line
`== DOCUMENT`, then `s:` with the numbers of the sentences, `x:` a wrong statement, `y:` a right one, `n:` a near one.
`blind` writes each document with its statements in any order, for a second reader, who answers
`DOCUMENT: 1=n 2=3 3=2,5 4=d ...`: no conflict, the sentences that the statement cannot be right with, or doubtful. A
reader who is asked more says `s` and `u` in place of `n`: the document bears all of it out, or it does not tell
something of it.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from assay.guard.conflicts.source_matching import claim_share_in_passage
from assay.text.sentences import split_sentences
from train.conflict_pairs import FEWEST_WORDS, MOST_CHARACTERS, MOST_WORDS, PassagePair
from train.rows import Label, Row, detokenise, load_training_sets, part_of

FOLDER: Final = Path(__file__).parent / "conflicts" / "documents"
HELD_OUT: Final = frozenset({"held", "held_answers"})
"""Files that nothing is trained or fitted on."""
KINDS: Final = {"x": "wrong", "y": "right", "n": "near"}
"""What the letter at the beginning of a line of the text form says of its statement."""
LABELS: Final[Mapping[str, Label]] = {"right": "supported", "wrong": "contradicted", "near": "unsupported"}
BESIDE: Final = "beside:"
"""What the set of a row begins with that is a statement beside a document."""
A_GROUP: Final = 4
"""Statements of a document that are trained with a margin between right and wrong ones."""
A_FILE: Final = 50
"""Documents of a file."""
SHOWN_CHARACTERS: Final = 950
"""Of a document."""
READ_CHARACTERS: Final = 1_400
RUN: Final = 8
"""Words in a row that two documents share by more than chance."""
TWINS: Final = 0.6
"""The share of words in the same order from which two sentences of answers differ in one point."""
COPIED: Final = 10
"""Words in a row from which a statement copies its document, which is no part of this repository."""
SHARED_RUNS: Final = 3
"""How many such runs two documents may share at most."""
FEWEST_SHOWN: Final = 3
OTHERS: Final = 1
"""How many further sentences a wrong or near statement is paired with: those most alike. Nearly all are easily told."""

TOLD: Final = frozenset({"fever_rte", "fever_symmetric", "fm2", "scifact_rte", "checkcovid", "factcheck_gpt"})
"""Sets of claims beside evidence on the same matter, of which it is known which ones the evidence refutes. Sets of
inference over captions are no such sets: what differs there is taken for a contradiction."""
TITLED: Final = frozenset({"fm2"})
"""Of these the first piece of evidence is the title of its page."""
REFUTED_SHARE: Final = 0.3
"""The share of a refuted claim's content that the closest sentence must have, where the evidence has several: else the
sentence that refutes it may be another one."""
_ANSWERS: Final = re.compile(r"^\s*(\d+):((?:\s+\d+=(?:[nsud]|\d+(?:,\d+)*))+)\s*$")

_NONE: Final = {"n": None, "s": True, "u": False}
"""Answers that name no sentence, and whether all of a statement is borne out."""


@dataclass
class Statement:
    """What another text might say beside a document."""

    text: str
    kind: str
    """`wrong`, `right` or `near`."""
    of: list[int]
    """Numbers, from 1, of the sentences that it was written beside."""
    against: list[int] | None = None
    """Of the sentences that a second reader took it to contradict; None if that reader was in doubt or not asked."""
    told: bool | None = None
    """Whether that reader took the document to bear all of it out; None if the reader was not asked."""

    @property
    def agreed(self) -> bool:
        """Whether the second reader took the statement for what it was written as."""
        if self.against is None:
            return False
        if self.kind == "wrong":
            return bool(set(self.against) & set(self.of))
        return not self.against and self.told in (None, self.kind == "right")


@dataclass
class Document:
    """A document of the labelled data, and statements beside it."""

    set: str
    document: str
    """The first sixteen digits of its SHA-256."""
    places: list[list[int]]
    """Where its sentences begin and end."""
    statements: list[Statement] = field(default_factory=list)

    def pairs(self, text: str) -> Iterator[PassagePair]:
        """Sentences and statements on which both readers agree.

        Args:
            text: the document.
        """
        sentences = {at: " ".join(text[start:end].split()) for at, (start, end) in enumerate(self.places, 1)}
        read = {at: one for at, one in sentences.items() if FEWEST_WORDS <= len(one.split()) <= MOST_WORDS}
        told = [one for one in self.statements if one.agreed]
        for one in told:
            alike = sorted(set(read) - set(one.of), key=lambda at: -claim_share_in_passage(one.text, read[at], ()))
            for at in [*(at for at in one.of if at in read), *(alike[:OTHERS] if one.kind != "right" else ())]:
                yield PassagePair(read[at], one.text, at in (one.against or ()), self.document)
        yield from self._of_statements(told)

    def _of_statements(self, told: Sequence[Statement]) -> Iterator[PassagePair]:
        """The right statement of a sentence beside the wrong and the near one, where there is one of each.

        These are about one point. Sentences of answers need not be: of these, a right and a wrong one make a pair if
        they differ in a few words only.
        """
        for place in dict.fromkeys(tuple(one.of) for one in told):
            kinds = {kind: [one for one in told if tuple(one.of) == place and one.kind == kind] for kind in LABELS}
            if len(kinds["right"]) != 1:
                continue
            (right,) = kinds["right"]
            for kind, others in kinds.items():
                if kind == "right" or len(others) != 1:
                    continue
                alike = SequenceMatcher(None, right.text.split(), others[0].text.split()).ratio() >= TWINS
                if right.told is None or (kind == "wrong" and alike):
                    yield PassagePair(right.text, others[0].text, kind == "wrong", self.document)


def text_of(evidence: Iterable[str]) -> str:
    """A document as its places count, from its pieces.

    >>> text_of(["It is open .", " ", "It was shut ."])
    'It is open.\\nIt was shut.'
    """
    return "\n".join(detokenise(part) for part in evidence if part.strip())


def digest_of(text: str) -> str:
    """What names a document."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def texts_of(data: Path, documents: Sequence[Document]) -> dict[str, str]:
    """The texts of documents by their digests; what the labelled data do not have is left out."""
    wanted = {one.document for one in documents}
    found: dict[str, str] = {}
    for name in sorted({one.set for one in documents}):
        for path in sorted((data / "train").glob(f"{name}.*.jsonl.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for line in lines:
                    pieces = json.loads(line)["evidence"]
                    text = text_of(one if isinstance(one, str) else one["text"] for one in pieces)
                    if digest_of(text) in wanted:
                        found[digest_of(text)] = text
    return found


def read_documents(folder: Path | None = None, *, only: frozenset[str] = frozenset()) -> list[Document]:
    """The documents of all files that are not held out, or those of the files named."""
    files = sorted((folder or FOLDER).glob("*.jsonl"))
    chosen = [path for path in files if path.stem in (only or {path.stem} - HELD_OUT)]
    raw = [json.loads(line) for path in chosen for line in path.read_text(encoding="utf-8").splitlines()]
    return [Document(**{**one, "statements": [Statement(**said) for said in one["statements"]]}) for one in raw]


def of_statements(data: Path, *, only: frozenset[str] = frozenset()) -> list[PassagePair]:
    """The pairs of sentences and statements, of all documents that the labelled data have."""
    documents = read_documents(only=only)
    texts = texts_of(data, documents)
    return [pair for one in documents if one.document in texts for pair in one.pairs(texts[one.document])]


def rows_beside(data: Path, *, only: frozenset[str] = frozenset()) -> list[Row]:
    """The statements on which both readers agree as claims beside their documents, for the verifier.

    Args:
        data: the labelled data; documents that they do not have are left out.
        only: names of files without their endings; all that are not held out by default.
    """
    documents = read_documents(only=only)
    texts = texts_of(data, documents)
    return [
        Row(
            source=f"{BESIDE}{one.set}",
            evidence=(texts[one.document],),
            claim=said.text,
            label=LABELS[said.kind],
            group=f"{one.document}/{number // A_GROUP}",
        )
        for one in documents
        if one.document in texts
        for number, said in enumerate(said for said in one.statements if said.agreed)
    ]


def held_out_runs(data: Path) -> frozenset[str]:
    """The runs of words of the held-out documents, with which nothing that is trained on may share many."""
    texts = texts_of(data, read_documents(only=HELD_OUT))
    return frozenset(run for text in texts.values() for run in runs_of(text))


def shares_text(text: str, runs: AbstractSet[str]) -> bool:
    """Whether a text shares more than a few of such runs.

    >>> shares_text("The gate is shut.", {"the gate is shut"})
    False
    """
    return len(runs_of(text) & runs) > SHARED_RUNS


def of_labelled(data: Path, rng: random.Random, apart: AbstractSet[str] = frozenset()) -> Iterator[PassagePair]:
    """Claims of labelled rows beside the closest sentence of their evidence, of documents for training.

    Args:
        data: the labelled data.
        rng: of all choices.
        apart: runs of words of documents that are held out.
    """
    for row in load_training_sets(data):
        if row.source not in TOLD or part_of(row) != "train" or row.label == "not_supported":
            continue
        if shares_text(text_of(row.evidence), apart):
            continue
        title, sentences = _read(row)
        if not sentences:
            continue
        ranked = sorted(sentences, key=lambda one: -claim_share_in_passage(row.claim, one, ()))
        share = claim_share_in_passage(row.claim, ranked[0], ())
        if row.label == "contradicted" and len(sentences) > 1 and share < REFUTED_SHARE:
            continue
        claim = detokenise(row.claim)
        yield PassagePair(f"{title}{ranked[0]}", claim, row.label == "contradicted", row.source)
        if row.label != "contradicted" and ranked[1:]:
            yield PassagePair(f"{title}{rng.choice(ranked[1:4])}", claim, False, row.source)


def _read(row: Row) -> tuple[str, list[str]]:
    """The title of a row's evidence, as it stands before a sentence, and the sentences."""
    pieces = [detokenise(one) for one in row.evidence]
    title = f"{pieces[0]}: " if row.source in TITLED and len(pieces) > 1 else ""
    text = " ".join(pieces[1:] if title else pieces)[:MOST_CHARACTERS]
    sentences = [text[one.start : one.end].strip() for one in split_sentences(text)]
    return title, [one for one in sentences if FEWEST_WORDS <= len(one.split()) <= MOST_WORDS]


def shown(name: str, text: str) -> Document | None:
    """A document with the places of its first sentences; none if it has too few.

    Args:
        name: its set.
        text: its text.
    """
    begun = text[:READ_CHARACTERS]
    places = [[one.start, one.end] for one in split_sentences(begun)]
    if len(begun) < len(text):
        places = places[:-1]
    kept: list[list[int]] = []
    for start, end in places:
        if sum(last - first for first, last in kept) + end - start > SHOWN_CHARACTERS:
            break
        kept.append([start, end])
    return Document(name, digest_of(text), kept) if len(kept) >= FEWEST_SHOWN else None


def runs_of(text: str, size: int = RUN) -> set[str]:
    """The runs of so many words of a text, lower-case.

    >>> len(runs_of("One two three four five six seven eight, nine."))
    2
    """
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[at : at + size]) for at in range(len(words) - size + 1)}


def copies(statement: str, text: str) -> bool:
    """Whether a statement has ten words in a row of a document."""
    return not runs_of(statement, COPIED).isdisjoint(runs_of(text, COPIED))


def parse(text: str, documents: Sequence[Document]) -> None:
    """Adds the statements of a text to the documents that they stand beside.

    Raises:
        SystemExit: a line is of no known form, or names a document or a sentence that there is not.
    """
    at, of = 0, list[int]()
    for number, line in enumerate(text.splitlines(), 1):
        said = line[2:].strip()
        if line.startswith("==") and said.isdecimal() and 0 < int(said) <= len(documents):
            at, of = int(said), []
        elif at and line.startswith("s:") and re.fullmatch(r"\d+(\s*,\s*\d+)*", said):
            of = [int(one) for one in said.split(",")]
            if not all(0 < one <= len(documents[at - 1].places) for one in of):
                raise SystemExit(f"line {number}: document {at} has no sentence {said}")
        elif of and line[:1] in KINDS and line[1:2] == ":" and said:
            documents[at - 1].statements.append(Statement(said, KINDS[line[0]], of))
        elif line.strip():
            raise SystemExit(
                f"line {number}: expected '== DOCUMENT', 's: NUMBERS' or a statement after 'x:', 'y:' or 'n:', "
                f"got {line[:60]!r}"
            )


def blind(documents: Sequence[Document], texts: Mapping[str, str], rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Documents with their statements in any order, for a second reader, and which is which."""
    lines: list[str] = []
    key: dict[str, list[int]] = {}
    for number, one in enumerate(documents, 1):
        lines += [*_numbered(number, one, texts[one.document]), ""]
        order = list(range(len(one.statements)))
        rng.shuffle(order)
        lines += [f"{at}: {one.statements[place].text}" for at, place in enumerate(order, 1)] + [""]
        key[str(number)] = order
    return "\n".join(lines), key


def _numbered(number: int, one: Document, text: str) -> list[str]:
    sentences = [" ".join(text[start:end].split()) for start, end in one.places]
    return [f"## {number}", *(f"[{at}] {said}" for at, said in enumerate(sentences, 1))]


def count(answers: str, key: Mapping[str, list[int]], documents: Sequence[Document]) -> None:
    """Notes what a second reader said of each statement.

    Raises:
        SystemExit: a document has another number of answers than statements.
    """
    for number, line in enumerate(answers.splitlines(), 1):
        if not line.strip():
            continue
        found = _ANSWERS.fullmatch(line)
        if found is None:
            raise SystemExit(f"line {number}: expected 'DOCUMENT: 1=n 2=3,5 ...', got {line[:60]!r}")
        if found[1] not in key:
            raise SystemExit(f"line {number}: there is no document {found[1]}")
        order, one = key[found[1]], documents[int(found[1]) - 1]
        said = dict(answer.split("=") for answer in found[2].split())
        if sorted(said, key=int) != [str(at) for at in range(1, len(order) + 1)]:
            raise SystemExit(f"document {found[1]}: expected answers to 1 to {len(order)}, got {', '.join(said)}")
        for at, place in enumerate(order, 1):
            answer = said[str(at)]
            if answer != "d":
                read = one.statements[place]
                read.against = [] if answer in _NONE else [int(each) for each in answer.split(",")]
                read.told = _NONE.get(answer)


def _show(given: argparse.Namespace) -> None:
    rng, seen, chosen = random.Random(given.seed), set[str](), list[tuple[Document, str]]()
    wanted = {name: int(number) for name, _, number in (one.partition("=") for one in given.sets)}
    pools: dict[str, dict[str, str]] = {name: {} for name in wanted}
    for row in load_training_sets(given.data):
        if row.source in pools and part_of(row) == "train":
            pools[row.source].setdefault(digest_of(text_of(row.evidence)), text_of(row.evidence))
    apart = set[str]()
    if given.apart is not None:
        cases = [json.loads(line) for line in given.apart.read_text(encoding="utf-8").splitlines()]
        named = [Document(one["set"], one["document"], []) for one in cases]
        apart = {run for text in texts_of(given.data, named).values() for run in runs_of(text)}
    for name, most in wanted.items():
        order = sorted(pools[name].items())
        rng.shuffle(order)
        fitting = (
            (shown(name, text), text) for digest, text in order if digest not in seen and not shares_text(text, apart)
        )
        some = [(one, text) for one, text in fitting if one is not None][:most]
        seen |= {one.document for one, _ in some}
        chosen += some
    rng.shuffle(chosen)
    given.documents.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(chosen), A_FILE):
        part, name = chosen[start : start + A_FILE], f"{start // A_FILE + 1:02}"
        lines = [line for at, (one, text) in enumerate(part, 1) for line in [*_numbered(at, one, text), ""]]
        (given.documents / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
        raw = [{**asdict(one), "text": text} for one, text in part]
        (given.documents / f"{name}.json").write_text(json.dumps(raw, ensure_ascii=False), encoding="utf-8")


def _written(path: Path, folder: Path) -> tuple[list[Document], dict[str, str]]:
    """The documents of a file of `show` with the statements of a text, and the documents' texts."""
    raw = json.loads((folder / f"{path.stem}.json").read_text(encoding="utf-8"))
    texts = {one["document"]: one.pop("text") for one in raw}
    documents = [Document(**one) for one in raw]
    parse(path.read_text(encoding="utf-8"), documents)
    return documents, texts


def _blind(given: argparse.Namespace) -> None:
    given.out.mkdir(parents=True, exist_ok=True)
    for path in given.texts:
        groups, key = blind(*_written(path, given.documents), random.Random(f"{given.seed} {path.stem}"))
        (given.out / f"{path.stem}.txt").write_text(groups, encoding="utf-8")
        (given.out / f"{path.stem}.key.json").write_text(json.dumps(key), encoding="utf-8")


def _compile(given: argparse.Namespace) -> None:
    given.out.mkdir(parents=True, exist_ok=True)
    read = Counter[str]()
    for path in given.texts:
        documents, texts = _written(path, given.documents)
        key = json.loads((given.answers / f"{path.stem}.key.json").read_text(encoding="utf-8"))
        count((given.answers / f"{path.stem}.answers").read_text(encoding="utf-8"), key, documents)
        lines = []
        for one in documents:
            read += Counter(f"{said.kind} {'agreed' if said.agreed else 'left out'}" for said in one.statements)
            one.statements = [
                said for said in one.statements if said.agreed and not copies(said.text, texts[one.document])
            ]
            if one.statements:
                lines.append(json.dumps(asdict(one), ensure_ascii=False))
        (given.out / f"{path.stem}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        pairs = Counter(pair.conflict for one in documents for pair in one.pairs(texts[one.document]))
        print(f"{path.stem}: {len(lines)} documents, {pairs[True]} conflicts, {pairs[False]} other pairs")
    print(", ".join(f"{number} {kind}" for kind, number in sorted(read.items())))


def main() -> None:
    """Write documents to write beside, groups for a second reader, or the files of statements on which both agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    showing, asking, compiling = (commands.add_parser(name) for name in ("show", "blind", "compile"))
    showing.set_defaults(run=_show)
    showing.add_argument("--data", type=Path, required=True)
    showing.add_argument("--apart", type=Path, help="cases whose documents nothing may share text with, as JSON Lines")
    showing.add_argument("--sets", nargs="+", required=True, metavar="SET=NUMBER")
    asking.set_defaults(run=_blind)
    compiling.set_defaults(run=_compile)
    compiling.add_argument("--answers", type=Path, required=True, help="where the keys and answers of `blind` stand")
    compiling.add_argument("--out", type=Path, default=FOLDER)
    asking.add_argument("--out", type=Path, required=True)
    for command in (showing, asking, compiling):
        command.add_argument("--documents", type=Path, required=True, help="the folder of `show`")
        command.add_argument("--seed", type=int, default=1)
    for command in (asking, compiling):
        command.add_argument("texts", type=Path, nargs="+")
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
