"""No wrapping makes a statement unreadable: whatever stands around it, a claim is found that holds its words.

The statements are the claims of scenarios that nothing was trained on (train/scenarios).
"""

import json
import random
import re
from pathlib import Path

import pytest

from assay.text.claims.rule_extractor import RuleClaimExtractor

SCENARIOS = Path(__file__).parents[2] / "train" / "scenarios"
WRAPPERS = (
    "{S}",
    "I am glad that {s}",
    "I'm happy to tell you that {s}",
    "I’m pleased to inform you that {s}",
    "Thank you for letting me know that {s}",
    "Thanks for confirming that {s}",
    "Did you know that {s0}?",
    "Isn't it great that {s0}?",
    "Are you aware that {s0}?",
    "{S0}, right?",
    "{S0}?",
    "I hope {s}",
    "I hope that {s}",
    "I think {s}",
    "I believe that {s}",
    "In my opinion, {s}",
    "Personally, I feel that {s}",
    "Sure! {S}",
    "Certainly, {s}",
    "Hello, {s}",
    "Hi there! {S}",
    "Good question: {s}",
    "Great question! {S}",
    "Let me know if you need more, since {s}",
    "Feel free to ask, as {s}",
    "Please note that {s}",
    "Please don't hesitate to ask about the fact that {s}",
    "I don't know, but {s}",
    "I cannot confirm it, {s}",
    "I'm sorry, but {s}",
    "Sorry, {s}",
    "The documents do not say so, but {s}",
    "The documents do not mention that {s}",
    "There is no information about fees; {s}",
    "Unfortunately, the passages do not say when {s}",
    "I could not find details, however {s}",
    "Here is what I found: {s}",
    "Here's the answer: {S}",
    "In summary, {s}",
    "As an AI, I can say that {s}",
    "As an AI language model I don't have opinions, yet {s}",
    "Congratulations, {s}",
    "Congratulations on the news that {s}",
    "That's great, {s}",
    "It is interesting that {s}",
    "It's worth noting that {s}",
    "I understand that {s}",
    "I see that {s}",
    "You may already know that {s}",
    "As you know, {s}",
    "Would you like to know that {s0}?",
    "Why is it that {s0}?",
    "How come {s0}?",
    "Can I help you with the fact that {s0}?",
    "May I remind you that {s0}?",
    "Is it true that {s0}?",
    "Note: {s}",
    "Answer: {s}",
    "# {S0}",
    "## {S}",
    "**{S}**",
    "*{S}*",
    "> {S}",
    "- {S}",
    "1. {S}",
    "`{S}`",
    "```\n{S}\n```",
    "| {S0} |",
    "| {S0} | yes |",
    "<!-- {S} -->",
    "<p>{S}</p>",
    "<unknown>{S}</unknown>",
    '<img alt="{S}">',
    "![{S}](x.png)",
    "[{S}](http://x.com)",
    '"{S}"',
    "“{S}”",
    "({S})",
    "[{S}]",
    '{{"note": "{S}"}}',
    'note = "{S}"',
    "{S} :)",
    "{S} [1]",
    "{S}!!!",
    "{S}…",
    "{S0} -",
    "Q: What is it? A: {s}",
    "User: {s}",
    "Best regards, {s}",
    "P.S. {S}",
    "Dear all, {s}",
    "Have a great day, {s}",
    "Welcome back! {S}",
    "I'd be happy to help: {s}",
    "I am delighted {s}",
    "We are proud to say {s}",
    "Trust me, {s}",
    "Honestly, {s}",
    "Believe it or not, {s}",
    "{s0}: see below",
    "{s0}, as you asked",
    "This means {s}",
    "Remember: {s}",
    "Feel free to share with your colleagues that {s}",
    "If you have questions about why {s0}, let me know.",
    "Let me know whether you knew that {s}",
    "Thanks for asking how {s}",
    "I'm sorry to hear that {s}",
    "You're welcome, and {s}",
    "I would like to add that {s}",
    "Let me explain why {s}",
    "```mermaid\ngraph TD; A[{S0}] --> B\n```",
    "$${S0}$$",
    "\\text{{{S0}}}",
    "<details><summary>{S}</summary></details>",
)
"""S is the sentence, s its text without a capital at its head; S0 and s0 are without the mark at the end."""
SAMPLE = 40
_WORD = re.compile(r"\w+")


def statements() -> list[str]:
    found = []
    for batch in ("d", "e"):
        for line in (SCENARIOS / f"{batch}.jsonl").read_text(encoding="utf-8").splitlines():
            found += [claim["text"] for claim in json.loads(line)["claims"] if len(claim["text"].split()) >= 5]
    return random.Random(6).sample(found, SAMPLE)


def wrapped(wrapper: str, statement: str) -> str:
    lower = statement if statement[:2].isupper() else statement[0].lower() + statement[1:]
    return wrapper.format(S=statement, S0=statement.rstrip(".!?"), s=lower, s0=lower.rstrip(".!?"))


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_statement_in_a_wrapping_is_a_claim(wrapper: str) -> None:
    extractor = RuleClaimExtractor()
    for statement in statements():
        words = set(_WORD.findall(statement.lower()))
        claims = [claim for claim in extractor.extract(wrapped(wrapper, statement)) if claim.checkable]
        said = {word for claim in claims for word in _WORD.findall(claim.text.lower())}
        assert len(words & said) >= 0.6 * len(words), (statement, [claim.text for claim in claims])
