"""Compares announced numbers with the lists after them: "There are four reasons:" with three items, "three plans: A and
B".

A Markdown list is counted by its outermost items; one in running text by its commas and its "and", if these can be read
in only one way. Lists that may be incomplete ("including", "etc.", "and others") are not counted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Span
from assay.text.lexicon import word_list
from assay.text.sentences import Sentence
from assay.verify.logic.announcements import NUMBERS, Announcement, find_announcement, may_announce
from assay.verify.logic.findings import LogicFinding

_ITEM: Final = re.compile(r"([ \t]{0,12})(?:[-*+•‣]|(?P<number>\d{1,2})[.)]|(?P<letter>[a-z])[.)])[ \t]+(?=\S)")
_INTRO: Final = re.compile(r"[ \t]*(?P<words>[^\n]{4,400}?)(?P<end>:)[*_]{0,3}[ \t]*$")
_HEADING: Final = re.compile(r"[ \t]{0,3}(?:#{1,6}\s|(?:-{3,}|={3,}|\*{3,})[ \t]*$|```|\|)")
_LAST_SENTENCE: Final = re.compile(r"[.!?]\s+(?=[A-Z*])")
_TWO_IN_ONE: Final = re.compile(r"\s(?:and|or|plus)\s|[&/,–]|\d\s?-\s?\d")
_LEAD_END: Final = re.compile(r":|\s[–—-]\s|\*\*|\.\s|\(")
_NOT_AN_ITEM: Final = re.compile(
    r"(?:\*\*|_)?(?:note|n\.b|none|also|optional|in\saddition|finally|etc|…|\.\.\.|remember|please|total|other|and\smore|tip|"
    r"bonus|summary|overall|all\s)",
    re.IGNORECASE,
)
_SHORT_ITEM: Final = 8
_LONGEST_ITEM: Final = 500
"""Characters of the longest plain item; a longer line is a text that lost its line breaks."""
_ENUMERATION: Final = re.compile(r"(?P<colon>:\s)|(?P<dash>\s[—–]\s|,?\snamely,?\s|,\sviz\.\s)|(?P<bracket>\s\()")
_BREAK: Final = re.compile(r"[:;()\n.!?]")
_LONGEST_HEAD: Final = 200
_UNCOUNTABLE: Final = re.compile(
    r"\b(?:etc|others?|more|rest|such|each|all|every|both|pair|several|various|many|some|few|any|between|from|including|"
    r"depending|example|instance|as\swell|along\swith|(?-i:plus)|with|without|once|twice|who|which|whose|where|respectively|"
    r"see|e\.g|i\.e|not|no|nor|but|however|only|either|neither|none|unknown|none|first|second|last|to|half|until|"
    rf"{'|'.join(NUMBERS)}|dozen|couple|twins?|(?:the|his|her|their|its|our)\s(?:family|team))\b|…|\.\.\.|\?|[\"“”]|\bs\)|\d\s?[-–]\s?\d|\b\d+\s[a-z]|[/=%$€£]|[-–]$|http",
    re.IGNORECASE,
)
"""Words that make a list in running text uncountable."""
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|will|can|could|would|should|must|may|do|does|did|you|we|it|they|he|she|i|this|"
    r"that|there|if|when|because|so|then)\b|n[’']t\b",
    re.IGNORECASE,
)
_POSSESSIVE: Final = re.compile(r"\b(?:his|her|their|its|our|my|your)\b", re.IGNORECASE)
_SPLIT: Final = re.compile(r",\s*(?:and|or)\s+|,\s*|\s+(?:and|or|&)\s+")
_OXFORD: Final = re.compile(r",\s*(?:and|or)\s")
_LAST_JOINT: Final = re.compile(r"\s(?:and|or|&)\s")
_NUMBERED_MARK: Final = re.compile(r"(?<!\w)\(?(\d{1,2})\)\s")
_APPOSITION: Final = re.compile(r"(?:the|a|an|formerly|now|also|about)\s", re.IGNORECASE)
_ORDINAL: Final = re.compile(
    r"[-*•\s]{0,4}(?:\*\*)?(?:the\s)?(?P<word>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|final|last|"
    r"finally|lastly)(?P<ly>ly)?\b(?P<comma>,|:|\s(?:is|was|reason|one|step|condition|way|option|of\sall)\b)?",
    re.IGNORECASE,
)
_RANKS: Final = {
    word: n
    for n, word in enumerate(word_list("first second third fourth fifth sixth seventh eighth ninth tenth"), start=1)
}
_RANKED_WITHIN: Final = re.compile(rf"(?:^|[;,]\s(?:and\s)?)({'|'.join(_RANKS)})(?:ly)?,\s")
_CONTINUATION: Final = re.compile(
    r"[-*•\s]{0,4}(?:also|another|in\saddition|next|then|additionally|moreover|further\w*|besides|and|or|one|alternatively)\b",
    re.IGNORECASE,
)
_ANNOUNCES: Final = re.compile(
    r"\b(?:there\s(?:are|were)|has|have|had|for|in|offers?|gives?|lists?|names?|follow\w*|rests?\son|"
    r"consists?\sof|comprises?|involves?|takes?)\b",
    re.IGNORECASE,
)
_MOST_FOLLOWING: Final = 30
"""Sentences after an announcement that are searched for "first", "second" and so on."""
_MOST_WORDS: Final = 5
_CONFIDENCE: Final = 0.85


def count_findings(text: str, sentences: Sequence[Sentence]) -> list[LogicFinding]:
    """The announced numbers that differ from the number of listed things.

    Args:
        text: the text.
        sentences: the sentences of the text.

    >>> from assay.text.sentences.splitting import split_sentences
    >>> text = "There are three plans: Basic and Plus."
    >>> [found.message for found in count_findings(text, split_sentences(text))]
    ['“three plans” are announced; 2 are listed.']
    """
    findings = [*_markdown_lists(text), *_enumerations(text, sentences), *_ordinals(text, sentences)]
    return list({(finding.span.start, finding.span.end): finding for finding in findings}.values())


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    words: str
    indent: int
    item: re.Match[str] | None


def _lines(text: str) -> list[_Line]:
    lines, offset, fenced = [], 0, False
    for raw in text.split("\n"):
        fenced ^= raw.lstrip().startswith(("```", "~~~"))
        expanded = raw.replace("\t", "    ")
        lines.append(
            _Line(
                offset,
                "" if fenced else raw,
                len(expanded) - len(expanded.lstrip()),
                None if fenced else _ITEM.match(raw),
            )
        )
        offset += len(raw) + 1
    return lines


def _markdown_lists(text: str) -> Iterator[LogicFinding]:
    lines = _lines(text)
    next_line = 0
    for number, line in enumerate(lines):
        announcement = None if number < next_line else _announcement(line)
        if announcement is None:
            continue
        items, next_line = _items(lines, number + 1, line)
        if (
            items
            and len(items) > 1
            and not _matches_announcement(announcement.number, [_item_words(lines[n]) for n in items])
        ):
            last = lines[items[-1]]
            place = Span(start=lines[items[0]].start, end=last.start + len(last.words.rstrip()))
            yield _finding(text, announcement, len(items), place)


def _announcement(line: _Line) -> Announcement | None:
    """The number of things that a line announces for the list below it."""
    if not line.words.rstrip(" *_").endswith(":") or line.words.lstrip().startswith(("#", "|", ">")):
        return None
    intro = _INTRO.fullmatch(line.words.rstrip())
    if intro is None or (line.item is not None and line.indent > 0) or not may_announce(line.words):
        return None
    words = intro.group("words")
    cut = max((m.end() for m in _LAST_SENTENCE.finditer(words)), default=0)
    return find_announcement(words[cut:], line.start + intro.start("words") + cut)


def _items(lines: Sequence[_Line], index: int, intro: _Line) -> tuple[list[int] | None, int]:
    """The lines on which the items of a list begin, and the line after the list; none where they are not clear."""
    while index < len(lines) and not lines[index].words.strip():
        index += 1
    if (
        index >= len(lines)
        or lines[index].item is None
        or (intro.item is not None and lines[index].indent <= intro.indent)
    ):
        return None, index
    first = lines[index]
    items: list[int] = []
    blank = False
    while index < len(lines):
        line = lines[index]
        if not line.words.strip():
            blank = True
        elif line.item is not None and abs(line.indent - first.indent) <= 1:
            if _kind(line) != _kind(first):
                return None, index
            items.append(index)
            blank = False
        elif line.indent <= first.indent and (blank or line.item is not None or not line.words.lstrip()[:1].islower()):
            break
        index += 1
    if _continues(lines, index, first):
        return None, index
    return items, index


def _kind(line: _Line) -> str:
    item = line.item
    if item is None:
        return ""
    return "number" if item.group("number") else "letter" if item.group("letter") else "mark"


def _continues(lines: Sequence[_Line], index: int, first: _Line) -> bool:
    """Whether the list may continue after an interruption."""
    for line in lines[index : index + 12]:
        if _HEADING.match(line.words) and not line.words.lstrip().startswith(("`", "|")):
            return False
        if line.words.rstrip(" *_").endswith(":") and line.item is None:
            return False
        if line.item is not None:
            number = line.item.group("number")
            return _kind(line) == _kind(first) and (number is None or int(number) > 1)
    return False


def _item_words(line: _Line) -> str:
    return line.words[line.item.end() :] if line.item is not None else line.words


def _matches_announcement(number: int, items: Sequence[str]) -> bool:
    """Whether there are as many items as announced in some reading."""
    if len(items) == number:
        return True
    if any(_NOT_AN_ITEM.match(item) or len(item) > _LONGEST_ITEM for item in items) or items[-1].rstrip().endswith(
        ("…", "...")
    ):
        return True
    return len(items) < number and any(_TWO_IN_ONE.search(_beginning(item)) for item in items)


def _beginning(item: str) -> str:
    """The beginning of an item: its bold words or those before a colon; the whole of a short item."""
    stripped = item.removeprefix("**")
    end = _LEAD_END.search(stripped)
    if end is not None:
        return stripped[: end.start()]
    return stripped if len(stripped.split()) <= _SHORT_ITEM else ""


def _enumerations(text: str, sentences: Sequence[Sentence]) -> Iterator[LogicFinding]:
    for sentence in sentences:
        if sentence.block in {"code", "table_row", "heading"} or sentence.end - sentence.start > 1000:
            continue
        words = text[sentence.start : sentence.end]
        if not may_announce(words):
            continue
        for match in _ENUMERATION.finditer(words):
            start = max(0, match.start() - _LONGEST_HEAD)
            start = max((m.end() for m in _BREAK.finditer(words, start, match.start())), default=start)
            announcement = find_announcement(words[start : match.start()], sentence.start + start)
            if announcement is not None:
                yield from _check_enumeration(text, sentence, match, announcement)


def _check_enumeration(
    text: str, sentence: Sentence, match: re.Match[str], announcement: Announcement
) -> Iterator[LogicFinding]:
    start = sentence.start + match.end()
    rest = text[start : sentence.end]
    if match.group("colon") is None and announcement.end != sentence.start + match.start():
        return  # "three plans (A and B)": the bracket is at the number
    if match.group("bracket"):
        closed = rest.find(")")
        if rest[closed + 1 : closed + 2] == ":":
            return  # "four systems (networks and language models):" only describes them
        rest = rest[:closed] if closed >= 0 else ""
    elif match.group("dash") and match.group("dash").strip() in {"—", "–"}:
        rest = re.split(r"\s[—–]\s", rest, maxsplit=1)[0]
    elif text[sentence.end : sentence.end + 1] == "\n" and rest.rstrip()[-1:] not in ".!":
        return  # a line without a full stop may continue on the next
    rest = rest.rstrip(" .!*_")
    least, most = _count_range(rest, announcement)
    if least and not least <= announcement.number <= most:
        place = Span(start=start, end=start + len(rest))
        yield _finding(text, announcement, least if announcement.number < least else most, place)


def _count_range(rest: str, announcement: Announcement) -> tuple[int, int]:
    """The least and the greatest number of things that a text lists; zeros where they cannot be counted."""
    marks = [int(number) for number in _NUMBERED_MARK.findall(rest)]
    if marks:
        return (len(marks), len(marks)) if marks == list(range(1, len(marks) + 1)) and len(marks) > 1 else (0, 0)
    ranked = [_RANKS[word] for word in _RANKED_WITHIN.findall(rest.lower())]
    if len(ranked) > 1:
        return (len(ranked), len(ranked)) if ranked == list(range(1, len(ranked) + 1)) else (0, 0)
    if _UNCOUNTABLE.search(rest) is not None:
        return 0, 0
    flat = re.sub(r"\s?\([^()]*\)", "", rest)
    if "(" in flat or ")" in flat or "et al" in flat:
        return 0, 0
    if ";" in flat:
        parts = [part for part in flat.split(";") if part.strip()]
        return (len(parts), len(parts)) if all("," not in part and ":" not in part for part in parts) else (0, 0)
    if ":" in flat or _VERB.search(flat) is not None:
        return 0, 0
    parts = [part for part in _SPLIT.split(flat) if part.strip()]
    if len(parts) < 2 or any(len(part.split()) > _MOST_WORDS for part in parts):
        return 0, 0
    if len(parts) < announcement.number:
        if not announcement.listed and (
            _POSSESSIVE.search(flat) or any(part.islower() and part.endswith("s") for part in parts)
        ):
            return 0, 0  # "three guests: Ann and her sons"
        return (len(parts), len(parts)) if _LAST_JOINT.search(flat) else (0, 0)
    return _least_count(flat, parts, announcement), len(parts)


def _least_count(flat: str, parts: Sequence[str], announcement: Announcement) -> int:
    """The fewest things that the parts may be: "and" may join two words for one thing, and a comma may be an
    apposition."""
    if announcement.number * 2 == len(parts) or any(_APPOSITION.match(part) for part in parts):
        return 1
    joints = len(_LAST_JOINT.findall(flat))
    if joints == 0:
        return 1  # "two cities: Paris, France": no "and" closes the list
    commas = len([part for part in re.split(r",\s*(?:and\s|or\s)?", flat) if part.strip()])
    return commas if _OXFORD.search(flat) is not None else commas + 1 if joints == 1 else commas


def _ordinals(text: str, sentences: Sequence[Sentence]) -> Iterator[LogicFinding]:
    """Check "There are four reasons. First, ... Second, ... Third, ..."."""
    for number, sentence in enumerate(sentences[:-1]):
        if sentence.block not in {"prose", "quote"} or _opens_list(text, sentences[number + 1]) is None:
            continue
        words = text[sentence.start : sentence.end]
        if len(words) > 300 or not may_announce(words) or _ANNOUNCES.search(words) is None:
            continue
        announcement = find_announcement(words.rstrip(" .:"), sentence.start)
        if announcement is None or not announcement.listed:
            continue
        listed, place = _highest_rank(text, sentences[number + 1 : number + 1 + _MOST_FOLLOWING], announcement.number)
        if listed > 1 and listed != announcement.number and place is not None:
            yield _finding(text, announcement, listed, place)


def _opens_list(text: str, sentence: Sentence) -> re.Match[str] | None:
    match = _ORDINAL.match(text, sentence.start, sentence.end)
    if match is None or match.group("word").lower() != "first" or not (match.group("ly") or match.group("comma")):
        return None
    return match


def _highest_rank(text: str, sentences: Sequence[Sentence], expected: int) -> tuple[int, Span | None]:
    """The highest rank of "first, second, third" and its range; 0 where the list may have unmarked items."""
    reached, start, end, has_continuation = 0, sentences[0].start, sentences[0].end, False
    for sentence in sentences:
        if sentence.block == "heading":
            break
        match = _ORDINAL.match(text, sentence.start, sentence.end)
        word = match.group("word").lower() if match is not None else ""
        if word in {"finally", "lastly", "last", "final"} and reached:
            reached, end = reached + 1, sentence.end
            break
        rank = _RANKS.get(word)
        if rank == reached + 1 and match is not None and (match.group("ly") or match.group("comma")):
            reached, end = rank, sentence.end
        elif rank is not None:
            return 0, None
        elif _CONTINUATION.match(text, sentence.start, sentence.end):
            has_continuation = True
    inside = text[start:end].lower()
    later = any(
        word in inside or re.search(rf"\b{word}", text[end : end + 2000].lower()) for word in _closing_words(reached)
    )
    if reached < expected and (has_continuation or later or len(sentences) >= _MOST_FOLLOWING):
        return 0, None
    return reached, Span(start=start, end=end)


def _closing_words(rank: int) -> list[str]:
    """The next ordinal, and words that end a list."""
    return [word for word, number in _RANKS.items() if number == rank + 1] + ["finally", "lastly", "a final"] * (
        rank > 0
    )


def _finding(text: str, announcement: Announcement, listed: int, place: Span) -> LogicFinding:
    quoted = text[announcement.start : announcement.end]
    message = f"“{quoted}” are announced; {listed} {'is' if listed == 1 else 'are'} listed."
    span = Span(start=announcement.start, end=announcement.end)
    return LogicFinding("logic.count", message, span, (place,), _CONFIDENCE)
