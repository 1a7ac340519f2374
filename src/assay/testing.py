"""Scorers and chat models for tests: no network, no files, the same answer every time."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from assay.errors import InputError, VerifierError
from assay.models.chat import ChatRequest, Choice, Completion, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FailingScorer", "FakeScorer", "Said", "ScriptedChat", "ScriptedScorer"]

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|cannot|neither|nor)\b|n't\b")
_EMPTY = frozenset(
    re.findall(
        "[a-z]+", "a an and are as at be by for from has have in is it its of on or that the this to was were will with"
    )
)


class _Fake(ABC):
    """What the fakes share: a word is a token, and a pair has three special tokens as in BERT."""

    def __init__(self, *, name: str, max_pair_tokens: int = 512, three_way: bool = True) -> None:
        self._name = name
        self._max_pair_tokens = max_pair_tokens
        self._three_way = three_way

    @property
    def name(self) -> str:
        """A name for people."""
        return self._name

    @property
    def digest(self) -> str:
        """Derived from the name."""
        return hashlib.sha256(self._name.encode()).hexdigest()

    @property
    def three_way(self) -> bool:
        """Whether contradiction is told apart."""
        return self._three_way

    @property
    def max_pair_tokens(self) -> int:
        """The most tokens of a pair."""
        return self._max_pair_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Pieces of at most eight letters, and every sign that is no letter, digit or space."""
        return [sum(1 for _ in re.finditer(r"\w{1,8}|[^\w\s]", text)) for text in texts]

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Entailment, neutral and contradiction of each pair."""
        import numpy as np

        lengths = [a + b + 3 for a, b in zip(*(self.count_tokens(side) for side in _sides(pairs)), strict=True)]
        if lengths and max(lengths) > self._max_pair_tokens:
            raise VerifierError(f"{self._name}: a pair has {max(lengths)} tokens, the limit is {self._max_pair_tokens}")
        rows = [self._judge(premise, claim) for premise, claim in pairs]
        if not self._three_way:
            rows = [(e, n + c, 0.0) for e, n, c in rows]
        return np.array(rows, dtype=np.float32).reshape(-1, 3)

    @abstractmethod
    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]: ...


def _sides(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [premise for premise, _ in pairs], [claim for _, claim in pairs]


class FakeScorer(_Fake):
    """Judges by rules that a reader can follow.

    The share of the claim's content words that the premise contains is how related they are. A related claim is
    contradicted where it has a number that the premise lacks though the premise has numbers, or where one of the two is
    negated and the other is not; else it is entailed as far as its words are there.

    >>> int(FakeScorer().score([("Partners get 2 weeks of leave.", "Partners get 4 weeks of leave.")]).argmax())
    2
    """

    def __init__(self, *, max_pair_tokens: int = 512, three_way: bool = True) -> None:
        super().__init__(name="fake", max_pair_tokens=max_pair_tokens, three_way=three_way)

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        there, words = (set(_WORD.findall(text.lower())) - _EMPTY for text in (premise, claim))
        wanted = {word for word in words if not word.isdigit()}
        related = len(wanted & there) / len(wanted) if wanted else float(bool(words) and words <= there)
        asked, given = (set(_NUMBER.findall(text)) for text in (claim, premise))
        negated = bool(_NEGATION.search(premise.lower())) != bool(_NEGATION.search(claim.lower()))
        if related >= 0.5 and ((given and asked - given) or negated):
            return 0.03, 0.97 - 0.9 * related, 0.9 * related
        entailed = 0.02 + 0.95 * related**3 if asked <= given else 0.02
        return entailed, 0.99 - entailed, 0.01


class ScriptedScorer(_Fake):
    """Gives the scores that a test wrote down, and neutral for every other pair."""

    def __init__(
        self, script: Mapping[tuple[str, str], tuple[float, float, float]], *, max_pair_tokens: int = 512
    ) -> None:
        super().__init__(name="scripted", max_pair_tokens=max_pair_tokens)
        self._script = dict(script)
        self.calls: list[list[tuple[str, str]]] = []
        """The pairs of every call, for tests that count them."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The scripted scores."""
        self.calls.append(list(pairs))
        return super().score(pairs)

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        return self._script.get((premise, claim), (0.0, 1.0, 0.0))


class FailingScorer(FakeScorer):
    """Fails on every pair, or on those whose claim contains a given word."""

    def __init__(self, message: str = "the network is gone", *, only: str = "") -> None:
        super().__init__()
        self._message = message
        self._only = only

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        if self._only in claim:
            raise VerifierError(self._message)
        return super()._judge(premise, claim)


Said = str | Choice | Completion | Exception
"""What a scripted model says: a text, a choice with its end, a whole completion, or an error that it raises."""


class ScriptedChat:
    """A chat model that says what a test wrote down, and keeps what it was asked.

    >>> from assay.models.chat.interface import Message
    >>> chat = ScriptedChat(["Paris.", "Rome."])
    >>> [chat.complete(ChatRequest((Message("user", "Where?"),))).text for _ in range(2)]
    ['Paris.', 'Rome.']
    """

    def __init__(self, script: Iterable[Said] | Callable[[ChatRequest], Said], *, name: str = "scripted") -> None:
        """Make a model.

        Args:
            script: what is said to each request in turn, or a function of the request that says it; of several answers
                to one request each takes its turn.
            name: the model's name.
        """
        self._function = script if callable(script) else None
        self._said = iter(() if callable(script) else tuple(script))
        self._name = name
        self.requests: list[ChatRequest] = []
        """Every request, in order."""

    @property
    def name(self) -> str:
        """The name that it was given."""
        return self._name

    @property
    def digest(self) -> str:
        """Derived from the name."""
        return hashlib.sha256(self._name.encode()).hexdigest()

    def complete(self, request: ChatRequest) -> Completion:
        """What the script says.

        Raises:
            InputError: the script has nothing more to say.
            Exception: what the script raises.
        """
        self.requests.append(request)
        completions = [self._one(request) for _ in range(request.n)]
        first = completions[0]
        for other in completions[1:]:
            first = first.joined(other)
        return first

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`."""
        return self.complete(request)

    def _one(self, request: ChatRequest) -> Completion:
        said = self._function(request) if self._function is not None else next(self._said, None)
        if said is None:
            raise InputError(f"the script has nothing to say to request {len(self.requests)}")
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Completion):
            return said
        choice = Choice(said) if isinstance(said, str) else said
        words = sum(len(message.content.split()) for message in request.messages)
        return Completion((choice,), Usage(words, len(choice.text.split())), self._name)
