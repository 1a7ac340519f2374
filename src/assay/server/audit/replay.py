"""A recorded check is run again: to compare the decision, or to have another guard look at what was recorded.

An honest record is never accused. What cannot be run again as it was is refused with the reason: completions of chat
models that took part and were not recorded, another verifier than the one that is installed, another reading of the
policy. "Another decision" is said only where all that the decision hung on is the same.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError
from assay.policy import Policy
from assay.schema import Evidence, HallucinationReport, Identity

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.knowledge import RecordedKnowledge
    from assay.models.chat import Budget, Replayed

GuardOf = Callable[..., "Guard"]
"""Makes a guard for a policy, with a chat model and a budget where a recorded one is asked again."""

_JUDGES: Final = ("judge", "judge_omissions")
_GENERATED: Final = frozenset(
    {
        "ungrounded",
        "attempts",
        "samples",
        "chain",
        "evidence_tokens",
        "max_tokens",
        "temperature",
    }
)
"""The options of `Guard.generate` that can be recorded."""

_CHECK: Final = frozenset(
    {
        "answer",
        "question",
        "stakes",
        "task",
        "schema",
        "citations",
        "claim_free",
        "revisions_failed",
        "run_id",
        "structure",
        "as_of",
    }
)
_RUN: Final = frozenset(
    {
        "run",
        "format",
        "tools",
        "now",
        "sources",
        "question",
        "stakes",
        "task",
        "claim_free",
        "revisions_failed",
        "run_id",
    }
)


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


def replay(
    content: Mapping[str, Any], guard_of: "GuardOf", policy: Policy | None = None, *, other_verifier: bool = False
) -> Replay:
    """Run a recorded check again.

    Args:
        content: what a bundle has of the run (`assay.store.audit.export`).
        guard_of: makes a guard for a policy, with the options given.
        policy: a policy in place of the one that decided.
        other_verifier: whether another verifier than the one that judged may judge now: to see what it would say.

    Raises:
        InputError: the content cannot be read, or the check cannot be run again as it was; the message says why.
    """
    try:
        then = HallucinationReport.model_validate({**json.loads(content["report"]), "timing": {"total_ms": 0.0}})
        given = json.loads(content["asked"])
        evidence = _evidence(given["evidence"], content["evidence"])
        asked = dict(given["asked"])
        decided = None if content["policy"] is None else Policy.model_validate_json(content["policy"])
        tape = None if content.get("tape") is None else dict(json.loads(content["tape"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"expected the content of a recorded run, but it cannot be read: {error}") from error
    chosen = policy or decided
    if chosen is None:
        raise InputError("expected the policy that decided, and it was not recorded; name one with --policy")
    if policy is None and chosen.digest != then.policy.digest:
        raise InputError("expected the policy that decided; this version of assay reads the recorded one otherwise")
    took_part = heard_in(then)
    # Another policy may ask nobody.
    knowledge = None if tape is None else tape.pop("knowledge", None)
    if tape is not None and "model" not in tape:
        tape = None
    if knowledge is None and then.knowledge is not None and then.knowledge.chosen and policy is None:
        raise InputError("it cannot be replayed without what sources of knowledge said: it is not recorded")
    if took_part and tape is None and (policy is None or _wants_model(policy) or then.generation is not None):
        raise InputError(
            f"it cannot be replayed without the completions of {_listed(took_part)}: they are not recorded"
        )
    if tape is None and then.judge is not None and then.judge.model is not None:
        # There was a model at hand, and nothing to ask it.
        tape = {"form": 1, "model": then.judge.model, "digest": "", "answers": []}
    model = None if tape is None else _replayed(tape)
    # Every budget that was used up is on the tape.
    # Nobody is asked again: what sources said then is said again.
    sources = {} if knowledge is None else {"knowledge": _recorded(knowledge)}
    guard = guard_of(chosen, **({} if model is None else {"llm": model, "budget": _unbounded()}), **sources)
    if not other_verifier and guard.verifier.digest != then.verifier.digest:
        raise InputError(_other_verifier(then.verifier, guard.verifier))
    try:
        now = _again(guard, asked, evidence)
    except InputError as error:
        if model is None or not model.missing:
            raise
        raise InputError(_off_the_tape(took_part)) from error
    if model is not None and (model.missing or (policy is None and model.left)):
        raise InputError(_off_the_tape(took_part))
    return Replay(then, now)


def check_again(content: Mapping[str, Any], guard: "Guard") -> HallucinationReport:
    """What another guard says of what was recorded, whoever took part then.

    A text that was generated is not generated again: what came of it is checked.

    Args:
        content: what a bundle has of the run.
        guard: what checks; where it has a chat model, that is asked again.

    Raises:
        InputError: the content cannot be read, or the check cannot be made again.
    """
    try:
        given = json.loads(content["asked"])
        evidence = _evidence(given["evidence"], content["evidence"])
        asked = dict(given["asked"])
        output = json.loads(content["report"])["output"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"expected the content of a recorded run, but it cannot be read: {error}") from error
    if "generate" in asked:
        asked.pop("generate")
        asked["answer"] = output
    if "calls" in asked:
        raise InputError("expected a text that was checked, and this is a record of calls")
    return _again(guard, asked, evidence)


def heard_in(report: HallucinationReport) -> tuple[str, ...]:
    """Who of chat models took part in a check, so that it cannot be run again without what they said.

    Models that wrote or revised the text are not among them where only the text was checked: it is recorded.
    """
    found = []
    judged = {one.purpose: one.model for one in report.spending if one.requests and one.purpose in _JUDGES}
    if report.judge is not None and report.judge.model is not None and (report.judge.chosen or judged):
        found.append(f"the judge ({report.judge.model})")
    elif judged:
        found.append(f"the judge ({', '.join(dict.fromkeys(judged.values()))})")
    if report.consistency_probes or any(one.requests and one.purpose == "probe" for one in report.spending):
        found.append("the probes")
    if report.generation is not None:
        found.append("the chain that made the answer" if report.generation.chain else "the model that wrote the answer")
    return tuple(found)


def _replayed(tape: Mapping[str, Any]) -> "Replayed":
    from assay.models.chat import Replayed

    return Replayed(tape)


def _recorded(tape: Mapping[str, Any]) -> "RecordedKnowledge":
    from assay.knowledge import RecordedKnowledge

    return RecordedKnowledge(tape)


def _wants_model(policy: Policy) -> bool:
    from assay.guard.check import wants_model

    return wants_model(policy)


def _unbounded() -> "Budget":
    from assay.models.chat import Budget

    return Budget(calls=None, tokens=None, seconds=None)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


def _other_verifier(then: Identity, now: Identity) -> str:
    named = "" if then.name == now.name else f" ({then.name} then, {now.name} now)"
    return (
        f"it cannot be replayed by another verifier than the one that judged: its weights, combination, rules or "
        f"version differ{named}, digest {then.digest[:12]} then, {now.digest[:12]} now; install that one, or name "
        "another network with --model to see what it would say"
    )


def _off_the_tape(took_part: Sequence[str]) -> str:
    return (
        f"it cannot be replayed without further completions of {_listed(took_part) or 'the chat model'}: what is "
        "asked now is not what was asked when it was recorded, under other settings or another version"
    )


def _evidence(pairs: Sequence[Sequence[str]], texts: Sequence[str]) -> tuple[Evidence, ...]:
    digests = list(dict.fromkeys(digest for _, digest in pairs))
    contents = dict(zip(digests, map(json.loads, texts), strict=True))
    return tuple(Evidence.model_validate({"id": name, **contents[digest]}) for name, digest in pairs)


def _again(guard: "Guard", asked: dict[str, Any], evidence: tuple[Evidence, ...]) -> HallucinationReport:
    if "unchecked" in asked:
        raise InputError("it cannot be replayed: nothing could be checked then, and what came is not recorded")
    if "generate" in asked:
        return _generated(guard, asked, evidence)
    if "calls" in asked:
        from assay.wire import calls_again

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


def _generated(guard: "Guard", asked: dict[str, Any], evidence: tuple[Evidence, ...]) -> HallucinationReport:
    """The answer to a question that was generated, generated again out of what was said then."""
    how = asked.pop("generate")
    question = asked.pop("question", None)
    unknown = sorted((set(asked) - _CHECK) | (set(how) - _GENERATED))
    if unknown or not isinstance(question, str):
        raise InputError(f"the generation was given what cannot be given again: {', '.join(unknown) or 'no question'}")
    return guard.generate(question, evidence, **how, **asked)
