"""Whether what a report says is so, over a fixed sample of written claims: python -m benchmarks.findings.

Claims of scenarios that are not held out go through `Guard("general").check`, each as an answer to its question, and
so do whole answers. Counted is what a person would call wrong in a report:

- outputs that are kept back without a finding at any claim or at the output that says what to do about it,
- letters and figures called wrong against those that the writer of a wrong claim marked, over the wrong claims of which
  any is called wrong; pieces that say nothing ("on", "up"); right claims in which words are called wrong,
- causes at odds with what is quoted: "stands in no passage" of words that one has, "of something else" of words that
  say nothing or stand in the quoted sentence, a passage that was missed though one has most of the right words,
- suggestions that stand where nothing was marked, or that write what the writer would not have (`say`),
- scores in reasons and messages that are no score shown of the output or of its claims,
- quotations of fewer than four words for words of the network ("The evidence says otherwise of ... : '15'"), and
  findings that no evidence has an identifier which stands in it.

The labels are the project's own (`train/scenarios/README.md`).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from train.scenario_rows import HELD_OUT, SCENARIOS, evidence_of, kept_claims
from train.scenario_text import Scenario, read_scenarios

from assay import Guard
from assay.schema import Action, ClaimReport, Evidence, HallucinationReport, Verdict
from assay.stats.shown import shown_score
from assay.verify.causes.root_causes import content_words

BATCHES: Final = "a,b,c,s,v,qa,na,m,q,t"
NETWORK: Final = frozenset({"claim.contradicted", "claim.unsupported"})
_SHORT_QUOTE: Final = 4
_MOST_OF_CLAIM: Final = 0.66
_SCORE: Final = re.compile(r"(?:score|probability of) (\d\.\d+)")


def sample(batches: Sequence[str], claims: int, seed: int) -> list[tuple[Scenario, dict[str, Any]]]:
    """So many claims of each batch, drawn with a seed, English ones only.

    Raises:
        ValueError: a batch is held out.
    """
    if held := HELD_OUT.intersection(batches):
        raise ValueError(f"held out: {', '.join(sorted(held))}")
    rng = random.Random(seed)
    found: list[tuple[Scenario, dict[str, Any]]] = []
    for batch in batches:
        pool = [(one, claim) for one in english(batch) for _, claim in kept_claims(one)]
        found += rng.sample(pool, min(claims, len(pool)))
    return found


def english(batch: str) -> list[Scenario]:
    """The English scenarios of a batch."""
    known = read_scenarios(SCENARIOS / f"{batch}.jsonl")
    return [one for one in known if one.get("language", "English").lower() in ("", "en", "english")]


def letters(text: str, places: Sequence[tuple[int, int]]) -> set[int]:
    """The characters of places that are letters or figures."""
    return {at for start, end in places for at in range(start, end) if text[at].isalnum()}


def of_claim(text: str, label: str, marked: Sequence[str], say: str, report: HallucinationReport) -> Counter[str]:
    """What is counted of one claim that was checked as an answer."""
    counts: Counter[str] = Counter()
    gold = letters(text, [(at, at + len(part)) for part in marked if (at := text.find(part)) >= 0])
    called = letters(text, [(s.start, s.end) for claim in report.claims for s in claim.wrong_spans])
    if label != "supported" and called:
        counts["wrong claims with words called wrong"] += 1
        counts["right letters called wrong"] += len(called & gold)
        counts["letters called wrong"] += len(called)
        counts["letters marked wrong"] += len(gold)
        counts["wrong claims, nothing marked called wrong"] += not called & gold
    counts["right claims with words called wrong"] += label == "supported" and bool(called)
    pieces = [text[s.start : s.end] for claim in report.claims for s in claim.wrong_spans]
    counts["pieces called wrong"] += len(pieces)
    counts["pieces that say nothing"] += sum(not content_words(piece) for piece in pieces)
    for claim in report.claims:
        for one in claim.suggestions:
            counts["suggestions"] += 1
            there = letters(text, [(one.span.start, one.span.end)])
            counts["suggestions where nothing is marked"] += not there & gold
            told = content_words(say)
            counts["suggestions that say something else"] += bool(told) and not told & content_words(one.after)
    return counts


def of_report(report: HallucinationReport, evidence: Sequence[Evidence], output: str) -> Counter[str]:
    """What is counted of any report."""
    counts: Counter[str] = Counter()
    counts["outputs kept back"] += report.action is not Action.EMIT
    said = [issue for claim in report.claims for issue in claim.issues] + list(report.issues)
    kept = report.action is not Action.EMIT
    acts = [i for i in said if not i.code.endswith((".missing", ".imprecise", ".derived", ".within"))]
    counts["kept back without a finding to act on"] += kept and not acts
    shown = {shown_score(s) for s in _scores(report)}
    reasons = [*report.decision.reasons, *(issue.message for issue in said)]
    told = [number for reason in reasons for number in _SCORE.findall(reason)]
    counts["scores in reasons"] += len(told)
    counts["scores in reasons that are not shown"] += sum(number not in shown for number in told)
    for claim in report.claims:
        for issue in claim.issues:
            if issue.code in NETWORK:
                counts["findings of the network"] += 1
                quoted = issue.evidence.text.split() if issue.evidence is not None else None
                counts["of them with a quotation too short"] += quoted is not None and len(quoted) < _SHORT_QUOTE
            if issue.code == "identifier.missing" and issue.span is not None:
                counts["identifiers called missing"] += 1
                named = output[issue.span.start : issue.span.end].lower()
                counts["of them in the evidence"] += any(named in item.text.lower() for item in evidence)
    counts.update(_causes(report, evidence, output))
    return counts


def _scores(report: HallucinationReport) -> Iterator[float]:
    if report.overall_score is not None:
        yield report.overall_score
    yield from (claim.score for claim in report.claims if claim.score is not None)


def _causes(report: HallucinationReport, evidence: Sequence[Evidence], output: str) -> Counter[str]:
    """Causes, and those that what is quoted speaks against."""
    counts: Counter[str] = Counter()
    passages = [content_words(f"{item.title or ''} {item.text}") for item in evidence]
    everywhere = frozenset[str]().union(*passages)
    for cause in report.causes:
        if cause.claim is None:
            continue
        claim = report.claims[cause.claim]
        wrong = [output[s.start : s.end] for s in claim.wrong_spans]
        right = content_words(claim.text) - content_words(" ".join(wrong))
        best = max((len(right & words) / len(right) for words in passages), default=0.0) if right else 0.0
        for one in cause.estimates:
            counts["causes"] += 1
            counts["causes at odds with the evidence"] += _at_odds(one.reason, claim, wrong, everywhere, best)
    return counts


def _at_odds(reason: str, claim: ClaimReport, wrong: Sequence[str], everywhere: frozenset[str], best: float) -> bool:
    words = content_words(" ".join(wrong))
    if "of something else" in reason:
        quoted = " ".join(span.text for span in claim.evidence_spans if span.relation == "related")
        return all(not content_words(one) - {w for w in words if w.isdigit()} or one in quoted for one in wrong)
    if "no passage" in reason or "none of them" in reason:
        return bool(words & everywhere) and not reason.startswith("Most")
    if "closest" in reason and claim.verdict is Verdict.UNSUPPORTED:
        stated = re.search(r"(\d+)%", reason)
        return stated is not None and best >= _MOST_OF_CLAIM and int(stated[1]) < 100 * _MOST_OF_CLAIM
    return False


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", default=BATCHES, help="names of batches, with commas between them")
    parser.add_argument("--claims", type=int, default=15, help="claims of each batch")
    parser.add_argument("--answers", type=int, default=3, help="whole answers of each batch")
    parser.add_argument("--seed", type=int, default=46)
    given = parser.parse_args()
    batches, guard = given.batches.split(","), Guard("general")
    counts: Counter[str] = Counter()
    drawn = sample(batches, given.claims, given.seed)
    requests = [
        {"answer": claim["text"], "evidence": evidence_of(one), "question": one["question"]} for one, claim in drawn
    ]
    for (one, claim), report in zip(drawn, guard.check_many(requests), strict=True):
        marked, say = claim.get("wrong", []), claim.get("say", "")
        counts.update(of_claim(claim["text"], claim["label"], marked, say, report))
        counts.update(of_report(report, evidence_of(one), claim["text"]))
    rng = random.Random(given.seed)
    whole = [
        one for batch in batches for one in rng.sample([s for s in english(batch) if s.get("answer")], given.answers)
    ]
    for one in whole:
        report = guard.check(one["answer"], evidence_of(one), question=one["question"])
        counts.update(of_report(report, evidence_of(one), one["answer"]))
    sys.stdout.write(f"{len(drawn)} claims and {len(whole)} answers\n")
    for name, count in counts.items():
        sys.stdout.write(f"{name:50}{count:6d}\n")
    hit = counts["right letters called wrong"]
    if hit:
        precision, recall = hit / counts["letters called wrong"], hit / counts["letters marked wrong"]
        sys.stdout.write(f"letters: precision {precision:.3f}, recall {recall:.3f}\n")


if __name__ == "__main__":
    main()
