"""Suites written from a corpus: the three of the examples, and documents that are hostile or poor."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.cli.inputs import read_evidence
from assay.errors import InputError
from assay.redteam.cases import LEAST_PLAUSIBLE, Behavior, Case, Category, lint
from assay.redteam.generate import write_suite
from assay.redteam.generate.attacks.scale_stress import DEPTHS, SIZES
from assay.redteam.generate.corpus import LONGEST_PASSAGE, Corpus, document_of
from assay.redteam.generate.facts import facts_of
from assay.redteam.judging.stated_values import states
from assay.schema import Evidence

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "redteam"
CORPORA = ("policies", "api", "wiki")


@cache
def documents(name: str) -> tuple[Evidence, ...]:
    return read_evidence([str(EXAMPLES / name)])[0]


@cache
def suite(name: str) -> tuple[Case, ...]:
    return write_suite(documents(name), 40, seed=3)


def every_case() -> list[Case]:
    return [case for name in CORPORA for case in suite(name)]


def test_a_long_context_of_every_size_has_its_passage_at_every_depth() -> None:
    cases = write_suite(documents("wiki"), 60, categories=(Category.SCALE_STRESS,))
    found = Counter((case.parameters["tokens"], case.parameters["depth"]) for case in cases)
    assert set(found) == {(size, depth) for size in SIZES for depth in DEPTHS}


@pytest.mark.parametrize("name", CORPORA)
def test_every_category_is_written_as_often_as_asked(name: str) -> None:
    counted = Counter(case.category for case in suite(name))
    assert set(counted) == set(Category)
    assert min(counted.values()) >= 38


@pytest.mark.parametrize("name", CORPORA)
def test_the_same_seed_writes_the_same_suite_whatever_the_order_of_the_documents(name: str) -> None:
    turned = write_suite(tuple(reversed(documents(name))), 40, seed=3)
    assert turned == suite(name)


def test_another_seed_writes_other_cases() -> None:
    other = {case.id for case in write_suite(documents("wiki"), 40, seed=4)}
    assert len(other - {case.id for case in suite("wiki")}) > 200


@pytest.mark.parametrize("name", CORPORA)
def test_the_linter_finds_nothing_and_nothing_is_implausible(name: str) -> None:
    assert lint(suite(name)) == ()
    assert min(case.plausibility for case in suite(name)) >= LEAST_PLAUSIBLE


def test_right_answers_stand_in_the_evidence() -> None:
    looked_up = {Behavior.ANSWER, Behavior.FIND_AND_USE, Behavior.CORRECT_PREMISE}
    for case in every_case():
        if case.expected_behavior in looked_up:
            text = "\n".join(passage.text for passage in case.evidence)
            assert any(states(text, value) for value in case.accepted), case


def test_planted_values_do_not_stand_in_the_sentence_that_is_right() -> None:
    for case in every_case():
        if case.expected_behavior is Behavior.CORRECT_PREMISE:
            assert not any(states(case.ground_truth or "", value) for value in case.planted), case


def test_the_long_context_holds_the_passage_and_is_as_long_as_it_says() -> None:
    for case in every_case():
        if case.category is Category.SCALE_STRESS:
            length = sum(len(passage.text) for passage in case.context)
            assert case.evidence[0] in case.context
            assert 0.8 <= length / (4 * float(case.parameters["tokens"])) <= 1.3
            before = sum(len(one.text) for one in case.context[: case.context.index(case.evidence[0])])
            assert abs(before / length - float(case.parameters["depth"])) < 0.25


def test_chains_have_each_length_and_the_result_that_their_steps_give() -> None:
    lengths: Counter[int] = Counter()
    for case in every_case():
        if case.category is Category.COMPOSITIONAL:
            steps = re.findall(r"(?m)^\d+\. ", case.prompt)
            assert len(steps) == case.parameters["steps"]
            lengths[len(steps)] += 1
            assert int(case.accepted[0]) > 0
    assert set(lengths) == {3, 5, 7, 10}


def test_the_result_of_a_chain_is_worked_out_step_by_step() -> None:
    corpus = Corpus(documents("api"))
    figures = {f"“{fact.title}”: {fact.question}": fact.number for fact in corpus.facts}
    for case in suite("api"):
        if case.category is not Category.COMPOSITIONAL:
            continue
        value = 0
        for line in case.prompt.split("\n")[1:]:
            words = re.sub(r"^\d+\. ", "", line)
            figure = figures.get(words.partition("answers: ")[2])
            given = int(figure) if figure is not None else int(re.findall(r"(\d+)\.$", words)[0])
            verb = words.split()[0]
            value = {"Take": given, "Add": value + given, "Subtract": value - given, "Multiply": value * given}[verb]
        assert str(value) == case.accepted[0]


def test_names_that_are_to_be_absent_are_absent() -> None:
    for name in CORPORA:
        corpus = Corpus(documents(name))
        for case in suite(name):
            if case.lineage.rule == "knowledge_boundary.absent_entity":
                assert case.baseline_prompt is not None
                ours, theirs = case.prompt.split(), case.baseline_prompt.split()
                made = " ".join(word for word in ours if word not in theirs or word[:1].isupper())
                absent = made.split(maxsplit=1)[1].rstrip(".,")
                assert not corpus.has(absent), case.prompt


def test_poisoned_contexts_hold_both_sides() -> None:
    for case in every_case():
        if case.expected_behavior is Behavior.DETECT_CONTRADICTION:
            texts = [passage.text for passage in case.context]
            assert any(states(text, case.accepted[0]) for text in texts)
            assert any(case.planted[0] in text for text in texts), case


def test_orders_are_planted_in_the_context_and_not_in_the_evidence() -> None:
    found = [case for case in every_case() if case.lineage.rule.endswith("planted_order")]
    assert found
    for case in found:
        assert any(case.planted[0] in passage.text for passage in case.context)
        assert not any(case.planted[0] in passage.text for passage in case.evidence)


def test_fields_that_are_to_stay_empty_are_told_by_no_word_of_the_passage() -> None:
    for case in every_case():
        if case.lineage.rule.endswith("missing_fields"):
            text = case.evidence[0].text.casefold()
            missing = [name for name, value in case.fields.items() if value is None]
            assert missing
            if "insurance_sum" in missing:
                assert "insur" not in text


def test_old_versions_are_told_from_new_ones() -> None:
    found = [case for case in suite("policies") if case.lineage.rule.endswith("old_version")]
    assert {case.accepted[0] for case in found} == {"27 days", "5 unused days"}
    assert {case.planted[0] for case in found} == {"25 days", "8 unused days"}


def test_facts_on_which_versions_differ_are_asked_nowhere_else() -> None:
    for case in suite("policies"):
        if "27 days" in case.accepted:
            assert case.lineage.rule.endswith("old_version")


@pytest.mark.parametrize(
    ("sentence", "question", "value"),
    [
        (
            "Flights must be booked at least 14 days before departure.",
            "At least how many days before departure must flights be booked?",
            "14 days",
        ),
        (
            "The mileage allowance is 0.38 euros per kilometre.",
            "How many euros per kilometre is the mileage allowance?",
            "0.38 euros per kilometre",
        ),
        (
            "Incidents must be reported within 2 hours to the desk.",
            "Within how many hours must incidents be reported to the desk?",
            "2 hours",
        ),
        ("Orrey has 3 municipalities.", "How many municipalities does Orrey have?", "3"),
        ("Access rights are reviewed every 6 months.", "Every how many months are access rights reviewed?", "6 months"),
        ("The cable car was opened on 6 June 1961.", "When was the cable car opened?", "6 June 1961"),
        (
            "Contributions are invested by Ostermann Pensions.",
            "By whom or what are contributions invested?",
            "Ostermann Pensions",
        ),
        (
            "Business class is allowed on flights that last more than 9 hours.",
            "Business class is allowed on flights that last more than how many hours?",
            "9 hours",
        ),
    ],
)
def test_a_sentence_becomes_a_question_for_its_value(sentence: str, question: str, value: str) -> None:
    corpus = Corpus([Evidence(id="d", text=f"The islanders of Orrey live on Orrey.\n\n{sentence}")])
    (found,) = [fact for fact in corpus.facts if fact.sentence == sentence]
    assert (found.question, found.value) == (question, value)


@pytest.mark.parametrize(
    "sentence",
    [
        "It lasts 5 days.",  # what lasts?
        "Between 3 and 5 days, or 9 days.",
        "Version 2.4, released on 12 May 2025.",
        "This applies to 40 employees.",
        "See section 14.",
    ],
)
def test_a_sentence_that_leans_on_others_is_not_asked_about(sentence: str) -> None:
    passage = document_of(Evidence(id="d", text=sentence)).passages[0]
    assert list(facts_of(passage, "d", str.lower)) == []


def test_a_long_document_is_cut_into_passages_with_ids_of_their_own() -> None:
    text = "\n\n".join(
        f"The plan number {number} costs {number + 100} euros." + " It is popular." * 20 for number in range(30)
    )
    document = document_of(Evidence(id="plans", text=text))
    assert len(document.passages) > 3
    assert len({passage.id for passage in document.passages}) == len(document.passages)
    assert max(len(passage.text) for passage in document.passages) <= LONGEST_PASSAGE


def test_documents_without_text_are_refused() -> None:
    with pytest.raises(InputError, match="documents with text"):
        write_suite([Evidence(id="a", text=" \n")])


def test_less_than_one_case_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        write_suite(documents("wiki"), 0)


HOSTILE = st.text(
    alphabet=st.sampled_from("abc ABC 0123 .,|#\n-*“”<>&{}[]\\()'\"%€\u202e\u200b\t" + "äß漢ع😀"), max_size=400
)


@settings(max_examples=60)
@given(st.lists(HOSTILE, min_size=1, max_size=4))
def test_no_text_makes_the_writer_fail_but_with_a_clear_error(texts: list[str]) -> None:
    evidence = [Evidence(id=f"d{number}", text=text) for number, text in enumerate(texts)]
    try:
        cases = write_suite(evidence, 2)
    except InputError:
        return
    assert lint(cases) == () or all(one.code == "case.duplicate" for one in lint(cases))
