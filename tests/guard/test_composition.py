"""A guard is made of parts: no base classes, copies by value, one way to a report."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.guard import CheckRequest, Guard
from assay.guard.check.pipeline import check, ports_of
from assay.schema import HallucinationReport
from assay.testing import FakeScorer

SOURCE = Path(assay.__file__ or "").parent
EVIDENCE = ["Partners are entitled to 2 weeks of leave."]
ANSWER = "Partners are entitled to 2 weeks of leave."
WRONG = "Partners are entitled to 4 weeks of leave."


class Counting(Guard):
    """A guard that counts the answers that it checks, as a user may derive one."""

    def __init__(self) -> None:
        super().__init__(scorer=FakeScorer())
        self.checked: list[str | bytes] = []

    def check(self, answer: str | bytes, evidence: Any = None, **options: Any) -> HallucinationReport:
        self.checked.append(answer)
        return super().check(answer, evidence, **options)


def told(report: HallucinationReport) -> dict[str, Any]:
    return report.model_dump(mode="json", exclude={"timing"})


def test_a_guard_has_no_base_classes_and_one_attribute() -> None:
    assert Guard.__bases__ == (object,)
    assert list(vars(Guard(scorer=FakeScorer()))) == ["_parts"]


def test_every_public_method_has_a_docstring_and_begins_with_self() -> None:
    for name, member in inspect.getmembers(Guard, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.getdoc(member), name
            assert next(iter(inspect.signature(member).parameters)) == "self", name


@pytest.mark.parametrize(
    ("twin", "of"),
    [
        ("acheck", "check"),
        ("acheck_run", "check_run"),
        ("acheck_tool_call", "check_tool_call"),
        ("ascreen", "screen"),
        ("astream", "stream"),
        ("agenerate", "generate"),
        ("agenerate_document", "generate_document"),
        ("arepair", "repair"),
    ],
)
def test_the_typed_options_of_a_twin_are_those_of_the_method(twin: str, of: str) -> None:
    """What a type checker allows for `acheck` is what `check` takes: neither list can grow alone."""
    from assay.guard import options

    def keywords(name: str) -> set[str]:
        signature = inspect.signature(getattr(Guard, name))
        named = {p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
        rest = next((p for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
        if rest is None:
            return named
        kind = str(rest.annotation).removeprefix("Unpack[").removesuffix("]")
        form = getattr(options, kind)
        return {*named, *form.__required_keys__, *form.__optional_keys__}

    assert keywords(twin) == keywords(of)


def test_a_check_by_its_ports_is_that_of_the_guard() -> None:
    guard = Guard(scorer=FakeScorer())
    (report,) = check([CheckRequest(WRONG, EVIDENCE)], ports_of(guard._parts))
    assert told(report) == told(guard.check(WRONG, EVIDENCE))


def test_outputs_that_share_a_call_are_judged_as_they_are_alone() -> None:
    guard = Guard(scorer=FakeScorer())
    together = check([CheckRequest(text, EVIDENCE) for text in (ANSWER, WRONG, ANSWER)], ports_of(guard._parts))
    assert [told(one) for one in together] == [told(guard.check(text, EVIDENCE)) for text in (ANSWER, WRONG, ANSWER)]


def test_a_guard_under_another_policy_leaves_the_first_as_it_was() -> None:
    guard = Guard("general", scorer=FakeScorer())
    other = guard.under("rag")
    assert (guard.policy.name, other.policy.name) == ("general", "rag")
    assert other._parts.scorer is guard._parts.scorer
    assert other._parts.caches is not guard._parts.caches


def test_what_a_derived_guard_keeps_besides_goes_along_under_another_policy() -> None:
    other = Counting().under("rag")
    other.check(ANSWER, EVIDENCE)
    assert isinstance(other, Counting)
    assert other.checked == [ANSWER]


def test_an_overridden_check_is_what_revising_protecting_and_streaming_call() -> None:
    guard = Counting()
    guard.revise(WRONG, EVIDENCE, author=lambda feedback: ANSWER)
    assert guard.checked == [WRONG, ANSWER]
    guard.checked.clear()
    assert guard.protect(lambda: ANSWER, evidence=EVIDENCE)() == ANSWER
    assert guard.checked == [ANSWER]
    guard.checked.clear()
    assert "".join(guard.stream([ANSWER], EVIDENCE)) == ANSWER
    assert guard.checked[-1] == ANSWER


def test_an_unknown_option_is_refused_wherever_it_is_handed_on() -> None:
    guard, wrong = Guard(scorer=FakeScorer()), {"stake": "high"}
    with pytest.raises(TypeError, match="stake"):
        guard.revise(WRONG, EVIDENCE, author=lambda feedback: ANSWER, **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="stake"):
        guard.repair(WRONG, EVIDENCE, **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="stake"):
        guard.protect(lambda: ANSWER, evidence=EVIDENCE, **wrong)()  # type: ignore[call-overload]


def test_what_the_gate_reads_of_a_claim_is_made_in_one_place() -> None:
    """Whoever built it elsewhere would not notice a further signal."""
    made = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ClaimSignal"
    ]
    assert made == ["policy/signals.py"]
