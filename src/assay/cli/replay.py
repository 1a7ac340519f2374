"""`assay audit replay`: a recorded check is run again, and the decision compared."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError
from assay.policy import Policy
from assay.schema import Evidence, HallucinationReport

if TYPE_CHECKING:
    from assay.guard import Guard

_CHECK: Final = frozenset({
    "answer", "question", "stakes", "task", "schema", "citations", "claim_free", "revisions_failed", "run_id",
    "structure", "as_of",
})  # fmt: skip
_RUN: Final = frozenset({
    "run", "format", "tools", "now", "sources", "question", "stakes", "task", "claim_free", "revisions_failed",
    "run_id",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Replay:
    """What a check came to then and now."""

    then: HallucinationReport
    now: HallucinationReport

    @property
    def same_decision(self) -> bool:
        """Whether the gate decides the same."""
        return (self.then.action, self.then.decision.route) == (self.now.action, self.now.decision.route)

    @property
    def same_report(self) -> bool:
        """Whether the whole report is the same, timing aside."""
        return bool(self._plain(self.then) == self._plain(self.now))

    @staticmethod
    def _plain(report: HallucinationReport) -> Any:
        return report.model_dump(mode="json", exclude={"timing"})

    @property
    def same_verifier(self) -> bool:
        """Whether the same verifier judged."""
        return self.then.verifier.digest == self.now.verifier.digest

    def lines(self) -> list[str]:
        """The comparison, for people."""
        then, now = self.then, self.now
        lines = [f"then  {_decision(then)}", f"now   {_decision(now)}"]
        if not self.same_verifier:
            lines.append(f"the verifier is another: then {then.verifier.name}, now {now.verifier.name}")
        if not self.same_report:
            moved = [
                f"claim {number}: {old.verdict.value} {_score(old.score)}, now {new.verdict.value} {_score(new.score)}"
                for number, (old, new) in enumerate(zip(then.claims, now.claims, strict=False), start=1)
                if (old.verdict, old.score) != (new.verdict, new.score)
            ]
            if len(then.claims) != len(now.claims):
                moved.append(f"{len(then.claims)} claims, now {len(now.claims)}")
            lines += moved or ["the reports differ in details only"]
        said = "the same decision" if self.same_decision else "ANOTHER DECISION"
        return [*lines, said + (", and the same report" if self.same_report else "")]


def _decision(report: HallucinationReport) -> str:
    return f"{report.action.value} ({report.decision.route}), score {_score(report.overall_score)}"


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:.4f}"


def content_of_bundle(lines: Sequence[str]) -> dict[str, Any]:
    """The content in a bundle of one run; verify the bundle first.

    Raises:
        InputError: it holds none.
    """
    for line in lines:
        if line.startswith('{"content":'):
            try:
                return dict(json.loads(line)["content"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError("expected a bundle of assay.audit/1, but its content cannot be read") from error
    raise InputError("expected a bundle of one run with its content; it was erased, or this is another bundle")


def replay(content: Mapping[str, Any], guard_of: Callable[[Policy], "Guard"], policy: Policy | None = None) -> Replay:
    """Run a recorded check again.

    Args:
        content: what a bundle has of the run (`assay.store.audit.exporting`).
        guard_of: makes a guard for a policy.
        policy: a policy in place of the one that decided.

    Raises:
        InputError: the content cannot be read, or the policy is not among it.
    """
    try:
        then = HallucinationReport.model_validate({**json.loads(content["report"]), "timing": {"total_ms": 0.0}})
        given = json.loads(content["asked"])
        evidence = _evidence(given["evidence"], content["evidence"])
        asked = dict(given["asked"])
        decided = None if content["policy"] is None else Policy.model_validate_json(content["policy"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"expected the content of a recorded run, but it cannot be read: {error}") from error
    chosen = policy or decided
    if chosen is None:
        raise InputError("expected the policy that decided, and it was not recorded; name one with --policy")
    if policy is None and chosen.digest != then.policy.digest:
        raise InputError("expected the policy that decided; this version of assay reads the recorded one otherwise")
    return Replay(then, _again(guard_of(chosen), asked, evidence))


def _evidence(pairs: Sequence[Sequence[str]], texts: Sequence[str]) -> tuple[Evidence, ...]:
    digests = list(dict.fromkeys(digest for _, digest in pairs))
    contents = dict(zip(digests, map(json.loads, texts), strict=True))
    return tuple(Evidence.model_validate({"id": name, **contents[digest]}) for name, digest in pairs)


def _again(guard: "Guard", asked: dict[str, Any], evidence: tuple[Evidence, ...]) -> HallucinationReport:
    if "calls" in asked:
        from assay.wire.recorded import calls_again

        return calls_again(guard, asked)
    whole = "run" in asked
    unknown = sorted(set(asked) - (_RUN if whole else _CHECK))
    if unknown:
        raise InputError(f"the check was given what cannot be given again: {', '.join(unknown)}")
    if not whole:
        answer = asked.pop("answer", None)
        if not isinstance(answer, str):
            raise InputError("expected the answer that was checked, and it was not recorded")
        return guard.check(answer, evidence, **asked)
    if asked.get("now") is not None:
        asked["now"] = datetime.fromisoformat(asked["now"])
    return guard.check_run(asked.pop("run"), evidence=evidence, **asked)
