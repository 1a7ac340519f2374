"""The skill gives a word for each answer, keeps figures over all, and never calls clean what it did not read."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.config import Guard
from assay.errors import InputError, PolicyError, StoreError
from assay.skill import Ledger, SkillCheck, SkillSettings, Turn, answer_hook, install, read_settings, read_turn

FILES = Path(__file__).parents[2] / "src" / "assay" / "skill" / "files" / "hallucination-monitor"
LEAVE = "Partners are entitled to 2 weeks of paid leave. The office opens at 9:00. The canteen seats 80 people."
RIGHT, WRONG = "Partners are entitled to 2 weeks of paid leave.", "Partners are entitled to 9 weeks of paid leave."


def guard() -> Guard:
    return Guard("monitor")


def never() -> Guard:
    raise AssertionError("nothing was to be judged")


def checker(ledger: Ledger | None = None, settings: SkillSettings | None = None, **more: Any) -> SkillCheck:
    return SkillCheck(more.pop("guard", guard), settings or SkillSettings(), ledger, **more)


@pytest.mark.parametrize(
    ("answer", "contexts", "word", "score"),
    [
        (
            "AegisRAG uses Qdrant for vector storage, Neo4j for graph reasoning, and Redis for memory caching.",
            [
                "Vector storage is handled by Qdrant.",
                "Neo4j is used for the knowledge graph and for reasoning over it.",
                "Redis provides temporal memory and caching.",
            ],
            "PASS",
            0.0,
        ),
        (
            "AegisRAG was created in 2020 by a team at Stanford University and uses GPT-4 for embeddings.",
            [
                "AegisRAG is an Agentic Enterprise Graph Intelligence System.",
                "BGE-M3 embeddings are used for vector search.",
            ],
            "FAIL",
            1.0,
        ),
        (
            "BGE-M3 produces 1024-dimensional vectors and supports 50 languages. It was trained on 100 billion tokens.",
            [
                "BGE-M3 is a multi-vector embedding model that produces 1024-dimensional dense vectors.",
                "The model supports over 100 languages.",
            ],
            "FAIL",
            2 / 3,
        ),
    ],
)
def test_worked_examples(answer: str, contexts: list[str], word: str, score: float) -> None:
    found = checker().verify(answer, contexts)
    assert (found.verdict, found.num_claims) == (word, 3)
    assert found.hallucination_score == pytest.approx(score)
    assert len(found.unsupported_claims) == found.num_unsupported == 3 - found.num_verified
    assert [one["is_supported"] for one in found.claim_details].count(True) == found.num_verified
    assert all((one["supporting_context"] is not None) == one["is_supported"] for one in found.claim_details)


def test_figures_add_up_over_checks(tmp_path: Path) -> None:
    check = checker(Ledger(tmp_path / "m.sqlite"))
    right = check.verify(RIGHT, [LEAVE])
    first = right.metrics
    assert (first.total_checks, first.hallucinations_detected, first.pass_rate) == (1, 0, 1.0)
    wrong = check.verify(WRONG, [LEAVE])
    last = check.verify(RIGHT, []).metrics
    assert (last.total_checks, last.hallucinations_detected, last.unchecked) == (3, 1, 1)
    assert last.claims_verified == right.num_verified + wrong.num_verified
    assert last.claims_unsupported == wrong.num_unsupported
    assert wrong.hallucination_score is not None
    assert (last.pass_rate, last.average_hallucination_score) == (0.5, wrong.hallucination_score / 2)


def test_an_answer_without_contexts_or_with_too_many_claims_is_no_pass() -> None:
    assert checker(guard=never).verify(RIGHT, ["", "  "]).verdict == "UNCHECKED"
    few = SkillSettings.model_validate({"claims": {"max_claims_per_answer": 1}})
    found = checker(settings=few).verify(f"{RIGHT} The office opens at 9:00.", [LEAVE])
    assert (found.verdict, found.hallucination_score) == ("UNCHECKED", None)
    with pytest.raises(InputError, match="empty"):
        checker().verify(" ", [LEAVE])


def test_what_could_not_be_read_is_no_pass() -> None:
    found = checker(guard=lambda: Guard("high-stakes")).verify(RIGHT, [LEAVE])
    assert found.verdict == "UNCHECKED"
    assert found.reasons


def test_the_same_answer_is_judged_once_until_its_time_is_up(tmp_path: Path) -> None:
    now = 1_000.0
    made = 0

    def counted() -> Guard:
        nonlocal made
        made += 1
        return guard()

    check = SkillCheck(counted, SkillSettings(), Ledger(tmp_path / "m.sqlite"), lambda: now)
    first = check.verify(RIGHT, [LEAVE])
    again = check.verify(RIGHT, [LEAVE])
    assert (made, again.metrics.total_checks) == (1, 2)
    assert again.as_json() | {"metrics": None} == first.as_json() | {"metrics": None}
    check.verify(RIGHT, [LEAVE, "More."])
    now += 601
    check.verify(RIGHT, [LEAVE])
    assert made == 3


def test_without_leave_to_keep_text_none_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    quiet = SkillSettings.model_validate({"logging": {"log_unsupported_claims": False}})
    assert checker(Ledger(path), quiet).verify(WRONG, [LEAVE]).metrics.claims_unsupported == 1
    assert b"9 weeks" not in path.read_bytes()
    assert checker(Ledger(path)).verify(WRONG, [LEAVE]).metrics.claims_unsupported == 2
    assert b"9 weeks" in path.read_bytes()


@given(
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    wrong=st.integers(0, 3),
)
def test_a_higher_share_is_never_a_milder_word(shares: list[float], wrong: int) -> None:
    settings = SkillSettings.model_validate({"detection": {"threshold": shares[0], "critical_threshold": shares[1]}})
    rank = {"PASS": 0, "WARN": 1, "FAIL": 2}
    answers = [RIGHT, "The office opens at 9:00.", "The canteen seats 80 people."]
    lies = ["Partners get a car.", "The roof is green.", "The lift is broken."]
    words = [_word(settings, [*answers[n:], *lies[:n]]) for n in (wrong, min(3, wrong + 1))]
    assert rank[words[0]] <= rank[words[1]]
    if wrong == 0:
        assert words[0] == "PASS"


_CACHE: dict[tuple[str, ...], Any] = {}


def _word(settings: SkillSettings, sentences: list[str]) -> str:
    """Judged once for each answer: only the thresholds differ."""
    key = tuple(sentences)
    if key not in _CACHE:
        _CACHE[key] = guard().check(" ".join(sentences), evidence=[LEAVE])

    class Kept:
        def check(self, *_: Any, **__: Any) -> Any:
            return _CACHE[key]

    made: Callable[[], Any] = Kept
    return SkillCheck(made, settings).verify(" ".join(sentences), [LEAVE]).verdict


def test_the_settings_file_states_the_defaults_and_what_no_setting_is_is_named(tmp_path: Path) -> None:
    assert read_settings(FILES / "config.yaml") == SkillSettings() == read_settings(None)
    path = tmp_path / "config.yaml"
    for text, message in [
        ("detection: {treshold: 1}", "detection.treshold"),
        ("detection: {threshold: 2}", "detection.threshold"),
        ("detection: {threshold: 0.5}", "above critical_threshold"),
        ("- a", "the file"),
        ("a: [", "cannot be read"),
    ]:
        path.write_text(text)
        with pytest.raises(PolicyError, match=message):
            read_settings(path)
    path.write_text("")
    assert read_settings(path) == SkillSettings()


def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    path.write_bytes(b"not a database, and long enough to be looked at as one" * 20)
    with pytest.raises(StoreError, match=r"m\.sqlite"):
        Ledger(path)


def test_the_skill_is_what_clients_expect() -> None:
    text = (FILES / "SKILL.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    told = yaml.safe_load(head)
    assert told["name"] == FILES.name
    assert set(told["name"]) <= set("abcdefghijklmnopqrstuvwxyz-")
    assert 0 < len(told["description"]) <= 1024
    assert len(body.splitlines()) < 500
    assert (FILES / "references" / "result.md").is_file()


def transcript(path: Path, *entries: tuple[str, Any]) -> Path:
    """A transcript as Claude Code writes it."""
    lines = [{"type": role, "message": {"role": role, "content": content}} for role, content in entries]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def result(text: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": "t1", "content": text}]


def turn(path: Path, said: str) -> Path:
    return transcript(
        path,
        ("user", "How long is the leave?"),
        ("assistant", [{"type": "tool_use", "id": "t1", "name": "Read"}]),
        ("user", result([{"type": "text", "text": LEAVE}])),
        ("assistant", [{"type": "text", "text": said}]),
    )


def hook(path: Path, settings: SkillSettings | None = None, **more: Any) -> dict[str, Any]:
    told = {
        "session_id": "s",
        "transcript_path": str(path),
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        **more,
    }
    used = settings or SkillSettings()
    check = checker(settings=used)
    return answer_hook(json.dumps(told), used, lambda one: check.verify(one.answer, one.contexts, one.question))


def test_a_turn_is_read_from_a_transcript(tmp_path: Path) -> None:
    path = turn(tmp_path / "t.jsonl", RIGHT)
    with path.open("a") as stream:
        stream.write('{"half a line\n[]\n{"type": "summary"}\n')
        side = {"isSidechain": True, "message": {"role": "assistant", "content": "From a helper."}}
        stream.write(json.dumps(side) + "\n")
    assert read_turn({"transcript_path": str(path)}) == Turn("How long is the leave?", (LEAVE,), RIGHT)
    assert read_turn({"transcript_path": str(path), "last_assistant_message": WRONG}).answer == WRONG


def test_a_right_answer_may_end_and_a_wrong_one_goes_back_once(tmp_path: Path) -> None:
    assert hook(turn(tmp_path / "a.jsonl", RIGHT)) == {}
    wrong = turn(tmp_path / "b.jsonl", WRONG)
    told = hook(wrong)
    assert told["decision"] == "block"
    assert "9 weeks" in told["reason"]
    again = hook(wrong, stop_hook_active=True)
    assert set(again) == {"systemMessage"}
    assert "FAIL" in again["systemMessage"]
    warn = SkillSettings.model_validate({"detection": {"on_fail": "warn"}})
    assert set(hook(wrong, warn)) == {"systemMessage"}


def test_a_turn_without_tools_is_held_up_by_nothing(tmp_path: Path) -> None:
    path = transcript(tmp_path / "t.jsonl", ("user", "Hi"), ("assistant", "The moon is made of cheese."))
    assert hook(path) == {}
    off = SkillSettings.model_validate({"detection": {"auto_active": False}})
    assert hook(turn(tmp_path / "w.jsonl", WRONG), off) == {}


def test_a_transcript_that_cannot_be_read_is_told_and_holds_nobody_up(tmp_path: Path) -> None:
    told = hook(tmp_path / "none.jsonl")
    assert set(told) == {"systemMessage"}
    assert "did not check" in told["systemMessage"]
    (tmp_path / "empty.jsonl").write_text("")
    assert "did not check" in hook(tmp_path / "empty.jsonl")["systemMessage"]


@pytest.mark.parametrize("raw", ["", "[]", "{", '{"hook_event_name": "PreToolUse"}'])
def test_what_is_no_hooks_input_is_an_error(raw: str) -> None:
    with pytest.raises(InputError, match="hook"):
        answer_hook(raw, SkillSettings(), lambda _: pytest.fail("nothing to verify"))


def test_the_latest_results_count_where_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.skill.hook.MOST_CONTEXT", 10)
    path = transcript(
        tmp_path / "t.jsonl",
        ("user", "q"),
        ("user", result("old " * 5)),
        ("user", result("middle")),
        ("user", result("new")),
        ("assistant", "said"),
    )
    assert read_turn({"transcript_path": str(path)}).contexts == ("middle", "new")


def test_one_unreadable_tool_result_does_not_switch_the_check_off(tmp_path: Path) -> None:
    path = transcript(
        tmp_path / "t.jsonl",
        ("user", "How long is the leave?"),
        ("user", result("cut in the middle of a smiley \ud83d")),
        ("user", result("\x01\x02\x03\x04")),
        ("user", result(LEAVE + "\0")),
        ("assistant", WRONG),
    )
    assert read_turn({"transcript_path": str(path)}).contexts == (
        "cut in the middle of a smiley \ufffd",
        LEAVE + "\ufffd",
    )
    assert hook(path)["decision"] == "block"


def test_an_answer_after_binary_results_only_is_not_called_clean(tmp_path: Path) -> None:
    path = transcript(
        tmp_path / "t.jsonl", ("user", "How long?"), ("user", result("\x01\x02\x03")), ("assistant", WRONG)
    )
    assert "did not check" in hook(path)["systemMessage"]


def test_a_transcript_path_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no path"):
        read_turn({"transcript_path": str(tmp_path / "\ud800")})


@pytest.mark.parametrize("text", ["policy: " + "9" * 5_000, "[" * 5_000, "policy: 2026-99-99"])
def test_settings_that_yaml_cannot_read_are_a_policy_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(PolicyError, match="config"):
        read_settings(path)


def test_it_is_installed_beside_what_is_there(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    other = {"hooks": [{"type": "command", "command": "say done"}]}
    settings.write_text(json.dumps({"model": "opus", "hooks": {"Stop": [other]}}))
    written = install("claude", tmp_path, hook=True)
    assert {path.name for path in written} == {"SKILL.md", "config.yaml", "result.md", "settings.json"}
    told = json.loads(settings.read_text())
    assert told["model"] == "opus"
    assert told["hooks"]["Stop"][0] == other
    assert told["hooks"]["Stop"][1]["hooks"][0]["command"] == "assay skill hook"
    with pytest.raises(InputError, match="--replace"):
        install("claude", tmp_path, hook=True)
    config = tmp_path / ".claude" / "skills" / "hallucination-monitor" / "config.yaml"
    config.write_text("policy: rag\n")
    install("claude", tmp_path, hook=True, replace=True)
    assert config.read_text() == "policy: rag\n"
    assert json.loads(settings.read_text()) == told


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{broken")
    with pytest.raises(InputError, match="mend it first"):
        install("claude", tmp_path, hook=True)
    assert not (tmp_path / ".claude" / "skills").exists()
    for client, message in (("emacs", "expected one of"), ("codex", "one of Claude Code")):
        with pytest.raises(InputError, match=message):
            install(client, tmp_path, hook=client == "codex")


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_a_result_with_another_separator_of_lines_is_still_held_against_the_answer(
    tmp_path: Path, separator: str
) -> None:
    path = turn(tmp_path / "t.jsonl", WRONG)
    text = path.read_text(encoding="utf-8")
    assert LEAVE in text
    # Raw within a string, as JavaScript writes it.
    path.write_text(text.replace(LEAVE, f"{LEAVE}{separator}More."), encoding="utf-8")
    assert hook(path)["decision"] == "block"


def test_a_result_that_is_too_long_does_not_keep_the_answer_from_being_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.skill.hook.MOST_CONTEXT", len(LEAVE))
    path = transcript(
        tmp_path / "t.jsonl", ("user", "q"), ("user", result(LEAVE + " And on." * 9)), ("assistant", WRONG)
    )
    assert hook(path)["decision"] == "block"


def test_a_claim_is_told_on_one_line_and_steers_no_terminal(tmp_path: Path) -> None:
    path = turn(tmp_path / "t.jsonl", f"Partners are entitled\n\n9 weeks\x1b[2J of leave {'and more ' * 200}.")
    reasons = hook(path)["reason"].split("\n")[1:-1]
    assert reasons
    assert all(one.startswith("- ") and len(one) <= 402 and "\x1b" not in one for one in reasons)


@pytest.mark.parametrize("path", ["~nobody-of-this-name/t.jsonl", "a\0b", "/dev/zero", "/"])
def test_a_transcript_that_is_no_file_is_told(path: str) -> None:
    assert "did not check" in hook(path)["systemMessage"]  # type: ignore[arg-type]


def test_a_pipe_in_the_place_of_a_transcript_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "did not check" in hook(tmp_path / "pipe")["systemMessage"]


def test_a_remembered_result_of_another_form_is_checked_again(tmp_path: Path) -> None:
    check = checker(Ledger(tmp_path / "m.sqlite"))
    check.verify(WRONG, [LEAVE])
    with sqlite3.connect(tmp_path / "m.sqlite") as database:
        database.execute('UPDATE remembered SET result = \'{"verdict": "PASS"}\'')
    assert check.verify(WRONG, [LEAVE]).verdict == "FAIL"


@pytest.mark.parametrize("link", [".claude", ".claude/skills", ".claude/skills/hallucination-monitor"])
def test_nothing_is_installed_through_a_link_out_of_the_folder(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    (root / link).parent.mkdir(parents=True)
    outside.mkdir()
    (root / link).symlink_to(outside, target_is_directory=True)
    with pytest.raises(InputError, match="is a link"):
        install("claude", root, replace=True)
    assert not list(outside.iterdir())


def test_no_file_that_a_link_in_the_skills_folder_names_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    folder = tmp_path / ".claude" / "skills" / "hallucination-monitor"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="is a link"):
        install("claude", tmp_path, replace=True)
    assert (tmp_path / "precious").read_text() == "mine"


def test_settings_that_only_their_owner_may_read_stay_so(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"env": {"KEY": "secret"}}')
    settings.chmod(0o600)
    install("claude", tmp_path, hook=True)
    assert settings.stat().st_mode & 0o777 == 0o600
