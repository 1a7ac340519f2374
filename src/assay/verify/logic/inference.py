"""Holds conclusions against their premises and statements against each other, with the embedded network.

The network is asked in one call: every step, and every pair of statements in both directions. Two statements
contradict each other only where both directions say so: "A was founded in 1990" and "A was bought in 1995" differ, and
one direction alone is often taken in by that.
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
"""Entailment and contradiction of each pair of premise and conclusion that could be asked."""

SPECIAL_TOKENS = 4
_MOST_WORDS = 60
"""A statement with more words than this is compared with none: it says too much at once."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a text, ready to be compared."""

    text: str
    span: Span
    sentence: Span
    """The sentence that it is in: its statements were written in one breath and are not checked against each other."""
    stems: frozenset[str]

    def likeness(self, other: "Statement") -> float:
        """The share of the shorter one's content words that the other has too."""
        fewer = min(len(self.stems), len(other.stems))
        return len(self.stems & other.stems) / fewer if fewer else 0.0


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words."""
    return frozenset(word.stem for word in find_words(text).lexemes if word.fold not in STOP_WORDS)


def statements_of(claims: Sequence[ExtractedClaim]) -> list[Statement]:
    """The claims that can be compared: checkable ones that are not too long, each text once."""
    found: dict[str, Statement] = {}
    for claim in claims:
        stems = stems_of(claim.text)
        if claim.checkable and len(stems) > 1 and len(claim.text.split()) <= _MOST_WORDS:
            found.setdefault(claim.text, Statement(claim.text, claim.span, claim.sentence, stems))
    return list(found.values())


def comparable_pairs(
    statements: Sequence[Statement], limits: LogicLimits
) -> tuple[list[tuple[Statement, Statement]], int]:
    """Pairs worth comparing, the most related first, and how many were left out beyond the limit.

    Statements of different days, months or years may both be true and are not compared.
    """
    ranked = [
        (likeness, first, second)
        for (number, first), (other, second) in combinations(enumerate(statements), 2)
        if other - number <= limits.pairs
        and len(first.stems & second.stems) > 1
        and (likeness := first.likeness(second)) >= limits.related
        and first.sentence != second.sentence
    ]
    ranked.sort(key=lambda pair: (-pair[0], pair[1].span.start, pair[2].span.start))
    kept = [(first, second) for _, first, second in ranked[: limits.pairs] if not _other_times(first.text, second.text)]
    return kept, max(0, len(ranked) - limits.pairs)


def _other_times(first: str, second: str) -> bool:
    ours, theirs = ([d for d in find_dates(text) if d.minute is None] for text in (first, second))
    if bool(ours) != bool(theirs):
        return False
    relations = [relate_dates(mine, other) for mine in ours for other in theirs]
    same = {DateRelation.SAME, DateRelation.COMPATIBLE}
    return bool(relations) and not any(relation in same for relation in relations)


def ask(pairs: Sequence[tuple[str, str]], scorer: PairScorer) -> tuple[Scores, str | None]:
    """What the network says of each pair that fits, and why some are missing where it failed or they do not fit."""
    wanted = list(dict.fromkeys(pairs))
    if not wanted:
        return {}, None
    try:
        counts = scorer.count_tokens([text for pair in wanted for text in pair])
        room = scorer.max_pair_tokens - SPECIAL_TOKENS
        fits = [counts[2 * at] + counts[2 * at + 1] <= room for at in range(len(wanted))]
        asked = [pair for pair, fit in zip(wanted, fits, strict=True) if fit]
        rows = scorer.score(asked).tolist() if asked else []
    except VerifierError as error:
        return {}, f"the network could not judge: {error}"
    found = {pair: (float(row[0]), float(row[2])) for pair, row in zip(asked, rows, strict=True)}
    left = len(wanted) - len(asked)
    return found, f"{left} pairs of statements are longer than the network reads at once" if left else None


def judge_steps(
    text: str,
    inferences: Sequence[Inference],
    scores: Scores,
    supported: Collection[tuple[int, int]],
    limits: LogicLimits,
) -> tuple[list[Step], list[LogicFinding]]:
    """The verdict of each inference, and what is to be said of those that do not hold.

    Args:
        text: the text.
        inferences: what it concludes.
        scores: what the network says of premises and conclusion.
        supported: starts and ends of stretches that evidence supports: a conclusion there is on its own feet.
        limits: from where on something is said.
    """
    steps, findings = [], []
    rings = circular(text, inferences, scores, limits)
    for number, inference in enumerate(inferences):
        step = Step(inference.conclusion, inference.premises, inference.cue)
        said = scores.get((premise_text(text, inference), said_at(text, inference.conclusion)))
        if said is not None:
            step = replace(step, entailment=said[0], contradiction=said[1], verdict=_verdict(said, limits))
        if number in rings:
            step = replace(step, verdict=StepVerdict.CIRCULAR)
        steps.append(step)
        held = any(start < step.conclusion.end and step.conclusion.start < end for start, end in supported)
        finding = None if held and step.verdict is not StepVerdict.CIRCULAR else _finding(text, step, limits)
        if finding is not None:
            findings.append(finding)
    return steps, findings


def _verdict(said: tuple[float, float], limits: LogicLimits) -> StepVerdict:
    entailment, contradiction = said
    if contradiction >= limits.invalid:
        return StepVerdict.INVALID
    return StepVerdict.FOLLOWS if entailment >= limits.entailment else StepVerdict.UNSUPPORTED


def _finding(text: str, step: Step, limits: LogicLimits) -> LogicFinding | None:
    words = f"\u201c{said_at(text, step.conclusion)[:80]}\u201d"
    match step.verdict:
        case StepVerdict.INVALID:
            message = f"What is given as a reason says otherwise of {words}."
            confidence = step.contradiction or 0.0
            return LogicFinding("logic.invalid_step", message, step.conclusion, step.premises, confidence)
        case StepVerdict.CIRCULAR:
            message = f"The reason given for {words} is that statement itself."
            return LogicFinding("logic.circular", message, step.conclusion, step.premises, 0.9)
        case StepVerdict.UNSUPPORTED if _is_conclusion(step) and (step.entailment or 0.0) < limits.unsupported:
            message = f"What is given as a reason does not support {words}."
            # Of the chains called so 21 in 25 were no inferences, of all that were none a quarter is called so: a hint.
            return LogicFinding("logic.unsupported_step", message, step.conclusion, step.premises, 0.5)
        case _:
            return None


def _is_conclusion(step: Step) -> bool:
    """Whether the text itself says that something follows: "because" more often tells a cause than an argument."""
    return step.cue not in {"because", "since", "given that", "on the grounds that", "as a result of the fact that"}


def premise_text(text: str, inference: Inference) -> str:
    """The premises as the network reads them."""
    return " ".join(said_at(text, span) for span in inference.premises)


def said_at(text: str, span: Span) -> str:
    """The words at a place, as a sentence of their own."""
    words = " ".join(text[span.start : span.end].split()).strip(" ,;:-")
    words = words[:1].upper() + words[1:]
    return words if words[-1:] in ".!?" else f"{words}."


def circular(text: str, inferences: Sequence[Inference], scores: Scores, limits: LogicLimits) -> set[int]:
    """The numbers of inferences whose conclusion is among what it rests on.

    Only inferences from a single premise count: to say again at the end what was said before among other things is no
    circle. "A because B" and "B because A" make one, and so does "A because A".
    """
    single = {n: i for n, i in enumerate(inferences) if i.within}
    sides = {n: (said_at(text, i.premises[0]), said_at(text, i.conclusion)) for n, i in single.items()}
    edges: dict[int, list[int]] = {
        n: [m for m, (premise, _) in sides.items() if _same(conclusion, premise, scores, limits)]
        for n, (_, conclusion) in sides.items()
    }
    return {n for n in sides if _reaches(edges, n)}


def _reaches(edges: Mapping[int, Sequence[int]], start: int) -> bool:
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


def _same(first: str, second: str, scores: Scores, limits: LogicLimits) -> bool:
    """Whether two statements say the same: word for word, or by entailment in both directions."""
    if _folded(first) == _folded(second):
        return True
    ours, theirs = stems_of(first), stems_of(second)
    if not ours or not theirs:
        return False
    there, back = scores.get((first, second)), scores.get((second, first))
    if there is None or back is None:
        return False
    alike = len(ours & theirs) / len(ours | theirs)
    return alike >= limits.related and min(there[0], back[0]) >= limits.same


def _folded(text: str) -> list[str]:
    return [word.fold for word in find_words(text).lexemes]


def pairs_for(text: str, inferences: Sequence[Inference]) -> Iterator[tuple[str, str]]:
    """What has to be asked for the inferences: each step, and of likely circles both directions."""
    for inference in inferences:
        yield premise_text(text, inference), said_at(text, inference.conclusion)
    sides = [(said_at(text, i.premises[0]), said_at(text, i.conclusion)) for i in inferences if i.within]
    for premise, _ in sides:
        for _, conclusion in sides:
            if premise != conclusion and stems_of(premise) & stems_of(conclusion):
                yield premise, conclusion
                yield conclusion, premise


def contradictions(
    pairs: Sequence[tuple[Statement, Statement]], scores: Scores, limits: LogicLimits
) -> list[LogicFinding]:
    """Statements that contradict each other, each said of the later one."""
    found: dict[tuple[int, int], LogicFinding] = {}
    for first, second in pairs:
        there, back = scores.get((first.text, second.text)), scores.get((second.text, first.text))
        if there is None or back is None:
            continue
        sure = (there[1] + back[1]) / 2
        if sure < limits.contradiction or min(there[1], back[1]) < limits.either_way:
            continue
        earlier, later = sorted((first, second), key=lambda one: one.span.start)
        message = f"This contradicts what stands before: \u201c{earlier.text[:80]}\u201d."
        key = (later.span.start, later.span.end)
        if key not in found or found[key].confidence < sure:
            found[key] = LogicFinding("logic.contradiction", message, later.span, (earlier.span,), sure)
    return list(found.values())
