"""The results of the exact tier: findings for people, and signals for the combination."""

from dataclasses import dataclass
from typing import Literal

from assay.schema import EvidenceSpan
from assay.verify.exact.same_values import SameValue

Effect = Literal["contradicts", "missing", "note"]

SIGNAL_MEANINGS: dict[str, str] = {
    "verbatim": "1 if the claim is, white space and end mark aside, a whole sentence of the evidence",
    "word_recall_sentence": "idf-weighted share of the claim's content words in the best evidence sentence",
    "word_recall_passage": "the same in the best sentence with its neighbours and its title",
    "word_recall_all": "the same in all evidence",
    "word_precision_sentence": "share of the best sentence's content words that the claim has",
    "bigram_recall_sentence": "share of the claim's pairs of neighbouring content words in the best sentence",
    "bigram_recall_passage": "the same in the best sentence with its neighbours",
    "trigram_precision": "share of the claim's trigrams in any passage, drawn to the typical share where it is short",
    "order_agreement": "longest common subsequence of content words with the best sentence, over the claim's number",
    "numbers_found": "share of the claim's numbers that the evidence has with equal value and unit; 1 without numbers",
    "numbers_on_subject": "share found where the words around agree with the claim's; 1 without numbers",
    "numbers_computed": "share that the evidence does not state but that follow from it, by how hardly that is chance",
    "dates_found": "share of the claim's dates that the evidence states as finely; 1 without dates",
    "names_found": "share of the words of the claim's names found in the evidence; 1 without names",
    "identifiers_found": "share of the claim's identifiers found in the evidence; 1 without identifiers",
    "quotes_found": "the worst match of the claim's quotations with the evidence's words; 1 without quotations",
    "has_numbers": "1 if the claim has a number",
    "has_dates": "1 if the claim has a date or a time of day",
    "has_names": "1 if the claim has a name",
    "has_identifiers": "1 if the claim has an identifier",
    "has_quotes": "1 if the claim quotes",
    "claim_negated": "1 if the claim has a negation",
    "negation_differs": "1 if exactly one of claim and best sentence has a negation",
    "contradicts_number": "confidence of the strongest contradiction by a number",
    "contradicts_date": "the same by a date or a time of day",
    "contradicts_name": "the same by a name",
    "contradicts_identifier": "the same by an identifier",
    "contradicts_quote": "the same by a quotation",
    "contradicts_polarity": "the same by a negation",
    "contradicts_antonym": "the same by an antonym or a word of a closed set",
    "contradicts_comparative": "the same by a comparative or a word of direction",
    "contradicts_condition": "confidence that a condition of the evidence was left out",
    "contradicts_arithmetic": "confidence that the claim's own arithmetic is wrong",
    "contradicts_record": "the same by a value of a record or a table",
    "supports_record": "confidence that a record or a table states all that the claim says",
    "strongest_contradiction": "the strongest finding that contradicts, of whatever kind",
    "strongest_missing": "the strongest finding of something that the evidence does not mention",
    "claim_length": "the claim's content words over 30, at most 1",
    "has_evidence": "1 if any evidence sentence shares a content word with the claim",
}
"""What each signal means; every one is within [0, 1]."""

EXACT_SIGNALS: tuple[str, ...] = tuple(SIGNAL_MEANINGS)
"""The fixed names of the signals, in a fixed order."""


@dataclass(frozen=True, slots=True)
class ExactFinding:
    """One difference between a claim and the evidence."""

    code: str
    """A stable name such as `number.mismatch`."""
    message: str
    """The difference as a sentence: what the claim says and what the evidence says."""
    claim_start: int
    """Start of the differing part of the claim."""
    claim_end: int
    """Its end."""
    evidence: EvidenceSpan | None
    """The differing part of the evidence, where there is one."""
    effect: Effect
    """Whether the evidence contradicts the claim, does not contain it, or the difference is only worth a note."""
    confidence: float
    """How sure the tier is of the finding, 0 to 1."""
    words: tuple[tuple[int, int], ...] = ()
    """Starts and ends of the wrong characters of the claim, where they are only a part of the finding's range: of "4
    May 2020" the day."""


@dataclass(frozen=True, slots=True)
class ExactResult:
    """The result of the exact tier for one claim."""

    findings: tuple[ExactFinding, ...]
    """The most confident first."""
    signals: dict[str, float]
    """A value in [0, 1] for each of `EXACT_SIGNALS`."""
    best: tuple[EvidenceSpan, ...]
    """Up to three evidence sentences that match the claim best by their words."""
    supporting: tuple[EvidenceSpan, ...] = ()
    """The values of records that state the claim, if records state it completely."""
    changed: tuple[tuple[int, int], ...] = ()
    """Starts and ends of the changed parts of a claim that otherwise copies sentences of the evidence."""
    settled: tuple[tuple[int, int], ...] = ()
    """Starts and ends of the sentences of the claim that records settle completely: they hold, or their wrong words are
    known."""
    same: tuple[SameValue, ...] = ()
    """Values of the claim that the evidence writes in another form, with that form."""
