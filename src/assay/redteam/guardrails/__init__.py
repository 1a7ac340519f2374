"""Guardrails under test: attack success with and without each, and its cost for honest requests."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.guardrails.comparison import GuardrailComparison as GuardrailComparison
    from assay.redteam.guardrails.comparison import compare_guardrails as compare_guardrails
    from assay.redteam.guardrails.effects import Effect as Effect
    from assay.redteam.guardrails.effects import Fate as Fate
    from assay.redteam.guardrails.effects import effect_of as effect_of
    from assay.redteam.guardrails.effects import fate_of as fate_of
    from assay.redteam.guardrails.kinds import Guardrail as Guardrail
    from assay.redteam.guardrails.kinds import load_guardrail as load_guardrail
    from assay.redteam.guardrails.tables import guardrail_json as guardrail_json
    from assay.redteam.guardrails.tables import guardrail_markdown as guardrail_markdown
    from assay.redteam.guardrails.tables import guardrail_text as guardrail_text
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".comparison": ("GuardrailComparison", "compare_guardrails"),
            ".effects": ("Effect", "Fate", "effect_of", "fate_of"),
            ".kinds": ("Guardrail", "load_guardrail"),
            ".tables": ("guardrail_json", "guardrail_markdown", "guardrail_text"),
        },
        renamed={
            "Compared": "GuardrailComparison",
        },
    )
