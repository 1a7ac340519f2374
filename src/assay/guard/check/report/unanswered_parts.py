"""The notice to a reader about parts of the question that nothing answers."""

import json
from collections.abc import Sequence

from assay.policy import Route, silence_notice
from assay.schema import Decision


def with_silence_notice(decision: Decision, untold: Sequence[str], text: str, *, document: bool) -> Decision:
    """A decision with a notice about the parts of the question that nothing answers.

    The notice goes into the words that take the output's place, behind a disclosure, or behind an output that is
    emitted because of its claims. Nothing is put behind a document: it could no longer be read as one.

    Args:
        decision: the gate's decision.
        untold: the parts that nothing answers.
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
