"""The two rates of a gate measured for each preset: honest outputs emitted, and wrong ones stopped.

The figures are in ``standing.json`` beside this module. ``python -m train.standing`` measures them on answers of
language models that people labelled and that were not used for training or fitting. Each figure applies to exactly one
verifier and one version of a preset, identified by their digests. docs/thresholds.md says how far they carry over.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("standing.json")


@dataclass(frozen=True, slots=True)
class Standing:
    """What a policy decided on labelled answers of language models."""

    verifier: str
    """The name of the verifier that judged them."""
    honest: int
    """The number of answers in which nothing is wrong."""
    emitted: int
    """How many of these the policy emits."""
    wrong: int
    """The number of answers in which something is wrong."""
    stopped: int
    """How many of these the policy does not emit."""
    threshold: float
    """The policy's `emit_threshold`."""
    curve: tuple[tuple[float, float, float], ...]
    """The rates at other thresholds: the threshold, the share of honest answers whose score reaches it, and the share
    of wrong answers whose score is below it."""

    @property
    def words(self) -> str:
        """Both rates in a sentence.

        >>> Standing("assay", 200, 150, 100, 81, 0.85, ()).words
        'emits 75% of 200 honest answers of language models and stops 81% of 100 wrong ones'
        """
        emitted, stopped = self.emitted / self.honest, self.stopped / self.wrong
        return (
            f"emits {emitted:.0%} of {self.honest:,} honest answers of language models and stops {stopped:.0%} of "
            f"{self.wrong:,} wrong ones"
        )


def standing_of(policy_digest: str, verifier_digest: str | None = None) -> Standing | None:
    """The measured rates of a policy; None if it was not measured, as is the case for every custom policy.

    Args:
        policy_digest: the digest of the policy.
        verifier_digest: the digest of the verifier in use; if given, figures of another verifier are not returned.
    """
    measured = _measured()
    verifier = measured["verifier"]
    figures = measured["presets"].get(policy_digest)
    if figures is None or verifier_digest not in (None, verifier["digest"]):
        return None
    return Standing(
        verifier["name"],
        figures["honest"],
        figures["emitted"],
        figures["wrong"],
        figures["stopped"],
        figures["threshold"],
        tuple((point[0], point[1], point[2]) for point in figures["curve"]),
    )


@cache
def _measured() -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read
