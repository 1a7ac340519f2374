"""Puts a case to the guard and gives what came of it as a JSON value, without times and names of versions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from tests.net import rooms
from tests.net.material import Case
from tests.verify.judges import NOT_FOUND, Rule, Verdicts, judge

import assay
from assay.schema import HallucinationReport
from assay.testing import ScriptedChat

STABLE: Final = ("timing", "verifier")
"""Members of a report that say when it was made, how long it took and by which version; no part of what was found."""
WORDS: Final = frozenset(
    {
        "message",
        "messages",
        "reason",
        "reasons",
        "response",
        "justification",
        "notes",
        "notice",
        "detail",
        "errors",
        "undefined",
        "suggested_actions",
        "description",
        "title",
        "summary",
    }
)
"""Members that hold prose for people: a change of them alone is a change of words, not of what was decided."""
PAGES: Final = frozenset({"text_page", "html_page"})
"""Members that hold the lines of a page for people, of which even the number is a matter of words."""
DERIVED: Final = frozenset({"digests"})
"""Members that are made of all others, words among them."""


class Performer:
    """Puts cases to guards of one scorer, one guard for each preset and locale."""

    def __init__(self, scorer: Any | None = None) -> None:
        """Make one.

        Args:
            scorer: what judges pairs; the network that ships with the package by default.
        """
        self._scorer = scorer
        self._guards: dict[tuple[str, str], assay.Guard] = {}

    def guard(self, policy: str, locale: str = "en", llm: Any = None) -> assay.Guard:
        """The guard of a preset; one with a model is made anew, so that no answer of another case is remembered."""
        if llm is not None:
            judged = assay.Policy.model_validate({**self.guard(policy).policy.model_dump(), "judge": "all"})
            return assay.Guard(judged, scorer=self._scorer, locale=locale, environ={}, llm=llm)
        key = (policy, locale)
        if key not in self._guards:
            self._guards[key] = assay.Guard(policy, scorer=self._scorer, locale=locale, environ={})
        return self._guards[key]

    def perform(self, case: Case) -> Any:
        """What came of a case, as a JSON value. What the guard refuses is a result too, with its error.

        Raises:
            Exception: a defect; anything but an `AssayError`.
        """
        given = dict(case.given)
        locale = given.pop("locale", "en")
        try:
            return _WAYS[case.way](self, case, given, locale)
        except assay.AssayError as error:
            return {"error": type(error).__name__, "message": str(error)}

    def _check(self, case: Case, given: dict[str, Any], locale: str) -> Any:
        return bare(self.guard(case.policy, locale).check(**given, run_id=case.id))

    def _run(self, case: Case, given: dict[str, Any], locale: str) -> Any:
        return bare(self.guard(case.policy, locale).check_run(**given, run_id=case.id))

    def _repair(self, case: Case, given: dict[str, Any], locale: str) -> Any:
        return bare(self.guard(case.policy, locale).repair(**given, run_id=case.id))

    def _judged(self, case: Case, given: dict[str, Any], locale: str) -> Any:
        model = _MODELS[given.pop("rule")]()
        return bare(self.guard(case.policy, locale, model).check(**given, run_id=case.id))

    def _page(self, case: Case, given: dict[str, Any], locale: str) -> Any:
        report = self.guard(case.policy, locale).check(**given, run_id=case.id)
        timeless = HallucinationReport.model_validate(_timeless(report.model_dump(mode="json")))
        made = rooms.pages(case.id, timeless, given["evidence"])
        pages = {f"{kind}_page": page.splitlines() for kind, page in made.items()}
        return {"report": bare(report), **pages}

    def _stream(self, case: Case, given: dict[str, Any], locale: str) -> Any:
        stream = self.guard(case.policy, locale).stream(given.pop("pieces"), given.pop("evidence"), **given)
        shown = [
            {"kind": type(piece).__name__, "text" if type(piece) is str else "message": str(piece)} for piece in stream
        ]
        ended = stream.outcome
        report = None if ended.report is None else {**bare(ended.report), "run_id": case.id}
        return {
            "shown": shown,
            "finished": ended.finished,
            "action": ended.action,
            "passed": ended.passed,
            "released": ended.released,
            "notice": ended.notice,
            "reasons": list(ended.reasons),
            "report": report,
        }


_WAYS: Final = {
    "check": Performer._check,
    "run": Performer._run,
    "stream": Performer._stream,
    "repair": Performer._repair,
    "judged": Performer._judged,
    "page": Performer._page,
}


def _everything(_: str, passages: Mapping[str, str]) -> Verdicts:
    return {1: ("PASS", tuple(passages.items()))}


def _nothing(_: str, __: Mapping[str, str]) -> Verdicts:
    return NOT_FOUND


def _opposite(_: str, passages: Mapping[str, str]) -> Verdicts:
    alias, text = next(iter(passages.items()))
    return {1: ("FAIL", ()), 2: ("FAIL", ((alias, text),))}


def _asking(rule: Rule) -> Any:
    return lambda: judge(rule)


_MODELS: Final = {
    "everything": _asking(_everything),
    "nothing": _asking(_nothing),
    "opposite": _asking(_opposite),
    "unreadable": lambda: ScriptedChat(lambda _: "I would say so.", name="judge"),
}


def _timeless(dumped: dict[str, Any]) -> dict[str, Any]:
    """The report with no time and no version, still a report."""
    timing = {"total_ms": 0.0, "stages_ms": {}}
    return {
        **dumped,
        "timing": timing,
        "verifier": {"name": "assay", "digest": "0" * 64},
        "policy": {**dumped["policy"], "digest": "0" * 64},
    }


def bare(report: HallucinationReport) -> dict[str, Any]:
    """A report on the wire without its times, the version that made it and the digest of its policy.

    The presets are frozen by themselves, so that a new field of a policy is one difference and not 3,000. The digest of
    the findings, which is made of all these, is left out for the same reason.
    """
    dumped = report.model_dump(mode="json")
    if dumped["digests"] is not None:
        del dumped["digests"]["findings"]
    return {**{key: value for key, value in dumped.items() if key not in STABLE}, "policy": dumped["policy"]["name"]}


def steady(value: Any) -> Any:
    """The value with each fraction rounded to six decimals: the last digits of an exponential differ by library."""
    if isinstance(value, float):
        return round(value, 6) + 0.0
    if isinstance(value, dict):
        return {key: steady(member) for key, member in value.items()}
    return [steady(member) for member in value] if isinstance(value, list) else value


def form(value: Any) -> Any:
    """What a program reads: the value with prose for people replaced by how much of it there is.

    >>> form({"code": "number.mismatch", "message": "4 is not 2", "reasons": ["a", "b"]})
    {'code': 'number.mismatch', 'message': True, 'reasons': 2}
    """
    if isinstance(value, dict):
        return {key: _form_of(key, member) for key, member in value.items() if key not in DERIVED}
    return [form(member) for member in value] if isinstance(value, list) else value


def _form_of(name: str, member: Any) -> Any:
    if name in PAGES:
        return bool(member)
    return _count(member) if name in WORDS and _is_prose(member) else form(member)


def _is_prose(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _count(value: str | list[str]) -> bool | int:
    return len(value) if isinstance(value, list) else bool(value)


def decision(result: Any) -> Any:
    """What every processor has to decide alike: the action, the route, and of each claim its place and its verdict."""
    report = result.get("report", result) or {}
    claims = [[one["span"], one["path"], one["verdict"], one["critical"]] for one in report.get("claims", [])]
    route = report.get("decision", {}).get("route")
    return {"action": result.get("action"), "error": result.get("error"), "route": route, "claims": claims}


MARGIN: Final = 0.7
"""How far, in log odds, a score has to be from every threshold for the decision to count on another processor; 0.7 is
from 0.85 to 0.92 or 0.74. OpenVINO's kernels differ from ONNX Runtime's as those of two processors do; docs/net.md says
what was measured between them."""


def stands_clear(result: Any, policy: str) -> bool:
    """Whether every score of a report is far from every threshold that it is held against."""
    settings = _settings_of(policy)
    support = [settings[f"{name}_threshold"] for name in ("emit", "revise", "block", "support")]
    report = result.get("report", result) or {}
    claims = report.get("claims", [])
    pairs = [(one["contradiction"], settings["contradiction_threshold"]) for one in claims]
    pairs += [
        (score, limit)
        for score in (report.get("overall_score"), *(one["score"] for one in claims))
        for limit in support
    ]
    return all(abs(log_odds(score) - log_odds(limit)) >= MARGIN for score, limit in pairs if score is not None)


def log_odds(probability: float) -> float:
    """The logarithm of the odds, of a probability kept within [0.0001, 0.9999]."""
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


@cache
def _settings_of(policy: str) -> dict[str, Any]:
    return assay.Guard(policy, scorer=rooms.fake_scorer(), environ={}).policy.model_dump()
