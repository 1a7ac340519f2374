"""The premise that a training row shows to the network: whole where it fits, else its best sentences in order.

Training reads evidence the way that the verifier does in use: short windows and assembled sentences rather than
whole pages.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Sequence

from nupunkt import sent_tokenize

WORD = re.compile(r"\w+")


def sentences(text: str) -> list[str]:
    """Sentences of the text; lines are kept apart."""
    return [str(s).strip() for line in text.split("\n") if line.strip() for s in sent_tokenize(line) if str(s).strip()]


def best_sentences(pieces: Sequence[str], claim: str, budget_words: int, rng: random.Random | None = None) -> str:
    """The sentences that share the rarest words with the claim, up to the budget, in their own order.

    With a generator the budget is drawn between half and all of it, so that the network meets premises of many lengths.
    """
    if rng is not None:
        budget_words = rng.randint(budget_words // 2, budget_words)
    bags = [Counter(w.lower() for w in WORD.findall(p)) for p in pieces]
    frequency = Counter(w for bag in bags for w in bag)
    wanted = {w.lower() for w in WORD.findall(claim)}
    weight = {w: math.log(1 + len(pieces) / frequency[w]) for w in wanted if w in frequency}
    scores = [sum(weight.get(w, 0.0) for w in bag) / (1 + 0.02 * sum(bag.values())) for bag in bags]
    chosen: list[int] = []
    used = 0
    for i in sorted(range(len(pieces)), key=lambda i: -scores[i]):
        size = len(pieces[i].split())
        if chosen and used + size > budget_words:
            continue
        chosen.append(i)
        used += size
        if used >= budget_words:
            break
    return " ".join(pieces[i] for i in sorted(chosen))


def premise(evidence: Sequence[str], claim: str, budget_words: int, rng: random.Random | None = None) -> str:
    """The text that stands as premise for the claim, at most about `budget_words` words long."""
    whole = " ".join(e.strip() for e in evidence if e.strip())
    if len(whole.split()) <= budget_words:
        return whole
    pieces = [s for e in evidence for s in sentences(e)]
    return best_sentences(pieces, claim, budget_words, rng)
