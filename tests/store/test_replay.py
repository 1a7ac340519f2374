"""What a chat model took part in is replayed from the record to the same decision, or refused with the reason."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from tests.rewrite.grounded_models import EVIDENCE as TOLD
from tests.rewrite.grounded_models import QUESTION, TRUE, by_purpose
from tests.rewrite.test_cove import answering, drafting, questioning
from tests.server.test_judge import EVIDENCE as OFFICES
from tests.server.test_judge import HOP, everything, nothing
from tests.store.making import KEY, KEYS, RING
from tests.store.older import make_older
from tests.verify.judges import answers

from assay.errors import ChatError, InputError
from assay.guard import Guard
from assay.models.chat.interface import ChatRequest, Choice, Completion, Finish, Message, TokenLogprob, Usage
from assay.models.chat.meter import Budget
from assay.models.chat.replay import Replayed
from assay.models.chat.tape import Tape, joined
from assay.policy import Policy, preset
from assay.schema import HallucinationReport
from assay.schema.coerce import coerce_evidence
from assay.server.audit.replay import GuardOf, Replay, chat_models_in, replay
from assay.store.audit import standalone
from assay.store.audit.export import export_run, run_content
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.records.erasure import erase_evidence, erase_runs
from assay.store.records.interface import CheckRecord
from assay.testing import FakeScorer, ScriptedChat

EVIDENCE = coerce_evidence(OFFICES)
ASKED: dict[str, Any] = {"answer": HOP, "question": "Where was the head of the Arden office born?"}
JUDGED = Policy.model_validate({**preset("general").model_dump(), "judge": "all"})
PROBED = Policy.model_validate({**preset("general").model_dump(), "consistency_probes": True, "probe_samples": 3})


def guard_of(policy: Policy, **more: Any) -> Guard:
    return Guard(policy, scorer=FakeScorer(), **more)


def judge_of(rule: Any) -> ScriptedChat:
    return ScriptedChat(lambda request: json.dumps(answers(request, rule)), name="judge-1")


def recorded(store: Store, guard: Guard, asked: dict[str, Any]) -> CheckRecord:
    report = guard.check(
        asked["answer"], EVIDENCE, **{name: value for name, value in asked.items() if name != "answer"}
    )
    record = CheckRecord(report, asked, EVIDENCE, guard.policy)
    store.record(record)
    return record


def content_of(store: Store, record: CheckRecord) -> dict[str, Any]:
    with store.reading("default") as connection:
        found = run_content(connection, "default", record.id)
    assert found is not None
    return found


def again(store: Store, record: CheckRecord, made: GuardOf = guard_of) -> Replay:
    return replay(content_of(store, record), made)


@pytest.fixture
def store(url: str) -> Any:
    with Store(url) as made:
        yield made


@pytest.mark.parametrize("rule", [everything, nothing])
def test_what_a_judge_decided_is_replayed_from_what_it_said(store: Store, rule: Any) -> None:
    record = recorded(store, guard_of(JUDGED, llm=judge_of(rule)), ASKED)
    assert chat_models_in(record.report) == ("the judge (judge-1)",)
    found = again(store, record)
    assert (found.same_decision, found.same_report) == (True, True)


def test_what_was_known_of_a_claim_is_on_the_tape_as_well(store: Store) -> None:
    guard = guard_of(JUDGED, llm=judge_of(everything))
    recorded(store, guard, ASKED)
    second = recorded(store, guard, ASKED)
    assert second.report.judge is not None
    assert second.report.judge.remembered == 1
    assert again(store, second).same_report


@pytest.mark.parametrize("error", [ChatError("away", retryable=True, calls=3), ChatError("no")])
def test_a_judge_that_could_not_be_asked_is_replayed_as_such(store: Store, error: ChatError) -> None:
    record = recorded(store, guard_of(JUDGED, llm=ScriptedChat(lambda request: error, name="judge-1")), ASKED)
    assert record.report.action != "emit"
    assert again(store, record).same_report


def test_a_judge_whose_budget_was_used_up_is_replayed_as_such(store: Store) -> None:
    record = recorded(store, guard_of(JUDGED, llm=judge_of(everything), budget=Budget(tokens=5)), ASKED)
    assert again(store, record).same_decision


def test_probes_are_replayed_in_their_order(store: Store) -> None:
    said = iter(["In Porto.", "In Lisbon.", "In Porto.", *["In Porto."] * 50])
    chat = ScriptedChat(lambda request: next(said), name="asked-again")
    asked = {"answer": "Ines Duarte was born in Porto.", "question": "Where was Ines Duarte born?"}
    record = recorded(store, guard_of(PROBED, llm=chat), asked)
    assert chat.requests
    assert "the probes" in chat_models_in(record.report)
    found = again(store, record)
    assert (found.same_decision, found.same_report) == (True, True)


def test_a_chain_is_run_again_from_what_was_said(store: Store) -> None:
    chat = by_purpose(draft=drafting(TRUE), questions=questioning(), answers=answering(TRUE[0]))
    guard, evidence, question = guard_of(preset("general"), llm=chat), coerce_evidence(TOLD), QUESTION
    report = guard.generate(question, evidence, chain=True, attempts=1)
    assert chat_models_in(report) == ("the chain that made the answer",)
    asked = {"question": question, "generate": {"chain": True, "attempts": 1}}
    record = CheckRecord(report, asked, evidence, guard.policy)
    store.record(record)
    found = again(store, record)
    assert (found.same_decision, found.same_report) == (True, True)
    content = content_of(store, record)
    with pytest.raises(InputError, match=r"cannot be replayed without the completions of the (chain|model)"):
        replay({name: value for name, value in content.items() if name != "tape"}, guard_of)
    other = json.dumps({"asked": {"question": question, "generate": {"llm": 1}}, "evidence": []})
    with pytest.raises(InputError, match="cannot be given again: llm"):
        replay({**content, "asked": other, "evidence": []}, guard_of)


@pytest.mark.parametrize(("policy", "named"), [(JUDGED, "the judge"), (PROBED, "the probes")])
def test_without_the_completions_it_says_so_and_accuses_nobody(store: Store, policy: Policy, named: str) -> None:
    chat = judge_of(everything) if policy is JUDGED else ScriptedChat(lambda request: "In Porto.")
    asked = {"answer": "Ines Duarte was born in Porto.", "question": "Where was Ines Duarte born?"}
    guard = guard_of(policy, llm=chat)
    made = guard.check(EVIDENCE[1].text, EVIDENCE, question=asked["question"])
    report = HallucinationReport.model_validate(made.model_dump())
    record = CheckRecord(report, {**asked, "answer": EVIDENCE[1].text}, EVIDENCE, policy)
    store.record(record)
    with pytest.raises(InputError, match=f"cannot be replayed without the completions of {named}"):
        again(store, record)


def test_a_check_that_asks_other_things_now_is_refused_and_not_accused(store: Store) -> None:
    from assay.verify.judge.llm_judge import JudgeOptions

    record = recorded(store, guard_of(JUDGED, llm=judge_of(everything)), ASKED)
    with pytest.raises(InputError, match="what is asked now is not what was asked"):
        again(store, record, lambda policy, **more: guard_of(policy, judging=JudgeOptions(tokens_per_claim=7), **more))
    content = content_of(store, record)
    tape = json.loads(content["tape"])
    doubled = json.dumps({**tape, "answers": tape["answers"] * 2})
    with pytest.raises(InputError, match="what is asked now is not what was asked"):
        replay({**content, "tape": doubled}, guard_of)


def test_what_is_on_the_tape_is_bound_to_the_entry_and_proved_by_the_bundle(store: Store) -> None:
    record = recorded(store, guard_of(JUDGED, llm=judge_of(everything)), ASKED)
    note = make_checkpoint(store, KEYS, "default")
    with store.reading("default") as connection:
        assert verify_contents(connection, "default", verify_log(connection, "default", RING, [note])).holds
        lines = list(export_run(connection, "default", record.id))
    keys = [standalone.Key(None, KEY.public)]
    assert "its content is what was decided on" in standalone.verify_bundle(lines, keys)
    content = json.loads(lines[-1])["content"]
    forged = {**content, "tape": content["tape"].replace("PASS", "FAIL")}
    for one in (forged, {name: value for name, value in content.items() if name != "tape"}):
        line = json.dumps({"content": one}, ensure_ascii=False, separators=(",", ":")) + "\n"
        with pytest.raises(standalone.VerificationError):
            standalone.verify_bundle([*lines[:-1], line], keys)
    with store.engine.begin() as connection:
        set_acting_tenant(connection, EVERY_TENANT)
        connection.execute(text("UPDATE runs SET tape = NULL"))
    with store.reading("default") as connection:
        found = verify_contents(connection, "default", verify_log(connection, "default", RING, [note]))
    assert any("what chat models said" in one.message for one in found.findings)


@pytest.mark.parametrize("erase", [erase_runs, erase_evidence])
def test_a_tape_is_erased_with_what_it_quotes(store: Store, erase: Any) -> None:
    record = recorded(store, guard_of(JUDGED, llm=judge_of(everything)), ASKED)
    erase(store, [record.id], "request", "default")
    note = make_checkpoint(store, KEYS, "default")
    with store.reading("default") as connection:
        assert connection.execute(text("SELECT tape FROM runs")).scalar_one() is None
        assert verify_contents(connection, "default", verify_log(connection, "default", RING, [note])).holds
        assert run_content(connection, "default", record.id) is None


def test_a_database_without_tapes_gets_the_column_and_holds_as_before(tmp_path: Path) -> None:
    url = str(tmp_path / "x.db")
    with Store(url) as made:
        recorded(made, guard_of(preset("general")), ASKED)
    make_older(tmp_path / "x.db", "0007")
    with Store(url) as made:
        note = make_checkpoint(made, KEYS, "default")
        with made.reading("default") as connection:
            assert verify_contents(connection, "default", verify_log(connection, "default", RING, [note])).holds


# Tapes


def test_a_report_is_the_same_whatever_goes_along_with_it() -> None:
    report = guard_of(JUDGED, llm=judge_of(everything)).check(HOP, EVIDENCE, question=ASKED["question"])
    assert report.tape is not None
    read = HallucinationReport.model_validate(report.model_dump())
    assert (read == report, read.tape, "tape" in report.model_dump_json()) == (True, None, False)
    assert report.model_copy(update={"run_id": "other"}).tape == report.tape


@pytest.mark.parametrize(
    "tape",
    [
        {},
        {"form": 2},
        {"form": 1, "model": "m", "digest": "d"},
        {"form": 1, "model": "m", "digest": "d", "answers": [1]},
        {"form": 1, "model": "m", "digest": "d", "answers": [{"request": "r"}]},
        {"form": 1, "model": "m", "digest": "d", "answers": [{"request": "r", "made": {"choices": [], "usage": {}}}]},
        {"form": 1, "model": "m", "digest": "d", "answers": [{"request": "r", "error": {"kind": "other"}}]},
    ],
)
def test_what_is_no_tape_is_refused(tape: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="tape"):
        Replayed(tape)


_CHOICES = st.builds(
    Choice,
    st.text(),
    st.sampled_from(Finish),
    st.none() | st.text(),
    st.none() | st.tuples(st.builds(TokenLogprob, st.text(), st.floats(-50, 0), st.just((("a", -1.0),)))),
)
_COMPLETIONS = st.builds(
    Completion,
    st.lists(_CHOICES, min_size=1, max_size=3).map(tuple),
    st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.booleans()),
    st.text(),
    st.integers(0, 3),
    st.integers(0, 3),
    st.booleans(),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abc"), _COMPLETIONS | st.just(None)), max_size=12))
def test_each_request_gets_its_answers_again_in_their_order(said: list[tuple[str, Completion | None]]) -> None:
    tape, other = Tape(), Tape()
    for number, (words, made) in enumerate(said):
        request, written = ChatRequest((Message("user", words),)), tape if number % 2 == 0 or number > 5 else other
        if made is None:
            written.failed("judge", request, ChatError("away", calls=2))
        else:
            written.said("judge", replace(request, timeout=float(number + 1), most_calls=3), made)
    value = joined(tape.value("m", "d", None), other.value("m", "d", None))
    if value is None:
        assert not said
        return
    model = Replayed(json.loads(json.dumps(value)))
    order = [one for number, one in enumerate(said) if number % 2 == 0 or number > 5]
    order += [one for number, one in enumerate(said) if not (number % 2 == 0 or number > 5)]
    for words, made in order:
        request = ChatRequest((Message("user", words),))
        if made is None:
            with pytest.raises(ChatError, match="away"):
                model.complete(request)
        else:
            assert model.complete(request) == made
    assert (model.left, model.missing) == (0, 0)
    with pytest.raises(InputError, match="no answer"):
        model.complete(ChatRequest((Message("user", "a"),)))
