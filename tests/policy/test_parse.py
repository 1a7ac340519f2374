"""Reading assay.yaml: what is taken, and that every fault names its line and column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import PolicyError
from assay.policy import Policy, parse_policy, preset


def parsed(text: str) -> Policy:
    return parse_policy(text, "assay.yaml")


def complaint(text: str) -> str:
    with pytest.raises(PolicyError) as error:
        parsed(text)
    return str(error.value)


def test_a_preset_by_name_is_that_preset() -> None:
    assert parsed("version: 1\npolicy: rag\n") == preset("rag")
    assert parsed("version: 1\npolicy:\n  preset: rag\n") == preset("rag")


def test_settings_are_laid_over_the_preset_field_by_field() -> None:
    policy = parsed("version: 1\npolicy:\n  preset: rag\n  emit_threshold: 0.9\n  escalation: {threshold: 0.1}\n")
    assert policy.emit_threshold == 0.9
    assert policy.escalation.threshold == 0.1
    assert policy.escalation.high == preset("rag").escalation.high
    assert policy.revise_threshold == preset("rag").revise_threshold
    assert policy.name == "rag-adjusted"
    assert policy.digest != preset("rag").digest


def test_without_a_preset_the_settings_are_laid_over_general() -> None:
    policy = parsed("version: 1\npolicy: {name: ours, ungrounded_tasks: [poetry], windows_per_claim: null}")
    assert policy.name == "ours"
    assert policy.ungrounded_tasks == ("poetry",)
    assert policy.windows_per_claim is None
    assert policy.emit_threshold == preset("general").emit_threshold


def test_off_is_a_word_and_not_yamls_false() -> None:
    assert parsed("version: 1\npolicy: {citations: off, groundedness: false}").citations == "off"


def test_whole_numbers_are_taken_for_probabilities() -> None:
    assert parsed("version: 1\npolicy: {emit_threshold: 1}").emit_threshold == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "assay.yaml:1:1: expected a mapping with `version: 1` and `policy:`, got an empty text"),
        ("- 1", "assay.yaml:1:1: expected a mapping with `version: 1` and `policy:`, got a list"),
        ("policy: rag", "assay.yaml:1:1: expected `version: 1`, got no version"),
        ("version: 2\npolicy: rag", "assay.yaml:1:10: expected version 1, got 2"),
        ("version: true\npolicy: rag", "assay.yaml:1:10: expected version 1, got True"),
        ("version: 1", "assay.yaml:1:1: expected a policy"),
        ("version: 1\npolicy:\n", "assay.yaml:2:1: expected a policy"),
        ("version: 1\npolicy: [rag]", "assay.yaml:2:9: expected a preset's name or a mapping"),
        ("version: 1\npolicy: 3", "assay.yaml:2:9: expected a preset's name or a mapping"),
        (
            "version: 1\npolicies: rag\npolicy: rag",
            "assay.yaml:2:1: unknown setting 'policies'; did you mean 'policy'?",
        ),
        ("version: 1\npolicy: rga", "assay.yaml:2:9: expected a preset (general,"),
        ("version: 1\npolicy:\n  preset: 7", "assay.yaml:3:11: expected a preset (general,"),
        (
            "version: 1\npolicy:\n  emit_treshold: 0.9",
            "assay.yaml:3:3: unknown setting 'emit_treshold'; did you mean 'emit_threshold'?",
        ),
        ("version: 1\npolicy:\n  severity: {alfa: 1}", "assay.yaml:3:14: unknown setting 'alfa'; did you mean 'alpha'"),
        (
            "version: 1\npolicy:\n  escalation: {xyz: 1}",
            "assay.yaml:3:16: unknown setting 'xyz'; known are async_minutes, async_overdue, blocking_minutes, ",
        ),
        (
            "version: 1\npolicy:\n  emit_threshold: '0.9'",
            "assay.yaml:3:19: emit_threshold: expected a finite number, got '0.9'",
        ),
        ("version: 1\npolicy:\n  emit_threshold: .nan", "assay.yaml:3:19: emit_threshold: expected a finite number"),
        ("version: 1\npolicy:\n  emit_threshold: -.inf", "assay.yaml:3:19: emit_threshold: expected a"),
        ("version: 1\npolicy:\n  emit_threshold: 1.5", "assay.yaml:3:19: emit_threshold: expected a number of at most"),
        ("version: 1\npolicy:\n  emit_threshold:", "assay.yaml:3:18: emit_threshold: expected a finite number, got No"),
        ("version: 1\npolicy:\n  emit_threshold: {a: 1}", "assay.yaml:3:19: emit_threshold: expected a finite number"),
        (
            "version: 1\npolicy:\n  groundedness: off",
            "assay.yaml:3:17: groundedness: expected true or false, got 'off'",
        ),
        ("version: 1\npolicy:\n  groundedness: 1", "assay.yaml:3:17: groundedness: expected true or false, got 1"),
        ("version: 1\npolicy:\n  max_revisions: 1.5", "assay.yaml:3:18: max_revisions: expected a whole number"),
        ("version: 1\npolicy:\n  windows_per_claim: 0", "assay.yaml:3:22: windows_per_claim: expected a number of at"),
        ("version: 1\npolicy:\n  citations: hard", "assay.yaml:3:14: citations: expected one of 'off', 'verify'"),
        ("version: 1\npolicy:\n  ungrounded_tasks: poetry", "assay.yaml:3:21: ungrounded_tasks: expected a list"),
        ("version: 1\npolicy:\n  ungrounded_tasks:\n  - 1", "assay.yaml:4:5: ungrounded_tasks.0: expected text, got 1"),
        ("version: 1\npolicy:\n  severity: 3", "assay.yaml:3:13: severity: expected a mapping, got 3"),
        ("version: 1\npolicy:\n  name: ''", "assay.yaml:3:9: name: expected text that is not empty"),
        ("version: 1\npolicy:\n  name: a\n  name: b", "assay.yaml:4:3: 'name' is set twice; the first is in line 3"),
    ],
)
def test_a_fault_names_its_place_and_what_was_expected(text: str, message: str) -> None:
    assert complaint(text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("emit_threshold: 0.3", "assay.yaml:3:19: emit_threshold must be at least revise_threshold, got 0.3 and 0.6"),
        ("revise_threshold: 0.9", "assay.yaml:3:21: emit_threshold must be at least revise_threshold"),
        ("block_threshold: 0.7", "assay.yaml:3:20: revise_threshold must be at least block_threshold"),
        ("severity: {alpha: 0.9}", "assay.yaml:3:21: the severity weights alpha, beta and gamma must sum to 1"),
        ("metric_weights: {groundedness: 1}", "assay.yaml:3:34: the metric weights must sum to 1, but sum to 1.7"),
    ],
)
def test_settings_that_contradict_each_other_name_the_line_that_made_them_so(text: str, message: str) -> None:
    assert complaint(f"version: 1\npolicy:\n  {text}").startswith(message)


def test_all_faults_are_told_at_once_in_the_order_of_the_file() -> None:
    lines = complaint("version: 1\npolicy:\n  emit_threshold: x\n  citatons: off\n  max_revisions: -1").splitlines()
    assert [line.split(": ")[0] for line in lines] == ["assay.yaml:3:19", "assay.yaml:4:3", "assay.yaml:5:18"]


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\npolicy: &p {severity: *p}",
        "version: 1\npolicy: {name: &n x, description: *n}",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]",
        "version: 1\npolicy: {<<: {emit_threshold: 0.9}}",
        "version: !!python/object/apply:os.getcwd []\npolicy: rag",
        "version: 1\npolicy: !custom rag",
        "version: 1\npolicy: {name: 2024-01-99}",
        "version: 1\npolicy: {max_revisions: 0x_}",
        "version: 1\npolicy: {max_revisions: " + "9" * 5000 + "}",
        "version: 1\npolicy: {? [a] : 1}",
        "version: 1\n---\nversion: 1",
        "version: 1\npolicy: {",
        "version: 1\npolicy: rag\n\tx",
        "a: \x00",
        "[" * 50_000,
        "a: " * 50,
        "{a: " * 40 + "1" + "}" * 40,
        "x" * 200_000,
        "\ud800",
        'version: 1\npolicy: {name: "\\ud800"}',
    ],
)
def test_hostile_text_is_refused_with_a_place(text: str) -> None:
    message = complaint(text)
    assert message.startswith("assay.yaml:")
    assert len(message) < 2000


@given(text=st.text(max_size=200))
def test_any_text_is_a_policy_or_a_policy_error(text: str) -> None:
    try:
        assert isinstance(parsed(text), Policy)
    except PolicyError as error:
        assert str(error).startswith("assay.yaml:")  # noqa: PT017 both ends are allowed


@given(text=st.text(alphabet="policyversn: 1{}[]\n-&*!\"'#|>.,?%@`emit_threshold", max_size=120))
def test_any_text_of_yaml_signs_is_a_policy_or_a_policy_error(text: str) -> None:
    try:
        assert isinstance(parsed("version: 1\npolicy: " + text), Policy)
    except PolicyError as error:
        assert str(error).startswith("assay.yaml:")  # noqa: PT017 both ends are allowed
