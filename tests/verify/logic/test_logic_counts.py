"""Announced numbers against lists, in Markdown and in running text."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import assert_linear

from assay.text.sentences.splitting import split_sentences
from assay.verify.logic import LogicFinding, audit_logic
from assay.verify.logic.counts import count_findings


def found(text: str) -> list[LogicFinding]:
    return count_findings(text, split_sentences(text))


WRONG = [
    "There are four reasons:\n\n- cost\n- time\n- risk\n",
    "There are four reasons:\n- cost\n- time\n- risk\n- law\n- habit\n",
    "You need the following three documents:\n1. A passport\n2. A photo\n",
    "**There are three plans:**\n\n* Basic\n* Plus\n",
    "The plan has two parts:\n\n1. Planning\n2. Building\n3. Testing\n\nAll of it takes a year.",
    "Two conditions must be met:\n- The form is signed.\n- The fee is paid.\n- The deadline is kept.\n",
    "It rained. There are 3 options:\n- Wait for a day\n- Pay now\n",
    "The process has five steps:\n\n1. **Apply**: send the form.\n2. **Wait**: a week.\n3. **Sign**: at the desk.\n",
    "The three documents below:\n- A passport\n- A photo\n",
    "These are the two exceptions:\n- weekends\n\n- holidays\n\n- strikes\n",
    "The following four departments took part:\n- Sales\n- Finance\n- Legal\n\nNobody else did.",
    "There are three ways to pay:\n+ By card\n+ In cash\n",
    "There are six categories of members:\n- junior\n  - under 12\n  - over 12\n- senior\n- guest\n",
    "Our four principles are:\na) honesty\nb) care\nc) thrift\n",
    "There are three plans: Basic and Plus.",
    "There are two reasons: cost, time and risk.",
    "The three plans (Basic and Plus) differ in price.",
    "The two plans (Basic, Plus and Pro) differ in price.",
    "We sell two models: Kestrel, Heron, and Wren.",
    "There are three colours: red and green.",
    "The law names four exceptions: illness, travel, and bereavement.",
    "It has two phases — design, building and testing — and ends in May.",
    "There are three options: (1) wait, (2) pay.",
    "There are two options: (1) wait, (2) pay, and (3) leave.",
    "There are two ways to pay: by card; by cheque; in cash.",
    "There are four ways to pay: by card; by cheque; in cash.",
    "Three factors matter: price and speed.",
    "The firm has two branches, namely Leeds, York and Hull.",
    "The firm has four branches, namely Leeds, York and Hull.",
    "Members have three rights: voting and speaking.",
    "The report has five parts: summary, method, results, and outlook.",
    "She named two causes: rust, wear and neglect.",
    "There are four reasons. First, it is cheap. Second, it is fast. Third, it is safe.",
    "There are two reasons. First, it is cheap. Second, it is fast. Third, it is safe.",
    "The plan has two goals. Firstly, it saves money. Secondly, it saves time. Finally, it saves space.",
    "There are five steps. First, apply. Second, wait. Third, sign.",
    "It failed for three reasons. First, the pump broke. Second, nobody saw it.",
    "There are three conditions. The first is age. The second is income.",
    "There are two conditions. The first is age. The second is income. The third is residence.",
    "The two options are:\n- Stay\n- Move\n- Rent out\n",
    "- There are three kinds:\n  - small\n  - large\n",
    "Intro.\n\nHere are seven tips:\n1. Sleep\n2. Walk\n3. Read\n4. Rest\n5. Eat\n6. Drink\n",
    "The following three steps are required:\n\n1. Apply.\n2. Wait.\n\nGood luck.",
    "We offer four subscription tiers: Free, Plus, and Team.",
    "There are two main causes: smoking, stress, and diet.",
    "The contract can be ended in three ways:\n\n- by notice\n- by agreement\n- by court\n- by death\n",
    "It comes in five sizes: S, M, L and XL.",
    "Three countries signed: France, Spain, Italy and Malta.",
    "There are three exceptions to this rule: first, Sundays; second, holidays.",
    "You can pay in four ways: cash, card, or cheque.",
    "Here are five tips:\n\n1. **Plan** ahead\n2. **Read** more\n3. **Ask** early\n4. **Rest** well",
    "The two authors (Marx, Engels and Bebel) met in Paris.",
    "The kit contains six parts:\n* a bolt\n* a nut\n* a washer\n* a spring\n* a cap",
    "The process consists of three phases. First, we plan. Second, we build. Third, we test. Fourth, we ship.",
    "There are seven colours: red, orange, yellow, green, blue and violet.",
    "The board has four members: Ann Lee, Bo Karl and Cy Dunn.",
    "Applicants need two documents:\n- passport\n- visa\n- photo",
    "The trial had three arms: placebo and treatment.",
    "I have two questions:\n1. When?\n2. Where?\n3. Why?",
    "The app supports three platforms, namely iOS and Android.",
    "The seven wonders are:\n1. a1\n2. b2\n3. c3\n4. d4\n5. e5\n6. f6",
    "She speaks three languages (Dutch and Polish).",
]

RIGHT = [
    "There are three reasons:\n\n- cost\n- time\n- risk\n",
    "There are at least four reasons:\n- cost\n- time\n- risk\n",
    "You need any two of the following documents:\n1. A passport\n2. A photo\n3. A bill\n",
    "Choose two plans:\n- Basic\n- Plus\n- Pro\n",
    "There are four reasons, including:\n- cost\n- time\n",
    "There are three plans:\n- Basic and Plus: for one person\n- Pro: for firms\n",
    "There are two plans:\n- Basic\n  - cheap\n  - slow\n- Pro\n  - fast\n",
    "There are three steps:\n\n1. Apply\n\n   This takes a day.\n\n2. Wait\n\n3. Sign\n",
    "There are three steps:\n\n1. Apply\n\nThis takes a day.\n\n2. Wait\n\nThis too.\n\n3. Sign\n",
    "There are two options:\n- Stay\n- Move\n- Note: both are free\n",
    "Staff with two years of service need:\n- A badge\n- A key\n- A form\n",
    "Two employees must sign the following:\n- the form\n- the contract\n- the receipt\n",
    "There are two parts:\n- Planning\n- Building\n\nThe second has these tasks:\n- Walls\n- Roof\n- Floor\n",
    "There are three colours:\n\nred\ngreen\n",
    "| n | three plans: |\n|---|---|\n| 1 | Basic and Plus |\n",
    "```\nthree plans:\n- a\n- b\n```\n",
    "There are three plans: Basic, Plus and Pro.",
    "There are two plans: Basic and Plus.",
    "There are two reasons: cost and the loss of time and money.",
    "The three plans (Basic, Plus and Pro) differ in price.",
    "We visited two cities: Paris, the capital, and Rome.",
    "We visited two cities: Paris, France and Rome, Italy.",
    "There are three plans: Basic, Plus, etc.",
    "There are four plans: Basic, Plus and others.",
    "There were three guests: Ann and her sons.",
    "It has three rooms: two bedrooms and a kitchen.",
    "There are two problems: it is slow, it is dear, and it is loud in the evening.",
    "There are five days in a working week: Monday to Friday.",
    "The course takes three months: May, June and most of July and August.",
    "There are over three colours: red and green.",
    "It comes in three colours (see the catalogue and the site).",
    "There are two ways to pay: by card; in cash.",
    "There are two options: (1) wait, (2) pay.",
    "There are three reasons. First, it is cheap. Second, it is fast. Third, it is safe.",
    "There are three reasons. First, it is cheap. Second, it is fast. Also, it is safe.",
    "There are three reasons. First, it is cheap. Second, it is fast. Finally, it is safe.",
    "There are four seasons. In spring it rains. First, the snow melts.",
    "There are three teams. First, Leeds won. Second, York won.",
    "There are three people at the desk: Ann, Ben and Cleo.",
    "Three factors matter: price, speed and, above all, safety.",
    "The two brothers (Wilbur and Orville) flew.",
    "The ratio of 3 parts: water and sand.",
    "It has 12 models (2 and 3 are sold out).",
    "Version 2 features: speed, size and weight.",
    "The process consists of three phases. First, we plan. Second, we build. Third, we test.",
    "There are two exceptions to this rule: first, Sundays; second, holidays.",
    "We use four systems (networks and models): A1, B2, C3 and D4.",
    "Three countries signed: France, Spain and Italy.",
]


@pytest.mark.parametrize("text", WRONG)
def test_a_list_that_is_not_as_announced_is_found(text: str) -> None:
    assert [f.code for f in found(text)] == ["logic.count"]


@pytest.mark.parametrize("text", RIGHT)
def test_lists_as_announced_and_lists_that_may_go_on_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_the_number_and_the_list_are_named_as_places() -> None:
    text = WRONG[0]
    finding = next(f for f in audit_logic(text).findings if f.code == "logic.count")
    assert text[finding.span.start : finding.span.end] == "four reasons"
    assert [text[s.start : s.end] for s in finding.others] == ["- cost\n- time\n- risk"]
    assert finding.message == "“four reasons” are announced; 3 are listed."


@given(announced=st.integers(2, 12), listed=st.integers(2, 14), mark=st.sampled_from(["- ", "* ", "{}. ", "{}) "]))
def test_markdown_lists_are_counted(announced: int, listed: int, mark: str) -> None:
    items = "\n".join(f"{mark.format(n)}item" for n in range(1, listed + 1))
    text = f"There are {announced} reasons:\n\n{items}\n\nThat is all."
    assert len(found(text)) == (announced != listed)


@given(announced=st.integers(2, 9), listed=st.integers(2, 9), oxford=st.booleans())
def test_lists_in_running_text_are_counted(announced: int, listed: int, oxford: bool) -> None:
    names = ["Leeds", "York", "Hull", "Bath", "Derby", "Ripon", "Truro", "Wells", "Ely"][:listed]
    joint = ", and " if oxford and listed > 2 else " and "
    text = f"There are {announced} offices: {', '.join(names[:-1])}{joint}{names[-1]}."
    assert len(found(text)) == (announced != listed and announced * 2 != listed)


@settings(max_examples=60)
@given(text=st.text(alphabet="tworeasnfiv :;,-()\n12*.F", max_size=300))
def test_places_lie_in_the_text(text: str) -> None:
    for finding in found(text):
        for span in (finding.span, *finding.others):
            assert 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "two reasons:\n- a\n",
        "two reasons: ",
        "- a\n",
        "There are two reasons. First, a. ",
        "First, a. ",
        "two plans (",
        "two parts:\n\n",
        "(1) a, ",
        "two a b c s, and ",
        "a, b and ",
        "two big reasons ",
        ": (",
        "  - a:\n",
    ],
)
def test_a_hundred_thousand_characters_take_time_in_proportion(piece: str) -> None:
    def prepare(text: str) -> Callable[[], object]:
        sentences = split_sentences(text)
        return lambda: count_findings(text, sentences)

    assert_linear(prepare, piece)
