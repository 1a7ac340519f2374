"""The sampled cadence: a judge over HTTP hears recorded outputs again, off the path."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.monitor.recording import Clock, bad_record, good_record
from tests.server.test_judge import CHECK, JudgeServer, everything, judging, nothing, site
from tests.verify.judges import judge as scripted

from assay.config import Guard
from assay.errors import ChatError, VerifierError
from assay.guard import Guard as CoreGuard
from assay.models.chat import Budget
from assay.monitor import JudgeSampling
from assay.policy import preset
from assay.schema import Evidence
from assay.server.cadence.judge import judge_outputs, judging_guard
from assay.server.guards import Guards
from assay.server.judge_settings import JudgeSettings
from assay.stats.drift import weighted_rate
from assay.store.db import Store
from assay.store.db import tables as _tables
from assay.store.records import CheckRecord
from assay.testing import FakeScorer

TENANT = "default"


def heard_of(store: Store) -> list[Any]:
    table = _tables.observations.c
    with store.reading(TENANT) as connection:
        return list(connection.execute(select(_tables.observations).where(table.cadence == "judge").order_by(table.at)))


def guard_by(rule: Any) -> CoreGuard:
    return judging_guard(Guard("general", scorer=FakeScorer(), llm=scripted(rule), environ={}))


def recorded(store: Store, clock: Clock, count: int, bad: Sequence[int] = ()) -> None:
    for number in range(count):
        clock.now += timedelta(seconds=1)
        store.record(bad_record() if number in bad else good_record())
    clock.now += timedelta(minutes=5)


def test_all_that_the_path_flagged_and_a_share_of_the_rest_are_heard_with_their_probabilities(url: str) -> None:
    clock = Clock()
    with Store(url, clock=clock) as store:
        recorded(store, clock, 60, bad=range(0, 60, 6))
        how = JudgeSampling(fraction=0.2, most=100)
        found = judge_outputs(store, TENANT, how, guard_by(nothing), (0, ""))
        rows = heard_of(store)
        assert (found.unanswered, len(rows)) == (False, found.judged)
        assert sum(row.probability == 1.0 for row in rows) == 10
        drawn = [row for row in rows if row.probability == 0.2]
        assert 2 <= len(drawn) <= 20
        assert all(row.bad == 1.0 for row in rows)
        # Weights make up for the draw: as many outputs as there were, about.
        rate = weighted_rate([row.bad for row in rows], [row.probability for row in rows])
        assert rate.outputs == pytest.approx(10 + 5 * len(drawn))
        # Nothing is heard twice, wherever it begins.
        again = judge_outputs(store, TENANT, how, guard_by(nothing), (0, ""))
        assert (again.judged, len(heard_of(store))) == (0, len(rows))


def test_the_draw_is_the_same_on_every_replica_and_the_share_is_what_was_asked(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        recorded(store, clock, 300)
        how = JudgeSampling(fraction=0.2, most=1_000, flagged=False)
        judge_outputs(store, TENANT, how, guard_by(everything), (0, ""))
        assert 30 <= len(heard_of(store)) <= 95


def test_a_turn_ends_where_it_has_heard_enough_and_the_next_goes_on_there(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        recorded(store, clock, 12)
        how, after, turns = JudgeSampling(fraction=1.0, most=5), (0, ""), 0
        while len(heard_of(store)) < 12:
            found = judge_outputs(store, TENANT, how, guard_by(everything), after)
            assert found.judged <= 5
            after, turns = found.after, turns + 1
        assert turns == 3


def test_an_output_at_which_the_judge_always_fails_holds_no_other_up(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        recorded(store, clock, 4)
        calls = 0

        def fails_at_the_first(work: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls in (1, 3):  # the first output, when it is tried and when it is tried again
                raise VerifierError("the check took longer than 30 seconds")
            return work()

        how = JudgeSampling(fraction=1.0)
        found = judge_outputs(store, TENANT, how, guard_by(everything), (0, ""), runs=fails_at_the_first)
        assert (found.judged, found.passed, found.unanswered) == (3, 1, False)
        again = judge_outputs(store, TENANT, how, guard_by(everything), found.after)
        assert (again.judged, again.after) == (0, found.after)


def test_a_judge_that_is_down_is_asked_about_few_outputs_and_the_turn_resumes_at_the_first(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        recorded(store, clock, 12)
        calls = 0

        def fails(_: Any) -> Any:
            nonlocal calls
            calls += 1
            raise VerifierError("the judge did not answer")

        how = JudgeSampling(fraction=1.0)
        found = judge_outputs(store, TENANT, how, guard_by(everything), (0, ""), runs=fails)
        assert (found.judged, found.passed, found.unanswered, calls) == (0, 0, True, 3)
        assert judge_outputs(store, TENANT, how, guard_by(everything), found.after).judged == 12


def test_an_output_whose_judgement_would_cost_more_tokens_than_it_may_is_skipped_and_the_judge_not_asked(
    tmp_path: Path,
) -> None:
    clock, asked = Clock(), 0

    def counted(statement: str, passages: Any) -> Any:
        nonlocal asked
        asked += 1
        return everything(statement, passages)

    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        recorded(store, clock, 4)
        poor = JudgeSampling(fraction=1.0, tokens=100)
        found = judge_outputs(store, TENANT, poor, guard_by(counted), (0, ""))
        assert (found.judged, found.passed, found.unanswered, asked) == (0, 4, False, 0)
        found = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), guard_by(counted), (0, ""))
        assert (found.judged, found.passed) == (4, 0)
        assert asked > 0


FACTS = (
    "Partners are entitled to 2 weeks of leave.",
    "Managers approve leave within 3 days.",
    "Requests are sent to the office in Berlin.",
    "Leave may be taken in 2 parts.",
    "The office opens at 9 in the morning.",
)


def test_an_output_that_was_judged_in_part_is_skipped_since_the_rest_would_count_as_right(tmp_path: Path) -> None:
    """The judge finds every claim wrong; with few tokens it is asked about the last one alone."""
    clock, text = Clock(), " ".join(FACTS)
    evidence = (Evidence(id="e", text=text),)
    report = Guard("general", scorer=FakeScorer(), environ={}).check(text, evidence)
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        store.record(CheckRecord(report, {"answer": text}, evidence, preset("general"), tenant=TENANT))
        clock.now += timedelta(minutes=5)
        asked: list[str] = []

        def wrong(statement: str, passages: Any) -> Any:
            asked.append(statement)
            return nothing(statement, passages)

        for tokens in range(1_500, 6_000, 250):
            asked.clear()
            sampling = JudgeSampling(fraction=1.0, tokens=tokens)
            found = judge_outputs(store, TENANT, sampling, guard_by(wrong), (0, ""))
            if len(asked) >= len(FACTS):
                break
            assert (found.judged, found.passed, heard_of(store)) == (0, 1, [])
            partly = bool(asked)
        assert partly
        assert (found.judged, [row.bad for row in heard_of(store)]) == (1, [1.0])


def outputs_of(store: Store, clock: Clock, *texts: str) -> None:
    """Records outputs, each a text, beside all facts and a note of their own."""
    for number, text in enumerate(texts):
        evidence = (Evidence(id="e", text=f"{' '.join(FACTS)} Note {number}."),)
        report = Guard("general", scorer=FakeScorer(), environ={}).check(text, evidence)
        clock.now += timedelta(seconds=1)
        store.record(CheckRecord(report, {"answer": text}, evidence, preset("general"), tenant=TENANT))
    clock.now += timedelta(minutes=5)


def failing(times: int, at: str) -> Any:
    """A judge that finds every claim wrong and fails so many times at questions about one of them."""
    left = times

    def rule(statement: str, passages: Any) -> Any:
        nonlocal left
        if left and statement.startswith(at):
            left -= 1
            raise ChatError("the endpoint answered with status 503")
        return nothing(statement, passages)

    return rule


def test_a_question_that_fails_once_costs_no_output_its_judgement(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        outputs_of(store, clock, *(" ".join(FACTS[: 5 - number % 2]) for number in range(3)))
        found = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), guard_by(failing(1, FACTS[4])), (0, ""))
        assert (found.judged, found.passed, found.unanswered) == (3, 0, False)


def test_a_turn_that_ends_between_two_tries_is_resumed_at_that_output(tmp_path: Path) -> None:
    clock, going = Clock(), iter([True])
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        outputs_of(store, clock, " ".join(FACTS))
        guard, sampling = guard_by(failing(1, FACTS[4])), JudgeSampling(fraction=1.0)
        found = judge_outputs(store, TENANT, sampling, guard, (0, ""), goes_on=lambda: next(going, False))
        assert (found.judged, found.passed, found.unanswered) == (0, 0, True)
        assert judge_outputs(store, TENANT, sampling, guard, found.after).judged == 1


def test_outputs_that_are_judged_in_part_are_bounded_in_a_turn_and_show_that_the_judge_answers(tmp_path: Path) -> None:
    """It never answers about one claim: outputs that have others besides are judged in part, those without fail."""
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        outputs_of(store, clock, *(FACTS[4] if number % 2 else " ".join(FACTS) for number in range(8)))
        guard, after, turns = guard_by(failing(10_000, FACTS[4])), (0, ""), []
        for _ in range(4):
            found = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0, most=2), guard, after)
            turns.append((found.judged, found.passed, found.unanswered))
            after = found.after
        assert sum(passed for _, passed, _ in turns) >= 7
        assert all(passed <= 4 for _, passed, _ in turns)


def test_a_judge_that_is_down_ends_the_turn_although_claims_are_remembered(tmp_path: Path) -> None:
    clock, down = Clock(), False

    def rule(statement: str, passages: Any) -> Any:
        if down:
            raise ChatError("the endpoint could not be reached")
        return nothing(statement, passages)

    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        evidence = (Evidence(id="e", text=" ".join(FACTS)),)  # the same beside all outputs: claims are remembered
        for facts in (FACTS[:1], *([FACTS[0], one] for one in FACTS[1:])):
            text = " ".join(facts)
            report = Guard("general", scorer=FakeScorer(), environ={}).check(text, evidence)
            clock.now += timedelta(seconds=1)
            store.record(CheckRecord(report, {"answer": text}, evidence, preset("general"), tenant=TENANT))
        clock.now += timedelta(minutes=5)
        guard = guard_by(rule)
        first = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0, most=1), guard, (0, ""))
        assert first.judged == 1
        down = True
        found = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), guard, first.after)
        assert (found.judged, found.passed, found.unanswered) == (0, 0, True)
        down = False
        assert judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), guard, found.after).judged == 4


def test_outputs_without_claims_are_no_sign_that_the_judge_answers(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        outputs_of(store, clock, *("Hello! How can I help you?" if number % 2 else FACTS[0] for number in range(8)))
        down = guard_by(failing(10_000, ""))
        found = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), down, (0, ""))
        assert (found.passed, found.unanswered) == (0, True)
        again = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), guard_by(nothing), found.after)
        assert (found.judged + again.judged, len(heard_of(store))) == (8, 8)


def test_a_second_try_spends_what_the_first_one_left(tmp_path: Path) -> None:
    clock, spent = Clock(), []

    class Counting:
        def __init__(self, guard: Any) -> None:
            self.guard = guard

        def with_token_budget(self, tokens: int) -> Any:
            spent.append(tokens)
            return self.guard.with_token_budget(tokens)

    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        outputs_of(store, clock, " ".join(FACTS))
        guard: Any = Counting(guard_by(failing(1, FACTS[4])))
        found = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0, tokens=20_000), guard, (0, ""))
        assert found.judged == 1
        first, second = spent
        assert (first, 0 < second < 20_000) == (20_000, True)


def test_an_output_of_more_claims_than_the_path_may_ask_about_is_judged(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        outputs_of(store, clock, " ".join(FACTS))
        few = preset("general").model_copy(update={"judge_calls": 1})
        budget = Budget(calls=1)
        guard = judging_guard(Guard(few, scorer=FakeScorer(), llm=scripted(nothing), budget=budget, environ={}))
        assert judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), guard, (0, "")).judged == 1


def test_where_the_judge_does_not_answer_nothing_is_concluded() -> None:
    async def scene(folder: Path) -> None:
        with Store(str(folder / "assay.db")) as store:
            async with judging() as judge, site(judge, store=store) as here:
                for _ in range(3):
                    await here.post("/v1/check", CHECK)
            async with judging(fails=500) as broken:
                found = await asyncio.to_thread(_hear_by, store, broken)
                assert (found.judged, found.unanswered, heard_of(store)) == (0, True, [])
            async with judging(rule=nothing) as mended:
                found = await asyncio.to_thread(_hear_by, store, mended)
                assert (found.judged, found.unanswered) == (3, False)
                assert [row.bad for row in heard_of(store)] == [1.0] * 3

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(scene(Path(folder)), 120))


def _hear_by(store: Store, judge: JudgeServer) -> Any:
    settings = JudgeSettings("judge-1", base_url=judge.url, key="k", seconds=5.0)
    guards = Guards("general", scorer=FakeScorer(), judge=settings, environ={})
    # An hour later, by the clock of the store.
    later = datetime.now(UTC) + timedelta(minutes=5)
    store._clock = lambda: later
    return judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), judging_guard(guards.default), (0, ""))


def test_what_was_erased_is_passed_over_and_counted(tmp_path: Path) -> None:
    clock = Clock()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        recorded(store, clock, 3)
        with store.engine.begin() as connection:
            connection.execute(_tables.runs.update().values(salt=None, asked=None))
        found = judge_outputs(store, TENANT, JudgeSampling(fraction=1.0), guard_by(everything), (0, ""))
        assert (found.judged, found.passed, heard_of(store)) == (0, 3, [])
        assert json.loads(json.dumps(list(found.after)))[1] == found.after[1]
