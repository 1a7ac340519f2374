"""Rows out of an object store that speaks S3: a real server, and the client that operators install."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from tests.batch.scripted import record

from assay.batch import open_sources
from assay.batch.judging import _record
from assay.errors import InputError

pytestmark = pytest.mark.skipif(
    os.environ.get("ASSAY_S3") != "required", reason="moto and s3fs: `make test-slow` tests it with ASSAY_S3=required"
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def store(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A bucket with three files, found by the variables of the environment that every client of S3 reads."""
    import s3fs

    for name, value in (
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_ACCESS_KEY_ID", "testing"),
        ("AWS_SECRET_ACCESS_KEY", "testing"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    made = s3fs.S3FileSystem()
    if not made.exists("outputs"):
        made.mkdir("outputs")
        made.pipe("outputs/day=1/a.jsonl", "".join(json.dumps(record(n)) + "\n" for n in (0, 1)).encode())
        made.pipe("outputs/day=1/b.jsonl.gz", gzip.compress((json.dumps(record(2)) + "\n").encode()))
        with made.open("outputs/day=2/c.parquet", "wb") as stream:
            parquet.write_table(pa.Table.from_pylist([record(3), record(4)]), stream)
        made.pipe("outputs/day=2/notes.txt", b"no rows")
    return made


def ids(*urls: str) -> list[str]:
    return [_record(row)["id"] for row in open_sources(urls)]


def test_a_prefix_a_pattern_and_one_object_are_read_in_the_order_of_their_names(store: Any) -> None:
    assert ids("s3://outputs") == ["r0", "r1", "r2", "r3", "r4"]
    assert ids("s3://outputs/day=1/*") == ["r0", "r1", "r2"]
    assert ids("s3://outputs/day=2/c.parquet", "s3://outputs/day=1/a.jsonl") == ["r3", "r4", "r0", "r1"]


def test_a_bucket_or_an_object_that_is_not_there_is_said(store: Any) -> None:
    with pytest.raises(InputError, match="s3://elsewhere"):
        ids("s3://elsewhere/*.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        ids("s3://outputs/day=3/a.jsonl")


def test_the_command_checks_a_bucket(store: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assay", "batch", "s3://outputs", "--out", str(tmp_path / "out"), "--workers", "1"]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 5
