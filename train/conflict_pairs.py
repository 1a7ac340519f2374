"""Pairs of passages that cannot both be right, and pairs that only look so: what `train.conflict_network` learns.

Items are written by hand, one JSON object a line in the files of `train/conflicts` (their card is README.md there):

- `passage`: what one document says;
- `conflicts`: passages of other documents on the same thing that cannot be right together with it;
- `near`: passages that look as if they contradicted it and do not: another thing, case, time or measure, a bound that
  agrees, a detail more;
- `restated`: a passage that agrees with it on the very points that the conflicts deny.

So each conflict contradicts the restatement too, and each near text is compatible with it. Further pairs are made of
the scenarios: a claim that its evidence contradicts beside the sentence that does, and claims and sentences of one
scenario that agree or speak of different things.

    python -m train.conflict_pairs compile TEXT... --answers KEY ANSWERS --out train/conflicts
    python -m train.conflict_pairs blind TEXT... --groups GROUPS --key KEY --seed N

`TEXT` is the form in which items are written: a line `== id`, then a line for each passage that begins with `a:`
(passage), `x:` (conflict), `n:` (near) or `y:` (restated). `blind` writes the passages in groups without what they
are, for a second reader who answers `NUMBER: c n d ...` (conflict, no conflict, doubtful); `compile` leaves out the
passages on which that reader did not agree.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from assay.guard.conflicts.both_ways import is_prose
from assay.guard.conflicts.compatibility import LONGEST_HEADING, with_heading
from assay.guard.conflicts.source_matching import claim_share_in_passage, is_record
from assay.guard.screening.pairs import FAMILY, LEAST_READ, PassageSubjects, candidates, statements_of
from assay.retrieve import heading
from assay.text.lexicon import find_words
from assay.text.sentences import split_sentences
from train.contrast import exchange
from train.rows import detokenise, load_training_sets, part_of
from train.scenario_rows import Side, batches, evidence_of, kept_claims
from train.scenario_text import Scenario

FOLDER: Final = Path(__file__).parent / "conflicts"
HELD_OUT: Final = frozenset({"held_1", "held_2", "held_titles"})
"""Files that nothing is trained or fitted on."""
KINDS: Final = {"a": "passage", "x": "conflicts", "n": "near", "y": "restated"}
"""What the letter at the beginning of a line of the text form says of its passage."""
_ANSWERS: Final = re.compile(r"^\s*(\d+):\s*([cnd](?:\s+[cnd])*)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class PassagePair:
    """Two passages of two documents, and whether they contradict each other."""

    first: str
    second: str
    conflict: bool
    source: str
    """The item or the batch of scenarios that the pair comes from."""


@dataclass
class Item:
    """A passage, and others that contradict it, seem to, or agree with it."""

    id: str
    passage: str = ""
    conflicts: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    restated: list[str] = field(default_factory=list)

    def pairs(self, *, derived: bool = True) -> Iterator[PassagePair]:
        """The pairs of an item.

        Args:
            derived: whether the restatement also stands in the passage's place.

        >>> item = Item("i", "The gate is open.", ["The gate is shut."], ["The door is shut."], ["One may pass."])
        >>> [(pair.second, pair.conflict) for pair in item.pairs(derived=False)]
        [('The gate is shut.', True), ('The door is shut.', False), ('One may pass.', False)]
        """
        for own in (self.passage, *(self.restated if derived else ())):
            for other in self.conflicts:
                yield PassagePair(own, other, True, self.id)
            for other in self.near:
                yield PassagePair(own, other, False, self.id)
        for other in self.restated:
            yield PassagePair(self.passage, other, False, self.id)


def parse(text: str) -> list[Item]:
    """The items of a text.

    Raises:
        SystemExit: a line is of no known form, or an item lacks its passage.

    >>> [item.near for item in parse("== i-1\\na: It is open.\\nx: It is shut.\\nn: The other one is shut.\\n")]
    [['The other one is shut.']]
    """
    items: list[Item] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("=="):
            items.append(Item(line[2:].strip()))
        elif line[:1] in KINDS and line[1:2] == ":" and items:
            said = line[2:].strip()
            if line[0] == "a":
                items[-1].passage = said
            else:
                getattr(items[-1], KINDS[line[0]]).append(said)
        elif line.strip():
            raise SystemExit(
                f"line {number}: expected '== id' or a passage after 'a:', 'x:', 'n:' or 'y:', got {line[:60]!r}"
            )
    for item in items:
        if not item.passage or not item.conflicts or not item.near:
            raise SystemExit(f"{item.id}: expected a line 'a:' and at least one of each of 'x:' and 'n:'")
    return items


def read_items(folder: Path = FOLDER, *, only: frozenset[str] = frozenset()) -> list[Item]:
    """The items of all files that are not held out, or those of the files named.

    Args:
        folder: where the files are.
        only: names of files without their endings.
    """
    chosen = [path for path in sorted(folder.glob("*.jsonl")) if path.stem in (only or {path.stem} - HELD_OUT)]
    return [Item(**json.loads(line)) for path in chosen for line in path.read_text(encoding="utf-8").splitlines()]


def blind(items: Sequence[Item], rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Groups for a second reader, and the key to them.

    The passage or its restatement comes first, then up to five others in any order. Now and then one or two are left
    out, so that how many of a group are conflicts cannot be guessed from the rest.
    """
    groups, key = [], {}
    order = list(items)
    rng.shuffle(order)
    for number, item in enumerate(order, 1):
        own = rng.choice(["a", "y"]) if item.restated else "a"
        texts = {"a": [item.passage], "x": item.conflicts, "n": item.near, "y": item.restated}
        others = [(kind, text) for kind in KINDS if kind != own for text in texts[kind]]
        rng.shuffle(others)
        del others[len(others) - rng.choice((0, 0, 1, 2)) :]
        lines = [f"#{number}", f"A: {texts[own][0]}", *(f"{at}: {text}" for at, (_, text) in enumerate(others, 1))]
        groups.append("\n".join(lines) + "\n")
        key[str(number)] = {"id": item.id, "base": own, "cand": others}
    return "\n".join(groups), key


@dataclass
class Agreement:
    """How far a second reader agrees with the writers."""

    read: int = 0
    same: int = 0
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Items and passages on which it does not."""

    def count(self, answers: str, key: Mapping[str, Any]) -> None:
        """Counts a reader's answers to the groups of a key.

        Raises:
            SystemExit: a group has another number of answers than passages.
        """
        given = {found[1]: found[2].split() for found in _ANSWERS.finditer(answers)}
        for number, group in key.items():
            letters = given.get(number, [])
            if letters and len(letters) != len(group["cand"]):
                raise SystemExit(f"group {number}: expected {len(group['cand'])} answers, got {len(letters)}")
            for letter, (kind, text) in zip(letters, group["cand"], strict=False):
                self.read += 1
                if letter == ("c" if kind == "x" else "n"):
                    self.same += 1
                else:
                    self.refused.add((group["id"], text))


def agreed(item: Item, refused: set[tuple[str, str]]) -> Item | None:
    """An item without the passages that a second reader refused; none where too little is left of it."""
    if (item.id, item.passage) in refused:
        return None
    kept = {
        name: [text for text in getattr(item, name) if (item.id, text) not in refused]
        for name in ("conflicts", "near", "restated")
    }
    return Item(item.id, item.passage, **kept) if kept["conflicts"] and kept["near"] else None


SENTENCES: Final = 60
"""How many sentences of a scenario's evidence are looked at."""
FEWEST_WORDS: Final = 4
"""The fewest words of a sentence."""
SAID_OF_IT: Final = 0.45
"""The share of a contradicted claim from which the closest sentence is the one that contradicts it."""
OF_A_SCENARIO: Final = 6
"""How many pairs of right claims, and of sentences, a scenario gives at most."""
ALIKE: Final = 0.3
"""How much chance counts beside the share of words in the choice of a second sentence."""
FEWEST_SENTENCES: Final = 5
"""Of a document of which two sentences are read."""
MOST_CHARACTERS: Final = 6_000
MOST_WORDS: Final = 60
DISAGREEING: Final = frozenset({"ne"})
"""Batches whose sources disagree, so that two of their sentences need not be compatible."""
DISAGREEING_CLAIMS: Final = re.compile(
    r"conflict|contradict|disagree|discord|dissens|outdat|obsol|stale|supersed|veraltet|widerspr|\bold\b|version|correct",
    re.IGNORECASE,
)
"""What is in the kind of a claim of a scenario whose sources disagree, or one of which takes another's place."""


def of_scenarios(side: Side, rng: random.Random) -> Iterator[PassagePair]:
    """Pairs of the claims and sentences of scenarios.

    Args:
        side: which batches.
        rng: of all choices.
    """
    for batch, scenarios in batches(side).items():
        for scenario in scenarios:
            sentences = _sentences(scenario)
            if sentences:
                yield from _contradicted(scenario, sentences, batch)
                yield from _compatible(scenario, sentences, batch, rng)


def _sentences(scenario: Scenario) -> list[str]:
    found = []
    for item in evidence_of(scenario):
        texts = (item.text[one.start : one.end].strip() for one in split_sentences(item.text))
        found += [text for text in texts if len(text.split()) >= FEWEST_WORDS]
    return found[:SENTENCES]


def _closest(text: str, sentences: Sequence[str]) -> str:
    return max(sentences, key=lambda one: claim_share_in_passage(text, one, ()))


def _contradicted(scenario: Scenario, sentences: Sequence[str], batch: str) -> Iterator[PassagePair]:
    """Claims that the evidence contradicts, beside their right twins and beside the sentence that contradicts them."""
    for _, claim in kept_claims(scenario):
        if claim["label"] != "contradicted":
            continue
        text, exchanged = claim["text"], exchange(claim)
        if exchanged is None:
            behind = _closest(f"{text} {claim.get('say', '')}", sentences)
            if claim_share_in_passage(text, behind, ()) > SAID_OF_IT:
                yield PassagePair(text, behind, True, batch)
            continue
        twin = text.replace(*exchanged)
        yield PassagePair(text, twin, True, batch)
        behind = _closest(twin, sentences)
        if exchanged[1].lower() in behind.lower():
            yield PassagePair(text, behind, True, batch)


def _compatible(scenario: Scenario, sentences: Sequence[str], batch: str, rng: random.Random) -> Iterator[PassagePair]:
    """Right claims beside each other and beside sentences, unsupported ones beside the closest sentence, and sentences
    beside each other."""
    right = []
    for _, claim in kept_claims(scenario):
        if claim["label"] == "unsupported":
            yield PassagePair(claim["text"], _closest(claim["text"], sentences), False, batch)
        elif claim["label"] == "supported":
            right.append(claim["text"])
    if batch in DISAGREEING:
        return
    for text in right:
        near = sorted(sentences, key=lambda one: -claim_share_in_passage(text, one, ()))[:4]
        yield PassagePair(text, near[0], False, batch)
        if near[1:]:
            yield PassagePair(text, rng.choice(near[1:]), False, batch)
    for texts in (right, sentences):
        for _ in range(min(OF_A_SCENARIO, len(texts) * (len(texts) - 1) // 2)):
            yield PassagePair(*_two_alike(texts, rng), False, batch)


def _two_alike(texts: Sequence[str], rng: random.Random) -> tuple[str, str]:
    """A text, and of the others one that shares much with it: such pairs are read in use."""
    own = rng.choice(texts)
    others = [one for one in texts if one != own] or list(texts)
    return own, max(others, key=lambda one: claim_share_in_passage(own, one, ()) + ALIKE * rng.random())


def of_documents(data: Path, most: int, rng: random.Random, apart: Callable[[str], bool]) -> list[PassagePair]:
    """Pairs of sentences of one document, which do not contradict each other, of documents for training.

    Args:
        data: the labelled data.
        most: how many pairs at most, one a document.
        rng: of all choices.
        apart: whether a document is held out.
    """
    documents = {row.evidence: row.source for row in load_training_sets(data) if part_of(row) == "train"}
    found = []
    for evidence, source in rng.sample(sorted(documents.items()), len(documents)):
        text = detokenise(" ".join(evidence))
        sentences = [text[one.start : one.end].strip() for one in split_sentences(text[:MOST_CHARACTERS])]
        sentences = [one for one in sentences if FEWEST_WORDS <= len(one.split()) <= MOST_WORDS]
        if len(sentences) >= FEWEST_SENTENCES and not apart(text):
            found.append(PassagePair(*_two_alike(sentences, rng), False, source))
        if len(found) >= most:
            break
    return found


def of_screening(side: Side) -> Iterator[PassagePair]:
    """Pairs of sentences of the passages of scenarios that the retrieval gate would read, which do not disagree.

    Args:
        side: which batches.
    """
    for batch, scenarios in batches(side).items():
        for scenario in scenarios:
            disagree = any(DISAGREEING_CLAIMS.search(claim.get("kind") or "") for claim in scenario["claims"])
            if batch in DISAGREEING or disagree:
                continue
            items = evidence_of(scenario)
            asked = frozenset(
                word.stem[:FAMILY] for word in find_words(scenario.get("question") or "").lexemes if word.weight
            )
            said = [one for place, item in enumerate(items) for one in statements_of(place, item, asked)]
            subjects = PassageSubjects(said, items)
            for pair in candidates(said, asked, max(LEAST_READ, len(items)), subjects.differ):
                sides = [(items[one.passage], one.text) for one in (pair.first, pair.second)]
                if all(is_prose(text) and not is_record(item.text) for item, text in sides):
                    one, other = (with_heading(item, text) for item, text in sides)
                    yield PassagePair(one, other, False, batch)


def titles_of(side: Side) -> list[str]:
    """The titles of the sources of scenarios, as they stand before a sentence in use."""
    found = {heading(item) for some in batches(side).values() for one in some for item in evidence_of(one)}
    return sorted(title for title in found if 0 < len(title) <= LONGEST_HEADING)


def with_titles(
    pairs: Sequence[PassagePair], titles: Sequence[str], share: float, rng: random.Random
) -> list[PassagePair]:
    """The pairs, some of them with titles of sources before one passage or both.

    A network that only ever saw two titles over compatible passages takes titles for a sign that there is no conflict.
    So they are drawn without regard to what the pair is.

    Args:
        pairs: pairs without titles.
        titles: to choose from.
        share: of the pairs that get titles; a quarter of these has one on one side only.
        rng: of all choices.
    """
    found = []
    for pair in pairs:
        one, other = rng.sample(titles, 2)
        chance = rng.random() / share if share else 1.0
        first = f"{one}{pair.first}" if chance < 7 / 8 else pair.first
        second = f"{other}{pair.second}" if chance < 3 / 4 or 7 / 8 <= chance < 1 else pair.second
        found.append(PassagePair(first, second, pair.conflict, pair.source))
    return found


def balanced(pairs: Sequence[PassagePair], most: int, rng: random.Random) -> list[PassagePair]:
    """A sample with as many conflicts as other pairs, at most `most` in all."""
    sides = [[one for one in pairs if one.conflict is conflict] for conflict in (True, False)]
    return [one for side in sides for one in rng.sample(side, min(len(side), most // 2))]


def main() -> None:
    """Write groups for a second reader, or the files of items on which it agrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("blind")
    asking.add_argument("texts", type=Path, nargs="+")
    asking.add_argument("--groups", type=Path, required=True)
    asking.add_argument("--key", type=Path, required=True)
    asking.add_argument("--seed", type=int, default=1)
    compiling = commands.add_parser("compile")
    compiling.add_argument("texts", type=Path, nargs="+")
    compiling.add_argument("--answers", type=Path, nargs=2, action="append", default=[], metavar=("KEY", "ANSWERS"))
    compiling.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    files = {path.stem: parse(path.read_text(encoding="utf-8")) for path in given.texts}
    if given.command == "blind":
        groups, key = blind([item for items in files.values() for item in items], random.Random(given.seed))
        given.groups.write_text(groups, encoding="utf-8")
        given.key.write_text(json.dumps(key, ensure_ascii=False), encoding="utf-8")
        return
    agreement = Agreement()
    for key_file, answers in given.answers:
        agreement.count(answers.read_text(encoding="utf-8"), json.loads(key_file.read_text(encoding="utf-8")))
    given.out.mkdir(parents=True, exist_ok=True)
    for name, items in files.items():
        kept = [one for item in items if (one := agreed(item, agreement.refused)) is not None]
        lines = [json.dumps(asdict(item), ensure_ascii=False) for item in kept]
        (given.out / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        counts = Counter(one.conflict for item in kept for one in item.pairs(derived=False))
        print(f"{name}: {len(kept)} of {len(items)} items, {counts[True]} conflicts, {counts[False]} other pairs")
    print(f"{agreement.same} of {agreement.read} readings agree")


if __name__ == "__main__":
    main()
