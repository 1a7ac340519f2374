"""The plugin in real runs of pytest: what fails says which claim, which words and which passage."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.pytest_plugin.conftest import INSTALLED, ROOT, Run

pytest_plugins = ["pytester"]

LEAVE = "Partners are entitled to 2 weeks of leave."
WRONG = f'''
from assay.pytest import assert_supported

EVIDENCE = [{{"id": "hr-2", "text": "{LEAVE}"}}]


def test_right(rules):
    report = assert_supported("Partners are entitled to 2 weeks of leave.", EVIDENCE, guard=rules)
    assert report.action == "emit"


def test_wrong(rules):
    assert_supported("Partners are entitled to 4 weeks of leave.", EVIDENCE, question="How long?", guard=rules)
'''


def test_a_wrong_answer_fails_with_the_claim_the_words_and_the_passage(sub_run: Run) -> None:
    done = sub_run({"test_leave.py": WRONG})
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "E *assay.pytest.UnsupportedAnswerError: 1 of 1 claims is not supported (policy general: *",
            "E * question  How long?",
            "E * claim 1: contradicted, score *",
            "E * claim    Partners are entitled to 4 weeks of leave.",
            "E * words    “4”",
            "E * why      *(number.mismatch)",
            f"E * passage  [[]hr-2[]] “{LEAVE}”",
            "*= assay =*",
            "2 answers checked in *, 1 not supported",
            "2 claims: 1 supported, 1 contradicted",
            "FAILED test_leave.py::test_wrong - assay.pytest.UnsupportedAnswerError: 1 of *",
        ]
    )
    assert "asserting.py" not in done.stdout.str(), "the frames of assay itself are hidden"


def test_a_terminal_with_colour_gets_the_wrong_words_underlined_and_others_get_no_escapes(sub_run: Run) -> None:
    plain = sub_run({"test_leave.py": WRONG}, "--color=no").stdout.str()
    assert "\x1b" not in plain
    shown = sub_run({}, "--color=yes").stdout.str()
    assert "Partners are entitled to \x1b[1;4;31m4\x1b[0m weeks of leave." in shown
    assert re.sub(r"\x1b\[[\d;]*m", "", shown).count("words    “4”") == 1


def test_foreign_text_can_neither_colour_the_terminal_nor_break_a_line(sub_run: Run) -> None:
    hostile = r"Partners get 4 weeks\x1b[2J\r\x07 of leave."
    test = f"""
from assay.pytest import assert_supported
def test_hostile(rules):
    assert_supported("{hostile}", ["{LEAVE}\\x1b]0;owned\\x07"], guard=rules)
"""
    done = sub_run({"test_hostile.py": test}, "--color=no", "--tb=short")
    shown = done.stdout.str()
    done.assert_outcomes(failed=1)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert r"\x1b[2J" in shown


def test_properties_stand_in_the_junit_file(sub_run: Run, pytester: pytest.Pytester) -> None:
    sub_run({"test_leave.py": WRONG}, "--junit-xml=out.xml", "--color=yes")
    cases = {one.get("name"): one for one in ET.parse(pytester.path / "out.xml").iter("testcase")}  # noqa: S314 ours
    told = {one.get("name"): one.get("value") for one in cases["test_wrong"].iter("property")}
    assert told["assay.action"] != "emit"
    assert (told["assay.claims"], told["assay.contradicted"], told["assay.policy"]) == ("1", "1", "general")
    failure = cases["test_wrong"].find("failure")
    assert failure is not None
    assert "words    “4”" in (failure.text or "")
    assert "1;4;31" not in (failure.text or ""), "colour is for terminals"


MARKED = f'''
import pytest
from pathlib import Path
from assay.pytest import aassert_supported, assert_supported


@pytest.mark.assay(evidence=Path("handbook"), policy="rag", question="How long is leave?")
class TestMarked:
    def test_the_marker_gives_evidence_and_policy(self, assay_guard):
        report = assay_guard.check("{LEAVE}")
        assert (report.policy.name, report.question) == ("rag", "How long is leave?")
        assert report.claims[0].evidence_spans[0].evidence_id == "leave"

    @pytest.mark.assay(policy="monitor")
    def test_the_nearer_marker_counts(self, assay_guard):
        assert assay_guard.assert_supported("{LEAVE}").policy.name == "monitor"

    def test_a_call_counts_more_than_any_marker(self):
        assert assert_supported("{LEAVE}", policy="general").policy.name == "general"

    def test_off_the_event_loop_it_is_the_same(self):
        import asyncio
        report = asyncio.run(aassert_supported("{LEAVE}"))
        assert report.run_id == assert_supported("{LEAVE}").run_id


def test_the_setting_counts_where_nothing_else_does(assay_guard):
    assert assay_guard.check("{LEAVE}", ["{LEAVE}"]).policy.name == "support-desk"


def test_without_evidence_it_is_an_error(assay_guard):
    assay_guard.assert_supported("{LEAVE}")
'''


def test_marker_fixture_and_setting_with_the_shipped_network(sub_run: Run) -> None:
    files = {
        "test_marked.py": MARKED,
        "handbook/leave.md": LEAVE,
        "pytest.ini": "[pytest]\nassay_policy = support-desk\n",
    }
    done = sub_run(files, "--strict-markers")
    done.assert_outcomes(passed=5, failed=1)
    done.stdout.fnmatch_lines(["E *InputError: no evidence was given to check the answer against: pass evidence=*"])
    done.stdout.no_fnmatch_line("*asserting.py*")  # what a user reads is the line of the test and the error


def test_a_misspelt_marker_is_refused(sub_run: Run) -> None:
    test = """
import pytest
@pytest.mark.assay(polcy="rag")
def test_it(assay_guard):
    assay_guard.check("It is so.", ["It is so."])
"""
    done = sub_run({"test_it.py": test})
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*the marker assay takes evidence, policy, question, stakes; got polcy*"])


ACCEPTED = """
import os
from assay.pytest import assert_supported


def test_leave(rules):
    assert_supported("We wish you a fabulous zeppelin.", [os.environ.get("SAYS", "Leave is 2 weeks.")], guard=rules)
"""


def test_accepted_claims_pass_until_the_evidence_changes(
    sub_run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    sub_run({"test_leave.py": ACCEPTED}).assert_outcomes(failed=1)
    accepting = sub_run({}, "--assay-accept")
    accepting.assert_outcomes(passed=1)
    accepting.stdout.fnmatch_lines(["1 accepted now, to be reviewed: *__assay__*test_leave.json"])
    snapshot = json.loads((pytester.path / "__assay__" / "test_leave.json").read_text(encoding="utf-8"))
    (entry,) = snapshot["tests"]["test_leave"]
    assert (entry["claim"], entry["verdict"]) == ("We wish you a fabulous zeppelin.", "unsupported")
    again = sub_run({})
    again.assert_outcomes(passed=1)
    again.stdout.fnmatch_lines(["*, all supported or accepted", "1 not supported, accepted by a snapshot"])
    monkeypatch.setenv("SAYS", "Leave is 3 weeks.")
    sub_run({}).assert_outcomes(failed=1)


def test_accepting_again_drops_what_is_not_needed_any_more(
    sub_run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    sub_run({"test_leave.py": ACCEPTED}, "--assay-accept").assert_outcomes(passed=1)
    monkeypatch.setenv("SAYS", "We wish you a fabulous zeppelin.")
    sub_run({}, "--assay-accept").assert_outcomes(passed=1)
    assert not (pytester.path / "__assay__" / "test_leave.json").exists()


def test_a_damaged_snapshot_accepts_nothing(sub_run: Run) -> None:
    done = sub_run({"test_leave.py": ACCEPTED, "__assay__/test_leave.json": "{"})
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*InputError: *test_leave.json: not a snapshot of accepted claims*"])


def test_workers_of_xdist_tell_the_process_that_sums_up(sub_run: Run, pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    several = ACCEPTED + "\n\ndef test_again(rules):\n    test_leave(rules)\n"
    files = {"test_leave.py": several, "test_wrong.py": WRONG}
    done = sub_run(files, "-n", "2", "--color=yes", "--junit-xml=out.xml")
    done.assert_outcomes(passed=1, failed=3)
    shown = re.sub(r"\x1b\[[\d;]*m", "", done.stdout.str())
    assert re.search(r"4 answers checked in [\d.]+ s, 3 not supported", shown)
    assert "\x1b[1;4;31m4\x1b[0m weeks" in done.stdout.str()
    assert "assay.action" in (pytester.path / "out.xml").read_text(encoding="utf-8")
    sub_run({}, "-n", "2", "--assay-accept").assert_outcomes(passed=4)
    snapshot = json.loads((pytester.path / "__assay__" / "test_leave.json").read_text(encoding="utf-8"))
    assert sorted(snapshot["tests"]) == ["test_again", "test_leave"]


UNUSED = """
import sys

HEAVY = {"numpy", "onnxruntime", "tokenizers", "pydantic", "rich", "yaml", "typer"}


def test_nothing_was_loaded():
    assert "assay.pytest.plugin" in sys.modules
    assert not HEAVY & set(sys.modules)
    ours = {name for name in sys.modules if name == "assay" or name.startswith("assay.")}
    here = {"assay.pytest", "assay.pytest.plugin", "assay.pytest.current_test"}
    assert ours <= {"assay", "assay._version", "assay._lazy"} | here
"""


def test_a_project_that_does_not_use_the_plugin_pays_nothing_for_it(
    sub_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other packages' plugins load what they like
    done = sub_run({"test_unused.py": UNUSED, "conftest.py": ""}, "-p", "assay.pytest.plugin", plugin=False)
    done.assert_outcomes(passed=1)
    assert "= assay =" not in done.stdout.str()


@pytest.mark.skipif(INSTALLED, reason="the environment has the entry point already")
def test_pytest_finds_the_plugin_by_the_entry_point_of_the_package(
    sub_run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = pytester.path / "site" / "assay_entry-1.dist-info"
    folder.mkdir(parents=True)
    points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"]["pytest11"].items())
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-entry\nVersion: 1\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(f"[pytest11]\n{points}", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{folder.parent}:{ROOT / 'src'}:{ROOT}")
    sub_run({"test_leave.py": WRONG}, plugin=False).assert_outcomes(passed=1, failed=1)
    sub_run({"test_leave.py": "def test_it():\n    pass\n"}, "-p", "no:assay", plugin=False).assert_outcomes(passed=1)


def test_outside_of_pytest_it_is_an_assertion_like_any_other(tmp_path: Path) -> None:
    from assay.guard import Guard
    from assay.pytest import UnsupportedAnswerError, assert_supported
    from assay.pytest.current_test import CURRENT
    from assay.testing import FakeScorer

    token = CURRENT.set(None)
    try:
        with pytest.raises(AssertionError, match="1 of 1 claims is not supported") as caught:
            assert_supported("Leave is 4 weeks.", ["Leave is 2 weeks."], guard=Guard("general", scorer=FakeScorer()))
    finally:
        CURRENT.reset(token)
    assert isinstance(caught.value, UnsupportedAnswerError)
    assert caught.value.problems[0].kind == "contradicted"


def test_the_examples_of_the_page_run(sub_run: Run) -> None:
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    files = {f"test_example_{number}.py": block for number, block in enumerate(blocks)}
    done = sub_run({**files, "handbook/leave.md": LEAVE})
    done.assert_outcomes(passed=3)
