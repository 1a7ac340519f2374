"""Checks conclusions against their premises and statements against each other, with the embedded network.

One call scores every step, and every pair of statements in both directions. Two statements contradict each other only
if both directions agree: "A was founded in 1990" and "A was bought in 1995" differ without a contradiction, but one
direction alone often scores as one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from assay.errors import VerifierError
from assay.models import PairScorer
from assay.schema import ExtractedClaim, Span
from assay.text.dates import DateRelation, find_dates, relate_dates
from assay.text.lexicon import STOP_WORDS, find_words
from assay.verify.logic.findings import LogicFinding, LogicLimits, Step, StepVerdict
from assay.verify.logic.stated_inferences import Inference

Scores = Mapping[tuple[str, str], tuple[float, float]]
"""The probabilities of entailment and contradiction of each scored pair of premise and conclusion."""

SPECIAL_TOKENS = 4
"""The most special tokens of a pair."""
_MOST_WORDS = 60
"""The most words of a statement that is compared; a longer one says too much at once."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a text, prepared for comparison."""

    text: str
    span: Span
    sentence: Span
    """The sentence that contains it; statements of the same sentence are not compared with each other."""
    stems: frozenset[str]

    def likeness(self, other: "Statement") -> float:
        """The share of the shorter statement's content words that the other has too."""
        fewer = min(len(self.stems), len(other.stems))
        return len(self.stems & other.stems) / fewer if fewer else 0.0


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(word.stem for word in find_words(text).lexemes if word.fold not in STOP_WORDS)


def comparable_statements(claims: Sequence[ExtractedClaim]) -> list[Statement]:
    """The claims that can be compared: checkable and not too long, each text once."""
    statements: dict[str, Statement] = {}
    for claim in claims:
        stems = stems_of(claim.text)
        if claim.checkable and len(stems) > 1 and len(claim.text.split()) <= _MOST_WORDS:
            statements.setdefault(claim.text, Statement(claim.text, claim.span, claim.sentence, stems))
    return list(statements.values())


def comparable_pairs(
    statements: Sequence[Statement], limits: LogicLimits
) -> tuple[list[tuple[Statement, Statement]], int]:
    """The pairs to compare, the most related first, and how many are beyond the limit.

    Statements about different days, months or years may both be true and are not compared.
    """
    ranked = [
        (likeness, first, second)
        for (first_index, first), (second_index, second) in combinations(enumerate(statements), 2)
        if second_index - first_index <= limits.pairs
        and len(first.stems & second.stems) > 1
        and (likeness := first.likeness(second)) >= limits.related
        and first.sentence != second.sentence
    ]
    ranked.sort(key=lambda pair: (-pair[0], pair[1].span.start, pair[2].span.start))
    kept = [
        (first, second) for _, first, second in ranked[: limits.pairs] if not _differ_in_time(first.text, second.text)
    ]
    return kept, max(0, len(ranked) - limits.pairs)


def _differ_in_time(first: str, second: str) -> bool:
    first_dates, second_dates = ([d for d in find_dates(text) if d.minute is None] for text in (first, second))
    if bool(first_dates) != bool(second_dates):
        return False
    relations = [relate_dates(date, other) for date in first_dates for other in second_dates]
    same = {DateRelation.SAME, DateRelation.COMPATIBLE}
    return bool(relations) and not any(relation in same for relation in relations)


def score_pairs(pairs: Sequence[tuple[str, str]], scorer: PairScorer) -> tuple[Scores, str | None]:
    """The scores of each pair that fits the network, and why others have none, if any."""
    unique = list(dict.fromkeys(pairs))
    if not unique:
        return {}, None
    try:
        counts = scorer.count_tokens([text for pair in unique for text in pair])
        room = scorer.max_pair_tokens - SPECIAL_TOKENS
        fits = [counts[2 * index] + counts[2 * index + 1] <= room for index in range(len(unique))]
        fitting = [pair for pair, fit in zip(unique, fits, strict=True) if fit]
        rows = scorer.score(fitting).tolist() if fitting else []
    except VerifierError as error:
        return {}, f"the network could not judge: {error}"
    scores = {pair: (float(row[0]), float(row[2])) for pair, row in zip(fitting, rows, strict=True)}
    too_long = len(unique) - len(fitting)
    return scores, f"{too_long} pairs of statements are longer than the network reads at once" if too_long else None


def judge_steps(
    text: str,
    inferences: Sequence[Inference],
    scores: Scores,
    supported: Collection[tuple[int, int]],
    limits: LogicLimits,
) -> tuple[list[Step], list[LogicFinding]]:
    """The verdict of each inference, and the findings of those that do not hold.

    Args:
        text: the text.
        inferences: the inferences of the text.
        scores: the scores of premises and conclusions.
        supported: starts and ends of the ranges that evidence supports: a conclusion there needs no premise.
        limits: the thresholds.
    """
    steps, findings = [], []
    circular_indices = circular_inferences(text, inferences, scores, limits)
    for index, inference in enumerate(inferences):
        step = Step(inference.conclusion, inference.premises, inference.cue)
        score = scores.get((premise_text(text, inference), statement_at(text, inference.conclusion)))
        if score is not None:
            step = replace(step, entailment=score[0], contradiction=score[1], verdict=_verdict(score, limits))
        if index in circular_indices:
            step = replace(step, verdict=StepVerdict.CIRCULAR)
        steps.append(step)
        is_supported = any(start < step.conclusion.end and step.conclusion.start < end for start, end in supported)
        finding = None if is_supported and step.verdict is not StepVerdict.CIRCULAR else _finding(text, step, limits)
        if finding is not None:
            findings.append(finding)
    return steps, findings


def _verdict(score: tuple[float, float], limits: LogicLimits) -> StepVerdict:
    entailment, contradiction = score
    if contradiction >= limits.invalid:
        return StepVerdict.INVALID
    return StepVerdict.FOLLOWS if entailment >= limits.entailment else StepVerdict.UNSUPPORTED


def _finding(text: str, step: Step, limits: LogicLimits) -> LogicFinding | None:
    words = f"\u201c{statement_at(text, step.conclusion)[:80]}\u201d"
    match step.verdict:
        case StepVerdict.INVALID:
            message = f"The reason that is given contradicts {words}."
            confidence = step.contradiction or 0.0
            return LogicFinding("logic.invalid_step", message, step.conclusion, step.premises, confidence)
        case StepVerdict.CIRCULAR:
            message = f"The reason given for {words} is that statement itself."
            return LogicFinding("logic.circular", message, step.conclusion, step.premises, 0.9)
        case StepVerdict.UNSUPPORTED if _is_conclusion(step) and (step.entailment or 0.0) < limits.unsupported:
            message = f"The reason that is given does not support {words}."
            # Of 25 steps with this finding 21 were indeed invalid, but only a quarter of invalid steps has it: a hint.
            return LogicFinding("logic.unsupported_step", message, step.conclusion, step.premises, 0.5)
        case _:
            return None


def _is_conclusion(step: Step) -> bool:
    """Whether the text claims that something follows; "because" more often gives a cause than an argument."""
    return step.cue not in {"because", "since", "given that", "on the grounds that", "as a result of the fact that"}


def premise_text(text: str, inference: Inference) -> str:
    """The premises in the form that the network reads."""
    return " ".join(statement_at(text, span) for span in inference.premises)


def statement_at(text: str, span: Span) -> str:
    """The words of a span as a sentence of their own."""
    words = " ".join(text[span.start : span.end].split()).strip(" ,;:-")
    words = words[:1].upper() + words[1:]
    return words if words[-1:] in ".!?" else f"{words}."


def circular_inferences(text: str, inferences: Sequence[Inference], scores: Scores, limits: LogicLimits) -> set[int]:
    """The indices of the inferences whose conclusion is one of their own premises, directly or through others.

    Only inferences within one sentence count: a conclusion that repeats one of several premises is not circular. "A
    because B" and "B because A" are, and so is "A because A".
    """
    single = {n: i for n, i in enumerate(inferences) if i.within}
    sides = {n: (statement_at(text, i.premises[0]), statement_at(text, i.conclusion)) for n, i in single.items()}
    edges: dict[int, list[int]] = {
        n: [m for m, (premise, _) in sides.items() if _mean_the_same(conclusion, premise, scores, limits)]
        for n, (_, conclusion) in sides.items()
    }
    return {n for n in sides if _reaches_itself(edges, n)}


def _reaches_itself(edges: Mapping[int, Sequence[int]], start: int) -> bool:
    """Whether an inference's conclusion leads, through other inferences, to its own premise."""
    seen: set[int] = set()
    waiting = list(edges[start])
    while waiting:
        number = waiting.pop()
        if number == start:
            return True
        if number not in seen:
            seen.add(number)
            waiting.extend(edges[number])
    return False


def _mean_the_same(first: str, second: str, scores: Scores, limits: LogicLimits) -> bool:
    """Whether two statements mean the same: word for word, or by entailment in both directions."""
    if _fold_words(first) == _fold_words(second):
        return True
    first_stems, second_stems = stems_of(first), stems_of(second)
    if not first_stems or not second_stems:
        return False
    forward, backward = scores.get((first, second)), scores.get((second, first))
    if forward is None or backward is None:
        return False
    overlap = len(first_stems & second_stems) / len(first_stems | second_stems)
    return overlap >= limits.related and min(forward[0], backward[0]) >= limits.same


def _fold_words(text: str) -> list[str]:
    return [word.fold for word in find_words(text).lexemes]


def inference_pairs(text: str, inferences: Sequence[Inference]) -> Iterator[tuple[str, str]]:
    """The pairs to score for the inferences: each step, and both directions of a possible circle."""
    for inference in inferences:
        yield premise_text(text, inference), statement_at(text, inference.conclusion)
    sides = [(statement_at(text, i.premises[0]), statement_at(text, i.conclusion)) for i in inferences if i.within]
    for premise, _ in sides:
        for _, conclusion in sides:
            if premise != conclusion and stems_of(premise) & stems_of(conclusion):
                yield premise, conclusion
                yield conclusion, premise


def contradiction_findings(
    pairs: Sequence[tuple[Statement, Statement]], scores: Scores, limits: LogicLimits
) -> list[LogicFinding]:
    """The findings of statements that contradict each other, each at the later one."""
    findings: dict[tuple[int, int], LogicFinding] = {}
    for first, second in pairs:
        forward, backward = scores.get((first.text, second.text)), scores.get((second.text, first.text))
        if forward is None or backward is None:
            continue
        confidence = (forward[1] + backward[1]) / 2
        if confidence < limits.contradiction or min(forward[1], backward[1]) < limits.either_way:
            continue
        earlier, later = sorted((first, second), key=lambda statement: statement.span.start)
        message = f"This contradicts an earlier statement: \u201c{earlier.text[:80]}\u201d."
        key = (later.span.start, later.span.end)
        if key not in findings or findings[key].confidence < confidence:
            findings[key] = LogicFinding("logic.contradiction", message, later.span, (earlier.span,), confidence)
    return list(findings.values())
