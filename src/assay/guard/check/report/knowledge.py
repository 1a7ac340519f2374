"""What a report says of external verification: what came of the claims, of each source, and the findings."""

from collections.abc import Sequence

from assay.knowledge import Profile
from assay.schema import External, Issue, KnowledgeReport, SourceUse, SourceWord, Span, Verdict


def knowledge_report(
    mode: str, profiles: Sequence[Profile], words: Sequence[SourceWord], statuses: Sequence[str]
) -> KnowledgeReport:
    """The section of a report.

    Args:
        mode: what the policy lets sources do.
        profiles: the sources.
        words: what they said.
        statuses: what came of each claim that was looked up.
    """
    return KnowledgeReport(
        mode=mode,
        chosen=len(statuses),
        verified=statuses.count("verified"),
        refuted=statuses.count("refuted"),
        unverifiable=statuses.count("unverifiable"),
        sources=tuple(_use(profile, words) for profile in profiles),
    )


def _use(profile: Profile, words: Sequence[SourceWord]) -> SourceUse:
    own = [word for word in words if word.source == profile.name]
    skipped = sum(word.says == "skipped" for word in own)
    failed = sum(word.says == "failed" for word in own)
    return SourceUse(
        source=profile.name,
        kind=profile.kind,
        authority=profile.authority,
        asked=len(own) - skipped,
        answered=len(own) - skipped - failed,
        remembered=sum(word.age_s is not None for word in own),
        failed=failed,
        skipped=skipped,
    )


def knowledge_issues(external: External, span: Span) -> tuple[Issue, ...]:
    """What is reported of a claim besides who denies it: that sources disagree, or that it is refuted and only
    noted."""
    found = []
    if external.disagreement:
        words = [
            f"{w.source} {'supports it' if w.says == 'verifies' else 'says otherwise'}"
            for w in external.words
            if w.says in {"verifies", "refutes"}
        ]
        found.append(Issue(code="knowledge.disagreement", message=f"Sources disagree: {'; '.join(words)}.", span=span))
    if external.status == "refuted" and not external.changed and external.before is not Verdict.CONTRADICTED:
        found.append(Issue(code="knowledge.noted", message=external.message, span=span))
    return tuple(found)
