"""Plausible additions that the evidence says nothing of: a place, a time, a reason, a source, a purpose, a quality."""

from __future__ import annotations

import random
import re

from train.edits.context import Context
from train.edits.document import MONTHS, WEEKDAYS, YEAR, parse, words_of
from train.edits.kinds import Edit
from train.edits.words import base_of

REASONS = (
    "because of rising costs",
    "due to a shortage of staff",
    "after months of negotiations",
    "following pressure from campaigners",
    "because of bad weather",
    "due to technical problems",
    "after a long legal dispute",
    "because of budget cuts",
    "in response to public criticism",
    "following a series of complaints",
    "due to safety concerns",
    "because of poor sales",
    "after a vote by members",
    "due to strong demand",
    "following a change in leadership",
    "because of health problems",
    "after a dispute over money",
    "thanks to a large private donation",
    "due to a lack of evidence",
    "because of family reasons",
)
PURPOSES = (
    "in order to cut costs",
    "to attract younger audiences",
    "to raise money for charity",
    "in an effort to improve safety",
    "to meet new regulations",
    "in order to reach a wider public",
    "to avoid further delays",
    "to protect the environment",
    "in order to settle old debts",
    "to strengthen ties with local communities",
    "in preparation for a larger project",
)
SOURCES = (
    "according to an independent review",
    "according to official figures",
    "according to a recent survey",
    "according to local media",
    "as a government report later confirmed",
    "according to the company's annual report",
    "as several witnesses reported",
    "according to court documents",
    "as critics have pointed out",
    "according to industry analysts",
)
OUTCOMES = (
    "to widespread acclaim",
    "with little success",
    "for the first time in decades",
    "at a cost of several million dollars",
    "despite strong opposition",
    "with the support of local residents",
    "to mixed reviews",
    "under a new agreement",
    "in front of a large crowd",
    "with government funding",
    "free of charge",
    "on a temporary basis",
    "at the request of the family",
    "with immediate effect",
    "on several occasions",
    "under difficult conditions",
    "ahead of schedule",
    "in close cooperation with experts",
    "without the approval of the board",
    "in partnership with a local university",
    "every summer",
    "twice a year",
    "in record time",
)
FOLLOWING = (
    "which drew international attention",
    "which was widely praised by critics",
    "making it one of the most successful of its kind",
    "a decision that was later reversed",
    "which led to several awards",
    "which surprised many observers",
    "and the results were published the following year",
    "and was later honoured for it",
    "becoming the youngest person to do so",
    "which has since been disputed",
    "setting a new national record",
    "and received an award for it",
    "although the exact details remain secret",
    "which caused considerable controversy",
    "a first in the region",
)
QUALITIES = (
    "controversial",
    "popular",
    "privately funded",
    "long-awaited",
    "prestigious",
    "little-known",
    "highly successful",
    "critically acclaimed",
    "newly built",
    "well-known",
    "temporary",
    "influential",
    "expensive",
    "award-winning",
    "official",
    "unfinished",
    "annual",
    "experimental",
    "family-owned",
    "heavily criticised",
    "secret",
    "modern",
    "rare",
    "voluntary",
    "traditional",
)
APPOSITIONS = (
    "a former teacher",
    "a native of {place}",
    "who also worked as a journalist",
    "a trained lawyer",
    "who grew up in {place}",
    "a lifelong vegetarian",
    "the youngest of four siblings",
    "an experienced engineer",
    "who was {age} at the time",
    "a close friend of {person}",
    "who studied in {place}",
    "a keen amateur painter",
)
_NOUN_PHRASE = re.compile(r"(?<= )(a|an|the|his|her|its|their) (?=[a-z]{4,}(?: [a-z]{3,}|[,.]))")
_NOT_NOUN = frozenset(
    [
        "first",
        "last",
        "same",
        "other",
        "second",
        "third",
        "most",
        "more",
        "best",
        "very",
        "only",
        "many",
        "few",
        "next",
        "former",
        "latter",
        "late",
        "early",
    ]
)


def _filled(template: str, context: Context, rng: random.Random) -> str | None:
    """A template with names of other documents in its gaps."""
    for gap in ("place", "person", "organisation"):
        if "{" + gap + "}" in template:
            pool = context.bank.names.get(gap, [])
            if not pool:
                return None
            template = template.replace("{" + gap + "}", pool[rng.randrange(len(pool))])
    return template.replace("{age}", str(rng.randint(19, 71)))


def _time(rng: random.Random) -> str:
    year = rng.randint(1955, 2023)
    return rng.choice(
        (
            f"in {year}",
            f"in {rng.choice(MONTHS)} {year}",
            f"on {rng.randint(1, 28)} {rng.choice(MONTHS)} {year}",
            f"on a {rng.choice(WEEKDAYS)}",
            f"in the early {year // 10 * 10}s",
            f"in the spring of {year}",
        )
    )


def parsed_verb_is_state(text: str) -> bool:
    """Whether the main verb says what something is rather than what happened, so that a reason would read oddly."""
    parsed = parse(text)
    if parsed.verb < 1:
        return True
    return parsed.tokens[parsed.verb].low in {"is", "are", "has", "have", "includes", "include", "consists", "refers"}


def _adjunct(text: str, context: Context, rng: random.Random) -> str | None:
    """An adverbial to append, of a kind that the claim does not have yet."""
    dated = bool(YEAR.search(text) or re.search(rf"\b(?:{'|'.join(MONTHS + WEEKDAYS)})\b", text))
    sort = rng.choice(("time", "place", "phrase", "phrase", "phrase", "reason", "purpose", "outcome", "person"))
    if sort == "time":
        past = re.search(r"\b(?:was|were|had|did)\b|\w\wed\b", text)
        return _time(rng) if not dated and past else None
    if sort == "place":
        return _filled("in {place}", context, rng) if not re.search(r"\b(?:in|at|near) (?:the )?[A-Z]", text) else None
    if sort == "person":
        return _filled(
            rng.choice(
                (
                    "together with {person}",
                    "with the help of {person}",
                    "on the advice of {person}",
                    "for {organisation}",
                )
            ),
            context,
            rng,
        )
    if sort == "phrase":
        pool = context.bank.phrases
        phrase = pool[rng.randrange(len(pool))] if pool else None
        if phrase and ((dated and YEAR.search(phrase)) or phrase.split()[0] in text.split()[-4:]):
            return None
        return phrase
    if parsed_verb_is_state(text):
        return None
    if (
        re.search(r"\b(?:because|due to|to|in order|after|following|despite)\b", text[len(text) // 2 :])
        and sort != "outcome"
    ):
        return None
    return rng.choice({"reason": REASONS, "purpose": PURPOSES, "outcome": OUTCOMES}[sort])


def _unknown(phrase: str, context: Context) -> bool:
    """Whether the document does not hold what the phrase says: at least half of its longer words are new."""
    long = [w for w in words_of(phrase) if len(w) > 3]
    return bool(long) and sum(w not in context.document.words for w in long) * 2 >= len(long)


def _append(text: str, addition: str) -> Edit:
    return Edit(
        "addition",
        text[:-1] + addition + text[-1],
        (len(text) - 1 + len(addition) - len(addition.lstrip(" ,")), len(text) - 1 + len(addition)),
        "unsupported",
    )


def _quality(text: str, rng: random.Random) -> Edit | None:
    """A quality put before a noun."""
    found = []
    for match in _NOUN_PHRASE.finditer(text):
        word = re.match(r"[a-z]+", text[match.end() :])
        if (
            word
            and word.group() not in _NOT_NOUN
            and not word.group().endswith(("ly", "ing"))
            and base_of(word.group()) is None
        ):
            found.append(match)
    if not found:
        return None
    match = rng.choice(found)
    article = match.group(1)
    fitting = [q for q in QUALITIES if article not in ("a", "an") or (q[0] in "aeiou") == (article == "an")]
    quality = rng.choice(fitting)
    if quality in text:
        return None
    at = match.end()
    return Edit("addition", f"{text[:at]}{quality} {text[at:]}", (at, at + len(quality)), "unsupported")


def addition(text: str, context: Context, rng: random.Random) -> Edit | None:
    """Add what the evidence does not say; the span is the addition, the rest stays as it was."""
    if not text.endswith(".") or len(text) < 12 or context.document.record is not None:
        return None
    parsed = parse(text)
    way = rng.random()
    if way < 0.12:
        edit = _quality(text, rng)
        return edit if edit is None or _unknown(edit.claim[slice(*edit.span)], context) else None
    if way < 0.27 and parsed.names and parsed.names[0].start == 0 and parsed.names[0].group == "person":
        first = parsed.names[0]
        said = _filled(rng.choice(APPOSITIONS), context, rng)
        if first.end == parsed.subject_end and said and _unknown(said, context):
            return Edit(
                "addition",
                f"{text[: first.end]}, {said},{text[first.end :]}",
                (first.end + 2, first.end + 2 + len(said)),
                "unsupported",
            )
    if way < 0.45:
        pool = (*FOLLOWING, *(rng.choices(context.bank.trailers, k=len(FOLLOWING)) if context.bank.trailers else ()))
        said = rng.choice(pool)
        return _append(text, f", {said}") if _unknown(said, context) and text.count(",") < 3 else None
    if way < 0.55:
        said = rng.choice(SOURCES)
        return _append(text, f", {said}") if _unknown(said, context) and "according to" not in text else None
    adjunct = _adjunct(text, context, rng)
    if adjunct is None or adjunct in text or not _unknown(adjunct, context):
        return None
    return _append(text, f" {adjunct}")
