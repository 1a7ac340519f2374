# ruff: noqa: E501 one alternative of a pattern a line
"""Tells questions from statements that end in a question mark."""

import re

from assay.text.claims.clauses import stands_alone
from assay.text.claims.kinds.talk import LONGEST_COURTESY, PARTIES, SUBJECT_TAGS
from assay.text.lexicon.tokens import tokenise

_QUESTION = re.compile(
    r"(?!did you know\b)(?:and |but |so |or )?(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|would|"
    r"will|shall|should|may|might|has|have|had|am|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|any|anything|need|want)\b",
    re.IGNORECASE,
)

_ASKING_WORDS = re.compile(
    r"[¿吗嗎呢么麼什哪谁誰几幾怎]|为何|為何|如何|是否|多少|か[？?]|까[？?]|니[？?]|나요|"
    r"\b(?:кто|что|где|когда|почему|зачем|как|какой|какая|какие|ли|сколько)\b|est-ce\b|(?:^|\s)(?:هل|ما|من|متى|أين|كيف|لماذا)\s|"
    r"^(?:wer|wen|wem|was|wann|wo|wie|warum|weshalb|welche[rsmn]?|haben|hast|hat|ist|sind|kann|können|kannst|möchten|möchtest|soll|sollen|darf|wollen|gibt|"
    r"qui|que|quel|quelle|quels|quelles|quand|où|comment|pourquoi|combien|est-ce|avez|voulez|souhaitez|puis-je|pouvez|"
    r"qué|quién|cuándo|dónde|cómo|cuánto|cuántos|cuál|necesita|necesitas|quiere|quieres|puedo|desea|"
    r"chi|che|cosa|quando|dove|come|perché|quanto|quanti|quale|quali|vuole|vuoi|posso|desidera|"
    r"quem|quê|onde|porque|quantos|qual|quais|deseja|quer|precisa)\b",
    re.IGNORECASE,
)
"""Question words of other languages; without one of them, a sentence with a question mark is a statement."""

_QUESTION_LEAD_IN = re.compile(
    r"(?:(?:in order )?to \w+|before (?:i|we) \w+|so (?:that )?(?:i|we) can \w+|for (?:that|this)|first|just to be sure|if (?:you (?:like|wish|want)|so)|"
    r"(?:sure|okay|ok|certainly|of course|great|thanks|thank you|hello|hi|sorry|understood|alright)\b)[^,.;:?!]{0,80}[,!—–-]\s+",
    re.IGNORECASE,
)
"""What may precede a question: its purpose or a courtesy."""


def is_question(text: str) -> bool:
    """Whether the sentence is a question; a statement that ends in a question mark is not.

    >>> is_question("Is it 5?"), is_question("Partners get 9 weeks?"), is_question("Partners’ leave is 9 weeks?")
    (True, False, False)
    """
    stripped = text.rstrip(" \"'”’)*_")
    if not stripped.endswith(("?", "？", "؟")):
        return False
    lead_in = _QUESTION_LEAD_IN.match(stripped)
    if lead_in is not None and _QUESTION.match(stripped, lead_in.end()) is not None:
        return True
    if _QUESTION.match(stripped) is not None:
        return not _ends_in_statement(stripped)
    return _ASKING_WORDS.search(stripped) is not None


def _ends_in_statement(text: str) -> bool:
    """Whether a clause is followed by a statement: `When he started, Garrity was a foreman?`."""
    tokens = tokenise(text[:LONGEST_COURTESY])
    comma = next((i for i, token in enumerate(tokens) if token.tag == ","), len(tokens))
    rest = [token for token in tokens[comma + 1 :] if token.text != "?"]
    return bool(rest) and rest[0].tag in SUBJECT_TAGS and rest[0].low not in PARTIES and stands_alone(rest)
