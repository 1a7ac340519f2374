"""What an answer claims to have done, checked against the calls of the run.

"I have sent the e-mail" is a claim about the run itself: no passage can support it, only a call that sent something
and did not fail. A claimed action is

    done        a call of a fitting tool succeeded
    failed      fitting tools were called and every such call failed: a failure reported as success
    absent      no fitting tool was called
    unknown     a fitting call has no result in the run, or tools that cannot be told apart were called

Fitting is decided by families of verbs ("sent" fits tools whose name or description sends, mails, posts or notifies)
and graded: `high` where the sentence states a finished action of the speaker and the run changed nothing at all, or a
fitting call failed; `medium` where the verb is general ("processed") or the sentence is passive; `low` where some call
did change something, and only no word of it fits. Only `high` and `medium` are meant to hold an answer back.
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
"""Characters of an answer that are read; a longer one is reported as unchecked beyond them."""


class ActionStanding(StrEnum):
    """How a claimed action stands to the run."""

    DONE = "done"
    FAILED = "failed"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Grade(StrEnum):
    """How sure a finding is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class ClaimedAction:
    """An action that the answer says was done."""

    start: int
    end: int
    text: str
    """The words of the claim: `answer[start:end]`."""
    verb: str
    """The verb as written, in lower case."""
    standing: ActionStanding
    grade: Grade
    tools: tuple[str, ...] = ()
    """The called tools that fit it."""
    why: str = ""

    def issue(self) -> Issue | None:
        """The finding for the report; none where the action was done."""
        if self.standing is ActionStanding.DONE:
            return None
        return Issue(code=f"action.{self.standing.value}", message=self.why, span=Span(start=self.start, end=self.end))


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """A call that was made, and whether it failed."""

    name: str
    description: str
    failed: str | None
    """What the result says of the failure; none where it did not fail."""
    answered: bool
    """Whether the run has a result for it."""


_FAMILIES: Final = tuple(
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
"""Verbs of claims, and the words of tools that do such things; no words where any change would do."""

_READERS: Final = word_set(
    """get list search find read fetch lookup look query show view check calculate compute think reason ls cat grep
    retrieve describe count inspect browse head tail pwd which whoami status info details"""
)
"""Words of tools that change nothing."""

_VERBS: Final = "|".join(sorted({re.escape(verb) for verbs, _ in _FAMILIES for verb in verbs}, key=len, reverse=True))
_ADVERBS: Final = r"(?:(?:just|already|now|also|successfully|since|gone ahead and)\s+){0,3}"
_SPEAKER: Final = re.compile(
    rf"\b(?:I|we)(?:\s+(?:have|had)|['’](?:ve|d))?\s+{_ADVERBS}(?P<verb>{_VERBS})\b"
    rf"|(?:^|[.!?:]\s+)(?:done[,!.:]?\s+)?(?:successfully\s+)(?P<bare>{_VERBS})\b",
    re.IGNORECASE | re.MULTILINE,
)
_EVENTS: Final = (
    "sent|emailed|mailed|refunded|reimbursed|credited|cancelled|canceled|booked|reserved|deleted|removed|upgraded"
)
"""What is told as done even without "now": "your refund was sent", "room 5 is booked for you"."""
_PASSIVE: Final = re.compile(
    rf"(?<=[\w*)\]'\"’”,_])\s+(?:(?:has|have)\s+(?:now\s+|also\s+)?been\s+{_ADVERBS}"
    rf"|(?:was|were)\s+(?:just|now|successfully|also\s+successfully)\s+|(?:is|are)\s+now\s+"
    rf"|(?P<event>is|are|was|were)\s+(?=(?:{_EVENTS})\b(?!\s+(?:on|in|by|at|since|from|under|before|after|with|as|"
    rf"through|via)\b)))"
    rf"(?P<verb>{_VERBS})\b(?!\s+by\s+(?:the|your|an?|another)\s)",
    re.IGNORECASE,
)
"""Passives that mention now. "It was booked on 1 May" tells what a record says, not what the agent did, and what was
done "by the airline" somebody else did."""
_YOURS: Final = re.compile(r"\byou(?:rs?)?\b", re.IGNORECASE)
"""Without "now", only what is told to a user of the user's own is told as done."""
_OTHERS: Final = re.compile(r"\b(?:you|he|she|they|who|which|that)[\s*_]*$", re.IGNORECASE)
"""Subjects of a passive that the agent does nothing to, or that belong to a clause about something else."""

_STOP: Final = r"[.!?]+[\"'”’)\]*_]*(?=\s|$)"
"""The end of a sentence, with the quotation or the emphasis that ends with it."""
_SENTENCE: Final = re.compile(rf"(?:(?!{_STOP})[^\n])+(?:{_STOP}|\n|$)|[^\n]+")
_UNREAL: Final = re.compile(
    r"\b(?:if|unless|once|when|whenever|after|until|before|would|could|should|might|may(?!\s+\d)|can|will|not|never|unable|cannot"
    r"|nothing|want|like me to|please|assuming|whether|previously|last (?:week|month|year)|yesterday|ago|originally"
    r"|earlier)\b|n['’]t\b|\?\s*$",
    re.IGNORECASE,
)


def call_outcomes(
    calls: Sequence[ToolCall], results: Sequence[ToolResult], declarations: Sequence[ToolDeclaration] = ()
) -> tuple[CallOutcome, ...]:
    """The calls of a run with what became of each; a result without an id belongs to the next call without one."""
    said = {declaration.name: declaration.description or "" for declaration in declarations}
    by_id = {result.call_id: result for result in results if result.call_id is not None}
    rest = iter([result for result in results if result.call_id is None])
    made = []
    for call in calls:
        result = by_id.get(call.id) if call.id is not None else next(rest, None)
        failed = failure_of(result) if result is not None else None
        words = failed.words if failed else None
        made.append(CallOutcome(call.name, said.get(call.name, ""), words, result is not None))
    return tuple(made)


def claimed_actions(answer: str, outcomes: Sequence[CallOutcome]) -> tuple[ClaimedAction, ...]:
    """The actions that an answer says were done, each checked against the calls that were made.

    >>> [found] = claimed_actions("I have sent the e-mail to Ann.", ())
    >>> found.standing.value, found.grade.value, found.verb
    ('absent', 'high', 'sent')
    """
    found = []
    for start, end, verb, active in _claims(answer[:MOST_ANSWER]):
        found.append(_judged(answer, start, end, verb.lower(), active, outcomes))
    return tuple(found)


def _claims(answer: str) -> Iterator[tuple[int, int, str, bool]]:
    """Sentences that state a finished action: place, verb, and whether the speaker is its subject."""
    for sentence in _SENTENCE.finditer(answer):
        text = sentence.group()
        if len(text) > 2_000:
            text = text[:2_000]
        if text.rstrip().endswith("?"):
            continue
        start = sentence.start() + len(text) - len(text.lstrip())
        seen: set[str] = set()
        for match in sorted((*_SPEAKER.finditer(text), *_PASSIVE.finditer(text)), key=lambda m: m.start()):
            active = match.re is _SPEAKER
            verb = match.groupdict().get("verb") or match.groupdict().get("bare") or ""
            if verb.lower() in seen or _UNREAL.search(text[: match.end()]):
                continue
            if not active and (_OTHERS.search(text, 0, match.start()) or (match["event"] and not _YOURS.search(text))):
                continue
            seen.add(verb.lower())
            yield start, sentence.start() + len(text.rstrip()), verb, active


def _judged(
    answer: str, start: int, end: int, verb: str, active: bool, outcomes: Sequence[CallOutcome]
) -> ClaimedAction:
    words = [tools for verbs, tools in _FAMILIES if verb in verbs]
    general = any(not tools for tools in words)
    wanted = frozenset().union(*words)
    changing = [outcome for outcome in outcomes if not reads_only(outcome.name)]
    fitting = changing if general else [outcome for outcome in changing if _fits(outcome, wanted, verb)]
    named = tuple(dict.fromkeys(outcome.name for outcome in fitting))
    text = answer[start:end]

    def made(standing: ActionStanding, grade: Grade, why: str) -> ClaimedAction:
        return ClaimedAction(start, end, text, verb, standing, grade, named, why)

    quoted = as_quote(text, 120)
    if any(outcome.answered and outcome.failed is None for outcome in fitting):
        return made(ActionStanding.DONE, Grade.HIGH, "a fitting call succeeded")
    if any(not outcome.answered for outcome in fitting):
        why = f"The answer says {quoted}, but the run has no result of {as_quote(named[0])}."
        return made(ActionStanding.UNKNOWN, Grade.MEDIUM, why)
    if fitting:
        said = as_quote(fitting[-1].failed, 120)
        why = f"The answer says {quoted}, but every call of {', '.join(map(as_quote, named))} failed: {said}."
        return made(ActionStanding.FAILED, Grade.HIGH if not general else Grade.MEDIUM, why)
    why = f"The answer says {quoted}, but the run has no call that did it."
    if any(outcome.failed is None for outcome in changing):
        return made(ActionStanding.ABSENT, Grade.LOW, why)
    return made(ActionStanding.ABSENT, Grade.HIGH if active and not general else Grade.MEDIUM, why)


def reads_only(name: str) -> bool:
    """Whether a tool changes nothing, as far as its name tells.

    >>> reads_only("get_order"), reads_only("orders.cancel_order")
    (True, False)
    """
    words = name_words(name.rpartition(".")[2] or name)
    return bool(words) and words[0] in _READERS


def _fits(outcome: CallOutcome, wanted: frozenset[str], verb: str) -> bool:
    if wanted & set(name_words(outcome.name)):
        return True
    opening = re.findall(r"[a-z]+", outcome.description.lower()[:200])
    stems = wanted | {verb}
    return any(word in stems or word.removesuffix("s") in stems for word in opening[:12])
