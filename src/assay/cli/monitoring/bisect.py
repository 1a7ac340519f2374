"""`assay bisect`: finds the change that made outputs worse, by deploying states and judging their answers.

The command of `--run` deploys a state and answers rows. It is run by the shell, with the state in its environment:
`ASSAY_STATE` (the reference of the last change that is applied; empty before the first), `ASSAY_STATE_INDEX` (how many
changes are applied), `ASSAY_STATE_CHANGES` (those changes, as a JSON list) and `ASSAY_ROWS` (a file of rows as JSON
Lines, which it also gets on standard input). For each row, in order, it writes one line: a JSON object with `answer`
(judged here against the evidence of the row), or with `score` from 0 (good) to 1 (bad), or with `bad` (true or false);
a plain number is a score.
"""

import hashlib
import json
import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.monitor import Ask, SearchOptions, SearchResult, SystemChange

MOST_BYTES: Final = 256 * 1024 * 1024
"""The largest file of rows, changes or outcomes, and the most that a command may write."""
MOST_CHANGES: Final = 10_000
Row = dict[str, Any]
Judge = Callable[[Sequence[Row], Sequence[Mapping[str, Any]]], list[float]]
"""The outcomes of answers to rows, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class BisectOptions:
    """The options of a search."""

    changes: Path
    rows: Path
    command: str
    state: Path | None
    """The file of outcomes, from which a search that was stopped resumes; by default a file in the working directory
    named by a digest of the search."""
    search: "SearchOptions"
    seed: int
    timeout_s: float
    policy: str | None


def read_changes(path: Path) -> "list[SystemChange]":
    """The changes in a file, ordered by time: JSON Lines, a JSON list, or the output of `assay changes list`.

    Raises:
        InputError: there are none, or one cannot be read.
    """
    from assay.monitor import SystemChange

    changes = []
    for number, record in enumerate(_objects(path, "changes"), 1):
        try:
            moment = record.get("at", number)
            ref = next(record[name] for name in ("ref", "id", "name", "commit") if record.get(name))
            changes.append(
                SystemChange(
                    str(record.get("kind", "code")),
                    str(ref),
                    moment if isinstance(moment, int) else _micros(str(moment)),
                    str(record.get("id", ref)),
                    str(record.get("note", "")),
                )
            )
        except (StopIteration, InputError) as error:
            why = "it has no ref" if isinstance(error, StopIteration) else str(error)
            raise InputError(f"{path}, change {number}: {why}") from error
    if not 1 <= len(changes) <= MOST_CHANGES:
        raise InputError(f"{path}: expected 1 to {MOST_CHANGES:,} changes, got {len(changes)}")
    return sorted(changes, key=lambda record: record.at)  # stable: changes of the same moment keep their order


def _micros(text: str) -> int:
    from assay.cli.monitoring.monitor_run import parse_moment

    return round(parse_moment(text).timestamp() * 1_000_000)


def read_rows(path: Path) -> list[Row]:
    """The rows that states answer.

    Raises:
        InputError: there are none, or one is not an object.
    """
    rows = _objects(path, "rows")
    if not rows:
        raise InputError(f"{path}: expected rows, and there are none")
    return [{"id": str(row.get("id", number)), **row} for number, row in enumerate(rows)]


def _objects(path: Path, section: str) -> list[Row]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: expected at most {MOST_BYTES:,} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error
    try:
        document = json.loads(text) if text.lstrip().startswith(("[", "{")) and not _is_lines(text) else None
        objects = [json.loads(line) for line in text.split("\n") if line.strip()] if document is None else document
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected {section} in JSON Lines, but a line cannot be read") from error
    if isinstance(objects, dict):
        objects = objects.get(section)
    if not isinstance(objects, list) or not all(isinstance(one, dict) for one in objects):
        raise InputError(f"{path}: expected {section} as JSON objects")
    return objects


def _is_lines(text: str) -> bool:
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except ValueError:
        return False
    return True


class Bisection:
    """A search whose outcomes are kept on disk."""

    def __init__(self, options: BisectOptions, judge: Judge, report: Callable[[str], None]) -> None:
        """Resume the search of the state file, or begin one.

        Args:
            options: the options of the search.
            judge: the judge of answers.
            report: called with a line for each step.

        Raises:
            InputError: a file cannot be read, or the state file belongs to another search.
        """
        self._options, self._judge, self._report = options, judge, report
        self.changes, self._rows = read_changes(options.changes), read_rows(options.rows)
        self._digest = self._fingerprint()
        self.state = options.state or Path(f".assay-bisect-{self._digest[:12]}.jsonl")
        self.outcomes: dict[int, list[float]] = {}
        self._read()

    def _fingerprint(self) -> str:
        settings = json.dumps(
            [
                [one.wire() for one in self.changes],
                self._rows,
                self._options.command,
                self._options.seed,
                self._options.policy,
            ],
            sort_keys=True,
        )
        return hashlib.sha256(settings.encode()).hexdigest()

    def _read(self) -> None:
        """Reads the outcomes of the state file, and cuts off a last line that was not written to its end."""
        path = self.state
        if not path.exists():
            return
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: expected a state of at most {MOST_BYTES:,} bytes")
        data = path.read_bytes()
        end = data.rfind(b"\n") + 1
        header, *lines = data[:end].decode("utf-8", errors="replace").split("\n")[:-1] or [""]
        if end:
            self._require_header(header)
        elif not self._header().encode().startswith(data):
            raise InputError(f"{path}: it is not the state of a search; name another file with --state")
        for number, line in enumerate(lines, 2):
            try:
                entry = json.loads(line)
                outcomes = [float(one) for one in entry["outcomes"]]
                state, begin = int(entry["state"]), int(entry["begin"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}, line {number}: it cannot be read") from error
            if begin == len(self.outcomes.setdefault(state, [])):
                self.outcomes[state] += outcomes
        if end < len(data):
            os.truncate(path, end)

    def _header(self) -> str:
        return json.dumps({"search": self._digest, "changes": len(self.changes)}) + "\n"

    def _require_header(self, line: str) -> None:
        try:
            search = json.loads(line)["search"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self.state}, line 1: it cannot be read") from error
        if search != self._digest:
            raise InputError(
                f"{self.state}: it is the state of a search of other changes, rows, command, seed or policy; "
                "name another file with --state"
            )

    def _keep(self, state: int, outcomes: Sequence[float]) -> None:
        begin = len(self.outcomes.setdefault(state, []))
        text = json.dumps({"state": state, "begin": begin, "outcomes": list(outcomes)}) + "\n"
        with self.state.open("a", encoding="utf-8") as file:
            file.write(text if file.tell() else self._header() + text)
            file.flush()
            os.fsync(file.fileno())
        self.outcomes[state] += outcomes

    def run(self) -> "SearchResult":
        """Search until it is done.

        Raises:
            InputError: the command failed, or did not write an outcome for each row.
        """
        from assay.monitor import Ask, search

        while isinstance(ask := search(len(self.changes), self.outcomes, self._options.search), Ask):
            self._evaluate(ask)
        return ask

    def _evaluate(self, ask: "Ask") -> None:
        begin = len(self.outcomes.get(ask.state, ()))
        rows = [self._rows[self._drawn(number)] for number in range(begin, begin + ask.count)]
        ref = self.changes[ask.state - 1].ref if ask.state else "before all changes"
        self._report(f"state {ask.state} ({ref}): {len(rows)} rows from number {begin}; {ask.why}")
        self._keep(ask.state, self._judge(rows, self._answers(ask.state, rows)))

    def _drawn(self, number: int) -> int:
        """The index of the row of an evaluation: drawn with replacement, the same in every state and every run."""
        return random.Random(f"{self._options.seed}:{number}").randrange(len(self._rows))  # noqa: S311 reproducible, not secret

    def _answers(self, state: int, rows: Sequence[Row]) -> list[Mapping[str, Any]]:
        applied = [one.wire() for one in self.changes[:state]]
        with tempfile.TemporaryDirectory(prefix="assay-bisect-") as folder:
            path = Path(folder) / "rows.jsonl"
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
            environment = {
                **os.environ,
                "ASSAY_STATE": self.changes[state - 1].ref if state else "",
                "ASSAY_STATE_INDEX": str(state),
                "ASSAY_STATE_CHANGES": json.dumps(applied),
                "ASSAY_ROWS": str(path),
            }
            with (
                path.open("rb") as standard_input,
                subprocess.Popen(  # noqa: S602 the operator's own command
                    self._options.command,
                    shell=True,
                    env=environment,
                    stdin=standard_input,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                ) as process,
            ):
                try:
                    output, _ = process.communicate(timeout=self._options.timeout_s)
                except subprocess.TimeoutExpired as error:
                    raise InputError(
                        f"the command did not end within {self._options.timeout_s:g} seconds in state {state}"
                    ) from error
                finally:
                    if process.poll() is None:
                        os.killpg(process.pid, signal.SIGKILL)
        if process.returncode != 0:
            raise InputError(
                f"the command ended with status {process.returncode} in state {state}; nothing was decided"
            )
        return _outcome_lines(output, len(rows), state)


def _outcome_lines(output: bytes, count: int, state: int) -> list[Mapping[str, Any]]:
    if len(output) > MOST_BYTES:
        raise InputError(f"the command wrote more than {MOST_BYTES:,} bytes in state {state}")
    answers: list[Mapping[str, Any]] = []
    for line in output.decode("utf-8", errors="replace").split("\n"):
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"the command wrote a line that is no JSON in state {state}: {ascii(line)[:80]}"
            ) from error
        if isinstance(answer, int | float):
            answer = {"score": float(answer)}
        if not isinstance(answer, dict) or not {"answer", "score", "bad"} & set(answer):
            raise InputError(
                f"the command wrote a line without answer, score or bad in state {state}: {ascii(line)[:80]}"
            )
        answers.append(answer)
    if len(answers) != count:
        raise InputError(
            f"expected a line for each of {count} rows, and the command wrote {len(answers)} in state {state}"
        )
    return answers


def judge_with(policy: str | None) -> Judge:
    """A judge with a guard of this policy, which is made when the first answer has to be judged."""

    def judge(rows: Sequence[Row], answers: Sequence[Mapping[str, Any]]) -> list[float]:
        return [_outcome(row, answer, guard_of) for row, answer in zip(rows, answers, strict=True)]

    guards: list[Any] = []

    def guard_of() -> Any:
        if not guards:
            from assay.config import build_guard

            guards.append(build_guard(policy, None, os.environ))
        return guards[0]

    return judge


def _outcome(row: Row, answer: Mapping[str, Any], guard_of: Callable[[], Any]) -> float:
    if "bad" in answer:
        if not isinstance(answer["bad"], bool):
            raise InputError(f"expected bad to be true or false, got {ascii(answer['bad'])[:40]}")
        return float(answer["bad"])
    if "score" in answer:
        score = answer["score"]
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise InputError(f"expected a score from 0 to 1, got {ascii(score)[:40]}")
        return float(score)
    text = answer["answer"]
    if not isinstance(text, str) or not text:
        return 1.0  # nothing was answered
    evidence = row.get("evidence", row.get("context", ()))
    question = row.get("question")
    report = guard_of().check(text, evidence, question=question if isinstance(question, str) else None)
    return float(any(claim.verdict.value in ("contradicted", "unsupported") for claim in report.claims))


def result_json(result: "SearchResult", changes: "Sequence[SystemChange]", options: "SearchOptions") -> dict[str, Any]:
    """The result as a JSON value."""
    return {
        "verdict": result.verdict,
        "causes": [
            {
                "change": changes[cause.change].wire(),
                "index": cause.change,
                "probability": cause.probability,
                "before": cause.before,
                "after": cause.after,
            }
            for cause in result.causes
        ],
        "sure": result.sure,
        "alpha": options.alpha,
        "evaluations": result.evaluations,
        "steps": [
            {"state": step.state, "found": step.found, "evaluations": step.evaluations, "sure": step.sure}
            for step in result.steps
        ],
    }


def result_lines(result: "SearchResult", changes: "Sequence[SystemChange]", options: "SearchOptions") -> list[str]:
    """The result for people."""
    from assay.cli.terminal import one_line

    if result.verdict == "no_regression":
        lines = [f"no regression: the last state is not worse than the first by {options.shift:g}"]
    elif result.verdict == "unsure":
        lines = [
            f"not sure whether there is a regression after {result.evaluations:,} evaluations; allow more with --most"
        ]
    else:
        lines = []
        for cause in result.causes:
            change = changes[cause.change]
            lines.append(
                f"{change.kind} {one_line(change.ref, 80)}: {cause.before:.4f} before, {cause.after:.4f} after; "
                f"{cause.probability:.1%} among the changes beside it"
            )
        if len(result.causes) > 1:
            lines.insert(0, f"{len(result.causes)} changes made it worse")
    certainty = "sure" if result.sure else "not certain: the most probable one is shown"
    return [
        *lines,
        f"{result.evaluations:,} evaluations of {len(result.steps)} states; {certainty} (error rate {options.alpha:g})",
    ]
