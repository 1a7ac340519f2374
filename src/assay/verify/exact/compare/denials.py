"""Compares claims that something does not exist, or that only one does it, with evidence of the opposite.

"There is no excess", "the policy lacks an excess" and "there is no need to report a claim" share their words with the
sentence that they contradict and have no negated verb that could be compared with it. Each is compared with sentences
about the thing itself: a definite subject with an amount ("the excess is 250 euros"), a bound ("within 12 months" for
"no deadline"), a duty ("must be reported" for "no need to report"). Everything else that the claim says about what it
denies has to be in the sentence, so that "no excess for cars" is not contradicted by the excess of a house.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from assay.text.lexicon import SYNONYMS, Words, find_words, stem, word_set
from assay.text.quantities import Quantity
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex, content_of
from assay.verify.exact.parsed_claim import Claim

_SURE: Final = 0.9
_LOOKED_AT: Final = 6
_MOST_VALUED: Final = 32
"""How many other sentences with numbers are searched for a bound, since "80 mg a day" has no word of "daily limit"."""
_DENIAL: Final = re.compile(
    r"(?:^|[,;:–—]\s|\b(?:and|but|so|that)\s)(?:(?P<subject>[^,;:.]{1,60}?)\s)?"
    r"(?:(?:has|have|had|contains?|includes?|sets?|imposes?|comes? with|there (?:is|are|was|were|will be))\s"
    r"(?:no|not an?|not any|never an?)\s|(?:lacks?|comes? without)\s(?:an?\s|any\s|the\s)?)"
    r"(?P<what>[^,;:.!?]{2,80})",
    re.IGNORECASE,
)
"""A clause that something does not exist; the text before "there" or "has" says of what."""
_RESTRICTED: Final = re.compile(
    r"\s(?=(?:for|on|of|in|to|with|when|if|that|which|who|per|at|under|during|after|before|beyond|about|as|by|from|"
    r"regarding|concerning)\b)",
    re.IGNORECASE,
)
_OF_LIMIT: Final = frozenset(stem(w) for w in word_set("limit cap maximum ceiling deadline restriction bound quota"))
_OF_TIME: Final = frozenset(stem(w) for w in word_set("deadline time period date"))
_OF_DUTY: Final = frozenset(stem(w) for w in word_set("need obligation duty requirement reason"))
_DUTIFUL: Final = re.compile(
    r"\b(?:must|(?:has|have|had) to|needs? to|(?:is|are) (?:required|obliged|bound) to|shall|mandatory)\b(?! not\b)",
    re.IGNORECASE,
)
_NOT_MORE: Final = re.compile(
    r"(?:\bnot\b[^.;,]{0,30}\bmore than|\bno more than|\bat most|\bup to|\bwithin|\bno later than|\bat the latest"
    r"|\bmaximum(?: of)?|\bcapped at|\blimited to|\bat least|\ballows?|\bpermits?|\buntil|\bby)\s*$",
    re.IGNORECASE,
)
_MAY: Final = re.compile(r"\b(?:may|can)\s(?:[a-z]+\s){1,3}$", re.IGNORECASE)
"""A permission whose number is a limit: "guests may train twice"."""
_RATE: Final = re.compile(
    r"[^.;,]{0,24}?\b(?:an?|per|each|every)\s(?:second|minute|hour|day|week|month|year)", re.IGNORECASE
)
_ADVERBIAL: Final = {
    stem(a): stem(b)
    for a, b in (
        ("daily", "day"),
        ("weekly", "week"),
        ("monthly", "month"),
        ("yearly", "year"),
        ("annual", "year"),
        ("hourly", "hour"),
    )
}
_ONLY: Final = re.compile(
    r"(?P<only>only|solely|none but)\s(?P<who>(?:the|an?|our|your)?\s?[^,;:.]{2,40})", re.IGNORECASE
)
_ALL: Final = re.compile(r"\s*(?:either|both|any|every|each|all)\b", re.IGNORECASE)
_TELLS: Final = re.compile(r"\s(?:is|are|was|were|amounts to|comes to|stands at|of|:)\s", re.IGNORECASE)
_NOTHING_OF_IT: Final = re.compile(
    r"\b(?:not|no|never|none|without|waived|free|nil|zero|nor)\b|n['’]t\b", re.IGNORECASE
)


def compare_denials(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """Findings that the evidence has what the claim denies, or others than the only one, or another state."""
    sentences = claim.candidates[:_LOOKED_AT]
    denial = _DENIAL.search(claim.text)
    if denial is not None:
        near = {one.sentence for one in sentences}
        others = (n for n in islice(index.quantities, _MOST_VALUED) if n not in near)
        looked_at = chain(sentences, (index.candidate(n, claim.weights) for n in others))
        found = next(filter(None, (_find_denied(claim, index, denial, one) for one in looked_at)), None)
        if found is not None:
            yield found
    yield from _empty_fields(claim, index)
    yield from _other_state(claim, index)
    only = _ONLY.match(claim.text)
    if only is not None:
        found = next(filter(None, (_find_others(claim, index, only, one) for one in sentences)), None)
        if found is not None:
            yield found


_EMPTY_FIELD: Final = re.compile(
    r"[\"'](?P<key>(?:is_|has_|was_|date_)?(?P<event>[A-Za-z]{4,20})(?P<when>_at|_on|_date|_time|At|On|Date)?)[\"']\s?:\s?"
    r"(?:null|None|false|False|\"\"|\[\])(?=\s?[,}\]]|\s*$)"
)
"""An empty field of a record for an event: `"shipped_at": null`, `"paid": false`."""
_NOT_STATED: Final = re.compile(
    r"\b(?:not|no|never|none|nothing|will|would|can|could|may|might|shall|should|must|if|when|once|until|unless|before|"
    r"whether|to be|without|yet)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_PARTICIPLE: Final = re.compile(r"(?:ed|en|t|d|n)$")


def _empty_fields(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """Findings that the field of a record for an event that the claim states is empty."""
    if _NOT_STATED.search(claim.text) is not None:
        return
    for candidate in claim.candidates[:_LOOKED_AT]:
        here = index.sentences[candidate.sentence]
        text = index.passages[here.passage].text
        named = {one.text.casefold() for one in claim.identifiers}
        if any(name not in text.casefold() for name in named):
            continue
        for field in _EMPTY_FIELD.finditer(text, here.start, here.end):
            event = field["event"].casefold()
            at = next((i for i, w in enumerate(claim.words.lexemes) if w.fold == event), -1)
            if at > 0 and _PARTICIPLE.search(event) is not None:
                ours = claim.words.starts[at], claim.words.ends[at]
                yield _finding(claim, index, candidate, ours, field.span(), "that has not happened", "affirms")
                return


_STATE: Final = re.compile(
    r"\b(?:is|are|was|were|has been|have been|got|remains?|stays?)\s(?:(?:now|still|already|currently|fully)\s)?"
    r"(?P<state>cancell?ed|shipped|paid|unpaid|delivered|refunded|open|closed|pending|active|inactive|approved|rejected|"
    r"declined|confirmed|completed|complete|booked|resolved|unresolved|failed|expired|valid|invalid|suspended|returned|processed|"
    r"sent|scheduled|available|unavailable|reserved|archived|published|enabled|disabled|blocked)\b",
    re.IGNORECASE,
)
"""A clause that something is in a state such as fields of records have."""
_STATUS_FIELD: Final = re.compile(
    r"[\"'](?:[a-z]+_)?(?:status|state)[\"']\s?:\s?[\"'](?P<value>[A-Za-z][\w -]{1,40})[\"']", re.IGNORECASE
)


def _other_state(claim: Claim, index: ExactIndex) -> Iterator[ExactFinding]:
    """Findings that the record of what a claim names has another state in its status field."""
    said = _STATE.search(claim.text)
    if said is None or _NOT_STATED.search(claim.text) is not None:
        return
    figures = {figure.casefold() for figure in _FIGURE.findall(claim.text)}
    own = {word.stem for word in claim.words.lexemes}
    for number, passage in enumerate(index.passages[:_MOST_VALUED]):
        fields = list(islice(_STATUS_FIELD.finditer(passage.text), 2))
        known = {figure.casefold() for figure in _FIGURE.findall(passage.text)}
        if len(fields) != 1 or not figures or not figures <= known:
            continue
        words = [stem(word.casefold()) for word in re.split(r"[\W_]+", fields[0]["value"]) if word]
        state = stem(said["state"].casefold())
        if own.issuperset(words) or (len(words) == 1 and state in SYNONYMS.get(words[0], frozenset())):
            return
        at = fields[0].start()
        places = range(passage.first, passage.last)
        here = next((n for n in places if index.sentences[n].start <= at < index.sentences[n].end), None)
        if here is not None and index.sentences[here].passage == number:
            theirs = index.candidate(here, claim.weights)
            yield _finding(claim, index, theirs, said.span("state"), fields[0].span(), "another state", "says")
        return


_FIGURE: Final = re.compile(r"(?<![\w.-])(?=[\w-]*\d)[A-Za-z0-9][\w-]*")


def _find_denied(claim: Claim, index: ExactIndex, denial: re.Match[str], candidate: Candidate) -> ExactFinding | None:
    """A finding that a sentence has the thing that a claim says does not exist; none where it does not."""
    parts = _RESTRICTED.split(denial["what"], maxsplit=1)
    thing = content_of(find_words(parts[0]).lexemes)
    if not thing:
        return None
    head, besides = thing[-1], set(thing[:-1])
    rest = {_ADVERBIAL.get(one, one) for one in content_of(find_words(parts[1]).lexemes)} if len(parts) > 1 else set()
    place = (denial.start("what"), denial.start("what") + len(parts[0]))
    known = candidate.stems | candidate.heading
    here = index.sentences[candidate.sentence]
    text = index.passages[here.passage].text[here.start : here.end]
    theirs: tuple[int, int] | None = None
    if head in _OF_DUTY and not besides:
        duty = _DUTIFUL.search(text)
        acts = rest | _following_stems(claim, denial)
        if duty is not None and acts and acts <= known and _NOTHING_OF_IT.search(text) is None:
            theirs = duty.span()
    elif head in _OF_LIMIT:
        theirs = _find_limit(index, candidate, denial, (head, besides, rest))
    elif besides | rest <= known and head in candidate.stems:
        theirs = _find_amount(index, candidate, head, text)
    if theirs is None:
        return None
    return _finding(claim, index, candidate, place, (here.start + theirs[0], here.start + theirs[1]), "it has one")


def _following_stems(claim: Claim, denial: re.Match[str]) -> set[str]:
    """The content stems behind what is denied, up to the end of the clause."""
    return set(content_of(find_words(claim.text[denial.end("what") :].split(",")[0]).lexemes))


def _find_amount(index: ExactIndex, candidate: Candidate, head: str, text: str) -> tuple[int, int] | None:
    """The place at which a sentence gives a positive amount for a definite thing; none without one."""
    here = index.sentences[candidate.sentence]
    words = find_words(text)
    at = next((i for i, word in enumerate(words.lexemes) if word.stem == head), -1)
    definite = at > 0 and any(
        word.fold in {"the", "an", "a", "its", "their"} for word in words.lexemes[max(0, at - 3) : at]
    )
    if not definite or _NOTHING_OF_IT.search(text) is not None:
        return None
    amount = _TELLS.match(text, words.ends[at])
    for quantity in index.quantities.get(candidate.sentence, ()):
        start = quantity.start - here.start
        if amount is not None and 0 <= start - amount.end() <= 1 and quantity.value > 0:
            return words.starts[at], quantity.end - here.start
    return None


def _find_limit(
    index: ExactIndex, candidate: Candidate, denial: re.Match[str], said: tuple[str, set[str], set[str]]
) -> tuple[int, int] | None:
    """The place of a bound in a sentence for what a claim says has none; none without one."""
    head, besides, rest = said
    here = index.sentences[candidate.sentence]
    text = index.passages[here.passage].text
    asks_rate = stem("rate") in besides
    of = rest | (set(content_of(find_words(denial["subject"] or "").lexemes)) if not rest else set())
    known = set(candidate.stems | candidate.heading)
    shared = {one for one in of if one in known or not SYNONYMS.get(one, frozenset()).isdisjoint(known)}
    if 2 * len(shared) < len(of) or (not of and not asks_rate):
        return None
    for quantity in index.quantities.get(candidate.sentence, ()):
        timed = quantity.dimension == "time"
        bounded = _is_bounded(text, here.start, quantity)
        rate = _RATE.match(text, quantity.end) is not None
        if head in _OF_TIME or stem("time") in besides:
            fits = timed and bounded
        elif asks_rate:
            fits = rate and not timed
        else:
            fits = bounded and (not timed or stem("time") in of)
        if fits:
            return quantity.start - here.start, quantity.end - here.start
    return None


def _is_bounded(text: str, begin: int, quantity: Quantity) -> bool:
    """Whether a number of a sentence that begins at `begin` is the most or the least that is allowed."""
    before = text[max(begin, quantity.start - 48) : quantity.number_start]
    allowed = quantity.dimension in {"factor", "count"} and _MAY.search(before) is not None
    return quantity.bound == "at_most" or allowed or _NOT_MORE.search(before) is not None


def _find_others(claim: Claim, index: ExactIndex, only: re.Match[str], candidate: Candidate) -> ExactFinding | None:
    """A finding that a sentence says of either, both, any or all what a claim says of only one; none otherwise."""
    here = index.sentences[candidate.sentence]
    text = index.passages[here.passage].text[here.start : here.end]
    every = _ALL.match(text)
    if every is None or _NOTHING_OF_IT.search(text) is not None:
        return None
    verb = _predicate_stems(claim.words)
    named = set(content_of(find_words(only["who"]).lexemes)) - verb
    if not verb or not verb <= candidate.stems or (named and named <= candidate.stems):
        return None
    return _finding(
        claim,
        index,
        candidate,
        only.span("only"),
        (here.start + every.start(), here.start + every.end()),
        "it is not the only one",
    )


def _predicate_stems(words: Words) -> set[str]:
    """The content stems behind the first form of an auxiliary."""
    at = next((i for i, w in enumerate(words.lexemes) if w.fold in _AUXILIARIES), -1)
    return set(content_of(words.lexemes[at + 1 :])) if at > 0 else set()


_AUXILIARIES: Final = word_set("is are was were may can could must will would shall should has have do does")


def _finding(
    claim: Claim,
    index: ExactIndex,
    candidate: Candidate,
    ours: tuple[int, int],
    theirs: tuple[int, int],
    what: str,
    says: str = "denies",
) -> ExactFinding:
    span = index.span(candidate.sentence, *theirs, "contradicts", _SURE)
    said = claim.text[ours[0] : ours[1]]
    message = f"The claim {says} {said!r}; the evidence says {span.text!r}: {what}."
    return ExactFinding("polarity.denied", message, *ours, span, "contradicts", _SURE)
