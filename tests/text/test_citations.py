"""Citations in texts: every form, the statement behind each, and what is none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.citations.detection import find_citations


def sources(text: str, known: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    return [citation.source_ids for citation in find_citations(text, known)]


def statements(text: str, known: tuple[str, ...] = ()) -> list[str]:
    return [citation.cited_text for citation in find_citations(text, known)]


@pytest.mark.parametrize(
    ("marker", "named"),
    [
        ("[Source X]", ("X",)),
        ("[Source: X]", ("X",)),
        ("[source 3]", ("3",)),
        ("[Doc 4]", ("4",)),
        ("[Document: Leave Policy, 2024]", ("Leave Policy, 2024",)),
        ("[1]", ("1",)),
        ("[1, 2]", ("1", "2")),
        ("[1; 3 and 5]", ("1", "3", "5")),
        ("[1-3]", ("1", "2", "3")),
        ("[2–4, 7]", ("2", "3", "4", "7")),
        ("[hr-2]", ("hr-2",)),
        ("[doc_12]", ("doc_12",)),
        ("[KB-1001, KB-1002]", ("KB-1001", "KB-1002")),
        ("[policy.pdf]", ("policy.pdf",)),
        ("[leave policy v2.docx]", ("leave policy v2.docx",)),
        ("[https://x.example/a?b=1]", ("https://x.example/a?b=1",)),
        ("[0d9f3a2c-7b1e-4a53-9d7e-2f1a5c8b9e01]", ("0d9f3a2c-7b1e-4a53-9d7e-2f1a5c8b9e01",)),
        ("[Smith et al., 2020]", ("Smith et al., 2020",)),
        ("(Smith & Lee, 2020)", ("Smith & Lee, 2020",)),
        ("(Source: Leave policy)", ("Leave policy",)),
        ("(Sources: hr-2; hr-3)", ("hr-2", "hr-3")),
        ("[^1]", ("1",)),
        ("¹", ("1",)),
        ("【1†source】", ("1",)),
        ("【4:0†policy.pdf】", ("policy.pdf",)),
        ("【hr-2】", ("hr-2",)),
        ("[[1]](https://x.example/a)", ("https://x.example/a",)),
        ("[1](https://x.example/a)", ("https://x.example/a",)),
        ("[hr-2](#sources)", ("hr-2",)),
    ],
)
def test_every_form_of_marker_names_its_sources(marker: str, named: tuple[str, ...]) -> None:
    [citation] = find_citations(f"Leave lasts 16 weeks {marker}.".replace(" ¹", "¹"))
    assert citation.source_ids == named
    assert citation.marker == marker
    assert citation.cited_text == "Leave lasts 16 weeks"


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] open\n- [x] done\n- [X] done too",
        "He said [sic] that [...] it was [emphasis added] there [citation needed].",
        "Dear [your name], see [link] and [Document continues].",
        "The value lies in the interval [0, 1] or in the range [1, 5].",
        "Values in [1, 2] are allowed, where x = [1, 2].",
        "It happened in [2023], [October 2016], [Feb 1991], at [10:30am], in version [v1.2] for [5 kg].",
        "Take a[0] and arr_x[1] and items[2].name() first.",
        "Use `[1]` here.\n\n```python\nx = a[1]\ny = [2, 3]\n```\n",
        'The body is {"ids": [1, 2]}.',
        "Write \\[1\\] in LaTeX, and $$x[1]$$ too.",
        "The area is 5 m² or 10³ metres, and x² + four metres² remain.",
        "Visit [our portal](https://y.example) or [the page](mailto:a@y.example) ![1](img.png).",
        "It rose (see below), (March 2020), (3) and (hr).",
        "ISO 27001:2022 was published. Section 4 is short. The Act applies.",
        "[COVID-19] and [GPT-4] are topics.",
        "",
        "[",
        "[]",
    ],
)
def test_what_only_looks_like_a_citation_is_none(text: str) -> None:
    assert find_citations(text) == []


def test_known_names_decide_in_doubt() -> None:
    assert sources("It is so [leave] and so (Leave policy) and [S9].") == []
    assert sources("It is so [leave].", ("leave",)) == [("leave",)]
    assert sources("It is so (Leave policy).", ("leave POLICY",)) == [("Leave policy",)]
    assert sources("It is so [S9].", ("S1", "S2")) == [("S9",)]
    assert sources("It is so [2023].", ("2023",)) == [("2023",)]
    assert sources("See [the policy](https://x.example/p).", ("https://x.example/p",)) == [("https://x.example/p",)]


@pytest.mark.parametrize(
    ("marker", "source", "location"),
    [
        ("[hr-2, p. 4]", "hr-2", "p. 4"),
        ("[policy.pdf, page 12]", "policy.pdf", "page 12"),
        ("[hr-2 §3.1]", "hr-2", "§3.1"),
        ("[Source: Leave policy, Section 8.4.3]", "Leave policy", "Section 8.4.3"),
        ("[doc_12#p4]", "doc_12", "p4"),
        ("【3†L10-L12】", "3", "L10-L12"),
    ],
)
def test_the_place_in_the_source_is_kept_apart_from_its_name(marker: str, source: str, location: str) -> None:
    [citation] = find_citations(f"Leave lasts 16 weeks {marker}.")
    assert (citation.source_ids, citation.location) == ((source,), location)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Leave is 16 weeks [1]. Pay is full [2].", ["Leave is 16 weeks", "Pay is full"]),
        ("Leave is 16 weeks. [1] Pay is full. [2]", ["Leave is 16 weeks.", "Pay is full."]),
        ("Leave is 16 weeks.[1] Pay is full.[2]", ["Leave is 16 weeks.", "Pay is full."]),
        ("Leave is 16 weeks [1][2].", ["Leave is 16 weeks", "Leave is 16 weeks"]),
        ("Leave is 16 weeks [1], and the pay stays full [2].", ["Leave is 16 weeks", "and the pay stays full"]),
        ("According to [1], leave is 16 weeks.", ["leave is 16 weeks."]),
        ("Leave is long. [2] says that it is 16 weeks.", ["says that it is 16 weeks."]),
        ("Leave is 16 weeks.\n[1]", ["Leave is 16 weeks."]),
        ("See [1] for details.", [""]),
        ("| Leave | 16 weeks [1] |\n| Pay | full [2] |", ["Leave | 16 weeks", "Pay | full"]),
        ("- Leave is 16 weeks [1]\n- Pay is full [2]", ["Leave is 16 weeks", "Pay is full"]),
        ("休暇は16週間です[1]。給与は全額です[2]。", ["休暇は16週間です", "給与は全額です"]),
        ("Leave is 16 weeks.\nIt is paid.\n\nSource: Leave policy", ["Leave is 16 weeks. It is paid."]),
        ("A first point.\n\nLeave is 16 weeks.\nSources: [1], [2]", ["Leave is 16 weeks.", "Leave is 16 weeks."]),
    ],
)
def test_each_citation_is_attached_to_its_statement(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


def test_a_footnote_stands_for_what_its_definition_names() -> None:
    text = "Leave is 16 weeks.[^1] It is paid.[^pay]\n\n[^1]: Leave policy (hr-2), p. 4\n[^pay]: The Pay Act\n"
    assert sources(text, ("hr-2",)) == [("hr-2",), ("The Pay Act",)]


def test_a_number_stands_for_its_entry_in_the_list_of_references() -> None:
    text = "Leave is 16 weeks [1]. Pay is full [2].\n\n## References\n[1] Leave policy, hr-2\n[2] https://x.example/p\n"
    assert sources(text, ("hr-2",)) == [("hr-2",), ("https://x.example/p",)]
    numbered = "Leave is 16 weeks [1].\n\nSources:\n1. hr-2\n2. hr-3\n"
    assert [(c.source_ids, c.kind) for c in find_citations(numbered, ("hr-2",))] == [
        (("hr-2",), "marker"),
        (("hr-3",), "listed"),
    ]


def test_a_number_that_is_an_id_keeps_its_meaning_beside_a_list_of_references() -> None:
    assert sources("Leave is 16 weeks [1].\n\n## References\n[1] Some title\n", ("1", "2")) == [("1",)]


def test_an_entry_that_no_marker_uses_is_a_citation_of_nothing() -> None:
    [citation] = find_citations("All is well.\n\n**References**\n- The Great Leave Study, 2019\n")
    assert (citation.kind, citation.source_ids) == ("listed", ("The Great Leave Study, 2019",))
    assert citation.cited_start == citation.cited_end


@pytest.mark.parametrize(
    ("text", "document", "section"),
    [
        ("Per ISO 27001:2022 Section 8.4.3, access is reviewed.", "ISO 27001:2022", "Section 8.4.3"),
        ("Under Section 4.2 of the Remote Work Policy, staff may travel.", "Remote Work Policy", "Section 4.2"),
        ("Article 17 of the GDPR grants erasure.", "GDPR", "Article 17"),
        ("The Fair Housing Act, § 804(a) forbids it.", "Fair Housing Act", "§ 804(a)"),
        ("Staff Handbook 2024 clause 3 says so.", "Staff Handbook 2024", "clause 3"),
    ],
)
def test_a_named_document_with_a_numbered_part_is_an_authority(text: str, document: str, section: str) -> None:
    [citation] = find_citations(text)
    assert (citation.kind, citation.source_ids, citation.location) == ("authority", (document,), section)
    assert citation.cited_text == text


def test_quotations_of_the_statement_come_with_the_citation() -> None:
    text = 'It says "partners are entitled to 2 weeks" and “they must apply early” [hr-2]. The "core time" stays [1].'
    first, second = find_citations(text)
    assert first.quotes == ("partners are entitled to 2 weeks", "they must apply early")
    assert first.quote == "partners are entitled to 2 weeks"
    assert second.quotes == ()
    assert second.quote is None


def test_a_quotation_of_several_sentences_belongs_to_the_statement() -> None:
    [citation] = find_citations('It says "partners get 2 weeks. They must apply." [hr-2]')
    assert citation.quotes == ("partners get 2 weeks. They must apply.",)


def test_a_quoted_block_is_a_quotation_as_a_whole() -> None:
    assert find_citations("> partners are entitled to 2 weeks [1]")[0].quotes == ("partners are entitled to 2 weeks",)


SEPARATE = st.sampled_from(
    [
        "[1]",
        "[hr-2]",
        "(Source: X)",
        "【1†source】",
        "[^1]",
        "¹",
        "[a](http://x.example)",
        "`",
        "```",
        "\n",
        ". ",
        '"',
        "“",
        "[",
        "]",
        "(",
        ")",
        "Section 4.2 of the Leave Policy",
        "> ",
        "| ",
        "- ",
        "Leave is long",
        "é",
        "𝔘",
        "#",
        "👩\u200d👧",
        ":",
        "References\n",
        "\u202e",
        "e\u0301",
        "$$",
        "\\(",
        "says",
    ]
)


@given(st.lists(SEPARATE, max_size=25).map("".join) | st.text(max_size=60))
def test_any_text_gives_citations_in_order_whose_spans_slice_back(text: str) -> None:
    before = 0
    for citation in find_citations(text, ("hr-2", "Leave Policy")):
        assert before <= citation.start <= citation.end <= len(text)
        assert text[citation.start : citation.end] == citation.marker
        assert 0 <= citation.cited_start <= citation.cited_end <= len(text)
        assert citation.source_ids
        before = citation.end


UNITS = [
    "[",
    "]",
    "[[",
    "[1",
    "[1]",
    "(",
    "((",
    "()",
    "¹",
    "¹,",
    "【",
    "【1†",
    "`",
    "```\n",
    "“",
    '"',
    "[a](",
    "[1](",
    "](",
    "Aa ",
    "Aa Policy ",
    "Section 1.",
    "§",
    "Source:",
    "Source: ",
    "\nSource: x",
    "[^1]: ",
    "\n[^1]: x",
    "- ",
    "1. a\n",
    "References\n",
    "[1] a ",
    "$$",
    "\\(",
    "a.",
    "[a-1.",
    "p. 4 ",
    "[source ",
    " et al., 2020)",
    "[1, ",
    "_",
    "> ",
    "| ",
    "(Source: ",
    "[Aa Bb ",
    "http://",
    "0-",
    "a b and ",
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_hundred_kilobytes_of_anything_are_read(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    found = find_citations(text, ("hr-2", "Leave Policy"))
    assert all(text[c.start : c.end] == c.marker for c in found)


def test_very_long_sentences_are_cut_at_the_statement() -> None:
    [citation] = find_citations("word " * 2000 + "[1].")
    assert citation.cited_end - citation.cited_start <= 2000
    assert re.fullmatch(r"(word ?)+", citation.cited_text)
