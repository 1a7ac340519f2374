"""`assay backup`, `restore` and `migrate`: copies of the database that are verified before use, and its tables."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from assay._version import __version__
from assay.cli.exit_status import FINDINGS, MISUSE, reporting_errors
from assay.cli.options.shared import TextOrJson as Format
from assay.cli.terminal import say
from assay.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

    from assay.receipt import KeyRing
    from assay.store.backup import CopyVerification, Manifest


DatabaseOption = Annotated[
    str, typer.Option("--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="The database.")
]
RingOption = Annotated[
    Path | None, typer.Option("--ring", metavar="FILE", help="The public ring. [default: ASSAY_RECEIPT_KEYS]")
]
CheckpointOption = Annotated[
    list[Path] | None,
    typer.Option("--checkpoint", metavar="FILE", help="Checkpoints from outside this host; may be repeated."),
]
UnverifiedOption = Annotated[
    bool, typer.Option("--unsafe-unverified", help="Keep the copy although it is damaged, to find out why.")
]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]

_NOTHING_DONE: Final = "nothing was done yet: a database of PostgreSQL is {done} by its own tools; run the lines above"


def backup(
    database: DatabaseOption,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Write the copy here.")],
    ring: RingOption = None,
    checkpoint: CheckpointOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing backup.")] = False,
    unverified: UnverifiedOption = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Copy a database of SQLite while servers use it, verify the copy, and write its digest next to it.

    The copy is of one moment. Exit status 1: the copy is damaged, and was not kept. For PostgreSQL the commands that
    make and check a dump are printed, and the exit status is 2, because no backup was made.
    """
    from assay.evaluation.rows import write_file

    with reporting_errors():
        url = _url(database)
        if url.get_backend_name() != "sqlite":
            from assay.store.backup import dump_commands

            _say_commands(dump_commands(url, out), "dumped")
        from assay.store.backup import Manifest, copy_online, manifest_path, private_file, sha256_of

        source = Path(str(url.database))
        if not source.is_file():
            raise InputError(f"expected a database at {source}, and there is none")
        if out.exists() and (not replace or out.samefile(source) or not out.is_file()):
            raise InputError(f"there is something at {out} already; name another file, or --replace a backup")
        with private_file(out) as copy:
            copy_online(source, copy, _progress("copied"))
            verification = _verify(copy, ring, checkpoint, unverified=unverified)
            manifest = Manifest(
                file=out.name,
                sha256=sha256_of(copy),
                bytes=copy.stat().st_size,
                revision=verification.revision,
                assay=__version__,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                verified=verification.holds,
                logs=verification.logs,
            )
            copy.replace(out)
        write_file(manifest_path(out), manifest.model_dump_json(indent=2) + "\n")
        _say_manifest(manifest, f"backed up {source} to {out}", format_)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, with its manifest next to it.")],
    database: DatabaseOption,
    ring: RingOption = None,
    checkpoint: CheckpointOption = None,
    sha256: Annotated[
        str | None,
        typer.Option("--sha256", metavar="HEX", help="The digest that `assay backup` printed, kept elsewhere."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the existing database; it is kept under another name.")
    ] = False,
    unverified: UnverifiedOption = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Replace an SQLite database that is not in use by a backup, once the backup is verified.

    What is verified is the restored file itself, before it gets its name: digest, integrity, version of the tables, and
    audit logs. Exit status 1: something does not hold, and nothing was changed. For PostgreSQL the commands are
    printed, and the exit status is 2.
    """
    with reporting_errors():
        url = _url(database)
        if not file.is_file():
            raise InputError(f"expected a backup at {file}, and there is none")
        if url.get_backend_name() != "sqlite":
            from assay.store.backup import restore_commands

            _say_commands(restore_commands(file, url, replace=replace), "restored")
        from assay.store.backup import Manifest, copy_file, private_file, put_in_place

        target = Path(str(url.database))
        if target.exists() and (target.samefile(file) or not target.is_file()):
            raise InputError(f"{target} is the backup itself, or no file")
        if target.exists() and target.stat().st_size and not replace:
            raise InputError(f"there is a database at {target} already; --replace puts the backup in its place")
        expected = _expected_digests(file, sha256)
        with private_file(target) as copy:
            digest = copy_file(file, copy)
            if digest not in expected or len(expected) > 1:
                say(
                    f"does not hold\n  the digest of {file} is {digest}, expected {' and '.join(sorted(expected))}: it "
                    "was damaged or altered, or is another file; nothing was restored",
                    error=True,
                )
                raise typer.Exit(FINDINGS)
            verification = _verify(copy, ring, checkpoint, unverified=unverified)
            size = copy.stat().st_size
            kept_path = put_in_place(copy, target, replace=replace)
        manifest = Manifest(
            file=target.name,
            sha256=digest,
            bytes=size,
            revision=verification.revision,
            assay=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            verified=verification.holds,
            logs=verification.logs,
        )
        kept_note = "" if kept_path is None else f"; what was there is {kept_path}"
        _say_manifest(manifest, f"restored {file} to {target}{kept_note}", format_)


def migrate(database: DatabaseOption) -> None:
    """Bring a database to the tables of this version; a server does so by itself when it starts.

    One transaction under a lock: several may run at once, and one that is stopped leaves everything as it was.
    """
    with reporting_errors():
        url = _url(database)
        from contextlib import suppress

        from sqlalchemy.exc import SQLAlchemyError

        from assay.store.db import HEAD, Store, make_engine, revision

        before = None
        if url.get_backend_name() != "sqlite" or Path(str(url.database)).exists():
            engine = make_engine(database)
            try:
                with suppress(SQLAlchemyError):  # `Store` below raises the error with its reason
                    before = revision(engine)
            finally:
                engine.dispose()
        with Store(database):
            say(f"tables of version {HEAD}" + ("" if before == HEAD else f", before: {before or 'none'}"))


# Reading


def _url(database: str) -> "URL":
    try:
        from assay.store.db import database_url
    except ImportError as error:
        raise InputError("the store needs SQLAlchemy and Alembic: pip install 'assay-ai[store]'") from error
    return database_url(database)


def _expected_digests(file: Path, sha256: str | None) -> set[str]:
    """The digests that a backup must have: that of its manifest, and that of --sha256."""
    from assay.store.backup import manifest_path, read_manifest

    manifest = read_manifest(file)
    if manifest is None and sha256 is None:
        raise InputError(f"expected the digest of the backup in {manifest_path(file)}, or by --sha256")
    stated = None if sha256 is None else sha256.strip().lower()
    return {one for one in (stated, None if manifest is None else manifest.sha256) if one is not None}


def _verify(
    copy: Path, ring: Path | None, checkpoints: Sequence[Path] | None, *, unverified: bool
) -> "CopyVerification":
    from assay.store.audit import read_notes
    from assay.store.backup import verify_copy

    anchors = []
    for path in checkpoints or ():
        notes = read_notes(path)
        if not notes:
            raise InputError(f"expected checkpoints in {path}, and there are none")
        anchors += notes
    verification = verify_copy(copy, _ring(ring), anchors)
    if not verification.holds:
        outcome = "went on all the same" if unverified else "the copy was not kept"
        say("\n  ".join([f"does not hold, and {outcome}", *verification.findings]), error=True)
        if not unverified:
            raise typer.Exit(FINDINGS)
    return verification


def _ring(path: Path | None) -> "KeyRing | None":
    from assay.config import read_settings
    from assay.receipt import open_keys

    folder = read_settings(os.environ).receipt_keys if path is None else path
    return None if folder is None else open_keys(folder).ring()


# Writing


def _progress(verb: str) -> Callable[[int, int], None] | None:
    """Reports progress on a terminal; none elsewhere."""
    if not sys.stderr.isatty():
        return None

    def report(remaining: int, pages: int) -> None:
        share = 100 if not pages else 100 * (pages - remaining) // pages
        sys.stderr.write(f"\r{verb} {share} %" + ("" if remaining else "\n"))
        sys.stderr.flush()

    return report


def _say_commands(commands: Sequence[str], done: str) -> None:
    from assay.store.backup import PASSWORD_NOTE

    say("\n".join(commands))
    say(f"assay: {_NOTHING_DONE.format(done=done)}; {PASSWORD_NOTE}", error=True)
    raise typer.Exit(MISUSE)


def _say_manifest(manifest: "Manifest", headline: str, format_: Format) -> None:
    if format_ is Format.JSON:
        say(json.dumps(manifest.model_dump(mode="json"), indent=2))
        return
    logs = [f"  log {one.origin} of {one.tenant}: {one.size:,} entries, root {one.root}" for one in manifest.logs]
    state = "verified" if manifest.verified else "NOT VERIFIED"
    say(
        "\n".join(
            [
                headline,
                f"  sha256 {manifest.sha256}",
                f"  {manifest.bytes:,} bytes, tables {manifest.revision}, {state}",
                *logs,
            ]
        )
    )
