"""Checks the actions that an answer claims against the calls of the run.

"I have sent the e-mail" is a claim about the run itself: no passage can support it, only a call that sent something
and did not fail. A claimed action is

    done        a call of a matching tool succeeded
    failed      matching tools were called and every such call failed: a failure reported as success
    absent      no matching tool was called
    unknown     a matching call has no result in the run

A tool matches by families of verbs: "sent" matches tools whose name or description sends, mails, posts or notifies. The
finding has a grade: `high` where the sentence states a finished action of the speaker and the run changed nothing at
all, or a matching call failed; `medium` where the verb is general ("processed") or the sentence is passive; `low` where
some call did change something, but its words do not match. Only `high` and `medium` should block an answer.
`benchmarks/tool_calls.py` counts the findings of each grade on the public airline traces.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from assay.schema import Issue, Span
from assay.schema.run import ToolCall, ToolDeclaration, ToolResult
from assay.text.lexicon import PARTICIPLE, word_set
from assay.verify.tools.failures import failure_of
from assay.verify.tools.quoting import as_quote
from assay.verify.tools.tracing.argument_entities import name_words

MOST_ANSWER: Final = 100_000
"""Characters of an answer that are searched for claimed actions."""


class ActionStatus(StrEnum):
    """What the run shows of a claimed action; see the module's table."""

    DONE = "done"
    FAILED = "failed"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Grade(StrEnum):
    """How certain a finding is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class ClaimedAction:
    """An action that the answer claims was done."""

    start: int
    end: int
    text: str
    """The words of the claim: `answer[start:end]`."""
    verb: str
    """The verb as written, in lower case."""
    status: ActionStatus
    grade: Grade
    tools: tuple[str, ...] = ()
    """The called tools that match it."""
    reason: str = ""
    """The message of the finding."""
    general: bool = False
    """Whether its verb names no act of its own, as "processed" and "completed" do."""
    further: tuple["ClaimedAction", ...] = ()
    """The other actions of the same claim, where a claim states several."""
    beside: tuple[tuple[str, "ClaimedAction"], ...] = ()
    """The claims of its sentence that state actions, this one too, with their first actions; empty for a single one."""

    def issue(self) -> Issue | None:
        """The finding for the report; none where the action was done."""
        if self.status is ActionStatus.DONE:
            return None
        return Issue(code=f"action.{self.status.value}", message=self.reason, span=Span(start=self.start, end=self.end))


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """A call that was made, and whether it failed."""

    name: str
    description: str
    failed: str | None
    """The words of the result that report the failure; none where it did not fail."""
    answered: bool
    """Whether the run has a result for it."""
    result: ToolResult | None = field(default=None, compare=False, repr=False)
    """Its result, as `call_outcomes` paired them."""


_VERB_FAMILIES: Final = tuple(
    (word_set(verbs), word_set(tools))
    for verbs, tools in (
        (
            "sent emailed e-mailed mailed messaged notified texted forwarded replied shared posted published tweeted",
            """send email mail message notify notification sms text forward reply share post publish tweet dm
         certificate""",
        ),
        (
            "booked reserved scheduled arranged",
            "book reserve reservation schedule appointment calendar event arrange create",
        ),
        ("cancelled canceled", "cancel delete remove void refund"),
        (
            "refunded reimbursed credited compensated",
            "refund reimburse credit pay payment cancel return compensate update",
        ),
        ("paid charged transferred wired", "pay payment charge transfer wire send money book update order purchase"),
        (
            "created opened registered added filed submitted saved stored logged recorded uploaded drafted generated",
            """create open register add file submit save store log record upload write insert new post touch mkdir draft
         make put update""",
        ),
        (
            "updated changed modified edited adjusted corrected upgraded downgraded rescheduled set renamed reset",
            "update change modify edit adjust set upgrade reschedule rename reset put patch switch move book write",
        ),
        ("deleted removed erased cleared", "delete remove erase clear drop rm cancel update"),
        ("ordered purchased bought placed", "order purchase buy place checkout create book"),
        ("transferred escalated connected", "transfer escalate handoff human connect ticket"),
        ("issued provided", "issue send certificate create refund voucher credit give grant"),
        ("moved copied", "move copy mv cp rename transfer"),
        (
            "downloaded installed deployed executed ran restarted started stopped",
            "download install deploy execute run restart start stop launch",
        ),
        ("enabled disabled activated deactivated blocked", "enable disable activate deactivate block set update"),
        ("processed completed confirmed finalized finalised applied", ""),
    )
)
"""Verbs of claims, and the words of tools that match them; no words where any tool that changes something matches."""

_READING_WORDS: Final = word_set(
    """get list search find read fetch lookup look query show view check calculate compute think reason ls cat grep
    retrieve describe count inspect browse head tail pwd which whoami status info details"""
)
"""Words of tools that change nothing."""

_VERBS: Final = "|".join(
    sorted({re.escape(verb) for verbs, _ in _VERB_FAMILIES for verb in verbs}, key=len, reverse=True)
)
_ADVERBS: Final = r"(?:(?:just|already|now|also|successfully|since|gone ahead and)\s+){0,3}"
_ACTIVE: Final = re.compile(
    rf"\b(?:I|we)(?:\s+(?:have|had)|['’](?:ve|d))?\s+{_ADVERBS}(?P<verb>{_VERBS})\b"
    rf"|(?:^|[.!?:]\s+)(?:done[,!.:]?\s+)?(?:successfully\s+)(?P<bare>{_VERBS})\b",
    re.IGNORECASE | re.MULTILINE,
)
_OF_SPEAKER: Final = re.compile(
    r"\b(?:I|we)(?:\s+(?:have|had)|['’](?:ve|d))?\s+(?:(?:just|already|now|also|\w{2,20}ly)\s+){0,3}(?P<verb>[a-z]{2,24})\b",
    re.IGNORECASE,
)
"""A subject and a verb that may go on with an action: "I checked the order and cancelled it"."""
_OBJECT: Final = (
    r"\s+(?:(?:your|you|the|an?|it|its|them|this|that|these|those|his|her|their|our|my|me|us|all|both|each|every|any|"
    r"another|one|two|three)\b|[$€£#*_\"“‘(]|\d|(?-i:[A-Z]))"
)
_ADDED: Final = r"(?:(?:and|then|but|also|have|has|been|just|already|now|since|\w{2,20}ly)\s+){0,4}"
_NEXT: Final = re.compile(
    rf"(?:(?P<comma>[,;:(–—])|&|\+|/|\b(?:and|then|plus|but|as\s+well\s+as)\b)\s*(?P<added>{_ADDED})"
    rf"(?P<verb>{_VERBS})\b(?!\s+by\s+(?:the|your|an?|another)\s)"
    rf"(?:(?P<object>(?={_OBJECT}))|(?P<end>(?=\s*(?:$|[.,;:!?)–—])|\s+(?:to|for|on|in|at|via|with|from|by|and|or|as|of|"
    rf"into|through|\w{{2,20}}ly)\b)))?",
    re.IGNORECASE,
)
"""A further verb of the same subject: "and emailed you a copy"."""
_SHORTENED: Final = re.compile(
    rf"[\s,]*(?:(?:\w{{2,20}}ly|today|now|for\s+you|as\s+(?:you\s+)?\w+)[\s,]+){{0,2}}(?:and|but)\s+(?:your|the|an?|its|all)\s+"
    rf"(?:[\w-]{{1,40}}\s+){{1,3}}?(?P<verb>{_VERBS})\b(?=\s*(?:$|[.,;!?)])|\s+(?:to|in\s+full|back|too|as\s+well)\b)",
    re.IGNORECASE,
)
"""A second passive without its auxiliary, right behind the first: "has been cancelled and your payment refunded"."""
_JOINING: Final = re.compile(r"\b(?:and|then|but)\b", re.IGNORECASE)
_LAST_WORD: Final = re.compile(r"(?<!\bas\s)(?<!\bas\syou\s)\b(\w+)[\s,]*$", re.IGNORECASE)
_OTHER_CLAUSE: Final = re.compile(
    r"\b(?:is|are|was|were|be|being|been|am|will|would|can|could|should|might|must|(?-i:may)|if|unless|once|when|"
    r"whenever|until|whether|not|never|neither|nor|unable|cannot|nothing|because|who|whose)\b|n['’]t\b|"
    r"\b(?:which|that)\s+(?:you|I|we|he|she|they|it|the|your|an?|has|have|had|\w+ed)\b|"
    r"(?<!\bas\s)\b(?:you|I|we|he|she|they|it)(?:['’]\w+)?\s+(?:have|had|\w+ed|made|bought|paid|sent|chose|gave|wanted|need)\b",
    re.IGNORECASE,
)
"""Words between two verbs by which the second belongs to another clause, with a subject of its own."""
_EVENT_VERBS: Final = (
    "sent|emailed|mailed|refunded|reimbursed|credited|cancelled|canceled|booked|reserved|deleted|removed|upgraded"
)
"""Verbs that claim an action even without "now": "your refund was sent", "room 5 is booked for you"."""
_PASSIVE: Final = re.compile(
    rf"(?<=[\w*)\]'\"’”,_])\s+(?:(?:has|have)\s+(?:now\s+|also\s+)?been\s+{_ADVERBS}"
    rf"|(?:was|were)\s+(?:just|now|successfully|also\s+successfully)\s+|(?:is|are)\s+now\s+"
    rf"|(?P<event>is|are|was|were)\s+(?=(?:{_EVENT_VERBS})\b(?!\s+(?:on|in|by|at|since|from|under|before|after|with|as|"
    rf"through|via)\b)))"
    rf"(?P<verb>{_VERBS})\b(?!\s+by\s+(?:the|your|an?|another)\s)",
    re.IGNORECASE,
)
"""Passives about the present. "It was booked on 1 May" reports a record, not an action of the agent, and "by the
airline" names another agent."""
_ADDRESSES_USER: Final = re.compile(r"\byou(?:rs?)?\b", re.IGNORECASE)
"""Without "now", a passive claims an action only in a sentence that addresses the user."""
_OTHER_SUBJECT: Final = re.compile(r"\b(?:you|he|she|they|who|which|that)[\s*_]*$", re.IGNORECASE)
"""Subjects of a passive that the agent does not act on, or that begin a clause about something else."""

_STOP: Final = r"[.!?]+[\"'”’)\]*_]*(?=\s|$)"
"""The end of a sentence, with closing quotation and emphasis marks."""
_SENTENCE: Final = re.compile(rf"(?:(?!{_STOP})[^\n])+(?:{_STOP}|\n|$)|[^\n]+")
_NOT_DONE: Final = re.compile(
    r"\b(?:if|unless|once|when|whenever|after|until|before|would|could|should|might|(?-i:may)|can|will|not|never|unable|cannot"
    r"|nothing|want|like me to|please|assuming|whether|previously|last (?:week|month|year)|yesterday|ago|originally"
    r"|earlier)\b|n['’]t\b|\?\s*$",
    re.IGNORECASE,
)


def call_outcomes(
    calls: Sequence[ToolCall], results: Sequence[ToolResult], declarations: Sequence[ToolDeclaration] = ()
) -> tuple[CallOutcome, ...]:
    """The calls of a run with their outcomes.

    Calls that share an id have the results of that id in order; the last of them has what is left over. A result
    without an id belongs to the first call without one that has none yet, of the same tool if the result names it.
    """
    descriptions = {declaration.name: declaration.description or "" for declaration in declarations}
    outcomes = []
    for call, result in zip(calls, _results_of(calls, results), strict=True):
        failure = failure_of(result) if result is not None else None
        words = failure.words if failure else None
        outcomes.append(CallOutcome(call.name, descriptions.get(call.name, ""), words, result is not None, result))
    return tuple(outcomes)


def _results_of(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[ToolResult | None]:
    found: list[ToolResult | None] = [None] * len(calls)
    open_calls: dict[str, deque[int]] = {}
    last: dict[str, int] = {}
    for index, call in enumerate(calls):
        if call.id is not None:
            open_calls.setdefault(call.id, deque()).append(index)
            last[call.id] = index
    for result in results:
        if result.call_id is not None and result.call_id in last:
            waiting = open_calls[result.call_id]
            found[waiting.popleft() if waiting else last[result.call_id]] = result
    _pair_without_ids(calls, results, found)
    return found


def _pair_without_ids(calls: Sequence[ToolCall], results: Sequence[ToolResult], found: list[ToolResult | None]) -> None:
    waiting = deque(index for index, call in enumerate(calls) if call.id is None)
    of_tool: dict[str, deque[int]] = {}
    for index in waiting:
        of_tool.setdefault(calls[index].name, deque()).append(index)
    for result in results:
        if result.call_id is None:
            # a name that no call has is another spelling, and says nothing
            queue = of_tool.get(result.name, waiting) if result.name is not None else waiting
            while queue and found[queue[0]] is not None:
                queue.popleft()
            if queue:
                found[queue.popleft()] = result


def claimed_actions(answer: str, outcomes: Sequence[CallOutcome]) -> tuple[ClaimedAction, ...]:
    """The actions that an answer claims, each checked against the calls of the run, in the order of their verbs.

    >>> [found] = claimed_actions("I have sent the e-mail to Ann.", ())
    >>> found.status.value, found.grade.value, found.verb
    ('absent', 'high', 'sent')
    >>> [found.verb for found in claimed_actions("I have cancelled the order and emailed you a copy.", ())]
    ['cancelled', 'emailed']
    """
    return tuple(_check_claim(answer, claim, outcomes) for claim in _claims(answer[:MOST_ANSWER]))


class _Claim(NamedTuple):
    """The claim of one finished action."""

    start: int
    """Where its sentence starts."""
    end: int
    said: int
    """Where the words about this action start, if it is not the first of its subject; else as `start`."""
    verb: str
    active: bool
    """Whether the speaker is its subject."""


def _claims(answer: str) -> Iterator[_Claim]:
    """The claims of finished actions, in the order of their verbs."""
    for sentence in _SENTENCE.finditer(answer):
        text = sentence.group()
        if len(text) > 2_000:
            text = text[:2_000]
        if text.rstrip().endswith("?"):
            continue
        start = sentence.start() + len(text) - len(text.lstrip())
        end = sentence.start() + len(text.rstrip())
        seen: set[str] = set()
        for verb, place, active in _verbs_of(text):
            if verb not in seen:
                seen.add(verb)
                yield _Claim(start, end, start if place is None else sentence.start() + place, verb, active)


def _verbs_of(text: str) -> Iterator[tuple[str, int | None, bool]]:
    """The verbs of a sentence's finished actions: the verb, its place if another verb has its subject, and whether the
    speaker is the subject."""
    others = (m for m in _OF_SPEAKER.finditer(text) if _is_past(m["verb"]))
    stated = (*_ACTIVE.finditer(text), *_PASSIVE.finditer(text))
    taken = {m.end() for m in stated}
    heads = sorted((*stated, *(m for m in others if m.end() not in taken)), key=lambda m: m.start())
    ends = (*(m.start() for m in heads[1:]), len(text))
    for match, until in zip(heads, ends, strict=False):
        if _NOT_DONE.search(text[: match.end()]):
            continue
        active = match.re is not _PASSIVE
        if not active and (
            _OTHER_SUBJECT.search(text, 0, match.start()) or (match["event"] and not _ADDRESSES_USER.search(text))
        ):
            continue
        if match.re is not _OF_SPEAKER:
            yield (match.groupdict().get("verb") or match.groupdict().get("bare") or "").lower(), None, active
        shortened = None if active else _SHORTENED.match(text, match.end(), until)
        if shortened is not None:
            yield shortened["verb"].lower(), shortened.start("verb"), active
        for verb, place in _further_verbs(text, match.end() if shortened is None else shortened.end(), until):
            yield verb, place, active


def _further_verbs(text: str, at: int, until: int) -> Iterator[tuple[str, int]]:
    """The verbs behind a first one that have its subject, with their places.

    A verb with an object of its own needs a word that begins one, or it may be a part of a name: "and paid parking".
    """
    for match in _NEXT.finditer(text, at, until):
        between = text[at : match.start()]
        if _OTHER_CLAUSE.search(between):
            return
        last = _LAST_WORD.search(between)
        if last is not None and _is_past(last[1]):
            continue  # "the booked and confirmed dates": the word before is no verb of the subject either
        joined = match["comma"] is None or _JOINING.search(match["added"]) is not None
        if match["object"] is not None or (joined and (match["end"] is not None or not between.strip(" ,"))):
            yield match["verb"].lower(), match.start("verb")
            at = match.end("verb")


def _is_past(word: str) -> bool:
    low = word.lower()
    return low in PARTICIPLE or (len(low) > 4 and low.endswith("ed"))


def _check_claim(answer: str, said: _Claim, outcomes: Sequence[CallOutcome]) -> ClaimedAction:
    families = [tool_words for verbs, tool_words in _VERB_FAMILIES if said.verb in verbs]
    general = any(not family for family in families)
    tool_words = frozenset().union(*families)
    changing = [outcome for outcome in outcomes if not reads_only(outcome.name)]
    matching = changing if general else [outcome for outcome in changing if _matches(outcome, tool_words, said.verb)]
    tools = tuple(dict.fromkeys(outcome.name for outcome in matching))
    text = answer[said.start : said.end]

    def claim(status: ActionStatus, grade: Grade, reason: str) -> ClaimedAction:
        return ClaimedAction(said.start, said.end, text, said.verb, status, grade, tools, reason, general)

    quoted = as_quote(answer[said.said : said.end], 120)
    if any(outcome.answered and outcome.failed is None for outcome in matching):
        return claim(ActionStatus.DONE, Grade.HIGH, "a fitting call succeeded")
    if any(not outcome.answered for outcome in matching):
        reason = f"The answer says {quoted}, but the run has no result of {as_quote(tools[0])}."
        return claim(ActionStatus.UNKNOWN, Grade.MEDIUM, reason)
    if matching:
        failure = as_quote(matching[-1].failed, 120)
        reason = f"The answer says {quoted}, but every call of {', '.join(map(as_quote, tools))} failed: {failure}."
        return claim(ActionStatus.FAILED, Grade.HIGH if not general else Grade.MEDIUM, reason)
    reason = f"The answer says {quoted}, but the run has no call that did it."
    if any(outcome.failed is None for outcome in changing):
        return claim(ActionStatus.ABSENT, Grade.LOW, reason)
    return claim(ActionStatus.ABSENT, Grade.HIGH if said.active and not general else Grade.MEDIUM, reason)


def reads_only(name: str) -> bool:
    """Whether a tool only reads, judged by its name.

    >>> reads_only("get_order"), reads_only("orders.cancel_order")
    (True, False)
    """
    words = name_words(name.rpartition(".")[2] or name)
    return bool(words) and words[0] in _READING_WORDS


def _matches(outcome: CallOutcome, tool_words: frozenset[str], verb: str) -> bool:
    if tool_words & set(name_words(outcome.name)):
        return True
    description_words = re.findall(r"[a-z]+", outcome.description.lower()[:200])
    stems = tool_words | {verb}
    return any(word in stems or word.removesuffix("s") in stems for word in description_words[:12])
