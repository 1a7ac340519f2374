"""Names in code that its documentation has to have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Guard
from assay.schema import Verdict
from assay.testing import FakeScorer
from assay.text.sentences.code_identifiers import MAX_NAMES, code_names, find_code_name, is_code_name

DOCS = """The API has two endpoints. `GET /v1/orders/{id}` returns one order, `POST /v1/orders/{id}/cancel` cancels it;
pass `reason_code`, one of "CUSTOMER_REQUEST" or "FRAUD". The client has `cancel_order(order_id)`. The command line tool
takes --dry-run and --region."""


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("curl https://api.acme.io/v1/refunds", ["https://api.acme.io/v1/refunds"]),
        ("acme deploy --dry-run --region eu", ["--dry-run", "--region"]),
        ('client.cancel_order(order_id=5, reason="FRAUD")', ["cancel_order", "order_id", "FRAUD"]),
        ("order_id = 5\ntotal = a / b\nprint(total)", []),
        ("GET /v1/orders/{id}\nGET /v1/orders/{id}", ["/v1/orders/{id}"]),
        ("<a></a> // comment", []),
    ],
)
def test_names_that_others_chose_are_found(code: str, names: list[str]) -> None:
    assert [name.text for name in code_names(code)] == names


@given(st.text(max_size=400))
def test_a_name_is_what_stands_at_its_place(code: str) -> None:
    found = list(code_names(code))
    assert len(found) <= MAX_NAMES
    for name in found:
        assert code[name.start : name.end] == name.text
        assert is_code_name(name.text)
        assert find_code_name(name.text, f"see {name.text} there") is not None


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("/v1/orders/42", True),
        ("https://api.example.com/v1/orders/42/cancel", True),
        ("https://api.acme.io/v1/orders/42/cancel", True),
        ("/v2/orders/42", False),
        ("/v1/orders/42/refund", False),
        ("--dry-run", True),
        ("--dry", False),
        ("FRAUD", True),
        ("RETURN", False),
    ],
)
def test_a_name_is_looked_up_in_the_evidence(name: str, there: bool) -> None:
    assert (find_code_name(name, DOCS) is not None) is there


def test_an_invented_endpoint_in_a_block_of_code_does_not_pass() -> None:
    guard = Guard("general", scorer=FakeScorer())
    right, wrong = (
        guard.check(f"```python\nclient.post('/v1/orders/42/{verb}')\n```", evidence=[DOCS])
        for verb in ("cancel", "refund")
    )
    assert [claim.verdict for claim in right.claims if claim.text.startswith("/")] == [Verdict.SUPPORTED]
    assert [claim.verdict for claim in wrong.claims if claim.text.startswith("/")] == [Verdict.UNSUPPORTED]
    assert (right.action.value, wrong.action.value) == ("emit", "block")


def test_a_short_answer_in_capitals_is_judged_as_an_answer() -> None:
    report = Guard("general", scorer=FakeScorer()).check(
        "NASA", evidence=["ESA built it, NASA did not."], question="Who built the probe that landed on Mars?"
    )
    assert report.claims[0].verdict is not Verdict.SUPPORTED


def test_parameters_of_an_address_are_names_of_their_own() -> None:
    code = 'curl "https://api.example.com/v1/orders?limit=500&status=open"'
    assert [name.text for name in code_names(code)][1:] == ["limit=500", "status=open"]
    assert [name.text for name in code_names("GET /v1/orders?limit=5")] == ["/v1/orders", "limit=5"]


ORDERS = (
    "GET /v1/orders lists orders. `limit` is a number from 1 to 100 (default 20). `status` is one of `open`, `paid`."
)


@pytest.mark.parametrize(
    ("query", "emitted"),
    [
        ("limit=50", True),
        ("limit=500", False),
        ("limit=0", False),
        ("status=paid", True),
        ("status=gone", False),
        ("page=2", False),
        ("limit=50&status=open", True),
        ("limit=50&status=gone", False),
    ],
)
def test_a_parameter_is_held_to_what_the_documentation_says_of_it(query: str, emitted: bool) -> None:
    report = Guard().check(f'```sh\ncurl "https://api.example.com/v1/orders?{query}"\n```', [ORDERS])
    assert (report.action == "emit") is emitted
