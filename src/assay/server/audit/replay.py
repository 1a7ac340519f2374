"""Replays of recorded checks: to compare the decision, or to have another guard decide on what was recorded.

An honest record is never accused. A check that cannot be repeated exactly is refused with the reason: completions of
chat models that were not recorded, a verifier other than the one that is installed, a policy that this version reads
differently. "Another decision" is reported only where everything that the decision depends on is the same.
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
"""Creates a guard for a policy, with a chat model and a budget where recorded completions are replayed."""

_JUDGE_PURPOSES: Final = ("judge", "judge_omissions")
_GENERATION_OPTIONS: Final = frozenset(
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

_CHECK_OPTIONS: Final = frozenset(
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
_RUN_OPTIONS: Final = frozenset(
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
    """The reports of a check when it was recorded and now."""

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
        """The comparison as lines of text."""
        then, now = self.then, self.now
        lines = [f"then  {_decision(then)}", f"now   {_decision(now)}"]
        if not self.same_verifier:
            lines.append(f"the verifier is another: then {then.verifier.name}, now {now.verifier.name}")
        if not self.same_report:
            differences = [
                f"claim {number}: {old.verdict.value} {_score(old.score)}, now {new.verdict.value} {_score(new.score)}"
                for number, (old, new) in enumerate(zip(then.claims, now.claims, strict=False), start=1)
                if (old.verdict, old.score) != (new.verdict, new.score)
            ]
            if len(then.claims) != len(now.claims):
                differences.append(f"{len(then.claims)} claims, now {len(now.claims)}")
            lines += differences or ["the reports differ in details only"]
        outcome = "the same decision" if self.same_decision else "ANOTHER DECISION"
        return [*lines, outcome + (", and the same report" if self.same_report else "")]


def _decision(report: HallucinationReport) -> str:
    return f"{report.action.value} ({report.decision.route}), score {_score(report.overall_score)}"


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:.4f}"


def content_of_bundle(lines: Sequence[str]) -> dict[str, Any]:
    """The content in a bundle of one run; verify the bundle first.

    Raises:
        InputError: the bundle has no content, or it cannot be read.
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
        content: the content of the run in a bundle (`assay.store.audit.export`).
        guard_of: creates a guard for a policy, with the options given.
        policy: a policy in place of the one that decided.
        other_verifier: whether a verifier other than the recorded one may judge, to see what it would decide.

    Raises:
        InputError: the content cannot be read, or the check cannot be repeated as it was; the message says why.
    """
    try:
        then = HallucinationReport.model_validate({**json.loads(content["report"]), "timing": {"total_ms": 0.0}})
        recorded = json.loads(content["asked"])
        evidence = _read_evidence(recorded["evidence"], content["evidence"])
        asked = dict(recorded["asked"])
        decided = None if content["policy"] is None else Policy.model_validate_json(content["policy"])
        tape = None if content.get("tape") is None else dict(json.loads(content["tape"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"expected the content of a recorded run, but it cannot be read: {error}") from error
    in_force = policy or decided
    if in_force is None:
        raise InputError("expected the policy that decided, and it was not recorded; name one with --policy")
    if policy is None and in_force.digest != then.policy.digest:
        raise InputError("expected the policy that decided; this version of assay reads the recorded one otherwise")
    models = chat_models_in(then)
    # Another policy may ask no chat model and no source.
    knowledge = None if tape is None else tape.pop("knowledge", None)
    if tape is not None and "model" not in tape:
        tape = None
    if knowledge is None and then.knowledge is not None and then.knowledge.chosen and policy is None:
        raise InputError("it cannot be replayed without what sources of knowledge said: it is not recorded")
    if models and tape is None and (policy is None or _needs_model(policy) or then.generation is not None):
        raise InputError(f"it cannot be replayed without the completions of {_listed(models)}: they are not recorded")
    if tape is None and then.judge is not None and then.judge.model is not None:
        # A model was configured, and nothing was asked of it.
        tape = {"form": 1, "model": then.judge.model, "digest": "", "answers": []}
    model = None if tape is None else _replayed_model(tape)
    # No budget is needed: the tape has every budget that was used up. Recorded answers of sources are replayed too.
    sources = {} if knowledge is None else {"knowledge": _recorded_sources(knowledge)}
    guard = guard_of(in_force, **({} if model is None else {"llm": model, "budget": _unbounded()}), **sources)
    if not other_verifier and guard.verifier.digest != then.verifier.digest:
        raise InputError(_verifier_differs(then.verifier, guard.verifier))
    try:
        now = _check_recorded(guard, asked, evidence)
    except InputError as error:
        if model is None or not model.missing:
            raise
        raise InputError(_tape_differs(models)) from error
    if model is not None and (model.missing or (policy is None and model.left)):
        raise InputError(_tape_differs(models))
    return Replay(then, now)


def check_again(content: Mapping[str, Any], guard: "Guard") -> HallucinationReport:
    """The report of another guard on a recorded output, whichever models took part in the recorded check.

    A generated text is not generated again: the recorded text is checked.

    Args:
        content: the content of the run in a bundle.
        guard: the guard; its chat model, where it has one, is asked anew.

    Raises:
        InputError: the content cannot be read, or the check cannot be made again.
    """
    try:
        recorded = json.loads(content["asked"])
        evidence = _read_evidence(recorded["evidence"], content["evidence"])
        asked = dict(recorded["asked"])
        output = json.loads(content["report"])["output"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"expected the content of a recorded run, but it cannot be read: {error}") from error
    if "generate" in asked:
        asked.pop("generate")
        asked["answer"] = output
    if "calls" in asked:
        raise InputError("expected a text that was checked, and this is a record of calls")
    return _check_recorded(guard, asked, evidence)


def chat_models_in(report: HallucinationReport) -> tuple[str, ...]:
    """The chat models that took part in a check, so that a replay needs their completions.

    Models that wrote or revised the text are not among them where only the text was checked: the text is recorded.
    """
    found = []
    judged = {one.purpose: one.model for one in report.spending if one.requests and one.purpose in _JUDGE_PURPOSES}
    if report.judge is not None and report.judge.model is not None and (report.judge.chosen or judged):
        found.append(f"the judge ({report.judge.model})")
    elif judged:
        found.append(f"the judge ({', '.join(dict.fromkeys(judged.values()))})")
    if report.consistency_probes or any(one.requests and one.purpose == "probe" for one in report.spending):
        found.append("the probes")
    if report.generation is not None:
        found.append("the chain that made the answer" if report.generation.chain else "the model that wrote the answer")
    return tuple(found)


def _replayed_model(tape: Mapping[str, Any]) -> "Replayed":
    from assay.models.chat import Replayed

    return Replayed(tape)


def _recorded_sources(tape: Mapping[str, Any]) -> "RecordedKnowledge":
    from assay.knowledge import RecordedKnowledge

    return RecordedKnowledge(tape)


def _needs_model(policy: Policy) -> bool:
    from assay.guard.check import wants_model

    return wants_model(policy)


def _unbounded() -> "Budget":
    from assay.models.chat import Budget

    return Budget(calls=None, tokens=None, seconds=None)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


def _verifier_differs(then: Identity, now: Identity) -> str:
    named = "" if then.name == now.name else f" ({then.name} then, {now.name} now)"
    return (
        f"it cannot be replayed by another verifier than the one that judged: its weights, combination, rules or "
        f"version differ{named}, digest {then.digest[:12]} then, {now.digest[:12]} now; install that one, or name "
        "another network with --model to see what it would say"
    )


def _tape_differs(models: Sequence[str]) -> str:
    return (
        f"it cannot be replayed without further completions of {_listed(models) or 'the chat model'}: what is "
        "asked now is not what was asked when it was recorded, under other settings or another version"
    )


def _read_evidence(pairs: Sequence[Sequence[str]], texts: Sequence[str]) -> tuple[Evidence, ...]:
    digests = list(dict.fromkeys(digest for _, digest in pairs))
    contents = dict(zip(digests, map(json.loads, texts), strict=True))
    return tuple(Evidence.model_validate({"id": name, **contents[digest]}) for name, digest in pairs)


def _check_recorded(guard: "Guard", asked: dict[str, Any], evidence: tuple[Evidence, ...]) -> HallucinationReport:
    if "unchecked" in asked:
        raise InputError("it cannot be replayed: nothing could be checked then, and what came is not recorded")
    if "generate" in asked:
        return _generate_recorded(guard, asked, evidence)
    if "calls" in asked:
        from assay.wire import calls_again

        return calls_again(guard, asked)
    whole = "run" in asked
    unknown = sorted(set(asked) - (_RUN_OPTIONS if whole else _CHECK_OPTIONS))
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


def _generate_recorded(guard: "Guard", asked: dict[str, Any], evidence: tuple[Evidence, ...]) -> HallucinationReport:
    """A generated answer, generated again from the recorded completions."""
    options = asked.pop("generate")
    question = asked.pop("question", None)
    unknown = sorted((set(asked) - _CHECK_OPTIONS) | (set(options) - _GENERATION_OPTIONS))
    if unknown or not isinstance(question, str):
        raise InputError(f"the generation was given what cannot be given again: {', '.join(unknown) or 'no question'}")
    return guard.generate(question, evidence, **options, **asked)
