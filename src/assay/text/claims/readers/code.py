"""The claims of a code block: its comments, its labels, and the names that its documentation must contain."""

import re

from assay.schema import ClaimKind
from assay.text.claims.clauses import (
    find_verb,
)
from assay.text.claims.kinds.statements import statement_kind
from assay.text.claims.readers.statement import Statement
from assay.text.lexicon.tokens import tokenise
from assay.text.sentences.code_block_data import code_data, is_diagram
from assay.text.sentences.code_identifiers import code_names
from assay.text.sentences.splitting import Sentence

_PROSE_IN_CODE = re.compile(
    r"""(?P<mark>["'`|])(?P<quoted>(?:(?!(?P=mark))[^\n]){6,300})(?P=mark)"""
    r"""|[\[({>](?P<held>[^\[\](){}<>\n]{6,300})[\])}<]"""
    r"""|(?:\#|//|--|/\*|<!--)[ \t]*(?P<comment>[^\n]{6,300}?)[ \t]*(?:\*/|-->|$)""",
    re.VERBOSE,
)
"""Places in code that may hold prose: strings, labels and comments."""
_LINE = re.compile(r"[^\n]+")
_PLAIN_LINE = re.compile(r"\s*(?P<line>\w[\w\s,.;:'’%$€£°\-–]{5,300}[.!?]?)")


def read_code(raw: str, sentence: Sentence) -> list[Statement]:
    """The statements of code: its sentences, its data, and the names that its documentation must contain.

    A comment, a label of a diagram or a displayed text says something to its reader, and naming an endpoint or a flag
    claims that it exists. The rest of the code makes no claim.
    """
    statements = [Statement(raw, sentence.start, sentence.end, ClaimKind.PROCEDURAL, checkable=False)]
    drawn = is_diagram(raw)  # its labels are read line by line below
    for line in _LINE.finditer(raw):
        if drawn:
            break
        plain = _PLAIN_LINE.fullmatch(line.group())
        for match in [plain] if plain is not None else _PROSE_IN_CODE.finditer(line.group()):
            name = match.lastgroup or ""
            if name == "mark":
                name = "quoted"
            prose = match[name]
            words = tokenise(prose)
            long_enough = sum(word.tag.isalpha() for word in words) >= _LONG_LABEL and not any(
                c in "=;{}" for c in prose
            )
            if len(words) < _MIN_WORDS or (find_verb(words) < 1 and not long_enough):
                continue
            a, b = (sentence.start + line.start() + offset for offset in match.span(name))
            statements.append(Statement(prose, a, b, statement_kind(prose), checkable=True))
    read_ranges = [(statement.start, statement.end) for statement in statements[1:]]
    for datum in code_data(raw):
        a, b = sentence.start + datum.start, sentence.start + datum.end
        if all(end <= a or b <= start for start, end in read_ranges):
            statements.append(Statement(datum.text, a, b, ClaimKind.FACTUAL, checkable=True))
    for identifier in code_names(raw):
        a, b = sentence.start + identifier.start, sentence.start + identifier.end
        statements.append(Statement(identifier.text, a, b, ClaimKind.PROCEDURAL, checkable=True))
    return statements


_MIN_WORDS = 3
_LONG_LABEL = 7
"""Words; a text in code with this many counts as a sentence even if none of them is a known verb."""
