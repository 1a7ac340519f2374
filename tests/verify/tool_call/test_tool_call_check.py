"""Stage 1 of docs/concepts.md#agent-runs: what is rejected, what is accepted, and why."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema.report_parts.provenance import EntityKind, SourceKind, TraceStatus
from assay.schema.run.arguments import free_text, read_arguments
from assay.schema.run.model import ToolCall, ToolDeclaration
from assay.verify.tools import (
    ArgumentRule,
    CallCheck,
    CallStatus,
    Rules,
    Sources,
    SourceText,
    Toolbox,
    ToolRule,
    Tracing,
    ValidatorCache,
    check_call,
)

REFUND: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "amount": {"type": "number", "minimum": 0},
        "reason": {"enum": ["damaged", "late", "other"]},
        "note": {"type": "string"},
    },
    "required": ["order_id", "amount"],
}
USER = "Order W-1042 came broken. The lamp was $35 and the shade $12. Write to ann@example.com."


def check(arguments: str, *, said: str = USER, rule: ToolRule | None = None, name: str = "refund") -> CallCheck:
    tools = Toolbox([ToolDeclaration(name="refund", description="Refunds an order.", parameters=REFUND)])
    sources = Sources([SourceText(SourceKind.USER, "u", said)])
    rules = Rules(tools={"refund": rule}) if rule else None
    return check_call(ToolCall(name=name, arguments=read_arguments(arguments)), tools, sources, rules)


def codes(found: CallCheck) -> set[str]:
    return {issue.code for issue in found.issues}


def test_a_call_whose_values_the_user_gave_is_accepted_with_their_places() -> None:
    found = check('{"order_id": "W-1042", "amount": 35, "reason": "damaged"}')
    assert found.accepted
    assert found.issues == ()
    [order, amount, reason] = found.provenance
    assert (order.status, order.source, order.source_id) == (TraceStatus.TRACED, SourceKind.USER, "u")
    assert order.source_span is not None
    assert USER[order.source_span.start : order.source_span.end] == "W-1042"
    assert (amount.kind, amount.status) == (EntityKind.NUMBER, TraceStatus.TRACED)
    assert (reason.status, reason.source) == (TraceStatus.DECLARED, SourceKind.DECLARATION)


def test_a_sum_of_what_the_user_named_is_derived() -> None:
    found = check('{"order_id": "W-1042", "amount": 47}')
    assert found.accepted
    assert [p.how for p in found.provenance if p.path == "/amount"] == ["12 + 35"]


@pytest.mark.parametrize(
    ("arguments", "code", "path"),
    [
        ('{"order_id": "W-1024", "amount": 35}', "tool.invented_identifier", "/order_id"),
        ('{"order_id": "W-1042", "amount": 7350}', "tool.invented_number", "/amount"),
        ('{"order_id": "W-1042", "amount": "35"}', "tool.type", "/amount"),
        ('{"order_id": "W-1042", "amount": -35}', "tool.range", "/amount"),
        ('{"order_id": "W-1042", "amount": 35, "reason": "lost"}', "tool.enum", "/reason"),
        ('{"order_id": "W-1042"}', "tool.missing_argument", ""),
        ('{"order_id": "W-1042", "amount": 35, "ammount": 35}', "tool.surplus_argument", "/ammount"),
        ('{"order_id": "W-1042", "amount": 35, "note": "to bob@example.com"}', "tool.invented_email", "/note"),
        ('{"order_id": "W-1042", "amount": 35, "note": "see https://x.test/a"}', "tool.invented_url", "/note"),
        ('{"order_id": "W-1042", "amount": 35, "note": "until 2031-05-04"}', "tool.invented_date", "/note"),
        ('{"order_id": "W-1042", "amount": 35', "tool.invalid_json", ""),
        ('["W-1042", 35]', "tool.not_an_object", ""),
        ('{"order_id": "W-1042", "order_id": "W-1", "amount": 35}', "tool.duplicate_key", ""),
        ('{"order_id": "W-1042", "amount": NaN}', "tool.not_finite", ""),
    ],
)
def test_each_defect_is_rejected_and_named(arguments: str, code: str, path: str) -> None:
    found = check(arguments)
    assert found.status is CallStatus.REJECTED
    assert codes(found) == {code}
    assert found.issues[0].path == path


def test_a_tool_that_is_not_declared_is_rejected_with_the_nearest_name() -> None:
    found = check("{}", name="refnd")
    assert codes(found) == {"tool.unknown"}
    assert 'Did you mean "refund"?' in found.issues[0].message


def test_a_misspelled_argument_is_rejected_with_the_nearest_name() -> None:
    [issue] = check('{"order_id": "W-1042", "amount": 35, "resaon": "late"}').issues
    assert 'did you mean "reason"?' in issue.message


def test_no_text_at_all_calls_a_tool_that_needs_nothing() -> None:
    tools = Toolbox([ToolDeclaration(name="now"), ToolDeclaration(name="refund", parameters=REFUND)])
    empty = read_arguments("")
    assert check_call(ToolCall(name="now", arguments=empty), tools, Sources()).accepted
    assert codes(check_call(ToolCall(name="refund", arguments=empty), tools, Sources())) == {"tool.empty"}


def test_a_tool_declared_without_parameters_takes_none() -> None:
    tools = Toolbox([ToolDeclaration(name="now")])
    found = check_call(ToolCall(name="now", arguments=read_arguments('{"zone": "UTC"}')), tools, Sources())
    assert codes(found) == {"tool.surplus_argument"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "https://schemas.test/a.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"type": "object", "properties": {"a": {"type": "no such type"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_schema_that_cannot_be_used_leaves_the_call_unchecked_and_never_accepted(schema: dict[str, Any]) -> None:
    tools = Toolbox([ToolDeclaration(name="t", parameters=schema)])
    found = check_call(ToolCall(name="t", arguments=read_arguments('{"a": "x"}')), tools, Sources())
    assert found.status is CallStatus.UNCHECKED
    assert not found.accepted
    assert codes(found) == {"tool.schema_unusable"}


def test_a_remote_reference_is_named_and_not_fetched() -> None:
    tools = Toolbox([ToolDeclaration(name="t", parameters={"$ref": "https://schemas.test/a.json"})])
    [issue] = check_call(ToolCall(name="t", arguments=read_arguments("{}")), tools, Sources()).issues
    assert "https://schemas.test/a.json" in issue.message


def test_the_input_of_a_free_text_tool_is_traced_as_well() -> None:
    tools = Toolbox([ToolDeclaration(name="shell", type="custom")])
    seen = Sources([SourceText(SourceKind.USER, "u", "Show /srv/app/run.log")])
    good = check_call(ToolCall(name="shell", arguments=free_text("cat /srv/app/run.log")), tools, seen)
    bad = check_call(ToolCall(name="shell", arguments=free_text("cat /srv/app/secrets.env")), tools, seen)
    assert good.accepted
    assert codes(bad) == {"tool.invented_path"}


def test_what_the_model_must_not_take_from_the_user_is_refused_by_origin() -> None:
    rule = ToolRule(arguments={"order_id": ArgumentRule(origins=frozenset({SourceKind.TOOL}))})
    found = check('{"order_id": "W-1042", "amount": 35}', rule=rule)
    assert codes(found) == {"tool.invented_identifier"}
    assert "it may come from: tool" in found.issues[0].message


def test_an_allowlist_lets_through_what_nobody_said() -> None:
    rule = ToolRule(arguments={"note": ArgumentRule(allow=("*@example.org",))})
    assert check('{"order_id": "W-1042", "amount": 35, "note": "desk@example.org"}', rule=rule).accepted
    assert not check('{"order_id": "W-1042", "amount": 35, "note": "desk@example.net"}', rule=rule).accepted


@pytest.mark.parametrize(
    ("entry", "value", "allowed"),
    [
        ("https://example.com/*", "https://example.com/a", True),
        ("https://example.com/*", "https://example.com/a/b", False),
        ("https://example.com/**", "https://example.com/a/b", True),
        ("https://*.example.com/**", "https://evil.test/x.example.com/", False),
        ("*@example.com", "ann@example.com", True),
        ("*@example.com", "a@evil.test/@example.com", False),
        ("EXACT", "exact", True),
    ],
)
def test_a_star_does_not_cross_the_borders_of_an_address(entry: str, value: str, allowed: bool) -> None:
    assert (ArgumentRule(allow=(entry,)).allows(value) is not None) is allowed


def test_an_allowlist_that_allows_everything_is_an_error() -> None:
    with pytest.raises(InputError, match="names something"):
        ArgumentRule(allow=("*",)).allows("x")


def test_a_rule_that_turns_tracing_off_is_recorded() -> None:
    rule = ToolRule(arguments={"note": ArgumentRule(tracing=Tracing.OFF)})
    found = check('{"order_id": "W-1042", "amount": 35, "note": "see https://x.test/a"}', rule=rule)
    assert found.accepted
    assert [p.status for p in found.provenance if p.path == "/note"] == [TraceStatus.SKIPPED]


def test_a_verbatim_rule_refuses_words_that_nobody_said() -> None:
    rule = ToolRule(arguments={"note": ArgumentRule(tracing=Tracing.VERBATIM)})
    assert check('{"order_id": "W-1042", "amount": 35, "note": "came  broken"}', rule=rule).accepted
    assert not check('{"order_id": "W-1042", "amount": 35, "note": "came late"}', rule=rule).accepted


def test_a_rule_finds_its_argument_by_pointer() -> None:
    rule = ToolRule(arguments={"/people/*/mail": ArgumentRule(tracing=Tracing.OFF)})
    assert rule.rule_for(("people", 3, "mail")).tracing is Tracing.OFF
    assert rule.rule_for(("people", 3, "name")).tracing is Tracing.ENTITIES


def test_an_example_of_the_description_is_no_source_of_an_identifier() -> None:
    schema = {"type": "object", "properties": {"user_id": {"type": "string", "description": "e.g. usr_48213377"}}}
    tools = Toolbox([ToolDeclaration(name="get", parameters=schema)])
    found = check_call(ToolCall(name="get", arguments=read_arguments('{"user_id": "usr_48213377"}')), tools, Sources())
    assert codes(found) == {"tool.invented_identifier"}
    assert "example" in found.issues[0].message


def test_the_name_of_a_field_that_the_model_made_up_is_traced() -> None:
    schema = {"type": "object", "properties": {"shares": {"type": "object", "additionalProperties": {}}}}
    tools = Toolbox([ToolDeclaration(name="split", parameters=schema)])
    call = ToolCall(name="split", arguments=read_arguments('{"shares": {"zed@nowhere.test": true}}'))
    assert codes(check_call(call, tools, Sources())) == {"tool.invented_email"}


def test_a_number_taken_over_into_another_unit_is_refused() -> None:
    schema = {"type": "object", "properties": {"distance": {"type": "number"}, "unit": {"type": "string"}}}
    tools = Toolbox([ToolDeclaration(name="run", parameters=schema)])
    seen = Sources([SourceText(SourceKind.USER, "u", "I ran 5 miles.")])

    def status(text: str) -> CallStatus:
        return check_call(ToolCall(name="run", arguments=read_arguments(text)), tools, seen).status

    assert status('{"distance": 5, "unit": "miles"}') is CallStatus.ACCEPTED
    assert status('{"distance": 5, "unit": "km"}') is CallStatus.REJECTED
    assert status('{"distance": 8.04672, "unit": "km"}') is CallStatus.ACCEPTED


def test_the_wire_form_carries_status_errors_and_provenance() -> None:
    value = check('{"order_id": "W-9999", "amount": 35}').validation().model_dump(mode="json")
    assert value["status"] == "rejected"
    assert value["errors"] == [issue["message"] for issue in value["issues"]]
    assert value["provenance"][0]["path"] == "/order_id"


def test_the_cache_compiles_a_schema_once_and_forgets_the_oldest() -> None:
    cache = ValidatorCache(capacity=2)
    first = cache.get({"type": "string"})
    assert cache.get({"type": "string"}) is first
    cache.get({"type": "number"})
    cache.get({"type": "array"})
    assert len(cache) == 2
    assert cache.get({"type": "string"}) is not first


def test_the_cache_holds_at_least_one() -> None:
    with pytest.raises(InputError, match="at least 1"):
        ValidatorCache(capacity=0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=10), JSON, max_size=4), st.text(max_size=200))
def test_whatever_a_model_sends_is_checked_without_an_error(arguments: dict[str, Any], said: str) -> None:
    import json

    tools = Toolbox([ToolDeclaration(name="t", parameters={"type": "object"})])
    call = ToolCall(name="t", arguments=read_arguments(json.dumps(arguments)))
    found = check_call(call, tools, Sources([SourceText(SourceKind.USER, "u", said)]))
    for entry in found.provenance:
        if entry.source_span is not None and entry.source_id == "u":
            assert said[entry.source_span.start : entry.source_span.end][:200] == entry.source_text


@given(st.from_regex(r"[A-Z]{2}-[0-9]{4,8}", fullmatch=True), st.text(max_size=80), st.text(max_size=80))
def test_an_identifier_that_the_user_wrote_is_never_refused(identifier: str, before: str, after: str) -> None:
    said = f"{before} {identifier} {after}"
    found = check(f'{{"order_id": "{identifier}", "amount": 1}}', said=said)
    assert "tool.invented_identifier" not in codes(found)
