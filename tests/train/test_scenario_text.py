"""Scenarios in their written form, as they are kept, and as a second reader gets them."""

import json
from pathlib import Path

import pytest
from train.scenario_text import (
    ScenarioError,
    blind,
    compile_scenarios,
    main,
    merge_second,
    read_scenarios,
    surface_auroc,
    surface_features,
)

TEXT = """=== leave-003
domain: hr policy
style: policy page
question: How long is partner leave?
--- evidence hr-2 | Leave policy v3.1 | 2026-01-15
Partners are entitled to two weeks of paid leave.

| a | b |
--- evidence hr-9
An old page.
--- claims
S paraphrase | A partner can stay at home for a fortnight without losing pay.
C number | Partners get ⟦four weeks⟧ of leave. | two weeks
U extrapolation | Partners may ⟦work from home⟧ afterwards.
S near copy | Partners are entitled to two weeks of paid leave.
--- answer
In short: {0} But {2}
"""


def test_a_written_scenario_is_read_whole() -> None:
    (found,) = compile_scenarios(TEXT)
    assert found["id"] == "leave-003"
    assert [one["id"] for one in found["evidence"]] == ["hr-2", "hr-9"]
    assert found["evidence"][0]["title"] == "Leave policy v3.1"
    assert found["evidence"][0]["text"].endswith("| a | b |")
    assert "title" not in found["evidence"][1]
    number = found["claims"][1]
    assert (number["text"], number["wrong"], number["say"]) == (
        "Partners get four weeks of leave.",
        ["four weeks"],
        "two weeks",
    )
    assert found["in_answer"] == [0, 2]
    assert found["answer"].startswith("In short: A partner can stay at home")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("⟦four weeks⟧", "four weeks", "marks nothing"),
        ("a fortnight", "⟦a fortnight⟧", "marks nothing"),
        ("S near copy | ", "near copy: ", "expected 'S kind"),
        ("{2}", "{7}", "names a claim that is not there"),
        ("domain: hr policy", "topic: hr policy", "expected 'domain:'"),
        ("--- evidence hr-9", "--- evidence hr-2", "ids of passages repeat"),
        ("=== leave-003", "words\n=== leave-003", "before the first line"),
        ("question: How long is partner leave?", "", "no domain or no question"),
    ],
)
def test_what_departs_from_the_form_is_told_with_its_place(before: str, after: str, told: str) -> None:
    with pytest.raises(ScenarioError, match=told):
        compile_scenarios(TEXT.replace(before, after))


def test_a_second_reader_sees_no_label() -> None:
    shown = blind(compile_scenarios(TEXT))
    assert "Partners get four weeks of leave." in shown
    for secret in ("contradicted", "supported", "paraphrase", "⟦"):
        assert secret not in shown


def test_what_a_second_reader_chose_is_kept_and_counted() -> None:
    scenarios = compile_scenarios(TEXT)
    counts = merge_second(scenarios, "leave-003 0 S\nleave-003 1 U\nleave-003 2 ?\n")
    assert [claim.get("second") for claim in scenarios[0]["claims"]] == ["supported", "unsupported", "arguable", None]
    assert counts == {
        "claims": 4,
        "read": 2,
        "same of three": 1,
        "same of two": 2,
        "arguable": 1,
        "unread": 1,
    }


def test_a_label_of_no_claim_is_an_error() -> None:
    with pytest.raises(ScenarioError, match="no claim 9"):
        merge_second(compile_scenarios(TEXT), "leave-003 9 S")


def test_the_command_writes_what_it_read_and_says_where_a_text_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written, out = tmp_path / "b.txt", tmp_path / "b.jsonl"
    written.write_text(TEXT, encoding="utf-8")
    assert main(["compile", str(written), "--out", str(out)]) == 0
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["leave-003"]
    assert read_scenarios(out) == compile_scenarios(TEXT)
    written.write_text(TEXT.replace("⟦", ""), encoding="utf-8")
    assert main(["compile", str(written)]) == 2
    assert "b.txt: leave-003" in capsys.readouterr().err


def labelled(number: int, tell: bool) -> str:
    """A scenario whose wrong claims are longer, if its claims are to tell their labels by their looks."""
    more = " and so on and so forth for a good while" if tell else ""
    claims = "".join(
        f"S x | The box holds {n} things.\nC x | The box holds ⟦{n}⟧ things{more}. | {n}\n" for n in range(6)
    )
    return f"=== s-{number}\ndomain: d\nquestion: q\n--- evidence e\nThe box holds 3 things.\n--- claims\n{claims}"


def test_looks_that_tell_the_label_are_found() -> None:
    plain = compile_scenarios("".join(labelled(n, False) for n in range(12)))
    telling = compile_scenarios("".join(labelled(n, True) for n in range(12)))
    assert surface_auroc(telling) > 0.95
    assert surface_auroc(plain) < 0.7
    assert len(surface_features(plain[0], 0)) == len(surface_features(telling[0], 1))
