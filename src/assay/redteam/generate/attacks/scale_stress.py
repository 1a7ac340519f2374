"""Scale stress: the relevant passage within a long context of other text from the corpus."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from assay.redteam.cases import Behavior, Case, Category, Passage
from assay.redteam.generate.building_blocks import attack, is_version_of, question_about, shuffled_facts, truth_fields
from assay.redteam.generate.corpus import Corpus
from assay.redteam.generate.facts import Fact

_CATEGORY: Final = Category.SCALE_STRESS
SIZES: Final = (1_000, 2_000, 4_000, 8_000)
"""Approximate tokens of the whole context."""
DEPTHS: Final = (0.5, 0.1, 0.75, 0.25, 0.9)
"""Relative positions of the passage: 0 is the beginning of the context, 1 its end."""
CHARACTERS_PER_TOKEN: Final = 4
"""English text has about four characters per token (the usual rule of thumb for BPE vocabularies)."""


def buried(corpus: Corpus, rng: Random) -> Iterator[Case]:
    """A question whose passage is somewhere in a long context."""
    for at, fact in enumerate(shuffled_facts(corpus, rng)):
        # Sizes change fastest, so that a small suite has every size; each round of sizes starts at another depth, so
        # that a large one has every size at every depth.
        size = SIZES[at % len(SIZES)]
        depth = DEPTHS[(at // len(SIZES) + at % len(SIZES)) % len(DEPTHS)]
        context = context_around(corpus, fact, size, depth, rng)
        if context is not None:
            yield attack(
                _CATEGORY,
                "buried",
                question_about(corpus, fact, rng),
                Behavior.FIND_AND_USE,
                (fact.passage,),
                context=context,
                plausibility=fact.plausibility,
                parameters={"tokens": size, "depth": depth},
                **truth_fields(fact),
            )


def context_around(corpus: Corpus, fact: Fact, tokens: int, depth: float, rng: Random) -> tuple[Passage, ...] | None:
    """A context with the passage of a fact among passages of other documents.

    Where the corpus is smaller than the context, passages are repeated in another order.

    Args:
        corpus: the corpus.
        fact: the fact whose passage is buried.
        tokens: the approximate length of the context.
        depth: the relative position of the passage, from 0 to 1.
        rng: the source of the order.

    Returns:
        The passages, or none where the corpus has no other text.
    """
    others = [
        passage
        for passage in corpus.passages()
        if passage.source != fact.passage.source and not is_version_of(corpus, passage, fact.passage)
    ]
    if not others:
        return None
    wanted_length = tokens * CHARACTERS_PER_TOKEN - len(fact.passage.text)
    filler: list[Passage] = []
    length, round_number = 0, 0
    while length < wanted_length:
        round_number += 1
        for passage in rng.sample(others, len(others)):
            filler.append(
                passage if round_number == 1 else passage.model_copy(update={"id": f"{passage.id}~{round_number}"})
            )
            length += len(passage.text)
            if length >= wanted_length:
                break
    index = 0
    length_before = 0
    while index < len(filler) and length_before < depth * length:
        length_before += len(filler[index].text)
        index += 1
    return (*filler[:index], fact.passage, *filler[index:])


RULES: Final[tuple[Callable[[Corpus, Random], Iterator[Case]], ...]] = (buried,)
