"""Words with the same meaning in the sentences of answers and evidence.

The list is deliberately short: it serves to see that two numbers are about the same thing, never to support a claim.
"""

from assay.text.lexicon.lexemes import stem, word_set

_GROUPS = """
arrive arrival eta delivery deliver delivered reach; inform tell notify notice announce; start begin commence launch;
end finish conclude; close closing closure; last duration lasting run length long; cost price fee charge rate pay;
total sum amount overall; employ employee staff worker workforce personnel; holiday vacation leave;
crowd attendance spectator audience watch; rise increase grow climb gain; fall drop decline decrease;
hire recruit; purchase buy bought; owe due payable; keep retain store; allow permit; need require must;
found establish create; lead head chief; maximum limit max; minimum min; member membership;
resident inhabitant people population live;
salary wage pay; headquarters based office; child kid children; journey trip voyage; improve better; dose dosage;
contain include hold item; size area cover big large; win beat defeat; help support assist handle;
wide width; high height tall;
return send; shop store; doctor physician; test exam; car vehicle; error bug fault; term period; firm company business;
terminate cancel end
"""


def _parse_groups(groups: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in groups.replace("\n", " ").split(";"):
        stems = {stem(word) for word in group.split()}
        for word in stems:
            found.setdefault(word, set()).update(stems - {word})
    return {word: frozenset(others) for word, others in found.items()}


SYNONYMS: dict[str, frozenset[str]] = _parse_groups(_GROUPS)
"""Stems, each with the stems that may replace it."""

GENERIC_NOUNS = word_set(
    """model system company policy product service tool app application platform device firm organisation organization
    plan program programme course drug study trial team club library package api server agency authority software
    medication medicine vaccine treatment machine phone laptop car hotel school university museum project contract"""
)
"""Nouns that, after an article, refer to a name mentioned before: "the model"."""

PRONOUNS = word_set("it they she he this these we you")
"""Pronouns that refer to a subject mentioned before."""

LIGHT_VERBS = frozenset(
    stem(word)
    for word in word_set(
        """get give have receive entitle eligible award offer take provide qualify include need allow obtain grant
        given gets got come go make"""
    )
)
"""Stems of verbs that say nothing about what a number counts."""
