"""A document beside documents: values of one name are compared, and only those."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.guard import Guard
from assay.schema import Action, Evidence, Verdict
from assay.testing import FakeScorer
from assay.verify.documents.fields import DocumentFields

ORDER = {
    "order_id": "A-1001",
    "customer": {"name": "Mia Li", "city": "Bern"},
    "currency": "EUR",
    "total": 1250,
    "paid": True,
    "items": [{"sku": "W-1", "qty": 3, "unit_price": 150.0}, {"sku": "W-2", "qty": 8, "unit_price": 100.0}],
}
SCORER = FakeScorer()
PLAIN = st.one_of(st.integers(-10_000, 10_000), st.booleans(), st.text("abcdef ", min_size=1, max_size=8))
DOCUMENTS = st.dictionaries(st.sampled_from(["alpha", "beta", "gamma", "delta"]), PLAIN, min_size=1)


def fields(*documents: Any) -> DocumentFields:
    return DocumentFields(tuple(Evidence(id=f"e{n}", text=json.dumps(one)) for n, one in enumerate(documents)))


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(ORDER))
    holder: Any = document
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return document


@given(DOCUMENTS)
def test_every_value_of_a_document_equals_that_of_its_copy(document: dict[str, Any]) -> None:
    known = fields(document)
    assert all(match is not None and match.equal for match in (known.match(document, (key,)) for key in document))


def another(value: Any) -> Any:
    """A value of the same kind that says something else."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else "zzz"


@given(DOCUMENTS, st.data())
def test_a_value_that_was_changed_differs_and_no_other_does(document: dict[str, Any], data: Any) -> None:
    key = data.draw(st.sampled_from(sorted(document)))
    known = fields({**document, key: another(document[key])})
    for one in document:
        match = known.match(document, (one,))
        assert match is not None
        assert match.equal == (one != key)


def test_a_field_is_found_whatever_the_style_of_its_name() -> None:
    match = fields({"orderTotal": 12}).match({"order_total": "12.00"}, ("order_total",))
    assert match is not None
    assert match.equal


def test_codes_with_leading_zeros_are_no_numbers() -> None:
    match = fields({"plate": "007"}).match({"plate": "7"}, ("plate",))
    assert match is not None
    assert not match.equal


def test_the_object_of_the_same_name_is_compared() -> None:
    document = changed(("items", 0, "qty"), 8)
    match = fields(ORDER).match(document, ("items", 0, "qty"))
    assert match is not None
    assert not match.equal  # W-1 has 3, although W-2 has 8
    assert match.span is not None
    assert match.span.text == '"qty": 3'


def test_the_order_of_objects_says_nothing() -> None:
    document = {**ORDER, "items": list(reversed(ORDER["items"]))}  # type: ignore[call-overload]
    for place, key in ((0, "qty"), (1, "qty"), (0, "unit_price"), (1, "unit_price")):
        match = fields(ORDER).match(document, ("items", place, key))
        assert match is not None
        assert match.equal


def test_an_object_that_the_evidence_lacks_is_compared_with_no_other() -> None:
    document = changed(("items", 0, "sku"), "W-9")
    assert fields(ORDER).match(document, ("items", 0, "qty")) is None


def test_sources_that_differ_decide_nothing() -> None:
    assert fields({"total": 1}, {"total": 2}).match({"total": 1}, ("total",)) is None


def test_prose_and_broken_documents_are_left_to_the_other_tiers() -> None:
    evidence = (Evidence(id="a", text="The total is 12."), Evidence(id="b", text='{"total": 12'))
    assert DocumentFields(evidence).match({"total": 12}, ("total",)) is None


def test_a_document_beside_itself_is_emitted() -> None:
    report = Guard("rag", scorer=SCORER).check(json.dumps(ORDER), [Evidence(id="order", text=json.dumps(ORDER))])
    assert report.action is Action.EMIT
    assert {claim.verdict for claim in report.claims if claim.path is not None} == {Verdict.SUPPORTED}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("total",), 1520),
        (("paid",), False),
        (("customer", "city"), "Basel"),
        (("items", 1, "qty"), 3),
        (("order_id",), "A-1010"),
    ],
)
def test_a_document_with_one_wrong_value_is_stopped_at_its_place(path: tuple[str | int, ...], value: Any) -> None:
    report = Guard("rag", scorer=SCORER).check(
        json.dumps(changed(path, value)), [Evidence(id="order", text=json.dumps(ORDER))]
    )
    assert report.action is not Action.EMIT
    wrong = [claim for claim in report.claims if claim.verdict is Verdict.CONTRADICTED]
    assert [claim.path for claim in wrong] == ["/" + "/".join(map(str, path))]


def test_a_document_that_nobody_asked_for_is_read_as_one() -> None:
    report = Guard("rag", scorer=SCORER).check('{"total": 1520}', [Evidence(id="o", text='{"total": 1250}')])
    (claim,) = report.claims
    assert claim.path == "/total"
    assert claim.verdict is Verdict.CONTRADICTED


CSV = "order_id,customer,total,paid\nA-1001,Mia Li,1250,yes\nA-1002,Jo Park,80,no"


@pytest.mark.parametrize(
    ("document", "evidence"),
    [
        ({"order": "A-1001", "customer": "Mia Li", "total": "EUR 1,250.00"}, json.dumps(ORDER)),
        ({"customer_name": "Mia Li", "customer_city": "Bern", "paid": "yes"}, json.dumps(ORDER)),
        ([{"order_id": "A-1002", "total": 80, "paid": False}], CSV),
        ({"status": "closed", "refund": {"amount": 75.5}}, "Status: Closed\nRefund: GBP 75.50"),
    ],
)
def test_a_document_beside_the_same_in_other_words_is_emitted(document: Any, evidence: str) -> None:
    report = Guard("general", scorer=SCORER).check(json.dumps(document), [Evidence(id="e", text=evidence)])
    assert report.action is Action.EMIT


@pytest.mark.parametrize(
    ("document", "evidence", "path"),
    [
        ({"order": "A-1001", "total": "EUR 1,205.00"}, json.dumps(ORDER), "/total"),
        ({"customer_name": "Mia Li", "customer_city": "Basel"}, json.dumps(ORDER), "/customer_city"),
        ([{"order_id": "A-1002", "total": 1250}], CSV, "/0/total"),
        ({"status": "closed", "refund": 57.5}, "Status: Closed\nRefund: GBP 75.50", "/refund"),
    ],
)
def test_a_wrong_field_is_named_by_its_pointer(document: Any, evidence: str, path: str) -> None:
    report = Guard("general", scorer=SCORER).check(json.dumps(document), [Evidence(id="e", text=evidence)])
    assert report.action is not Action.EMIT
    assert [claim.path for claim in report.claims if claim.verdict is Verdict.CONTRADICTED] == [path]


def test_a_document_in_a_block_of_code_is_read_by_its_fields() -> None:
    answer = 'Here it is:\n\n```json\n{"order_id": "A-1001", "total": 1205}\n```'
    report = Guard("general", scorer=SCORER).check(answer, [Evidence(id="e", text=json.dumps(ORDER))])
    assert [claim.path for claim in report.claims if claim.verdict is Verdict.CONTRADICTED] == ["/total"]


@pytest.mark.parametrize(("value", "missing"), [(39.5, None), (35.9, "35.9"), ("2:35 pm", None), ("14:45", "14:45")])
def test_a_figure_or_a_time_that_nothing_states_supports_no_field(value: Any, missing: str | None) -> None:
    evidence = Evidence(id="e", text="The lamp costs $39.50. The shop opens at 14:35.")
    report = Guard("general", scorer=SCORER).check(json.dumps({"lamp": value}), [evidence])
    said = " ".join(issue.message for claim in report.claims for issue in claim.issues)
    assert ("No evidence states" in said) is (missing is not None)
    assert missing is None or (missing in said and report.action is not Action.EMIT)
