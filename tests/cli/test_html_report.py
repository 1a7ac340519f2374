"""The HTML report: foreign text stays text, every claim can be reached, and nothing is fetched or run."""

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.standin import report_of

from assay.cli.reports.html_report import Entry, html_index, html_report
from assay.reporting.html_writer import direction
from assay.schema import ClaimReport, Evidence, HallucinationReport

HOSTILE = st.one_of(
    st.text(st.one_of(st.characters(), st.sampled_from("<>&\"'/=.`\n\x00\ud800\u202e")), max_size=60),
    st.sampled_from(["<script>x()</script>", "</style><img src=x onerror=x>", '" onfocus="x', "]]><svg/onload=x>"]),
)


ALLOWED = (
    "html head meta title style body div b bdi main section h1 h2 span p dl dt dd svg rect ul li a article header code "
    "figure figcaption blockquote mark table thead tbody tr th td footer ol h3 del ins q"
)


class Reader(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.answer = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend(attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def page_of(text: str, passage: str = "P", name: str = "n") -> str:
    evidence = [Evidence(id="e", text=passage)]
    return html_report(name, report_of(text, evidence, passage), evidence)


@settings(max_examples=80, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_foreign_text_never_becomes_markup(answer: str, passage: str, name: str) -> None:
    reader = read(page_of(f"FALSE {answer}", passage, name))
    assert reader.open == []
    assert set(reader.tags) <= set(ALLOWED.split())
    names = {key for key, _ in reader.attributes}
    assert not [key for key in names if key.startswith("on")]
    assert not names & {"style", "src", "srcdoc", "action"}
    assert all(str(value).startswith("#") for key, value in reader.attributes if key == "href")


@settings(max_examples=80, deadline=None)
@given(HOSTILE)
def test_the_page_can_be_written_as_utf_8(answer: str) -> None:
    page_of(answer, answer, answer).encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=60))
def test_the_answer_stands_in_the_page_in_full(answer: str) -> None:
    page = page_of(answer)
    inner = re.search(r'<div class="answer"[^>]*>(.*?)</div><div class="legend">', page, re.DOTALL)
    assert inner is not None
    without_signs = re.sub(r'<a class="sign.*?</a>', "", inner.group(1))
    reader = HTMLParserText()
    reader.feed(without_signs)
    reader.close()
    assert reader.text == answer


class HTMLParserText(HTMLParser):
    """Collects the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_every_claim_and_citation_that_is_linked_exists() -> None:
    page = page_of("FALSE one [e].\nMAYBE two [z].\nThree. HELLO.")
    identities = re.findall(r' id="([^"]+)"', page)
    assert len(identities) == len(set(identities))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(identities)
    assert {"claim-1", "claim-2", "at-1", "at-2", "citation-1"} <= set(identities)


def test_verdicts_can_be_read_without_colour() -> None:
    page = page_of("FALSE one.\nMAYBE two.\nThree.\nBROKEN four.")
    for words in ("✗ 1 contradicted", "? 2 unsupported", "✓ 3 supported", "! 4 unchecked"):
        assert words in page


def test_the_deciding_words_are_marked_in_their_place() -> None:
    passage = "x" * 2000
    page = page_of("FALSE.", passage)
    assert f'<mark dir="auto">{"x" * 40}</mark>{"x" * 260}…' in page


def test_words_that_the_evidence_does_not_have_stand_alone() -> None:
    report = report_of("FALSE.", [Evidence(id="e", text="Old words.")])
    page = html_report("n", report, [Evidence(id="e", text="Quite other text.")])
    assert "Old words." in page
    assert "Quite other" not in page


def test_the_direction_follows_the_first_letter() -> None:
    assert 'dir="rtl"' in page_of("שלום עולם.")
    assert direction("") == "ltr"


def test_the_index_escapes_names() -> None:
    page = html_index([Entry("<b>x", report_of("FALSE."), "x.html")])
    assert "&lt;b&gt;x" in page
    assert read(page).open == []


# Beside claims and citations

PASSAGE = "Partners are entitled to 2 weeks of leave."
HOSTILE_WORDS = "<script>x()</script>"


def full_report() -> HallucinationReport:
    """A report with every part that a page can show, foreign text hostile wherever it may stand."""
    text = "Partners are entitled to 4 weeks of leave FALSE."
    report = report_of(text, [Evidence(id="e", text=PASSAGE)], PASSAGE)
    quote = {"evidence_id": "e", "start": 25, "end": 26, "text": "2", "relation": "contradicts", "score": 0.9}
    claim = ClaimReport.model_validate(
        {
            **report.claims[0].model_dump(),
            "suggestions": [
                {
                    "span": {"start": 25, "end": 26},
                    "before": "4",
                    "after": "2",
                    "evidence": quote,
                    "code": "number.mismatch",
                }
            ],
            "judgement": {
                "asked_because": ["unsure"],
                "outcome": "contradicts",
                "reason": "So.",
                "before": "unsupported",
                "changed": True,
                "answers": [
                    {
                        "question": 2,
                        "verdict": "FAIL",
                        "justification": HOSTILE_WORDS,
                        "quotes": [quote],
                        "void": HOSTILE_WORDS,
                    }
                ],
            },
        }
    )
    cause = {
        "claim": 0,
        "likely": "staleness",
        "probability": 0.54,
        "estimates": [
            {
                "cause": "staleness",
                "presence": 0.9,
                "effect": 0.6,
                "share": 1.0,
                "reason": f"It is old. {HOSTILE_WORDS}",
                "spans": [quote],
            }
        ],
    }
    revision = {
        "original": "Partners are entitled to 9 weeks. " + HOSTILE_WORDS,
        "stopped": "exhausted",
        "escalation_required": True,
        "failed_before": 2,
        "failed_after": 1,
        "author": HOSTILE_WORDS,
        "changes": [{"start": 25, "end": 26, "before": "9", "after": "4"}],
        "attempts": [
            {
                "number": 1,
                "outcome": "better",
                "reason": HOSTILE_WORDS,
                "failed_claims": 1,
                "overall_score": 0.4,
                "restored": 2,
                "changes": [{"start": 25, "end": 26, "before": "9", "after": HOSTILE_WORDS}],
            },
            {"number": 2, "outcome": "no_better", "reason": "It is no better."},
        ],
    }
    abstention = {
        "outcome": "ABSTAIN",
        "reason": "low_confidence",
        "confidence": 0.2,
        "calibrated": True,
        "signals": [
            {"name": "groundedness", "value": 0.2, "weight": 0.5},
            {"name": "consistency", "weight": 0.5, "missing": "nothing was asked again"},
        ],
        "triggers": [{"trigger": "low_coverage", "value": 0.1, "threshold": 0.5}],
        "caveats": [{"claim": HOSTILE_WORDS, "span": {"start": 0, "end": 4}, "confidence": 0.1}],
        "response": HOSTILE_WORDS,
        "suggested_actions": ["provide_more_context"],
    }
    call = {
        "tool": HOSTILE_WORDS,
        "args": {"id": HOSTILE_WORDS},
        "status": "rejected",
        "errors": [HOSTILE_WORDS],
        "provenance": [
            {
                "path": f"/{HOSTILE_WORDS}",
                "value": HOSTILE_WORDS,
                "kind": "identifier",
                "status": "untraced",
                "source": None,
            }
        ],
    }
    return HallucinationReport.model_validate(
        {
            **report.model_dump(),
            "claims": [claim.model_dump()],
            "causes": [cause],
            "revision": revision,
            "abstention": abstention,
            "tool_call_validations": [call],
            "escalation": {
                "tier": "sync",
                "level": "require_approval",
                "risk": 0.63,
                "stakes_weight": 0.75,
                "confidence": 0.16,
                "minutes": 15,
            },
            "consistency_probes": [
                {"claim": HOSTILE_WORDS, "original": "o", "probe_answers": [HOSTILE_WORDS], "agreement": 0.0}
            ],
            "spending": [
                {
                    "purpose": "judge",
                    "model": HOSTILE_WORDS,
                    "requests": 2,
                    "calls": 3,
                    "prompt_tokens": 1200,
                    "completion_tokens": 80,
                    "cost": 0.0123,
                }
            ],
        }
    )


def test_every_part_of_a_report_stands_on_the_page_and_stays_text() -> None:
    page = html_report("n", full_report(), [Evidence(id="e", text=PASSAGE)])
    reader = read(page)
    assert reader.open == []
    assert set(reader.tags) <= set(ALLOWED.split())
    assert "script" not in reader.tags
    said = Words().of(page)
    for part in (
        "Suggested: 4 → 2 [e]",
        "The judge: contradicts (it was unsupported)",
        "2. not contradicted: FAIL",
        "Likely causes (together 54%, by noisy-or)",
        "staleness 100%: It is old.",
        "does not pass (exhausted), 2 attempts, 2 findings before, 1 after",
        "rolled back: It is no better.",
        "(1 finding left, score 0.40, 2 sentences put back)",
        "Partners are entitled to 94 weeks.",
        "ABSTAIN (low confidence), probability 0.20",
        "low coverage: 0.1 against 0.5",
        "nothing was asked again",
        "Next: provide more context",
        "sync (require approval): risk 0.63 = stakes 0.75 × (1 - confidence 0.16), 15 minutes to decide.",
        "→ sync require approval available reviewer minutes is held",
        "1,200",
        "0.0123 USD",
    ):
        assert part in said, part


def test_a_page_has_no_heading_for_what_there_is_not() -> None:
    plain = page_of("It is so.")
    for heading in (
        "Repair",
        "Whether to answer",
        "Review by a person",
        "Asked again",
        "Tool calls",
        "Spent on models",
    ):
        assert f">{heading}<" not in plain


class Words(HTMLParser):
    """The text of a page as it is read, with a space between the cells and the blocks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said = ""

    def handle_data(self, data: str) -> None:
        self.said += data

    def handle_endtag(self, tag: str) -> None:
        self.said += " " if tag in ("td", "p", "li", "h2", "div") else ""

    def of(self, page: str) -> str:
        self.feed(page)
        self.close()
        return " ".join(self.said.split())
