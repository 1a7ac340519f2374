"""The provenance of fitted thresholds, kept beside them in the policy file.

    version: 1
    calibration:
      method: learn_then_test
      alpha: 0.1
      ...
    policy:
      preset: general
      emit_threshold: 0.9

The block states what is guaranteed, for which rows and by which verifier. It is not part of the policy: it decides
nothing and does not affect the policy's digest. The guarantee is void where another verifier judges or other thresholds
decide, so the block contains both digests, which `void_because` compares.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from assay.errors import PolicyError
from assay.policy.model import Policy
from assay.policy.presets import PRESETS
from assay.schema import Value

BLOCK = "calibration"
"""The key of the block in a policy file."""
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Calibration(Value):
    """How the thresholds of a policy file were chosen."""

    method: Literal["learn_then_test", "conformal_risk_control", "least_loss"]
    """The method that chose them. Only the first guarantees anything for the rows at hand; see `assay.stats.risk`."""
    statement: str
    """The guarantee, in a sentence."""
    alpha: Share | None = None
    """The share of hallucinated outputs that may pass; none without a guarantee."""
    delta: Share | None = None
    """The probability with which the guarantee may fail; None if no guarantee holds with high probability."""
    horizon: Count | None = None
    """How many future hallucinated outputs the guarantee covers; None if it bounds their rate."""
    rows: Count
    """Labelled rows that the thresholds were fitted on."""
    hallucinated: Count
    """The hallucinated rows among them: the n of the guarantee."""
    leaked: Count
    """The hallucinated rows that pass nevertheless."""
    upper_bound: Share | None = None
    """The largest leak rate that is compatible with the rows at confidence 1 - delta."""
    false_abstention: Share | None = None
    """The share of correct rows that do not pass."""
    documents: Count
    """The number of different bodies of evidence; smaller than `rows` where some rows depend on each other."""
    cost_leak: float = Field(ge=0)
    cost_false_block: float = Field(ge=0)
    cost_abstention: float = Field(ge=0)
    loss_of_rates: bool = False
    """Whether correct and hallucinated rows contribute half of the loss each, rather than every row the same."""
    loss: float = Field(ge=0)
    """The mean loss per row at these costs."""
    confidence_ece: Share | None = None
    """The expected calibration error of the fitted confidence on held-out rows; None if it was not measured."""
    seed: int
    """The seed for choosing one row per document, where that was requested."""
    data_digest: str = Field(min_length=1)
    """SHA-256 of the rows, labels included."""
    policy_digest: str = Field(min_length=1)
    """The digest of the fitted policy."""
    verifier: str
    verifier_digest: str = Field(min_length=1)
    """The digest of the verifier that judged the rows."""


def void_because(calibration: Calibration, policy: Policy, verifier_digest: str) -> tuple[str, ...]:
    """Why the guarantee does not apply to a policy and a verifier; empty where it does."""
    reasons = []
    if policy.digest != calibration.policy_digest:
        reasons.append("the policy was changed after it was fitted")
    if verifier_digest != calibration.verifier_digest:
        reasons.append(f"the rows were judged by another verifier, {calibration.verifier}: fit the policy again")
    return tuple(reasons)


def policy_text(policy: Policy, calibration: Calibration) -> str:
    """The file of a fitted policy: its differences from its preset, and their provenance.

    Reading it with `parse_policy` gives the same policy again, digest included.
    """
    head = "# Thresholds fitted by `assay calibrate`. Name this file in --policy or Guard(policy=...).\n"
    return _policy_file(head, policy, {BLOCK: calibration.model_dump(mode="json", exclude_none=True)})


def policy_with_prior(policy: Policy, claims: int) -> str:
    """The file of a policy whose `prior` was estimated: its differences from its preset.

    Args:
        policy: the policy with the estimate.
        claims: the number of claims that it was estimated from.
    """
    head = f"# prior estimated by `assay calibrate --prior` from {claims:,} claims. Name this file in --policy.\n"
    return _policy_file(head, policy, {})


def _policy_file(head: str, policy: Policy, blocks: Mapping[str, Any]) -> str:
    """A policy file: a comment, further blocks, and the settings in which the policy differs from its preset."""
    import yaml

    base = next((preset for name, preset in PRESETS.items() if _family(policy.name) == name), PRESETS["general"])
    settings: dict[str, Any] = {"preset": base.name, **_differences(policy.model_dump(mode="json"), base)}
    document = {"version": 1, **blocks, "policy": settings}
    return head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)


def read_calibration(block: object) -> Calibration:
    """Validates the block.

    Raises:
        PolicyError: a field is missing, unknown or out of range.
    """
    try:
        return Calibration.model_validate(block)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        where = f"{BLOCK}.{place}" if place else BLOCK
        raise PolicyError(f"{where}: {first['msg']}; fit the policy again") from error


def _family(name: str) -> str:
    """The longest name of a preset that a name such as `rag-calibrated` begins with; empty where there is none."""
    return max((known for known in PRESETS if name == known or name.startswith(f"{known}-")), key=len, default="")


def _differences(fields: Mapping[str, Any], base: Policy) -> dict[str, Any]:
    known = base.model_dump(mode="json")
    return {name: value for name, value in fields.items() if value != known[name]}
