"""Atomic claims: the seeds' worked examples, structure, what is never parted, and spans for any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.schema.claim import ExtractedClaim
from assay.schema.verdict import ClaimKind
from assay.text.claims.answer_fragments import is_fragment
from assay.text.claims.interface import ClaimExtractor
from assay.text.claims.rule_extractor import RuleClaimExtractor

EXTRACTOR: ClaimExtractor = RuleClaimExtractor()
LEAVE = (
    "The parental leave policy provides 16 weeks of fully paid leave for primary caregivers. Partners are entitled to "
    "4 weeks. The policy was updated in January 2024 to include adoption and surrogacy pathways."
)


def extract(text: str, question: str | None = None) -> list[ExtractedClaim]:
    return EXTRACTOR.extract(text, question)


def said(text: str) -> list[str]:
    return [c.text.rstrip(".") for c in extract(text)]


def test_the_parental_leave_answer_gives_the_seven_atomic_facts_of_seed_003() -> None:
    assert said(LEAVE) == [
        "The parental leave policy provides 16 weeks of leave",
        "The parental leave policy provides fully paid leave",
        "The parental leave policy provides 16 weeks of leave for primary caregivers",
        "Partners are entitled to 4 weeks",
        "The policy was updated in January 2024",
        "The policy was updated to include adoption pathways",
        "The policy was updated to include surrogacy pathways",
    ]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        (
            "AegisRAG uses Qdrant for vector storage, Neo4j for graph reasoning, and Redis for memory caching.",
            [
                "AegisRAG uses Qdrant for vector storage",
                "AegisRAG uses Neo4j for graph reasoning",
                "AegisRAG uses Redis for memory caching",
            ],
        ),
        (
            "AegisRAG was created in 2020 by a team at Stanford University and uses GPT-4 for embeddings.",
            [
                "AegisRAG was created in 2020",
                "AegisRAG was created by a team at Stanford University",
                "AegisRAG uses GPT-4 for embeddings",
            ],
        ),
        (
            "BGE-M3 produces 1024-dimensional vectors and supports 50 languages. It was trained on 100 billion tokens.",
            [
                "BGE-M3 produces 1024-dimensional vectors",
                "BGE-M3 supports 50 languages",
                "BGE-M3 was trained on 100 billion tokens",
            ],
        ),
    ],
)
def test_the_examples_of_seed_004_come_out_as_listed(answer: str, claims: list[str]) -> None:
    assert said(answer) == claims


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("Acme was founded in 1990 and employs 40 people.", ["Acme was founded in 1990", "Acme employs 40 people"]),
        (
            "The firm was sold in 2001 and renamed in 2003.",
            ["The firm was sold in 2001", "The firm was renamed in 2003"],
        ),
        (
            "The bank has won three awards and opened five branches.",
            ["The bank has won three awards", "The bank has opened five branches"],
        ),
        ("He will review the form and send a reply.", ["He will review the form", "He will send a reply"]),
        ("Acme makes boats, and Bolt makes engines.", ["Acme makes boats", "Bolt makes engines"]),
        ("Acme was founded in 1990, and it employs 40 people.", ["Acme was founded in 1990", "Acme employs 40 people"]),
        (
            "Marie Curie, a physicist from Warsaw, won two prizes.",
            ["Marie Curie won two prizes", "Marie Curie was a physicist from Warsaw"],
        ),
        ("Acme, which is based in Oslo, sells boats.", ["Acme sells boats", "Acme is based in Oslo"]),
        (
            "The tool writes to a database, which stores every event.",
            ["The tool writes to a database", "The database stores every event"],
        ),
        ("Ann Lee is a player who plays for Oslo.", ["Ann Lee is a player", "Ann Lee plays for Oslo"]),
        ("Ann Lee (born 5 May 1960) is a painter.", ["Ann Lee is a painter", "Ann Lee was born on 5 May 1960"]),
        (
            "She wrote the song, recorded the album, and toured Europe.",
            ["She wrote the song", "She recorded the album", "She toured Europe"],
        ),
        ("The park has a pool and a gym.", ["The park has a pool", "The park has a gym"]),
        (
            "The tool supports Linux, macOS, and Windows in 2020.",
            ["The tool supports Linux in 2020", "The tool supports macOS in 2020", "The tool supports Windows in 2020"],
        ),
    ],
)
def test_a_compound_sentence_is_parted_and_its_subject_carried(sentence: str, claims: list[str]) -> None:
    assert said(sentence) == claims


@pytest.mark.parametrize(
    "sentence",
    [
        "If you pay late and do not call, the account is closed and the fee is due.",
        "He said the cat is black and the dog is white.",
        "The plan does not cover dental, vision, and hearing.",
        "The ingredients include salt and pepper.",
        "It is a big, red, and round ball.",
        "You may pay by card or send a cheque.",
        "The law bans smoking in bars and restaurants.",
        "The treaty was signed between France, Spain, and Portugal.",
        "Ann was born and raised in Oslo.",
        "The cake consists of flour, eggs, and milk.",
        "Neither the plan nor the policy covers it.",
        "The drug was approved in 2015 for adults and in 2018 for children.",
        "Only Oslo, Bergen, and Molde have an office.",
    ],
)
def test_what_a_cut_could_falsify_stays_whole(sentence: str) -> None:
    assert [c.text for c in extract(sentence)] == [sentence]


def test_a_pronoun_is_resolved_only_where_one_name_is_possible() -> None:
    assert said("Marie Curie was born in Warsaw. She won two prizes.")[1] == "Marie Curie won two prizes"
    assert said("Alice met Mary. She left early.")[1] == "She left early"
    assert said("Mr Ngata has objected. She paid the fee.")[1] == "She paid the fee", (
        "a form of address tells of whom it is"
    )
    assert said("Mrs Ngata has objected. She paid the fee.")[1] == "Mrs Ngata paid the fee"
    assert said("Acme grew. It seems that the fee rose.")[1] == "It seems that the fee rose"


def test_citation_markers_stay_in_the_span_and_out_of_the_text() -> None:
    text = "Leave is **fully** paid [1], and it lasts [16 weeks](https://x.example) [Source A]. It ended (2)."
    found = extract(text)
    assert [c.text for c in found] == ["Leave is fully paid.", "Leave lasts 16 weeks.", "Leave ended."]
    assert text[found[0].span.start : found[0].span.end] == "Leave is **fully** paid [1]"
    assert text[found[1].span.start : found[1].span.end].endswith("[Source A].")
    assert "citation" in found[0].critical


def test_list_items_carry_their_introduction() -> None:
    found = extract(
        "The plan includes:\n\n- Dental care\n- 16 weeks of leave [1]\n- Employees pay $5.\n- Vision: none\n"
    )
    assert [(c.text, c.checkable) for c in found] == [
        ("The plan includes:", False),
        ("The plan includes dental care.", True),
        ("The plan includes 16 weeks of leave.", True),
        ("Employees pay $5.", True),
        ("Vision: none", True),
    ]


def test_table_rows_become_column_and_value() -> None:
    text = "| Plan | Price | Seats |\n|---|---|---|\n| Basic | $5 | 3 |\n"
    found = extract(text)
    assert [(c.text, c.checkable) for c in found] == [
        ("Plan; Price; Seats", False),
        ("Plan: Basic; Price: $5", True),
        ("Plan: Basic; Seats: 3", True),
    ]
    assert text[found[1].span.start : found[1].span.end] == "$5"


def test_code_is_kept_but_not_checked_and_prose_in_a_fence_is() -> None:
    found = extract("```\nx = 1\nPartners get nine weeks of leave.\n```")
    assert [c.checkable for c in found if "x = 1" in c.text] == [False]
    assert [c.checkable for c in found if "nine weeks" in c.text] == [True]


@pytest.mark.parametrize(
    ("text", "kind", "checkable"),
    [
        ("Hello Ann!", ClaimKind.META, False),
        ("Thank you for asking.", ClaimKind.META, False),
        ("Let me know if you have any questions.", ClaimKind.META, False),
        ("Is it 5?", ClaimKind.META, False),
        ("Here is a summary of the Q3 report:", ClaimKind.META, False),
        ("I don't know.", ClaimKind.ABSTENTION, False),
        ("The documents do not mention a fee.", ClaimKind.ABSTENTION, True),
        ("I could not find the date in the passages.", ClaimKind.ABSTENTION, True),
        ("There is not enough information to answer this.", ClaimKind.ABSTENTION, False),
        ("I think it is lovely.", ClaimKind.UNCERTAIN, False),
        ("I think the fee is $5.", ClaimKind.UNCERTAIN, True),
        ("It might rain.", ClaimKind.UNCERTAIN, True),
        ("Thus revenue tripled.", ClaimKind.INFERENTIAL, True),
        ("Click Save and close the window.", ClaimKind.PROCEDURAL, True),
        ("I have booked your flight.", ClaimKind.PROCEDURAL, True),
        ("Partners get 9 weeks?", ClaimKind.FACTUAL, True),
        ("Acme makes boats.", ClaimKind.FACTUAL, True),
    ],
)
def test_a_sentence_has_the_kind_that_a_reader_would_give_it(text: str, kind: ClaimKind, checkable: bool) -> None:
    assert [(c.kind, c.checkable) for c in extract(text)] == [(kind, checkable)]


@pytest.mark.parametrize(
    "text",
    [
        "I don't know, but the fee is $5.",
        "Sure! Here is a fact: the fee is $5.",
        "Thanks, the fee is $5.",
        "Based on the provided passages, the fee is $5.",
        "Did you know that the fee is $5?",
    ],
)
def test_a_courtesy_or_an_abstention_hides_no_claim(text: str) -> None:
    checkable = [c.text for c in extract(text) if c.checkable]
    assert len(checkable) == 1
    assert checkable[0].startswith("The fee is $5")


def test_a_denial_about_the_evidence_and_the_claim_behind_it_are_two_claims() -> None:
    found = extract("The documents do not mention tax, but the fee is $5.")
    assert [(c.kind, c.checkable) for c in found] == [(ClaimKind.ABSTENTION, True), (ClaimKind.FACTUAL, True)]


def test_a_phrase_is_an_answer_when_there_is_a_question() -> None:
    assert [c.checkable for c in extract("4 weeks", "How long is it?")] == [True]
    assert [c.checkable for c in extract("Yes.", "Is it paid?")] == [True]
    assert [c.checkable for c in extract("Yes.")] == [False]


@pytest.mark.parametrize("text", ["4 weeks", "Paris", "Paris.", "about $5 million", "the northern bridge", "May 2020"])
def test_a_phrase_is_a_fragment(text: str) -> None:
    assert is_fragment(text)


@pytest.mark.parametrize(
    "text", ["It is Paris.", "", "...", "Partners get 4 weeks.", "One. Two.", "假期为十六周长达四个月"]
)
def test_a_sentence_is_no_fragment(text: str) -> None:
    assert not is_fragment(text)


PIECES = st.sampled_from(  # parts of sentences
    [
        "Acme ",
        "was founded ",
        "in 1990 ",
        "and ",
        ", ",
        "which is ",
        "employs 40 people",
        ". ",
        "\n",
        "- ",
        "| ",
        "[1] ",
        "I don't know, but ",
        "a physicist ",
        "# ",
        "**",
        "(",
        ")",
        "```\n",
        "> ",
        "The plan includes:",
        "It ",
        "\ud800",
        "。",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=150), st.lists(PIECES, max_size=30).map("".join)))
def test_spans_nest_and_no_letter_is_dropped(text: str) -> None:
    found = extract(text)
    covered = bytearray(len(text))
    for c in found:
        assert c.sentence.start <= c.span.start < c.span.end <= c.sentence.end <= len(text)
        covered[c.sentence.start : c.sentence.end] = b"\x01" * (c.sentence.end - c.sentence.start)
    assert all(covered[i] for i, char in enumerate(text) if char.isalnum())
    assert [c.sentence_index for c in found] == sorted(c.sentence_index for c in found)
    assert extract(text) == found


@pytest.mark.parametrize(
    "unit", ["and ", "A, ", "[a", "(", "which ", "I don't know ", "<a ", "16 weeks of ", "**", "@a."]
)
def test_a_hostile_run_comes_back(unit: str) -> None:
    text = unit * (30_000 // len(unit))
    covered = sum(c.sentence.end - c.sentence.start for c in {c.sentence: c for c in extract(text)}.values())
    assert covered <= len(text)


def test_the_extractor_names_its_rules() -> None:
    assert EXTRACTOR.name == "rules-1"


@pytest.mark.parametrize(
    ("said", "claims"),
    [
        ("Anna leads the team. She joined in 2020.", ["Anna leads the team.", "Anna joined in 2020."]),
        (
            "Anna leads the team. She joined in 2020. It has 12 members.",
            ["Anna leads the team.", "Anna joined in 2020.", "It has 12 members."],
        ),
        (
            "Brenn was born in 1900. It has often been said that he left.",
            ["Brenn was born in 1900.", "It has often been said that he left."],
        ),
        ("The chair can be raised. It weighs 4 kg.", ["The chair can be raised.", "The chair weighs 4 kg."]),
    ],
)
def test_a_pronoun_takes_the_place_of_what_it_stands_for_and_of_nothing_else(said: str, claims: list[str]) -> None:
    assert [claim.text for claim in EXTRACTOR.extract(said)] == claims
