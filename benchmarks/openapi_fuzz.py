"""Schemathesis over the whole REST API: does the server keep to its OpenAPI document, in either direction?

    python -m benchmarks.openapi_fuzz [--examples 40]

Every operation of the document is sent what fits it and what does not (`tests.server.fuzzing`), against a server with
a database on this machine's loopback. A mismatch is an answer that the document does not name, a fault of the server,
what does not fit and is taken, and what fits and is refused for its form. Printed are the operations, the requests that
were sent, and each operation with a mismatch, with the first of its mismatches. Exit status 1 where there is one.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.server.fuzzing import fuzz, operations, running, stocked


def main() -> int:
    """Tries all operations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=40, help="requests of each kind for each operation, at most")
    examples = parser.parse_args().examples
    tried = sent = wrong = 0
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as (here, store):
        ids = stocked(store)
        for operation in operations(here):
            tried += 1
            try:
                sent += fuzz(operation, here.url, ids, examples)
            except Exception as error:  # noqa: BLE001 whatever schemathesis raises is what it found
                wrong += 1
                print(f"{operation.method.upper()} {operation.path}: {_said(error)}", flush=True)
    print(f"{tried} operations, {sent:,} requests to those without a mismatch, {wrong} operations with a mismatch")
    return 1 if wrong else 0


def _said(error: BaseException) -> str:
    """What was found: schemathesis raises several at once where it finds several."""
    several = getattr(error, "exceptions", ())
    return _said(several[0]) if several else " ".join(str(error).split())[:400]


if __name__ == "__main__":
    sys.exit(main())
