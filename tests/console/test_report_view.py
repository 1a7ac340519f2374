"""The report on a page: to the character, whatever the spans, and with the words that decide."""

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.standin import claim_report, report_of

from assay.harmless import seen
from assay.reporting.html_writer import escape
from assay.schema import Evidence, EvidenceSpan, Issue, Span
from assay.schema.report import RevisionAttempt, TextChange
from assay.server.console.charts import Series, stacked_bars
from assay.server.console.views.claim_card import claim_card
from assay.server.console.views.quotations import quote, quotes
from assay.server.console.views.report import answer_view
from assay.server.console.views.report_sections import MOST_CHARACTERS, MOST_CLAIMS
from assay.server.console.views.revisions import diff, revision_view


def words_of(html: str) -> str:
    """What a reader sees of the marked output, without the signs at the ends of claims."""
    marked = re.search(r'<div class="answer text"[^>]*>(.*?)</div>', html, re.DOTALL)
    assert marked is not None
    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"<sup.*?</sup>", "", marked[1], flags=re.DOTALL)))


@settings(deadline=None)
@given(st.text(max_size=80), st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=10))
def test_the_marked_output_is_the_output_whatever_the_spans(text: str, spans: list[tuple[int, int]]) -> None:
    claims = tuple(claim_report("FALSE" if a % 2 else "so", Span(start=a, end=b), []) for a, b in map(sorted, spans))
    html = answer_view(report_of(text).model_copy(update={"claims": claims}), {}, {}).html
    # What cannot be seen is written out, at the border of a mark too.
    assert "".join(map(seen, words_of(html))) == "".join(map(seen, unescape(escape(text))))


def test_the_words_that_decide_stand_marked_in_their_surroundings() -> None:
    text = "Before it. " + "x" * 2_000 + " Partners get 2 weeks of leave. " + "y" * 2_000
    start = text.index("2 weeks")
    span = EvidenceSpan(evidence_id="hr", start=start, end=start + 7, text="2 weeks", relation="contradicts", score=0.9)
    html = quote([span], Evidence(id="hr", text=text, title="Handbook")).html
    assert "<mark" in html
    assert "Partners get " in html
    assert "Before it." not in html
    assert html.count("…") == 2
    other = quote([span], Evidence(id="hr", text="Something else was stored meanwhile.")).html
    assert "2 weeks" in other
    assert "Something else" not in other


def test_a_claim_is_one_mark_however_many_of_its_words_are_wrong() -> None:
    text = "It is paid."
    parts = (Span(start=3, end=5), Span(start=6, end=10))
    issues = tuple(Issue(code="number.mismatch", message="It is not.", span=span) for span in parts)
    claim = claim_report("FALSE", Span(start=0, end=len(text)), []).model_copy(update={"issues": issues})
    html = answer_view(report_of(text).model_copy(update={"claims": (claim,)}), {}, {}).html
    marks = re.findall(r'<a [^>]*class="piece [^>]*>(.*?)</a>', html)
    assert len(marks) == 1
    assert re.findall(r'<span class="here">(.*?)</span>', marks[0]) == ["is", "paid"]


LEAFLET = "Adults take one tablet every 8 hours for 7 days. It may be taken with food."


def passage(words: str, relation: str = "contradicts", score: float = 0.8) -> EvidenceSpan:
    start = LEAFLET.index(words)
    return EvidenceSpan.model_validate(
        {
            "evidence_id": "leaflet",
            "start": start,
            "end": start + len(words),
            "text": words,
            "relation": relation,
            "score": score,
        }
    )


def test_passages_of_one_text_stand_in_one_quotation_and_the_words_it_hangs_on_are_stronger() -> None:
    spans = [passage("7 days"), passage("one"), passage("Adults take one tablet every 8 hours for 7 days.", score=0.9)]
    (figure,) = quotes(spans, {"leaflet": Evidence(id="leaflet", text=LEAFLET)})
    assert re.findall(r'<mark [^>]*class="exact"[^>]*>(.*?)</mark>', figure.html) == ["one", "7 days"]
    assert "contradicts 0.90" in figure.html
    supporting = passage("It may be taken with food.", "supports")
    apart = quotes([*spans, supporting], {"leaflet": Evidence(id="leaflet", text=LEAFLET)})
    assert len(apart) == 2
    erased = quotes(spans, {})
    assert len(erased) == 3


@settings(deadline=None)
@given(st.text(min_size=1, max_size=80), st.lists(st.tuples(st.integers(0, 79), st.integers(1, 80)), min_size=1))
def test_a_quotation_is_the_evidence_to_the_character_whatever_is_marked(
    text: str, places: list[tuple[int, int]]
) -> None:
    cut = [(a % len(text), min(len(text), a % len(text) + b)) for a, b in places]
    spans = [
        EvidenceSpan(evidence_id="e", start=a, end=b, text=text[a:b], relation="supports", score=0.5) for a, b in cut
    ]
    html = quote(spans, Evidence.model_construct(id="e", text=text)).html
    shown = re.search(r"<blockquote[^>]*>(.*?)</blockquote>", html, re.DOTALL)
    assert shown is not None
    told = unescape(re.sub(r"<[^>]*>", "", shown[1]))
    assert "".join(map(seen, told)) == "".join(map(seen, unescape(escape(text))))


def test_claims_stand_in_a_list_that_leads_to_their_cards_the_gravest_first() -> None:
    claims = tuple(claim_report(text, Span(start=at, end=at + 1), []) for at, text in enumerate(("so", "FALSE", "so")))
    html = answer_view(report_of("abc").model_copy(update={"claims": claims}), {}, {}).html
    listed = re.search(r'<ol class="claim-list".*?</ol>', html, re.DOTALL)
    assert listed is not None
    assert re.findall(r'href="#claim-(\d)"', listed[0])[0] == "2"
    assert sorted(re.findall(r'href="#claim-(\d)"', listed[0])) == sorted(re.findall(r'id="claim-(\d)"', html))
    alone = answer_view(report_of("abc").model_copy(update={"claims": claims[:1]}), {}, {}).html
    assert "claim-list" not in alone


def test_an_output_beyond_the_limit_is_cut_and_says_so() -> None:
    html = answer_view(report_of("a" * (MOST_CHARACTERS + 10)), {}, {}).html
    assert "10 more characters" in html


def test_of_many_claims_the_gravest_have_cards() -> None:
    text = "x" * 2 * (MOST_CLAIMS + 50)
    spans = [Span(start=2 * at, end=2 * at + 1) for at in range(MOST_CLAIMS + 50)]
    claims = tuple(claim_report("FALSE" if at == MOST_CLAIMS + 20 else "so", span, []) for at, span in enumerate(spans))
    html = answer_view(report_of(text).model_copy(update={"claims": claims}), {}, {}).html
    assert html.count("<article") == MOST_CLAIMS
    assert f'id="claim-{MOST_CLAIMS + 21}"' in html
    assert "50 more claims" in html
    for number in re.findall(r'href="#claim-(\d+)"', html):
        assert f'id="claim-{number}"' in html


def test_a_card_says_why() -> None:
    claim = claim_report("FALSE", Span(start=0, end=2), [])
    html = claim_card(0, claim, {}).html
    assert "contradicted" in html
    assert "No passage of the evidence decides about it." in html


@settings(deadline=None)
@given(st.text(max_size=60), st.data())
def test_a_diff_holds_both_versions_to_the_character(original: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(original)), max_size=6)))
    cuts = cuts[: len(cuts) // 2 * 2]
    changes, later, at = [], "", 0
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        after = data.draw(st.text(max_size=5))
        changes.append(TextChange(start=start, end=end, before=original[start:end], after=after))
        later, at = later + original[at:start] + after, end
    later += original[at:]
    html = re.sub(r'<span class="hidden">.*?</span>', "", diff(original, changes).html)
    first = re.sub(r"<ins>.*?</ins>", "", html, flags=re.DOTALL)
    last = re.sub(r"<del>.*?</del>", "", html, flags=re.DOTALL)
    assert unescape(re.sub(r"<[^>]*>", "", first)) == "".join(map(seen, unescape(escape(original))))
    assert unescape(re.sub(r"<[^>]*>", "", last)) == "".join(map(seen, unescape(escape(later))))


def test_a_run_without_repairs_has_no_history_of_them() -> None:
    assert revision_view(report_of("It holds.")) is None
    assert RevisionAttempt(number=1, outcome="better", reason="It passes.").changes == ()


def test_a_chart_has_its_figures_as_words_and_nothing_of_no_figures() -> None:
    series = [Series("emit", "good", [3, 0]), Series("block", "bad", [1, 0])]
    html = stacked_bars("Decisions", ["Monday", "Tuesday"], series, [(0, "Mon")]).html
    assert "<title>Monday: emit 3, block 1</title>" in html
    assert "Tuesday" not in html
    assert "<svg" in stacked_bars("Decisions", [], [], []).html
