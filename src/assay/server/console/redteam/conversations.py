"""A conversation with a system under attack: the turns before, the prompt, and the answer with its wrong claims marked
in the same way as on the page of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assay.reporting import SIGNS, Child, Markup, direction, foreign, tag
from assay.schema import Verdict
from assay.server.console.parts import badge, details, number, shorten, title_words
from assay.store.redteam import AttackCase

OUTCOMES: Final = {"passed": ("good", "✓"), "failed": ("bad", "✗"), "unjudged": ("doubt", "?")}
"""The tone and the sign of each outcome."""
_ROLE_NAMES: Final = {"user": "User", "assistant": "System"}
_LONGEST_TEXT: Final = 4_000
"""The most characters of one text that are shown."""
_MOST_CLAIMS: Final = 50
_SIGN: Final = SIGNS[Verdict.CONTRADICTED]


def outcome_badge(outcome: str) -> Markup:
    """The badge of an outcome; any other word is shown as foreign text."""
    tone, sign = OUTCOMES.get(outcome, ("quiet", None))
    return badge(outcome, tone, sign) if outcome in OUTCOMES else tag("span", foreign(shorten(outcome, 40)))


def conversation_card(case: AttackCase) -> Markup:
    """One case of a run as a card."""
    rule = tag("p", foreign(shorten(case.rule or "", 500)), class_="told") if case.rule else None
    return tag(
        "article",
        tag(
            "header",
            outcome_badge(case.outcome),
            badge("flaky", "doubt") if case.flaky else None,
            tag("h3", title_words(case.category)),
            tag("span", f"match {number(case.match)}", class_="measure"),
            tag("code", case.case_id, class_="digest"),
        ),
        rule,
        conversation(case.told, case.case_id) if case.told is not None else tag("p", _NOT_KEPT, class_="soft"),
        class_="card",
        id=case.case_id,
    )


_NOT_KEPT: Final = "The conversation is not kept: of one run the first 500 that broke are, until they are erased."


def conversation(details: Mapping[str, Any], name: str) -> Markup:
    """The conversation of a case.

    Args:
        details: its texts, in the form of `assay.server.redteam.rows`.
        name: the id of the case, for the ids of elements.
    """
    claims = [str(claim) for claim in details.get("wrong_claims") or ()][:_MOST_CLAIMS]
    answer = details.get("answer")
    parts: list[Child] = [
        _context(details),
        *(_turn(str(turn.get("role")), str(turn.get("content", ""))) for turn in details.get("turns") or ()),
        _turn("user", str(details.get("prompt", ""))),
    ]
    if isinstance(answer, str):
        body = tag("div", _marked(answer, claims), class_="answer text", dir=direction(answer[:1_000]))
        parts.append(tag("div", tag("p", "Answer", class_="who-says"), body, class_="turn answered"))
    else:
        parts.append(tag("p", "There is no answer.", class_="soft"))
    return tag("div", parts, _claims(claims, name), _expected(details), _dimensions(details), class_="conversation")


def _turn(role: str, text: str) -> Markup:
    speaker = _ROLE_NAMES.get(role, "Somebody")
    return tag(
        "div", tag("p", speaker, class_="who-says"), foreign(text[:_LONGEST_TEXT], "div", class_="text"), class_="turn"
    )


def _context(case: Mapping[str, Any]) -> Markup | None:
    passages: Sequence[Mapping[str, Any]] = case.get("context") or ()
    if not passages:
        return None
    count = int(case.get("passages") or len(passages))
    words = f"{count:,} {'passage' if count == 1 else 'passages'} that the system was given"
    shown = (
        tag(
            "figure",
            tag("figcaption", foreign(shorten(str(one.get("id", "")), 120), "b")),
            foreign(str(one.get("text", ""))[:_LONGEST_TEXT], "blockquote", class_="text"),
            class_="quote",
        )
        for one in passages
    )
    more = tag("p", f"The first {len(passages)} are kept.", class_="soft") if count > len(passages) else None
    return details(words, shown, more)


def _marked(text: str, claims: Sequence[str]) -> Iterator[Child]:
    """The answer, with those wrong claims marked that it contains word for word."""
    at = 0
    occurrences = sorted(
        (text.find(claim), number_) for number_, claim in enumerate(claims, 1) if claim and claim in text
    )
    for start, number_ in occurrences:
        claim = claims[number_ - 1]
        if start >= at:
            yield foreign(text[at:start], "span") if start > at else None
            yield tag("span", claim, class_="piece contradicted")
            yield tag("sup", f"{_SIGN}{number_}", class_="bad")
            at = start + len(claim)
    yield foreign(text[at:], "span") if at < len(text) else None


def _claims(claims: Sequence[str], name: str) -> Markup | None:
    if not claims:
        return None
    rows = (
        tag("li", tag("span", f"{_SIGN}{at} ", class_="sign bad", aria_hidden="true"), foreign(shorten(claim, 600)))
        for at, claim in enumerate(claims, 1)
    )
    title = tag("h4", "Stated without reservation, and not supported by the evidence", id=f"wrong-{name}")
    return tag("div", title, tag("ul", rows, class_="plain", aria_labelledby=f"wrong-{name}"), class_="wrong")


def _expected(details: Mapping[str, Any]) -> Markup:
    truth = details.get("ground_truth")
    good = tag("span", " A good answer: ", foreign(str(truth)[:_LONGEST_TEXT], "b")) if truth else None
    return tag("p", "Expected: ", title_words(str(details.get("expected", ""))).lower(), ".", good, class_="told")


def _dimensions(case: Mapping[str, Any]) -> Markup | None:
    dimensions: Mapping[str, Mapping[str, Any]] = case.get("dimensions") or {}
    if not dimensions:
        return None
    rows = (
        tag(
            "li",
            f"{title_words(name)}: {number(_number(one.get('value')))}. ",
            foreign(shorten(str(one.get("because", "")))),
        )
        for name, one in dimensions.items()
    )
    return details("Why, by dimension", tag("ul", rows, class_="reasons"))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def case_details(case: Mapping[str, Any], answer: str | None, claims: Sequence[str] = ()) -> dict[str, Any]:
    """The texts of a whole case in the form that `conversation` takes."""
    context: Sequence[Mapping[str, Any]] = case.get("context") or ()
    return {
        "prompt": case.get("prompt", ""),
        "turns": case.get("turns") or (),
        "context": list(context)[:3],
        "passages": len(context),
        "expected": case.get("expected_behavior", ""),
        "answer": answer,
        "ground_truth": case.get("ground_truth"),
        "wrong_claims": list(claims),
    }
