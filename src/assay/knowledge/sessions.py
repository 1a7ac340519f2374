"""The session in which one check asks its sources: within a budget, under each source's limits, in threads.

A session asks one source at a time about several claims at once. The budget is a deadline, after which nothing is
waited for; an answer that arrives later is dropped. Threads that hang are left to their own deadlines: they keep their
slot at the source, so that there are never more of them than questions allowed at once.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from assay.errors import AssayError, InputError, SourceError
from assay.knowledge.interface import Deadline, Inquiry, Profile, Source, SourceAnswer
from assay.knowledge.outcome import FORM, Outcome, Status, key_of, profile_from, tape_of
from assay.knowledge.resilience import AnswerCache, CircuitBreaker, RateLimiter
from assay.text.lexicon import find_words

OWN_TENANT = "default"
"""The tenant of a check for which none is named: the operator itself."""


class Session(Protocol):
    """The questions of one check to its sources."""

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The sources from the highest authority to the lowest."""
        ...

    def ask(self, source: int, inquiries: Sequence[Inquiry]) -> list[Outcome]:
        """The outcome of each inquiry at one source; never raises, and never takes longer than the budget."""
        ...

    def tape(self) -> dict[str, Any] | None:
        """All questions and answers as a JSON value; none where nothing was asked."""
        ...


class KnowledgeBase(Protocol):
    """All the sources of a guard."""

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The sources from the highest authority to the lowest."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the sources and their settings."""
        ...

    def session(self, tenant: str | None, budget_s: float) -> Session:
        """A session for one check."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


@dataclass(slots=True)
class _Member:
    profile: Profile
    source: Source
    rate: RateLimiter
    breaker: CircuitBreaker
    slots: threading.Semaphore


class Knowledge:
    """Sources by authority. Safe to share between threads and guards."""

    def __init__(
        self,
        sources: Sequence[tuple[Profile, Source]],
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Order sources by authority; those of the same authority keep their order.

        Args:
            sources: each source with its profile.
            clock: a monotonic clock, in seconds.
            now: the time that is recorded.
        """
        ordered = sorted(sources, key=lambda one: one[0].rank)
        self._clock, self._now = clock, now
        self._members = [
            _Member(
                profile,
                source,
                RateLimiter(profile.per_minute, clock),
                CircuitBreaker(profile.failures, profile.rest_s, clock),
                threading.Semaphore(profile.at_once),
            )
            for profile, source in ordered
        ]
        self._cache = AnswerCache(clock=clock)

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The sources from the highest authority to the lowest."""
        return tuple(one.profile for one in self._members)

    @property
    def digest(self) -> str:
        """Identifies the sources and their settings."""
        members = [(repr(one.profile), one.source.digest) for one in self._members]
        return hashlib.sha256(json.dumps(members).encode()).hexdigest()

    def session(self, tenant: str | None, budget_s: float) -> Session:
        """A session for one check; the budget starts with its first question."""
        return _LiveSession(self, OWN_TENANT if tenant is None else tenant, budget_s)

    def close(self) -> None:
        """Close files and connections."""
        for one in self._members:
            one.source.close()


@dataclass(slots=True)
class _Batch:
    """Questions to one source that several threads process, until the batch is closed."""

    left: deque[tuple[int, Inquiry]]
    finished: dict[int, Outcome] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    complete: threading.Event = field(default_factory=threading.Event)
    closed: bool = False

    def take(self) -> tuple[int, Inquiry] | None:
        with self.lock:
            return None if self.closed or not self.left else self.left.popleft()

    def put(self, at: int, outcome: Outcome, total: int) -> None:
        with self.lock:
            if self.closed:
                return  # too late: an answer after the budget never counts
            self.finished[at] = outcome
            if len(self.finished) == total:
                self.complete.set()

    def close(self) -> dict[int, Outcome]:
        with self.lock:
            self.closed = True
            return dict(self.finished)


class _LiveSession:
    """A session that asks the sources."""

    def __init__(self, base: Knowledge, tenant: str, budget_s: float) -> None:
        self._base, self._tenant, self._budget_s = base, tenant, budget_s
        self._deadline: Deadline | None = None
        self._outcomes: dict[tuple[str, str], Outcome] = {}

    @property
    def profiles(self) -> tuple[Profile, ...]:
        return self._base.profiles

    def tape(self) -> dict[str, Any] | None:
        return tape_of(self.profiles, list(self._outcomes.values()))

    def ask(self, source: int, inquiries: Sequence[Inquiry]) -> list[Outcome]:
        member = self._base._members[source]  # noqa: SLF001 of its own
        name = member.profile.name
        if self._deadline is None:
            self._deadline = Deadline(self._budget_s, self._base._clock)  # noqa: SLF001 of its own
        new = {key_of(one): one for one in inquiries if (name, key_of(one)) not in self._outcomes}
        if new:
            for outcome in self._ask_all(member, list(new.values()), self._deadline):
                self._outcomes[name, outcome.key] = outcome
        return [self._outcomes[name, key_of(one)] for one in inquiries]

    def _ask_all(self, member: _Member, inquiries: Sequence[Inquiry], deadline: Deadline) -> list[Outcome]:
        """The outcomes of the inquiries, several of which are asked at a time."""
        outcomes = {
            at: early for at, one in enumerate(inquiries) if (early := self._known_outcome(member, one)) is not None
        }
        pending = [(at, one) for at, one in enumerate(inquiries) if at not in outcomes]
        batch = _Batch(deque(pending))
        profile = member.profile
        threads = min(profile.at_once, len(pending))
        for number in range(threads):
            threading.Thread(
                target=self._run_worker,
                args=(member, batch, deadline, len(pending)),
                daemon=True,
                name=f"assay-knowledge-{profile.name}-{number}",
            ).start()
        if pending:
            # A source that exceeds its own time limit is not waited for longer than all of its limits together.
            rounds = -(-len(pending) // max(1, threads))
            most = deadline.left if profile.per_minute is not None else rounds * profile.timeout_s + 0.05
            batch.complete.wait(min(deadline.left, most))
        finished = batch.close()
        for at, one in pending:
            outcomes[at] = finished[at] if at in finished else self._timed_out(member, one, deadline)
        return [outcomes[at] for at in range(len(inquiries))]

    def _timed_out(self, member: _Member, inquiry: Inquiry, deadline: Deadline) -> Outcome:
        member.breaker.failed()
        within = "the latency budget of the check" if deadline.left <= 0 else f"{member.profile.timeout_s:g} seconds"
        return self._outcome(member, inquiry, "failed", f"{member.profile.name} did not answer within {within}.")

    def _known_outcome(self, member: _Member, inquiry: Inquiry) -> Outcome | None:
        """The outcome that is known without asking (out of scope, off topic, cached); none where it has to ask."""
        profile = member.profile
        if not profile.scope.allows(self._tenant):
            return self._outcome(
                member,
                inquiry,
                "skipped",
                f"The scope of {profile.name} does not allow text of {self._tenant}.",
                shown=Inquiry(),
            )
        if profile.about and not profile.about & {word.stem for word in find_words(inquiry.claim).lexemes}:
            return self._outcome(
                member, inquiry, "skipped", f"The claim is not about what {profile.name} knows.", shown=Inquiry()
            )
        if profile.cache_s > 0:
            kept = self._base._cache.get(self._key(member, inquiry), profile.cache_s)  # noqa: SLF001 of its own
            if kept is not None:
                return self._answer(member, inquiry, kept.found, 0.0, kept.age_s)
        return None

    def _key(self, member: _Member, inquiry: Inquiry) -> str:
        shown = inquiry.limited(member.profile.scope.sends).as_json()
        parts = [member.profile.name, member.source.digest, self._tenant, shown]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _run_worker(self, member: _Member, batch: _Batch, deadline: Deadline, total: int) -> None:
        """Process the questions of a batch until none is left; the body of one thread."""
        while (next_question := batch.take()) is not None:
            at, inquiry = next_question
            batch.put(at, self._ask_once(member, inquiry, deadline), total)

    def _ask_once(self, member: _Member, inquiry: Inquiry, deadline: Deadline) -> Outcome:
        """The outcome of asking the source once, if its limits allow it."""
        profile = member.profile
        if deadline.left < profile.latency_s:
            return self._outcome(
                member, inquiry, "skipped", f"The latency budget leaves no time to ask {profile.name}."
            )
        if not member.breaker.closed():
            return self._outcome(
                member,
                inquiry,
                "skipped",
                f"{profile.name} failed {profile.failures} times in a row and is left alone.",
            )
        while (wait := member.rate.wait()) > 0:
            if wait + profile.latency_s > deadline.left:
                return self._outcome(member, inquiry, "skipped", f"{profile.name} may be asked no more often for now.")
            time.sleep(wait)
        if not member.slots.acquire(timeout=deadline.left):
            return self._outcome(member, inquiry, "skipped", f"{profile.name} is busy with other questions.")
        begun = time.perf_counter()
        try:
            own = Deadline(min(profile.timeout_s, deadline.left))
            found = member.source.ask(inquiry.limited(profile.scope.sends), own)
        except SourceError as error:
            return self._failed(member, inquiry, begun, f"{profile.name} could not be asked: {error}.")
        except Exception as error:  # noqa: BLE001 code of any source, at the edge of a thread: the outcome is "failed"
            said = str(error) if isinstance(error, AssayError) else type(error).__name__
            return self._failed(member, inquiry, begun, f"{profile.name} failed: {said}.")
        finally:
            member.slots.release()
        member.breaker.worked()
        if profile.cache_s > 0:
            self._base._cache.put(self._key(member, inquiry), found)  # noqa: SLF001 of its own
        return self._answer(member, inquiry, found, (time.perf_counter() - begun) * 1000, None)

    def _failed(self, member: _Member, inquiry: Inquiry, begun: float, reason: str) -> Outcome:
        member.breaker.failed()
        return self._outcome(member, inquiry, "failed", reason, (time.perf_counter() - begun) * 1000)

    def _answer(
        self, member: _Member, inquiry: Inquiry, found: SourceAnswer, elapsed_ms: float, age_s: float | None
    ) -> Outcome:
        name = member.profile.name
        if found.passages:
            return self._outcome(member, inquiry, "answered", None, elapsed_ms, found, age_s)
        if found.partial and member.profile.complete:
            reason = f"{name} has nothing on it, but a part of it could not be read."
            return self._outcome(member, inquiry, "failed", reason, elapsed_ms, found, age_s)
        reason = (
            f"{name} has nothing on it." if found.asked else f"The claim names nothing that {name} could be asked for."
        )
        return self._outcome(member, inquiry, "nothing", reason, elapsed_ms, found, age_s)

    def _outcome(
        self,
        member: _Member,
        inquiry: Inquiry,
        status: Status,
        reason: str | None,
        elapsed_ms: float = 0.0,
        found: SourceAnswer | None = None,
        age_s: float | None = None,
        shown: Inquiry | None = None,
    ) -> Outcome:
        seen = inquiry.limited(member.profile.scope.sends) if shown is None else shown
        return Outcome(
            member.profile.name,
            status,
            key_of(inquiry),
            seen.as_json(),
            self._base._now().isoformat(timespec="milliseconds"),  # noqa: SLF001 of its own
            round(elapsed_ms, 3),
            reason,
            found or SourceAnswer(),
            None if age_s is None else round(age_s, 3),
        )


class RecordedKnowledge:
    """Sources that repeat the answers of a recorded check; nothing is asked."""

    def __init__(self, tape: Mapping[str, Any]) -> None:
        """Read a tape.

        Raises:
            InputError: it is not a tape, or a recorded answer does not match its digest.
        """
        if tape.get("form") != FORM:
            raise InputError(f"expected sources on a tape of the form {FORM}; a newer version of assay made this one")
        try:
            sources, outcomes = list(tape["sources"]), list(tape["outcomes"])
        except (KeyError, TypeError) as error:
            raise InputError("expected what sources had said, but it cannot be read") from error
        self._profiles = tuple(profile_from(one) for one in sources)
        self._tape = dict(tape)
        self._known: dict[tuple[str, str], Outcome] = {}
        for one in outcomes:
            made = Outcome.from_json(one)
            self._known[made.source, made.key] = made

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The sources as recorded."""
        return self._profiles

    @property
    def digest(self) -> str:
        """The digest of the tape."""
        return hashlib.sha256(json.dumps(self._tape, sort_keys=True).encode()).hexdigest()

    def session(self, tenant: str | None, budget_s: float) -> Session:
        """A session that answers from the record, without waiting."""
        del tenant, budget_s
        return _ReplayedSession(self._profiles, self._known)

    def close(self) -> None:
        """Nothing is held."""


class _ReplayedSession:
    """A session that answers from a record."""

    def __init__(self, profiles: tuple[Profile, ...], outcomes: Mapping[tuple[str, str], Outcome]) -> None:
        self.profiles = profiles
        self._known = outcomes
        self._used: dict[tuple[str, str], Outcome] = {}

    def tape(self) -> dict[str, Any] | None:
        return tape_of(self.profiles, list(self._used.values()))

    def ask(self, source: int, inquiries: Sequence[Inquiry]) -> list[Outcome]:
        name = self.profiles[source].name
        made = []
        for one in inquiries:
            found = self._known.get((name, key_of(one)))
            if found is None:
                raise InputError(f"the tape has no answer of {name} to a question of this check")
            self._used[name, found.key] = found
            made.append(found)
        return made
