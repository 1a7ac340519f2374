"""Rows in which one word is exchanged: spans lie on the new word, both sides look alike, the dictionary is read."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.edits.generate import contradicted
from train.edits.lexical import Change, applied, in_evidence, lexical_rows
from train.edits.wordnet import Lexicon
from train.rows import Row

SYNSETS: Mapping[str, tuple[str, ...]] = {
    # wider synset, or nothing : its words; the first word names the synset
    "being": ("", "05", "being"),
    "animal": ("being", "05", "animal"),
    "dog": ("animal", "05", "dog", "hound"),
    "cat": ("animal", "05", "cat"),
    "poodle": ("dog", "05", "poodle"),
    "barrier": ("", "06", "barrier"),
    "fence": ("barrier", "06", "fence", "railing"),
    "hedge": ("barrier", "06", "hedge"),
    "gate": ("barrier", "06", "gate"),
}


def _line(name: str, offsets: Mapping[str, int]) -> str:
    wider, topic, *words = SYNSETS[name]
    links = [("@", wider)] if wider else []
    links += [("~", other) for other, (above, *_) in SYNSETS.items() if above == name]
    spelled = " ".join(f"{word} 0" for word in words)
    pointers = "".join(f" {symbol} {offsets.get(to, 0):08d} n 0000" for symbol, to in links)
    return (
        f"{offsets.get(name, 0):08d} {topic} n {len(words):02x} {spelled} {len(links):03d}{pointers} | a sort of it\n"
    )


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dictionary")
    offsets: dict[str, int] = {}
    at = 0
    for name in SYNSETS:
        offsets[name] = at
        at += len(_line(name, {}))
    (folder / "data.noun").write_text("".join(_line(name, offsets) for name in SYNSETS))
    own = {word: name for name, (_, _, *words) in SYNSETS.items() for word in words}
    (folder / "index.noun").write_text("".join(f"{w} n 1 1 @ 1 1 {offsets[n]:08d}\n" for w, n in sorted(own.items())))
    (folder / "cntlist.rev").write_text("".join(f"{w}%1:05:00:: 1 9\n" for w in sorted(own)))
    (folder / "noun.exc").write_text("")
    for name in ("verb", "adj"):
        for file in (f"index.{name}", f"data.{name}", f"{name}.exc"):
            (folder / file).write_text("")
    return folder


PLACES = ("harbour", "school", "mill", "church", "river", "museum", "garden", "station")
THINGS = ("dog", "hound", "cat", "poodle", "animal", "fence", "railing", "hedge", "gate", "barrier")
ROWS = [
    Row("snli", (f"In May a {thing} was seen near the old {place}.",), f"A {thing} was near the {place}.", "supported")
    for place in PLACES
    for thing in THINGS
] + [
    Row("defacto", (f"Anna Weiss saw a {thing} near the {place}. The {place} was painted in 1931.",), "", "supported")
    for place in PLACES
    for thing in THINGS
]


@pytest.fixture(scope="module")
def made(dictionary: Path) -> list[Row]:
    return lexical_rows(ROWS, 80, 3, Lexicon.read(dictionary))


def test_both_labels_come_in_nearly_equal_number(made: list[Row]) -> None:
    true = sum(row.label == "supported" for row in made)
    assert len(made) >= 40
    assert abs(2 * true - len(made)) <= 0.2 * len(made)


def test_the_span_of_a_wrong_row_is_the_exchanged_word_and_true_rows_have_none(made: list[Row]) -> None:
    exchanged = [row for row in made if row.source in ("edit:sister", "edit:narrower", "edit:unlike")]
    assert {row.source for row in exchanged} >= {"edit:sister", "edit:narrower"}
    for row in exchanged:
        ((start, end),) = row.spans
        assert row.claim[start:end].removeprefix("a ").removeprefix("an ") in THINGS
    assert all(not row.spans for row in made if row.label == "supported")


def test_what_is_wrong_is_not_in_the_evidence_and_what_is_true_follows_from_it(made: list[Row]) -> None:
    kinds = {"dog": {"hound", "animal"}, "hound": {"dog", "animal"}, "poodle": {"dog", "hound", "animal"}}
    kinds |= {"cat": {"animal"}, "fence": {"railing", "barrier"}, "railing": {"fence", "barrier"}}
    kinds |= {"hedge": {"barrier"}, "gate": {"barrier"}, "animal": set(), "barrier": set()}
    for row in made:
        if row.source not in ("edit:sister", "edit:narrower", "edit:unlike", "edit:true.synonym", "edit:true.wider"):
            continue
        said = {w for w in THINGS if f" {w} " in f" {row.claim.lower().strip('.')} "}
        shown = {w for w in THINGS if f" {w} " in f" {row.evidence[0].lower()} "}
        assert len(said) <= 1
        assert len(shown) == 1
        if said:
            follows = said <= shown or said <= kinds[next(iter(shown))]
            assert follows == (row.label == "supported"), row


def test_the_exact_tier_speaks_against_no_true_row(made: list[Row]) -> None:
    assert not any(contradicted(row) for row in made if row.label == "supported")


def test_the_same_seed_gives_the_same_rows_and_another_one_others(dictionary: Path, made: list[Row]) -> None:
    assert lexical_rows(ROWS[::-1], 80, 3, Lexicon.read(dictionary)) == made
    assert lexical_rows(ROWS, 80, 4, Lexicon.read(dictionary)) != made


def test_a_dictionary_that_lacks_a_file_is_an_error_that_names_it(dictionary: Path, tmp_path: Path) -> None:
    for file in dictionary.iterdir():
        if file.name != "data.verb":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(FileNotFoundError, match=r"data\.verb.*wordnet-base"):
        Lexicon.read(tmp_path)


@pytest.mark.parametrize(
    ("base", "pos", "form", "inflected"),
    [
        ("carry", "v", "past", "carried"),
        ("write", "v", "participle", "written"),
        ("make", "v", "ing", "making"),
        ("box", "n", "plural", "boxes"),
        ("woman", "n", "plural", "women"),
        ("person", "n", "plural", "people"),
        ("city", "n", "plural", "cities"),
        ("lie", "v", "ing", "lying"),
    ],
)
def test_words_are_inflected(base: str, pos: str, form: str, inflected: str) -> None:
    lexicon = Lexicon({"n": {}, "v": {}, "a": {}}, {}, {"n": {}, "v": {}, "a": {}})
    assert lexicon.inflect(base, pos, form) == inflected  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(["auto", "car", "oak", "ant", "bee", "a", "an"]), min_size=3, max_size=12), st.data())
def test_outside_of_the_spans_a_changed_text_is_as_it_was(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    places = sorted(data.draw(st.sets(st.integers(0, len(words) - 1), min_size=1, max_size=3)))
    starts = [sum(len(w) + 1 for w in words[:i]) for i in places]
    changes = [
        Change("synonym", at, at + len(words[i]), data.draw(st.sampled_from(["engine", "tree"])), "supported", "x", "n")
        for i, at in zip(places, starts, strict=True)
        if words[i] not in ("a", "an")
    ]
    made, spans = applied(text, changes)
    for change, (start, end) in zip(changes, spans, strict=True):
        assert made[start:end].endswith(change.new)
    assert len(made.split()) == len(words)
    kept = [w for i, w in enumerate(words) if w not in ("a", "an") and i not in places]
    assert [w for w in made.split() if w not in ("a", "an", "engine", "tree")] == kept


def test_a_word_that_the_evidence_has_twice_is_not_exchanged_there() -> None:
    assert in_evidence(("An owl sat. Owls hunt at night.",), "owl", "bird") is None
    assert in_evidence(("An owl sat on a gate.",), "owl", "bird") == ("A bird sat on a gate.",)
