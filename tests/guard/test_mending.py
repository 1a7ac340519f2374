"""Documents that are plainly broken: mended before a repair asks anybody, and never guessed at."""

import asyncio
import json
from typing import Any

import pytest

from assay.guard import Guard
from assay.schema import Action, HallucinationReport
from assay.testing import FakeScorer

EVIDENCE = ["The price is 7 euros. The order is A-1235."]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"price_euros": {"type": "number"}, "order": {"type": "string"}},
    "required": ["price_euros"],
    "additionalProperties": False,
}
BROKEN = '```json\n{\'price_euros\': 7, "order": "A-1235",}\n```'
guard = Guard("general", scorer=FakeScorer())


def repaired(answer: str, **options: Any) -> HallucinationReport:
    return guard.repair(answer, EVIDENCE, schema=SCHEMA, **options)


def test_a_document_with_a_comma_too_many_is_made_readable_and_told() -> None:
    assert guard.check(BROKEN, EVIDENCE, schema=SCHEMA).action is not Action.EMIT
    report = repaired(BROKEN)
    assert json.loads(report.output) == {"price_euros": 7, "order": "A-1235"}
    assert not [issue for issue in report.issues if issue.code == "structure.not_json"]
    revision = report.revision
    assert revision is not None
    assert revision.original == BROKEN
    first = revision.attempts[0]
    assert (first.number, first.outcome) == (1, "better")
    assert "A comma before a closing bracket" in first.reason
    assert [attempt.number for attempt in revision.attempts] == list(range(1, 1 + len(revision.attempts)))
    rebuilt, at = "", 0
    for change in revision.changes:
        rebuilt += BROKEN[at : change.start] + change.after
        at = change.end
    assert rebuilt + BROKEN[at:] == report.output


def test_a_mended_document_gets_the_values_of_the_evidence_too() -> None:
    report = repaired(BROKEN.replace("7", "5"))
    assert json.loads(report.output)["price_euros"] == 7
    assert report.revision is not None
    assert [attempt.outcome for attempt in report.revision.attempts[:2]] == ["better", "better"]


@pytest.mark.parametrize("answer", ['{"price_euros": ', '{"price_euros": NaN}', '{"price_euros": 007}', "No idea.", ""])
def test_what_only_a_guess_would_mend_is_left_as_it_is(answer: str) -> None:
    report = repaired(answer)
    assert report.output == answer
    assert report.action is not Action.EMIT
    assert report.revision is None or not any("Made readable" in one.reason for one in report.revision.attempts)


def test_without_a_schema_a_text_is_no_document() -> None:
    report = guard.repair("It says {'a': 1,} there.", EVIDENCE)
    assert report.output == "It says {'a': 1,} there."


def test_the_asynchronous_twin_mends_alike() -> None:
    other = asyncio.run(guard.arepair(BROKEN, EVIDENCE, schema=SCHEMA))
    assert (other.output, other.revision) == (repaired(BROKEN).output, repaired(BROKEN).revision)
