"""What a block of code says: its comments, its labels, and the names that its documentation has to have."""

import re

from assay.schema import ClaimKind
from assay.text.claims.clauses import (
    find_verb,
)
from assay.text.claims.kinds.statements import statement_kind
from assay.text.claims.readers.found import Found
from assay.text.lexicon.tokens import tokenise
from assay.text.sentences.code_block_data import code_data, is_diagram
from assay.text.sentences.code_identifiers import code_names
from assay.text.sentences.splitting import Sentence

_SAID_IN_CODE = re.compile(
    r"""(?P<mark>["'`|])(?P<quoted>(?:(?!(?P=mark))[^\n]){6,300})(?P=mark)"""
    r"""|[\[({>](?P<held>[^\[\](){}<>\n]{6,300})[\])}<]"""
    r"""|(?:\#|//|--|/\*|<!--)[ \t]*(?P<comment>[^\n]{6,300}?)[ \t]*(?:\*/|-->|$)""",
    re.VERBOSE,
)
"""What may be prose in code: strings, labels and comments."""
_LINE = re.compile(r"[^\n]+")
_PLAIN_LINE = re.compile(r"\s*(?P<line>\w[\w\s,.;:'’%$€£°\-–]{5,300}[.!?]?)")


def read_code(raw: str, sentence: Sentence) -> list[Found]:
    """What code says: its sentences, and the names that its documentation has to have, each as a claim.

    A comment, a label of a diagram or a text to be shown says something to whoever reads it, and an endpoint or a flag
    says that there is one. The rest of the code makes no claim.
    """
    out = [Found(raw, sentence.start, sentence.end, ClaimKind.PROCEDURAL, checkable=False)]
    drawn = is_diagram(raw)  # its labels are read below, each line as it is read
    for line in _LINE.finditer(raw):
        if drawn:
            break
        plain = _PLAIN_LINE.fullmatch(line.group())
        for match in [plain] if plain is not None else _SAID_IN_CODE.finditer(line.group()):
            name = match.lastgroup or ""
            if name == "mark":
                name = "quoted"
            said = match[name]
            words = tokenise(said)
            worded = sum(word.tag.isalpha() for word in words) >= _LONG_LABEL and not any(c in "=;{}" for c in said)
            if len(words) < _FEWEST_WORDS or (find_verb(words) < 1 and not worded):
                continue
            a, b = (sentence.start + line.start() + offset for offset in match.span(name))
            out.append(Found(said, a, b, statement_kind(said), checkable=True))
    read = [(found.start, found.end) for found in out[1:]]
    for datum in code_data(raw):
        a, b = sentence.start + datum.start, sentence.start + datum.end
        if all(end <= a or b <= start for start, end in read):
            out.append(Found(datum.text, a, b, ClaimKind.FACTUAL, checkable=True))
    for named in code_names(raw):
        a, b = sentence.start + named.start, sentence.start + named.end
        out.append(Found(named.text, a, b, ClaimKind.PROCEDURAL, checkable=True))
    return out


_FEWEST_WORDS = 3
_LONG_LABEL = 7
"""Words from which a text in code is taken for a sentence even if no verb is known in it."""
