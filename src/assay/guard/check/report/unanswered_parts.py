"""The notice to a reader about parts of the question that nothing answers."""

import json
from collections.abc import Sequence

from assay.policy import Route, silence_notice
from assay.schema import Decision


def with_silence_notice(decision: Decision, untold: Sequence[str], text: str, *, document: bool) -> Decision:
    """A decision with a notice about the parts of the question that nothing answers.

    It is in the words that take the place of the output, behind a disclosure, or behind an output that is emitted
    because of its claims. Behind a document nothing can stand: whoever reads it as one could no longer do so.

    Args:
        decision: that of the gate.
        untold: the parts.
        text: the output.
        document: whether the output is held to a schema.
    """
    if not untold:
        return decision
    if decision.response is not None:
        response = f"{decision.response} {silence_notice(untold)}"
    elif decision.route == Route.SERVE and not document and not _is_json(text):
        response = silence_notice(untold)
    else:
        return decision
    return decision.model_copy(update={"response": response})


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True
