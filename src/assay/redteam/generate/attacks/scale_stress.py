"""Scale stress: the passage that matters in the middle of much other text of the corpus."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from assay.redteam.cases import Behavior, Case, Category, Passage
from assay.redteam.generate.corpus import Corpus
from assay.redteam.generate.facts import Fact
from assay.redteam.generate.writing import asking, attack, facts, is_version_of, truth

_HERE: Final = Category.SCALE_STRESS
SIZES: Final = (1_000, 2_000, 4_000, 8_000)
"""Tokens of the whole context, about."""
DEPTHS: Final = (0.5, 0.1, 0.75, 0.25, 0.9)
"""Where the passage stands: 0 is the beginning, 1 the end."""
CHARACTERS_PER_TOKEN: Final = 4
"""English text has about four characters a token (the usual rule of thumb for BPE vocabularies)."""


def buried(corpus: Corpus, rng: Random) -> Iterator[Case]:
    """A question whose passage stands somewhere in a long context."""
    for at, fact in enumerate(facts(corpus, rng)):
        # Sizes change fastest, so that a short run has every size; each round of them begins at another depth, so that
        # a long one has every size at every depth.
        size = SIZES[at % len(SIZES)]
        depth = DEPTHS[(at // len(SIZES) + at % len(SIZES)) % len(DEPTHS)]
        context = around(corpus, fact, size, depth, rng)
        if context is not None:
            yield attack(
                _HERE,
                "buried",
                asking(corpus, fact, rng),
                Behavior.FIND_AND_USE,
                (fact.passage,),
                context=context,
                plausibility=fact.plausibility,
                parameters={"tokens": size, "depth": depth},
                **truth(fact),
            )


def around(corpus: Corpus, fact: Fact, tokens: int, depth: float, rng: Random) -> tuple[Passage, ...] | None:
    """A context of about so many tokens with the passage of a fact at a depth; none where the corpus has no other text.

    The other passages are of other documents. Where the corpus is smaller than the context they come again, in
    another order.
    """
    others = [
        one
        for one in corpus.passages()
        if one.source != fact.passage.source and not is_version_of(corpus, one, fact.passage)
    ]
    if not others:
        return None
    wanted = tokens * CHARACTERS_PER_TOKEN - len(fact.passage.text)
    filler: list[Passage] = []
    length, turn = 0, 0
    while length < wanted:
        turn += 1
        for one in rng.sample(others, len(others)):
            filler.append(one if turn == 1 else one.model_copy(update={"id": f"{one.id}~{turn}"}))
            length += len(one.text)
            if length >= wanted:
                break
    place = 0
    before = 0
    while place < len(filler) and before < depth * length:
        before += len(filler[place].text)
        place += 1
    return (*filler[:place], fact.passage, *filler[place:])


RULES: Final[tuple[Callable[[Corpus, Random], Iterator[Case]], ...]] = (buried,)
