"""Reads the environment and `assay.yaml`; nothing below this layer does."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import PolicyError
from assay.guard import Guard as CoreGuard
from assay.guard import Limits, ReceiptDesk
from assay.guard.request import EvidenceLike
from assay.models.cache import CachedScorer
from assay.models.chat.interface import ChatModel
from assay.models.cross_encoder import load_embedded
from assay.models.interface import PairScorer
from assay.models.load import load_scorer
from assay.models.registry import DEFAULT, embedded_name
from assay.models.runtime import DEFAULT_RUNTIME, Runtime, read_runtime
from assay.policy import PRESETS, Policy, parse_policy, preset
from assay.receipt import Keys, Uses, open_keys
from assay.schema import HallucinationReport, Stakes
from assay.store.uses_at import UsesAt
from assay.text.interface import ClaimExtractor

if TYPE_CHECKING:
    from assay.models.chat.meter import Budget
    from assay.verify.judge import JudgeOptions

DEFAULT_POLICY = "general"
"""The preset where nothing names another."""
MAX_BYTES = 400_000
"""The largest policy file read; `assay.policy.parse` bounds its characters further."""

_SUFFIXES = {".yaml", ".yml"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says."""

    config: Path | None = None
    """`ASSAY_CONFIG`: the policy file to use where a caller names none."""
    receipt_keys: Path | None = None
    """`ASSAY_RECEIPT_KEYS`: the folder of keys that signs receipts, or the file of a public ring."""
    verifier: str | None = None
    """`ASSAY_VERIFIER`: the network that judges where a caller names none, by its name or its folder."""
    runtime: str | None = None
    """`ASSAY_RUNTIME`: what runs the network where a caller names nothing, `onnxruntime` or `openvino`."""
    database: str | None = None
    """`ASSAY_DATABASE_URL`: the database in which used receipts are remembered, and which the commands work on."""


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings in an environment such as `os.environ`; an empty variable counts as absent.

    >>> read_settings({"ASSAY_CONFIG": "team.yaml"}).config.name
    'team.yaml'
    """
    names = ("ASSAY_CONFIG", "ASSAY_RECEIPT_KEYS", "ASSAY_VERIFIER", "ASSAY_RUNTIME", "ASSAY_DATABASE_URL")
    config, keys, verifier, runtime, database = (environ.get(name, "").strip() for name in names)
    return Settings(
        config=Path(config) if config else None, receipt_keys=Path(keys) if keys else None, verifier=verifier or None,
        runtime=runtime or None, database=database or None,
    )  # fmt: skip


def read_policy(name_or_path: str | Path | None, environ: Mapping[str, str]) -> Policy:
    """The policy that a caller names: a preset, or a file in the form of `assay.yaml`.

    A text is a preset's name unless it ends in `.yaml` or `.yml` or has a directory in it; a `Path` is always a file.
    None is the file that `ASSAY_CONFIG` names, else the preset `general`. A file in the working directory counts only
    if it is named: a gate must not grow laxer because of where it was started.

    Raises:
        PolicyError: no preset is called so, the file cannot be read, or what it says is wrong; see `parse_policy`.
    """
    if name_or_path is None:
        config = read_settings(environ).config
        return PRESETS[DEFAULT_POLICY] if config is None else _read_file(config, "named by ASSAY_CONFIG ")
    if isinstance(name_or_path, Path):
        return _read_file(name_or_path)
    if _is_path(name_or_path):
        return _read_file(Path(name_or_path))
    return preset(name_or_path)


def _is_path(text: str) -> bool:
    return text not in PRESETS and (Path(text).suffix.lower() in _SUFFIXES or Path(text).name != text)


def _read_file(path: Path, origin: str = "") -> Policy:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        # ValueError: not UTF-8, or a null character in the path.
        why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else _why(error)
        raise PolicyError(f"expected a policy file {origin}at {str(path)!r}, but {why}") from error
    if len(content) > MAX_BYTES:
        raise PolicyError(f"expected a policy file of at most {MAX_BYTES:,} bytes at {str(path)!r}, got a larger one")
    return parse_policy(text, str(path))


def _why(error: OSError | ValueError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"it cannot be read: {reason}"


def embedded_scorer(name: str = DEFAULT, runtime: Runtime = DEFAULT_RUNTIME) -> PairScorer:
    """A verifier network that ships with the package, loaded and verified once for a process and runtime.

    Raises:
        ModelError: there is none of that name, its files were altered or are not there, or the runtime is not
            installed.
    """
    return _embedded_scorer(name, runtime)


@lru_cache(maxsize=4)
def _embedded_scorer(name: str, runtime: Runtime) -> PairScorer:
    return CachedScorer(load_embedded(name, runtime=runtime))


def scorer_of(model: str | Path | None, environ: Mapping[str, str], runtime: str | None = None) -> PairScorer:
    """The network that a caller names, else the one that `ASSAY_VERIFIER` names, else the default one.

    It is run by what the caller names, else by what `ASSAY_RUNTIME` names, else by ONNX Runtime.

    Raises:
        ModelError: it cannot be used.
    """
    settings = read_settings(environ)
    chosen = settings.verifier if model is None else model
    runs = read_runtime(runtime or settings.runtime or DEFAULT_RUNTIME)
    name = DEFAULT if chosen is None else embedded_name(chosen)
    if chosen is not None and name is None:
        return CachedScorer(load_scorer(chosen, runtime=runs))
    return embedded_scorer(name or DEFAULT, runs)


class Guard(CoreGuard):
    """A guard with everything filled in that the caller leaves out: the embedded network, the rules, the preset.

    >>> Guard.__mro__[1].__module__
    'assay.guard.core'
    """

    def __init__(
        self,
        policy: Policy | str | Path | None = None,
        *,
        model: str | Path | None = None,
        scorer: PairScorer | None = None,
        extractor: ClaimExtractor | None = None,
        limits: Limits | None = None,
        locale: str = "en",
        keys: Keys | str | Path | None = None,
        receipts: ReceiptDesk | None = None,
        uses: Uses | str | None = None,
        llm: ChatModel | None = None,
        budget: "Budget | None" = None,
        judging: "JudgeOptions | None" = None,
        runtime: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Make a guard.

        Args:
            policy: a policy, a preset's name or a policy file; what `ASSAY_CONFIG` names, else `general`, by default.
            model: the name of a network that ships with the package (`default`), or the directory of another
                cross-encoder to take its place; what `ASSAY_VERIFIER` names by default.
            scorer: a scorer to use instead of either.
            extractor: what finds claims; rules by default.
            limits: how much one check reads.
            locale: how numbers in the texts are written, such as `en` or `de`.
            keys: what signs and verifies receipts: keys, a folder of them, or the file of a public ring; what
                `ASSAY_RECEIPT_KEYS` names by default. Read when they are used.
            receipts: a desk with settings of its own, in place of `keys` and `uses`.
            uses: where used receipts are remembered: the URL of a database, in which each is committed once by all
                processes that name it, or what remembers them; what `ASSAY_DATABASE_URL` names by default, else the
                memory of this process. A database is opened with the first commit.
            llm: the chat model that `generate` and `repair` ask, and checks where the policy has them ask one, such as
                `assay.Chat("gpt-5")`.
            budget: what one check may spend on it.
            judging: how it is asked as a judge, where the policy has one asked.
            runtime: what runs the network, `onnxruntime` or `openvino` (needs the extra of that name); what
                `ASSAY_RUNTIME` names by default, else `onnxruntime`.
            environ: the environment; that of the process by default.

        Raises:
            PolicyError: there is no such policy, or what its file says is wrong.
            ModelError: the network cannot be loaded, or the runtime is not installed.
        """
        environ = os.environ if environ is None else environ
        if not isinstance(policy, Policy):
            policy = read_policy(policy, environ)
        if scorer is None:
            scorer = scorer_of(model, environ, runtime)
        super().__init__(
            policy, scorer=scorer, extractor=extractor, limits=limits, locale=locale,
            receipts=_desk(keys, uses, environ) if receipts is None else receipts, llm=llm, budget=budget,
            judging=judging,
        )  # fmt: skip


def _desk(keys: Keys | str | Path | None, uses: Uses | str | None, environ: Mapping[str, str]) -> ReceiptDesk | None:
    settings = read_settings(environ)
    keys = settings.receipt_keys if keys is None else keys
    if keys is None:
        return None
    opened = open_keys(keys) if isinstance(keys, str | Path) else keys
    uses = settings.database if uses is None else uses
    if uses is None:
        return ReceiptDesk(opened)
    return ReceiptDesk(opened, used=UsesAt(uses) if isinstance(uses, str) else uses)


def build_guard(
    policy: Policy | str | Path | None = None,
    model: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    llm: ChatModel | None = None,
) -> Guard:
    """The guard that a policy's name or file and a model's directory describe; both have defaults."""
    return Guard(policy, model=model, environ=environ, llm=llm)


@lru_cache(maxsize=8)
def _guard_of(policy: Policy, verifier: str | None, runtime: str | None) -> Guard:
    """Kept by what the policy says, never by the name of its file: an edited file counts from the next check on."""
    return Guard(policy, model=verifier, runtime=runtime)


def check(
    answer: str | bytes,
    evidence: EvidenceLike = None,
    *,
    policy: Policy | str | Path | None = None,
    question: str | None = None,
    stakes: Stakes | str = Stakes.MEDIUM,
    task: str = "qa",
    schema: Mapping[str, Any] | bool | None = None,
    citations: Iterable[Mapping[str, Any]] | None = None,
    claim_free: bool = False,
    revisions_failed: int = 0,
    run_id: str | None = None,
) -> HallucinationReport:
    """Check one output against its evidence; see `Guard.check` for the arguments.

    The network is the one that `ASSAY_VERIFIER` names, else the default one of the package; `ASSAY_RUNTIME` names
    what runs it.

    Raises:
        InputError: something given cannot be read as what it should be.
        PolicyError: there is no such policy, or what its file says is wrong.
    """
    settled = policy if isinstance(policy, Policy) else read_policy(policy, os.environ)
    named = read_settings(os.environ)
    return _guard_of(settled, named.verifier, named.runtime).check(
        answer, evidence, question=question, stakes=stakes, task=task, schema=schema, citations=citations,
        claim_free=claim_free, revisions_failed=revisions_failed, run_id=run_id,
    )  # fmt: skip


async def acheck(answer: str | bytes, evidence: EvidenceLike = None, **options: Any) -> HallucinationReport:
    """As `check`, off the event loop: the same options, the same report."""
    import asyncio

    return await asyncio.to_thread(check, answer, evidence, **options)
