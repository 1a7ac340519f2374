"""A conversation with a system under attack: what was said before, what was asked, and the answer with what is wrong in
it marked as claims are on the page of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assay.reporting import SIGNS, Child, Markup, direction, foreign, tag
from assay.schema import Verdict
from assay.server.console.parts import badge, details, number, shorten
from assay.store.redteam import AttackCase

OUTCOMES: Final = {"passed": ("good", "✓"), "failed": ("bad", "✗"), "unjudged": ("doubt", "?")}
"""The tone and the sign of each outcome."""
_SAYERS: Final = {"user": "User", "assistant": "System"}
_LONGEST: Final = 4_000
_MOST: Final = 50
_SIGN: Final = SIGNS[Verdict.CONTRADICTED]


def outcome_badge(outcome: str) -> Markup:
    """The badge of an outcome; of a word that is none, that word."""
    tone, sign = OUTCOMES.get(outcome, ("quiet", None))
    return badge(outcome, tone, sign) if outcome in OUTCOMES else tag("span", foreign(shorten(outcome, 40)))


def named(word: str) -> str:
    """A word of ours for people.

    >>> named("scale_stress")
    'Scale stress'
    """
    words = word.replace("_", " ")
    return words[:1].upper() + words[1:]


def conversation_card(one: AttackCase) -> Markup:
    """One case of a run as a card."""
    details = one.told or {}
    said = tag("p", foreign(shorten(one.rule or "", 500)), class_="told") if one.rule else None
    return tag(
        "article",
        tag(
            "header",
            outcome_badge(one.outcome),
            badge("flaky", "doubt") if one.flaky else None,
            tag("h3", named(one.category)),
            tag("span", f"match {number(one.match)}", class_="measure"),
            tag("code", one.case_id, class_="digest"),
        ),
        said,
        conversation(details, one.case_id) if one.told is not None else tag("p", _NOT_KEPT, class_="soft"),
        class_="card",
        id=one.case_id,
    )


_NOT_KEPT: Final = "The conversation is not kept: of one run the first 500 that broke are, until they are erased."


def conversation(details: Mapping[str, Any], name: str) -> Markup:
    """What was said, as it is kept of a case.

    Args:
        details: the texts (`assay.server.redteam.rows`).
        name: of the case, for ids.
    """
    claims = [str(claim) for claim in details.get("wrong_claims") or ()][:_MOST]
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
    who = _SAYERS.get(role, "Somebody")
    return tag("div", tag("p", who, class_="who-says"), foreign(text[:_LONGEST], "div", class_="text"), class_="turn")


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
            foreign(str(one.get("text", ""))[:_LONGEST], "blockquote", class_="text"),
            class_="quote",
        )
        for one in passages
    )
    more = tag("p", f"The first {len(passages)} are kept.", class_="soft") if count > len(passages) else None
    return details(words, shown, more)


def _marked(text: str, claims: Sequence[str]) -> Iterator[Child]:
    """The answer with its wrong claims marked where they stand in it word for word."""
    at = 0
    places = sorted((text.find(claim), number_) for number_, claim in enumerate(claims, 1) if claim and claim in text)
    for start, number_ in places:
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
    good = tag("span", " A good answer: ", foreign(str(truth)[:_LONGEST], "b")) if truth else None
    return tag("p", "Expected: ", named(str(details.get("expected", ""))).lower(), ".", good, class_="told")


def _dimensions(case: Mapping[str, Any]) -> Markup | None:
    found: Mapping[str, Mapping[str, Any]] = case.get("dimensions") or {}
    if not found:
        return None
    rows = (
        tag(
            "li", f"{named(name)}: {number(_number(one.get('value')))}. ", foreign(shorten(str(one.get("because", ""))))
        )
        for name, one in found.items()
    )
    return details("Why, by dimension", tag("ul", rows, class_="reasons"))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def case_details(case: Mapping[str, Any], answer: str | None, claims: Sequence[str] = ()) -> dict[str, Any]:
    """A case as it is kept whole, in the form of a conversation."""
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
