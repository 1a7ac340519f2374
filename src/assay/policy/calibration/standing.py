"""Where a preset stands between the two rates of a gate: honest outputs emitted, wrong ones stopped.

The figures are in ``standing.json`` beside this module. ``python -m train.standing`` measures them on answers of
language models that people labelled and that nothing was trained or fitted on; they hold for one verifier and one
version of a preset each, by their digests, and for no other. docs/thresholds.md says what they are worth elsewhere.
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
    """What a policy did with labelled answers of language models."""

    verifier: str
    """What judged them."""
    honest: int
    """Answers in which nothing is wrong."""
    emitted: int
    """Those of them that it emits."""
    wrong: int
    """Answers in which something is wrong."""
    stopped: int
    """Those of them that it does not emit."""
    threshold: float
    """Its `emit_threshold`."""
    curve: tuple[tuple[float, float, float], ...]
    """Of other thresholds: the threshold, the share of honest answers whose score reaches it, of wrong ones below."""

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
    """The standing of a policy; none where it was not measured, as of every policy of one's own.

    Args:
        policy_digest: of the policy.
        verifier_digest: of what judges; given, figures of another verifier count as none.
    """
    measured = _measured()
    verifier = measured["verifier"]
    found = measured["presets"].get(policy_digest)
    if found is None or verifier_digest not in (None, verifier["digest"]):
        return None
    return Standing(
        verifier["name"],
        found["honest"],
        found["emitted"],
        found["wrong"],
        found["stopped"],
        found["threshold"],
        tuple((one[0], one[1], one[2]) for one in found["curve"]),
    )


@cache
def _measured() -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read
