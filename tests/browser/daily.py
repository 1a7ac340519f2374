"""What daily work leaves in a record: Markdown, a traced run of an agent, a dataset with labels, experiments on it."""

import json
import threading
from typing import Any

from assay.config import Guard
from assay.models.interface import PairScorer
from assay.policy import preset
from assay.schema import Evidence
from assay.server.datasets.experiments import run_experiments
from assay.store.datasets import Label, add_rows, label_rows, make_dataset, save_view, start_experiment
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord
from assay.store.records.report_lists import ReportFilter, read_page

MARKDOWN = (
    "# Leave\n\nEmployees are entitled to **16 weeks** of paid parental leave.\n\n"
    "| who | weeks |\n|---|---|\n| Employees | 16 weeks |\n| Partners | 4 weeks |\n\n"
    "- The request is made at least 8 weeks before it begins.\n"
    "- Partners receive [6 weeks](https://example.org/leave) of paid leave.\n\n"
    "```python\nweeks = 16\n```\n"
)
_BEGAN_NS = 1_760_000_000_000_000_000


def work(store: Store, scorer: PairScorer, evidence: tuple[Evidence, ...], words: str = "") -> None:
    """All of it, with further words in every text and name.

    Args:
        store: the record, with some runs in it.
        scorer: judges.
        evidence: what is checked against.
        words: what an attacker might have put into each field.
    """
    guard = Guard(preset("general"), scorer=scorer, environ={})
    text = f"{MARKDOWN}\n{words}\n"
    question = f"What about leave, in a table? {words}".strip()
    report = guard.check(text, evidence, question=question)
    asked: dict[str, Any] = {"answer": text, "question": question, "stakes": "medium"}
    rendered = store.record(CheckRecord(report, asked, evidence, guard.policy, "check", "markdown")).id
    trace = {"resourceSpans": [{"scopeSpans": [{"spans": _spans(words)}]}]}
    report = guard.check_run(trace, question=question, evidence=evidence)
    asked = {"run": trace, "question": question, "stakes": "medium"}
    store.record(CheckRecord(report, asked, evidence, guard.policy, "run", "traced"))
    with store.reading("default") as connection:
        found = read_page(connection, "default", ReportFilter(), None, 30).items
    runs = [row.id for row in found if row.id == row.run]
    name = f"Leave {words}"[:100]
    set_ = make_dataset(store, "default", name, maker=name, actor="local")
    add_rows(store, "default", set_, runs, adder=name, actor="local")
    labels = {run: (Label.WRONG if at % 3 else Label.RIGHT, ()) for at, run in enumerate(runs[: len(runs) // 2])}
    label_rows(store, "default", set_, {**labels, rendered: (Label.WRONG, [1])}, labeller=name, actor="local")
    for policy in ("rag", "high-stakes"):
        start_experiment(
            store,
            "default",
            set_,
            f"{policy} {words}"[:100],
            policy=policy,
            policy_name=policy,
            maker=name,
            actor="local",
        )
    run_experiments(store, lambda: guard, "demo", lambda check: check(), threading.Event())
    save_view(store, "default", "local", "runs", name, "action=block")


def _spans(words: str) -> list[dict[str, Any]]:
    asked = [{"role": "user", "parts": [{"type": "text", "content": f"Where is my refund? {words}"}]}]
    call = [{"type": "tool_call", "id": "c1", "name": "find_order", "arguments": {"id": f"W-17 {words}"}}]
    said = f"The refund is paid within 5 working days. {words}"
    turn, last = ([{"role": "assistant", "parts": one}] for one in (call, [{"type": "text", "content": said}]))
    return [
        _span("a", None, f"invoke_agent refunds {words}", "invoke_agent", (0, 5_200)),
        _span("b", "a", "chat", "chat", (40, 1_400), input=asked, output=turn, tokens=(812, 64)),
        _span("c", "a", f"execute_tool find_order {words}", "execute_tool", (1_450, 2_900), failed=f"timeout {words}"),
        _span("d", "c", "GET /orders", "http", (1_500, 2_880)),
        _span("e", "a", "chat", "chat", (2_950, 5_100), output=last, tokens=(902, 84)),
    ]


def _span(
    id_: str,
    parent: str | None,
    name: str,
    operation: str,
    times: tuple[int, int],
    *,
    input: Any = None,  # noqa: A002
    output: Any = None,
    tokens: tuple[int, int] | None = None,
    failed: str | None = None,
) -> dict[str, Any]:
    texts = {"gen_ai.operation.name": operation}
    texts |= {"gen_ai.input.messages": json.dumps(input)} if input else {}
    texts |= {"gen_ai.output.messages": json.dumps(output)} if output else {}
    texts |= {"gen_ai.tool.name": "find_order", "gen_ai.tool.call.id": "c1"} if operation == "execute_tool" else {}
    attributes: list[dict[str, Any]] = [{"key": key, "value": {"stringValue": one}} for key, one in texts.items()]
    for key, count in zip(("input", "output"), tokens or (), strict=False):
        attributes.append({"key": f"gen_ai.usage.{key}_tokens", "value": {"intValue": str(count)}})
    made: dict[str, Any] = {
        "traceId": "t" * 32,
        "spanId": id_,
        "name": name,
        "startTimeUnixNano": str(_BEGAN_NS + times[0] * 1_000_000),
        "endTimeUnixNano": str(_BEGAN_NS + times[1] * 1_000_000),
        "attributes": attributes,
    }
    made |= {"parentSpanId": parent} if parent is not None else {}
    return made | ({"status": {"code": 2, "message": failed}} if failed is not None else {})
