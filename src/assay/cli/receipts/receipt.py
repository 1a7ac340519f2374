"""`assay receipt`: keys, and receipts signed and verified. What a verb needs is imported when it runs."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.database import DEFAULT_TENANT, DatabaseOption, TenantOption, opened
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import TextOrJson as Format
from assay.cli.terminal import say
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.receipt import KeyRing, KeyStore, PublicKey, Verification
    from assay.schema import HallucinationReport
    from assay.store.records import StoredUse

app = typer.Typer(
    name="receipt",
    help="Signed statements that an exact output passed a policy, and the keys that sign them.",
    epilog="Exit status: 0 done or valid, 1 not signed or not valid, 2 misuse or unreadable input.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


KeysOption = Annotated[
    Path | None, typer.Option("--keys", metavar="DIR", help="The folder of keys. [default: ASSAY_RECEIPT_KEYS]")
]
RingOption = Annotated[
    Path | None,
    typer.Option("--ring", metavar="FILE", help="The public ring: all that is needed. [default: ASSAY_RECEIPT_KEYS]"),
]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]


@app.command("create-key")
def create_key(keys: KeysOption = None) -> None:
    """Create the signing key, if there is none yet."""
    with reporting_errors():
        store = open_store(keys)
        key = store.create(datetime.now(UTC))
        say(f"created key {key.key_id}; give {store.ring_file} to those who verify, and keep the .key file secret")


@app.command()
def rotate(keys: KeysOption = None) -> None:
    """Retire the signing key and create another; what the old one signed stays valid."""
    with reporting_errors():
        store = open_store(keys)
        old, new = store.rotate(datetime.now(UTC))
        say(f"retired key {old.key_id}, created key {new.key_id}; give {store.ring_file} to those who verify")


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY-ID", help="Which key, as `assay receipt list` names it.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept in the public ring.")],
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="From this moment on, such as 2026-03-01T09:30:15Z. [default: now]"
        ),
    ] = None,
    keys: KeysOption = None,
) -> None:
    """Revoke a key: nothing that it ever signed is valid any more. Deletes its private half."""
    from assay.receipt import moment_of

    with reporting_errors():
        store = open_store(keys)
        revoked_since = None if since is None else moment_of(since)
        key = store.revoke(key_id, reason, datetime.now(UTC), since=revoked_since)
        at = key.revoked.at if key.revoked is not None else ""
        say(f"revoked key {key.key_id} since {at}; give {store.ring_file} to those who verify")


@app.command("list")
def list_keys(keys: KeysOption = None, ring: RingOption = None, format_: FormatOption = Format.TEXT) -> None:
    """List the keys of a folder or of a public ring."""
    with reporting_errors():
        key_ring = _ring(ring if ring is not None else keys)
        if format_ is Format.JSON:
            say(json.dumps([_key_fields(key) for key in key_ring.keys], indent=2))
        else:
            say("\n".join([*map(_key_line, key_ring.keys), f"ring {key_ring.checksum}"]))


@app.command()
def sign(
    report: Annotated[
        str, typer.Argument(metavar="REPORT", help="What `assay check --format json` wrote, or - for standard input.")
    ],
    keys: KeysOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the receipt here.")] = None,
    with_disclosure: Annotated[
        bool, typer.Option("--with-disclosure", help="Sign the output with the disclosure that its report asks for.")
    ] = False,
) -> None:
    """Sign a report that emits its output. The report is trusted as it is: sign only your own."""
    from assay.evaluation.rows import write_file
    from assay.receipt import new_receipt_id, refusal
    from assay.receipt import sign as sign_report

    with reporting_errors():
        report_read = read_report(report)
        signer = open_store(keys).signer()
        refusal_reason = refusal(report_read, with_disclosure=with_disclosure)
        if refusal_reason is not None:
            say(f"not signed: {refusal_reason}", error=True)
            raise typer.Exit(FINDINGS)
        receipt = sign_report(
            report_read,
            signer,
            issued_at=datetime.now(UTC),
            receipt_id=new_receipt_id(),
            with_disclosure=with_disclosure,
        )
        if out is None:
            say(receipt.to_text())
        else:
            write_file(out, f"{receipt.to_text()}\n")


@app.command()
def verify(
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="The output, byte for byte: a file, or - for standard input.")
    ],
    receipt: Annotated[Path, typer.Argument(metavar="RECEIPT", help="The file of its receipt.")],
    ring: RingOption = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="NAME|FILE", autocompletion=complete_policy, help="The policy that it must have passed."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="The report that it must be about.")
    ] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Verify a receipt, offline, with the public ring alone."""
    from assay.receipt import verify as verify_receipt

    with reporting_errors():
        verification = verify_receipt(
            _read_bytes(answer),
            _read_bytes(str(receipt), limit=1_000_000),
            _ring(ring),
            policy=None if policy is None else _policy_digest(policy),
            report=None if report is None else read_report(str(report)),
        )
        say(json.dumps(_as_json(verification), indent=2) if format_ is Format.JSON else _as_text(verification))
        raise typer.Exit(CLEAN if verification.valid else FINDINGS)


@app.command()
def uses(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    everything: Annotated[
        bool, typer.Option("--all", help="All recorded uses, not only those without an outcome.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """List receipts that were claimed for a commit whose outcome was not recorded.

    The sink is being called now, or the process died: whether it took effect has to be looked up where it writes. Exit
    status 1 where there are any.
    """
    with reporting_errors(), opened(database) as store:
        from assay.store.records import list_uses

        uses_found = list_uses(store, tenant, unsettled=not everything)
        open_ = any(use.outcome is None for use in uses_found)
        if format_ is Format.JSON:
            say(json.dumps([_use_fields(use) for use in uses_found], indent=2))
        elif uses_found:
            say("\n".join(map(_use_line, uses_found)))
        else:
            say("no receipt was used" if everything else "every commit has an outcome")
        raise typer.Exit(FINDINGS if open_ else CLEAN)


# Reading


def open_store(keys: Path | None) -> "KeyStore":
    """The folder of keys that the command line or `ASSAY_RECEIPT_KEYS` names.

    Raises:
        InputError: neither names one, or it is a file.
    """
    from assay.receipt import KeyStore

    folder = _keys_path(keys, "--keys")
    if folder.is_file():
        raise InputError(f"expected a folder of keys, got the file {folder}; name the folder that it is in")
    return KeyStore(folder)


def _ring(path: Path | None) -> "KeyRing":
    from assay.receipt import open_keys

    return open_keys(_keys_path(path, "--ring")).ring()


def _keys_path(path: Path | None, option: str) -> Path:
    from assay.config import read_settings

    found = read_settings(os.environ).receipt_keys if path is None else path
    if found is None:
        raise InputError(f"expected the folder of keys: name it with {option}, or set ASSAY_RECEIPT_KEYS")
    return found


def _read_bytes(place: str, limit: int | None = None) -> bytes:
    """The bytes of a file or of standard input; at most `limit` of a file, which is refused later if it is longer."""
    if place == "-":
        return sys.stdin.buffer.read()
    try:
        with Path(place).open("rb") as file:
            return file.read() if limit is None else file.read(limit)
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror or error}") from error


def read_report(place: str) -> "HallucinationReport":
    """A report from a file or standard input.

    Raises:
        InputError: it cannot be read, or holds no report.
    """
    from pydantic import ValidationError

    from assay.receipt import faults
    from assay.schema import HallucinationReport

    try:
        value = json.loads(_read_bytes(place), object_pairs_hook=_unique_members, parse_constant=_refuse_constant)
        return HallucinationReport.model_validate(value)
    except ValidationError as error:
        raise InputError(
            f"{place}: expected a report as `assay check --format json` writes it, but {faults(error)}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: expected a report as JSON, but it cannot be read: {error}") from error


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return members


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _policy_digest(name_or_path: str) -> str:
    from assay.config import read_policy

    return read_policy(name_or_path, os.environ).digest


# Writing


def _key_fields(key: "PublicKey") -> dict[str, Any]:
    return {"state": key.state.value, **key.model_dump(mode="json")}


def _key_line(key: "PublicKey") -> str:
    from assay.cli.terminal import one_line

    line = f"{key.key_id}  {key.state.value:<7}  created {key.created}"
    if key.retired is not None:
        line += f"  retired {key.retired}"
    if key.revoked is not None:
        line += f"  revoked {key.revoked.at}: {one_line(key.revoked.reason)}"
    return line


def _use_fields(use: "StoredUse") -> dict[str, Any]:
    from assay.receipt import instant

    return {
        "receipt_id": use.receipt_id,
        "key_id": use.key_id,
        "claimed": instant(use.claimed),
        "holder": use.holder,
        "until": instant(use.until),
        "outcome": None if use.outcome is None else use.outcome.value,
    }


def _use_line(use: "StoredUse") -> str:
    from assay.cli.terminal import one_line

    fields = _use_fields(use)
    outcome = fields["outcome"] or "unknown"
    return f"{fields['receipt_id']}  {outcome:<8}  {fields['claimed']}  by {one_line(use.holder, 100)}"


def _as_json(verification: "Verification") -> dict[str, Any]:
    return {
        "valid": verification.valid,
        "problems": [{"code": problem.code.value, "message": problem.message} for problem in verification.problems],
        "statement": None if verification.receipt is None else verification.receipt.statement.model_dump(mode="json"),
    }


def _as_text(verification: "Verification") -> str:
    if not verification.valid or verification.receipt is None:
        return "\n".join(
            ["not valid", *(f"  {problem.code.value}: {problem.message}" for problem in verification.problems)]
        )
    from assay.cli.terminal import one_line

    statement = verification.receipt.statement
    policy = f"{one_line(statement.policy.name, 100)} ({statement.policy.digest[:12]})"
    return (
        f"valid: this exact output passed the policy {policy} "
        f"at {statement.issued_at}, signed with the key {statement.key_id}"
    )
