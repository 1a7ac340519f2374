"""Reads the environment and `assay.yaml`; nothing below this layer does."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from assay.errors import PolicyError
from assay.guard import EvidenceLike, Limits, ReceiptDesk, TaskOptions
from assay.guard import Guard as CoreGuard
from assay.models import (
    DEFAULT,
    DEFAULT_RUNTIME,
    CachedScorer,
    ConflictScorer,
    PairScorer,
    Runtime,
    embedded_name,
    load_embedded,
    load_scorer,
    read_runtime,
)
from assay.models.chat import ChatModel
from assay.policy import PRESETS, Policy, parse_part, parse_policy, preset
from assay.receipt import Keys, Uses, open_keys
from assay.schema import HallucinationReport, Stakes
from assay.store.records import UsesAt
from assay.text.claims import ClaimExtractor

if TYPE_CHECKING:
    from assay.knowledge import Knowledge, KnowledgeBase
    from assay.models.chat import Budget
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
    """`ASSAY_RUNTIME`: what runs the network where a caller names nothing, `onnxruntime`, `openvino` or `cuda`."""
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
        config=Path(config) if config else None,
        receipt_keys=Path(keys) if keys else None,
        verifier=verifier or None,
        runtime=runtime or None,
        database=database or None,
    )


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
    return parse_policy(_text_of(path, origin), str(path))


def _text_of(path: Path, origin: str = "") -> str:
    """The text of a policy file.

    Raises:
        PolicyError: it cannot be read.
    """
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
    return text


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


def scorer_of(
    model: str | Path | None, environ: Mapping[str, str], runtime: str | None = None, *, threads: int | None = None
) -> PairScorer:
    """The network that a caller names, else the one that `ASSAY_VERIFIER` names, else the default one.

    It is run by what the caller names, else by what `ASSAY_RUNTIME` names, else by ONNX Runtime.

    Args:
        model: a name or a folder.
        environ: the environment.
        runtime: what runs it.
        threads: how many pairs are judged at once; the usable CPUs by default. A network that is given a number is not
            shared with other callers of this process.

    Raises:
        ModelError: it cannot be used.
    """
    settings = read_settings(environ)
    chosen = settings.verifier if model is None else model
    runs = read_runtime(runtime or settings.runtime or DEFAULT_RUNTIME)
    name = DEFAULT if chosen is None else embedded_name(chosen)
    if chosen is not None and name is None:
        return CachedScorer(load_scorer(chosen, threads=threads, runtime=runs))
    if threads is not None:
        return CachedScorer(load_embedded(name or DEFAULT, threads=threads, runtime=runs))
    return embedded_scorer(name or DEFAULT, runs)


def knowledge_file(policy: object, environ: Mapping[str, str]) -> Path | None:
    """The file whose sources of knowledge count: the policy's own where it is a file that lists some, else the one that
    `ASSAY_CONFIG` names, if any."""
    named = (
        policy if isinstance(policy, Path) else Path(policy) if isinstance(policy, str) and _is_path(policy) else None
    )
    config = read_settings(environ).config
    if named is None or named == config:
        return config
    return named if parse_part(_text_of(named), str(named), "knowledge") is not None else config


def monitor_file(policy: object, environ: Mapping[str, str]) -> Path | None:
    """The file whose section `monitor` counts, by the same rule as `knowledge_file`; none where there is none."""
    named = (
        policy if isinstance(policy, Path) else Path(policy) if isinstance(policy, str) and _is_path(policy) else None
    )
    for path in (named, read_settings(environ).config):
        if path is not None and parse_part(_text_of(path), str(path), "monitor") is not None:
            return path
    return None


def read_section(path: Path, name: str) -> object:
    """The value of a section beside the policy of a file in the form of `assay.yaml`; none where it has none.

    Raises:
        PolicyError: the file cannot be read, or something in it is wrong.
    """
    part = parse_part(_text_of(path), str(path), name)
    return None if part is None else part.value


def read_knowledge(
    path: Path | None, environ: Mapping[str, str], scorer: PairScorer | None = None
) -> "Knowledge | None":
    """The sources of knowledge that a file in the form of `assay.yaml` lists; none where it lists none.

    Args:
        path: the file; paths in it begin in its folder.
        environ: where credentials are, by the names that the file gives.
        scorer: the network that ranks documents.

    Raises:
        PolicyError: the file cannot be read, or something in it is wrong.
        MissingPackageError: a kind of source needs a package that is not installed.
    """
    if path is None:
        return None
    text = _text_of(path)
    if parse_part(text, str(path), "knowledge") is None:
        return None
    from assay.knowledge import parse_knowledge

    return parse_knowledge(text, str(path), path.resolve().parent, environ, scorer)


class Guard(CoreGuard):
    """A guard with everything filled in that the caller leaves out: the embedded network, the rules, the preset.

    >>> Guard.__mro__[1].__module__
    'assay.guard.api'
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
        knowledge: "KnowledgeBase | str | Path | Literal[False] | None" = None,
        conflicts: ConflictScorer | None = None,
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
            llm: the chat model, such as `assay.Chat("gpt-5")`, for `generate`, `repair` and checks of such a policy.
            budget: what one check may spend on it.
            judging: how it is asked as a judge, where the policy has one asked.
            runtime: what runs the network, `onnxruntime`, `openvino` (needs the extra of that name) or `cuda` (PyTorch
                weights on a GPU; needs the extra `torch`); what `ASSAY_RUNTIME` names by default, else `onnxruntime`.
            knowledge: sources outside of the evidence, asked about claims that it does not support, or a file of them;
                those of the policy's file or of the one that `ASSAY_CONFIG` names by default; none where it is False.
            conflicts: tells whether two sources cannot both be right; the network in the package by default.
            environ: the environment; that of the process by default.

        Raises:
            PolicyError: there is no such policy, or what its file says is wrong.
            ModelError: the network cannot be loaded, or the runtime is not installed.
        """
        environ = os.environ if environ is None else environ
        if knowledge is None:
            knowledge = knowledge_file(policy, environ)
        if not isinstance(policy, Policy):
            policy = read_policy(policy, environ)
        if scorer is None:
            scorer = scorer_of(model, environ, runtime)
        super().__init__(
            policy,
            scorer=scorer,
            extractor=extractor,
            limits=limits,
            locale=locale,
            receipts=_desk(keys, uses, environ) if receipts is None else receipts,
            llm=llm,
            budget=budget,
            judging=judging,
            knowledge=_knowledge(knowledge, environ, scorer),
            conflicts=conflicts,
        )


def _knowledge(
    given: "KnowledgeBase | str | Path | Literal[False] | None", environ: Mapping[str, str], scorer: PairScorer
) -> "KnowledgeBase | None":
    if given is None or given is False:
        return None
    return read_knowledge(Path(given), environ, scorer) if isinstance(given, str | Path) else given


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
    knowledge: Path | None = None,
) -> Guard:
    """The guard that a policy's name or file and a model's directory describe; both have defaults."""
    return Guard(policy, model=model, environ=environ, llm=llm, knowledge=knowledge)


@lru_cache(maxsize=8)
def _guard_of(
    policy: Policy, verifier: str | None, runtime: str | None, knowledge: Path | None, changed: tuple[int, int] | None
) -> Guard:
    """Kept by what the policy says, never by the name of its file: an edited file counts from the next check on."""
    del changed  # a part of the key alone
    return Guard(policy, model=verifier, runtime=runtime, knowledge=False if knowledge is None else knowledge)


def _state_of(path: Path | None) -> tuple[int, int] | None:
    """What tells that a file was changed."""
    if path is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


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
    known = knowledge_file(policy, os.environ)
    return _guard_of(settled, named.verifier, named.runtime, known, _state_of(known)).check(
        answer,
        evidence,
        question=question,
        stakes=stakes,
        task=task,
        schema=schema,
        citations=citations,
        claim_free=claim_free,
        revisions_failed=revisions_failed,
        run_id=run_id,
    )


class CheckOptions(TaskOptions, total=False):
    """The keyword options of `check`."""

    policy: Policy | str | Path | None
    question: str | None
    schema: Mapping[str, Any] | bool | None
    citations: Iterable[Mapping[str, Any]] | None


async def acheck(
    answer: str | bytes, evidence: EvidenceLike = None, **options: Unpack[CheckOptions]
) -> HallucinationReport:
    """As `check`, off the event loop: the same options, the same report."""
    import asyncio

    return await asyncio.to_thread(check, answer, evidence, **options)
