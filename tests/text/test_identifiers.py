"""Identifiers, names, polarity and words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.lexicon.identifiers import find_identifiers
from assay.text.lexicon.lexemes import find_words, stem
from assay.text.lexicon.names import find_acronyms, find_names
from assay.text.lexicon.polarity import find_conditions, find_negations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to Bob@Example.co.uk.", [("email", "bob@example.co.uk")]),
        ("See https://example.com/a(b)?q=1.", [("url", "example.com/a(b)?q=1")]),
        ("Ticket ABC-123 is closed.", [("code", "abc-123")]),
        ("It runs GPT-4/BGE-M3.", [("code", "gpt-4"), ("code", "bge-m3")]),
        ("Upgrade to v2.1.3 now.", [("version", "2.1.3")]),
        ("Read Article 17 and Section 4.2.", [("reference", "article 17"), ("reference", "section 4.2")]),
        ("Edit /etc/hosts or C:\\x\\y.", [("path", "/etc/hosts"), ("path", "C:\\x\\y")]),
        (
            "Id 550e8400-e29b-41d4-a716-446655440000 failed.",
            [("uuid", "550e8400-e29b-41d4-a716-446655440000")],
        ),
        ("ISBN 978-3-16-148410-0 is out.", [("isbn", "9783161484100")]),
        ("It answers at 192.168.0.1 only.", [("ip", "192.168.0.1")]),
        ("It cost $35M, 35%, 10-15 kg, 1.200.000 or 16GB on 3/14/2020 in the 1990s.", []),
    ],
)
def test_identifiers_are_found_in_normal_form(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(i.kind, i.key) for i in find_identifiers(text)] == expected


def test_names_are_runs_of_capitals_with_titles_and_initials() -> None:
    text = "In 2019 Dr. Ada M. Lovelace saw the University of Oxford and met Jean-Luc O'Neil's brother."
    assert [n.keys for n in find_names(text)] == [
        ("ada", "lovelace"),
        ("university", "oxford"),
        ("jean", "luc", "o'neil"),
    ]


def test_an_acronym_is_made_of_a_name() -> None:
    text = "the World Health Organization"
    assert "who" in find_acronyms(text, find_words(text))


def test_diacritics_and_inflections_fold() -> None:
    assert [w.fold for w in find_words("Beyonce\u0301’s Beyoncé").lexemes] == ["beyonce", "beyonce"]
    assert stem("receiving") == stem("received") == stem("receive")


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("It does not support Linux.", ["support", "linux"]),
        ("It no longer runs.", ["run"]),
        ("Not only is it fast.", []),
        ("She never, ever lies.", []),
        ("It fails to start.", ["start"]),
    ],
)
def test_negation_has_a_scope_within_its_clause(text: str, scope: list[str]) -> None:
    words = find_words(text)
    found = find_negations(text, words)
    assert [words.lexemes[i].stem for n in found for i in n.scope] == scope


def test_a_condition_ends_with_its_clause() -> None:
    text = "Travel is paid, unless it is private, by the firm."
    words = find_words(text)
    (condition,) = find_conditions(text, words)
    assert [w.fold for w in words.lexemes[condition.first : condition.last]] == ["unless", "it", "is", "private"]


@given(st.text(max_size=300))
def test_all_spans_slice_back_in_any_unicode(text: str) -> None:
    words = find_words(text)
    for start, end in zip(words.starts, words.ends, strict=True):
        assert text[start:end]
    for identifier in find_identifiers(text):
        assert text[identifier.start : identifier.end] == identifier.text
    for name in find_names(text, words):
        assert 0 <= name.start < name.end <= len(text)
    find_negations(text, words)
    find_conditions(text, words)


@pytest.mark.parametrize(
    "piece",
    ["a1-", "1/", "@", "a@", "a.1", "www.", "a_", " section 1", "(1", "A ", "A of ", "not ", "a'", "é\u0301", "if "],
)
def test_adversarial_text_is_read(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    words = find_words(text)
    find_identifiers(text)
    find_names(text, words)
    find_acronyms(text, words)
    find_negations(text, words)
    find_conditions(text, words)
