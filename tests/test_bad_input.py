"""Bad input, end to end: each gets a clear error or an honest report, and what was not looked at is never clean."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.models.tiny_models import TINY, write_model

import assay
from assay.errors import InputError, ModelError, PolicyError
from assay.guard import Guard, Limits
from assay.models.manifest import EMBEDDED, MANIFEST
from assay.policy import Policy, preset
from assay.schema import Action, HallucinationReport, Verdict
from assay.testing import FakeScorer

TRUE = "The warranty covers two years."
FALSE = "The warranty covers nine years."
EVIDENCE = [{"id": "a", "text": TRUE}, {"id": "b", "text": "Returns are free within 30 days."}]
BOUND = 300_000
embedded = pytest.mark.skipif(not (EMBEDDED / MANIFEST).exists(), reason="the trained network is not in this checkout")


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard("general", scorer=FakeScorer())


def require_accounted(report: HallucinationReport) -> None:
    """Every character is counted once, and spans lie within their texts."""
    coverage = report.coverage
    assert coverage.checked + coverage.not_checkable + coverage.unchecked == coverage.characters == len(report.output)
    for part in coverage.parts:
        assert 0 <= part.span.start < part.span.end <= len(report.output)
    for claim in report.claims:
        assert 0 <= claim.span.start <= claim.span.end <= len(report.output)
        assert all(0 <= i.span.start <= i.span.end <= len(report.output) for i in claim.issues if i.span)


def require_not_clean(report: HallucinationReport) -> None:
    """Something was left out, the report says so, and the gate does not let the output through."""
    require_accounted(report)
    assert not report.coverage.complete
    assert report.coverage.reasons
    assert report.action is not Action.EMIT
    assert report.metrics["faithfulness"].value is None or report.coverage.evidence_read < (
        report.coverage.evidence_characters
    )


# Nothing to read


@embedded
@pytest.mark.parametrize("answer", ["", "   ", "\n\u2028\t", "...", "\ufeff", "\u200b"])
@pytest.mark.parametrize("evidence", [None, [], [""], [" \n"]])
def test_nothing_in_gives_no_emission(answer: str, evidence: list[str] | None) -> None:
    report = assay.check(answer, evidence)
    require_accounted(report)
    assert report.action is not Action.EMIT
    assert report.overall_score is None
    assert report.coverage.reasons


@pytest.mark.parametrize("evidence", [None, "", [], ["", "\t "], [{"id": "x", "text": "\u3000"}]])
def test_blank_evidence_supports_nothing(guard: Guard, evidence: Any) -> None:
    report = guard.check(TRUE, evidence)
    assert [claim.verdict for claim in report.claims] == [Verdict.UNSUPPORTED]
    assert report.action is not Action.EMIT


# Large texts, scaled down; the full sizes are marked slow


def long_answer(characters: int) -> str:
    sentences = [f"Drawer {n} of the cabinet holds {n} folders." for n in range(characters // 38 + 1)]
    return " ".join(sentences)[:characters]


def long_evidence(characters: int) -> str:
    lines = [f"Shelf {n} carries {n} boxes of the archive." for n in range(characters // 38 + 1)]
    return "\n".join(lines)[:characters]


def test_a_long_answer_is_read_to_its_limit_and_the_rest_is_named() -> None:
    limits = Limits(output_characters=BOUND // 4, claims=30)
    report = Guard("general", scorer=FakeScorer(), limits=limits).check(long_answer(BOUND), EVIDENCE)
    require_not_clean(report)
    assert report.coverage.unchecked > BOUND * 0.9
    assert report.coverage.parts[-1].span.end == BOUND
    assert any("longer than the limit" in reason for reason in report.coverage.reasons)


def test_long_evidence_is_read_to_its_limit_and_the_rest_is_named() -> None:
    limits = Limits(evidence_characters=BOUND // 3)
    report = Guard("general", scorer=FakeScorer(), limits=limits).check(TRUE, [long_evidence(BOUND)])
    require_not_clean(report)
    assert (report.coverage.evidence_characters, report.coverage.evidence_read) == (BOUND, BOUND // 3)


def test_long_evidence_within_the_limit_is_read_to_its_last_line(guard: Guard) -> None:
    report = guard.check(FALSE, [long_evidence(BOUND // 2) + "\n" + TRUE])
    assert report.coverage.complete
    assert [claim.verdict for claim in report.claims] == [Verdict.CONTRADICTED]
    assert report.claims[0].evidence_spans[0].start > BOUND // 2


@pytest.mark.slow
def test_an_answer_of_five_megabytes_is_never_clean(guard: Guard) -> None:
    report = guard.check(long_answer(5_000_000), EVIDENCE)
    require_not_clean(report)
    assert report.coverage.unchecked > 4_000_000


@pytest.mark.slow
def test_twenty_megabytes_of_evidence_are_never_passed_over(guard: Guard) -> None:
    quarter = long_evidence(5_000_000)
    report = guard.check(TRUE, [quarter] * 4)
    require_not_clean(report)
    assert report.coverage.evidence_characters == 20_000_000
    assert report.coverage.evidence_read == Limits().evidence_characters


# What is no text


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"answer": b"\x89PNG\r\n\x1a\n\x00\x00"}, "PNG image"),
        ({"answer": "Leave\x00is long."}, "NUL at character 5"),
        ({"answer": b"\xff\xfeL\x00e\x00"}, "UTF-16"),
        ({"answer": 7}, "answer must be text"),
        ({"answer": None}, "answer must be text"),
        ({"evidence": [b"%PDF-1.7 ..."]}, "evidence item 1 looks binary"),
        ({"evidence": [TRUE, b"caf\xe9"]}, "evidence item 2 must be UTF-8, but byte 0xe9 at offset 3"),
        ({"evidence": [{"text": b"\xc3("}]}, "the text of evidence item 1 must be UTF-8"),
        ({"evidence": [TRUE, 7]}, "evidence item 2"),
        ({"evidence": {"text": TRUE}}, r"write \[item\]"),
        ({"evidence": [{"id": "a"}]}, "has no text"),
        ({"question": "How\x00long?"}, "question looks binary"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(guard: Guard, place: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        guard.check(**{"answer": TRUE, "evidence": EVIDENCE, **place})


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"answer": "Leave \ud800 is long."}, "answer .*U[+]D800 at character 6"),
        ({"question": "How \udfff long?"}, "question .*U[+]DFFF at character 4"),
        ({"evidence": [TRUE, "a\udc80"]}, "evidence item 2 .*at character 1"),
        ({"evidence": [{"id": "a\udc80", "text": TRUE}]}, "id of evidence item 1"),
        ({"evidence": [{"id": "a", "text": TRUE, "title": "\ud900"}]}, "title of evidence item 1"),
    ],
)
def test_lone_surrogates_are_refused_wherever_they_stand(guard: Guard, place: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        guard.check(**{"answer": TRUE, "evidence": EVIDENCE, **place})


@pytest.mark.parametrize(("claim", "words"), [("\ud800", "lone surrogate"), (" ", "blank"), (b"\xff\x80", "UTF-8")])
def test_a_claim_that_is_no_text_is_refused(guard: Guard, claim: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        guard.judge_claim(claim, EVIDENCE)


# Texts of other shapes


@embedded
@pytest.mark.parametrize(
    "text",
    [
        "تغطي الكفالة سنتين. \u202eraey eno\u202c هذا كل شيء.",
        "הכריכה עולה ₪50 (חמישים).",
        "Cafe\u0301 Ze\u0301ro\u0302 opens at 9:30. N\u0303o\u0303 more.",
        "Z̷̢̛͓̘a̴͙͌l̸̰͝g̷̱̈́ǫ̵̌ opened in 1999.",
        "👩‍👩‍👧‍👦 is a family of 4. 🇳🇴 is a flag.",
        "Ⅻ weeks, ½ day, １２ hours, 𝟘 minutes.",
        "İstanbul and ISTANBUL and ﬁne ǅ ẞ.",
        "\u200bZero\u200bwidth 5\u2060 kg.",
        "a\r\nb\rc\x0bd\x0ce\x85f\u2028g 5",
    ],
)
def test_any_script_is_read_with_spans_that_slice_back(text: str) -> None:
    report = assay.check(text, [text, TRUE])
    require_accounted(report)
    for claim in report.claims:
        for span in claim.evidence_spans:
            source = text if span.evidence_id == "1" else TRUE
            assert source[span.start : span.end] == span.text
    assert HallucinationReport.model_validate_json(report.model_dump_json()) == report


# Ids, spans and other arguments


@embedded
@pytest.mark.parametrize(
    "evidence",
    [
        [{"id": "hr", "text": "a"}, {"id": "hr", "text": "b"}],
        [{"id": "2", "text": "a"}, "b"],
        [assay.Evidence(id="hr", text="a"), {"doc_id": "hr", "content": "a"}],
    ],
)
def test_ids_that_come_twice_are_refused_with_both_places(evidence: list[Any]) -> None:
    with pytest.raises(InputError, match="used twice, by items 1 and 2"):
        assay.check(TRUE, evidence)


@pytest.mark.parametrize(
    "item",
    [
        {"start": 0, "end": len(TRUE) + 1, "text": TRUE, "document_ids": ["a"]},
        {"start": -3, "end": 4, "text": "year", "document_ids": ["a"]},
        {"start": 9, "end": 3, "text": "", "document_ids": ["a"]},
        {"start": 10**30, "end": 10**30 + 1, "text": "x", "document_ids": ["a"]},
        {"start": float("nan"), "end": 4, "text": "The ", "document_ids": ["a"]},
        {"type": "url_citation", "url": "https://example.org", "start_index": 5, "end_index": 5_000},
        {"segment": {"startIndex": 0, "endIndex": 99_999, "text": "x"}, "groundingChunkIndices": [0]},
        {"type": "text", "text": "Words that were never said.", "citations": []},
        {"unheard": "of"},
    ],
)
def test_citation_objects_that_do_not_fit_the_output_are_refused(guard: Guard, item: Mapping[str, Any]) -> None:
    with pytest.raises(InputError, match="citation object 1"):
        guard.check(TRUE, EVIDENCE, citations=[item])


@pytest.mark.parametrize("schema", [{"type": "number", "minimum": "low"}, {"$ref": "#/nowhere"}, 7, "object"])
def test_a_broken_schema_is_refused(guard: Guard, schema: Any) -> None:
    with pytest.raises(InputError, match="JSON Schema"):
        guard.check('{"weeks": 2}', EVIDENCE, schema=schema)


@pytest.mark.parametrize("stakes", ["", "HIGH!", 3, None])
def test_stakes_that_do_not_exist_are_refused(guard: Guard, stakes: Any) -> None:
    with pytest.raises(InputError, match="low, medium or high"):
        guard.check(TRUE, EVIDENCE, stakes=stakes)


# Policies


@pytest.mark.parametrize("name", ["generl", "General", "", "\ud800", "rag "])
def test_an_unknown_preset_lists_those_that_there_are(name: str) -> None:
    with pytest.raises(PolicyError, match="general, rag, support-desk, monitor, high-stakes, creative"):
        assay.check(TRUE, EVIDENCE, policy=name)
    with pytest.raises(PolicyError, match="general, rag, support-desk, monitor, high-stakes, creative"):
        Guard(name, scorer=FakeScorer())


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["emit_threshold: .nan"], "team.yaml:3:19: emit_threshold: expected a finite number"),
        (["emit_threshold: -.inf"], "team.yaml:3:19"),
        (["emit_threshold: 0.7", "revise_threshold: 0.8"], "team.yaml:4:21: emit_threshold must be at least revise"),
        (["severity: {alpha: 0.5, beta: 0.5, gamma: 0.5}"], "team.yaml:3.*must sum to 1"),
        (["metric_weights:", "  faithfulness: 0.9"], "team.yaml:4.*must sum to 1"),
        (["warn_rate: 0.5", "fail_rate: 0.2"], "team.yaml:[34].*warn_rate must be at most fail_rate"),
        (["emit: 0.9"], "team.yaml:3:3: unknown setting 'emit'"),
        (["name: a", "name: b"], "team.yaml:4:3: 'name' is set twice"),
    ],
)
def test_a_wrong_policy_file_is_refused_with_the_line(tmp_path: Path, lines: list[str], words: str) -> None:
    path = tmp_path / "team.yaml"
    path.write_text("version: 1\npolicy:\n" + "".join(f"  {line}\n" for line in lines), encoding="utf-8")
    with pytest.raises(PolicyError, match=words):
        assay.check(TRUE, EVIDENCE, policy=path)


@pytest.mark.parametrize("field", ["emit_threshold", "support_threshold", "contradiction_threshold", "fail_rate"])
def test_a_threshold_that_is_no_number_makes_no_policy(field: str) -> None:
    with pytest.raises(ValidationError, match=f"(?s){field}.*finite number"):
        Policy.model_validate({**preset("general").model_dump(), field: float("nan")})


# Models


@pytest.mark.parametrize("content", [b"", b"not a graph", (TINY / "three.onnx").read_bytes()[:4_000]])
def test_a_broken_model_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    write_model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.onnx"):
        assay.Guard(model=tmp_path)


def test_a_model_of_unexpected_labels_is_refused_with_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"\['joy', 'anger', 'fear'\].*id2label"):
        assay.Guard(model=write_model(tmp_path, labels=("joy", "anger", "fear")))


def test_a_model_that_is_not_there_is_refused_by_its_place(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="absent"):
        assay.Guard(model=tmp_path / "absent")


# The tail


def test_a_false_claim_behind_thousands_of_courtesies_is_found(guard: Guard) -> None:
    report = guard.check("Let me know if you have questions. " * 2_500 + FALSE, EVIDENCE)
    require_accounted(report)
    assert report.claims[-1].verdict is Verdict.CONTRADICTED
    assert report.action is Action.BLOCK


def test_a_false_claim_behind_thousands_of_true_ones_is_found_or_unchecked() -> None:
    padded = (TRUE + " ") * 400 + FALSE
    found = Guard("general", scorer=FakeScorer()).check(padded, EVIDENCE)
    assert found.claims[-1].verdict is Verdict.CONTRADICTED
    assert found.action is Action.BLOCK
    cut = Guard("general", scorer=FakeScorer(), limits=Limits(claims=400)).check(padded, EVIDENCE)
    require_not_clean(cut)
    assert cut.coverage.parts[-1].span.end == len(padded)


def test_a_false_claim_behind_blank_lines_is_found(guard: Guard) -> None:
    report = guard.check(TRUE + "\n \t" * 30_000 + FALSE, EVIDENCE)
    assert [claim.verdict for claim in report.claims] == [Verdict.SUPPORTED, Verdict.CONTRADICTED]


def test_a_claim_longer_than_the_network_reads_is_unchecked(guard: Guard) -> None:
    claim = "The warranty covers " + "pumps and valves or hoses of " * 400 + "two years."
    report = guard.check(f"{TRUE} {claim}", EVIDENCE)
    require_not_clean(report)
    assert [one.verdict for one in report.claims] == [Verdict.SUPPORTED, Verdict.UNCHECKED]
    assert "split it into shorter claims" in report.claims[1].issues[0].message


@embedded
def test_a_claim_longer_than_the_embedded_network_reads_is_unchecked() -> None:
    claim = "The warranty covers " + "pumps and valves or hoses of " * 400 + "two years."
    require_not_clean(assay.check(claim, EVIDENCE))


@pytest.mark.parametrize("word", ["x", "7", "é", "漢", "x9-", "a_", "(", "\u0301", "👩\u200d"])
def test_a_word_of_a_hundred_kilobytes_is_never_clean(guard: Guard, word: str) -> None:
    report = guard.check(f"{TRUE} The code is {word * (100_000 // len(word))}.", EVIDENCE)
    require_accounted(report)
    assert report.claims[0].verdict is Verdict.SUPPORTED
    assert report.action is not Action.EMIT


@pytest.mark.parametrize("word", ["x", "7", "漢", "a_"])
def test_evidence_of_one_endless_word_is_read_whole(guard: Guard, word: str) -> None:
    text = word * (100_000 // len(word)) + ". " + TRUE
    report = guard.check(FALSE, [text])
    assert report.coverage.complete
    assert report.claims[0].verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize("place", range(4))
def test_the_evidence_that_matters_is_found_wherever_it_stands(guard: Guard, place: int) -> None:
    passages = [f"Room {n} of the east wing is painted in colour {n}. " * 40 for n in range(4)]
    passages[place] = passages[place][:900] + TRUE + " " + passages[place][900:]
    assert guard.check(FALSE, passages).claims[0].verdict is Verdict.CONTRADICTED
