"""Numbers in words, units and dates of German, French, Spanish, Italian and Portuguese, and English left as it is."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.dates import find_dates
from assay.text.lexicon import GRAMMARS, read_negations
from assay.text.quantities import find_quantities
from assay.text.sentences import OTHER_LANGUAGES


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("vier Wochen", 28),
        ("vierundzwanzig Tage", 24),
        ("14 Tage", 14),
        ("deux semaines", 14),
        ("vingt et un jours", 21),
        ("soixante-quinze jours", 75),
        ("quatre-vingt-dix-neuf jours", 99),
        ("cuatro semanas", 28),
        ("treinta y cinco días", 35),
        ("veintiocho días", 28),
        ("due settimane", 14),
        ("ventotto giorni", 28),
        ("trentuno giorni", 31),
        ("duas semanas", 14),
        ("quarenta e cinco dias", 45),
    ],
)
def test_a_length_of_time_in_words_is_what_it_is_in_digits(text: str, days: int) -> None:
    (found,) = find_quantities(text)
    assert found.dimension == "time"
    assert found.low == days * 86400
    assert (found.start, found.end) == (0, len(text))


def test_a_word_of_two_languages_is_a_number_only_in_the_other_one() -> None:
    assert not find_quantities("The rent was due once, and an elf paid it.")
    (found,) = find_quantities("En la sala hay once sillas para los que no se quedan.")
    assert found.value == 11


def test_a_share_in_other_words_is_a_share() -> None:
    for text in ("20 Prozent", "20 pourcent", "20 por ciento", "20 per cento"):
        (found,) = find_quantities(text, locale="de")
        assert (found.dimension, found.start, found.end) == ("share", 0, len(text))


def test_what_no_unit_and_no_language_tells_stays_a_word() -> None:
    assert not find_quantities("Otto Dix")
    assert not find_quantities("por ciento")


@pytest.mark.parametrize(
    "text",
    [
        "am 3. März 2024",
        "le 3 mars 2024 et les jours qui suivent",
        "el 3 de marzo de 2024",
        "il 3 marzo 2024",
        "em 3 de março de 2024",
    ],
)
def test_a_date_is_read_whole(text: str) -> None:
    (found,) = find_dates(text)
    assert (found.year, found.month, found.day) == (2024, 3, 3)


def test_a_month_with_its_year_is_a_date_and_one_alone_is_none() -> None:
    (found,) = find_dates("im Oktober 2023")
    assert (found.year, found.month, found.day) == (2023, 10, None)
    assert find_dates("le premier août fut beau") == ()


def test_names_of_months_that_are_english_words_are_none_in_english() -> None:
    assert find_dates("They sold 3 Mars bars and 2 mayo sandwiches.") == ()
    assert [(d.month, d.day) for d in find_dates("The office opens on 3 March.")] == [(3, 3)]


@given(st.text(max_size=80))
def test_every_mention_lies_in_the_text_and_none_overlaps_another(text: str) -> None:
    found = find_dates(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(first.end <= second.start for first, second in pairwise(found))
    quantities = find_quantities(text)
    assert all(first.end <= second.start for first, second in pairwise(quantities))


@pytest.mark.parametrize("name", OTHER_LANGUAGES)
def test_a_sentence_without_a_cue_is_not_negated(name: str) -> None:
    grammar = GRAMMARS[name]
    opener = min(grammar.openers, default="")
    cue = min(grammar.negations or grammar.paired)
    assert not read_negations("alpha beta gamma", grammar).cues
    denied = read_negations(f"alpha {opener} beta {cue} gamma", grammar)
    assert denied.content == read_negations("alpha beta gamma", grammar).content
    assert denied.cues
    assert not denied.unsure


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Der Fonds gibt zwei Millionen dreihunderttausend Euro.", 2_300_000),
        ("Das Lager fasst neunhundertneunundneunzig Kisten der Firma.", 999),
        ("Die Stadt hat eine Million zweihunderttausend Bewohner.", 1_200_000),
        ("Le fonds donne deux millions trois cent mille euros.", 2_300_000),
        ("La ville et le port ont quatre-vingt-seize mille habitants.", 96_000),
        ("Le plan est de deux cent cinquante euros.", 250),
        ("El fondo da dos millones trescientos mil euros.", 2_300_000),
        ("La ciudad tiene noventa y seis mil habitantes.", 96_000),
        ("El plan es de mil doscientos euros.", 1_200),
        ("Il fondo dà due milioni trecentomila euro.", 2_300_000),
        ("La città ha novantaseimila abitanti.", 96_000),
        ("Il piano è di centottantotto euro.", 188),
        ("O fundo dá dois milhões e trezentos mil euros.", 2_300_000),
        ("A cidade tem noventa e seis mil habitantes.", 96_000),
        ("O plano é de duzentos e cinquenta e três euros.", 253),
    ],
)
def test_a_number_in_words_is_read_whole(text: str, value: int) -> None:
    (found,) = find_quantities(text)
    assert found.value == value
    assert found.quiet


@pytest.mark.parametrize(
    "text",
    [
        "El contrato dura dos años y medio.",
        "O curso dura três anos e meio.",
        "Le stage dure trois ans et demi.",
        "Il corso dura tre anni e mezzo.",
        "Der Kurs dauert dreieinhalb Jahre.",
        "Der Umbau dauert drei bis vier Wochen.",
        "Das Praktikum dauert zwei Jahre und sechs Monate.",
        "Le bureau ouvre à huit heures.",
        "L'essai dure quinze jours.",
        "Zwei Drittel der Mitglieder sind da.",
        "O valor dos contratos é alto.",
        "Er sagt, das Büro sei zu.",
        "C'est un appartement neuf.",
        "La visita dura como máximo dos horas.",
    ],
)
def test_a_number_that_is_not_surely_read_whole_is_not_read(text: str) -> None:
    assert find_quantities(text) == ()


def test_a_unit_that_english_has_as_a_word_is_none_in_english() -> None:
    (found,) = find_quantities("They own 3 metro lines.")
    assert found.dimension == "count"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("vom 3. bis zum 8. Mai 2024", [3, 8]),
        ("du 3 au 8 mai 2024", [3, 8]),
        ("del 3 al 8 de mayo de 2024", [3, 8]),
        ("dal 3 all'8 maggio 2024", [3, 8]),
        ("de 3 a 8 de maio de 2024", [3, 8]),
        ("am 3., 5. und 8. Mai 2024", [3, 5, 8]),
    ],
)
def test_days_that_share_a_month_are_all_read(text: str, days: list[int]) -> None:
    found = find_dates(text)
    assert [one.day for one in found] == days
    assert {(one.year, one.month) for one in found} == {(2024, 5)}


@pytest.mark.parametrize(
    "text",
    [
        "I rimborsi non superano mai 1500 euro.",
        "A settembre 1200 studenti si sono iscritti.",
        "A settembre 2000 studenti si sono iscritti.",
        "Im Mai 2000 Besucher zu empfangen, ist neu.",
        "Il negozio non apre mai 2024 volte.",
    ],
)
def test_a_count_behind_a_month_is_no_year(text: str) -> None:
    assert all(one.month is None for one in find_dates(text))


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("bis zum 8. Mai 2024", "until"),
        ("à partir du 8 mai 2024", "since"),
        ("antes del 8 de mayo de 2024", "before"),
        ("entro il 8 maggio 2024", "until"),
        ("depois de 8 de maio de 2024", "after"),
    ],
)
def test_a_limit_in_front_of_a_date_is_read(text: str, bound: str) -> None:
    (found,) = find_dates(text)
    assert found.bound == bound
