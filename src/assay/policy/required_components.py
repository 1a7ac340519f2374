"""What a policy needs in addition to the embedded network, so that users can be told before the first check."""

from dataclasses import dataclass

from assay.policy.model import Policy


@dataclass(frozen=True, slots=True)
class Requirement:
    """One use of a chat model that a policy asks for."""

    setting: str
    """The field of the policy."""
    what: str
    """What the model is asked for."""
    mandatory: bool
    """Whether outputs are withheld without a model; otherwise the other tiers decide alone."""


def requirements(policy: Policy) -> tuple[Requirement, ...]:
    """The uses of a chat model that a policy asks for; empty where it needs none.

    >>> from assay.policy.presets import preset
    >>> [(one.setting, one.mandatory) for one in requirements(preset("high-stakes"))]
    [('judge', False), ('consistency_probes', True)]
    """
    found = []
    if policy.groundedness and policy.judge == "all":
        found.append(Requirement("judge", "a judge's word on every claim", mandatory=True))
    elif policy.groundedness and policy.judge == "uncertain":
        found.append(Requirement("judge", "a judge's word on claims that the network is not sure of", mandatory=False))
    if policy.groundedness and policy.consistency_probes:
        found.append(Requirement("consistency_probes", "critical claims asked about again", mandatory=True))
    return tuple(found)
