# ruff: noqa: E501 one alternative of a pattern a line
"""The kind of a statement: an inference, an instruction, an uncertain statement, an opinion or a plain fact."""

import re

from assay.schema import ClaimKind
from assay.text.claims.clauses import find_verb
from assay.text.claims.criticality import has_commitment
from assay.text.claims.hedging import STRONG, hedge_score
from assay.text.claims.kinds.talk import PARTIES, SUBJECT_TAGS, has_content_beyond_talk, is_remark
from assay.text.lexicon.tokens import tokenise

_INFERENCE = re.compile(
    r"\b(?:therefore|thus|hence|consequently|as a result|accordingly|it follows|which means|this means|that means|"
    r"meaning that|implies|imply|implying|which suggests|this suggests|indicates that|doubled|tripled|quadrupled|halved|"
    r"in conclusion|can be concluded|we can infer|we can conclude|so that|in total|altogether|combined total|on average|"
    r"\w+ times (?:more|as|larger|higher|the))\b|^so,?\s",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:please |then |next,? |first,? |finally,? |to \w+[^,]{0,60}, |if [^,]{1,100}, |step \d+:? ?)?"
    r"(?:do not|don['’]t|never|always|make sure|click|open|go|enter|press|type|fill|use|add|remove|delete|install|run|set|"
    r"turn|create|download|upload|save|restart|check|verify|contact|call|email|ask|visit|log|sign|submit|send|wait|mix|"
    r"stir|heat|pour|choose|confirm|copy|paste|edit|keep|read|review|select|start|stop|take|update|write|ensure|configure|"
    r"navigate|follow|connect|apply|see|refer|note|repeat|provide|attach|complete|bring|avoid|consider|try|insert|replace)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:i (?:think|believe|feel|guess|suppose|suspect|like|love|prefer|hope|wish|find|recommend|suggest|would (?:say|recommend|suggest))|in my (?:opinion|view)|"
    r"personally|if you ask me)\b",
    re.IGNORECASE,
)


def is_opinion(text: str, reasons: tuple[str, ...]) -> bool:
    """Whether the sentence is pure opinion: marked as one, with nothing critical and no clause about anything else.

    >>> is_opinion("I love this song.", ()), is_opinion("I think the policy covers water damage.", ())
    (True, False)
    """
    match = _OPINION.search(text)
    if match is None or reasons or has_content_beyond_talk(text):
        return False
    tokens = tokenise(text)
    after = [i for i, token in enumerate(tokens) if token.start >= match.end()]
    inner = (tokens[i:] for i in after if tokens[i].tag in SUBJECT_TAGS and tokens[i].low not in PARTIES)
    return not any(find_verb(rest) > 0 and not is_remark(rest) for rest in inner)


def statement_kind(text: str) -> ClaimKind:
    """The kind of a sentence that makes a statement.

    >>> statement_kind("Thus revenue tripled.").value, statement_kind("Click Save.").value
    ('inferential', 'procedural')
    """
    if has_commitment(text):
        return ClaimKind.PROCEDURAL
    if hedge_score(text) >= STRONG:
        return ClaimKind.UNCERTAIN
    if _INFERENCE.search(text):
        return ClaimKind.INFERENTIAL
    imperative = _IMPERATIVE.match(text)
    if imperative is not None and not any(
        t.tag in {"AUX", "V"} for t in tokenise(text[imperative.end() : imperative.end() + 40])[:4]
    ):
        return ClaimKind.PROCEDURAL
    return ClaimKind.FACTUAL
