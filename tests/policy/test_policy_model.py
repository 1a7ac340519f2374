"""The policy as a value: presets, validation, digest."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from assay.errors import PolicyError
from assay.policy import PRESETS, Escalation, MetricWeights, Policy, SeverityWeights, preset
from assay.schema import Stakes


def changed(**fields: Any) -> Policy:
    return Policy.model_validate({**preset("general").model_dump(), **fields})


@pytest.mark.parametrize(
    ("name", "thresholds"),
    [("general", (0.85, 0.6, 0.4)), ("rag", (0.85, 0.65, 0.4)), ("support-desk", (0.85, 0.6, 0.3))],
)
def test_presets_have_the_thresholds_of_the_design(name: str, thresholds: tuple[float, float, float]) -> None:
    policy = preset(name)
    assert (policy.emit_threshold, policy.revise_threshold, policy.block_threshold) == thresholds


def test_the_monitor_warns_from_a_tenth_and_fails_from_three_tenths() -> None:
    assert (preset("monitor").warn_rate, preset("monitor").fail_rate) == (0.1, 0.3)


def test_high_stakes_is_at_least_as_tight_as_general_everywhere() -> None:
    tight, loose = preset("high-stakes"), preset("general")
    assert tight.emit_threshold > loose.emit_threshold
    assert tight.revise_threshold > loose.revise_threshold
    assert tight.block_threshold > loose.block_threshold
    assert tight.support_threshold > loose.support_threshold
    assert tight.contradiction_threshold < loose.contradiction_threshold
    assert tight.escalation.threshold < loose.escalation.threshold
    assert tight.windows_per_claim is None
    assert tight.citations == "strict"
    assert tight.consistency_probes
    assert tight.ungrounded_tasks == ()


def test_only_creative_is_not_grounded_and_does_not_judge_citations() -> None:
    assert [policy.name for policy in PRESETS.values() if not policy.groundedness] == ["creative"]
    assert [policy.name for policy in PRESETS.values() if policy.citations == "off"] == ["creative"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_survives_a_round_trip_and_describes_itself(name: str) -> None:
    policy = preset(name)
    assert policy.name == name
    assert policy.description.endswith(".")
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


@pytest.mark.parametrize("name", ["", "General", "rags", "\ud800", "x" * 10_000])
def test_an_unknown_preset_names_those_that_there_are(name: str) -> None:
    with pytest.raises(PolicyError, match=r"general, rag, support-desk, monitor, high-stakes, creative") as error:
        preset(name)
    assert len(str(error.value)) < 300


def test_the_closest_preset_is_suggested() -> None:
    with pytest.raises(PolicyError, match="did you mean 'high-stakes'"):
        preset("high_stake")


def test_digests_tell_policies_apart_and_are_stable() -> None:
    digests = {policy.digest for policy in PRESETS.values()}
    assert len(digests) == len(PRESETS)
    assert changed().digest == preset("general").digest
    assert changed(emit_threshold=0.86).digest != preset("general").digest
    assert all(len(digest) == 64 for digest in digests)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"emit_threshold": 0.5}, "emit_threshold must be at least revise_threshold"),
        ({"block_threshold": 0.7}, "revise_threshold must be at least block_threshold"),
        ({"aggregation": "minimum", "support_threshold": 0.9}, "support_threshold must be at most emit_threshold"),
        ({"warn_rate": 0.4}, "warn_rate must be at most fail_rate"),
        ({"severity": {"alpha": 0.5}}, "must sum to 1, but sum to 1.2"),
        ({"severity": {"high": 0.9}}, "levels must not fall"),
        ({"metric_weights": {"faithfulness": 0.5}}, "metric weights must sum to 1"),
        ({"escalation": {"low": 0.9}}, "higher stakes must not count less"),
        (
            {"emit_threshold": 0, "revise_threshold": 0, "block_threshold": 0, "support_threshold": 0},
            "must be above 0 while groundedness is on",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        changed(**fields)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1, 1.1, "high", None])
@pytest.mark.parametrize("field", ["emit_threshold", "warn_rate", "support_threshold", "contradiction_threshold"])
def test_a_threshold_must_be_a_number_from_0_to_1(field: str, bad: object) -> None:
    with pytest.raises(ValidationError):
        changed(**{field: bad})


def test_unknown_fields_are_refused_and_values_frozen() -> None:
    with pytest.raises(ValidationError, match="emit_treshold"):
        changed(emit_treshold=0.5)
    with pytest.raises(ValidationError, match="frozen"):
        preset("general").emit_threshold = 0.1  # type: ignore[misc]


def test_every_field_says_what_it_means() -> None:
    models: list[type[BaseModel]] = [Policy, SeverityWeights, MetricWeights, Escalation]
    for model in models:
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"


@given(parts=st.tuples(st.integers(1, 100), st.integers(1, 100), st.integers(1, 100)))
def test_any_weights_that_sum_to_one_are_taken(parts: tuple[int, int, int]) -> None:
    alpha, beta, gamma = (part / sum(parts) for part in parts)
    assert SeverityWeights(alpha=alpha, beta=beta, gamma=gamma)


@given(confidence=st.floats(0, 1))
def test_risk_grows_with_stakes_and_falls_with_confidence(confidence: float) -> None:
    escalation = Escalation()
    risks = [escalation.risk(stakes, confidence) for stakes in (Stakes.LOW, Stakes.MEDIUM, Stakes.HIGH)]
    assert risks == sorted(risks)
    assert escalation.risk(Stakes.HIGH, 1.0) == 0
