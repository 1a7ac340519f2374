"""`assay calibrate`: from rows to a policy file that the guard reads."""

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assay.cli import calibrate as verb
from assay.cli.app import app
from assay.config import read_policy
from assay.guard import Guard
from assay.policy import Policy, parse_policy, preset
from assay.policy.calibration.strictness import loosest
from assay.policy.parse import parse_calibration
from assay.schema.coerce import coerce_evidence
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord
from assay.testing import FakeScorer


def rows(path: Path, right: int = 12, wrong: int = 24) -> Path:
    """Claims on their evidence: the right ones repeat it, the wrong ones swap a word or all of it."""
    draw = random.Random(4)
    lines = []
    for number in range(right + wrong):
        weeks = draw.randint(2, 30)
        evidence = f"Team {number} of the depot in Ghent gets {weeks} weeks of paid leave after two years of service."
        claim = f"Team {number} gets {weeks} weeks of paid leave."
        if number >= right:
            claim = (
                f"Team {number} gets {weeks + 1} weeks of leave, a bonus and " + "a new bicycle" * (number % 2) + "."
            )
        label = "supported" if number < right else "not_supported"
        lines.append(json.dumps({"id": str(number), "evidence": [evidence], "claim": claim, "label": label}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_loosest(policy: Policy, model: Path | None) -> Guard:
        return Guard(loosest(policy), scorer=FakeScorer())

    def open_guard(policy: Policy, model: Path | None) -> Guard:
        return Guard(policy, scorer=FakeScorer())

    monkeypatch.setattr(verb, "open_loosest", open_loosest)
    monkeypatch.setattr(verb, "open_guard", open_guard)


def calibrate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["calibrate", *map(str, arguments)], catch_exceptions=False)


def test_a_fitted_policy_is_a_file_that_says_where_it_comes_from(tmp_path: Path) -> None:
    out = tmp_path / "assay.yaml"
    done = calibrate(rows(tmp_path / "rows.jsonl"), "--alpha", 0.1, "--delta", 0.1, "--out", out)
    assert done.exit_code == 0, done.output
    policy = read_policy(out, {})
    made = parse_calibration(out.read_text(encoding="utf-8"), "assay.yaml")
    assert made is not None
    assert (made.method, made.alpha, made.delta, made.rows, made.hallucinated) == ("learn_then_test", 0.1, 0.1, 36, 24)
    assert made.policy_digest == policy.digest
    assert policy.name == "general-calibrated"
    assert "confidence 0.9" in made.statement
    assert "threshold" in done.output
    assert Guard(policy, scorer=FakeScorer()).policy == policy


def test_data_that_do_not_allow_the_guarantee_give_no_policy(tmp_path: Path) -> None:
    out = tmp_path / "assay.yaml"
    done = calibrate(rows(tmp_path / "rows.jsonl", wrong=10), "--alpha", 0.05, "--out", out)
    assert done.exit_code == 1
    assert "at least 45 hallucinated rows, and there are 10" in done.output
    assert not out.exists()


def test_without_alpha_the_cheapest_thresholds_are_taken_and_nothing_is_promised(tmp_path: Path) -> None:
    done = calibrate(rows(tmp_path / "rows.jsonl"), "--cost-leak", 20, "--format", "json")
    found = json.loads(done.stdout)
    assert found["guarantee"] is None
    assert found["calibration"]["method"] == "least_loss"
    assert found["after"]["loss"] <= found["before"]["loss"]
    assert any("promise nothing" in note for note in found["notes"])


def test_a_promise_of_a_number_rather_than_of_a_rate(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.jsonl")
    found = json.loads(calibrate(data, "--alpha", 0.2, "--horizon", 20, "--format", "json").stdout)
    assert found["calibration"]["horizon"] == 20
    assert "Of the next 20 hallucinated outputs like these rows, at most 4 pass" in found["calibration"]["statement"]
    wrong = calibrate(data, "--alpha", 0.2, "--horizon", 20, "--method", "conformal-risk-control")
    assert wrong.exit_code == 2


def test_control_in_the_mean_says_that_it_promises_no_more(tmp_path: Path) -> None:
    done = calibrate(rows(tmp_path / "rows.jsonl"), "--alpha", 0.1, "--method", "conformal-risk-control")
    assert done.exit_code == 0
    assert "in the mean" in done.output
    assert "nothing is promised for this one draw" in done.output


def test_what_was_judged_is_kept_and_not_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, data = tmp_path / "kept.jsonl", rows(tmp_path / "rows.jsonl", 8, 8)
    first = calibrate(data, "--results", kept, "--format", "json")

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a row was judged twice")

    monkeypatch.setattr(Guard, "check_many", lambda self, requests: iter(()) if not list(requests) else never())
    assert calibrate(data, "--results", kept, "--format", "json").stdout == first.stdout


def test_results_kept_under_other_thresholds_of_the_policy_are_refused(tmp_path: Path) -> None:
    # Both policies have the same loosest form, and what was kept of a row depends on their own thresholds too.
    kept, data, policy = tmp_path / "kept.jsonl", rows(tmp_path / "rows.jsonl", 8, 8), tmp_path / "assay.yaml"
    policy.write_text("version: 1\npolicy: {preset: general, revise_threshold: 0.7}\n", encoding="utf-8")
    assert calibrate(data, "--results", kept, "--policy", policy).exit_code == 0
    policy.write_text("version: 1\npolicy: {preset: general, revise_threshold: 0.6}\n", encoding="utf-8")
    refused = calibrate(data, "--results", kept, "--policy", policy)
    assert refused.exit_code == 2
    assert "another verifier, policy, knowledge or version" in refused.output


def test_results_judged_with_other_knowledge_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, data, config = tmp_path / "kept.jsonl", rows(tmp_path / "rows.jsonl", 8, 8), tmp_path / "config.yaml"
    monkeypatch.setenv("ASSAY_CONFIG", str(config))
    for authority, status in (("organisation", 0), ("web", 2)):
        source = f"{{name: handbook, kind: files, path: ., authority: {authority}}}"
        config.write_text(f"version: 1\npolicy: general\nknowledge: [{source}]\n", encoding="utf-8")
        assert calibrate(data, "--results", kept).exit_code == status


def test_the_page_shows_the_curves_and_escapes_what_others_wrote(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    calibrate(rows(tmp_path / "rows.jsonl"), "--alpha", 0.2, "--report", page)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "Leak against false abstention" in text
    assert "<script" not in text


def test_one_row_a_document_is_drawn_by_the_seed(tmp_path: Path) -> None:
    path = rows(tmp_path / "rows.jsonl", 6, 6)
    doubled = path.read_text(encoding="utf-8") + path.read_text(encoding="utf-8").replace('"id": "', '"id": "b')
    path.write_text(doubled, encoding="utf-8")
    runs = [
        json.loads(calibrate(path, "--format", "json", "--one-per-document", "--seed", s).stdout) for s in (1, 1, 2)
    ]
    assert [run["rows"] for run in runs] == [12, 12, 12]
    digests = [run["calibration"]["data_digest"] for run in runs]
    assert digests[0] == digests[1] != digests[2]
    shared = json.loads(calibrate(path, "--format", "json").stdout)
    assert any("24 rows share 12 documents" in note for note in shared["notes"])


def test_misuse_is_named(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.jsonl", 2, 2)
    assert "between 0 and 1" in calibrate(data, "--alpha", 1.5).output
    assert "labelled rows, got none" in calibrate().output
    unlabelled = tmp_path / "open.jsonl"
    unlabelled.write_text('{"id": "1", "evidence": ["a"], "claim": "b"}\n', encoding="utf-8")
    done = calibrate(unlabelled)
    assert done.exit_code == 2
    assert "got none" in done.output


def test_a_promise_can_be_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay import config

    class Fake(Guard):
        def __init__(self, policy: Policy, model: Path | None = None) -> None:
            super().__init__(policy, scorer=FakeScorer())

    monkeypatch.setattr(config, "Guard", Fake)
    out = tmp_path / "assay.yaml"
    calibrate(rows(tmp_path / "rows.jsonl"), "--alpha", 0.1, "--out", out)
    stands = calibrate("--verify", out)
    assert (stands.exit_code, stands.output.split(":")[0]) == (0, "stands")
    text = out.read_text(encoding="utf-8").replace("emit_threshold: ", "emit_threshold: 0.9 #")
    out.write_text(text, encoding="utf-8")
    void = calibrate("--verify", out)
    assert void.exit_code == 1
    assert "changed after it was fitted" in void.output
    plain = tmp_path / "plain.yaml"
    plain.write_text("version: 1\npolicy: rag\n", encoding="utf-8")
    assert calibrate("--verify", plain).exit_code == 2


def test_the_rate_policy_is_fitted_by_its_rate(tmp_path: Path) -> None:
    out = tmp_path / "assay.yaml"
    data = rows(tmp_path / "rows.jsonl")
    done = calibrate(data, "--policy", "monitor", "--alpha", 0.3, "--out", out)
    fitted = parse_policy(out.read_text(encoding="utf-8"), "assay.yaml") if done.exit_code == 0 else None
    assert fitted is None or fitted.emit_threshold == preset("monitor").emit_threshold


def test_when_not_to_answer_is_fitted_beside_the_thresholds(tmp_path: Path) -> None:
    out = tmp_path / "assay.yaml"
    data = rows(tmp_path / "rows.jsonl", right=30, wrong=40)
    done = calibrate(data, "--abstention", "--cost-leak", 4, "--cost-false-block", 4, "--out", out)
    assert done.exit_code == 0, done.output
    policy = read_policy(out, {})
    assert policy.abstention is not None
    assert (policy.abstention.high, policy.abstention.low, policy.abstention.rows) == (0.75, 0.25, 70)
    assert policy.abstention.slope is not None
    evidence = "Team 1 of the depot in Ghent gets 4 weeks of paid leave after two years of service."
    report = Guard(policy, scorer=FakeScorer()).check(
        "Team 1 of the depot in Ghent gets 4 weeks of paid leave.", [evidence]
    )
    assert report.abstention is None or report.abstention.calibrated


def with_signals(path: Path, count: int = 200, *, told: bool = True) -> Path:
    """Outputs of which the check sees little and the model's own agreement nearly all."""
    draw = random.Random(9)
    lines = []
    for number in range(count):
        right = number % 2 == 0
        weeks = draw.randint(2, 30)
        evidence = f"Crew {number} of the depot in Ghent gets {weeks} weeks of paid leave after two years of service."
        claim = f"Crew {number} gets {weeks} weeks of paid leave" + draw.choice([".", ", it seems.", " and a bonus."])
        agreement = draw.uniform(0.7, 1.0) if right else draw.uniform(0.51, 0.75)
        row = {
            "id": str(number),
            "evidence": [evidence],
            "answer": claim,
            "question": f"What leave does crew {number} get?",
            "label": "supported" if right else "not_supported",
            "signals": {"consistency": agreement, "entropy": 0.2},
        }
        lines.append(json.dumps(row if told else {k: v for k, v in row.items() if k != "signals"}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_signal_that_tells_right_from_wrong_weighs_what_the_rows_say(tmp_path: Path) -> None:
    data = with_signals(tmp_path / "rows.jsonl")
    found = json.loads(calibrate(data, "--abstention", "--format", "json").stdout)["abstention"]
    weights = found["block"]["weights"]
    assert weights["consistency"] > 0.5
    assert weights["certainty"] == 0  # every row has the same entropy, which tells nothing
    assert found["measured"] == {
        "groundedness": 200,
        "certainty": 200,
        "consistency": 200,
        "retrieval_quality": 200,
        "coverage": 200,
        "directness": 200,
    }
    assert found["held_out"]
    assert found["log_loss_after"] < found["log_loss_before"]
    blind = json.loads(
        calibrate(with_signals(tmp_path / "blind.jsonl", told=False), "--abstention", "--format", "json").stdout
    )
    assert blind["abstention"]["block"]["weights"]["consistency"] == 0
    assert any("without certainty, consistency" in note for note in blind["notes"])
    assert blind["abstention"]["log_loss_after"] > found["log_loss_after"]


def test_confidence_decides_only_below_what_the_gate_leaves(tmp_path: Path) -> None:
    data = with_signals(tmp_path / "rows.jsonl")
    found = json.loads(calibrate(data, "--abstention", "--format", "json").stdout)["abstention"]
    for sort in ("right", "wrong"):
        gate, answers = found["gate"][sort], found["answers"][sort]
        assert sum(gate) == sum(answers) == 100
        assert answers[0] <= gate[0]
        assert answers[2] >= gate[2]


def test_the_page_and_the_text_show_what_the_confidence_does(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = calibrate(with_signals(tmp_path / "rows.jsonl"), "--abstention", "--report", page)
    assert "held-out rows" in done.output
    assert "with confidence" in done.output
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 5
    assert "Whether to answer" in text


def test_rates_weigh_both_sorts_of_output_alike(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.jsonl", right=40, wrong=120)
    costs = ("--cost-leak", 2, "--cost-false-block", 2, "--cost-abstention", 2, "--abstention", "--format", "json")
    found = json.loads(calibrate(data, *costs, "--loss", "rates").stdout)
    assert found["calibration"]["loss_of_rates"] is True
    # Of equally dear errors the threshold lies where the odds are those of the rows: a quarter of them is right.
    assert found["abstention"]["block"]["high"] == found["abstention"]["block"]["low"] == 0.25
    plain = json.loads(calibrate(data, *costs).stdout)
    assert plain["calibration"]["loss_of_rates"] is False
    assert plain["abstention"]["block"]["high"] == 0.5


def test_signals_of_a_row_are_numbers_with_known_names(tmp_path: Path) -> None:
    for wrong in ({"luck": 0.5}, {"entropy": 2}, {"consistency": True}, [0.5]):
        path = tmp_path / "rows.jsonl"
        row = {"id": "1", "evidence": ["a"], "claim": "b", "label": "supported", "signals": wrong}
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
        done = calibrate(path)
        assert done.exit_code == 2
        assert "signal" in done.output


def test_too_few_rows_for_a_confidence_are_refused(tmp_path: Path) -> None:
    done = calibrate(rows(tmp_path / "rows.jsonl"), "--abstention", "--out", tmp_path / "assay.yaml")
    assert done.exit_code == 2
    assert "at least 50 labelled outputs" in done.output
    assert not (tmp_path / "assay.yaml").exists()


def test_the_prior_is_estimated_without_labels_and_written_as_a_policy(tmp_path: Path) -> None:
    mostly_right, mostly_wrong = (
        rows(tmp_path / f"{name}.jsonl", right, wrong) for name, right, wrong in (("a", 50, 6), ("b", 6, 50))
    )
    out = tmp_path / "assay.yaml"
    done = calibrate(mostly_right, "--prior", "--out", out)
    assert done.exit_code == 0, done.output
    assert "estimated from" in done.output
    high = read_policy(out, {}).prior
    low = json.loads(calibrate(mostly_wrong, "--prior", "--format", "json").stdout)["prior"]
    assert high is not None
    assert low < 0.5 < high


def test_the_prior_is_estimated_from_recorded_outputs(tmp_path: Path) -> None:
    database = str(tmp_path / "assay.db")
    guard = Guard("general", scorer=FakeScorer())
    with Store(database) as store:
        for number in range(40):
            evidence = coerce_evidence([f"Team {number} gets {number + 2} weeks of leave."])
            answer = f"Team {number} gets {number + 2} weeks of leave."
            asked = {"answer": answer, "question": None}
            store.record(CheckRecord(guard.check(answer, evidence), asked, evidence, preset("general")))
    done = calibrate("--prior", "--database", database, "--format", "json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["claims"], told["before"]) == (40, 0.9)
    assert told["prior"] > 0.9


def test_a_prior_needs_claims_and_one_place_to_read_them(tmp_path: Path) -> None:
    few = calibrate(rows(tmp_path / "rows.jsonl", 2, 2), "--prior")
    assert (few.exit_code, "30 claims or more" in few.output) == (2, True)
    assert calibrate("--prior").exit_code == 2
    assert calibrate(tmp_path / "rows.jsonl", "--database", "x.db").exit_code == 2
