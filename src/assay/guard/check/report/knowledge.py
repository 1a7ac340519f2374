"""External verification in the report: the statuses of claims, the use of each source, and the issues."""

from collections.abc import Sequence

from assay.knowledge import Profile
from assay.schema import External, Issue, KnowledgeReport, SourceUse, SourceWord, Span, Verdict


def knowledge_report(
    mode: str, profiles: Sequence[Profile], words: Sequence[SourceWord], statuses: Sequence[str]
) -> KnowledgeReport:
    """The section of a report on external verification.

    Args:
        mode: what the policy lets sources do.
        profiles: the profiles of the sources.
        words: the words of the sources.
        statuses: the status of each claim that was looked up.
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
    """The issues that sources disagree about a claim, or refute it under a policy that only notes it."""
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
