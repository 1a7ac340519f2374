"""`assay audit`: the log of what was decided. What a verb needs is imported when it runs."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.database import DEFAULT_TENANT, opened_record
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.options.command import VerifierCommand
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import TextOrJson as Format
from assay.cli.terminal import say
from assay.errors import AuditError, InputError

if TYPE_CHECKING:
    from assay.receipt import KeyRing, Keys
    from assay.store.audit import Finding, LogVerification, VerificationState, WitnessKey
    from assay.store.db import Store
    from assay.store.records import Rule

app = typer.Typer(
    name="audit",
    help="The audit log: verify it, prove what is in it, export it, replay a recorded check.",
    epilog="Exit status: 0 done, or everything is valid; 1 something is not valid, or decided differently; 2 misuse.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


DatabaseOption = Annotated[
    str, typer.Option("--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="The database.")
]
TenantOption = Annotated[str, typer.Option("--tenant", metavar="NAME", help="Whose log.")]
KeysOption = Annotated[
    Path | None, typer.Option("--keys", metavar="DIR", help="The folder of keys. [default: ASSAY_RECEIPT_KEYS]")
]
RingOption = Annotated[
    Path | None, typer.Option("--ring", metavar="FILE", help="The public ring. [default: ASSAY_RECEIPT_KEYS]")
]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write here.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]


@app.command()
def verify(
    database: DatabaseOption,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="NAME", help="Whose log; without it those of all tenants.")
    ] = None,
    ring: RingOption = None,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option("--checkpoint", metavar="FILE", help="Checkpoints from outside this host; may be repeated."),
    ] = None,
    log_only: Annotated[bool, typer.Option("--log-only", help="Leave out the content of the runs.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state", metavar="FILE", help="Start from the state that the last verification left here; keep it safe."
        ),
    ] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Verify the logs: every entry, the tree, the checkpoints, and the content of the runs.

    The output is about the log of the default tenant, or of --tenant; faults of the others are added.
    With --state what was verified before is only looked at for changes, which takes a fraction of the time; the first
    time, and where the file is gone, everything is verified. Whoever can write that file can have changes passed over.
    """
    from assay.evaluation.rows import write_file
    from assay.store.audit import tenants_of, tenants_without_log, verify_contents_since, verify_log

    with reporting_errors(), opened_record(database) as store:
        trusted = _open_keys(ring, "--ring").ring()
        anchors = [note for path in checkpoint or () for note in _read_checkpoints(path)]
        with store.reading_across() as connection:
            tenants = list(tenants_of(connection))
        main_tenant = tenant or (DEFAULT_TENANT if DEFAULT_TENANT in tenants or not tenants else tenants[0])
        other_logs = (
            _verify_others(store, main_tenant, trusted, anchors, log_only=log_only) if tenant is None else _OtherLogs()
        )
        with store.reading(main_tenant) as connection:
            verification = verify_log(
                connection, main_tenant, trusted, [one for one in anchors if one not in other_logs.anchors]
            )
            if not log_only:
                since = None if state is None else _read_state(state)
                verification, new_state = verify_contents_since(
                    connection, main_tenant, verification, since, leaves=state is not None
                )
        with store.reading_across() as connection:
            strays = tenants_without_log(connection)
        verification = replace(verification, findings=(*verification.findings, *other_logs.findings, *strays))
        if state is not None and not log_only and verification.holds and new_state is not None:
            write_file(state, new_state.to_text())
        say(
            json.dumps(_verification_json(verification), indent=2)
            if format_ is Format.JSON
            else "\n".join(_verification_lines(verification))
        )
        raise typer.Exit(CLEAN if verification.holds else FINDINGS)


@app.command()
def checkpoint(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    keys: KeysOption = None,
    anchor: Annotated[
        list[Path] | None, typer.Option("--anchor", metavar="FILE", help="Add it to a file elsewhere; may be repeated.")
    ] = None,
    witness: Annotated[
        list[str] | None, typer.Option("--witness", metavar="URL", help="Have a witness sign it; may be repeated.")
    ] = None,
    witness_key: Annotated[
        list[str] | None, typer.Option("--witness-key", metavar="VKEY", help="The key of each witness, in order.")
    ] = None,
) -> None:
    """Sign the log as it is now, and store the checkpoint outside of this host."""
    from assay.store.audit import anchor_at_witness, anchor_in_file, make_checkpoint, read_witness_key

    with reporting_errors(), opened_record(database) as store:
        if witness_key and len(witness_key) != len(witness or ()):
            raise InputError("expected one --witness-key for each --witness, in their order")
        witness_keys: list[WitnessKey | None] = [read_witness_key(text) for text in witness_key or ()]
        witness_keys = witness_keys or [None] * len(witness or ())
        note = make_checkpoint(store, _open_keys(keys, "--keys"), tenant)
        for path in anchor or ():
            anchor_in_file(store, tenant, note, path)
        text = note
        for url, key in zip(witness or (), witness_keys, strict=True):
            text += anchor_at_witness(store, tenant, note, url, key).removeprefix(note)
        say(text.removesuffix("\n"))


@app.command()
def prove(
    what: Annotated[str, typer.Argument(metavar="ENTRY|RUN", help="The index of an entry, or the id of a run.")],
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    out: OutOption = None,
) -> None:
    """Prove that a decision is in the log, as a C2SP tlog-proof with the entry in it."""
    from assay.store.audit import entries_of, prove_entry

    with reporting_errors(), opened_record(database) as store, store.reading(tenant) as connection:
        if what.isascii() and what.isdigit() and len(what) < 19:
            index = int(what)
        else:
            entries = entries_of(connection, tenant, what)
            if not entries:
                raise AuditError(f"expected an entry or a run in the log of {tenant}, and there is none such")
            index = entries[0][0]
        _write(prove_entry(connection, tenant, index).to_text(), out)


@app.command()
def export(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Write the bundle here.")],
    database: DatabaseOption,
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="One run, with everything that it saw.")] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    keys: KeysOption = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Sign nothing: up to the last checkpoint, and the bundle says so.")
    ] = False,
    with_verifier: Annotated[
        bool, typer.Option("--with-verifier", help="Put the stand-alone verifier next to it.")
    ] = False,
) -> None:
    """Sign the log, and export all of it, or one run, as a bundle that is verified without assay."""
    from assay.evaluation.rows import write_file
    from assay.store.audit import export_log, export_run, make_checkpoint, standalone

    with reporting_errors(), opened_record(database) as store:
        signed = None if partial else make_checkpoint(store, _signing_keys(keys), tenant)
        with store.reading(tenant) as connection:
            _write_bundle(
                out,
                export_log(connection, tenant, signed, partial=partial)
                if run is None
                else export_run(connection, tenant, run, signed, partial=partial),
            )
        if with_verifier:
            write_file(out.with_name("assay_verify.py"), Path(standalone.__file__).read_text(encoding="utf-8"))
        say(f"wrote {out}", error=True)


@app.command(cls=VerifierCommand)
def replay(
    run: Annotated[str, typer.Argument(metavar="RUN|BUNDLE", help="The id of a run, or the file of its bundle.")],
    database: Annotated[
        str | None, typer.Option("--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="The database.")
    ] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="NAME|FILE", autocompletion=complete_policy, help="What another policy would decide."
        ),
    ] = None,
    verifier: Annotated[Path | None, typer.Option("--verifier", metavar="DIR", help="Another network.")] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Replay a recorded check, and say whether the decision is the same.

    What chat models said is taken from the record. What cannot be run again as it was is refused with the reason.
    """
    from assay.config import Guard, read_policy
    from assay.server.audit.replay import replay as run_again

    with reporting_errors():
        content = _recorded_content(run, database, tenant)
        other_policy = None if policy is None else read_policy(policy, os.environ)
        replayed = run_again(
            content,
            lambda policy_used, **options: Guard(policy_used, model=verifier, **{"knowledge": False, **options}),
            other_policy,
            other_verifier=verifier is not None,
        )
        if format_ is Format.JSON:
            fields = {
                "same_decision": replayed.same_decision,
                "same_report": replayed.same_report,
                "same_verifier": replayed.same_verifier,
                "now": replayed.now.model_dump(mode="json"),
            }
            say(json.dumps(fields, indent=2))
        else:
            say("\n".join(replayed.lines()))
        raise typer.Exit(CLEAN if replayed.same_decision else FINDINGS)


@app.command()
def erase(
    database: DatabaseOption,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept in the log, so name nobody.")],
    run: Annotated[list[str] | None, typer.Option("--run", metavar="ID", help="A run; may be repeated.")] = None,
    named: Annotated[
        list[str] | None, typer.Option("--run-id", metavar="NAME", help="All runs with this id of the caller's.")
    ] = None,
    older_than: Annotated[
        float | None, typer.Option("--older-than", min=0, metavar="DAYS", help="All runs older than this many days.")
    ] = None,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Erase the content of runs, and the conversations of runs of the red team; the log stays provable and says that
    they were erased."""
    from assay.store.records import erase_before, erase_runs, find_runs
    from assay.store.redteam import erase_conversations, erase_conversations_before

    with reporting_errors(), opened_record(database) as store:
        if not run and not named and older_than is None:
            raise InputError("expected what to erase: --run, --run-id or --older-than")
        ids = [*(run or ()), *(id_ for name in named or () for id_ in find_runs(store, name, tenant))]
        erased = list(erase_runs(store, ids, reason, tenant).runs)
        attacks = erase_conversations(store, ids, reason, tenant)
        if older_than is not None:
            moment = store.now() - timedelta(days=older_than)
            erased += erase_before(store, moment, tenant, reason).runs
            attacks += erase_conversations_before(store, moment, tenant, reason)
        conversations = f", and the conversations of {len(attacks)} runs of the red team" if attacks else ""
        say(f"erased {len(erased)} runs{conversations}")


@app.command()
def retention(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="DAYS[:WHAT[:ACTION]]",
            help="Replace the rules in force; may be repeated. WHAT is content or evidence.",
        ),
    ] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove all rules: nothing is erased automatically any more.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Erase now what the rules say.")] = False,
) -> None:
    """Show or change how long content is kept; a server applies the rules by itself."""
    from assay.store.records import apply_rules, read_rules, write_rules
    from assay.store.redteam import apply_rules_to_conversations

    with reporting_errors(), opened_record(database) as store:
        with store.reading(tenant) as connection:
            rules = read_rules(connection, tenant)
        if rule or clear:
            if rule and clear:
                raise InputError("expected either --rule or --clear")
            rules = write_rules(store, tenant, [_parse_rule(text) for text in rule or ()], rules.version, "command")
        for retention_rule in rules.rules:
            runs = "all runs" if retention_rule.action is None else retention_rule.action
            say(f"after {retention_rule.days:,} days: {retention_rule.what} of {runs}")
        if not rules.rules:
            say("no rules: nothing is erased by itself")
        if apply:
            applied = apply_rules(store, tenant)
            attacks = apply_rules_to_conversations(store, tenant)
            conversations = f", and the conversations of {attacks:,} runs of the red team" if attacks else ""
            say(f"erased {applied.content:,} runs, and the evidence of {applied.evidence:,}{conversations}")
            if not applied.done:
                say("there is more to erase: run it again", error=True)


def _parse_rule(text: str) -> "Rule":
    from assay.store.records import Rule

    days, *more = text.split(":")
    if not (days.isascii() and days.isdigit() and len(days) < 9) or len(more) > 2:
        raise InputError(f"expected a rule as DAYS, DAYS:WHAT or DAYS:WHAT:ACTION, such as 30:evidence, got {text!r}")
    what, action = [*more, "", ""][:2]
    return Rule(int(days), what or "content", action or None)


@app.command()
def key(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    ring: RingOption = None,
) -> None:
    """Print the keys of a log as C2SP vkeys, for those who verify elsewhere."""
    from assay.receipt import KeyState
    from assay.store.audit import read_head, verifier_key

    with reporting_errors(), opened_record(database) as store, store.reading(tenant) as connection:
        origin = read_head(connection, tenant).origin
        for one in _open_keys(ring, "--ring").ring().keys:
            if one.state is not KeyState.REVOKED:
                say(verifier_key(origin, bytes.fromhex(one.public)))


# Reading


@dataclass(frozen=True, slots=True)
class _OtherLogs:
    """The verification of the logs of other tenants."""

    findings: tuple["Finding", ...] = ()
    anchors: frozenset[str] = frozenset()
    """The checkpoints from outside that belong to their logs."""


def _verify_others(
    store: "Store", main_tenant: str, ring: "KeyRing", anchors: Sequence[str], *, log_only: bool
) -> _OtherLogs:
    """Verifies the logs of all tenants but one, each against its own checkpoints."""
    from assay.store.audit import Finding, FindingCode, read_head, tenants_of, verify_contents, verify_log

    database_codes = {FindingCode.FOREIGN_CODE, FindingCode.HIDDEN_ROWS}  # of the database, whosever log is verified
    with store.reading_across() as connection:
        tenants = [
            tenant
            for tenant, names in tenants_of(connection).items()
            if tenant != main_tenant and "audit_logs" in names
        ]
    findings: list[Finding] = []
    anchors_used: set[str] = set()
    for tenant in tenants:
        with store.reading(tenant) as connection:
            origin = read_head(connection, tenant).origin
            own_anchors = [note for note in anchors if note.partition("\n")[0] == origin]
            verification = verify_log(connection, tenant, ring, own_anchors)
            verification = verification if log_only else verify_contents(connection, tenant, verification)
        anchors_used.update(own_anchors)
        findings += [
            Finding(finding.code, f"tenant {tenant}: {finding.message}")
            for finding in verification.findings
            if finding.code not in database_codes
        ]
    return _OtherLogs(tuple(findings), frozenset(anchors_used))


def _open_keys(path: Path | None, option: str) -> "Keys":
    from assay.config import read_settings
    from assay.receipt import open_keys

    folder = read_settings(os.environ).receipt_keys if path is None else path
    if folder is None:
        raise InputError(f"expected the folder of keys: name it with {option}, or set ASSAY_RECEIPT_KEYS")
    return open_keys(folder)


def _signing_keys(path: Path | None) -> "Keys":
    """The keys that sign a log before it is exported."""
    try:
        return _open_keys(path, "--keys")
    except InputError as error:
        raise InputError(
            f"{error}; an export begins with a signature over all of the log, without one ask for --partial"
        ) from error


def _read_state(path: Path) -> "VerificationState | None":
    """The state that an earlier verification left in a file; none if there is no file."""
    from assay.store.audit import read_verification_state

    try:
        return read_verification_state(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise InputError(f"expected the state of an earlier verification in {path}, but it cannot be read") from error


def _read_checkpoints(path: Path) -> list[str]:
    from assay.store.audit import read_notes

    notes = read_notes(path)
    if not notes:
        raise InputError(f"expected checkpoints in {path}, and there are none")
    return notes


def _recorded_content(run: str, database: str | None, tenant: str) -> dict[str, Any]:
    from assay.server.audit.replay import content_of_bundle
    from assay.store.audit import run_content

    if Path(run).is_file():
        return content_of_bundle(Path(run).read_text(encoding="utf-8").split("\n"))
    if database is None:
        raise InputError("expected the file of a bundle, or --database and the id of a run")
    with opened_record(database) as store, store.reading(tenant) as connection:
        content = run_content(connection, tenant, run)
    if content is None:
        raise InputError(f"expected a run of {tenant} with its content; there is none such, or it was erased")
    return content


# Writing


def _write(text: str, out: Path | None) -> None:
    from assay.evaluation.rows import write_file

    if out is None:
        say(text.removesuffix("\n"))
    else:
        write_file(out, text)


def _write_bundle(out: Path, lines: Iterator[str]) -> None:
    """Writes a bundle line by line, as it may be larger than the memory, and moves it into place when it is whole."""
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)


def _verification_json(verification: "LogVerification") -> dict[str, Any]:
    return {
        "caution": verification.caution,
        "outside": verification.outside,
        "holds": verification.holds,
        "origin": verification.origin,
        "size": verification.size,
        "root": verification.root.hex(),
        "checkpoints": verification.checkpoints,
        "anchors": verification.anchors,
        "runs": verification.runs,
        "since": verification.since,
        "findings": [{"code": one.code.value, "message": one.message} for one in verification.findings],
    }


def _verification_lines(verification: "LogVerification") -> list[str]:
    caution = [] if verification.caution is None else [f"CAUTION: {verification.caution}"]
    if not verification.holds:
        return [*caution, "does not hold", *(f"  {one.code.value}: {one.message}" for one in verification.findings)]
    standing = "holds" if verification.outside else "agrees with itself"
    runs = f"content of {verification.runs:,} runs"
    if verification.since:
        runs += f" that are new or changed since entry {verification.since:,}; the others are as they were"
    return [
        *caution,
        f"{standing}: the log {verification.origin} with {verification.size:,} entries",
        f"  {verification.checkpoints:,} stored checkpoints, {verification.anchors:,} from outside; {runs}",
    ]
