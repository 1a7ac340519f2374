"""What a check makes of sources: verified, refuted or unverifiable, by authority, in the report and in replay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.knowledge.kinds import table

from assay.config import Guard
from assay.errors import InputError, SourceError
from assay.guard import CheckRequest
from assay.knowledge import Inquiry, Knowledge, Passage, Profile
from assay.knowledge.interface import Deadline, Scope, SourceAnswer
from assay.policy import Policy, preset
from assay.schema import ClaimReport, HallucinationReport, Stakes
from assay.schema.coerce import coerce_evidence
from assay.server.audit.replay import replay
from assay.store.audit.export import run_content
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord

EVIDENCE = ["The Aria 2 and the Lark are loudspeakers. They are sold in the shop on Mill Street."]
RIGHT, WRONG = "The Lark costs 20 euros.", "The Lark costs 35 euros."
KNOWN = "The Lark costs 20 euros."


class Told:
    """A source that has one passage for whatever it is asked, or fails."""

    digest = "told"

    def __init__(self, text: str | None, **more: Any) -> None:
        self.text, self.more = text, more
        self.shown: list[Inquiry] = []

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        self.shown.append(inquiry)
        if self.text == "fail":
            raise SourceError("it refused the connection")
        passages = () if self.text is None else (Passage("p1", self.text, **self.more),)
        return SourceAnswer(passages, ({"statement": "SELECT", "entity": "Lark"},), 1)

    def close(self) -> None:
        return


def source(name: str, text: str | None, authority: str = "database", **more: Any) -> tuple[Profile, Told]:
    said = {key: more.pop(key) for key in ("credibility", "title", "version") if key in more}
    settings: dict[str, Any] = {
        "kind": "sql",
        "latency_s": 0.0,
        "timeout_s": 2.0,
        "scope": Scope(None, "claim"),
        **more,
    }
    return Profile(name, authority=authority, **settings), Told(text, **said)  # type: ignore[arg-type]


def policy(**external: Any) -> Policy:
    base = preset("general").model_dump()
    return Policy.model_validate({**base, "external": {**base["external"], **external}})


def guard(*sources: tuple[Profile, Told], now: Callable[[], datetime] | None = None, **external: Any) -> Guard:
    known = Knowledge(sources) if now is None else Knowledge(sources, now=now)
    return Guard(policy(**external), knowledge=known, environ={})


def claim(answer: str, *sources: tuple[Profile, Told], evidence: Any = None, **external: Any) -> ClaimReport:
    report = guard(*sources, **external).check(answer, EVIDENCE if evidence is None else evidence)
    (one,) = report.claims
    return one


def plain(report: HallucinationReport) -> Any:
    return report.model_dump(mode="json", exclude={"timing"})


def test_what_a_source_bears_out_is_verified_and_supported() -> None:
    found = claim(RIGHT, source("prices", KNOWN))
    assert found.external is not None
    assert (found.verdict.value, found.external.status, found.external.source) == ("supported", "verified", "prices")
    assert found.external.before.value == "unsupported"
    assert found.decided_by == "knowledge"
    assert found.external.passage == KNOWN


def test_a_claim_that_no_passage_is_shown_to_deny_is_asked_about_whatever_the_verifier_calls_it() -> None:
    note = ["The catalogue and the almanac are kept up to date by the staff of the library."]
    towns = source("towns", "Juniper stands on the Oder.")
    found = claim("Juniper stands on the Oder.", towns, evidence=note)
    assert found.external is not None
    assert (found.verdict.value, found.external.status, found.decided_by) == ("supported", "verified", "knowledge")


def test_what_a_passage_of_the_evidence_denies_stays_denied_whoever_bears_it_out() -> None:
    prices = source("prices", WRONG)
    found = claim(WRONG, prices, evidence=[KNOWN], claims="all")
    assert found.verdict.value == "contradicted"
    assert found.external is not None
    assert found.external.status == "verified"
    assert not found.external.changed


def test_what_a_source_denies_is_refuted_factual_and_extrinsic() -> None:
    found = claim(WRONG, source("prices", KNOWN))
    assert found.external is not None
    assert (found.verdict.value, found.external.status) == ("contradicted", "refuted")
    assert found.category is not None
    assert found.origin is not None
    assert (found.category.value, found.origin.value) == ("factual", "extrinsic")
    (issue,) = [one for one in found.issues if one.code == "knowledge.denied"]
    assert issue.message == "prices says otherwise: “The Lark costs 20 euros.”."
    assert not [one for one in found.issues if one.code in {"claim.contradicted", "claim.unsupported"}]


def test_an_answer_that_only_sources_bear_out_is_emitted_and_one_that_they_deny_is_not() -> None:
    known = source("prices", KNOWN)
    assert guard(known).check(RIGHT, EVIDENCE).action.value == "emit"
    assert guard(known).check(WRONG, EVIDENCE).action.value == "block"
    assert guard(known).check(RIGHT, []).action.value == "emit"


@pytest.mark.parametrize(
    ("text", "why"), [(None, "nothing"), ("fail", "failed"), ("The shop opens at nine.", "undecided")]
)
def test_what_nobody_knows_is_unverifiable_with_the_reason_and_stays_unsupported(text: str | None, why: str) -> None:
    found = claim(RIGHT, source("prices", text))
    assert found.external is not None
    assert (found.verdict.value, found.external.status, found.external.why) == ("unsupported", "unverifiable", why)
    assert found.external.message
    assert (found.category and found.category.value) != "factual"


def test_a_lower_authority_never_overrules_a_higher_one() -> None:
    high, low = source("handbook", KNOWN, "organisation"), source("web", "The Lark costs 35 euros.", "public")
    for answer, verdict in ((RIGHT, "supported"), (WRONG, "contradicted")):
        for ask_all in (False, True):
            found = claim(answer, low, high, ask_all=ask_all)
            assert found.external is not None
            assert (found.verdict.value, found.external.source) == (verdict, "handbook")
            assert found.external.disagreement is ask_all
            codes = [issue.code for issue in found.issues]
            assert ("knowledge.disagreement" in codes) is ask_all


def test_a_lower_authority_is_not_asked_once_a_claim_is_settled() -> None:
    high, low = source("handbook", KNOWN, "organisation"), source("web", KNOWN, "public")
    claim(RIGHT, high, low)
    assert (len(high[1].shown), len(low[1].shown)) == (1, 0)


def test_a_lower_authority_is_asked_where_a_higher_one_has_nothing_or_fails() -> None:
    for text in (None, "fail", "The shop opens at nine."):
        found = claim(WRONG, source("handbook", text, "organisation"), source("table", KNOWN))
        assert found.external is not None
        assert (found.external.status, found.external.source) == ("refuted", "table")


def test_sources_of_one_authority_that_disagree_settle_nothing() -> None:
    found = claim(RIGHT, source("one", KNOWN), source("two", "The Lark costs 35 euros."))
    assert found.external is not None
    assert (found.external.status, found.external.why) == ("unverifiable", "disagreement")
    assert found.external.disagreement
    assert found.verdict.value == "unsupported"
    assert (found.category and found.category.value) != "factual"


def test_the_word_of_a_source_that_is_no_ground_truth_is_shown_and_decides_nothing() -> None:
    found = claim(WRONG, source("rumours", KNOWN, authoritative=False))
    assert found.external is not None
    assert found.external.status == "unverifiable"
    assert [word.says for word in found.external.words] == ["refutes"]
    assert found.verdict.value == "unsupported"


def test_a_word_counts_no_more_than_whoever_wrote_it_is_believed() -> None:
    assert claim(RIGHT, source("web", KNOWN, "web", credibility=0.6)).verdict.value == "unsupported"
    assert claim(RIGHT, source("web", KNOWN, "web", credibility=0.9)).verdict.value == "supported"


def test_a_source_that_has_all_there_are_denies_what_it_does_not_have() -> None:
    register = source("register", None, complete=True)
    found = claim("Quagga Ltd is a company in Ghent.", register)
    assert found.external is not None
    assert found.external.status == "refuted"
    assert "has no such thing" in " ".join(issue.message for issue in found.issues)


def test_where_sources_are_only_noted_the_verdict_and_the_category_stay() -> None:
    found = claim(WRONG, source("prices", KNOWN), mode="note")
    assert found.external is not None
    assert (found.external.status, found.external.changed, found.verdict.value) == ("refuted", False, "unsupported")
    assert (found.category and found.category.value) != "factual"
    assert "knowledge.noted" in [issue.code for issue in found.issues]


def test_only_what_the_evidence_does_not_bear_out_is_asked_about_unless_all_is() -> None:
    known = source("prices", "The shop is on Mill Street since 1990, and the Lark costs 20 euros.")
    answer = "The Aria 2 is a loudspeaker."
    assert claim(answer, known).external is None
    assert claim(answer, known, claims="all").external is not None


def test_an_error_of_the_evidence_itself_is_found_where_all_claims_are_asked_about() -> None:
    found = claim(WRONG, source("prices", KNOWN), evidence=[WRONG], claims="all")
    assert found.external is not None
    assert (found.external.before.value, found.verdict.value) == ("supported", "contradicted")
    assert found.origin is not None
    assert found.origin.value == "extrinsic"


def test_what_the_evidence_denies_is_not_saved_by_a_source() -> None:
    found = claim(RIGHT, source("prices", KNOWN), evidence=[WRONG], claims="all")
    assert found.verdict.value == "contradicted"


@pytest.mark.parametrize("answer", ["In my opinion, the Lark is the best one.", "Is the Lark 20 euros?"])
def test_opinions_and_questions_are_not_asked_about(answer: str) -> None:
    known = source("prices", KNOWN)
    guard(known).check(answer, EVIDENCE)
    assert known[1].shown == []


def test_claims_below_the_severity_of_the_policy_are_not_asked_about() -> None:
    known = source("prices", KNOWN)
    report = guard(known, severity=0.99).check(RIGHT, EVIDENCE, stakes=Stakes.LOW)
    assert (known[1].shown, report.knowledge) == ([], None)


def test_nothing_is_asked_where_the_policy_or_the_caller_has_it_off() -> None:
    known = source("prices", KNOWN)
    assert guard(known, mode="off").check(RIGHT, EVIDENCE).knowledge is None
    assert guard(known).check(RIGHT, EVIDENCE, asks=False).knowledge is None
    assert known[1].shown == []


def test_the_tenant_decides_which_source_sees_its_text() -> None:
    mine = source("mine", KNOWN, scope=Scope(("acme",), "claim"))
    made = guard(mine)
    assert made.for_tenant("acme").check(RIGHT, EVIDENCE).claims[0].verdict.value == "supported"
    for other in (None, "globex"):
        found = made.for_tenant(other).check(RIGHT, EVIDENCE).claims[0]
        assert found.external is not None
        assert (found.external.status, found.external.why) == ("unverifiable", "no_source")
    assert len(mine[1].shown) == 1


def test_the_share_of_right_claims_is_that_of_those_that_a_source_decided() -> None:
    answer = "The Lark costs 20 euros. The Lark weighs 9 kg. The Lark was designed by Ada Quist."
    known = source("prices", "The Lark costs 20 euros. The Lark weighs 3 kg.")
    report = guard(known).check(answer, EVIDENCE)
    statuses = [one.external.status for one in report.claims if one.external is not None]
    assert statuses == ["verified", "refuted", "unverifiable"]
    assert report.metrics["factual_accuracy_rate"].value == 0.5
    assert report.knowledge is not None
    assert (report.knowledge.chosen, report.knowledge.verified, report.knowledge.refuted) == (3, 1, 1)


def test_without_sources_the_share_is_undefined_with_a_reason() -> None:
    report = Guard("general", environ={}, knowledge=False).check(RIGHT, EVIDENCE)
    assert report.metrics["factual_accuracy_rate"].undefined == "no authoritative reference was given to compare with"


def test_one_report_for_sync_async_and_many() -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)

    def made() -> Guard:
        return guard(source("prices", KNOWN), now=lambda: moment)

    def still(report: HallucinationReport) -> Any:
        told = plain(report)
        for one in told["claims"]:
            for word in one["external"]["words"]:
                word["elapsed_ms"] = 0
        return told

    first = still(made().check(WRONG, EVIDENCE))
    assert still(asyncio.run(made().acheck(WRONG, EVIDENCE))) == first
    assert still(next(made().check_many([CheckRequest(WRONG, EVIDENCE)]))) == first
    assert still(made().under(policy()).check(WRONG, EVIDENCE)) == first


def test_a_question_names_what_an_answer_only_refers_to(tmp_path: Path) -> None:
    path = tmp_path / "assay.yaml"
    table(tmp_path / "products.db")
    path.write_text(
        "version: 1\npolicy: general\nknowledge:\n"
        "  - {name: products, kind: sql, authority: database, url: sqlite:///products.db, statements: [\n"
        '     {sql: "SELECT name, price FROM products WHERE name = :entity",\n'
        '      passage: "The {name} costs EUR {price}."}]}\n',
        encoding="utf-8",
    )
    made = Guard(path, environ={})
    report = made.check("Its price is 20 euros.", EVIDENCE, question="What does the Lark cost?")
    assert report.knowledge is not None
    external = report.claims[0].external
    assert external is not None
    assert {"entity": "Lark"}.items() <= external.words[0].asked[-1].items()
    assert external.words[0].says in {"verifies", "neither"}


def test_a_record_has_what_was_asked_and_what_came_back_and_is_replayed_without_asking(tmp_path: Path) -> None:
    known = source("prices", KNOWN)
    made = guard(known)
    evidence = coerce_evidence(EVIDENCE)
    report = made.check(WRONG, evidence)
    external = report.claims[0].external
    assert external is not None
    word = external.words[0]
    assert word.digest is not None
    assert datetime.fromisoformat(word.at).tzinfo is not None
    with Store(str(tmp_path / "assay.db")) as store:
        record = CheckRecord(report, {"answer": WRONG}, evidence, made.policy)
        store.record(record)
        with store.reading("default") as connection:
            content = run_content(connection, "default", record.id)
    assert content is not None
    (outcome,) = json.loads(content["tape"])["knowledge"]["outcomes"]
    assert outcome["passages"] == [{"id": "p1", "text": KNOWN}]
    assert outcome["digest"] == word.digest
    shown = len(known[1].shown)
    found = replay(content, lambda of, **more: Guard(of, environ={}, **more))
    assert found.same_decision
    assert found.same_report
    assert len(known[1].shown) == shown
    bare = {name: value for name, value in content.items() if name != "tape"}
    with pytest.raises(InputError, match="without what sources of knowledge said"):
        replay(bare, lambda of, **more: Guard(of, environ={}, knowledge=False, **more))


def test_a_repair_puts_right_what_a_source_refutes_nowhere_and_keeps_what_it_verifies() -> None:
    report = guard(source("prices", KNOWN)).repair(RIGHT, EVIDENCE)
    assert report.output == RIGHT
    assert report.action.value == "emit"
