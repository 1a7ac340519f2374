"""promptfoo: a Python assertion that an output keeps to its evidence.

    # promptfooconfig.yaml
    tests:
      - vars: {question: "How long is leave?", context: "Partners are entitled to 2 weeks of leave."}
        assert:
          - type: python
            value: file://assay_assert.py

    # assay_assert.py
    from assay.integrations.evaluators.promptfoo import get_assert

The evidence is `vars.context`, or what the assertion's `config.evidence` names; `config` takes `policy`, `question`
(the name of a variable) and `threshold` as well. Without a threshold an output passes if the policy emits it.
"""

from functools import lru_cache
from typing import Any

from assay.config import Guard
from assay.errors import InputError
from assay.integrations.evaluators.verdicts import scored, texts

__all__ = ["get_assert"]

_QUESTIONS = ("question", "query", "input")


@lru_cache(maxsize=8)
def _guard(policy: str | None) -> Guard:
    return Guard(policy)


def get_assert(output: str, context: dict[str, Any]) -> dict[str, Any]:
    """The result of the assertion in promptfoo's form: `pass`, `score`, `reason`, `namedScores`.

    Raises:
        InputError: the test has no evidence, or `threshold` is no number from 0 to 1.
        PolicyError: there is no such policy.
    """
    config = context.get("config") or {}
    variables = context.get("vars") or {}
    name = str(config.get("evidence", "context"))
    asked = [config["question"]] if "question" in config else _QUESTIONS
    question = next((variables[one] for one in asked if one in variables), None)
    guard = _guard(config.get("policy"))
    found = scored(guard, output, texts(variables.get(name)), question, wants=f"`vars.{name}`")
    threshold = config.get("threshold")
    if threshold is not None and not (isinstance(threshold, int | float) and 0 <= threshold <= 1):
        raise InputError(f"expected a threshold from 0 to 1, got {threshold!r}")
    passed = found.passed if threshold is None else found.score >= threshold
    named = {key: value for key, value in found.details["metrics"].items() if 0 <= value <= 1}
    return {"pass": passed, "score": found.score, "reason": found.reason, "namedScores": named}
