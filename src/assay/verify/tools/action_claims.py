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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from assay.schema import Issue, Span
from assay.schema.run import ToolCall, ToolDeclaration, ToolResult
from assay.text.lexicon import word_set
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
    r"\b(?:if|unless|once|when|whenever|after|until|before|would|could|should|might|may(?!\s+\d)|can|will|not|never|unable|cannot"
    r"|nothing|want|like me to|please|assuming|whether|previously|last (?:week|month|year)|yesterday|ago|originally"
    r"|earlier)\b|n['’]t\b|\?\s*$",
    re.IGNORECASE,
)


def call_outcomes(
    calls: Sequence[ToolCall], results: Sequence[ToolResult], declarations: Sequence[ToolDeclaration] = ()
) -> tuple[CallOutcome, ...]:
    """The calls of a run with their outcomes; a result without an id belongs to the next call without one."""
    descriptions = {declaration.name: declaration.description or "" for declaration in declarations}
    by_id = {result.call_id: result for result in results if result.call_id is not None}
    without_id = iter([result for result in results if result.call_id is None])
    outcomes = []
    for call in calls:
        result = by_id.get(call.id) if call.id is not None else next(without_id, None)
        failure = failure_of(result) if result is not None else None
        words = failure.words if failure else None
        outcomes.append(CallOutcome(call.name, descriptions.get(call.name, ""), words, result is not None))
    return tuple(outcomes)


def claimed_actions(answer: str, outcomes: Sequence[CallOutcome]) -> tuple[ClaimedAction, ...]:
    """The actions that an answer claims, each checked against the calls of the run.

    >>> [found] = claimed_actions("I have sent the e-mail to Ann.", ())
    >>> found.status.value, found.grade.value, found.verb
    ('absent', 'high', 'sent')
    """
    actions = []
    for start, end, verb, active in _claims(answer[:MOST_ANSWER]):
        actions.append(_check_claim(answer, start, end, verb.lower(), active, outcomes))
    return tuple(actions)


def _claims(answer: str) -> Iterator[tuple[int, int, str, bool]]:
    """The claims of a finished action: start and end of the sentence, verb, and whether the speaker is its subject."""
    for sentence in _SENTENCE.finditer(answer):
        text = sentence.group()
        if len(text) > 2_000:
            text = text[:2_000]
        if text.rstrip().endswith("?"):
            continue
        start = sentence.start() + len(text) - len(text.lstrip())
        seen: set[str] = set()
        for match in sorted((*_ACTIVE.finditer(text), *_PASSIVE.finditer(text)), key=lambda m: m.start()):
            active = match.re is _ACTIVE
            verb = match.groupdict().get("verb") or match.groupdict().get("bare") or ""
            if verb.lower() in seen or _NOT_DONE.search(text[: match.end()]):
                continue
            if not active and (
                _OTHER_SUBJECT.search(text, 0, match.start()) or (match["event"] and not _ADDRESSES_USER.search(text))
            ):
                continue
            seen.add(verb.lower())
            yield start, sentence.start() + len(text.rstrip()), verb, active


def _check_claim(
    answer: str, start: int, end: int, verb: str, active: bool, outcomes: Sequence[CallOutcome]
) -> ClaimedAction:
    families = [tool_words for verbs, tool_words in _VERB_FAMILIES if verb in verbs]
    general = any(not family for family in families)
    tool_words = frozenset().union(*families)
    changing = [outcome for outcome in outcomes if not reads_only(outcome.name)]
    matching = changing if general else [outcome for outcome in changing if _matches(outcome, tool_words, verb)]
    tools = tuple(dict.fromkeys(outcome.name for outcome in matching))
    text = answer[start:end]

    def claim(status: ActionStatus, grade: Grade, reason: str) -> ClaimedAction:
        return ClaimedAction(start, end, text, verb, status, grade, tools, reason)

    quoted = as_quote(text, 120)
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
    return claim(ActionStatus.ABSENT, Grade.HIGH if active and not general else Grade.MEDIUM, reason)


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
