"""Made-up answers and evidence of any size for timing; the same for the same seed."""

from __future__ import annotations

import random

PLACES = ("Arden", "Belmore", "Corvo", "Dunmere", "Elsworth", "Farrow", "Glaston", "Hollin", "Ivel", "Jessop")
THINGS = ("clinic", "library", "ferry", "reservoir", "theatre", "warehouse", "school", "observatory", "bakery", "depot")
PEOPLE = ("Ana Prado", "Luis Bergman", "Mei Tanaka", "Omar Haddad", "Ruth Okafor", "Sven Lindqvist", "Tara Nolan")
FORMS = (
    "The {thing} in {place} opened in {year} after {person} had raised {n} million euros for the building.",
    "According to {person}, the {thing} of {place} serves about {n} thousand people each month.",
    "In {year} the council of {place} approved a plan to extend the {thing}, subject to a review of costs.",
    "{person} has managed the {thing} in {place} since {year}, with a staff of {n} and a small reserve of helpers.",
    "Repairs to the {thing} near {place} took {n} weeks and were paid for by the region.",
    "Members may use the {thing} in {place} on weekdays; guests need written approval from {person}.",
)


def sentence(rng: random.Random) -> str:
    """One statement of about twenty words."""
    values = {
        "thing": rng.choice(THINGS),
        "place": rng.choice(PLACES),
        "person": rng.choice(PEOPLE),
        "year": rng.randint(1890, 2025),
        "n": rng.randint(2, 90),
    }
    return rng.choice(FORMS).format(**values)


def passage(rng: random.Random, words: int) -> str:
    """Sentences up to about that many words."""
    parts: list[str] = []
    while sum(len(p.split()) for p in parts) < words:
        parts.append(sentence(rng))
    return " ".join(parts)


def typical(seed: int, claims: int = 6, passages: int = 5, words: int = 200) -> tuple[list[str], list[str]]:
    """An answer in statements, half of them out of the evidence, and the evidence."""
    rng = random.Random(seed)
    evidence = [passage(rng, words) for _ in range(passages)]
    said = [rng.choice(p.split(". ")).rstrip(".") + "." for p in evidence * (claims // (2 * passages) + 1)]
    return [*said[: claims // 2], *(sentence(rng) for _ in range(claims - claims // 2))], evidence
