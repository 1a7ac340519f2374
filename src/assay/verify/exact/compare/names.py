"""Compares names and identifiers of a claim with the evidence: whether they are missing or replaced by another."""

import re
from collections.abc import Sequence

from assay.text.lexicon import Identifier, Name, find_names, find_words, stem
from assay.text.sentences import is_foreign_word, language_votes
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex, IndexedSentence
from assay.verify.exact.parsed_claim import Claim, Context, agreement_confidence

_MISSING_NAME = 0.65
_MISSING_PART = 0.4
_MISSING_UNSURE = 0.25
_MISSING_IDENTIFIER = 0.8
_REPLACED = 0.75
_REPLACED_OTHER_PLACE = 0.45
_LEAST_CONFIDENCE = 0.2
_MOST_EDITS = 2
_SHORTEST_EDITED = 4
_NEARBY_NAMES = 24
_MOST_LOOKED_THROUGH = 64
"""How many sentences with a word of an identifier have their passages searched for it."""
VOTED = 600
"""How many characters of a claim are used to detect its language."""
_MOST_COMPARED = 32
"""Missing names or identifiers of one claim beyond this many are reported without a search for a replacement."""


def compare_names(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], float]:
    """Findings about the names of the claim, and the weighted share of their words that the evidence has."""
    names = [n for n in claim.names if not _is_identifier(claim, n) and not _may_be_a_noun(claim.text, n)]
    if not names:
        return [], 1.0
    findings: list[ExactFinding] = []
    wanted = found = 0.0
    for name in names:
        missing = _missing_keys(name, index)
        weight = len(name.keys) * (1.0 if name.sure else 0.5)
        wanted += weight
        found += weight * (1 - len(missing) / len(name.keys))
        if missing:
            replaced = _replacement(claim, index, name, missing) if len(findings) < _MOST_COMPARED else None
            findings.append(replaced or _missing_name(claim, name, missing))
    return findings, found / wanted if wanted else 1.0


def _is_identifier(claim: Claim, name: Name) -> bool:
    return any(i.start < name.end and name.start < i.end for i in claim.identifiers)


def _may_be_a_noun(text: str, name: Name) -> bool:
    """Whether a capitalised word may be no name: every German noun has a capital, and so has the start of a sentence.

    The first word counts only where the text is not in English, whose common words are known.
    """
    if name.acronym or name.start >= VOTED or sum(not is_foreign_word(key, text) for key in name.keys) > 1:
        return False
    votes = language_votes(text)
    foreign = max(votes, key=lambda language: votes[language])
    if votes[foreign] <= votes["English"]:
        return False
    return foreign == "German" or not text[: name.start].strip()


def _missing_keys(name: Name, index: ExactIndex) -> list[str]:
    """The words of a name that no evidence has; none where the evidence has its acronym."""
    if len(name.keys) > 1 and "".join(k[0] for k in name.keys) in index.postings:
        return []
    return [k for k in name.keys if not _is_known(k, index)]


def _is_known(key: str, index: ExactIndex) -> bool:
    stemmed = stem(key)
    if stemmed in index.postings or stemmed in index.heading_stems or key in index.acronyms:
        return True
    plain = key.removesuffix("s") if len(key) > 4 else key
    return plain in index.postings or _has_demonym(stemmed, index)


_DEMONYM_STEM = 5


def _has_demonym(stemmed: str, index: ExactIndex) -> bool:
    """Whether the evidence has the place of a demonym or the demonym of a place: "Italian" and "Italy"."""
    for ending in ("ian", "an", "ese", "ish", "i"):
        root = stemmed.removesuffix(ending)
        if root != stemmed and len(root) >= 4:
            return any(form in index.postings for form in (root, root + "y", root + "a", root + "ia", root + "o"))
    return (
        any(stemmed[:-1] + e in index.postings for e in ("ian", "an", "ean"))
        if len(stemmed) >= _DEMONYM_STEM
        else False
    )


def _missing_name(claim: Claim, name: Name, missing: Sequence[str]) -> ExactFinding:
    whole = len(missing) == len(name.keys)
    confidence = (_MISSING_NAME if whole else _MISSING_PART) if name.sure else _MISSING_UNSURE
    ours = claim.text[name.start : name.end]
    what = "no evidence mentions it" if whole else f"no evidence has {', '.join(missing)}"
    return ExactFinding(
        "name.missing", f"The claim names {ours!r}; {what}.", name.start, name.end, None, "missing", confidence
    )


def _names_of(index: ExactIndex, candidate: Candidate) -> tuple[IndexedSentence, list[Name]]:
    here = index.sentences[candidate.sentence]
    passage = index.passages[here.passage]
    names = find_names(passage.text[here.start : here.end])
    return here, list(names)[:_NEARBY_NAMES]


def _word_before(text: str, start: int) -> str:
    words = text[max(0, start - 24) : start].lower().split()
    return words[-1] if words else ""


def _replacement(claim: Claim, index: ExactIndex, name: Name, missing: Sequence[str]) -> ExactFinding | None:
    """A finding that a sentence says the same with another name; none without one."""
    if not name.sure or claim.best is None:
        return None
    context = Context(claim, index, name.start, name.end)
    preposition = _word_before(claim.text, name.start)
    best: tuple[float, int, int, Candidate] | None = None
    claim_stems = {w.stem for w in claim.words.lexemes}
    for candidate in claim.candidates[:3]:
        here, names = _names_of(index, candidate)
        text = index.passages[here.passage].text
        for other in names:
            if any(stem(k) in claim_stems for k in other.keys) or other.acronym != name.acronym or not other.sure:
                continue
            start, end = here.start + other.start, here.start + other.end
            same_place = bool(preposition) and _word_before(text, start) == preposition
            agreement = context.agreement(candidate, index.surroundings(candidate.sentence, start, end))
            confidence = agreement_confidence(agreement) * (_REPLACED if same_place else _REPLACED_OTHER_PLACE)
            if best is None or confidence > best[0]:
                best = (confidence, start, end, candidate)
    if best is None or best[0] < _LEAST_CONFIDENCE or len(missing) < len(name.keys):
        return None
    confidence, start, end, candidate = best
    span = index.span(candidate.sentence, start, end, "contradicts", confidence)
    return ExactFinding(
        "name.mismatch",
        f"The claim names {claim.text[name.start : name.end]!r}; the evidence says {span.text!r}.",
        name.start,
        name.end,
        span,
        "contradicts",
        round(confidence, 4),
    )


def compare_identifiers(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], float]:
    """Findings about the identifiers of the claim, and the share that the evidence has."""
    if not claim.identifiers:
        return [], 1.0
    findings: list[ExactFinding] = []
    found = 0
    for identifier in claim.identifiers:
        if identifier.key in index.keys or _is_known_version(identifier, index) or _occurs(identifier, index):
            found += 1
            continue
        other = _other_identifier(claim, index, identifier) if len(findings) < _MOST_COMPARED else None
        findings.append(other or _missing_identifier(identifier))
    return findings, found / len(claim.identifiers)


def _is_known_version(identifier: Identifier, index: ExactIndex) -> bool:
    """Whether the evidence has a version in its other form: "version 2.1" and "v2.1"."""
    if identifier.label == "version":
        return identifier.key.removeprefix("version ") in index.keys
    return identifier.kind == "version" and f"version {identifier.key}" in index.keys


def _occurs(identifier: Identifier, index: ExactIndex) -> bool:
    """Whether the evidence has an identifier where it is not detected as one, so that it is not missing.

    This is so within the quotes of a record, and for a number in a column that its label names ("order_no | 7152").
    """
    lexemes = find_words(identifier.text).lexemes
    lettered = [index.postings.get(word.stem, ()) for word in lexemes if not word.fold.isdigit()]
    if not lettered or not all(lettered):
        return False
    rarest = min(lettered, key=len)[:_MOST_LOOKED_THROUGH]
    shown = lexemes[-1].fold if identifier.label else identifier.text  # of "order 7152" the number
    token = re.compile(rf"(?<![^\W_]){re.escape(shown)}(?![^\W_]|[.,]\d)", re.IGNORECASE)
    passages = dict.fromkeys(index.sentences[number].passage for number in rarest)
    return any(
        token.search(index.passages[number].text)
        for number in passages
        if not identifier.label or number in index.records.passages  # in prose a bare figure may count anything
    )


def _missing_identifier(identifier: Identifier) -> ExactFinding:
    return ExactFinding(
        "identifier.missing",
        f"The claim gives {identifier.text!r}; no evidence has it.",
        identifier.start,
        identifier.end,
        None,
        "missing",
        _MISSING_IDENTIFIER,
    )


def _are_comparable(ours: Identifier, theirs: Identifier) -> bool:
    if ours.kind == "reference" or theirs.kind == "reference":
        labels = {ours.label, theirs.label}
        return len(labels) == 1 or (labels == {"", "version"} and "version" in {ours.kind, theirs.kind})
    return ours.kind == theirs.kind


def _other_identifier(claim: Claim, index: ExactIndex, ours: Identifier) -> ExactFinding | None:
    """A finding that a sentence has another identifier of the same kind or label in the same context; none without."""
    from rapidfuzz.distance import Levenshtein

    context = Context(claim, index, ours.start, ours.end)
    best: tuple[float, int, Identifier] | None = None
    for candidate in claim.candidates:
        for theirs in index.identifiers.get(candidate.sentence, ())[:_NEARBY_NAMES]:
            if not _are_comparable(ours, theirs):
                continue
            around = index.surroundings(candidate.sentence, theirs.start, theirs.end)
            agreement = context.agreement(candidate, around)
            labelled = ours.label != "" or ours.kind in {"version", "isbn", "uuid", "ip", "email", "phone"}
            near = Levenshtein.distance(ours.key, theirs.key, score_cutoff=_MOST_EDITS) <= _MOST_EDITS
            if not labelled and not (near and len(ours.key) >= _SHORTEST_EDITED):
                continue
            confidence = agreement_confidence(agreement) * (0.9 if near else 0.8)
            if best is None or confidence > best[0]:
                best = (confidence, candidate.sentence, theirs)
    if best is None or best[0] < _LEAST_CONFIDENCE:
        return None
    confidence, sentence, theirs = best
    return ExactFinding(
        "identifier.mismatch",
        f"The claim gives {ours.text!r}; the evidence gives {theirs.text!r}.",
        ours.start,
        ours.end,
        index.span(sentence, theirs.start, theirs.end, "contradicts", confidence),
        "contradicts",
        round(confidence, 4),
    )
