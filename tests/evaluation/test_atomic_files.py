"""Files are written whole or not at all, where a reader looks for them."""

import os
import secrets
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.evaluation.rows.atomic_files import write_file


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept" / "overlay.yaml", tmp_path / "overlay.yaml"
    kept.parent.mkdir()
    kept.write_text("old\n")
    kept.chmod(0o600)
    link.symlink_to(kept)
    write_file(link, "new\n")
    assert link.is_symlink()
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("new\n", 0o600)
    assert [one.name for one in kept.parent.iterdir()] == ["overlay.yaml"]


def test_a_link_to_a_file_that_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later" / "file")
    write_file(link, "new\n")
    assert link.is_symlink()
    assert (tmp_path / "later" / "file").read_text() == "new\n"


def test_a_loop_of_links_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(InputError, match="one: cannot be written"):
        write_file(one, "new\n")
    assert one.is_symlink()


def test_a_pipe_is_written_and_stays_one(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reading = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reading.start()
    write_file(pipe, "new\n")
    reading.join(20)
    assert got == ["new\n"]
    assert pipe.is_fifo()


def test_a_device_is_written_and_stays_one() -> None:
    write_file(Path(os.devnull), "new\n")
    assert Path(os.devnull).is_char_device()


def test_what_the_process_has_open_is_written_after_what_is_there(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    program = (
        "import sys; from pathlib import Path; from assay.evaluation.rows.atomic_files import write_file\n"
        "print('first')\n"
        "for path, text in (('/dev/stdout', 'new'), ('/dev/fd/1', 'more')): write_file(Path(path), text + '\\n')\n"
        "print('last')"
    )
    with log.open("a") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True, timeout=60)
    assert log.read_text() == "before\nfirst\nnew\nmore\nlast\n"


def test_a_link_to_what_the_process_has_open_is_written_there_too(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/stdout")
    log = tmp_path / "log"
    log.write_text("before\n")
    program = (
        "import sys; from pathlib import Path; from assay.evaluation.rows.atomic_files import write_file\n"
        "write_file(Path(sys.argv[1]), 'new\\n')"
    )
    (tmp_path / "descriptors").symlink_to("/dev/fd")
    command = [sys.executable, "-c", program, str(link)]
    with log.open("a") as out:
        subprocess.run(command, stdout=out, check=True, timeout=60)
        subprocess.run([*command[:-1], str(tmp_path / "descriptors" / "1")], stdout=out, check=True, timeout=60)
    assert log.read_text() == "before\nnew\nnew\n"
    piped = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60)
    assert (piped.stdout, link.is_symlink()) == (b"new\n", True)


def test_an_output_that_was_closed_is_an_error_that_says_so() -> None:
    program = (
        "from pathlib import Path; from assay.errors import InputError\n"
        "from assay.evaluation.rows.atomic_files import write_file\n"
        "try: write_file(Path('/dev/stdout'), 'new')\n"
        "except InputError as error: raise SystemExit(str(error))"
    )
    command = ["sh", "-c", 'exec "$0" -c "$1" >&-', sys.executable, program]
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (done.returncode, b"/dev/stdout: cannot be written" in done.stderr) == (1, True)


SHARED = Path("/dev/shm")  # noqa: S108 the test writes into a folder of its own there


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs a file system in memory under /dev")
def test_files_under_dev_are_files_like_others() -> None:
    folder = SHARED / f"assay-{secrets.token_hex(8)}"
    try:
        write_file(folder / "new" / "report.json", "new\n")
        assert [one.read_text() for one in (folder / "new").iterdir()] == ["new\n"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_the_error_names_what_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file" / "below")
    with pytest.raises(InputError, match=r"link \(that is .*file/below\): cannot be written"):
        write_file(link, "new\n")


def test_a_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path, "new\n")
    assert tmp_path.is_dir()
