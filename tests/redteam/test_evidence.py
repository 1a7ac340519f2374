"""Evidence of testing: what is signed is what the runs came to, and nothing of it can be changed unseen."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.redteam.test_cases import PASSAGE, case

from assay.errors import InputError
from assay.guard import Guard
from assay.receipt import KeyRing, KeyStore
from assay.receipt.canonical_json import canonical
from assay.redteam import run_campaign
from assay.redteam.evidence import export, verify
from assay.redteam.targets import PythonFunction
from assay.testing import FakeScorer

CASES = [
    case(f"How many weeks of leave do partners receive in year {year}?", context=(PASSAGE,))
    for year in range(2020, 2024)
]
NOW = datetime(2026, 11, 27, 4, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "monday"
    said = iter(["6 weeks", "Partners receive 9 weeks of leave.", "6 weeks", "I do not know."])
    target = PythonFunction(lambda _: next(said), "helpdesk")
    run_campaign(CASES, target, Guard("general", scorer=FakeScorer()), folder, version="2.1")
    return folder


@pytest.fixture
def run(ran: Path, tmp_path: Path) -> Path:
    """A run of its own for a test that changes it."""
    return Path(shutil.copytree(ran, tmp_path / "monday"))


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    store = KeyStore(tmp_path / "keys")
    store.create(NOW - timedelta(days=1))
    return store


def signed(run: Path, keys: KeyStore) -> str:
    return export([run], keys.signer(), "Ann Lee", NOW)


def test_what_was_run_when_on_which_version_with_what_result_is_stated_and_holds(run: Path, keys: KeyStore) -> None:
    stated, problems = verify(signed(run, keys), keys.ring(), [run])
    assert problems == ()
    assert stated is not None
    told = stated.runs[0]
    assert (stated.by, stated.issued_at, told.folder) == ("Ann Lee", "2026-11-27T04:00:00Z", "monday")
    assert (told.target, told.target_version, told.calls) == ("helpdesk", "2.1", 4)
    assert (told.passed, told.failed, told.unjudged) == (2, 2, 0)
    assert told.ars == "0.5000"
    assert told.begun <= told.ended
    assert len({told.suite, told.policy, told.verifier}) == 3
    assert told.categories["knowledge_boundary"].cases == 4
    assert verify(signed(run, keys) + "\n", keys.ring()) == (stated, ())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("by",), "Ben"),
        (("issued_at",), "2026-11-28T04:00:00Z"),
        (("runs", 0, "target_version"), "2.2"),
        (("runs", 0, "ars"), "1.0000"),
        (("runs", 0, "passed"), 4),
        (("runs", 0, "begun"), "2026-01-01"),
        (("runs", 0, "files", "run.jsonl"), "0" * 64),
        (("runs",), []),
        (("assay",), "9.9"),
    ],
)
def test_whatever_is_changed_in_a_statement_is_seen(
    path: tuple[Any, ...], value: Any, run: Path, keys: KeyStore
) -> None:
    told = json.loads(signed(run, keys))
    place = told["statement"]
    for part in path[:-1]:
        place = place[part]
    assert place[path[-1]] != value
    place[path[-1]] = value
    _, problems = verify(canonical(told), keys.ring())
    assert any("was changed" in one for one in problems)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace(",", ", ", 1), "another spacing"),
        (lambda text: text[:-20], "as JSON"),
        (lambda _: '{"signature":"00","statement":1}', "statement of runs"),
        (lambda _: "[]", "expected an object"),
        (lambda text: text.replace('"calls":4', '"calls":4.5'), "not whole"),
        (lambda text: text.replace('"calls":4', '"calls":4,"calls":5'), "twice"),
        (lambda text: text.replace('"by":"Ann Lee"', '"by":"Ann Lee","extra":1'), "fields|spacing|field"),
        (lambda text: text.replace('"signature":"', '"signature":"zz'), "was changed"),
    ],
)
def test_what_is_no_statement_as_it_was_written_is_refused(change: Any, told: str, run: Path, keys: KeyStore) -> None:
    _, problems = verify(change(signed(run, keys)), keys.ring())
    assert problems
    assert any(part in " ".join(problems) for part in told.split("|"))


def test_the_signature_of_another_key_is_none(run: Path, keys: KeyStore, tmp_path: Path) -> None:
    other = KeyStore(tmp_path / "others")
    other.create(NOW - timedelta(days=1))
    _, problems = verify(signed(run, other), keys.ring())
    assert problems == ("the ring does not hold the key that the statement names",)
    told = json.loads(signed(run, other))
    told["statement"]["key_id"] = keys.ring().active[0].key_id
    assert any("was changed" in one for one in verify(canonical(told), keys.ring())[1])


def test_a_key_that_is_revoked_retired_or_younger_vouches_for_nothing(run: Path, keys: KeyStore) -> None:
    text = signed(run, keys)
    early = export([run], keys.signer(), "", NOW - timedelta(days=2))
    assert any("before the key" in one for one in verify(early, keys.ring())[1])
    keys.rotate(NOW + timedelta(hours=1))
    assert verify(text, keys.ring())[1] == ()  # what it signed before stays good
    keys.revoke(json.loads(text)["statement"]["key_id"], "stolen", NOW + timedelta(hours=2))
    assert any("was revoked" in one for one in verify(text, keys.ring())[1])
    assert verify(text, KeyRing())[1]


@pytest.mark.parametrize("name", ["run.jsonl", "suite.jsonl", "judgements.jsonl", "summary.json"])
def test_a_file_that_changed_since_is_named(name: str, run: Path, keys: KeyStore) -> None:
    text = signed(run, keys)
    with (run / name).open("a", encoding="utf-8") as stream:
        stream.write("\n")
    _, problems = verify(text, keys.ring(), [run])
    assert problems == (f"the run monday: {name} changed since it was signed",)


def test_runs_that_are_missing_or_not_stated_are_named(run: Path, keys: KeyStore, tmp_path: Path) -> None:
    other = Path(shutil.copytree(run, tmp_path / "tuesday"))
    _, problems = verify(signed(run, keys), keys.ring(), [other])
    assert problems == (
        "the statement says nothing of the run tuesday",
        "the run monday is not among the folders",
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("judgements.jsonl", '"outcome":"failed"', '"outcome":"passed"', "not what the judgements come to"),
        ("judgements.jsonl", "9 weeks", "6 weeks", "is not the one of the record"),
        ("run.jsonl", "9 weeks", "6 weeks", "is not the one of the record"),
        ("run.jsonl", '"version": "2.1"', '"version": "2.2"', "another suite, target or version"),
        ("summary.json", '"ars": 0.5', '"ars": 0.9', "not what the judgements come to"),
        ("summary.json", '"target_version": "2.1"', '"target_version": "3"', "another suite, target or version"),
        ("suite.jsonl", "How many weeks", "How few weeks", "cannot be read|is not that of the content"),
    ],
)
def test_a_folder_that_does_not_agree_with_itself_is_not_signed(
    name: str, old: str, new: str, told: str, run: Path, keys: KeyStore
) -> None:
    text = (run / name).read_text(encoding="utf-8")
    assert old in text
    (run / name).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=told):
        signed(run, keys)


def test_an_answer_that_was_left_out_of_the_record_is_missed(run: Path, keys: KeyStore) -> None:
    lines = (run / "run.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if '"event": "answered"' in line)
    (run / "run.jsonl").write_text("".join(lines[:at] + lines[at + 1 :]), encoding="utf-8")
    with pytest.raises(InputError, match="the record has no answer of it"):
        signed(run, keys)
