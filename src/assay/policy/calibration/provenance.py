"""Where fitted thresholds come from, kept in the policy file beside them.

    version: 1
    calibration:
      method: learn_then_test
      alpha: 0.1
      ...
    policy:
      preset: general
      emit_threshold: 0.9

The block says what was promised, of which rows, by which verifier. It is no part of the policy: it decides nothing and
does not change its digest. A promise is void where another verifier judges or other thresholds decide, so both digests
are in it and `void_because` compares them.
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
    """What chose them. Only the first promises anything of the rows at hand; see `assay.stats.risk`."""
    statement: str
    """What is promised, in a sentence."""
    alpha: Share | None = None
    """The share of hallucinated outputs that may pass; none without a guarantee."""
    delta: Share | None = None
    """How often the promise may fail; none without one that holds with high probability."""
    horizon: Count | None = None
    """How many hallucinated outputs to come the promise is about; none where it is about their rate."""
    rows: Count
    """Labelled rows that the thresholds were fitted on."""
    hallucinated: Count
    """Those of them that are hallucinated: the n of the guarantee."""
    leaked: Count
    """Those that pass all the same."""
    upper_bound: Share | None = None
    """The largest leak rate that is compatible with the rows at confidence 1 - delta."""
    false_abstention: Share | None = None
    """The share of right rows that do not pass."""
    documents: Count
    """Different bodies of evidence among the rows; fewer than rows where some are not independent of each other."""
    cost_leak: float = Field(ge=0)
    cost_false_block: float = Field(ge=0)
    cost_abstention: float = Field(ge=0)
    loss_of_rates: bool = False
    """Whether right and hallucinated rows weigh a half each in the loss, rather than each row the same."""
    loss: float = Field(ge=0)
    """The mean loss of a row at these costs."""
    confidence_ece: Share | None = None
    """The expected calibration error of the fitted confidence on held-out rows; none where none was fitted so."""
    seed: int
    """Of the choice of one row a document, where that was asked for."""
    data_digest: str = Field(min_length=1)
    """SHA-256 over the rows, their labels included."""
    policy_digest: str = Field(min_length=1)
    """The digest of the policy that was fitted."""
    verifier: str
    verifier_digest: str = Field(min_length=1)
    """What judged the rows."""


def void_because(calibration: Calibration, policy: Policy, verifier_digest: str) -> tuple[str, ...]:
    """Why what was promised does not hold for a policy and a verifier; empty where it does."""
    reasons = []
    if policy.digest != calibration.policy_digest:
        reasons.append("the policy was changed after it was fitted")
    if verifier_digest != calibration.verifier_digest:
        reasons.append(f"the rows were judged by another verifier, {calibration.verifier}: fit the policy again")
    return tuple(reasons)


def policy_text(policy: Policy, calibration: Calibration) -> str:
    """The file of a fitted policy: what it changes of its preset, and where that comes from.

    Reading it with `parse_policy` gives the policy again, digest included.
    """
    import yaml

    base = next((preset for name, preset in PRESETS.items() if _family(policy.name) == name), PRESETS["general"])
    settings: dict[str, Any] = {"preset": base.name, **_differences(policy.model_dump(mode="json"), base)}
    document = {"version": 1, BLOCK: calibration.model_dump(mode="json", exclude_none=True), "policy": settings}
    head = "# Thresholds fitted by `assay calibrate`. Name this file in --policy or Guard(policy=...).\n"
    return head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)


def policy_with_prior(policy: Policy, claims: int) -> str:
    """The file of a policy whose `prior` was estimated: what it changes of its preset.

    Args:
        policy: with the estimate.
        claims: how many claims it was estimated from.
    """
    import yaml

    base = next((preset for name, preset in PRESETS.items() if _family(policy.name) == name), PRESETS["general"])
    settings: dict[str, Any] = {"preset": base.name, **_differences(policy.model_dump(mode="json"), base)}
    head = f"# prior estimated by `assay calibrate --prior` from {claims:,} claims. Name this file in --policy.\n"
    return head + yaml.safe_dump({"version": 1, "policy": settings}, sort_keys=False, allow_unicode=True, width=110)


def read_calibration(block: object) -> Calibration:
    """The block as a value.

    Raises:
        PolicyError: a field is missing, unknown or out of its range.
    """
    try:
        return Calibration.model_validate(block)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        where = f"{BLOCK}.{place}" if place else BLOCK
        raise PolicyError(f"{where}: {first['msg']}; fit the policy again") from error


def _family(name: str) -> str:
    """The preset that a name such as `rag-calibrated` begins with."""
    return max((known for known in PRESETS if name == known or name.startswith(f"{known}-")), key=len, default="")


def _differences(fields: Mapping[str, Any], base: Policy) -> dict[str, Any]:
    known = base.model_dump(mode="json")
    return {name: value for name, value in fields.items() if value != known[name]}
